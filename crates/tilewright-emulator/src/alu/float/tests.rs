//! The exact arithmetic against an oracle that enumerates every `f16`, and against the processor for `f32` and `f64`.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::{Format, Number, Rounding, add, divide, fused_multiply_add, multiply, square_root};

const ROUNDINGS: [Rounding; 5] =
    [Rounding::NearestEven, Rounding::NearestAway, Rounding::TowardZero, Rounding::Down, Rounding::Up];

/// An exact result: `numerator / denominator` in units of 2^-48, the denominator positive.
#[derive(Clone, Copy)]
struct Ratio {
    numerator: i128,
    denominator: i128,
}

/// A finite `f16` in units of 2^-24.
fn units(bits: u16) -> i128 {
    let (exponent, fraction) = (bits >> 10 & 31, i128::from(bits & 1023));
    let magnitude = if exponent == 0 { fraction } else { (fraction | 1024) << (exponent - 1) };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// What lies where infinity is encoded: one step above the largest number.
const BEYOND: u16 = 0x7c00;

/// Rounds a ratio that is not zero by searching all magnitudes.
fn oracle(exact: Ratio, rounding: Rounding) -> u16 {
    let negative = exact.numerator < 0;
    let magnitude = exact.numerator.abs();
    // Magnitudes in units of 2^-49, so that midpoints are whole.
    let compare = |doubled: i128| (doubled * exact.denominator).cmp(&(2 * magnitude));
    let value = |bits: u16| units(bits) << 24;
    let (mut low, mut high) = (0u16, BEYOND);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if compare(2 * value(middle)) == Ordering::Greater { high = middle } else { low = middle }
    }
    let up = match (compare(2 * value(low)), rounding) {
        (Ordering::Equal, _) => false,
        (_, Rounding::TowardZero) => false,
        (_, Rounding::Down) => negative,
        (_, Rounding::Up) => !negative,
        (_, nearest) => match compare(value(low) + value(high)) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => nearest == Rounding::NearestAway || low & 1 == 1,
        },
    };
    (if up { high } else { low }) | if negative { 0x8000 } else { 0 }
}

fn finite_half() -> impl Strategy<Value = u16> {
    let edges = prop::sample::select(vec![
        0x0001u16, 0x0002, 0x03ff, 0x0400, 0x0401, 0x07ff, 0x3bff, 0x3c00, 0x3c01, 0x3fff, 0x7bff, 0x7bfe,
        0x1400,
    ]);
    (prop_oneof![1 => edges, 3 => 0u16..0x7c00], any::<bool>())
        .prop_map(|(bits, sign)| bits | u16::from(sign) << 15)
}

fn number(bits: u16) -> Number {
    Format::F16.unpack(bits.into())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn f16_agrees_with_enumeration(a in finite_half(), b in finite_half(), c in finite_half()) {
        let exact = |numerator, denominator: i128| Ratio { numerator: numerator * denominator.signum(), denominator: denominator.abs() };
        for rounding in ROUNDINGS {
            let check = |ratio: Ratio, result: Number| {
                if ratio.numerator != 0 {
                    let rounded = Format::F16.round(result, rounding) as u16;
                    assert_eq!(rounded, oracle(ratio, rounding), "{a:#x} {b:#x} {c:#x} {rounding:?}");
                }
            };
            check(exact((units(a) + units(b)) << 24, 1), add(number(a), number(b), rounding));
            check(exact(units(a) * units(b), 1), multiply(number(a), number(b)));
            let sum = units(a) * units(b) + (units(c) << 24);
            check(exact(sum, 1), fused_multiply_add(number(a), number(b), number(c), rounding));
            if units(b) != 0 {
                check(exact(units(a) << 48, units(b)), divide(number(a), number(b)));
            }
        }
    }

    #[test]
    fn f16_roots_are_the_nearest(a in 1u16..0x7c00) {
        // r is the rounding of the root if a lies between the squares of the points halfway to its neighbours.
        let root = Format::F16.round(square_root(number(a)), Rounding::NearestEven) as u16;
        let (below, at, above) = (units(root - 1), units(root), units(root + 1));
        let target = units(a) << 26;
        prop_assert!((below + at).pow(2) <= target && target <= (at + above).pow(2));
        let (down, up) = (
            Format::F16.round(square_root(number(a)), Rounding::Down) as u16,
            Format::F16.round(square_root(number(a)), Rounding::Up) as u16,
        );
        let square = |bits| units(bits).pow(2);
        prop_assert!(square(down) <= units(a) << 24 && units(a) << 24 <= square(up));
        prop_assert_eq!(up - down, u16::from(square(down) != units(a) << 24));
    }

    #[test]
    fn f32_agrees_with_the_processor(a in float_bits32(), b in float_bits32(), c in float_bits32()) {
        let [x, y, z] = [a, b, c].map(f32::from_bits);
        let [p, q, r] = [a, b, c].map(|bits| Format::F32.unpack(bits.into()));
        let n = Rounding::NearestEven;
        let check = |exact: Number, native: f32| {
            let bits = Format::F32.round(exact, n) as u32;
            assert!(bits == native.to_bits() || native.is_nan() && bits == 0x7fff_ffff, "{a:#x} {b:#x} {c:#x}");
        };
        check(add(p, q, n), x + y);
        check(multiply(p, q), x * y);
        check(divide(p, q), x / y);
        check(square_root(p), x.sqrt());
        check(fused_multiply_add(p, q, r, n), x.mul_add(y, z));
    }

    #[test]
    fn f64_agrees_with_the_processor(a in float_bits64(), b in float_bits64(), c in float_bits64()) {
        let [x, y, z] = [a, b, c].map(f64::from_bits);
        let [p, q, r] = [a, b, c].map(|bits| Format::F64.unpack(bits));
        let n = Rounding::NearestEven;
        let check = |exact: Number, native: f64| {
            let bits = Format::F64.round(exact, n);
            assert!(bits == native.to_bits() || native.is_nan() && exact == Number::Nan, "{a:#x} {b:#x} {c:#x}");
        };
        check(add(p, q, n), x + y);
        check(multiply(p, q), x * y);
        check(divide(p, q), x / y);
        check(square_root(p), x.sqrt());
        check(fused_multiply_add(p, q, r, n), x.mul_add(y, z));
    }
}

