//! How the tensor cores of each architecture add floating-point products.
//!
//! Compute capability 9.0 is measured: every rule here gave the bits of an H100 in ten million results. The others are those of
//! MMA-Sim (Xie et al., "Bit-Accurate Reference Model of Tensor Cores and Matrix Cores", arXiv 2511.10909, 2025), which were not
//! measured here; their alignment floor is taken as that of 9.0. Not known are FP8 by `mma.sync` on 10.x, which is taken as on 9.0,
//! and the `.sp` forms, which are not supported.

use crate::ptx_isa::Type;
use tilewright_arch::ComputeCapability;

/// The instructions that differ in how they add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// `mma.sync` and `wmma.mma`.
    Warp,
    /// `wgmma.mma_async`.
    Warpgroup,
}

/// A sum of a group of products and C, all aligned to the largest exponent among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Bytes of a row of A in a group; a longer row is several groups, one after the other.
    pub group_bytes: usize,
    /// Fraction bits that each term keeps below the largest exponent.
    pub kept: u32,
    /// Fraction bits of a result in f32.
    pub fraction: u32,
}

/// How products are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sums {
    /// In the tensor core.
    Fused(Rule),
    /// There is no such instruction: the assembler widens FP8 to f16, adds two products of half the depth, and then C.
    Widened(Rule),
    /// There is no such instruction: the assembler makes fused multiply-adds in f32 of it.
    Chained,
}

/// Terms align to no exponent below this one.
pub const FLOOR: i32 = -133;

/// By the first compute capability that has it: bytes of a group, and fraction bits kept.
const WARP: &[(ComputeCapability, usize, u32)] = &[
    (ComputeCapability::new(9, 0), 32, 25),
    (ComputeCapability::new(7, 5), 16, 24),
    (ComputeCapability::new(7, 0), 8, 23),
];

/// FP8, whose sums have fewer bits.
const NARROW: Rule = Rule { group_bytes: 32, kept: 13, fraction: 13 };

/// How `unit` adds products of the type `factor` on a GPU of this compute capability. Before 7.0 there are no tensor cores; the rule
/// is that of 7.0.
pub fn sums_of(unit: Unit, capability: ComputeCapability, factor: Type) -> Sums {
    let of_warp = WARP.iter().find(|row| capability >= row.0).or(WARP.last());
    let (group_bytes, kept) = of_warp.map_or((8, 23), |row| (row.1, row.2));
    let wide = Rule { group_bytes, kept, fraction: 23 };
    let is_narrow = matches!(factor, Type::E4m3 | Type::E5m2);
    match (unit, is_narrow, capability.major(), capability.minor()) {
        (Unit::Warpgroup, true, ..) => Sums::Fused(NARROW),
        (Unit::Warp, true, 8, _) => Sums::Fused(Rule { group_bytes, ..NARROW }),
        (Unit::Warp, true, 9..=11, _) => Sums::Widened(wide),
        _ => Sums::Fused(wide),
    }
}

/// How `mma.sync.m8n8k4` of f16 adds: the tensor cores of 7.x have it, and the assembler makes fused multiply-adds of it for all later
/// ones. Those of 7.5 were not measured, and are taken to add as in their other shapes.
pub fn sums_of_quads(capability: ComputeCapability) -> Sums {
    match capability >= ComputeCapability::new(8, 0) {
        true => Sums::Chained,
        false => sums_of(Unit::Warp, capability, Type::F16),
    }
}
