//! Matrix instructions, by their opcodes.

use tilewright_arch::Rate;

/// The types of elements by which an opcode tells its kind.
const TYPES: [(&[&str], Rate); 8] = [
    (&["tf32"], Rate::TensorTf32),
    (&["bf16"], Rate::TensorBf16),
    (&["e4m3", "e5m2", "e3m2", "e2m3"], Rate::TensorF8),
    (&["e2m1"], Rate::TensorF4),
    (&["s8", "u8"], Rate::TensorI8),
    (&["s4", "u4"], Rate::TensorI4),
    (&["b1"], Rate::TensorB1),
    (&["f64"], Rate::TensorF64),
];

/// The kind of a matrix instruction, and the multiply-adds that one warp has of it; `None` for other instructions.
pub fn of_warp(opcode: &str) -> Option<(Rate, u64)> {
    // Four warps execute one of a warpgroup together.
    let warps = match opcode {
        _ if opcode.starts_with("wgmma.mma_async.") => 4,
        _ if opcode.starts_with("mma.") || opcode.starts_with("wmma.mma.") => 1,
        _ => return None,
    };
    let multiply_adds = opcode.split('.').find_map(multiply_adds)? / warps;
    let names = |wanted: &[&str]| opcode.split('.').any(|part| wanted.contains(&part));
    let rate = TYPES.iter().find(|(types, _)| names(types)).map(|&(_, rate)| rate);
    // What is left is f16, whose sums are of either type.
    let of_halves = if names(&["f32"]) { Rate::TensorF16 } else { Rate::TensorF16AccumulateF16 };
    Some((rate.unwrap_or(of_halves), multiply_adds))
}

/// Of a shape such as `m16n8k16`.
fn multiply_adds(shape: &str) -> Option<u64> {
    let (m, rest) = shape.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some(m.parse::<u64>().ok()? * n.parse::<u64>().ok()? * k.parse::<u64>().ok()?)
}
