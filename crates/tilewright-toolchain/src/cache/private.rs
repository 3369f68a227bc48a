//! Whether a directory or a file is this user's own, so that nobody else can have put machine code there.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Makes the directory for its owner alone. One that is there already stays as it is, and is an error unless it is private: what others could write
/// to before may hold what they wrote.
#[cfg(unix)]
pub(super) fn make_directory(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    match trouble_with_directory(directory) {
        None => Ok(()),
        Some(why) => Err(io::Error::new(io::ErrorKind::PermissionDenied, why)),
    }
}

/// Why the directory cannot be trusted; `None` where it can, and where there is none.
#[cfg(unix)]
pub(super) fn trouble_with_directory(directory: &Path) -> Option<String> {
    // Of the name itself: a link could lead elsewhere the next time.
    let metadata = fs::symlink_metadata(directory).ok()?;
    if metadata.is_symlink() {
        return Some("it is a symbolic link".into());
    }
    if !metadata.is_dir() {
        return Some("it is no directory".into());
    }
    trouble_with_owner(&metadata)
}

/// Opens a file for reading, if it is a regular one, no link, of this user, and nobody else can write to it. What is checked is the file that was opened.
#[cfg(unix)]
pub(super) fn open(path: &Path) -> Option<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    // A pipe must not be waited for.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits();
    let file = fs::OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    (metadata.is_file() && trouble_with_owner(&metadata).is_none()).then_some(file)
}

#[cfg(unix)]
fn trouble_with_owner(metadata: &fs::Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let (user, mode) = (rustix::process::geteuid().as_raw(), metadata.mode() & 0o7777);
    if metadata.uid() != user {
        return Some(format!("it belongs to user {}, and this process runs as {user}", metadata.uid()));
    }
    (mode & 0o022 != 0).then(|| format!("others can write to it (mode {mode:o})"))
}

/// The user's cache directory is private already.
#[cfg(not(unix))]
pub(super) fn make_directory(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}

#[cfg(not(unix))]
pub(super) fn trouble_with_directory(_: &Path) -> Option<String> {
    None
}

#[cfg(not(unix))]
pub(super) fn open(path: &Path) -> Option<File> {
    File::open(path).ok()
}
