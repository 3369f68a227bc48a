//! Instructions of the CUDA cores, and how many one multiprocessor (SM) finishes in a clock cycle.
//!
//! # Sources
//!
//! * CUDA C++ Programming Guide 12.9, "Arithmetic Instructions", up to 9.0.
//! * CUDA C++ Best Practices Guide 13.4, "Throughput of Native Arithmetic Instructions", for 10.0 and 12.0: the same table, which has
//!   moved there.
//! * CUDA C++ Programming Guide 13.4, "Compute Capabilities", for DPX instructions: native on 9.0 and 10.x, several instructions
//!   elsewhere.
//!
//! An instruction on two 16-bit halves of a register counts once here, and twice in the guide. The guide has one row for comparisons,
//! minima and maxima of both kinds of numbers up to 9.0. Not in these tables, and taken from their neighbours: integer minima on 10.0
//! (as on 9.0), everything on 8.7 and 8.8 (as on 8.6), 10.1, 10.3 and 11.0 (as on 10.0), 12.1 (as on 12.0).
//!
//! What share of this a loop reaches is another matter: minima and additions run side by side, but all of them wait for the
//! schedulers, which start one instruction a cycle each.

use crate::{ComputeCapability, Limits, Rate, WARP_SIZE};

/// A kind of instruction with a rate of its own, on one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instruction {
    /// An addition, a multiplication or both on f32.
    F32,
    /// An addition, a multiplication, both, or a comparison on f64.
    F64,
    /// An addition, a multiplication or both on two f16 or bf16.
    F16Pair,
    /// An addition or subtraction of 32-bit integers.
    IntegerAdd,
    /// A multiplication of 32-bit integers, with an addition or without.
    IntegerMultiplyAdd,
    /// The minimum or maximum of two f32.
    FloatMinMax,
    /// The minimum or maximum of 32-bit integers, a comparison, a selection, or a DPX instruction where these are native.
    IntegerMinMax,
    /// Any function of three times 32 bits.
    Logic,
}

impl Instruction {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::F32,
        Self::F64,
        Self::F16Pair,
        Self::IntegerAdd,
        Self::IntegerMultiplyAdd,
        Self::FloatMinMax,
        Self::IntegerMinMax,
        Self::Logic,
    ];

    /// Lanes of which a multiprocessor finishes this instruction in a clock cycle; `None` where there is no such instruction, or no
    /// published rate.
    ///
    /// ```
    /// use tilewright_arch::{ComputeCapability, Instruction};
    /// let [t4, a100, rtx4090] = [(7, 5), (8, 0), (8, 9)].map(|(major, minor)| ComputeCapability::new(major, minor));
    /// assert_eq!([t4, a100, rtx4090].map(|gpu| Instruction::F32.per_sm_per_clock(gpu)), [Some(64), Some(64), Some(128)]);
    /// assert_eq!([t4, a100, rtx4090].map(|gpu| Instruction::F64.per_sm_per_clock(gpu)), [Some(2), Some(32), Some(2)]);
    /// assert_eq!(Instruction::FloatMinMax.per_sm_per_clock(rtx4090), Some(64));
    /// ```
    pub fn per_sm_per_clock(self, capability: ComputeCapability) -> Option<u32> {
        let row = TABLE.iter().find(|row| row.capabilities.contains(&capability))?;
        let rate = match self {
            Self::F32 => Rate::F32.per_sm_per_clock(capability)?,
            Self::F64 => Rate::F64.per_sm_per_clock(capability)?,
            Self::F16Pair => Rate::F16.per_sm_per_clock(capability)? / 2,
            Self::IntegerAdd => row.add,
            Self::IntegerMultiplyAdd => row.multiply_add,
            Self::FloatMinMax => row.float_min_max,
            Self::IntegerMinMax => row.integer_min_max,
            Self::Logic => row.logic,
        };
        (rate > 0).then_some(rate)
    }

    /// Whether it runs on the unit of integers, comparisons and bits, which additions need not wait for: the compiler moves them to
    /// the multipliers.
    const fn is_on_alu(self) -> bool {
        matches!(self, Self::FloatMinMax | Self::IntegerMinMax | Self::Logic)
    }
}

/// Whether additions with minima and three-input minima of integers are single instructions.
pub fn has_native_dpx(capability: ComputeCapability) -> bool {
    (ComputeCapability::new(9, 0)..ComputeCapability::new(12, 0)).contains(&capability)
}

