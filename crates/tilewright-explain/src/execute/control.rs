//! How long launches may take, and who is told how far they are.

use crate::case::Launch;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use tilewright_emulator::{LaunchError, LaunchOptions, Observer, Report, Stage, Watch};

/// What limits the launches of a case, and who watches them.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Most steps of a launch, warp instructions that is; [`Control::STEPS`] unless given.
    pub max_steps: Option<u64>,
    /// Ends the launch at hand when it becomes true.
    pub stop: Option<&'a AtomicBool>,
    /// Is told from time to time how far the launch at hand is, possibly from several threads.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
}

/// How far a launch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Warp instructions executed.
    pub steps: u64,
    /// Blocks that have come to their end.
    pub blocks_done: u64,
    /// All blocks.
    pub blocks: u64,
}

impl Control<'_> {
    /// The steps that a launch may take unless their number is given.
    pub const STEPS: u64 = LaunchOptions::STEPS;

    pub(super) fn options(&self) -> LaunchOptions {
        LaunchOptions { step_limit: self.max_steps.unwrap_or(Self::STEPS), ..LaunchOptions::default() }
    }
}

/// A launch under control.
pub(super) struct Running<'a> {
    control: &'a Control<'a>,
    steps: AtomicU64,
    blocks_done: AtomicU64,
    blocks: u64,
}

impl<'a> Running<'a> {
    pub fn new(control: &'a Control<'a>, launch: &Launch) -> Self {
        let blocks = launch.grid.iter().map(|&extent| u64::from(extent)).fold(1, u64::saturating_mul);
        Self { control, steps: AtomicU64::new(0), blocks_done: AtomicU64::new(0), blocks }
    }

    pub fn launch(
        &self,
        stage: &mut Stage,
        entry: &str,
        observer: Option<&dyn Observer>,
    ) -> Result<Report, LaunchError> {
        let block_done = || {
            self.blocks_done.fetch_add(1, Relaxed);
        };
        let steps_done = |more| {
            let steps = self.steps.fetch_add(more, Relaxed) + more;
            if let Some(progress) = self.control.progress {
                progress(Progress {
                    steps,
                    blocks_done: self.blocks_done.load(Relaxed),
                    blocks: self.blocks,
                });
            }
        };
        let watch = Watch {
            observer,
            block_done: Some(&block_done),
            steps_done: Some(&steps_done),
            stop: self.control.stop,
        };
        stage.machine.launch_watched(entry, &stage.launch, watch)
    }
}
