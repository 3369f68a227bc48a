//! What is known of a launch: numbers ([`Explanation`]) and pictures ([`Recording`]).

mod access;
mod bound;
mod finding;
mod line;
mod mbarrier;
mod occupancy;
mod recording;
mod roofline;
mod traffic;
mod unfinished;

pub use access::{Access, Operation, Space};
pub use bound::{Bound, Latency, LineBound, PartBound, Prediction, TrafficBounds, WaitShare, Work};
pub use finding::{Finding, Location, Participant, Remedy, RemedyPlace, Severity, by_name};
pub use line::Line;
pub(crate) use mbarrier::mbarrier_name;
pub use mbarrier::{Mbarrier, MbarrierUse};
pub use occupancy::{AllocatedPerBlock, BlocksAllowed, OccupancyCurves, OccupancySummary};
pub use recording::{Buffer, Execution, Patterns, PtxInstruction, Recording, Shape, SourceText};
pub use roofline::{Intensity, RooflinePosition};
pub use traffic::{BankTraffic, OptimisedTraffic, SectorTraffic, Traffic};
pub use unfinished::{Ending, Unfinished};

use crate::results::Results;
use serde::Serialize;
use std::collections::BTreeMap;
use tilewright_emulator::Nature;

/// The level at which instructions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Those of the PTX text. The assembler merges, removes and unrolls some on the way to machine code.
    Ptx,
}

impl Level {
    /// A sentence for readers of the numbers.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Ptx => {
                "Counts are of PTX instructions, executed without a GPU, as `ptxas -O0` keeps them one to one. What an \
                 optimised build makes of shared-memory accesses is predicted apart."
            }
        }
    }
}

/// What one launch of a kernel did, in numbers. Serialises to the JSON object of `tilewright explain`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// What the user calls the kernel: its name in the catalogue, or its file.
    pub kernel: String,
    /// The entry function, as PTX names it.
    pub entry: String,
    /// The same as the source names it: `scale<float>` for `_Z5scaleIfEvPT_S0_`.
    pub name: String,
    /// The GPU that occupancy and roofline are computed for.
    pub gpu: Option<String>,
    /// At which level instructions are counted.
    pub level: Level,
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y, z, where there are clusters.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory of a block.
    #[serde(rename = "dynamic_shared_memory_bytes")]
    pub dynamic_shared_memory: u32,
    /// Sums over the launch.
    pub totals: Totals,
    /// What bounds its time; `None` where nothing was executed, or the GPU's costs are not known.
    pub bound: Option<Bound>,
    /// Source lines that were executed, in the order of the source.
    pub lines: Vec<Line>,
    /// How far the launch was, where it was ended before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// What came out of the launch, as far as it was asked for.
    #[serde(flatten)]
    pub results: Results,
    /// What the compiler warned of, one text for each warning.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compiler_warnings: Vec<String>,
    /// What is wrong, and what could be better; the gravest first.
    pub findings: Vec<Finding>,
    /// What else the reader should know: what was not counted, what was assumed.
    pub notes: Vec<String>,
    /// What the kernel printed.
    pub printed: String,
}

/// Sums over a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Instructions, one for each warp that executes one.
    pub warp_instructions: u64,
    /// The same, one for each active lane.
    pub thread_instructions: u64,
    /// Global loads.
    pub global_load: SectorTraffic,
    /// Global stores.
    pub global_store: SectorTraffic,
    /// Shared-memory loads.
    pub shared_load: BankTraffic,
    /// Shared-memory stores.
    pub shared_store: BankTraffic,
    /// Barriers that warps executed.
    pub barriers: u64,
    /// Barriers in shared memory, where there are such.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mbarriers: Vec<Mbarrier>,
    /// Floating-point operations of all lanes; a fused multiply-add is two.
    pub flops: u64,
    /// Warp instructions by opcode with its modifiers.
    pub instruction_mix: BTreeMap<String, u64>,
    /// Floating-point operations per byte.
    pub arithmetic_intensity: Intensity,
    /// The position below the roof; `None` without floating-point operations or memory accesses, or for an unnamed GPU.
    pub roofline: Option<RooflinePosition>,
    /// `None` when no GPU is known.
    pub occupancy: Option<OccupancySummary>,
}

impl Totals {
    /// Active lanes as a part of all lanes of the warps that execute, 0 to 1; 1 for an empty launch.
    pub fn active_lanes(&self) -> f64 {
        active_lanes(self.warp_instructions, self.thread_instructions)
    }
}

/// Thread instructions over 32 times warp instructions.
fn active_lanes(warps: u64, threads: u64) -> f64 {
    if warps == 0 { 1.0 } else { threads as f64 / (32.0 * warps as f64) }
}

impl Explanation {
    /// Whether something is wrong, as opposed to slow.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Whether all that keeps the launch from being right is that it was ended before its end.
    pub fn is_only_unfinished(&self) -> bool {
        let mut errors = self.findings.iter().filter(|finding| finding.severity == Severity::Error);
        self.unfinished.is_some() && errors.all(|finding| finding.kind.nature() == Nature::Note)
    }

    /// The kernel's own file, and no header: that whose lines make most passes of memory, and execute most instructions if none does.
    pub fn own_file(&self) -> &str {
        let mut files: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for line in &self.lines {
            let (passes, instructions) = files.entry(&line.file).or_default();
            *passes += line.accesses.iter().map(Access::passes).sum::<u64>();
            *instructions += line.warp_instructions;
        }
        let is_header = |file: &str| file.ends_with("h");
        files
            .into_iter()
            .max_by_key(|&(file, counts)| (!is_header(file), counts))
            .map_or("", |(file, _)| file)
    }

    /// Every memory access of the kernel.
    pub fn accesses(&self) -> impl Iterator<Item = &Access> {
        self.lines.iter().flat_map(|line| &line.accesses)
    }
}
