//! The opcodes that compilers write, and those that must be refused.

use super::ptx::{parse, prepare};
use tilewright_emulator::ptx_isa::{Modifier, Selector};

/// How often each opcode occurs in 465 compiled modules.
const FREQUENCIES: &str = include_str!("../../../../data/ptx_opcode_frequency.csv");

/// The arithmetic among them. What is not has no opcode in the scalar semantics; carry chains are the machine's.
pub fn arithmetic_opcodes() -> impl Iterator<Item = &'static str> {
    FREQUENCIES.lines().skip(1).map(|line| line.split(',').next().unwrap()).filter(|opcode| {
        parse(opcode, 1, [Selector::Whole; 4]).is_some_and(|op| !op.modifiers.has(Modifier::Cc))
    })
}

#[test]
fn every_arithmetic_opcode_of_real_kernels() {
    for opcode in arithmetic_opcodes() {
        assert!((1..=5).any(|sources| prepare(opcode, sources).is_some()), "{opcode}");
    }
    assert!(arithmetic_opcodes().count() > 250);
}

#[test]
fn unknown_combinations_are_refused() {
    for (opcode, sources) in [
        ("add.f8", 2),
        ("add.pred", 2),
        ("add.sat.u32", 2),
        ("add.rna.f32", 2),
        ("add.ftz.f64", 2),
        ("add.b32", 2),
        ("mul.s32", 2),
        ("mul.lo.f32", 2),
        ("mul.wide.s64", 2),
        ("fma.f32", 3),
        ("fma.rn.s32", 3),
        ("div.f32", 2),
        ("div.full.f64", 2),
        ("sqrt.f32", 1),
        ("sin.f32", 1),
        ("sin.approx.f64", 1),
        ("ex2.approx.bf16", 1),
        ("add.f32", 1),
        ("add.f32", 3),
        ("add.cc.u32", 2),
        ("shl.u32", 2),
        ("min.relu.u32", 2),
        ("abs.u32", 1),
        ("bfe.b32", 3),
        ("bfi.u32", 4),
        ("popc.u32", 1),
        ("prmt.u32", 3),
        ("shf.l.b32", 3),
        ("lop3.b64", 4),
        ("selp.b128", 3),
        ("testp.f32", 1),
        ("copysign.f16", 2),
        ("tanh.f32", 1),
        ("rsqrt.rn.f32", 1),
        ("dp4a.u32", 3),
        ("add.f32.f32", 2),
        ("add.wide.f32", 2),
        ("mul.rn.ftz.sat.bf16", 2),
        ("fma.rn.sat.relu.f16", 3),
    ] {
        assert!(prepare(opcode, sources).is_none(), "{opcode} with {sources} sources");
    }
}
