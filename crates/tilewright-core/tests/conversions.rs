//! Conversions to narrower types round to nearest, once.

use tilewright_core::*;

fn from<T: ValueElement>(value: Value) -> T {
    T::from_value(value, Extremes::Refuse).expect("a float takes every number")
}

/// Around every tie between neighbours: below, on and above it, by as little as f64 can tell.
fn ties<T: ValueElement + Into<f64>>(neighbours: impl Iterator<Item = (T, T)>, even: impl Fn(T) -> bool) {
    for (low, high) in neighbours {
        let tie = (low.into() + high.into()) / 2.0;
        for sign in [1.0, -1.0] {
            let round = |x: f64| sign * from::<T>(Value::Float(sign * x)).into();
            assert_eq!(round(tie.next_down()), low.into(), "just below {tie}");
            assert_eq!(round(tie.next_up()), high.into(), "just above {tie}");
            assert_eq!(round(tie), if even(low) { low } else { high }.into(), "{tie}");
            assert_eq!(round(low.into()), low.into());
        }
    }
}

#[test]
fn floats_round_to_nearest_halves() {
    let below = f16::MAX.to_bits();
    ties((0..below).map(|bits| (f16::from_bits(bits), f16::from_bits(bits + 1))), |x| x.to_bits() % 2 == 0);
    let below = bf16::MAX.to_bits();
    ties((0..below).map(|bits| (bf16::from_bits(bits), bf16::from_bits(bits + 1))), |x| x.to_bits() % 2 == 0);
}

#[test]
fn floats_beyond_the_range_are_infinite() {
    assert_eq!(from::<f16>(Value::Float(65519.999)), f16::MAX);
    assert_eq!(from::<f16>(Value::Float(65520.0)), f16::INFINITY);
    for huge in [1e39, f64::MAX, f64::INFINITY] {
        assert_eq!(from::<f16>(Value::Float(-huge)), f16::NEG_INFINITY);
        assert_eq!(from::<bf16>(Value::Float(huge)), bf16::INFINITY);
        assert_eq!(from::<f32>(Value::Float(huge)), f32::INFINITY);
    }
    assert!(from::<f16>(Value::Float(f64::NAN)).is_nan() && from::<bf16>(Value::Float(f64::NAN)).is_nan());
    assert_eq!(from::<bf16>(Value::Float(-1e-300)).to_bits(), 0x8000);
    assert_eq!(from::<bf16>(Value::Float(f64::MIN_POSITIVE)).to_bits(), 0);
}

#[test]
fn integers_round_once() {
    // Just above the tie between 2^62 and the next bf16, further below than f64 can tell.
    let tie = (1i64 << 62) + (1 << 54);
    let up = bf16::from_f32(2f32.powi(62) + 2f32.powi(55));
    let down = bf16::from_f32(2f32.powi(62));
    for (x, rounded) in [(tie - 1, down), (tie, down), (tie + 1, up)] {
        assert_eq!(from::<bf16>(Value::Int(x)), rounded);
        assert_eq!(from::<bf16>(Value::Int(-x)), -rounded);
    }
    for x in [(1i64 << 62) + (1 << 38), (1 << 53) + 1, 0x0123_4567_89ab_cdef, i64::MAX, i64::MIN, 16_777_217]
    {
        for x in [x, x.wrapping_add(1), x.wrapping_sub(1)] {
            // `as` rounds once.
            assert_eq!(from::<f32>(Value::Int(x)), x as f32, "{x}");
            assert_eq!(from::<f64>(Value::Int(x)), x as f64, "{x}");
        }
    }
}
