use proptest::prelude::*;

use super::ptx::*;

const INF: u64 = 0x7f80_0000;
const MINUS_INF: u64 = 0xff80_0000;
const MINUS_ZERO: u64 = 0x8000_0000;
const NAN: u64 = 0x7fff_ffff;

/// The tables of the PTX manual.
#[test]
fn special_values() {
    check(&[
        ("rcp.approx.f32", [MINUS_INF], MINUS_ZERO),
        ("rcp.approx.f32", [MINUS_ZERO], MINUS_INF),
        ("rcp.approx.f32", [0], INF),
        ("rcp.approx.ftz.f32", [1], INF),
        ("rcp.approx.f32", [NAN], NAN),
        ("sqrt.approx.f32", [f(-1.0)], NAN),
        ("sqrt.approx.f32", [MINUS_ZERO], MINUS_ZERO),
        ("rsqrt.approx.f32", [MINUS_ZERO], MINUS_INF),
        ("rsqrt.approx.f32", [0], INF),
        ("rsqrt.approx.f32", [INF], 0),
        ("rsqrt.approx.f32", [f(-2.0)], NAN),
        ("sin.approx.f32", [MINUS_ZERO], MINUS_ZERO),
        ("sin.approx.f32", [INF], NAN),
        ("cos.approx.f32", [0], f(1.0)),
        ("lg2.approx.f32", [0], MINUS_INF),
        ("lg2.approx.f32", [MINUS_ZERO], MINUS_INF),
        ("lg2.approx.f32", [f(-1.0)], NAN),
        ("lg2.approx.f32", [f(8.0)], f(3.0)),
        ("lg2.approx.f32", [1], f(-149.0)),
        ("lg2.approx.ftz.f32", [1], MINUS_INF),
        ("ex2.approx.f32", [MINUS_INF], 0),
        ("ex2.approx.f32", [INF], INF),
        ("ex2.approx.ftz.f32", [f(-130.0)], 0),
        ("ex2.approx.f32", [f(-130.0)], 1 << 19),
        ("tanh.approx.f32", [INF], f(1.0)),
        ("tanh.approx.f32", [MINUS_ZERO], MINUS_ZERO),
        ("ex2.approx.f16", [0x4000], 0x4400),
        ("ex2.approx.f16x2", [0x4000_3c00], 0x4400_4000),
        ("ex2.approx.ftz.bf16", [0x4000], 0x4080),
        ("tanh.approx.f16x2", [0x7c00_0000], 0x3c00_0000),
        ("tanh.approx.bf16", [0xff80], 0xbf80),
    ]);
    check(&[
        ("div.approx.f32", [f(1.0), f(4.0)], f(0.25)),
        ("div.approx.f32", [f(1e38), f(1.5e38)], 0),
        ("div.approx.f32", [f(-1e38), f(1.5e38)], MINUS_ZERO),
        ("div.approx.f32", [INF, f(1.5e38)], NAN),
        ("div.approx.f32", [f(1.0), INF], 0),
        ("div.full.f32", [f(1e38), f(2e38)], f(0.5)),
    ]);
}

/// The gross approximations have 20 bits of fraction in, 20 out.
#[test]
fn upper_words_of_doubles() {
    check(&[
        ("rcp.approx.ftz.f64", [d(2.0)], d(0.5)),
        ("rcp.approx.ftz.f64", [d(2.0) + 0xffff_ffff], d(0.5)),
        ("rcp.approx.ftz.f64", [d(3.0)], d(1.0 / 3.0) & !0xffff_ffff),
        ("rcp.approx.ftz.f64", [1 << 51], d(f64::INFINITY)),
        ("rcp.approx.ftz.f64", [d(f64::INFINITY)], 0),
        ("rsqrt.approx.ftz.f64", [d(4.0)], d(0.5)),
        ("rsqrt.approx.f64", [d(0.25)], d(2.0)),
        ("rsqrt.approx.ftz.f64", [d(-0.0)], d(f64::NEG_INFINITY)),
        ("rsqrt.approx.ftz.f64", [d(f64::NAN)], 0x7fff_ffff_0000_0000),
    ]);
}

/// Distance in units of the last place.
fn ulps(a: u64, b: f64) -> i64 {
    let ordered = |bits: u32| if bits >> 31 == 1 { -i64::from(bits & 0x7fff_ffff) } else { i64::from(bits) };
    (ordered(a as u32) - ordered((b as f32).to_bits())).abs()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn within_the_documented_errors(x in -126.0f32..126.0, y in 1e-30f32..1e30, angle in -3.1f32..3.1) {
        let wide = f64::from;
        prop_assert!(ulps(eval("ex2.approx.f32", [f(x)]), wide(x).exp2()) <= 2);
        prop_assert!(ulps(eval("rcp.approx.f32", [f(y)]), 1.0 / wide(y)) <= 1);
        prop_assert!(ulps(eval("sqrt.approx.f32", [f(y)]), wide(y).sqrt()) <= 1);
        prop_assert!(ulps(eval("rsqrt.approx.f32", [f(y)]), 1.0 / wide(y).sqrt()) <= 1);
        prop_assert!(ulps(eval("div.approx.f32", [f(x), f(y)]), wide(x) / wide(y)) <= 2);
        prop_assert!(ulps(eval("div.full.f32", [f(x), f(y)]), wide(x) / wide(y)) <= 2);
        let value = |bits: u64| wide(f32::from_bits(bits as u32));
        prop_assert!((value(eval("lg2.approx.f32", [f(y)])) - wide(y).log2()).abs() <= wide(y).log2().abs() * 2f64.powi(-22));
        prop_assert!((value(eval("sin.approx.f32", [f(angle)])) - wide(angle).sin()).abs() <= 2f64.powi(-20));
        prop_assert!((value(eval("cos.approx.f32", [f(angle)])) - wide(angle).cos()).abs() <= 2f64.powi(-20));
        prop_assert!((value(eval("tanh.approx.f32", [f(angle)])) - wide(angle).tanh()).abs() <= wide(angle).tanh().abs() * 2f64.powi(-11));
    }
}
