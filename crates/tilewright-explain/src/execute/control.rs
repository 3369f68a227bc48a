//! How long launches may take, and who is told how far they are.

use crate::case::Launch;
use crate::model::{Ending, Unfinished};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tilewright_core::Words;
use tilewright_emulator::{LaunchError, LaunchOptions, Observer, Races, Schedule, Watch};

/// What limits the launches of a case, and who watches them.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Most steps of a launch, warp instructions that is, if they are limited.
    pub max_steps: Option<u64>,
    /// Most time of a launch; [`Duration::MAX`] for any. Unless given, it is [`Control::TIME`], or any where `max_steps` is given.
    pub max_time: Option<Duration>,
    /// When bulk copies are done.
    pub schedule: Schedule,
    /// Whether what the hardware of today forgives is reported: [`Races::Strict`].
    pub strict: bool,
    /// Ends the launch at hand when it becomes true.
    pub stop: Option<&'a AtomicBool>,
    /// Is told from time to time how far the launch at hand is, possibly from several threads.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    /// What findings call a limit that was met; those of Rust programs unless given.
    pub words: Option<Words>,
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
    /// The time that a launch may take unless a limit is given.
    pub const TIME: Duration = LaunchOptions::TIME;

    pub(super) fn options(&self) -> LaunchOptions {
        LaunchOptions {
            step_limit: self.max_steps,
            time_limit: self.max_time.or(self.max_steps.is_none().then_some(Self::TIME)),
            schedule: self.schedule,
            races: if self.strict { Races::Strict } else { Races::All },
            ..LaunchOptions::default()
        }
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
        let blocks = launch.shape.grid.iter().map(|&extent| u64::from(extent)).fold(1, u64::saturating_mul);
        Self { control, steps: AtomicU64::new(0), blocks_done: AtomicU64::new(0), blocks }
    }

    /// Does something that launches a kernel, such as running an engine; `run` is given what watches it.
    pub fn watched<R>(&self, observer: Option<&dyn Observer>, run: impl FnOnce(Watch<'_>) -> R) -> R {
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
        run(Watch {
            observer,
            block_done: Some(&block_done),
            steps_done: Some(&steps_done),
            stop: self.control.stop,
        })
    }

    /// How far a launch that ended with `error` was, where that is no fault of the kernel.
    pub fn unfinished(&self, error: Option<&LaunchError>) -> Option<Unfinished> {
        let reason = match error? {
            LaunchError::TimeLimit { .. } => Ending::TimeLimit,
            LaunchError::StepLimit { .. } => Ending::StepLimit,
            LaunchError::Interrupted { .. } => Ending::Interrupted,
            _ => return None,
        };
        // Blocks that were executed a second time count once.
        let blocks_done = self.blocks_done.load(Relaxed).min(self.blocks.saturating_sub(1));
        let hint = reason.hint();
        let hint = self.control.words.map_or_else(|| hint.to_string(), |words| hint.said(words));
        Some(Unfinished { reason, blocks_done, blocks: self.blocks, hint })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_is_the_limit_unless_another_is_given() {
        let limits = |max_steps, max_time| {
            let options = Control { max_steps, max_time, ..Control::default() }.options();
            (options.step_limit, options.time_limit)
        };
        let second = Some(Duration::from_secs(1));
        assert_eq!(limits(None, None), (None, Some(Duration::from_secs(60))));
        assert_eq!(limits(Some(7), None), (Some(7), None));
        assert_eq!(limits(None, second), (None, second));
        assert_eq!(limits(Some(7), second), (Some(7), second));
    }
}
