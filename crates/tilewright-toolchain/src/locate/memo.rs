//! What was found once.

use super::Environment;
use std::sync::{Mutex, PoisonError};
use tilewright_core::Error;

/// What a search found in each environment that the process has had, until it ends. What was not found is looked for again: it may have been installed
/// since.
pub struct Memo<T>(Mutex<Vec<(Environment, T)>>);

impl<T: Clone> Memo<T> {
    /// Nothing was found yet.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// What was found in this environment, or what `find` finds.
    pub fn get(
        &self,
        environment: Environment,
        find: impl FnOnce(&Environment) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // Held while it searches, so that nobody searches beside it.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = known.iter().find(|(other, _)| *other == environment) {
            return Ok(found.clone());
        }
        let found = find(&environment)?;
        known.push((environment, found.clone()));
        Ok(found)
    }
}

impl<T: Clone> Default for Memo<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::path::Path;
    use tilewright_core::ErrorKind;

    #[test]
    fn what_was_found_is_not_looked_for_again() {
        let (memo, searches) = (Memo::new(), Cell::new(0));
        let find = |name: &str| {
            memo.get(Environment::of([("VIRTUAL_ENV", Path::new(name))]), |_| {
                searches.set(searches.get() + 1);
                Ok(searches.get())
            })
        };
        assert_eq!(["/a", "/a", "/b", "/a", "/b"].map(|name| find(name).expect("found")), [1, 1, 2, 1, 2]);
        assert_eq!(searches.get(), 2);
    }

    #[test]
    fn what_was_missing_may_come() {
        let memo = Memo::new();
        let missing = ErrorKind::Unavailable { what: "NVRTC", why: String::new(), hint: "".into() };
        assert!(memo.get(Environment::default(), |_| Err(missing.into())).is_err());
        assert_eq!(memo.get(Environment::default(), |_| Ok(1)).expect("installed"), 1);
    }
}
