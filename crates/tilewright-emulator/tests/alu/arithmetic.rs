use proptest::prelude::*;

use super::ptx::*;

const NAN32: u64 = 0x7fff_ffff;
const INF32: u64 = 0x7f80_0000;
const TINY32: u64 = 1;
const MINUS_ZERO32: u64 = 0x8000_0000;
const NAN64: u64 = 0xfff8_0000_0000_0000;

#[test]
fn special_values_of_single_precision() {
    check(&[
        ("add.f32", [f(1.0), f(2.0)], f(3.0)),
        ("add.f32", [INF32, f(f32::NEG_INFINITY)], NAN32),
        ("add.f32", [0xffc0_1234, f(1.0)], NAN32),
        ("add.f32", [f(1.0), f(-1.0)], 0),
        ("add.rm.f32", [f(1.0), f(-1.0)], MINUS_ZERO32),
        ("add.rm.f32", [0, MINUS_ZERO32], MINUS_ZERO32),
        ("add.rz.f32", [MINUS_ZERO32, MINUS_ZERO32], MINUS_ZERO32),
        ("add.rp.f32", [f(1.0), TINY32], f(1.0) + 1),
        ("add.rz.f32", [f(1.0), 0x8000_0001], f(1.0) - 1),
        ("add.rz.f32", [f(f32::MAX), f(f32::MAX)], f(f32::MAX)),
        ("add.rn.f32", [f(f32::MAX), f(f32::MAX)], INF32),
        ("sub.f32", [f(1.0), f(3.0)], f(-2.0)),
        ("mul.f32", [INF32, 0], NAN32),
        ("mul.rn.f32", [TINY32, f(0.5)], 0),
        ("mul.rp.f32", [TINY32, f(0.5)], TINY32),
        ("mul.rm.f32", [TINY32, f(-0.5)], 0x8000_0001),
        ("div.rn.f32", [f(1.0), 0], INF32),
        ("div.rn.f32", [0, 0], NAN32),
        ("div.rz.f32", [f(1.0), f(3.0)], f(1.0 / 3.0) - 1),
        ("div.rp.f32", [f(1.0), f(3.0)], f(1.0 / 3.0)),
        ("div.full.f32", [f(1.0), f(4.0)], f(0.25)),
    ]);
    check(&[
        ("sqrt.rn.f32", [f(2.0)], f(2f32.sqrt())),
        ("sqrt.rn.f32", [MINUS_ZERO32], MINUS_ZERO32),
        ("sqrt.rn.f32", [f(-1.0)], NAN32),
        ("sqrt.rz.f32", [f(2.0)], f(2f32.sqrt())),
        ("sqrt.rp.f32", [f(2.0)], f(2f32.sqrt()) + 1),
        ("rcp.rn.f32", [f(3.0)], f(1.0 / 3.0)),
        ("rcp.rz.f32", [f(3.0)], f(1.0 / 3.0) - 1),
        ("rcp.rn.f32", [MINUS_ZERO32], f(f32::NEG_INFINITY)),
        ("abs.f32", [f(-2.0)], f(2.0)),
        ("abs.ftz.f32", [0x8000_0001], 0),
        ("neg.f32", [0], MINUS_ZERO32),
        ("neg.ftz.f32", [TINY32], MINUS_ZERO32),
        ("sqrt.rn.f64", [d(2.0)], d(2f64.sqrt())),
        ("rcp.rp.f64", [d(3.0)], d(1.0 / 3.0) + 1),
    ]);
}

