//! What a unit of work costs each part, by architecture.
//!
//! # Sources
//!
//! * Arithmetic: [`crate::instructions`] and [`crate::rates`], which name theirs.
//! * CUDA C++ Programming Guide 12.9, "Arithmetic Instructions": special functions, conversions and shuffles; "Synchronization
//!   Instruction": barriers; "Multiprocessor Level": latencies of arithmetic.
//! * Whitepapers of Volta, Turing, A100, GA102, Ada and H100: four texture units and 128 bytes of L1 and of shared memory a cycle
//!   in each multiprocessor, 64 bytes a cycle from L2.
//! * 9.0: microbenchmarks on an H200, one kernel for each cost. Costs of a bound are the ideal that they approach: 0.25 where
//!   0.266 was measured. Four lines a cycle in the address path of L1 are assumed elsewhere, too.
//!
//! Latencies of memory are no documented figures: from 7.0 on ranges of published measurements, of which a prediction shows both ends.

use crate::{ComputeCapability, Instruction, Limits, Rate, WARP_SIZE};

/// Where costs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// Measured on a GPU of this architecture.
    Measured,
    /// What the manufacturer documents.
    Documented,
}

impl Basis {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Documented => "documented",
        }
    }
}

/// Cycles, from the fewest to the most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleRange {
    /// At least.
    pub low: f64,
    /// At most.
    pub high: f64,
}

const fn range(low: f64, high: f64) -> CycleRange {
    CycleRange { low, high }
}

/// Cycles from the start of an instruction to that of one that needs its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latencies {
    /// Arithmetic of 32 bits and less.
    pub arithmetic: CycleRange,
    /// Arithmetic on f64.
    pub f64: CycleRange,
    /// A special function or a conversion.
    pub special: CycleRange,
    /// A product on tensor cores.
    pub tensor: CycleRange,
    /// A load from shared memory, or an exchange between lanes.
    pub shared: CycleRange,
    /// A load from device memory that hits in L1.
    pub l1: CycleRange,
    /// The same where it hits in L2.
    pub l2: CycleRange,
    /// The same where it misses in all caches.
    pub dram: CycleRange,
    /// An atomic of device memory that returns a value.
    pub atomic: CycleRange,
    /// A barrier, once the last warp has come.
    pub barrier: CycleRange,
}

/// What atomics cost that meet in L2, where they go one after another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contention {
    /// A request of all lanes, in a line that others want.
    pub line: f64,
    /// A lane, in a word that others want: on integers.
    pub integer: f64,
    /// The same on floats.
    pub float: f64,
}

/// What a unit of work costs, in cycles of one multiprocessor unless said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartCosts {
    /// Whose costs these are.
    pub compute_capability: ComputeCapability,
    /// Where they come from.
    pub basis: Basis,
    /// A special function of a warp.
    pub special: f64,
    /// A conversion of a warp to integers, from short ones, or to and from f64.
    pub conversion: f64,
    /// An exchange between the lanes of a warp, on the data path of L1.
    pub shuffle: f64,
    /// A line of 128 bytes in the address path of L1.
    pub l1_line: f64,
    /// A pass over the banks of L1 and of shared memory.
    pub wavefront: f64,
    /// An address of constant memory behind the first.
    pub constant_address: f64,
    /// A request of a texture.
    pub texture: f64,
    /// A warp at a barrier.
    pub barrier: f64,
    /// Bytes that L2 gives one multiprocessor in a cycle.
    pub l2_bytes: f64,
    /// Bytes that L2 takes from one multiprocessor in a cycle.
    pub l2_bytes_written: f64,
    /// The same for the whole chip, where that is less than all multiprocessors together.
    pub l2_bytes_of_chip: Option<f64>,
    /// The same for bytes that L2 takes.
    pub l2_bytes_written_of_chip: Option<f64>,
    /// Sectors of atomics that L2 serves in a cycle, for the whole chip.
    pub atomic_sectors_of_chip: Option<f64>,
    /// Lines of which an atomic wants one sector, in the same way.
    pub atomic_lines_of_chip: Option<f64>,
    /// How long atomics that meet wait for each other.
    pub contention: Option<Contention>,
    /// The part of the published bandwidth of device memory that reading reaches.
    pub dram_reading: f64,
    /// The same where reads and writes take turns.
    pub dram_copying: f64,
    /// Seconds from the start of an empty launch to its end, at least.
    pub launch_seconds: f64,
    /// The same, as it is likely.
    pub likely_launch_seconds: f64,
    /// What a launch takes longer whose instructions and data are in no cache, until its first access is done.
    pub first_access_seconds: f64,
    /// A block that starts, in cycles of the whole chip.
    pub block: f64,
    /// A product of `mma.sync` by one of `wgmma` of the same size.
    pub mma_sync: f64,
    /// How long results take.
    pub latencies: Latencies,
}

