//! Matrix instructions against a plain product over the fragments' positions.

use std::collections::HashMap;

use tilewright_arch::ComputeCapability;
use tilewright_emulator::alu::{fragment_position, fragment_registers, has_matrix, multiply};
use tilewright_emulator::ptx_isa::{
    Fragment, Major, MatrixArithmetic, MatrixFamily, MatrixOp, Overflow, Type,
};

use MatrixFamily::{Mma, Wmma};

fn op(family: MatrixFamily, (m, n, k): (u16, u16, u16), factors: Type, sums: Type) -> MatrixOp {
    MatrixOp {
        family,
        m,
        n,
        k,
        a: factors,
        b: factors,
        c: sums,
        d: sums,
        a_major: Major::Row,
        b_major: Major::Col,
        arithmetic: if factors == Type::B1 {
            MatrixArithmetic::AndPopc
        } else {
            MatrixArithmetic::MultiplyAdd
        },
        overflow: Overflow::Wrap,
    }
}

/// Every instruction with its register counts for A, B and C as in the PTX manual.
fn instructions() -> Vec<(MatrixOp, [usize; 3])> {
    use Type::*;
    vec![
        (op(Mma, (16, 8, 8), F16, F16), [2, 1, 2]),
        (op(Mma, (16, 8, 8), Bf16, F32), [2, 1, 4]),
        (op(Mma, (16, 8, 16), F16, F32), [4, 2, 4]),
        (op(Mma, (16, 8, 16), Bf16, F32), [4, 2, 4]),
        (op(Mma, (16, 8, 4), Tf32, F32), [2, 1, 4]),
        (op(Mma, (16, 8, 8), Tf32, F32), [4, 2, 4]),
        (op(Mma, (8, 8, 4), F64, F64), [1, 1, 2]),
        (op(Mma, (16, 8, 4), F64, F64), [2, 1, 4]),
        (op(Mma, (16, 8, 8), F64, F64), [4, 2, 4]),
        (op(Mma, (16, 8, 16), F64, F64), [8, 4, 4]),
        (op(Mma, (8, 8, 16), S8, S32), [1, 1, 2]),
        (op(Mma, (16, 8, 16), U8, S32), [2, 1, 4]),
        (op(Mma, (16, 8, 32), S8, S32), [4, 2, 4]),
        (op(Mma, (16, 8, 32), E4m3, F32), [4, 2, 4]),
        (op(Mma, (16, 8, 32), E5m2, F32), [4, 2, 4]),
        (op(Mma, (8, 8, 32), S4, S32), [1, 1, 2]),
        (op(Mma, (16, 8, 32), U4, S32), [2, 1, 4]),
        (op(Mma, (16, 8, 64), S4, S32), [4, 2, 4]),
        (op(Mma, (8, 8, 128), B1, S32), [1, 1, 2]),
        (op(Mma, (16, 8, 128), B1, S32), [2, 1, 4]),
        (op(Mma, (16, 8, 256), B1, S32), [4, 2, 4]),
        (op(Wmma, (16, 16, 16), F16, F32), [8, 8, 8]),
        (op(Wmma, (16, 16, 16), F16, F16), [8, 8, 4]),
        (op(Wmma, (32, 8, 16), F16, F32), [8, 8, 8]),
        (op(Wmma, (8, 32, 16), F16, F32), [8, 8, 8]),
        (op(Wmma, (16, 16, 16), Bf16, F32), [4, 4, 8]),
        (op(Wmma, (32, 8, 16), Bf16, F32), [8, 2, 8]),
        (op(Wmma, (8, 32, 16), Bf16, F32), [2, 8, 8]),
        (op(Wmma, (16, 16, 16), U8, S32), [2, 2, 8]),
        (op(Wmma, (32, 8, 16), S8, S32), [4, 1, 8]),
        (op(Wmma, (8, 32, 16), S8, S32), [1, 4, 8]),
        (op(Wmma, (16, 16, 8), Tf32, F32), [4, 4, 8]),
        (op(Wmma, (8, 8, 4), F64, F64), [1, 1, 2]),
        (op(Wmma, (8, 8, 32), U4, S32), [1, 1, 2]),
        (op(Wmma, (8, 8, 128), B1, S32), [1, 1, 2]),
    ]
}

