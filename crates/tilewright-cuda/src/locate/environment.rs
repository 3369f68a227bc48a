//! The environment variables that decide where things are looked for, as a value.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A snapshot of the environment, so that the search is a function of its arguments.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    pub(crate) fn current() -> Self {
        Self(std::env::vars_os().collect())
    }

    #[cfg(test)]
    pub(crate) fn of<const N: usize>(variables: [(&str, &Path); N]) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// The value of a variable that is set and not empty.
    pub(crate) fn path(&self, name: &str) -> Option<&Path> {
        self.0.get(OsStr::new(name)).filter(|value| !value.is_empty()).map(Path::new)
    }

    /// The directories in which programs are looked for.
    pub(crate) fn program_directories(&self) -> Vec<PathBuf> {
        self.path("PATH").map(|value| std::env::split_paths(value.as_os_str()).collect()).unwrap_or_default()
    }
}
