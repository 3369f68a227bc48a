//! What a launch takes of this process's memory while it runs.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// What takes memory while a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// What is remembered of accesses to global memory, among which races are looked for.
    Races,
    /// Registers and local memory of functions that call themselves.
    Calls,
    /// What the kernel prints.
    Text,
}

impl Use {
    const ALL: [(Use, &str); 3] = [
        (Use::Races, "what is remembered of accesses to global memory, to find races"),
        (Use::Calls, "registers and local memory of functions that call themselves"),
        (Use::Text, "what the kernel prints"),
    ];
}

/// The memory of a launch.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    /// Taken before the kernel runs.
    before: u64,
    uses: [AtomicU64; Use::ALL.len()],
    /// What was needed when it was first too much, and what for most of all.
    overrun: OnceLock<(u64, String)>,
}

impl Budget {
    /// `limit` bytes, of which `before` are taken.
    pub fn new(limit: u64, before: u64) -> Self {
        Self { limit, before, uses: Default::default(), overrun: OnceLock::new() }
    }

    /// Takes `bytes`; `false`, and takes none, if there are not so many. The launch is to end then.
    pub fn take(&self, what: Use, bytes: u64) -> bool {
        self.uses[what as usize].fetch_add(bytes, Relaxed);
        let taken = self.uses.iter().fold(self.before, |sum, bytes| sum.saturating_add(bytes.load(Relaxed)));
        if taken <= self.limit {
            return true;
        }
        self.overrun.get_or_init(|| {
            let by_use = Use::ALL.map(|(what, name)| (self.uses[what as usize].load(Relaxed), name));
            let (most, name) = by_use.into_iter().max().unwrap_or_default();
            (taken, format!("{most} of them for {name}"))
        });
        self.give(what, bytes);
        false
    }

    /// Gives back what has been taken.
    pub fn give(&self, what: Use, bytes: u64) {
        self.uses[what as usize].fetch_sub(bytes, Relaxed);
    }

    /// If it was too much: how much was needed, and what for.
    pub fn overrun(&self) -> Option<&(u64, String)> {
        self.overrun.get()
    }

    /// The limit.
    pub fn limit(&self) -> u64 {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_refused_and_remembered() {
        let budget = Budget::new(100, 40);
        assert!(budget.take(Use::Races, 50) && budget.take(Use::Calls, 10));
        assert_eq!(budget.overrun(), None);
        assert!(!budget.take(Use::Text, 1));
        let (bytes, what) = budget.overrun().cloned().unwrap_or_default();
        assert_eq!(bytes, 101);
        assert!(what.starts_with("50 of them for what is remembered"), "{what}");
        budget.give(Use::Calls, 10);
        assert!(budget.take(Use::Text, 10) && !budget.take(Use::Text, 1));
    }
}
