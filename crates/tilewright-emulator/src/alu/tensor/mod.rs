//! Tensor cores: `D = A x B + C` of raw bits, as the hardware rounds it.
//!
//! Integers and single bits are exact. `f64` is a chain of fused multiply-adds in the order of k. Every other format is added in
//! groups, whose width and precision depend on the architecture ([`sums_of`]).

mod chained;
mod decode;
mod exact;
mod fused;
mod generation;
mod pack;

use generation::sums_of_quads;
pub use generation::{Rule, Sums, Unit, sums_of};

use crate::ptx_isa::{MatrixArithmetic, MatrixOp, Overflow, Type};
use tilewright_arch::ComputeCapability;

/// A product of one instruction: A is m x k, B is n x k (its columns one after the other), C and D are m x n, all row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorProduct {
    /// Columns of C.
    pub n: usize,
    /// Elements of a row of A.
    pub k: usize,
    /// Element type of A.
    pub a: Type,
    /// Element type of B.
    pub b: Type,
    /// Element type of C.
    pub c: Type,
    /// Element type of D.
    pub d: Type,
    /// How products combine.
    pub arithmetic: MatrixArithmetic,
    /// What integer overflow does.
    pub overflow: Overflow,
    /// How floating-point products are added.
    pub sums: Sums,
}

impl TensorProduct {
    /// That of an instruction, as `unit` adds on a GPU of this compute capability.
    pub fn of(op: &MatrixOp, unit: Unit, capability: ComputeCapability) -> Self {
        Self {
            n: op.n.into(),
            k: op.k.into(),
            a: op.a,
            b: op.b,
            c: op.c,
            d: op.d,
            arithmetic: op.arithmetic,
            overflow: op.overflow,
            sums: if op.is_of_quads() { sums_of_quads(capability) } else { sums_of(unit, capability, op.a) },
        }
    }

    /// The bits of D from those of A, B and C, an element in each word.
    pub fn evaluate(&self, a: &[u64], b: &[u64], c: &[u64]) -> Vec<u64> {
        match (self.a, self.arithmetic) {
            (_, MatrixArithmetic::XorPopc | MatrixArithmetic::AndPopc) => exact::bits(self, a, b, c),
            (Type::F64, _) => exact::doubles(self, a, b, c),
            (Type::U8 | Type::S8 | Type::U4 | Type::S4, _) => exact::integers(self, a, b, c),
            _ => match self.sums {
                Sums::Fused(rule) => fused::floats(self, rule, a, b, c),
                Sums::Chained => chained::floats(self, a, b, c),
                Sums::Widened(rule) => fused::widened(self, rule, a, b, c),
            },
        }
    }

    /// D element by element, from the index of its row, its column and C.
    fn each(&self, c: &[u64], element: impl Fn(usize, usize, u64) -> u64) -> Vec<u64> {
        c.iter().enumerate().map(|(index, &c)| element(index / self.n, index % self.n, c)).collect()
    }
}
