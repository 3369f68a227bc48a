//! Distributed matrices in files: one `.npy` file that all ranks read and write, or a folder of blocks.

mod folder;
mod npy;
mod place;

pub(crate) use folder::{State, read_manifest, write_state};

use crate::{grid::Grid, group::Group, matrix::DistMatrix};
use std::path::Path;
use tilewright::{
    DType, DynRef, Error, ErrorKind, Extremes,
    files::{self, Format, Input, ReadOptions, Spec},
};

/// What a file or a folder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// The element type.
    pub dtype: DType,
    /// Rows and columns of the blocks of a folder.
    pub block: Option<usize>,
}

/// Looks at a `.npy` file or a folder of blocks. Every rank calls it, and rank 0 looks.
///
/// # Errors
/// `io`, `bad-file`; the same at every rank.
pub fn stored(group: &dyn Group, path: &Path) -> Result<Stored, Error> {
    let mine = if group.rank() == 0 { look(path).map(Some) } else { Ok(None) };
    let found = group.agree(mine, "looking at the files")?;
    let text = found.map_or_else(String::new, |found| {
        let Stored { rows, cols, dtype, block } = found;
        format!("{rows} {cols} {dtype} {}", block.unwrap_or(0))
    });
    let text = String::from_utf8_lossy(&group.tell(text.as_bytes(), 0)?).into_owned();
    let words: Vec<&str> = text.split(' ').collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(0);
    let dtype = words.get(2).and_then(|word| word.parse().ok()).unwrap_or(DType::F32);
    Ok(Stored { rows: number(0), cols: number(1), dtype, block: Some(number(3)).filter(|&block| block > 0) })
}

fn look(path: &Path) -> Result<Stored, Error> {
    if path.is_dir() {
        return folder::read_manifest(path)?.stored(path);
    }
    let input = open(path)?;
    let layout = input.layout();
    Ok(Stored { rows: layout.rows, cols: layout.cols, dtype: input.dtype(), block: None })
}

/// A `.npy` file, mapped where it is large.
fn open(path: &Path) -> Result<Input, Error> {
    let spec = Spec::parse(path)?;
    if spec.format() != Format::Npy {
        let problem = format!("a {} file cannot be read in parts by many ranks", spec.format());
        let hint = Some("save it as .npy, or as a folder of blocks".into());
        return Err(ErrorKind::BadFile { path: path.to_path_buf(), problem, hint }.into());
    }
    files::read(&spec, &ReadOptions::default())
}

/// Reads a matrix in blocks of `block` rows and columns, each rank its own. Elements become `dtype`; `extremes` says what infinities become among integers.
///
/// # Errors
/// The same at every rank: `io`, `bad-file`, `conversion`; `device`, which names the rank.
pub fn read<'g>(
    grid: &'g Grid<'g>,
    path: &Path,
    block: usize,
    dtype: DType,
    extremes: Extremes,
) -> Result<DistMatrix<'g>, Error> {
    let found = stored(grid.world(), path)?;
    let d = DistMatrix::zeros(grid, dtype, found.rows, found.cols, block);
    let mut d = grid.world().agree(d, "taking memory for the matrix")?;
    let filled = fill(&mut d, path, &found, extremes);
    grid.world().agree(filled, "reading the matrix")?;
    Ok(d)
}

/// As [`read`], into a matrix of the same size and type.
pub(crate) fn read_into(d: &mut DistMatrix<'_>, path: &Path) -> Result<(), Error> {
    let world = d.grid().world();
    let found = stored(world, path)?;
    let filled = fill(d, path, &found, Extremes::Refuse);
    world.agree(filled, "reading the matrix")
}

/// Reads this rank's blocks.
fn fill(d: &mut DistMatrix<'_>, path: &Path, found: &Stored, extremes: Extremes) -> Result<(), Error> {
    if let Some(stored) = found.block {
        return folder::read(d, path, (stored, found.dtype), extremes);
    }
    let input = open(path)?;
    let whole = input.as_ref();
    d.fill(|block, part| {
        let (rows, cols) = (&block.rows, &block.cols);
        let from = whole.window(rows.start, cols.start, rows.len(), cols.len())?;
        copy(from, part, (rows.start, cols.start), extremes)
    })
}

/// Copies elements, and converts them where their types differ. An error names the element by its place in the whole matrix, where `to` begins at `first`.
fn copy(
    from: DynRef<'_>,
    mut to: tilewright::DynMut<'_>,
    first: (usize, usize),
    extremes: Extremes,
) -> Result<(), Error> {
    if from.dtype() == to.dtype() {
        return to.copy_from(from);
    }
    let converted = from.convert(to.dtype(), extremes).map_err(|error| match error.kind() {
        ErrorKind::Conversion { row, col, value, to } => {
            let (row, col, value) = (first.0 + row, first.1 + col, value.clone());
            Error::from(ErrorKind::Conversion { row, col, value, to: *to })
        }
        _ => error,
    })?;
    to.copy_from(converted.as_ref())
}

/// Writes a matrix to a file whose name ends in `.npy`, or to a folder of blocks: to a temporary name beside it, which then takes its place. Every rank writes its own.
///
/// # Errors
/// The same at every rank: `io` and `bad-file` name the rank that could not write, and so does `device`. What was there is whole then, and nothing temporary remains.
pub fn write(d: &DistMatrix<'_>, path: &Path) -> Result<(), Error> {
    if is_file(path) { npy::write(d, path) } else { folder::write(d, path) }
}

/// Checks at rank 0, before a long computation, that a matrix could be written there.
///
/// # Errors
/// As [`write()`].
pub fn check_writable(group: &dyn Group, path: &Path, dtype: DType) -> Result<(), Error> {
    let check = || match is_file(path) {
        true => files::check_writable(&Spec::parse(path)?, dtype),
        false => folder::check_writable(path, dtype),
    };
    group.agree(if group.rank() == 0 { check() } else { Ok(()) }, "looking at the output")
}

/// Whether a name is that of one file.
pub fn is_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}
