//! The parts of a multiprocessor (SM) and of the chip that kernels keep busy, and what a unit of work costs each.
//!
//! A part works on its own: the time of a launch is at least that of its busiest part. [`PartCosts`] are such that no
//! optimised program needs less of a part for the same work.

mod costs;

pub use costs::{Basis, CycleRange, Latencies, PartCosts};

use std::fmt;

/// What kernels wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The schedulers, each of which starts an instruction of a warp in a cycle.
    Issue,
    /// Additions and multiplications of f32.
    Fma,
    /// The half of those units that multiplies integers, too.
    IntegerMultiply,
    /// Comparisons, minima, maxima and logic.
    Alu,
    /// Special functions and conversions.
    Xu,
    /// Arithmetic on f64.
    F64,
    /// Arithmetic on pairs of f16 or bf16.
    F16,
    /// Tensor cores.
    Tensor,
    /// The path of L1 that looks up lines of 128 bytes.
    L1Address,
    /// The banks that L1, shared memory and exchanges between lanes have in common, a word of each in a pass.
    L1Data,
    /// Constant memory, which serves one address at a time.
    Constant,
    /// Texture units.
    Texture,
    /// Atomics of device memory, which L2 executes.
    Atomics,
    /// L2, as far as it moves data.
    L2,
    /// Device memory.
    Dram,
    /// Barriers of blocks.
    Barriers,
    /// What starts blocks.
    Launch,
}

impl Part {
    /// Every part, those of a multiprocessor first.
    pub const ALL: [Self; 17] = [
        Self::Issue,
        Self::Fma,
        Self::IntegerMultiply,
        Self::Alu,
        Self::Xu,
        Self::F64,
        Self::F16,
        Self::Tensor,
        Self::L1Address,
        Self::L1Data,
        Self::Constant,
        Self::Texture,
        Self::Barriers,
        Self::Atomics,
        Self::L2,
        Self::Dram,
        Self::Launch,
    ];

    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// What it is called in sentences.
    pub const fn title(self) -> &'static str {
        self.row().1
    }

    /// What it serves, one of them.
    pub const fn unit(self) -> &'static str {
        self.row().2
    }

    /// Whether all multiprocessors share it.
    pub const fn is_of_the_chip(self) -> bool {
        matches!(self, Self::Atomics | Self::L2 | Self::Dram | Self::Launch)
    }

    const fn row(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Issue => ("issue", "issue slots", "instruction"),
            Self::Fma => ("fma", "multiply-add units", "instruction"),
            Self::IntegerMultiply => ("integer_multiply", "integer multipliers", "instruction"),
            Self::Alu => ("alu", "units of comparisons and logic", "instruction"),
            Self::Xu => ("xu", "units of special functions and conversions", "instruction"),
            Self::F64 => ("f64", "f64 units", "instruction"),
            Self::F16 => ("f16", "f16 units", "instruction"),
            Self::Tensor => ("tensor", "tensor cores", "multiply-add"),
            Self::L1Address => ("l1_address", "address path of L1", "line"),
            Self::L1Data => ("l1_data", "data path of L1 and shared memory", "wavefront"),
            Self::Constant => ("constant", "constant memory", "address"),
            Self::Texture => ("texture", "texture units", "request"),
            Self::Atomics => ("atomics", "atomics in L2", "sector"),
            Self::L2 => ("l2", "bandwidth of L2", "byte"),
            Self::Dram => ("dram", "bandwidth of device memory", "byte"),
            Self::Barriers => ("barriers", "barriers", "warp"),
            Self::Launch => ("launch", "start of blocks", "block"),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.title())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_distinct() {
        let names: BTreeSet<_> = Part::ALL.iter().map(|part| part.name()).collect();
        let titles: BTreeSet<_> = Part::ALL.iter().map(|part| part.title()).collect();
        assert_eq!((names.len(), titles.len()), (Part::ALL.len(), Part::ALL.len()));
    }
}
