//! Conversions to narrower types round to nearest, once.

use tilewright_core::*;

fn from<T: Element>(value: Value) -> T {
    T::from_value(value, Extremes::Refuse).expect("a float takes every number")
}

/// Around every tie between neighbours: below, on and above it, by as little as f64 can tell.
fn ties<T: Element + Into<f64>>(neighbours: impl Iterator<Item = (T, T)>, even: impl Fn(T) -> bool) {
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
    let below = E4m3::MAX.to_bits();
    ties((0..below).map(|bits| (E4m3::from_bits(bits), E4m3::from_bits(bits + 1))), |x| x.to_bits() % 2 == 0);
    let below = E5m2::MAX.to_bits();
    ties((0..below).map(|bits| (E5m2::from_bits(bits), E5m2::from_bits(bits + 1))), |x| x.to_bits() % 2 == 0);
    let below = bf16::MAX.to_bits();
    ties((0..below).map(|bits| (bf16::from_bits(bits), bf16::from_bits(bits + 1))), |x| x.to_bits() % 2 == 0);
}

#[test]
fn floats_beyond_the_range_are_refused() {
    fn refused<T: Element>(value: Value) {
        assert_eq!(T::from_value(value, Extremes::Refuse), None, "{value}");
        assert_eq!(T::from_value(value, Extremes::Absent), None, "{value}");
    }
    assert_eq!((from::<E4m3>(Value::Float(464.0)), from::<E5m2>(Value::Int(61439))), (E4m3::MAX, E5m2::MAX));
    refused::<E4m3>(Value::Float(464.0001));
    refused::<E5m2>(Value::Int(61440));
    // e4m3 has no infinity.
    refused::<E4m3>(Value::Float(f64::INFINITY));
    assert_eq!(from::<E5m2>(Value::Float(f64::INFINITY)), E5m2::INFINITY);
    assert!(from::<E4m3>(Value::Float(f64::NAN)).is_nan());
    assert_eq!(from::<f16>(Value::Float(65519.999)), f16::MAX);
    refused::<f16>(Value::Float(65520.0));
    assert_eq!(from::<f16>(Value::Int(65519)), f16::MAX);
    refused::<f16>(Value::Int(-65520));
    for huge in [1e39, -1e39, f64::MAX] {
        refused::<f16>(Value::Float(huge));
        refused::<bf16>(Value::Float(huge));
        refused::<f32>(Value::Float(huge));
    }
    assert_eq!(from::<f16>(Value::Float(f64::NEG_INFINITY)), f16::NEG_INFINITY);
    assert_eq!(from::<bf16>(Value::Float(f64::INFINITY)), bf16::INFINITY);
    assert_eq!(from::<f32>(Value::Float(f64::INFINITY)), f32::INFINITY);
    assert!(from::<f16>(Value::Float(f64::NAN)).is_nan() && from::<bf16>(Value::Float(f64::NAN)).is_nan());
    assert_eq!(from::<bf16>(Value::Float(-1e-300)).to_bits(), 0x8000);
    assert_eq!(from::<bf16>(Value::Float(f64::MIN_POSITIVE)).to_bits(), 0);
}

#[test]
fn extreme_integers_mean_the_same_in_every_type() {
    let wide: DynMatrix = Matrix::from_fn(1, 3, |_, j| [i16::MIN, 7, i16::MAX][j]).unwrap().into();
    let floats = wide.as_ref().convert(DType::F32, Extremes::Absent).unwrap().into_typed::<f32>().unwrap();
    assert_eq!(floats.into_vec(), [f32::NEG_INFINITY, 7.0, f32::INFINITY]);
    let longer = wide.as_ref().convert(DType::I64, Extremes::Absent).unwrap().into_typed::<i64>().unwrap();
    assert_eq!(longer.into_vec(), [i64::MIN, 7, i64::MAX]);
    let numbers = wide.as_ref().convert(DType::I64, Extremes::Refuse).unwrap().into_typed::<i64>().unwrap();
    assert_eq!(numbers.into_vec(), [-32768, 7, 32767]);
    // A number does not become "absent".
    let finite: DynMatrix = Matrix::filled(1, 1, i64::from(i32::MAX)).unwrap().into();
    let refusal = finite.as_ref().convert(DType::I32, Extremes::Absent).unwrap_err();
    assert!(
        refusal.to_string().contains("element [0, 0] = 2147483647 cannot be represented as i32"),
        "{refusal}"
    );
    finite.as_ref().convert(DType::I32, Extremes::Refuse).unwrap();
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