#[test]
fn flushing_and_saturation() {
    check(&[
        ("add.ftz.f32", [TINY32, f(0.0)], 0),
        ("add.ftz.f32", [0x8000_0001, MINUS_ZERO32], MINUS_ZERO32),
        // The result is flushed too: 2^-126 - 2^-127 is subnormal.
        ("sub.ftz.f32", [0x0100_0000, 0x00c0_0000], 0),
        ("sub.f32", [0x0100_0000, 0x00c0_0000], 0x0040_0000),
        ("mul.ftz.f32", [f(1e30), TINY32], 0),
        ("add.sat.f32", [f(1.0), f(2.0)], f(1.0)),
        ("add.sat.f32", [f(1.0), f(-2.0)], 0),
        ("add.sat.f32", [INF32, f(f32::NEG_INFINITY)], 0),
        ("mul.sat.f32", [f(-0.0), f(1.0)], 0),
        ("add.rz.ftz.sat.f32", [f(0.25), f(0.5)], f(0.75)),
    ]);
    check(&[
        ("fma.rn.f32", [f(3.0), f(5.0), f(-14.0)], f(1.0)),
        ("fma.rn.sat.f32", [f(3.0), f(5.0), f(-14.0)], f(1.0)),
        ("fma.rn.ftz.f32", [TINY32, f(1.0), f(0.0)], 0),
        ("fma.rz.f32", [f(1.0), f(1.0), TINY32], f(1.0)),
        ("fma.rp.f32", [f(1.0), f(1.0), TINY32], f(1.0) + 1),
        ("fma.rn.f32", [INF32, 0, f(1.0)], NAN32),
        ("mad.rn.f32", [f(3.0), f(5.0), f(-14.0)], f(1.0)),
        ("fma.rm.f64", [d(1.0), d(1.0), d(-1.0)], d(-0.0)),
        ("fma.rn.f64", [d(0.1), d(10.0), d(-1.0)], d(0.1f64.mul_add(10.0, -1.0))),
    ]);
}

#[test]
fn double_precision_keeps_payloads() {
    check(&[
        ("add.f64", [0x7ff0_0000_0000_1234, d(1.0)], 0x7ff8_0000_0000_1234),
        ("add.f64", [d(f64::INFINITY), d(f64::NEG_INFINITY)], NAN64),
        ("mul.rz.f64", [d(1.0), 0x7ff8_0000_0000_0007], 0x7ff8_0000_0000_0007),
        ("div.rn.f64", [0, 0], NAN64),
        ("copysign.f64", [d(-1.0), d(2.0)], d(-2.0)),
        ("copysign.f32", [f(1.0), f(-2.0)], f(2.0)),
    ]);
}

#[test]
fn two_singles_in_a_register() {
    let pair = |low: f32, high: f32| f(high) << 32 | f(low);
    check(&[
        ("add.rn.f32x2", [pair(1.0, 2.0), pair(3.0, 5.0)], pair(4.0, 7.0)),
        ("mul.rz.f32x2", [pair(1.5, 2.0), pair(3.0, 5.0)], pair(4.5, 10.0)),
    ]);
    check(&[("fma.rn.ftz.f32x2", [pair(1.0, 2.0), pair(3.0, 5.0), pair(-3.0, 1.0)], pair(0.0, 11.0))]);
}

#[test]
fn halves() {
    check(&[
        ("add.f16", [0x3c00, 0x4000], 0x4200),
        ("add.rn.f16", [0x7bff, 0x7bff], 0x7c00),
        ("add.f16", [0x7c00, 0xfc00], 0x7fff),
        ("add.ftz.f16", [0x0001, 0x0000], 0),
        ("add.sat.f16", [0x3c00, 0x3c00], 0x3c00),
        ("add.sat.f16", [0xbc00, 0x0000], 0),
        ("sub.f16x2", [0x4000_3c00, 0x3c00_3c00], 0x3c00_0000),
        ("mul.f16", [0x0001, 0x3800], 0),
        ("mul.f16", [0x0003, 0x3800], 0x0002),
        ("add.bf16", [0x3f80, 0x4000], 0x4040),
        ("mul.bf16x2", [0x3f80_4000, 0x4000_4000], 0x4000_4080),
    ]);
    check(&[
        // 1 + 2^-11 + 2^-24 rounds up only if the product is not rounded first.
        ("fma.rn.f16", [0x3c00, 0x1000, 0x3c00], 0x3c00),
        ("fma.rn.f16", [0x3c01, 0x1000, 0x3c00], 0x3c01),
        ("fma.rn.relu.f16", [0x3c00, 0xbc00, 0x0000], 0),
        ("fma.rn.relu.f16", [0x7fff, 0xbc00, 0x0000], 0x7fff),
        ("fma.rn.sat.f16x2", [0x4000_b800, 0x3c00_3c00, 0], 0x3c00_0000),
        ("fma.rn.bf16x2", [0x3f80_3f80, 0x4000_4000, 0x3f80_0000], 0x4040_4000),
        ("fma.rn.relu.bf16", [0x3f80, 0xbf80, 0], 0),
    ]);
    check(&[
        ("neg.f16", [0x3c00], 0xbc00),
        ("abs.bf16", [0xbf80], 0x3f80),
        ("neg.ftz.f16x2", [0x0001_3c00], 0x8000_bc00),
        ("abs.f16x2", [0x8001_bc00], 0x0001_3c00),
    ]);
}

