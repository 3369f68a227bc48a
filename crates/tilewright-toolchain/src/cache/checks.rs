//! What came of checks of kernels, on disk, so that what has not changed is not run again.
//!
//! Entries are kept as compiled kernels are: in a directory that is this user's own, whole or not at all.

use super::{CacheKey, CubinCache, directory_of_user};
use std::{io, path::PathBuf};

/// 10,000 results or so.
const CAPACITY: u64 = 64 << 20;
const EXTENSION: &str = "check";

/// The results of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checks(CubinCache);

impl Checks {
    /// Those of this user, beside the cache of compiled kernels; `None` where that is disabled or has no place.
    pub fn of_user() -> Option<Self> {
        Some(Self::new(directory_of_user()?.join("checks")))
    }

    /// Those in `directory`, which belongs to them alone.
    pub fn new(directory: PathBuf) -> Self {
        Self(CubinCache { directory, capacity: CAPACITY, extension: EXTENSION })
    }

    /// The result of what a text says all of, if it is here and whole.
    pub fn load(&self, what: &str) -> Option<Vec<u8>> {
        self.0.load(CacheKey::of_text(what))
    }

    /// Keeps the result of what a text says all of.
    ///
    /// # Errors
    /// Where the directory cannot be made or written, or is not private. Callers that have the result need not care.
    pub fn store(&self, what: &str, result: &[u8]) -> io::Result<()> {
        self.0.store(CacheKey::of_text(what), result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_found_by_its_whole_text() {
        let directory = tempfile::tempdir().expect("a directory");
        let checks = Checks::new(directory.path().join("checks"));
        assert_eq!(checks.load("a"), None);
        checks.store("a", b"result").expect("store");
        assert_eq!(checks.load("a").as_deref(), Some(&b"result"[..]));
        assert_eq!(checks.load("a "), None);
    }
}
