//! Writing: to a temporary file beside the target, which then takes the target's place.
//!
//! A run that fails or is killed leaves the old file whole. What is no regular file (`/dev/stdout`, a pipe) is
//! written directly.

use super::{
    Format, Spec, WriteOptions, csv,
    fault::{Fault, bad},
    input::Contents,
    lock::Lock,
    mtx, npy, npz, safetensors,
    shape::in_words,
};
use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};
use tempfile::TempPath;
use tilewright_core::{DType, DynRef, Error, Layout};

/// The temporary files that exist now.
static TEMPORARIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file that goes with the others when the program is told to end.
pub(super) fn list(path: &Path) {
    temporaries().push(path.to_path_buf());
}

/// Undoes [`list`].
pub(super) fn unlist(path: &Path) {
    temporaries().retain(|listed| listed != path);
}

fn temporaries() -> MutexGuard<'static, Vec<PathBuf>> {
    // A list of paths is never left half changed.
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of writes that are under way.
///
/// For a program that is about to end on ctrl-c: call it from the thread that waits for the signal (not from
/// inside a signal handler, where locks and allocation are forbidden). A write that goes on afterwards fails
/// with an `io` error and leaves the old file whole.
pub fn remove_temporaries() {
    remove_those(|_| true);
}

fn remove_those(is_one: impl Fn(&Path) -> bool) {
    temporaries().retain(|path| {
        let goes = is_one(path);
        if goes {
            // Nobody is left to tell, and the file may be gone already.
            let _ = fs::remove_file(path);
        }
        !goes
    });
}

/// Writes `matrix` to a file, replacing what is there only when everything was written.
///
/// The file keeps its permissions; a symbolic link keeps pointing where it did, and its target is replaced. A tensor with a
/// name of its own, `m.safetensors:c`, takes its place beside the others of the file, and so does a member of an archive,
/// `runs.npz:c`; without a name it replaces them all. Such a file has one writer at a time, of this process or of others on this machine: who writes holds
/// an advisory lock, whose file `.NAME.lock` stands beside it in the meantime.
///
/// # Errors
/// `io` when the file cannot be written, `bad-file` when the format cannot hold the matrix, or when there is a file whose
/// tensors should be kept and cannot be read. The old file is whole then, and no temporary file remains.
pub fn write(spec: &Spec, matrix: DynRef<'_>, options: &WriteOptions) -> Result<(), Error> {
    write_stack(spec, matrix, &shape_of(matrix), options)
}

/// Writes an array of any shape, whose rows are those of `matrix`: a stack of matrices that lie one below the other, or a vector.
///
/// # Errors
/// As [`write()`]; `bad-file` for more than two dimensions in a text format, and for another number of elements.
pub fn write_stack(
    spec: &Spec,
    matrix: DynRef<'_>,
    shape: &[usize],
    options: &WriteOptions,
) -> Result<(), Error> {
    let array = Array { rows: matrix, shape };
    let write = || {
        check_format(spec, matrix.dtype(), shape.len())?;
        array.check()?;
        let _lock = lock(spec)?;
        let old = old(spec)?;
        replace(spec.path(), move |file| encode(spec, file, array, options, kept(spec, old.as_ref())?))
    };
    write().map_err(|fault| fault.at(spec.path()))
}

/// An array to write.
#[derive(Clone, Copy)]
struct Array<'a> {
    rows: DynRef<'a>,
    shape: &'a [usize],
}

impl Array<'_> {
    /// Whether the rows hold as many elements as the shape says.
    fn check(self) -> Result<(), Fault> {
        let wanted = self.shape.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
        if wanted.is_some() && wanted == self.rows.layout().len() {
            return Ok(());
        }
        let Layout { rows, cols, .. } = self.rows.layout();
        Err(bad!("{rows}x{cols} elements are no array of shape {}", in_words(self.shape)))
    }
}

fn shape_of(matrix: DynRef<'_>) -> [usize; 2] {
    [matrix.layout().rows, matrix.layout().cols]
}

/// Writes a file of any kind as [`write()`] writes a matrix: it is replaced as a whole or not at all.
///
/// # Errors
/// `io` when the file cannot be written.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace(path, |mut file| Ok(file.write_all(bytes)?)).map_err(|fault| fault.at(path))
}

pub(super) fn replace(path: &Path, fill: impl FnOnce(&File) -> Result<(), Fault>) -> Result<(), Fault> {
    match Target::find(path)? {
        Target::File { path, permissions } => {
            let temporary = Temporary::beside(&path)?;
            fill(&temporary.file)?;
            temporary.replace(&path, permissions)
        }
        Target::Stream => fill(&OpenOptions::new().write(true).open(path)?),
    }
}