#[test]
fn halves_with_singles() {
    check(&[
        ("add.f32.f16", [0x3c00, f(1.0 / 3.0)], f(1.0 + 1.0 / 3.0)),
        ("sub.rz.f32.bf16", [0x3f80, f(1e-10)], f(1.0) - 1),
        ("add.rn.sat.f32.f16", [0x4000, f(3.0)], f(1.0)),
    ]);
    check(&[
        ("fma.rn.f32.f16", [0x4200, 0x4000, f(0.5)], f(6.5)),
        ("fma.rp.f32.bf16", [0x3f80, 0x3f80, TINY32], f(1.0) + 1),
    ]);
    assert!(prepare("mul.rn.f32.f16", 2).is_none() && prepare("add.ftz.f32.f16", 2).is_none());
}

#[test]
fn minimum_and_maximum() {
    check(&[
        ("min.f32", [f(1.0), NAN32], f(1.0)),
        ("min.f32", [NAN32, f(1.0)], f(1.0)),
        ("max.f32", [0xffc0_0000, 0xffc0_0000], NAN32),
        ("min.NaN.f32", [f(1.0), 0x7fc0_0000], NAN32),
        ("min.f32", [0, MINUS_ZERO32], MINUS_ZERO32),
        ("min.f32", [MINUS_ZERO32, 0], MINUS_ZERO32),
        ("max.f32", [MINUS_ZERO32, 0], 0),
        ("max.f32", [0, MINUS_ZERO32], 0),
        ("min.ftz.f32", [0x8000_0001, f(1.0)], MINUS_ZERO32),
        ("max.xorsign.abs.f32", [f(-3.0), f(2.0)], f(-3.0)),
        ("max.xorsign.abs.f32", [f(-3.0), f(-2.0)], f(3.0)),
        ("min.xorsign.abs.f32", [f(3.0), f(-2.0)], f(-2.0)),
        ("min.NaN.xorsign.abs.f32", [f(-3.0), NAN32], NAN32),
        ("min.f64", [d(f64::NAN), d(-2.0)], d(-2.0)),
        ("max.f64", [d(-0.0), d(0.0)], 0),
        ("min.f16", [0x3c00, 0x7e00], 0x3c00),
        ("max.NaN.f16", [0x3c00, 0x7e00], 0x7fff),
        ("min.f16x2", [0x8000_3c00, 0x0000_bc00], 0x8000_bc00),
        ("max.bf16", [0x8000, 0x0000], 0),
        ("max.xorsign.abs.f16", [0xc200, 0x4000], 0xc200),
        ("min.xorsign.abs.bf16x2", [0xc040_3f80, 0x4000_bf80], 0xc000_bf80),
    ]);
    check(&[
        ("min.f32", [f(3.0), f(1.0), f(2.0)], f(1.0)),
        ("max.f32", [f(3.0), NAN32, f(4.0)], f(4.0)),
        ("max.NaN.f32", [f(3.0), NAN32, f(4.0)], NAN32),
        ("max.abs.f32", [f(3.0), f(-5.0), f(4.0)], f(5.0)),
    ]);
    for refused in ["min.abs.f32", "min.xorsign.f32", "min.ftz.f64", "min.ftz.bf16"] {
        assert!(prepare(refused, 2).is_none(), "{refused}");
    }
}

/// Bits of a double with moderate exponents half of the time.
fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>(),
        (960u64..1090, any::<u64>()).prop_map(|(e, x)| x >> 63 << 63 | e << 52 | x << 12 >> 12)
    ]
    .prop_map(f64::from_bits)
}

fn single() -> impl Strategy<Value = f32> {
    prop_oneof![
        any::<u32>(),
        (100u32..156, any::<u32>()).prop_map(|(e, x)| x >> 31 << 31 | e << 23 | x << 9 >> 9)
    ]
    .prop_map(f32::from_bits)
}

