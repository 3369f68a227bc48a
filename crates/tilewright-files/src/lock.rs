//! One writer at a time: a lock beside a file, from the reading of what stays to the renaming of what is new.
//!
//! The lock is advisory and the system's: it ends with the process that holds it, however that ends. Its file, `.NAME.lock`, is removed by who
//! holds it. One that a killed process left means nothing, and the next writer takes and removes it.

use super::{
    fault::{Fault, bad},
    output::{list, unlist},
};
use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

/// The lock of a file that is written; held until it is dropped.
pub(super) struct Lock {
    path: PathBuf,
    /// Unlocks when it is closed.
    _file: File,
}

impl Lock {
    /// Waits for the lock of the file at `target`, whose links were followed.
    pub fn of(target: &Path) -> Result<Self, Fault> {
        let mut name = OsString::from(".");
        name.push(target.file_name().unwrap_or_default());
        name.push(".lock");
        let path = target.with_file_name(name);
        loop {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            wait(&file).map_err(|error| {
                bad!("the file cannot be locked, so that what others write into it at the same time could be lost: {error}")
                    .hint("write a file of its own, without a name of a member, or one on a disk that knows locks")
            })?;
            // Who held it before has removed it: the lock of that file excludes nobody.
            if is_still(&file, &path) {
                list(&path);
                return Ok(Self { path, _file: file });
            }
        }
    }
}

fn wait(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Whether the open file is the one of this name.
#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    matches!((file.metadata(), fs::metadata(path)), (Ok(a), Ok(b)) if (a.dev(), a.ino()) == (b.dev(), b.ino()))
}

#[cfg(not(unix))]
fn is_still(_: &File, _: &Path) -> bool {
    true
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Where files have no identity that could be compared, the file stays.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
        unlist(&self.path);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn one_at_a_time_and_nothing_stays() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a.npz");
        // As a killed process leaves it.
        fs::write(directory.path().join(".a.npz.lock"), "").unwrap();
        let (inside, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let lock = Lock::of(&target).unwrap();
                        assert_eq!(inside.fetch_add(1, SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, SeqCst);
                        drop(lock);
                        done.fetch_add(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(done.load(SeqCst), 160);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