/// How often a multiprocessor can do a piece of work in a clock cycle at most, of which a lane takes these instructions. The slowest
/// of its units decides, or the schedulers, each of which starts one instruction on 32 lanes. `None` where a rate is not known.
///
/// ```
/// use tilewright_arch::{ComputeCapability, Instruction::{F32, FloatMinMax}, instructions::per_cycle};
/// let hopper = ComputeCapability::new(9, 0);
/// assert_eq!(per_cycle(&[(F32, 1.0)], hopper), Some(128.0));
/// // An addition and a minimum, side by side.
/// assert_eq!(per_cycle(&[(F32, 1.0), (FloatMinMax, 1.0)], hopper), Some(64.0));
/// assert_eq!(per_cycle(&[(FloatMinMax, 2.0)], hopper), Some(32.0));
/// ```
pub fn per_cycle(work: &[(Instruction, f64)], capability: ComputeCapability) -> Option<f64> {
    let limits = Limits::of(capability).ok()?;
    let mut cycles =
        work.iter().map(|(_, count)| count).sum::<f64>() / f64::from(limits.sub_partitions * WARP_SIZE);
    let mut alu = 0.0;
    for &(instruction, count) in work {
        let alone = count / f64::from(instruction.per_sm_per_clock(capability)?);
        alu += if instruction.is_on_alu() { alone } else { 0.0 };
        cycles = cycles.max(alone).max(alu);
    }
    (cycles > 0.0).then(|| 1.0 / cycles)
}

/// Lanes per clock cycle; 0 for several instructions.
struct Row {
    capabilities: &'static [ComputeCapability],
    add: u32,
    multiply_add: u32,
    float_min_max: u32,
    integer_min_max: u32,
    logic: u32,
}

const fn cc(major: u8, minor: u8) -> ComputeCapability {
    ComputeCapability::new(major, minor)
}

const MAXWELL: Row = Row {
    capabilities: &[cc(5, 0), cc(5, 2), cc(5, 3), cc(6, 1), cc(6, 2)],
    add: 128,
    multiply_add: 0,
    float_min_max: 64,
    integer_min_max: 64,
    logic: 128,
};

const VOLTA: Row = Row {
    capabilities: &[cc(7, 0), cc(7, 2), cc(7, 5), cc(8, 0), cc(8, 6), cc(8, 7), cc(8, 8), cc(8, 9), cc(9, 0)],
    add: 64,
    multiply_add: 64,
    float_min_max: 64,
    integer_min_max: 64,
    logic: 64,
};

const TABLE: &[Row] = &[
    MAXWELL,
    Row { capabilities: &[cc(6, 0)], add: 64, float_min_max: 32, integer_min_max: 32, logic: 64, ..MAXWELL },
    VOLTA,
    Row { capabilities: &[cc(10, 0), cc(10, 1), cc(10, 3), cc(11, 0)], float_min_max: 128, ..VOLTA },
    Row { capabilities: &[cc(12, 0), cc(12, 1)], add: 128, integer_min_max: 128, ..VOLTA },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    #[test]
    fn every_device_on_sale_has_rates() {
        for device in Device::all() {
            for kind in Instruction::ALL {
                let rate = kind.per_sm_per_clock(device.compute_capability);
                let may_lack = device.compute_capability < cc(7, 0)
                    && matches!(kind, Instruction::F16Pair | Instruction::IntegerMultiplyAdd);
                assert!(rate.is_some() || may_lack, "{}: {kind:?}", device.name);
            }
        }
    }

    #[test]
    fn work_without_instructions_has_no_rate() {
        assert_eq!(per_cycle(&[], cc(9, 0)), None);
        assert_eq!(per_cycle(&[(Instruction::F32, 1.0)], cc(10, 7)), None);
    }

    #[test]
    fn units_run_side_by_side_and_kinds_that_share_one_do_not() {
        use Instruction::{FloatMinMax, IntegerAdd, IntegerMinMax, Logic};
        let hopper = |work: &[_]| per_cycle(work, cc(9, 0)).expect("known");
        assert_eq!(hopper(&[(IntegerAdd, 1.0), (IntegerMinMax, 1.0)]), 64.0);
        assert_eq!(hopper(&[(FloatMinMax, 0.5), (Logic, 0.5)]), 64.0);
        assert_eq!(hopper(&[(FloatMinMax, 1.0), (Logic, 1.0)]), 32.0);
        assert!(has_native_dpx(cc(9, 0)) && has_native_dpx(cc(10, 0)));
        assert!(!has_native_dpx(cc(8, 9)) && !has_native_dpx(cc(12, 0)));
    }
}
