//! What was measured, and what is assumed: `docs/decisions/scale.md` says where each number comes from.

use super::model::{Link, Machine};

/// An H200 on min-plus f32: products by their terms (`BENCHMARKS.md`), and blocks of 1024 of the diagonal, which take what a closure of 8192 takes longer than a product, an eighth of it each.
pub const H200: Machine = Machine {
    rates: &[(512, 9.0e12), (1024, 15.5e12), (2048, 15.8e12)],
    call: 10e-6,
    diagonal_rate: 0.87e12,
    look_rate: 200e9,
    size: 4,
    link: NETWORKS[0].1,
    moves_alone: true,
    agrees: true,
};

/// An H200 on min-plus f32 whose weights have one sign, which are computed in 16 bits: updates, blocks of 2048 of the diagonal, as two GPUs of one host had them
/// (`docs/benchmarks/gpus-2026-11-29.md`).
pub const ONE_SIGN: Machine =
    Machine { rates: &[(1024, 28.4e12), (2048, 30.0e12)], diagonal_rate: 3.5e12, ..H200 };

/// The rows of the blocks whose rates [`ONE_SIGN`] has.
pub const ONE_SIGN_BLOCK: usize = 2048;

/// Pair-operations a second of one GPU that closes 65,536 such vertices by the recursion of one process: 9.16 s.
pub const ONE_SIGN_ALONE: f64 = 30.7e12;

/// Bytes a second that reach a GPU: nine tenths of what the cable carries, but for NVLink, which was measured by others.
pub const NETWORKS: [(&str, Link); 3] = [
    ("NVLink", Link { latency: 15e-6, bandwidth: 370e9 }),
    ("InfiniBand NDR, 400 Gb/s", Link { latency: 20e-6, bandwidth: 45e9 }),
    ("Ethernet, 100 Gb/s", Link { latency: 40e-6, bandwidth: 11.2e9 }),
];
