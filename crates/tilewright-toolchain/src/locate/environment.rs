//! The environment variables that decide where things are looked for, as a value.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A snapshot of the environment, so that the search is a function of its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// That of this process.
    pub fn current() -> Self {
        Self(std::env::vars_os().collect())
    }

    #[cfg(test)]
    pub(crate) fn of<const N: usize>(variables: [(&str, &Path); N]) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// The value of a variable that is set and not empty.
    pub fn path(&self, name: &str) -> Option<&Path> {
        self.0.get(OsStr::new(name)).filter(|value| !value.is_empty()).map(Path::new)
    }

    /// The directory that a variable names by its whole path. What is relative to the directory that the process happens to be in is no place to load code
    /// from.
    pub fn directory(&self, name: &str) -> Option<&Path> {
        self.path(name).filter(|path| path.is_absolute())
    }

    /// The directories in which programs are looked for, without empty and relative ones, which stand for the current directory.
    pub fn program_directories(&self) -> Vec<PathBuf> {
        let all = self.path("PATH").into_iter().flat_map(|value| std::env::split_paths(value.as_os_str()));
        all.filter(|directory| directory.is_absolute()).collect()
    }
}
