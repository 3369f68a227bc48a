//! A bar for products that take their time.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

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
        let style = ProgressStyle::with_template("{bar:40} {percent:>3} %, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.with_style(style.progress_chars("=> ")).with_elapsed(self.start.elapsed())
    }
}
