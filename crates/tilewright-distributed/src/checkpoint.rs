//! States of a closure in a folder, from which it goes on.

use crate::{
    group::Group,
    matrix::DistMatrix,
    store::{self, State},
};
use std::{
    fs,
    path::{Path, PathBuf},
};
use tilewright::{Error, ErrorKind, SemiringId};

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
    pub(crate) fn write(
        &self,
        d: &DistMatrix<'_>,
        semiring: SemiringId,
        done: usize,
        weights: u64,
    ) -> Result<(), Error> {
        let group = d.grid().world();
        let is_first = group.rank() == 0;
        let failed = |source| Error::from(ErrorKind::Io { path: self.folder.clone(), source });
        let made = if is_first { fs::create_dir_all(&self.folder).map_err(failed) } else { Ok(()) };
        let doing = format!("keeping the state after step {done}");
        group.agree(made, &doing)?;
        let state = State { semiring: semiring.name().to_owned(), done, weights: named(weights) };
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

    /// Whether there are states. Every rank asks, and rank 0 looks.
    ///
    /// # Errors
    /// As [`Group::broadcast`].
    pub fn has_states(&self, group: &dyn Group) -> Result<bool, Error> {
        let mine = u8::from(group.rank() == 0 && !self.states().is_empty());
        Ok(group.tell(&[mine], 0)?.contains(&1))
    }

    /// Refuses to begin where there are states: they would be mixed.
    pub(crate) fn refuse_states(&self, group: &dyn Group) -> Result<(), Error> {
        if !self.has_states(group)? {
            return Ok(());
        }
        let what = format!("a closure from its beginning in {}, which has states,", self.folder.display());
        let hint = "go on from them, or choose another folder".into();
        Err(ErrorKind::Unsupported { what, why: String::new(), hint }.into())
    }

    /// Puts the newest state in the place of the weights that it came from, and gives how many steps are done in it; `None` where there is none.
    pub(crate) fn resume(
        &self,
        d: &mut DistMatrix<'_>,
        semiring: SemiringId,
        weights: u64,
    ) -> Result<Option<usize>, Error> {
        let group = d.grid().world();
        let newest = |d: &DistMatrix<'_>| -> Result<Option<(usize, String)>, Error> {
            let Some((_, path)) = self.states().pop() else { return Ok(None) };
            let done = check(&path, d, semiring, weights)?;
            Ok(Some((done, path.to_string_lossy().into_owned())))
        };
        let mine = if group.rank() == 0 { newest(d) } else { Ok(None) };
        let found = group.agree(mine, "looking at the states")?;
        let text = found.map_or_else(String::new, |(done, path)| format!("{done} {path}"));
        let text = String::from_utf8_lossy(&group.tell(text.as_bytes(), 0)?).into_owned();
        let Some((done, path)) = text.split_once(' ') else { return Ok(None) };
        store::read_into(d, Path::new(path))?;
        Ok(Some(done.parse().unwrap_or(0)))
    }
}

/// How many steps are done in a state, if it is one of this closure.
fn check(path: &Path, d: &DistMatrix<'_>, semiring: SemiringId, weights: u64) -> Result<usize, Error> {
    let refused = |problem: String| {
        let hint = Some("choose the folder of the run that is to go on, or another one".into());
        Error::from(ErrorKind::BadFile { path: path.to_path_buf(), problem, hint })
    };
    let manifest = store::read_manifest(path)?;
    let found = manifest.stored(path)?;
    let (n, block, dtype) = (d.rows().len, d.rows().block, d.dtype());
    let is_alike = (found.rows, found.cols, found.block, found.dtype) == (n, n, Some(block), dtype);
    match manifest.state {
        Some(state) if is_alike && state.semiring == semiring.name() => match state.weights == named(weights)
        {
            true => Ok(state.done),
            false => Err(refused("it is a state of other weights".to_owned())),
        },
        _ => Err(refused(format!(
            "it is no state of {n} vertices over {semiring} on {dtype} in blocks of {block}"
        ))),
    }
}

/// A fingerprint as it is written.
fn named(weights: u64) -> String {
    format!("{weights:016x}")
}

/// A number that tells weights from others: the same on every grid and in blocks of every size, and at every rank.
pub(crate) fn fingerprint(d: &DistMatrix<'_>) -> Result<u64, Error> {
    let mut sum = 0_u64;
    let looked = d.visit(|block, part| {
        for (i, row) in block.rows.clone().enumerate() {
            let row = mixed((row as u64).wrapping_add(0x9e37_79b9_7f4a_7c15));
            for (j, col) in block.cols.clone().enumerate() {
                let mut word = [0_u8; 8];
                for (to, &byte) in word.iter_mut().zip(part.bytes(i, j).unwrap_or_default()) {
                    *to = byte;
                }
                let place = mixed(row.wrapping_add(col as u64));
                sum = sum.wrapping_add(mixed(place ^ u64::from_ne_bytes(word)));
            }
        }
        Ok(())
    });
    let world = d.grid().world();
    world.agree(looked, "looking at the weights")?;
    let all = world.exchange(&sum.to_le_bytes())?;
    let sums = all.chunks(8).map(|bytes| bytes.try_into().map_or(0, u64::from_le_bytes));
    Ok(sums.fold(0, u64::wrapping_add))
}

/// The finisher of SplitMix64.
fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