/// The four roundings of the number `nearest + error`, given its rounding to nearest and the sign of the error.
fn roundings(nearest: f64, error: f64) -> [(&'static str, f64); 4] {
    let down = if error < 0.0 { nearest.next_down() } else { nearest };
    let up = if error > 0.0 { nearest.next_up() } else { nearest };
    [("rn", nearest), ("rm", down), ("rp", up), ("rz", if nearest > 0.0 { down } else { up })]
}

/// Whether error-free transformations hold: no overflow, no underflow of the error.
fn moderate(x: f64) -> bool {
    (1e-250..1e250).contains(&x.abs())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn directed_roundings_of_doubles_agree_with_error_free_transformations(a in double(), b in double()) {
        let compare = |instruction: &str, nearest: f64, error: f64, sources: &[f64]| {
            if !moderate(nearest) || !sources.iter().all(|&x| moderate(x)) {
                return;
            }
            for (mode, expected) in roundings(nearest, error) {
                let text = format!("{instruction}.{mode}.f64");
                let result = match *sources {
                    [a] => eval(&text, [d(a)]),
                    [a, b] => eval(&text, [d(a), d(b)]),
                    [a, b, c] => eval(&text, [d(a), d(b), d(c)]),
                    _ => unreachable!(),
                };
                assert_eq!(result, d(expected), "{text} {sources:?}");
            }
        };
        let sum = a + b;
        let part = sum - a;
        compare("add", sum, (a - (sum - part)) + (b - part), &[a, b]);
        let product = a * b;
        compare("mul", product, a.mul_add(b, -product), &[a, b]);
        let quotient = a / b;
        compare("div", quotient, (-quotient).mul_add(b, a) * b.signum(), &[a, b]);
        let root = a.sqrt();
        compare("sqrt", root, (-root).mul_add(root, a), &[a]);
        let reciprocal = 1.0 / a;
        compare("rcp", reciprocal, (-reciprocal).mul_add(a, 1.0) * a.signum(), &[a]);
    }

    #[test]
    fn single_precision_brackets_the_exact_result(a in single(), b in single(), c in single()) {
        // The product is exact in f64, and so is the comparison of a single with a sum of two doubles through its error.
        let product = f64::from(a) * f64::from(b);
        let sum = product + f64::from(c);
        let part = sum - product;
        let error = (product - (sum - part)) + (f64::from(c) - part);
        prop_assume!(sum.is_finite());
        let result = |mode: &str| f32::from_bits(eval(&format!("fma.{mode}.f32"), [f(a), f(b), f(c)]) as u32);
        let (down, up, nearest, zero) = (result("rm"), result("rp"), result("rn"), result("rz"));
        // x <= exact, without rounding.
        let at_most = |x: f32| f64::from(x) < sum || f64::from(x) == sum && error >= 0.0;
        let at_least = |x: f32| f64::from(x) > sum || f64::from(x) == sum && error <= 0.0;
        prop_assert!(at_most(down) && at_least(up), "{a:?} {b:?} {c:?}");
        prop_assert!(down == up || down.next_up() == up);
        prop_assert_eq!(nearest.to_bits(), a.mul_add(b, c).to_bits());
        prop_assert_eq!(zero, if sum > 0.0 { down } else { up });
    }

    #[test]
    fn native_nearest_modes(a in single(), b in single(), c in single(), x in double(), y in double(), z in double()) {
        let single = |value: f32| if value.is_nan() { NAN32 } else { f(value) };
        prop_assert_eq!(eval("add.rn.f32", [f(a), f(b)]), single(a + b));
        prop_assert_eq!(eval("sub.f32", [f(a), f(b)]), single(a - b));
        prop_assert_eq!(eval("mul.f32", [f(a), f(b)]), single(a * b));
        prop_assert_eq!(eval("div.rn.f32", [f(a), f(b)]), single(a / b));
        prop_assert_eq!(eval("sqrt.rn.f32", [f(a)]), single(a.sqrt()));
        prop_assert_eq!(eval("fma.rn.f32", [f(a), f(b), f(c)]), single(a.mul_add(b, c)));
        if !x.is_nan() && !y.is_nan() && !z.is_nan() {
            let double = |value: f64| if value.is_nan() { NAN64 } else { d(value) };
            prop_assert_eq!(eval("add.f64", [d(x), d(y)]), double(x + y));
            prop_assert_eq!(eval("fma.rn.f64", [d(x), d(y), d(z)]), double(x.mul_add(y, z)));
        }
    }
}