/// Writes `matrix` in the format of `spec`, whose path serves for errors only, to any destination.
///
/// # Errors
/// As [`write()`].
pub fn write_to(
    spec: &Spec,
    out: impl Write,
    matrix: DynRef<'_>,
    options: &WriteOptions,
) -> Result<(), Error> {
    write_stack_to(spec, out, matrix, &shape_of(matrix), options)
}

/// As [`write_stack`], to any destination; see [`write_to`].
///
/// # Errors
/// As [`write_stack`].
pub fn write_stack_to(
    spec: &Spec,
    mut out: impl Write,
    matrix: DynRef<'_>,
    shape: &[usize],
    options: &WriteOptions,
) -> Result<(), Error> {
    let array = Array { rows: matrix, shape };
    let mut write = || {
        check_format(spec, matrix.dtype(), shape.len())?;
        array.check()?;
        encode_into(spec, &mut out, array, options, Kept::Nothing)?;
        Ok(out.flush()?)
    };
    write().map_err(|fault: Fault| fault.at(spec.path()))
}

/// Checks, before a long computation, that a matrix of `dtype` could be written: the format holds the type, and a file can be
/// created where it should be.
///
/// # Errors
/// As [`write()`].
pub fn check_writable(spec: &Spec, dtype: DType) -> Result<(), Error> {
    check_stack_writable(spec, dtype, 2)
}

/// As [`check_writable`], of an array with so many dimensions.
///
/// # Errors
/// As [`write_stack`].
pub fn check_stack_writable(spec: &Spec, dtype: DType, dimensions: usize) -> Result<(), Error> {
    let check = || {
        check_format(spec, dtype, dimensions)?;
        kept(spec, old(spec)?.as_ref())?;
        match Target::find(spec.path())? {
            Target::File { path, .. } => Temporary::beside(&path).map(drop),
            // Opening a pipe would wait for its reader.
            Target::Stream => Ok(()),
        }
    };
    check().map_err(|fault| fault.at(spec.path()))
}

fn check_format(spec: &Spec, dtype: DType, dimensions: usize) -> Result<(), Fault> {
    let is_text = matches!(spec.format(), Format::Csv | Format::Mtx);
    if is_text && dimensions > 2 {
        return Err(bad!("a {} file holds one matrix, not a stack of them", spec.format())
            .hint("write .npy, .npz or .safetensors"));
    }
    match spec.format() {
        Format::Npy | Format::Npz => npy::check_dtype(dtype),
        Format::Csv | Format::Mtx | Format::Safetensors => Ok(()),
    }
}

/// Keeps others from writing to a file of members until it is dropped. Where none is kept, what cannot be locked is written all the same.
pub(super) fn lock(spec: &Spec) -> Result<Option<Lock>, Fault> {
    if !spec.format().has_members() {
        return Ok(None);
    }
    let Target::File { path, .. } = Target::find(spec.path())? else { return Ok(None) };
    match Lock::of(&path) {
        Ok(lock) => Ok(Some(lock)),
        Err(_) if spec.member().is_none() => Ok(None),
        Err(Fault::Io(error)) => Err(not_created(&path, &error).into()),
        Err(fault) => Err(fault),
    }
}

/// The file that is there, when a matrix takes its place beside others in it.
pub(super) fn old(spec: &Spec) -> Result<Option<Contents>, Fault> {
    let joins = spec.format().has_members() && spec.member().is_some();
    match fs::metadata(spec.path()) {
        Ok(found) if joins && found.is_file() => Contents::of(File::open(spec.path())?).map(Some),
        _ => Ok(None),
    }
}

/// What stays of it.
enum Kept<'a> {
    Nothing,
    Tensors(safetensors::Kept<'a>),
    Members(npz::Kept<'a>),
}

fn kept<'a>(spec: &Spec, old: Option<&'a Contents>) -> Result<Kept<'a>, Fault> {
    Ok(match (old, spec.member(), spec.format()) {
        (Some(old), Some(member), Format::Safetensors) => {
            Kept::Tensors(safetensors::Kept::of(old.bytes(), member)?)
        }
        (Some(old), Some(member), Format::Npz) => Kept::Members(npz::Kept::of(old.bytes(), member)?),
        _ => Kept::Nothing,
    })
}

