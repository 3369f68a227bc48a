//! Special registers by name: those of PTX ISA 9.0.

use crate::program::instruction::Special;
use crate::ptx_isa::Type;

/// What reading a special register gives.
#[derive(Clone, Copy, Debug)]
pub enum Reading {
    /// A value of this type.
    Value(Special, Type),
    /// Always the same.
    Constant(u64, Type),
    /// Nothing, for this reason: who reads it is refused.
    Missing(&'static str),
}

use Reading::{Constant, Missing, Value};

/// A name, and the reading of an element by its number.
type Vector = (&'static str, fn(u8) -> Reading);

/// Registers of four elements, of which the last is zero.
const VECTORS: &[Vector] = &[
    ("tid", |axis| Value(Special::Tid(axis), Type::U32)),
    ("ntid", |axis| Value(Special::Ntid(axis), Type::U32)),
    ("ctaid", |axis| Value(Special::Ctaid(axis), Type::U32)),
    ("nctaid", |axis| Value(Special::Nctaid(axis), Type::U32)),
    ("clusterid", |axis| Value(Special::ClusterId(axis), Type::U32)),
    ("nclusterid", |axis| Value(Special::ClusterCount(axis), Type::U32)),
    ("cluster_ctaid", |axis| Value(Special::ClusterCtaid(axis), Type::U32)),
    ("cluster_nctaid", |axis| Value(Special::ClusterNctaid(axis), Type::U32)),
];

const COUNTERS: Reading = Missing("the emulator has no performance monitors");
const DRIVER: Reading = Missing("the driver of a device sets it, and there is none");
const RESERVED: Reading = Missing("the emulator reserves no shared memory");

const SINGLE: &[(&str, Reading)] = &[
    ("laneid", Value(Special::Laneid, Type::U32)),
    ("warpid", Value(Special::Warpid, Type::U32)),
    ("nwarpid", Value(Special::Nwarpid, Type::U32)),
    ("smid", Value(Special::Smid, Type::U32)),
    ("nsmid", Value(Special::Nsmid, Type::U32)),
    ("gridid", Value(Special::Gridid, Type::U64)),
    ("is_explicit_cluster", Value(Special::IsExplicitCluster, Type::Pred)),
    ("cluster_ctarank", Value(Special::ClusterCtarank, Type::U32)),
    ("cluster_nctarank", Value(Special::ClusterNctarank, Type::U32)),
    ("lanemask_eq", Value(Special::LanemaskEq, Type::U32)),
    ("lanemask_le", Value(Special::LanemaskLe, Type::U32)),
    ("lanemask_lt", Value(Special::LanemaskLt, Type::U32)),
    ("lanemask_ge", Value(Special::LanemaskGe, Type::U32)),
    ("lanemask_gt", Value(Special::LanemaskGt, Type::U32)),
    ("clock", Value(Special::Clock, Type::U32)),
    ("clock_hi", Value(Special::ClockHigh, Type::U32)),
    ("clock64", Value(Special::Clock, Type::U64)),
    ("globaltimer", Value(Special::Clock, Type::U64)),
    ("globaltimer_lo", Value(Special::Clock, Type::U32)),
    ("globaltimer_hi", Value(Special::ClockHigh, Type::U32)),
    ("total_smem_size", Value(Special::TotalSmemSize, Type::U32)),
    ("dynamic_smem_size", Value(Special::DynamicSmemSize, Type::U32)),
    // No launch is part of a graph.
    ("current_graph_exec", Constant(0, Type::U64)),
    // What drivers keep there in a cooperative launch, and null in others.
    ("envreg1", Value(Special::GridWorkspaceHigh, Type::U32)),
    ("envreg2", Value(Special::GridWorkspace, Type::U32)),
    // Where OpenCL's drivers keep the offset of the global index along x, y and z, which launches of CUDA do not have.
    ("envreg3", Constant(0, Type::U32)),
    ("envreg4", Constant(0, Type::U32)),
    ("envreg5", Constant(0, Type::U32)),
    ("aggr_smem_size", RESERVED),
    ("reserved_smem_offset_begin", RESERVED),
    ("reserved_smem_offset_end", RESERVED),
    ("reserved_smem_offset_cap", RESERVED),
];

/// Numbered registers: what stands before and behind the number, and how many there are.
const NUMBERED: &[(&str, &str, u32, Reading)] = &[
    ("envreg", "", 32, DRIVER),
    ("reserved_smem_offset_", "", 2, RESERVED),
    ("pm", "_64", 8, COUNTERS),
    ("pm", "", 8, COUNTERS),
];

/// The special register called `name`, if there is one.
pub fn find(name: &str) -> Option<Reading> {
    let name = name.strip_prefix('%')?;
    if let Some((vector, axis)) = name.split_once('.') {
        let element = VECTORS.iter().find(|row| row.0 == vector)?.1;
        let axis = ["x", "y", "z", "w"].iter().position(|&known| known == axis)?;
        return Some(if axis < 3 { element(axis as u8) } else { Constant(0, Type::U32) });
    }
    let single = SINGLE.iter().find(|row| row.0 == name).map(|row| row.1);
    single.or_else(|| {
        let is_this = |&&(before, behind, count, _): &&(&str, &str, u32, _)| {
            let number = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind));
            number.is_some_and(|number| (0..count).any(|known| known.to_string() == number))
        };
        NUMBERED.iter().find(is_this).map(|row| row.3)
    })
}