impl PartCosts {
    /// The costs of an architecture; `None` where its arithmetic is not known.
    ///
    /// ```
    /// use tilewright_arch::{ComputeCapability, PartCosts};
    /// let hopper = PartCosts::of(ComputeCapability::new(9, 0)).expect("known");
    /// assert_eq!((hopper.issue(), hopper.wavefront), (0.25, 1.0));
    /// ```
    pub fn of(compute_capability: ComputeCapability) -> Option<Self> {
        Rate::F32.per_sm_per_clock(compute_capability)?;
        let row = TABLE.iter().rev().find(|row| row.compute_capability <= compute_capability)?;
        let is_measured = row.compute_capability == compute_capability;
        let basis = if is_measured { row.basis } else { Basis::Documented };
        Some(Self { compute_capability, basis, ..*row })
    }

    /// An instruction of a warp, for the schedulers.
    pub fn issue(&self) -> f64 {
        let schedulers = Limits::of(self.compute_capability).map_or(4, |limits| limits.sub_partitions);
        1.0 / f64::from(schedulers)
    }

    /// An arithmetic instruction of a warp; 0 where its rate is not known.
    pub fn instruction(&self, instruction: Instruction) -> f64 {
        per_warp(instruction.per_sm_per_clock(self.compute_capability))
    }

    /// A multiply-add of tensor cores; 0 where its rate is not known.
    pub fn multiply_add(&self, rate: Rate) -> f64 {
        per_warp(rate.per_sm_per_clock(self.compute_capability)) / f64::from(WARP_SIZE)
    }
}

fn per_warp(lanes_per_cycle: Option<u32>) -> f64 {
    lanes_per_cycle.map_or(0.0, |lanes| f64::from(WARP_SIZE) / f64::from(lanes))
}

const fn cc(major: u8, minor: u8) -> ComputeCapability {
    ComputeCapability::new(major, minor)
}

const MAXWELL: PartCosts = PartCosts {
    compute_capability: cc(5, 0),
    basis: Basis::Documented,
    special: 1.0,
    conversion: 1.0,
    shuffle: 1.0,
    l1_line: 0.25,
    wavefront: 1.0,
    constant_address: 1.0,
    texture: 8.0,
    barrier: 0.5,
    l2_bytes: 64.0,
    l2_bytes_written: 64.0,
    l2_bytes_of_chip: None,
    l2_bytes_written_of_chip: None,
    atomic_sectors_of_chip: None,
    atomic_lines_of_chip: None,
    contention: None,
    dram_reading: 0.9,
    dram_copying: 0.8,
    launch_seconds: 1.2e-6,
    likely_launch_seconds: 1.35e-6,
    first_access_seconds: 1.05e-6,
    block: 0.0,
    mma_sync: 1.0,
    latencies: Latencies {
        arithmetic: range(6.0, 6.0),
        f64: range(8.0, 48.0),
        special: range(12.0, 40.0),
        tensor: range(16.0, 35.0),
        shared: range(20.0, 35.0),
        l1: range(28.0, 85.0),
        l2: range(190.0, 300.0),
        dram: range(350.0, 900.0),
        atomic: range(200.0, 800.0),
        barrier: range(8.0, 40.0),
    },
};