fn encode(
    spec: &Spec,
    file: &File,
    array: Array<'_>,
    options: &WriteOptions,
    kept: Kept<'_>,
) -> Result<(), Fault> {
    let mut out = BufWriter::with_capacity(1 << 18, file);
    encode_into(spec, &mut out, array, options, kept)?;
    // Dropping the buffer would swallow the error of a full disk.
    Ok(out.flush()?)
}

fn encode_into(
    spec: &Spec,
    out: &mut dyn Write,
    Array { rows, shape }: Array<'_>,
    options: &WriteOptions,
    kept: Kept<'_>,
) -> Result<(), Fault> {
    match (spec.format(), kept) {
        (Format::Npy, _) => npy::write(out, rows, shape),
        (Format::Csv, _) => csv::write(out, rows, options),
        (Format::Mtx, _) => mtx::write(out, rows),
        (Format::Safetensors, Kept::Tensors(kept)) => {
            safetensors::write(out, rows, shape, spec.member(), kept)
        }
        (Format::Safetensors, _) => {
            safetensors::write(out, rows, shape, spec.member(), safetensors::Kept::default())
        }
        (Format::Npz, Kept::Members(kept)) => npz::write(out, rows, shape, spec.member(), Some(kept)),
        (Format::Npz, _) => npz::write(out, rows, shape, spec.member(), None),
    }
}

/// What a path stands for.
enum Target {
    /// A regular file or none yet, links followed; the permissions of the file that is there.
    File { path: PathBuf, permissions: Option<Permissions> },
    /// A device or pipe.
    Stream,
}

impl Target {
    fn find(path: &Path) -> Result<Self, Fault> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(io::Error::from(ErrorKind::IsADirectory).into()),
            Ok(found) if found.is_file() => {
                // Renaming would replace even a file that may not be written to.
                OpenOptions::new().write(true).open(path)?;
                Ok(Self::File { path: fs::canonicalize(path)?, permissions: Some(found.permissions()) })
            }
            Ok(_) => Ok(Self::Stream),
            Err(e) if e.kind() == ErrorKind::NotFound => {
                Ok(Self::File { path: follow(path.to_path_buf())?, permissions: None })
            }
            Err(e) => Err(e.into()),
        }
    }
}

/// Where a chain of links ends, when no file is there.
pub(super) fn follow(mut path: PathBuf) -> io::Result<PathBuf> {
    // A loop of links never gets here: the system reports it as an error of its own.
    while let Ok(next) = fs::read_link(&path) {
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    Ok(path)
}

fn directory(target: &Path) -> &Path {
    target.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
}

/// The system's error would speak of a file whose name means nothing to the user.
fn not_created(target: &Path, error: &io::Error) -> io::Error {
    let directory = directory(target).display();
    io::Error::new(error.kind(), format!("no file can be created in {directory}: {}", error.kind()))
}

/// A file that is removed unless it takes its target's place.
struct Temporary {
    file: File,
    path: TempPath,
}

impl Temporary {
    fn beside(target: &Path) -> Result<Self, Fault> {
        let directory = directory(target);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".tilewright-").suffix(".tmp");
        #[cfg(unix)]
        {
            // As for any new file, the user's mask takes away what others should not have.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(Permissions::from_mode(0o666));
        }
        // Held while creating, so that a file is never there without being listed.
        let mut list = temporaries();
        let created = builder.tempfile_in(directory).map_err(|error| not_created(target, &error))?;
        let (file, path) = created.into_parts();
        list.push(path.to_path_buf());
        Ok(Self { file, path })
    }

    fn replace(self, target: &Path, permissions: Option<Permissions>) -> Result<(), Fault> {
        if let Some(permissions) = permissions {
            self.file.set_permissions(permissions)?;
        }
        // Before the new name is on disk, the new contents must be.
        self.file.sync_all()?;
        fs::rename(&self.path, target)?;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut list = temporaries();
        // After a rename there is nothing under this name. Unlisted only when gone.
        let _ = fs::remove_file(&self.path);
        list.retain(|path| *path != *self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_go_when_dropped_and_when_the_program_is_told_to_end() {
        let directory = tempfile::tempdir().unwrap();
        let count = || fs::read_dir(directory.path()).unwrap().count();
        let target = directory.path().join("a.npy");
        let dropped = Temporary::beside(&target).unwrap();
        assert_eq!(count(), 1);
        drop(dropped);
        assert_eq!(count(), 0);

        let interrupted = Temporary::beside(&target).unwrap();
        // Other tests of this process write meanwhile.
        remove_those(|path| path.starts_with(directory.path()));
        assert_eq!(count(), 0);
        assert!(interrupted.replace(&target, None).is_err());
        assert_eq!(count(), 0);
    }
}
