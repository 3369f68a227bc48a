//! What only the operating system can do: load a library, say whether one is loaded, and where it came from.

use libloading::Library;
use std::path::{Path, PathBuf};

/// Loads a library, by path or by a bare name that the loader looks up.
pub(super) fn open(path: &Path) -> Result<Library, String> {
    // SAFETY: running the initialisers of NVIDIA's libraries is what the user asks for; they have no other preconditions.
    unsafe { Library::new(path) }.map_err(|error| {
        // The loader's own words name the file; the wrapper's do not.
        std::error::Error::source(&error).map_or_else(|| error.to_string(), |source| source.to_string())
    })
}

/// The library of this name, if something else in this process has loaded it.
#[cfg(target_os = "linux")]
pub(super) fn already_loaded(file: &str) -> Option<Library> {
    use libloading::os::unix;
    /// Of `dlfcn.h`, the same in every C library of Linux.
    const RTLD_NOLOAD: std::ffi::c_int = 4;
    // SAFETY: nothing is loaded, so that no initialiser runs.
    unsafe { unix::Library::open(Some(file), unix::RTLD_NOW | RTLD_NOLOAD) }.ok().map(Library::from)
}

/// The library of this name, if something else in this process has loaded it.
#[cfg(windows)]
pub(super) fn already_loaded(file: &str) -> Option<Library> {
    libloading::os::windows::Library::open_already_loaded(file).ok().map(Library::from)
}

/// Other systems have no CUDA.
#[cfg(not(any(target_os = "linux", windows)))]
pub(super) fn already_loaded(_: &str) -> Option<Library> {
    None
}

/// The file behind a loaded library's name, where `/proc` tells.
pub(super) fn path_of(name: &Path) -> Option<PathBuf> {
    if name.is_absolute() {
        return Some(name.to_owned());
    }
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    mapped_file(&maps, name.to_str()?)
}

/// The path of a mapping whose file is `name`, or `name` with a longer version (`libnvrtc.so.12` is a link to `libnvrtc.so.12.8.93`), or with another one
/// (`libcuda.so.1` is a link to `libcuda.so.580.65`).
fn mapped_file(maps: &str, name: &str) -> Option<PathBuf> {
    let stem = name.split_once(".so").map_or(name, |(stem, _)| stem);
    let paths = || maps.lines().filter_map(|line| line.find('/').map(|start| Path::new(&line[start..])));
    let file_name = |path: &Path| path.file_name().map(|file| file.to_string_lossy().into_owned());
    let find = |is_it: &dyn Fn(&str) -> bool| {
        paths().find(|path| file_name(path).is_some_and(|file| is_it(&file))).map(Path::to_owned)
    };
    find(&|file| file == name)
        .or_else(|| find(&|file| file.starts_with(&format!("{name}."))))
        .or_else(|| find(&|file| file.starts_with(&format!("{stem}.so"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_behind_a_name_is_read_from_the_memory_map() {
        let maps = "7f00-7f01 r--p 00000000 08:01 12 /usr/lib/libcudart.so.13\n\
                    7f01-7f02 r-xp 00000000 08:01 13    /usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06\n\
                    7f02-7f03 rw-p 00000000 00:00 0\n";
        let expected = Some(PathBuf::from("/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06"));
        assert_eq!(mapped_file(maps, "libcuda.so.1"), expected);
        assert_eq!(mapped_file(maps, "libcudart.so.13"), Some(PathBuf::from("/usr/lib/libcudart.so.13")));
        assert_eq!(mapped_file(maps, "libnvrtc.so.13"), None);
    }

    #[test]
    fn versions_beside_each_other_are_told_apart() {
        let maps = "7f00-7f01 r-xp 00000000 08:01 12 /usr/lib/libnvrtc.so.13.0.88\n\
                    7f01-7f02 r-xp 00000000 08:01 13 /usr/lib/libnvrtc.so.12.8.93\n";
        assert_eq!(mapped_file(maps, "libnvrtc.so.12"), Some(PathBuf::from("/usr/lib/libnvrtc.so.12.8.93")));
        assert_eq!(mapped_file(maps, "libnvrtc.so.13"), Some(PathBuf::from("/usr/lib/libnvrtc.so.13.0.88")));
    }

    #[test]
    fn what_no_one_loaded_is_not_loaded() {
        assert!(already_loaded("libtilewright-does-not-exist.so.1").is_none());
    }

    #[test]
    fn a_file_that_is_no_library_is_refused_with_its_name() {
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        let failure = open(file.path()).expect_err("not a library");
        assert!(failure.contains(&file.path().display().to_string()), "{failure}");
    }
}
