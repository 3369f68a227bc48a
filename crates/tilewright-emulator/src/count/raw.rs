//! Counters as the machine keeps them: one set per worker, added up at the end.

use super::RawMbarriers;
use crate::program::instruction::Space;

/// Executions of one access to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessCount {
    pub requests: u64,
    pub lanes: u64,
    pub sectors: u64,
    pub ideal_sectors: u64,
    /// Lines of 128 bytes that L1 looks up.
    pub lines: u64,
    /// Passes over the banks of L1.
    pub l1_wavefronts: u64,
    pub wavefronts: u64,
    pub ideal_wavefronts: u64,
    pub bytes: u64,
    /// Accesses that optimised code issues in place of this one, in as many executions as its [`Issue`] is for, if it has one.
    ///
    /// [`Issue`]: crate::program::instruction::Issue
    pub issued: u64,
    /// Wavefronts of those.
    pub issued_wavefronts: u64,
}

impl AccessCount {
    /// Adds `times` of `other`.
    pub fn add(&mut self, other: &Self, times: u64) {
        self.requests += times * other.requests;
        self.lanes += times * other.lanes;
        self.sectors += times * other.sectors;
        self.ideal_sectors += times * other.ideal_sectors;
        self.lines += times * other.lines;
        self.l1_wavefronts += times * other.l1_wavefronts;
        self.wavefronts += times * other.wavefronts;
        self.ideal_wavefronts += times * other.ideal_wavefronts;
        self.bytes += times * other.bytes;
        self.issued += times * other.issued;
        self.issued_wavefronts += times * other.issued_wavefronts;
    }
}

/// Executions of a basic block, or of one guarded instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executions {
    pub warps: u64,
    pub lanes: u64,
}

/// All counters of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawCounts {
    /// By basic block: all of its instructions execute together.
    pub blocks: Vec<Executions>,
    /// By instruction: lanes that a guard took out.
    pub guarded_out: Vec<u64>,
    /// By access.
    pub accesses: Vec<AccessCount>,
    /// By access: reached through a generic address that meant shared, local or other memory.
    pub spaces: Vec<u8>,
    /// Warps that reached a barrier.
    pub barriers: u64,
    /// What was done at mbarriers.
    pub mbarriers: RawMbarriers,
}

impl RawCounts {
    /// Counters of a program with so many blocks, instructions and accesses.
    pub fn new(blocks: usize, instructions: usize, accesses: usize) -> Self {
        Self {
            blocks: vec![Executions::default(); blocks],
            guarded_out: vec![0; instructions],
            accesses: vec![AccessCount::default(); accesses],
            spaces: vec![0; accesses],
            barriers: 0,
            mbarriers: RawMbarriers::default(),
        }
    }

    /// Adds `times` executions of access `index` to `space`, each of which counts `once`.
    pub fn access(&mut self, index: u32, space: Space, once: &AccessCount, times: u64) {
        if times != 0 {
            self.accesses[index as usize].add(once, times);
            self.spaces[index as usize] |= 1 << space as u8;
        }
    }

    /// Adds the counters of another worker.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in self.blocks.iter_mut().zip(&other.blocks) {
            sum.warps += more.warps;
            sum.lanes += more.lanes;
        }
        for (sum, more) in self.guarded_out.iter_mut().zip(&other.guarded_out) {
            *sum += more;
        }
        for (sum, more) in self.accesses.iter_mut().zip(&other.accesses) {
            sum.add(more, 1);
        }
        for (sum, more) in self.spaces.iter_mut().zip(&other.spaces) {
            *sum |= more;
        }
        self.barriers += other.barriers;
        self.mbarriers.add(&other.mbarriers);
    }
}
