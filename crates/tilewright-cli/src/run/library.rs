//! The emulated driver's library: where it is, and how a program comes to find it.

use std::{
    ffi::OsString,
    fmt, io,
    path::{Path, PathBuf},
};
use tilewright::{Error, ErrorKind, cuda::cached_file};

/// Names the library, where it is not beside this program.
const VARIABLE: &str = "TILEWRIGHT_LIBCUDA_PATH";

/// The file as it is built, and as it may be installed.
const FILES: [&str; 2] = ["libtilewright_libcuda.so", "libcuda.so.1"];

/// Directories beside that of this program. Those of the system are not among them: what is there is NVIDIA's.
const PLACES: [&str; 3] = [".", "deps", "../lib/tilewright"];

/// The library, where this program was built with it in itself.
const EMBEDDED: Option<&[u8]> = include!(concat!(env!("OUT_DIR"), "/libcuda.rs"));

/// Where the library comes from.
pub enum Origin {
    /// A file of its own.
    File(PathBuf),
    /// This program.
    Embedded(&'static [u8]),
}

impl Origin {
    /// A file before what is embedded.
    ///
    /// # Errors
    /// `unavailable` where it is not installed, or on another system than Linux.
    pub fn find() -> Result<Self, Error> {
        let unavailable = |why: String, hint: &str| -> Error {
            ErrorKind::Unavailable { what: "the emulated driver", why, hint: hint.into() }.into()
        };
        if !cfg!(target_os = "linux") {
            return Err(unavailable(
                "it is made for Linux".into(),
                "use Linux, or `tilewright explain` for single kernels",
            ));
        }
        let embedded = || EMBEDDED.map(Self::Embedded);
        file().map(Self::File).or_else(embedded).ok_or_else(|| {
            let why = format!("{} is not beside this program, nor in it", FILES[0]);
            unavailable(why, HINT)
        })
    }

    /// As a file, where that can be kept for the next run.
    fn unpacked(self) -> Self {
        match self {
            Self::Embedded(bytes) => cached_file(FILES[0], bytes).map_or(Self::Embedded(bytes), Self::File),
            file => file,
        }
    }

    /// Puts the library there under a name.
    fn place(&self, name: &Path) -> io::Result<()> {
        match self {
            Self::File(file) => link(file, name),
            Self::Embedded(bytes) => std::fs::write(name, bytes),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => file.display().fmt(f),
            Self::Embedded(_) => f.write_str("in this program"),
        }
    }
}

/// `cargo install` installs no shared libraries.
const HINT: &str = "in a clone of the project: `cargo install --path crates/tilewright-cli --features embed-libcuda`; a library elsewhere is \
    named in TILEWRIGHT_LIBCUDA_PATH";

/// The library under the names by which programs look for it, in a directory that goes with this value.
pub struct Library(tempfile::TempDir);

impl Library {
    /// # Errors
    /// As [`Origin::find`], and `io`.
    pub fn find() -> Result<Self, Error> {
        let origin = Origin::find()?.unpacked();
        let directory = tempfile::tempdir().and_then(|directory| {
            for name in ["libcuda.so", "libcuda.so.1"] {
                origin.place(&directory.path().join(name))?;
            }
            Ok(directory)
        });
        directory.map(Self).map_err(|source| ErrorKind::Io { path: std::env::temp_dir(), source }.into())
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        self.0.path()
    }

    /// The variables by which the loader, this project and Numba find it.
    pub fn environment(&self) -> [(&'static str, OsString); 3] {
        let library: OsString = self.directory().join(FILES[1]).into();
        let mut search: OsString = self.directory().into();
        if let Some(others) = std::env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
            search.push(":");
            search.push(others);
        }
        [
            ("LD_LIBRARY_PATH", search),
            ("TILEWRIGHT_CUDA_PATH", library.clone()),
            ("NUMBA_CUDA_DRIVER", library),
        ]
    }
}

fn file() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return Path::new(&named).canonicalize().ok();
    }
    let program = std::env::current_exe().ok()?;
    let directory = program.parent()?;
    let candidates = PLACES.iter().flat_map(|place| FILES.map(|file| directory.join(place).join(file)));
    candidates.into_iter().find_map(|path| path.canonicalize().ok())
}

#[cfg(unix)]
fn link(file: &Path, name: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(file, name)
}

#[cfg(not(unix))]
fn link(file: &Path, name: &Path) -> std::io::Result<()> {
    std::fs::copy(file, name).map(drop)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_library_is_linked_or_written_under_its_names() {
        let directory = tempfile::tempdir().unwrap();
        let (file, name) = (directory.path().join("lib.so"), directory.path().join(FILES[1]));
        std::fs::write(&file, "library").unwrap();
        for origin in [Origin::File(file), Origin::Embedded(b"library")] {
            origin.place(&name).unwrap();
            assert_eq!(std::fs::read(&name).unwrap(), b"library", "{origin}");
            std::fs::remove_file(&name).unwrap();
        }
    }
}
