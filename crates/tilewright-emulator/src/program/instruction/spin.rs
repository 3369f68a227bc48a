//! Which atomics of shared memory are a loop on the hardware. Read in what `ptxas` 13.0 makes of them for `sm_90`: `scripts/nsight/README.md` has the
//! whole table.

use super::AtomicOp;
use crate::ptx_isa::Type;

/// Operations and types that are a loop of `LDS`, the operation and `ATOMS.CAST.SPIN`. All others count as one instruction.
const LOOPS: &[(&[AtomicOp], &[Type])] = &[
    (&[AtomicOp::Add], &[Type::F32, Type::F64, Type::F16x2, Type::Bf16x2]),
    (
        &[AtomicOp::Add, AtomicOp::Min, AtomicOp::Max, AtomicOp::And, AtomicOp::Or, AtomicOp::Xor],
        &[Type::U64, Type::S64, Type::B64],
    ),
];

/// Whether an atomic of shared memory loads, and tries to swap until nobody has come between.
pub fn is_loop(op: AtomicOp, ty: Type) -> bool {
    LOOPS.iter().any(|(ops, types)| ops.contains(&op) && types.contains(&ty))
}
