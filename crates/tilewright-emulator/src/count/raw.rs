//! Counters as the machine keeps them: one set per worker, added up at the end.

/// Executions of one access to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessCount {
    pub requests: u64,
    pub lanes: u64,
    pub sectors: u64,
    pub ideal_sectors: u64,
    pub wavefronts: u64,
    pub ideal_wavefronts: u64,
    pub bytes: u64,
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
            sum.requests += more.requests;
            sum.lanes += more.lanes;
            sum.sectors += more.sectors;
            sum.ideal_sectors += more.ideal_sectors;
            sum.wavefronts += more.wavefronts;
            sum.ideal_wavefronts += more.ideal_wavefronts;
            sum.bytes += more.bytes;
        }
        for (sum, more) in self.spaces.iter_mut().zip(&other.spaces) {
            *sum |= more;
        }
        self.barriers += other.barriers;
    }
}
