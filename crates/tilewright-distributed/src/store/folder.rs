//! A folder of blocks: a `.npy` file for each, `ROW-COLUMN.npy`, and `blocks.json`, which says how they lie.

use super::{
    Stored, copy,
    place::{Kind, io_error, parent, replace},
};
use crate::matrix::DistMatrix;
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};
use tilewright::{
    DType, Error, ErrorKind, Extremes,
    files::{self, Input, ReadOptions, Spec, WriteOptions},
};

const MANIFEST: &str = "blocks.json";
const SCHEMA: u32 = 1;

/// What `blocks.json` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    schema: u32,
    rows: usize,
    cols: usize,
    block: usize,
    dtype: String,
    /// Of a closure that is not finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
}

/// How far a closure is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    pub semiring: String,
    /// Steps that are done.
    pub done: usize,
    /// What tells the weights that it began with from others.
    pub weights: String,
}

impl Manifest {
    fn of(d: &DistMatrix<'_>, state: Option<State>) -> Self {
        let (rows, cols) = (d.rows().len, d.cols().len);
        Self { schema: SCHEMA, rows, cols, block: d.rows().block, dtype: d.dtype().name().to_owned(), state }
    }

    pub fn stored(&self, folder: &Path) -> Result<Stored, Error> {
        let dtype = self.dtype.parse::<DType>();
        if self.schema != SCHEMA || self.block == 0 || dtype.is_err() {
            return Err(bad(
                folder,
                format!("schema {}, blocks of {} of {}", self.schema, self.block, self.dtype),
            ));
        }
        Ok(Stored { rows: self.rows, cols: self.cols, dtype: dtype?, block: Some(self.block) })
    }
}

/// Reads `blocks.json`.
pub(crate) fn read_manifest(folder: &Path) -> Result<Manifest, Error> {
    let path = folder.join(MANIFEST);
    let text = fs::read(&path).map_err(|error| bad(folder, error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| bad(folder, error.to_string()))
}

fn bad(folder: &Path, problem: impl Into<String>) -> Error {
    let hint = format!("a folder of blocks has a file {MANIFEST}, as `-o FOLDER/` writes it").into();
    ErrorKind::BadFile { path: folder.join(MANIFEST), problem: problem.into(), hint: Some(hint) }.into()
}

fn file(folder: &Path, (row, col): (usize, usize)) -> PathBuf {
    folder.join(format!("{row:05}-{col:05}.npy"))
}

/// Reads this rank's blocks from a folder whose blocks have `stored` rows and columns of type `dtype`.
pub(super) fn read(
    d: &mut DistMatrix<'_>,
    folder: &Path,
    (stored, dtype): (usize, DType),
    extremes: Extremes,
) -> Result<(), Error> {
    let (rows, cols) = (d.rows().len, d.cols().len);
    d.fill(|block, mut part| {
        for row in overlapped(&block.rows, stored) {
            for col in overlapped(&block.cols, stored) {
                let path = file(folder, (row, col));
                let input = files::read(&Spec::parse(&path)?, &ReadOptions::default())?;
                check_block(
                    &path,
                    &input,
                    (stored.min(rows - row * stored), stored.min(cols - col * stored)),
                    dtype,
                )?;
                let (from_rows, to_rows) = shared(&block.rows, row * stored, input.layout().rows);
                let (from_cols, to_cols) = shared(&block.cols, col * stored, input.layout().cols);
                let (height, width) = (from_rows.len(), from_cols.len());
                let from = input.as_ref().window(from_rows.start, from_cols.start, height, width)?;
                let to = part.reborrow().window(to_rows.start, to_cols.start, height, width)?;
                copy(
                    from,
                    to,
                    (block.rows.start + to_rows.start, block.cols.start + to_cols.start),
                    extremes,
                )?;
            }
        }
        Ok(())
    })
}

/// Refuses a block of another size or type than the folder says.
fn check_block(path: &Path, input: &Input, (rows, cols): (usize, usize), dtype: DType) -> Result<(), Error> {
    let (layout, found) = (input.layout(), input.dtype());
    if (layout.rows, layout.cols, found) == (rows, cols, dtype) {
        return Ok(());
    }
    let problem = format!(
        "it is {}x{} of {found}, but {MANIFEST} beside it says {rows}x{cols} of {dtype}",
        layout.rows, layout.cols
    );
    let hint = Some("write the folder again: its files belong to different matrices".into());
    Err(ErrorKind::BadFile { path: path.to_path_buf(), problem, hint }.into())
}

/// The blocks of a folder that a range of indices needs.
fn overlapped(indices: &core::ops::Range<usize>, stored: usize) -> core::ops::Range<usize> {
    indices.start / stored..indices.end.div_ceil(stored)
}

/// What a range of indices has in common with `len` indices from `first` on, by the numbers of either.
fn shared(
    indices: &core::ops::Range<usize>,
    first: usize,
    len: usize,
) -> (core::ops::Range<usize>, core::ops::Range<usize>) {
    let start = indices.start.max(first);
    let end = indices.end.min(first + len).max(start);
    (start - first..end - first, start - indices.start..end - indices.start)
}

/// Writes a folder.
pub(super) fn write(d: &DistMatrix<'_>, folder: &Path) -> Result<(), Error> {
    write_state(d, folder, None)
}

/// Writes a folder, and how far a closure is.
pub(crate) fn write_state(d: &DistMatrix<'_>, folder: &Path, state: Option<State>) -> Result<(), Error> {
    let manifest = Manifest::of(d, state);
    let prepare = |_: &Path| check_writable(folder, d.dtype());
    let fill = |to: &Path| {
        d.visit(|block, part| {
            let (path, named) = (file(to, block.at), file(folder, block.at));
            let failed = io_error(&named);
            let written = File::create(&path).map_err(&failed)?;
            let mut out = std::io::BufWriter::with_capacity(1 << 18, &written);
            files::write_to(&Spec::parse(&named)?, &mut out, part, &WriteOptions::default())?;
            std::io::Write::flush(&mut out).map_err(&failed)?;
            drop(out);
            // Before the new name is on disk, the new contents must be.
            written.sync_all().map_err(&failed)
        })
    };
    let finish = |to: &Path| {
        // Numbers and names have a form in JSON.
        let text = serde_json::to_vec_pretty(&manifest).map_err(|error| bad(folder, error.to_string()))?;
        fs::write(to.join(MANIFEST), text).map_err(io_error(folder))
    };
    replace(d.grid().world(), folder, Kind::Folder, prepare, fill, finish)
}

/// Whether there is nothing, or a folder of blocks, or an empty one.
pub(super) fn check_writable(folder: &Path, dtype: DType) -> Result<(), Error> {
    let is_ours = folder.join(MANIFEST).exists();
    let is_empty = || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if folder.exists() && !is_ours && !is_empty() {
        let problem = "it is there, and is no folder of blocks: nothing was written".to_owned();
        let hint = Some("choose another name".into());
        return Err(ErrorKind::BadFile { path: folder.to_path_buf(), problem, hint }.into());
    }
    // Whether the format has the type, and a file can be made beside the folder.
    files::check_writable(&Spec::parse(parent(folder).join("00000-00000.npy"))?, dtype)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_another_size_overlap() {
        assert_eq!(overlapped(&(4..8), 3), 1..3);
        assert_eq!(overlapped(&(4..4), 3), 1..2);
        assert_eq!(shared(&(4..8), 3, 3), (1..3, 0..2));
        assert_eq!(shared(&(4..8), 6, 3), (0..2, 2..4));
    }
}
