//! What came of a contender.

use tilewright::{Backend, cuda::Timing};

/// A contender and what came of it.
pub struct Measured {
    pub backend: Backend,
    /// The kernel, the instruction set and threads, or the library.
    pub name: String,
    pub outcome: Outcome,
    /// Registers of a thread and occupancy, on a GPU.
    pub resources: Option<Resources>,
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

impl Measured {
    pub fn timing(&self) -> Option<&Timing> {
        match &self.outcome {
            Outcome::Timed(timing) => Some(timing),
            _ => None,
        }
    }
}
