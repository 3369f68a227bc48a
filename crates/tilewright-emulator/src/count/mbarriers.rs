//! Who arrives and waits at the barriers in shared memory (`mbarrier`), and what copies bring to them.

use std::collections::BTreeMap;

use crate::memory::SharedLayout;
use crate::program::{Program, SourceLine};

/// What an instruction does at an mbarrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MbarrierUse {
    /// Lanes that arrive at it, or announce bytes.
    pub arrivals: u64,
    /// Lanes that wait, or look, and find the phase over.
    pub waits: u64,
    /// Lanes that look, and find that it is not. How often depends on the order in which warps have their turns.
    pub looks: u64,
    /// Bulk copies that complete at it.
    pub copies: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Phases that come to their end by it.
    pub phases: u64,
}

impl MbarrierUse {
    fn add(&mut self, other: &Self) {
        self.arrivals += other.arrivals;
        self.waits += other.waits;
        self.looks += other.looks;
        self.copies += other.copies;
        self.bytes += other.bytes;
        self.phases += other.phases;
    }
}

/// By address in the shared memory of its block, and instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawMbarriers(BTreeMap<(u64, u32), MbarrierUse>);

impl RawMbarriers {
    /// What instruction `pc` has done at `at` so far.
    pub fn at(&mut self, at: u64, pc: u32) -> &mut MbarrierUse {
        self.0.entry((at, pc)).or_default()
    }

    /// Adds those of another worker.
    pub fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(&(at, pc), more)| self.at(at, pc).add(more));
    }

    /// The same for readers.
    pub fn named(&self, program: &Program, shared: &SharedLayout) -> Vec<MbarrierCounters> {
        let mut named: Vec<MbarrierCounters> = Vec::new();
        let mut last = None;
        for (&(at, pc), done) in &self.0 {
            if last.replace(at) != Some(at) {
                let (variable, offset) = shared.named(at);
                named.push(MbarrierCounters { variable: variable.to_owned(), offset, uses: Vec::new() });
            }
            let origin = program.origins[pc as usize];
            let opcode = program.names[program.opcodes[pc as usize] as usize].clone();
            let source = program.source_line(origin);
            if let Some(barrier) = named.last_mut() {
                barrier.uses.push(MbarrierLine { ptx_line: origin.ptx_line, source, opcode, done: *done });
            }
        }
        named
    }
}

/// An mbarrier, over all blocks of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct MbarrierCounters {
    /// The shared variable that it lies in.
    pub variable: String,
    /// Bytes from its start.
    pub offset: u64,
    /// What is done at it, by instruction.
    pub uses: Vec<MbarrierLine>,
}

impl MbarrierCounters {
    /// Phases that came to their end.
    pub fn phases(&self) -> u64 {
        self.uses.iter().map(|line| line.done.phases).sum()
    }
}

/// What an instruction does at an mbarrier.
#[derive(Clone, Debug, PartialEq)]
pub struct MbarrierLine {
    /// PTX line, from 1.
    pub ptx_line: u32,
    /// CUDA line, if the module has line information.
    pub source: Option<SourceLine>,
    /// The opcode with its modifiers.
    pub opcode: String,
    /// What it does.
    pub done: MbarrierUse,
}
