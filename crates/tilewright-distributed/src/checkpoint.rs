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

    /// Puts the newest state that is whole in the place of the weights that it came from.
    pub(crate) fn resume(
        &self,
        d: &mut DistMatrix<'_>,
        semiring: SemiringId,
        weights: u64,
    ) -> Result<Resumed, Error> {
        let group = d.grid().world();
        let mut states = if group.rank() == 0 { self.states() } else { Vec::new() };
        let mut damaged = Vec::new();
        loop {
            let mut error = Ok(());
            let said = match states.pop() {
                None => "none".to_owned(),
                Some((_, path)) => match look(&path, d, semiring, weights) {
                    Look::Good(done) => format!("good {done} {}", path.to_string_lossy()),
                    Look::Damaged(found) => said_by("damaged", found, &mut error),
                    Look::Refused(found) => said_by("refused", found, &mut error),
                },
            };
            // What rank 0 found decides for all.
            let said = String::from_utf8_lossy(&group.tell(said.as_bytes(), 0)?).into_owned();
            let mut words = said.splitn(3, ' ');
            let error = match (words.next(), words.next(), words.next()) {
                (Some("good"), Some(done), Some(path)) => match store::read_into(d, Path::new(path)) {
                    Ok(()) => return Ok(Resumed { done: done.parse().ok(), damaged }),
                    Err(error) if matches!(error.code(), "bad-file" | "io") => Err(error),
                    Err(error) => return Err(error),
                },
                (Some("damaged"), ..) => group.agree(error, LOOKING),
                (Some("refused"), ..) => return group.agree(error, LOOKING).map(|()| Resumed::default()),
                _ => break,
            };
            damaged.extend(error.err());
        }
        // Whoever asks to go on does not want to begin anew because all states are damaged.
        if damaged.is_empty() { Ok(Resumed::default()) } else { Err(damaged.swap_remove(0)) }
    }
}

const LOOKING: &str = "looking at the states";

/// What rank 0 finds a state to be.
enum Look {
    /// So many steps are done in it.
    Good(usize),
    /// It is not what was written.
    Damaged(Error),
    /// It is one of another closure.
    Refused(Error),
}

fn said_by(word: &str, found: Error, error: &mut Result<(), Error>) -> String {
    *error = Err(found);
    word.to_owned()
}

/// What a closure goes on from.
#[derive(Debug, Default)]
pub struct Resumed {
    /// How many steps were done in the state; none where there was none.
    pub done: Option<usize>,
    /// What is wrong with newer states, which were left out.
    pub damaged: Vec<Error>,
}

fn look(path: &Path, d: &DistMatrix<'_>, semiring: SemiringId, weights: u64) -> Look {
    let refused = |problem: String| {
        let hint = Some("choose the folder of the run that is to go on, or another one".into());
        Look::Refused(ErrorKind::BadFile { path: path.to_path_buf(), problem, hint }.into())
    };
    let read = || {
        let manifest = store::read_manifest(path)?;
        Ok((manifest.stored(path)?, manifest.state))
    };
    let (found, state) = match read() {
        Ok(read) => read,
        Err(error) => return Look::Damaged(error),
    };
    let (n, block, dtype) = (d.rows().len, d.rows().block, d.dtype());
    let is_alike = (found.rows, found.cols, found.block, found.dtype) == (n, n, Some(block), dtype);
    match state {
        Some(state) if is_alike && state.semiring == semiring.name() => match state.weights == named(weights)
        {
            true => Look::Good(state.done),
            false => refused("it is a state of other weights".to_owned()),
        },
        _ => {
            refused(format!("it is no state of {n} vertices over {semiring} on {dtype} in blocks of {block}"))
        }
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
