//! Whether two names are those of one file.

use super::output::follow;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Whether two paths lead to one file, which may be yet to be made: spelled in two ways, through symbolic links, or as hard
/// links.
///
/// ```
/// use std::path::Path;
/// assert!(tilewright_files::is_same_file(Path::new("new.npy"), Path::new("./new.npy")));
/// assert!(!tilewright_files::is_same_file(Path::new("new.npy"), Path::new("other.npy")));
/// ```
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((Identity::of(a), Identity::of(b)), (Some(a), Some(b)) if a == b)
}

#[derive(PartialEq)]
enum Identity {
    /// Device and number of a file that is there.
    #[cfg(unix)]
    Node(u64, u64),
    /// A path without links.
    Path(PathBuf),
}

impl Identity {
    fn of(path: &Path) -> Option<Self> {
        match fs::metadata(path) {
            #[cfg(unix)]
            Ok(found) => {
                use std::os::unix::fs::MetadataExt;
                Some(Self::Node(found.dev(), found.ino()))
            }
            #[cfg(not(unix))]
            Ok(_) => fs::canonicalize(path).ok().map(Self::Path),
            // Its directory is there, or nothing can be written.
            Err(_) => {
                let path = follow(path.to_path_buf()).ok()?;
                let directory = path.parent().filter(|parent| *parent != Path::new(""));
                let directory = fs::canonicalize(directory.unwrap_or(Path::new("."))).ok()?;
                Some(Self::Path(directory.join(path.file_name()?)))
            }
        }
    }
}
