//! A file that others open by its path, by its content: a shared library that a program has in itself.

use super::{directory_of_user, private};
use sha2::{Digest, Sha256};
use std::{
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

/// A file of these bytes in this user's cache, written if it is not there. It stays there for the next run.
///
/// `None` where the cache is disabled, has no place, cannot be written, or is not this user's own.
pub fn cached_file(name: &str, bytes: &[u8]) -> Option<PathBuf> {
    in_directory(&directory_of_user()?.join("files"), name, bytes).ok()
}

/// Files of other content under this name are of other versions, which write them again. They are removed.
fn in_directory(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    private::make_directory(directory)?;
    let digest: String = Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let path = directory.join(format!("{digest}-{name}"));
    if holds(&path, bytes) {
        return Ok(path);
    }
    let mut file = tempfile::Builder::new().tempfile_in(directory)?;
    file.write_all(bytes)?;
    file.persist(&path).map_err(|error| error.error)?;
    let suffix = format!("-{name}");
    for entry in fs::read_dir(directory)?.flatten() {
        if entry.path() != path && entry.file_name().to_string_lossy().ends_with(&suffix) {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(path)
}

/// Whether the file is this user's own and has these bytes.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let mut found = Vec::new();
    private::open(path).is_some_and(|mut file| file.read_to_end(&mut found).is_ok() && found == bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_file_is_written_once_mended_and_replaced_by_other_content() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("files");
        let first = in_directory(&directory, "lib.so", b"one").unwrap();
        let written = fs::metadata(&first).unwrap().modified().unwrap();
        assert_eq!(in_directory(&directory, "lib.so", b"one").unwrap(), first);
        assert_eq!(fs::metadata(&first).unwrap().modified().unwrap(), written);

        fs::write(&first, "broken").unwrap();
        assert_eq!(in_directory(&directory, "lib.so", b"one").unwrap(), first);
        assert_eq!(fs::read(&first).unwrap(), b"one");

        let other = in_directory(&directory, "other.so", b"other").unwrap();
        let second = in_directory(&directory, "lib.so", b"two").unwrap();
        assert!(!first.exists() && second.exists() && other.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_others_can_write_to_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("files");
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(in_directory(&directory, "lib.so", b"one").is_err());
    }
}
