//! States of a closure in a folder, from which it goes on.

use crate::{
    grid::Grid,
    matrix::DistMatrix,
    store::{self, State},
};
use std::{
    fs,
    path::{Path, PathBuf},
};
use tilewright::{Error, ErrorKind, Extremes, SemiringId};

/// How many states are kept.
const KEPT: usize = 2;
const PREFIX: &str = "step-";

/// A folder of states of one closure: the two newest, each whole.
///
/// A state is a folder of blocks, so that a closure may go on with another grid.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    every: usize,
}

impl Checkpoints {
    /// Keeps a state in `folder` after every `every` steps; 0 is a tenth of all.
    pub fn new(folder: impl Into<PathBuf>, every: usize) -> Self {
        Self { folder: folder.into(), every }
    }

    /// Whether a state is kept after `done` of `count` steps, `start` of which were done before.
    pub(crate) fn is_due(&self, done: usize, start: usize, count: usize) -> bool {
        let every = if self.every == 0 { count.div_ceil(10).max(1) } else { self.every };
        done < count && done > start && done.is_multiple_of(every)
    }

    /// Keeps a state, and removes those before the last but one.
    pub(crate) fn write(&self, d: &DistMatrix<'_>, semiring: SemiringId, done: usize) -> Result<(), Error> {
        let group = d.grid().world();
        let is_first = group.rank() == 0;
        let failed = |source| Error::from(ErrorKind::Io { path: self.folder.clone(), source });
        let made = if is_first { fs::create_dir_all(&self.folder).map_err(failed) } else { Ok(()) };
        let doing = format!("keeping the state after step {done}");
        group.agree(made, &doing)?;
        let state = State { semiring: semiring.name().to_owned(), done };
        store::write_state(d, &self.folder.join(format!("{PREFIX}{done:08}")), Some(state))?;
        let removed = if is_first { self.forget() } else { Ok(()) };
        group.agree(removed, &doing)
    }

    fn forget(&self) -> Result<(), Error> {
        for (_, old) in self.states().iter().rev().skip(KEPT) {
            fs::remove_dir_all(old).map_err(|source| ErrorKind::Io { path: old.clone(), source })?;
        }
        Ok(())
    }

    /// The states that are there, the newest last.
    fn states(&self) -> Vec<(usize, PathBuf)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let state = |path: PathBuf| {
            let done = path.file_name()?.to_str()?.strip_prefix(PREFIX)?.parse().ok()?;
            Some((done, path))
        };
        let mut states: Vec<_> = entries.filter_map(|entry| state(entry.path())).collect();
        states.sort();
        states
    }

    /// The newest state of this closure, and how many steps are done in it; `None` where there is none.
    ///
    /// # Errors
    /// The same at every rank: `bad-file` for a state of another closure.
    pub fn resume<'g>(
        &self,
        grid: &'g Grid<'g>,
        semiring: SemiringId,
        n: usize,
        block: usize,
        dtype: tilewright::DType,
    ) -> Result<Option<(DistMatrix<'g>, usize)>, Error> {
        let group = grid.world();
        let newest = || -> Result<Option<(usize, String)>, Error> {
            let Some((_, path)) = self.states().pop() else { return Ok(None) };
            let done = check(&path, semiring, n, block, dtype)?;
            Ok(Some((done, path.to_string_lossy().into_owned())))
        };
        let mine = if group.rank() == 0 { newest() } else { Ok(None) };
        let found = group.agree(mine, "looking at the states")?;
        let text = found.map_or_else(String::new, |(done, path)| format!("{done} {path}"));
        let text = String::from_utf8_lossy(&group.tell(text.as_bytes(), 0)?).into_owned();
        let Some((done, path)) = text.split_once(' ') else { return Ok(None) };
        let d = store::read(grid, Path::new(path), block, dtype, Extremes::Refuse)?;
        Ok(Some((d, done.parse().unwrap_or(0))))
    }
}

/// How many steps are done in a state, if it is one of this closure.
fn check(
    path: &Path,
    semiring: SemiringId,
    n: usize,
    block: usize,
    dtype: tilewright::DType,
) -> Result<usize, Error> {
    let manifest = store::read_manifest(path)?;
    let found = manifest.stored(path)?;
    let state = manifest.state.filter(|state| state.semiring == semiring.name());
    match state {
        Some(state) if (found.rows, found.block, found.dtype) == (n, Some(block), dtype) => Ok(state.done),
        _ => {
            let problem =
                format!("it is no state of {n} vertices over {semiring} on {dtype} in blocks of {block}");
            let hint = Some("choose the folder of the run that is to go on".into());
            Err(ErrorKind::BadFile { path: path.to_path_buf(), problem, hint }.into())
        }
    }
}
