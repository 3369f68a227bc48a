//! What came of a contender.

use crate::bounds::Bounds;
use serde::Serialize;
use tilewright::{Backend, cuda::Timing};

/// A contender and what came of it.
pub struct Measured {
    pub backend: Backend,
    /// The kernel, the instruction set, or the library.
    pub name: String,
    /// Threads of the processor that took part; none on a GPU.
    pub threads: Option<usize>,
    pub terms: Terms,
    pub outcome: Outcome,
    /// Registers of a thread and occupancy, of a kernel on a GPU.
    pub resources: Option<Resources>,
    /// What bounds it, of a kernel whose counts tell.
    pub bounds: Option<Bounds>,
    /// Of a GPU.
    pub memory: Option<Memory>,
    /// The algorithms that were tried, of which the fastest was taken; none where there was nothing to try.
    pub algorithms: Option<usize>,
}

/// Which terms a contender computed. A rate counts all of them, computed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Terms {
    All,
    /// Those that cannot win were left out, as the elements allowed.
    Pruned,
    /// All: the elements are equal, so that none can be left out.
    NothingToPrune,
}

impl Terms {
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Pruned => "pruned",
            Self::NothingToPrune => "nothing-to-prune",
        }
    }
}

pub enum Outcome {
    /// Its result was right, and it was timed.
    Timed(Timing),
    /// Its result was wrong: where, and what should be there.
    Wrong(String),
    /// It does not compute this product.
    Refused(String),
}

#[derive(Clone, Copy)]
pub struct Resources {
    pub registers: u32,
    /// Resident warps as a part of those that a multiprocessor holds.
    pub occupancy: f64,
}

/// Bytes on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Of A, B and C.
    pub matrices: u64,
    /// What it takes beyond them; none where a library takes it by itself.
    pub workspace: Option<u64>,
    /// What it might have taken.
    pub limit: u64,
}

impl Measured {
    /// Of a contender of which nothing else is known.
    pub fn new(backend: Backend, name: impl Into<String>, outcome: Outcome) -> Self {
        Self {
            backend,
            name: name.into(),
            threads: None,
            terms: Terms::All,
            outcome,
            resources: None,
            bounds: None,
            memory: None,
            algorithms: None,
        }
    }

    pub fn timing(&self) -> Option<&Timing> {
        match &self.outcome {
            Outcome::Timed(timing) => Some(timing),
            _ => None,
        }
    }
}
