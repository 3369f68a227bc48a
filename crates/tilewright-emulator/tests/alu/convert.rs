use proptest::prelude::*;

use super::ptx::*;

const NAN32: u64 = 0x7fff_ffff;

#[test]
fn between_integers() {
    check(&[
        ("cvt.u32.u16", [0xffff_ffff], 0xffff),
        ("cvt.s32.s16", [0xffff], s32(-1)),
        ("cvt.s64.s32", [0xffff_ffff], s64(-1)),
        ("cvt.u64.u32", [0xdead_ffff_ffff], 0xffff_ffff),
        ("cvt.u32.u64", [0xdead_1234_5678], 0x1234_5678),
        ("cvt.s8.s32", [0x80], 0x80),
        ("cvt.u8.s32", [s32(-1)], 0xff),
        ("cvt.u64.s32", [s32(-1)], u64::MAX),
        ("cvt.sat.u8.s32", [s32(-5)], 0),
        ("cvt.sat.u8.s32", [300], 255),
        ("cvt.sat.s8.s32", [300], 127),
        ("cvt.sat.s16.s64", [s64(-40000)], s16(-32768)),
        ("cvt.sat.s32.u32", [0xffff_ffff], 0x7fff_ffff),
    ]);
}

#[test]
fn floats_to_integers() {
    check(&[
        ("cvt.rni.s32.f32", [f(2.5)], 2),
        ("cvt.rni.s32.f32", [f(3.5)], 4),
        ("cvt.rzi.s32.f32", [f(-2.9)], s32(-2)),
        ("cvt.rmi.s32.f32", [f(-2.1)], s32(-3)),
        ("cvt.rpi.s32.f32", [f(2.1)], 3),
        ("cvt.rzi.u32.f32", [f(-5.0)], 0),
        ("cvt.rzi.u32.f32", [f(5e9)], 0xffff_ffff),
        ("cvt.rzi.s32.f32", [f(5e9)], 0x7fff_ffff),
        ("cvt.rzi.s32.f32", [NAN32], 0),
        ("cvt.rzi.s64.f32", [NAN32], 1 << 63),
        ("cvt.rzi.u64.f32", [NAN32], 1 << 63),
        ("cvt.rzi.s32.f64", [d(f64::NAN)], s32(i32::MIN)),
        ("cvt.rzi.u32.f64", [d(f64::NAN)], 1 << 31),
        ("cvt.rzi.s64.f64", [d(-1e300)], 1 << 63),
        ("cvt.rzi.u64.f64", [d(1e300)], u64::MAX),
        ("cvt.rni.s16.f16", [0x7bff], 32767),
        ("cvt.rzi.u8.f32", [f(255.9)], 255),
        ("cvt.rzi.s8.f32", [f(-200.0)], 0x80),
        ("cvt.rpi.ftz.s32.f32", [1], 0),
        ("cvt.rpi.s32.f32", [1], 1),
        ("cvt.rpi.s8.bf16", [0x3f81], 2),
        ("cvt.rzi.sat.u32.f32", [f(-5.0)], 0),
    ]);
}

#[test]
fn integers_to_floats() {
    check(&[
        ("cvt.rn.f32.s32", [s32(-7)], f(-7.0)),
        ("cvt.rn.f32.u32", [0xffff_ffff], f(4294967296.0)),
        ("cvt.rz.f32.u32", [0xffff_ffff], f(4294967040.0)),
        ("cvt.rp.f32.s32", [0x0100_0001], f(16777218.0)),
        ("cvt.rn.f32.s32", [0x0100_0001], f(16777216.0)),
        ("cvt.rn.f64.s64", [s64(i64::MIN)], d(-9223372036854775808.0)),
        ("cvt.rm.f64.u64", [u64::MAX], d(18446744073709549568.0)),
        ("cvt.rn.f16.s32", [100_000], 0x7c00),
        ("cvt.rz.f16.s32", [100_000], 0x7bff),
        ("cvt.rn.f16.u8", [255], 0x5bf8),
        ("cvt.rn.bf16.s32", [257], 0x4380),
        ("cvt.rz.bf16.u64", [511], 0x43ff),
        ("cvt.rn.sat.f32.s32", [7], f(1.0)),
        ("cvt.rn.f32.s32", [0], 0),
    ]);
}