/// Bits of a float: anything, special values, or numbers of close exponents, whose sums cancel and round.
fn float_bits32() -> impl Strategy<Value = u32> {
    let special = prop::sample::select(vec![
        0u32,
        1,
        2,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0x3f80_0000,
        0x3f7f_ffff,
        0x3f80_0001,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7fc0_0000,
        0x7f80_0001,
        0x4b80_0000,
        0x3380_0000,
        0x3300_0000,
    ]);
    let close = (100u32..156, 0u32..0x80_0000).prop_map(|(exponent, fraction)| exponent << 23 | fraction);
    (prop_oneof![any::<u32>(), special, close], any::<bool>())
        .prop_map(|(bits, sign)| bits ^ u32::from(sign) << 31)
}

fn float_bits64() -> impl Strategy<Value = u64> {
    let special = prop::sample::select(vec![
        0u64,
        1,
        0xf_ffff_ffff_ffff,
        0x10_0000_0000_0000,
        0x3ff0_0000_0000_0000,
        0x3fef_ffff_ffff_ffff,
        0x7fef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0x3ca0_0000_0000_0000,
    ]);
    let close = (960u64..1090, 0u64..1 << 52).prop_map(|(exponent, fraction)| exponent << 52 | fraction);
    (prop_oneof![any::<u64>(), special, close], any::<bool>())
        .prop_map(|(bits, sign)| bits ^ u64::from(sign) << 63)
}

#[test]
fn every_pattern_of_the_small_formats_survives() {
    for format in [
        Format::F16,
        Format::BF16,
        Format::TF32,
        Format::E5M2,
        Format::E4M3,
        Format::E3M2,
        Format::E2M3,
        Format::E2M1,
    ] {
        let bits = 1 + format.exponent_bits + format.fraction_bits;
        for pattern in 0..1u64 << bits {
            let number = format.unpack(pattern);
            if number != Number::Nan {
                for rounding in ROUNDINGS {
                    assert_eq!(format.round(number, rounding), pattern, "{format:?} {rounding:?}");
                }
            }
        }
    }
}

/// Overflow goes to infinity or stays at the largest number.
#[test]
fn overflow_follows_the_rounding_mode() {
    let huge = |negative| Format::F64.unpack(f64::to_bits(if negative { -1e300 } else { 1e300 }));
    for (rounding, positive, negative) in [
        (Rounding::NearestEven, 0x7c00, 0xfc00),
        (Rounding::NearestAway, 0x7c00, 0xfc00),
        (Rounding::TowardZero, 0x7bff, 0xfbff),
        (Rounding::Down, 0x7bff, 0xfc00),
        (Rounding::Up, 0x7c00, 0xfbff),
    ] {
        assert_eq!(Format::F16.round(huge(false), rounding), positive);
        assert_eq!(Format::F16.round(huge(true), rounding), negative);
    }
    assert_eq!(
        Format::E4M3.round(huge(false), Rounding::NearestEven),
        0x7f,
        "e4m3 has NaN in place of infinity"
    );
    assert_eq!(Format::E2M1.round(huge(true), Rounding::NearestEven), 0xf);
}