fn elements(ty: Type) -> usize {
    (32 / ty.bits() as usize).max(1)
}

/// How often each element of a fragment is held.
fn holders(op: &MatrixOp, fragment: Fragment) -> HashMap<(usize, usize), usize> {
    let ty = match fragment {
        Fragment::A => op.a,
        Fragment::B => op.b,
        Fragment::C => op.c,
    };
    let mut held = HashMap::new();
    for register in 0..fragment_registers(op, fragment).unwrap() {
        for lane in 0..32 {
            for element in 0..elements(ty) {
                *held.entry(fragment_position(op, fragment, lane, register, element)).or_default() += 1;
            }
        }
    }
    held
}

#[test]
fn fragments_hold_every_element_equally_often() {
    for (op, counts) in instructions() {
        let [m, n, k] = [op.m, op.n, op.k].map(usize::from);
        for ((fragment, (rows, columns)), count) in
            [(Fragment::A, (m, k)), (Fragment::B, (k, n)), (Fragment::C, (m, n))].into_iter().zip(counts)
        {
            assert_eq!(fragment_registers(&op, fragment), Some(count), "{op:?} {fragment:?}");
            let held = holders(&op, fragment);
            assert_eq!(held.len(), rows * columns, "{op:?} {fragment:?}");
            assert!(held.keys().all(|&(row, column)| row < rows && column < columns));
            let times = held.values().next().unwrap();
            assert!(held.values().all(|other| other == times), "{op:?} {fragment:?}");
        }
    }
}

/// Positions as the PTX manual draws them.
#[test]
fn documented_positions() {
    let half = op(Mma, (16, 8, 16), Type::F16, Type::F32);
    assert_eq!(fragment_position(&half, Fragment::A, 5, 1, 1), (9, 3));
    assert_eq!(fragment_position(&half, Fragment::A, 5, 2, 0), (1, 10));
    assert_eq!(fragment_position(&half, Fragment::B, 5, 1, 1), (11, 1));
    assert_eq!(fragment_position(&half, Fragment::C, 5, 3, 0), (9, 3));
    let bytes = op(Mma, (16, 8, 32), Type::S8, Type::S32);
    assert_eq!(fragment_position(&bytes, Fragment::A, 31, 3, 3), (15, 31));
    assert_eq!(fragment_position(&bytes, Fragment::B, 2, 1, 1), (25, 0));
    let tf32 = op(Mma, (16, 8, 8), Type::Tf32, Type::F32);
    assert_eq!(fragment_position(&tf32, Fragment::A, 6, 3, 0), (9, 6));
    let double = op(Mma, (8, 8, 4), Type::F64, Type::F64);
    assert_eq!(fragment_position(&double, Fragment::B, 7, 0, 0), (3, 1));
    let half_sums = op(Mma, (16, 8, 8), Type::F16, Type::F16);
    assert_eq!(fragment_position(&half_sums, Fragment::C, 5, 1, 1), (9, 3));
}

/// Small integers, which every format holds, as bits of `ty`.
fn encode(ty: Type, value: i64) -> u64 {
    match ty {
        Type::F64 => (value as f64).to_bits(),
        Type::F32 | Type::Tf32 => (value as f32).to_bits().into(),
        Type::Bf16 => u64::from((value as f32).to_bits() >> 16),
        Type::F16 => super::ptx::eval("cvt.rn.f16.s64", [value as u64]),
        Type::E4m3 => super::ptx::eval("cvt.rn.satfinite.e4m3x2.f32", [0, encode(Type::F32, value)]),
        Type::E5m2 => super::ptx::eval("cvt.rn.satfinite.e5m2x2.f32", [0, encode(Type::F32, value)]),
        _ => value as u64 & (u64::MAX >> (64 - ty.bits())),
    }
}

/// A fragment filled from a function of row and column.
fn fill(op: &MatrixOp, fragment: Fragment, ty: Type, value: impl Fn(usize, usize) -> i64) -> Vec<[u64; 32]> {
    (0..fragment_registers(op, fragment).unwrap())
        .map(|register| {
            std::array::from_fn(|lane| {
                (0..elements(ty)).fold(0, |word, element| {
                    let (row, column) = fragment_position(op, fragment, lane, register, element);
                    word | encode(ty, value(row, column)) << (ty.bits() as usize * element)
                })
            })
        })
        .collect()
}

