//! What an instruction of PTX asks of the parts that compute.
//!
//! Only what optimised code cannot do without is counted: what `ptxas` may fold into a neighbour counts as a part of an instruction.

use crate::matrix;
use tilewright_arch::{ComputeCapability, Instruction, Part, PartCosts, Rate};

/// What one execution of a warp asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// Instructions that start, at least.
    pub issued: f64,
    /// Units of a part, at least, and the cycles that one costs.
    pub part: Option<(Part, f64, f64)>,
    /// The units that are likely.
    pub likely: f64,
    /// What it is called, if work is counted in it.
    pub work: Option<&'static str>,
    /// Whether it may serve addresses and loops alone, so that only data that are stored tell whether it is needed.
    pub may_be_overhead: bool,
}

/// A kind of arithmetic: words of opcodes, and what each asks for.
struct Row {
    bases: &'static [&'static str],
    of: fn(&Opcode<'_>) -> bool,
    unit: Unit,
    /// Instructions of the machine, at least, for one of PTX.
    least: f64,
    work: Option<&'static str>,
    may_be_overhead: bool,
}

/// The unit that an instruction runs on.
#[derive(Clone, Copy)]
enum Unit {
    Of(Part, Instruction),
    Special,
    Conversion,
    Shuffle,
    /// Of several, which the assembler chooses from.
    Any,
}

/// An opcode in pieces.
struct Opcode<'a> {
    base: &'a str,
    rest: Vec<&'a str>,
}

impl Opcode<'_> {
    fn has(&self, words: &[&str]) -> bool {
        self.rest.iter().any(|part| words.contains(part))
    }

    /// A multiplication that may become a part of a multiply-add, as no rounding is asked for.
    fn may_be_contracted(&self) -> bool {
        !self.has(&["rn", "rz", "rm", "rp"])
    }
}

fn is_f32(opcode: &Opcode<'_>) -> bool {
    opcode.has(&["f32", "f32x2"]) && !opcode.has(&["f16", "bf16", "f64"])
}

fn is_f64(opcode: &Opcode<'_>) -> bool {
    opcode.has(&["f64"])
}

fn is_f16(opcode: &Opcode<'_>) -> bool {
    opcode.has(&["f16", "f16x2", "bf16", "bf16x2"])
}

fn is_float(opcode: &Opcode<'_>) -> bool {
    is_f32(opcode) || is_f64(opcode) || is_f16(opcode)
}

fn is_integer(opcode: &Opcode<'_>) -> bool {
    !is_float(opcode)
}

/// From floats to integers, or to f64 or from it. Other conversions are moves, or run with the arithmetic.
fn converts(opcode: &Opcode<'_>) -> bool {
    let is_type = |part: &&str| part.starts_with(['f', 's', 'u']) && part[1..].parse::<u32>().is_ok();
    let types: Vec<&str> = opcode.rest.iter().copied().filter(is_type).collect();
    match types[..] {
        [to, from] => (from.starts_with('f') && !to.starts_with('f')) || (to == "f64") != (from == "f64"),
        _ => false,
    }
}

const fn row(
    bases: &'static [&'static str],
    of: fn(&Opcode<'_>) -> bool,
    unit: Unit,
    least: f64,
    work: Option<&'static str>,
) -> Row {
    Row { bases, of, unit, least, work, may_be_overhead: false }
}

const fn integer(bases: &'static [&'static str], unit: Unit, least: f64, work: &'static str) -> Row {
    Row { bases, of: is_integer, unit, least, work: Some(work), may_be_overhead: true }
}

const F32: Unit = Unit::Of(Part::Fma, Instruction::F32);
const F64: Unit = Unit::Of(Part::F64, Instruction::F64);
const F16: Unit = Unit::Of(Part::F16, Instruction::F16Pair);
const MULTIPLY_ADD: Option<&str> = Some("multiply-add");
const ADDITION: Option<&str> = Some("addition");
const PRODUCT: Option<&str> = Some("multiplication");
const MINIMUM: Option<&str> = Some("minimum");
const SPECIAL: Option<&str> = Some("special function");

/// The first row that fits counts. Minima of integers may have three operands, and additions, too.
const ROWS: &[Row] = &[
    row(&["fma", "mad"], is_f32, F32, 1.0, MULTIPLY_ADD),
    row(&["fma", "mad"], is_f64, F64, 1.0, MULTIPLY_ADD),
    row(&["fma", "mad"], is_f16, F16, 1.0, MULTIPLY_ADD),
    row(&["mul"], |o| is_float(o) && o.may_be_contracted(), Unit::Any, 0.0, PRODUCT),
    row(&["add", "sub", "mul"], is_f32, F32, 1.0, ADDITION),
    row(&["add", "sub", "mul"], is_f64, F64, 1.0, ADDITION),
    row(&["add", "sub", "mul"], is_f16, F16, 1.0, ADDITION),
    row(&["min", "max"], is_f32, Unit::Of(Part::Alu, Instruction::FloatMinMax), 1.0, MINIMUM),
    row(&["min", "max"], is_float, Unit::Any, 0.5, MINIMUM),
    row(&["ex2", "lg2", "sin", "cos", "rcp", "rsqrt", "sqrt", "tanh"], is_float, Unit::Special, 1.0, SPECIAL),
    // A division by a constant is a multiplication, and the reciprocal of what stays the same leaves the loop.
    row(&["div"], is_float, Unit::Special, 0.0, SPECIAL),
    row(&["cvt"], converts, Unit::Conversion, 1.0, None),
    row(&["shfl"], |_| true, Unit::Shuffle, 1.0, None),
    integer(&["popc"], Unit::Special, 1.0, "population count"),
    integer(&["dp4a", "dp2a"], Unit::Any, 1.0, "dot product"),
    integer(
        &["mad", "mul"],
        Unit::Of(Part::IntegerMultiply, Instruction::IntegerMultiplyAdd),
        1.0,
        "multiply-add",
    ),
    integer(&["min", "max"], Unit::Of(Part::Alu, Instruction::IntegerMinMax), 0.5, "minimum"),
    integer(&["add", "sub"], Unit::Any, 0.5, "addition"),
    integer(&["and", "or", "xor", "lop3"], Unit::Any, 0.5, "operation on bits"),
];

