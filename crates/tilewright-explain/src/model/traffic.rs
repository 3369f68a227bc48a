//! Requests of memory, and what they cost.

use serde::Serialize;
use tilewright_arch::memory::global;

/// Requests that are served in sectors of 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(into = "SectorRow")]
pub struct SectorTraffic {
    /// Warp instructions with at least one active lane.
    pub requests: u64,
    /// Sectors that they touch.
    pub sectors: u64,
    /// Sectors that the same lanes would touch if their data lay packed and aligned.
    pub ideal_sectors: u64,
    /// Lines of 128 bytes that they touch.
    pub lines: u64,
    /// Passes over the banks of L1 that they take.
    pub l1_wavefronts: u64,
    /// Bytes that the active lanes ask for.
    pub bytes_requested: u64,
}

impl SectorTraffic {
    /// Mean sectors of a request; `None` without requests.
    pub fn sectors_per_request(&self) -> Option<f64> {
        ratio(self.sectors, self.requests)
    }

    /// Requested bytes over moved bytes, at most 1: lanes that share what they want cannot use more than all. `None` without requests.
    pub fn efficiency(&self) -> Option<f64> {
        (self.requests > 0).then(|| global::efficiency(self.bytes_requested, self.sectors).min(1.0))
    }
}

impl std::ops::AddAssign for SectorTraffic {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.ideal_sectors += other.ideal_sectors;
        self.lines += other.lines;
        self.l1_wavefronts += other.l1_wavefronts;
        self.bytes_requested += other.bytes_requested;
    }
}

/// Requests that are served in wavefronts over the banks of shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(into = "BankRow")]
pub struct BankTraffic {
    /// Warp instructions with at least one active lane.
    pub requests: u64,
    /// Passes over the banks.
    pub wavefronts: u64,
    /// Passes without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Bytes that the active lanes ask for.
    pub bytes_requested: u64,
    /// What optimised machine code is predicted to do instead.
    pub optimised: OptimisedTraffic,
}

/// Accesses to shared memory as `ptxas -O3` is predicted to issue them: it makes one wide access of neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OptimisedTraffic {
    /// Warp instructions with at least one active lane.
    pub requests: u64,
    /// Passes over the banks.
    pub wavefronts: u64,
}

impl BankTraffic {
    /// Whether the assembler is predicted to change something.
    pub fn is_merged(&self) -> bool {
        (self.optimised.requests, self.optimised.wavefronts) != (self.requests, self.wavefronts)
    }

    /// Passes that bank conflicts add.
    pub fn conflicts(&self) -> u64 {
        self.wavefronts.saturating_sub(self.ideal_wavefronts)
    }

    /// Mean wavefronts of a request; `None` without requests.
    pub fn wavefronts_per_request(&self) -> Option<f64> {
        ratio(self.wavefronts, self.requests)
    }

    /// Mean wavefronts of a request without bank conflicts; `None` without requests.
    pub fn ideal_per_request(&self) -> Option<f64> {
        ratio(self.ideal_wavefronts, self.requests)
    }
}

impl std::ops::AddAssign for BankTraffic {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.wavefronts += other.wavefronts;
        self.ideal_wavefronts += other.ideal_wavefronts;
        self.bytes_requested += other.bytes_requested;
        self.optimised.requests += other.optimised.requests;
        self.optimised.wavefronts += other.optimised.wavefronts;
    }
}

/// What the requests of one instruction cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Traffic {
    /// Global and local memory, textures.
    Sectors(SectorTraffic),
    /// Shared memory; in constant memory, a wavefront is a distinct address.
    Banks(BankTraffic),
}

impl Traffic {
    /// Warp instructions with at least one active lane.
    pub const fn requests(&self) -> u64 {
        match self {
            Self::Sectors(sectors) => sectors.requests,
            Self::Banks(banks) => banks.requests,
        }
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The JSON object: what is counted, and what follows from it.
#[derive(Serialize)]
struct SectorRow {
    requests: u64,
    sectors: u64,
    ideal_sectors: u64,
    lines: u64,
    l1_wavefronts: u64,
    bytes_requested: u64,
    sectors_per_request: Option<f64>,
    efficiency: Option<f64>,
}

impl From<SectorTraffic> for SectorRow {
    fn from(t: SectorTraffic) -> Self {
        Self {
            requests: t.requests,
            sectors: t.sectors,
            ideal_sectors: t.ideal_sectors,
            lines: t.lines,
            l1_wavefronts: t.l1_wavefronts,
            bytes_requested: t.bytes_requested,
            sectors_per_request: t.sectors_per_request(),
            efficiency: t.efficiency(),
        }
    }
}

#[derive(Serialize)]
struct BankRow {
    requests: u64,
    wavefronts: u64,
    ideal_wavefronts: u64,
    conflicts: u64,
    bytes_requested: u64,
    optimised: OptimisedTraffic,
}

impl From<BankTraffic> for BankRow {
    fn from(t: BankTraffic) -> Self {
        Self {
            requests: t.requests,
            wavefronts: t.wavefronts,
            ideal_wavefronts: t.ideal_wavefronts,
            conflicts: t.conflicts(),
            bytes_requested: t.bytes_requested,
            optimised: t.optimised,
        }
    }
}