const VOLTA: PartCosts = PartCosts {
    compute_capability: cc(7, 0),
    special: 2.0,
    conversion: 0.5,
    barrier: 2.0,
    latencies: Latencies { arithmetic: range(4.0, 4.0), ..MAXWELL.latencies },
    ..MAXWELL
};

const HOPPER: PartCosts = PartCosts {
    compute_capability: cc(9, 0),
    basis: Basis::Measured,
    conversion: 2.0,
    constant_address: 2.0,
    l2_bytes: 128.0,
    l2_bytes_written: 32.0,
    l2_bytes_of_chip: Some(5400.0),
    l2_bytes_written_of_chip: Some(2460.0),
    atomic_sectors_of_chip: Some(52.0),
    atomic_lines_of_chip: Some(17.7),
    contention: Some(Contention { line: 4.3, integer: 1.45, float: 3.5 }),
    dram_reading: 0.93,
    dram_copying: 0.82,
    block: 1.19,
    mma_sync: 1.5,
    latencies: Latencies {
        arithmetic: range(4.0, 4.5),
        f64: range(8.0, 8.5),
        special: range(17.0, 23.0),
        tensor: range(24.0, 33.0),
        shared: range(24.0, 33.0),
        l1: range(34.0, 43.0),
        l2: range(260.0, 306.0),
        dram: range(600.0, 900.0),
        atomic: range(300.0, 522.0),
        barrier: range(14.6, 80.0),
    },
    ..VOLTA
};

/// By the first architecture that each row is for, ascending.
const TABLE: &[PartCosts] = &[
    MAXWELL,
    PartCosts { compute_capability: cc(6, 0), special: 2.0, barrier: 1.0, ..MAXWELL },
    PartCosts { compute_capability: cc(6, 1), ..MAXWELL },
    VOLTA,
    PartCosts { compute_capability: cc(8, 0), l2_bytes_of_chip: Some(5120.0), ..VOLTA },
    PartCosts { compute_capability: cc(8, 6), ..VOLTA },
    HOPPER,
    PartCosts { compute_capability: cc(10, 0), ..VOLTA },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    #[test]
    fn every_device_on_sale_has_costs() {
        for device in Device::all() {
            let costs = PartCosts::of(device.compute_capability);
            let costs = costs.unwrap_or_else(|| panic!("{} has none", device.name));
            assert!(costs.issue() <= costs.instruction(Instruction::F32), "{}", device.name);
            let l = costs.latencies;
            for range in
                [l.arithmetic, l.f64, l.special, l.tensor, l.shared, l.l1, l.l2, l.dram, l.atomic, l.barrier]
            {
                assert!(range.low <= range.high, "{}: {range:?}", device.name);
            }
        }
    }

    #[test]
    fn rows_ascend_and_a_neighbour_s_costs_are_not_measured() {
        assert!(TABLE.windows(2).all(|pair| pair[0].compute_capability < pair[1].compute_capability));
        assert_eq!(PartCosts::of(cc(10, 3)).expect("known").basis, Basis::Documented);
        assert_eq!(PartCosts::of(cc(10, 7)), None);
    }

    #[test]
    fn costs_are_the_reciprocals_of_rates() {
        let hopper = PartCosts::of(cc(9, 0)).expect("known");
        assert_eq!(hopper.instruction(Instruction::F32), 0.25);
        assert_eq!(hopper.instruction(Instruction::FloatMinMax), 0.5);
        assert_eq!(hopper.multiply_add(Rate::TensorBf16), 1.0 / 2048.0);
        assert_eq!(hopper.multiply_add(Rate::TensorI4), 0.0);
    }
}
