//! A bar for products, and a line for launches, that take their time.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::{
    fmt,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tilewright_explain::Progress as Launched;

/// Work that is done sooner shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Counts finished terms and shows them on stderr, if that is a terminal.
pub struct Progress {
    total: u64,
    done: AtomicU64,
    start: Instant,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    pub fn new(total: u64) -> Self {
        Self { total, done: AtomicU64::new(0), start: Instant::now(), bar: OnceLock::new() }
    }

    /// `count` more terms are finished. Called from several threads.
    pub fn add(&self, count: u64) {
        let done = self.done.fetch_add(count, Ordering::Relaxed) + count;
        if self.start.elapsed() > PATIENCE {
            self.bar.get_or_init(|| self.bar()).set_position(done);
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }

    fn bar(&self) -> ProgressBar {
        // Hidden unless stderr is a terminal.
        let bar = ProgressBar::with_draw_target(Some(self.total), ProgressDrawTarget::stderr());
        let left = |state: &ProgressState, to: &mut dyn fmt::Write| {
            // Nothing that is finished tells nothing of the rest.
            let _ = match state.pos() {
                0 => write!(to, "after {}", HumanDuration(state.elapsed())),
                _ => write!(to, "{} left", HumanDuration(state.eta())),
            };
        };
        let style = ProgressStyle::with_template("{bar:40} {percent:>3} %, {left}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("left", left);
        bar.with_style(style.progress_chars("=> ")).with_elapsed(self.start.elapsed())
    }
}

/// Shows on stderr how far a launch of the emulator is, if that is a terminal.
pub struct Steps {
    start: Instant,
    line: OnceLock<ProgressBar>,
}

impl Steps {
    pub fn new() -> Self {
        Self { start: Instant::now(), line: OnceLock::new() }
    }

    /// Called from several threads.
    pub fn show(&self, launched: Launched) {
        if self.start.elapsed() > PATIENCE {
            self.line.get_or_init(|| self.line()).set_message(describe(launched));
        }
    }

    /// Removes the line.
    pub fn finish(&self) {
        if let Some(line) = self.line.get() {
            line.finish_and_clear();
        }
    }

    fn line(&self) -> ProgressBar {
        // Hidden unless stderr is a terminal.
        let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{elapsed}: {msg}; Ctrl-C shows where it is")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        line.with_style(style).with_elapsed(self.start.elapsed())
    }
}

fn describe(launched: Launched) -> String {
    let Launched { steps, blocks_done, blocks } = launched;
    format!("{} million warp instructions, {blocks_done} of {blocks} blocks", steps / 1_000_000)
}
