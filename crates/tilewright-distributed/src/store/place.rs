//! A temporary name, which all ranks know, beside a target that it takes the place of.

use crate::group::Group;
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use tempfile::Builder;
use tilewright::{Error, ErrorKind};

/// What is made under a temporary name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
}

/// Lets `prepare` make something under a temporary name at rank 0, lets every rank `fill` its part, and puts it in the target's place when all have.
///
/// Where a rank fails, the target stays as it is, and what is temporary goes.
pub(super) fn replace(
    group: &dyn Group,
    target: &Path,
    kind: Kind,
    prepare: impl FnOnce(&Path) -> Result<(), Error>,
    fill: impl FnOnce(&Path) -> Result<(), Error>,
    finish: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<(), Error> {
    let is_first = group.rank() == 0;
    let made = if is_first { make(target, kind).map(Some) } else { Ok(None) };
    let made = group.agree(made, "preparing the output")?;
    let name = made.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    let path = PathBuf::from(String::from_utf8_lossy(&group.tell(name.as_bytes(), 0)?).into_owned());

    let prepared = if is_first { prepare(&path) } else { Ok(()) };
    let written = group
        .agree(prepared, "preparing the output")
        .and_then(|()| group.agree(fill(&path), "writing the output"))
        .and_then(|()| {
            let finished =
                if is_first { finish(&path).and_then(|()| rename(&path, target, kind)) } else { Ok(()) };
            group.agree(finished, "putting the output in its place")
        });
    if written.is_err() && is_first {
        // The error that led here is told; and nobody is left to hear of another.
        let _ = remove(&path, kind);
    }
    written
}

/// An error of the system, with the path.
pub(super) fn io_error(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
    move |source| ErrorKind::Io { path: path.to_path_buf(), source }.into()
}

/// The folder that a target lies in.
pub(super) fn parent(target: &Path) -> &Path {
    target.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
}

fn make(target: &Path, kind: Kind) -> Result<PathBuf, Error> {
    let mut builder = Builder::new();
    builder.prefix(".tilewright-").suffix(".tmp");
    #[cfg(unix)]
    {
        // As for anything new, the user's mask takes away what others should not have.
        use std::os::unix::fs::PermissionsExt;
        let mode = if kind == Kind::File { 0o666 } else { 0o777 };
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    let parent = parent(target);
    let made = match kind {
        Kind::File => builder.tempfile_in(parent).and_then(|file| Ok(file.into_temp_path().keep()?)),
        Kind::Folder => builder.tempdir_in(parent).map(tempfile::TempDir::keep),
    };
    let path = made.map_err(io_error(parent))?;
    match path.to_str() {
        Some(_) => Ok(path),
        None => {
            let _ = remove(&path, kind);
            let (what, why) = (format!("{} as an output", target.display()), "its name is no text".into());
            Err(ErrorKind::Unsupported { what, why, hint: "choose another folder".into() }.into())
        }
    }
}

fn remove(path: &Path, kind: Kind) -> io::Result<()> {
    match kind {
        Kind::File => fs::remove_file(path),
        Kind::Folder => fs::remove_dir_all(path),
    }
}

/// A folder cannot take another one's place at once: the old one steps aside first.
fn rename(path: &Path, target: &Path, kind: Kind) -> Result<(), Error> {
    let failed = io_error(target);
    if kind == Kind::File || !target.exists() {
        return fs::rename(path, target).map_err(failed);
    }
    let aside = path.with_extension("old");
    fs::rename(target, &aside).map_err(&failed)?;
    if let Err(error) = fs::rename(path, target) {
        fs::rename(&aside, target).map_err(&failed)?;
        return Err(failed(error));
    }
    fs::remove_dir_all(&aside).map_err(io_error(&aside))
}
