//! What bounds a launch, and by how much.

use serde::{Serialize, Serializer};
use tilewright_arch::Part;

/// The cycles that each part of the GPU needs at least, and what is to be expected.
///
/// Cycles are those of one multiprocessor: of that with the most blocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// Such as `9.0`.
    pub compute_capability: String,
    /// Where the costs of the parts come from: `measured` or `documented`.
    pub rates: &'static str,
    /// Multiprocessors.
    pub sms: u32,
    /// Their clock; `None` where it is not known.
    pub clock_hz: Option<u64>,
    /// What cycles are given for each of.
    pub work: Work,
    /// Blocks that the busiest multiprocessor likely executes; a fraction where blocks do not all do the same.
    pub blocks_on_busiest_sm: f64,
    /// The part that takes longest, the start of the launch aside.
    #[serde(serialize_with = "name")]
    pub part: Part,
    /// The fewest cycles that the launch can take.
    pub cycles: f64,
    /// The same in seconds.
    pub seconds: Option<f64>,
    /// The fewest cycles for each work, on a multiprocessor that is always full.
    pub cycles_per_work: f64,
    /// The part of the peak of its arithmetic that the launch can reach at most, 0 to 1; `None` without arithmetic.
    pub peak_share: Option<f64>,
    /// Every part that has work, the busiest first.
    pub parts: Vec<PartBound>,
    /// Bytes that move behind L1.
    pub traffic: TrafficBounds,
    /// Chains of instructions that wait for each other.
    pub latency: Latency,
    /// How long the launch is likely to take.
    pub prediction: Prediction,
    /// What its warps are likely to wait for, by the names of Nsight Compute; the likeliest first.
    pub waits: Vec<WaitShare>,
}

/// Warp instructions of the most frequent arithmetic, or warps where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Work {
    /// What one is: `multiply-add`, `warp`.
    pub name: &'static str,
    /// How many there are.
    pub count: u64,
}

impl Work {
    /// What cycles are for each of, in words.
    pub fn each(&self) -> String {
        if self.name == "warp" { "warp".into() } else { format!("{} of a warp", self.name) }
    }
}

/// What one part needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartBound {
    /// The part.
    #[serde(serialize_with = "name")]
    pub part: Part,
    /// What it is called.
    pub title: &'static str,
    /// Cycles of the launch, at least.
    pub cycles: f64,
    /// Cycles for each work, at least.
    pub cycles_per_work: f64,
    /// Cycles of the launch as they are likely: with what is executed beside the work, and what is moved again.
    pub likely_cycles: f64,
    /// Its cycles as a part of the bound, 0 to 1.
    pub share: f64,
    /// Units that it serves in the whole launch.
    pub units: f64,
    /// What a unit is.
    pub unit: &'static str,
    /// Which lines ask for it, the costliest first.
    pub lines: Vec<LineBound>,
}

/// What one line asks of a part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineBound {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What it does: `load of A`.
    pub what: String,
    /// Cycles of the launch.
    pub cycles: f64,
    /// Cycles for each work.
    pub cycles_per_work: f64,
    /// Its cycles as a part of those of the part, 0 to 1.
    pub share: f64,
    /// Whether its lanes take a pass each, as all want one bank.
    #[serde(skip)]
    pub wants_one_bank: bool,
}

/// Bytes that L2 and device memory move, at least and at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrafficBounds {
    /// At least every sector once; at most every sector as often as it is asked for.
    pub l2_bytes: [f64; 2],
    /// Likely: each block loads a sector once, and stores pass L1.
    pub likely_l2_bytes: f64,
    /// The loads of these in pieces of 64 bytes, in which L2 moves them.
    pub likely_l2_load_bytes: f64,
    /// The same of stores and updates.
    pub likely_l2_store_bytes: f64,
    /// At least what L2 cannot hold; at most what it moves.
    pub dram_bytes: [f64; 2],
}

/// Chains of instructions that wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Resident warps of a multiprocessor.
    pub warps: u32,
    /// How often a multiprocessor is filled with blocks.
    pub rounds: f64,
    /// Cycles of a warp on its own: at least, and at most.
    pub chain_cycles_per_warp: [f64; 2],
    /// The same as it is likely.
    pub likely_chain_cycles_per_warp: f64,
    /// The same if data that is new to a block lies in L2, and if it lies in device memory.
    pub new_data_chain_cycles_per_warp: [f64; 2],
    /// Blocks that a multiprocessor holds at a time.
    pub resident_blocks: u32,
    /// Cycles of all rounds: at least, and at most.
    pub cycles: [f64; 2],
}

/// How long a launch is likely to take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// Cycles at least, and at most.
    pub cycles: [f64; 2],
    /// Seconds at least, and at most.
    pub seconds: Option<[f64; 2]>,
    /// Cycles in between that are likely.
    pub likely_cycles: f64,
    /// The same in seconds.
    pub likely_seconds: Option<f64>,
}

/// What warps wait for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WaitShare {
    /// The name that Nsight Compute has for it.
    pub reason: &'static str,
    /// Its part of all waiting, 0 to 1.
    pub share: f64,
}

fn name<S: Serializer>(part: &Part, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(part.name())
}

impl Bound {
    /// What one part needs; `None` where the launch does not use it.
    pub fn part(&self, part: Part) -> Option<&PartBound> {
        self.parts.iter().find(|known| known.part == part)
    }
}