#[test]
fn between_floats() {
    check(&[
        ("cvt.f32.f16", [0x3c01], f(1.0 + 1.0 / 1024.0)),
        ("cvt.f32.f16", [0x0001], f(2f32.powi(-24))),
        ("cvt.f32.f16", [0xfc00], f(f32::NEG_INFINITY)),
        ("cvt.f32.f16", [0x7e00], NAN32),
        ("cvt.f32.bf16", [0xbf80], f(-1.0)),
        ("cvt.f64.f32", [f(0.1)], d(f64::from(0.1f32))),
        ("cvt.f64.f16", [0x8000], d(-0.0)),
        ("cvt.rn.f32.f64", [d(0.1)], f(0.1)),
        ("cvt.rz.f32.f64", [d(0.1)], f(0.1) - 1),
        ("cvt.rn.f32.f64", [d(1e300)], f(f32::INFINITY)),
        ("cvt.rz.f32.f64", [d(-1e300)], f(f32::MIN)),
        ("cvt.rn.ftz.f32.f64", [d(1e-40)], 0),
        ("cvt.rn.f32.f64", [d(f64::NAN)], NAN32),
        ("cvt.rn.f16.f32", [f(1.0 + 1.0 / 2048.0)], 0x3c00),
        ("cvt.rn.f16.f32", [f(65520.0)], 0x7c00),
        ("cvt.rz.f16.f32", [f(65520.0)], 0x7bff),
        ("cvt.rn.satfinite.f16.f32", [f(65520.0)], 0x7bff),
        ("cvt.rn.satfinite.f16.f32", [f(f32::NEG_INFINITY)], 0xfbff),
        ("cvt.rn.satfinite.f16.f32", [NAN32], 0x7fff),
        ("cvt.rn.relu.f16.f32", [f(-1.0)], 0),
        ("cvt.rn.relu.f16.f32", [NAN32], 0x7fff),
        ("cvt.rn.bf16.f32", [f(1.0 + 1.0 / 256.0)], 0x3f80),
        ("cvt.rn.bf16.f32", [f(1.0 + 3.0 / 256.0)], 0x3f82),
        ("cvt.rz.bf16.f32", [f(1.0 + 3.0 / 256.0)], 0x3f81),
        ("cvt.rn.bf16.f16", [0x3c01], 0x3f80),
        ("cvt.sat.f32.f32", [f(7.0)], f(1.0)),
        ("cvt.sat.f32.f32", [NAN32], 0),
        ("cvt.sat.f32.f32", [f(-0.0)], 0),
        ("cvt.ftz.f32.f32", [0x8000_0001], 0x8000_0000),
        ("cvt.rni.f32.f32", [f(-0.5)], f(-0.0)),
        ("cvt.rpi.f64.f64", [d(1.25)], d(2.0)),
        ("cvt.rzi.f16.f16", [0x3fff], 0x3c00),
        ("cvt.rna.tf32.f32", [0x3f80_1000], 0x3f80_2000),
        ("cvt.rn.tf32.f32", [0x3f80_1000], 0x3f80_0000),
        ("cvt.rz.tf32.f32", [0x3f80_1fff], 0x3f80_0000),
        ("cvt.rn.relu.tf32.f32", [f(-1.0)], 0),
        ("cvt.rna.satfinite.tf32.f32", [0x7f7f_ffff], 0x7f7f_e000),
        ("cvt.rna.tf32.f32", [0x7fc0_0000], NAN32),
    ]);
}