#[test]
fn products_of_small_integers_are_exact() {
    for (op, _) in instructions() {
        let largest = if op.a == Type::B1 { 2 } else { 4 };
        let lowest = if matches!(op.a, Type::U8 | Type::U4 | Type::B1) { 0 } else { -2 };
        let a = |row: usize, k: usize| lowest + (row * 7 + k * 3) as i64 % largest;
        let b = |k: usize, column: usize| lowest + (k * 5 + column * 11) as i64 % largest;
        let c = |row: usize, column: usize| (row + 2 * column) as i64 - 9;
        let expected = |row: usize, column: usize| {
            (0..op.k.into()).fold(c(row, column), |sum, k| sum + a(row, k) * b(k, column))
        };
        let [fa, fb] = [fill(&op, Fragment::A, op.a, a), fill(&op, Fragment::B, op.b, b)];
        let fc = fill(&op, Fragment::C, op.c, c);
        let mut d = vec![[u64::MAX; 32]; fc.len()];
        multiply(&op, ComputeCapability::new(9, 0), [&fa, &fb, &fc], &mut d);
        assert_eq!(d, fill(&op, Fragment::C, op.d, expected), "{op:?}");
    }
}

#[test]
fn sums_round_once_and_overflow_as_asked() {
    let half = op(Mma, (16, 8, 8), Type::F16, Type::F32);
    let evaluate = |op: &MatrixOp, a: i64, b: i64, c: u64| {
        let fa = fill(op, Fragment::A, op.a, |_, k| if k == 0 { a } else { 0 });
        let fb = fill(op, Fragment::B, op.b, |_, _| b);
        let fc = vec![[c; 32]; fragment_registers(op, Fragment::C).unwrap()];
        let mut d = vec![[0; 32]; fragment_registers(op, Fragment::C).unwrap()];
        multiply(op, ComputeCapability::new(9, 0), [&fa, &fb, &fc], &mut d);
        d[0][0]
    };
    // 2047^2 + 2^-10 has more bits than f32, and ends nearer to 2047^2.
    let tiny = u64::from((1.0f32 / 1024.0).to_bits());
    assert_eq!(evaluate(&half, 2047, 2047, tiny), u64::from((2047.0f32 * 2047.0).to_bits()));
    assert_eq!(evaluate(&half, 2047, 2047, 0x7f80_0001), 0x7fff_ffff);
    let wrap = op(Mma, (16, 8, 16), Type::S8, Type::S32);
    let clamp = MatrixOp { overflow: Overflow::Saturate, ..wrap };
    assert_eq!(evaluate(&wrap, 100, 100, 0x7fff_ffff), 0x8000_0000 + 9999);
    assert_eq!(evaluate(&clamp, 100, 100, 0x7fff_ffff), 0x7fff_ffff);
    assert_eq!(evaluate(&clamp, -100, 100, 0x8000_0000), 0x8000_0000);
    let xor = MatrixOp { arithmetic: MatrixArithmetic::XorPopc, ..op(Mma, (8, 8, 128), Type::B1, Type::S32) };
    assert_eq!(evaluate(&xor, 1, 1, 5), 5 + 127);
}

#[test]
fn what_does_not_exist_is_refused() {
    for refused in [
        op(Mma, (16, 8, 4), Type::F16, Type::F32),
        op(Mma, (16, 8, 16), Type::Bf16, Type::F16),
        op(Mma, (16, 8, 16), Type::S8, Type::F32),
        op(Wmma, (16, 8, 16), Type::F16, Type::F32),
        MatrixOp { b: Type::Bf16, ..op(Mma, (16, 8, 16), Type::F16, Type::F32) },
        MatrixOp { arithmetic: MatrixArithmetic::XorPopc, ..op(Mma, (16, 8, 16), Type::S8, Type::S32) },
    ] {
        assert!(!has_matrix(&refused) && fragment_registers(&refused, Fragment::A).is_none());
    }
}
