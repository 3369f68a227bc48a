//! The library that these tests are for, under the names by which programs look for it.
#![allow(dead_code)] // Each test program uses a part.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory with the library in it.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["libcuda.so", "libcuda.so.1"] {
            std::os::unix::fs::symlink(built(), directory.path().join(name)).expect("a link");
        }
        Self(directory)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Lets a program find it first.
    pub fn on<'a>(&self, program: &'a mut Command) -> &'a mut Command {
        program
            .env("LD_LIBRARY_PATH", self.path())
            .env("TILEWRIGHT_CUDA_PATH", self.path().join("libcuda.so.1"))
    }
}

/// What cargo has made of this crate.
pub fn built() -> PathBuf {
    let this = std::env::current_exe().expect("this program");
    let places = this.ancestors().skip(1).take(2).map(|directory| directory.join("libtilewright_libcuda.so"));
    places
        .filter(|path| path.is_file())
        .max_by_key(|path| path.metadata().and_then(|m| m.modified()).ok())
        .expect("the library")
}