#[test]
fn pairs() {
    check(&[
        ("cvt.rn.f16x2.f32", [f(1.0), f(2.0)], 0x3c00_4000),
        ("cvt.rz.relu.bf16x2.f32", [f(-1.0), f(2.0)], 0x4000),
        ("cvt.rn.satfinite.f16x2.f32", [f(1e9), f(-1e9)], 0x7bff_fbff),
        ("cvt.rn.satfinite.e4m3x2.f32", [f(1.0), f(1000.0)], 0x387e),
        ("cvt.rn.satfinite.e5m2x2.f32", [f(-1e9), NAN32], 0xfb7f),
        ("cvt.rn.satfinite.relu.e4m3x2.f32", [f(-1.0), f(0.5)], 0x0030),
        ("cvt.rn.satfinite.e2m1x2.f32", [f(6.0), f(-0.5)], 0x79),
        ("cvt.rn.satfinite.e2m3x2.f32", [f(1.0), f(100.0)], 0x081f),
        ("cvt.rn.satfinite.e3m2x2.f32", [NAN32, f(-28.0)], 0x1f3f),
    ]);
    check(&[
        ("cvt.rn.f16x2.e4m3x2", [0x387e], 0x3c00_5f00),
        ("cvt.rn.f16x2.e4m3x2", [0x7fff], 0x7fff_7fff),
        ("cvt.rn.relu.f16x2.e5m2x2", [0xbc3c], 0x0000_3c00),
        ("cvt.rn.f16x2.e2m1x2", [0x79], 0x4600_b800),
        ("cvt.rn.satfinite.e5m2x2.f16x2", [0x3c00_7c00], 0x3c7b),
        ("cvt.rn.satfinite.e4m3x2.bf16x2", [0x3f80_4000], 0x3840),
    ]);
    check(&[
        ("cvt.pack.sat.u16.s32", [s32(-5), 70000], 0x0000_ffff),
        ("cvt.pack.sat.s16.s32", [s32(-40000), 70000], 0x8000_7fff),
    ]);
    check(&[
        ("cvt.pack.sat.u8.s32.b32", [300, s32(-1), 0xabcd_1234], 0x1234_ff00),
        ("cvt.pack.sat.s8.s32.b32", [300, s32(-300), 0xabcd_1234], 0x1234_7f80),
        ("cvt.pack.sat.u4.s32.b32", [20, 3, 0xabcd_1234], 0xcd12_34f3),
    ]);
}

/// A conversion that needs rounding must say how, and one that does not must not.
#[test]
fn rounding_is_written_where_it_is_needed() {
    for refused in [
        "cvt.f32.f64",
        "cvt.rn.f64.f32",
        "cvt.s32.f32",
        "cvt.rn.s32.f32",
        "cvt.f32.s32",
        "cvt.rni.f32.s32",
        "cvt.f16.f32",
        "cvt.ftz.f64.f64",
        "cvt.rn.satfinite.s32.f32",
        "cvt.rn.e4m3x2.f32",
        "cvt.sat.relu.u8.s32",
    ] {
        assert!(prepare(refused, 1).is_none() && prepare(refused, 2).is_none(), "{refused}");
    }
}

/// Every `f16` and `bf16` survives the way through `f32`, and every f32 conversion is the nearest.
#[test]
fn halves_survive_widening() {
    for (ty, nan_from) in [("f16", 0x7c00), ("bf16", 0x7f80)] {
        let widen = prepare(&format!("cvt.f32.{ty}"), 1).unwrap();
        let narrow = prepare(&format!("cvt.rn.{ty}.f32"), 1).unwrap();
        for bits in 0..0x1_0000u64 {
            let back = narrow.lane([widen.lane([bits, 0, 0, 0, 0]), 0, 0, 0, 0]);
            let expected = if bits & 0x7fff > nan_from { 0x7fff } else { bits };
            assert_eq!(back, expected, "{ty} {bits:#x}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nearest_conversions_agree_with_rust(word: u64) {
        let x = f64::from_bits(word);
        let y = f32::from_bits(word as u32);
        prop_assert_eq!(eval("cvt.rn.f32.s64", [word]), f(word as i64 as f32));
        prop_assert_eq!(eval("cvt.rn.f64.u64", [word]), d(word as f64));
        prop_assert_eq!(eval("cvt.rn.f32.u32", [word]), f(word as u32 as f32));
        if !x.is_nan() {
            prop_assert_eq!(eval("cvt.rn.f32.f64", [word]), f(x as f32));
            prop_assert_eq!(eval("cvt.rzi.s64.f64", [word]) as i64, x as i64);
        }
        prop_assert_eq!(eval("cvt.rzi.u32.f32", [word]), u64::from(y as u32));
        prop_assert_eq!(eval("cvt.rni.s32.f32", [word]), y.round_ties_even() as i32 as u32 as u64);
    }
}