/// What an execution of this opcode asks for; nothing for what moves data or directs the way.
pub fn demand(opcode: &str, costs: &PartCosts) -> Demand {
    if let Some((rate, multiply_adds)) = matrix::of_warp(opcode) {
        // Products of f64 have no other way.
        let is_slower = !opcode.starts_with("wgmma") && rate != Rate::TensorF64;
        let factor = if is_slower { costs.mma_sync } else { 1.0 };
        let part = Some((Part::Tensor, multiply_adds as f64, factor * costs.multiply_add(rate)));
        let likely = multiply_adds as f64;
        return Demand { issued: 1.0, part, likely, work: Some("matrix product"), may_be_overhead: false };
    }
    let mut words = opcode.split('.');
    let opcode = Opcode { base: words.next().unwrap_or_default(), rest: words.collect() };
    let Some(row) = ROWS.iter().find(|row| row.bases.contains(&opcode.base) && (row.of)(&opcode)) else {
        return Demand::default();
    };
    let pairs = if opcode.has(&["f32x2"]) { 2.0 } else { 1.0 };
    let has_three_operands = costs.compute_capability >= THREE_OPERANDS;
    let least = match row.unit {
        Unit::Of(_, Instruction::FloatMinMax) if has_three_operands => 0.5 * row.least,
        _ => row.least,
    };
    let likely = if least > 0.0 { pairs * least } else { 1.0 };
    let part = match row.unit {
        Unit::Of(part, instruction) => Some((part, pairs * least, costs.instruction(instruction))),
        Unit::Special => Some((Part::Xu, least, costs.special)),
        Unit::Conversion => Some((Part::Xu, least, costs.conversion)),
        Unit::Shuffle => Some((Part::L1Data, least, costs.shuffle)),
        Unit::Any => None,
    };
    Demand { issued: least, part, likely, work: row.work, may_be_overhead: row.may_be_overhead }
}

/// From here on, a minimum of floats has up to three operands.
const THREE_OPERANDS: ComputeCapability = ComputeCapability::new(10, 0);

#[cfg(test)]
mod tests {
    use super::*;

    fn on(major: u8, opcode: &str) -> Demand {
        demand(opcode, &PartCosts::of(ComputeCapability::new(major, 0)).expect("known"))
    }

    fn hopper(opcode: &str) -> Demand {
        on(9, opcode)
    }

    #[test]
    fn arithmetic_goes_to_its_unit() {
        for (opcode, part) in [
            ("fma.rn.f32", Part::Fma),
            ("add.f32", Part::Fma),
            ("fma.rn.f64", Part::F64),
            ("fma.rn.f16x2", Part::F16),
            ("min.f32", Part::Alu),
            ("min.s32", Part::Alu),
            ("mad.lo.s32", Part::IntegerMultiply),
            ("ex2.approx.f32", Part::Xu),
            ("cvt.rzi.s32.f32", Part::Xu),
            ("cvt.f64.f32", Part::Xu),
            ("shfl.sync.bfly.b32", Part::L1Data),
            ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", Part::Tensor),
        ] {
            assert_eq!(hopper(opcode).part.map(|(part, ..)| part), Some(part), "{opcode}");
        }
    }

    #[test]
    fn what_may_vanish_costs_nothing() {
        for opcode in [
            "mov.u32",
            "ld.param.u64",
            "cvt.s64.s32",
            "cvta.to.global.u64",
            "cvt.rn.f32.s32",
            "setp.lt.s32",
            "bra",
            "mul.f32",
        ] {
            assert_eq!((hopper(opcode).issued, hopper(opcode).part), (0.0, None), "{opcode}");
        }
        assert!(hopper("add.s64").may_be_overhead && !hopper("add.f32").may_be_overhead);
    }

    #[test]
    fn a_division_may_be_a_multiplication() {
        let division = hopper("div.rn.f32");
        assert_eq!((division.issued, division.likely), (0.0, 1.0));
        assert_eq!(division.part.map(|(part, units, _)| (part, units)), Some((Part::Xu, 0.0)));
    }

    #[test]
    fn later_minima_may_have_three_operands() {
        let units = |demand: Demand| demand.part.map(|(_, units, _)| units);
        assert_eq!((units(on(9, "min.f32")), units(on(10, "min.f32"))), (Some(1.0), Some(0.5)));
    }
}
