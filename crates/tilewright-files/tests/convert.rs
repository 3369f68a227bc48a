//! Conversions while reading: one rule for every format and every pair of types.
use std::io::{Cursor, Write};
use tilewright_core::{DType, DynMatrix, Extremes, Matrix, Value};
use tilewright_files::{Format, ReadOptions, Spec, WriteOptions, read, read_bytes, write, write_to};

/// Numbers at the ends of the types, and some between.
const NUMBERS: &[Value] = &[
    Value::Int(0),
    Value::Int(1),
    Value::Int(-1),
    Value::Int(127),
    Value::Int(128),
    Value::Int(-128),
    Value::Int(-129),
    Value::Int(32767),
    Value::Int(32768),
    Value::Int(-32769),
    Value::Int(65504),
    Value::Int(65519),
    Value::Int(65520),
    Value::Int(70000),
    Value::Int(2147483647),
    Value::Int(2147483648),
    Value::Int(-2147483649),
    Value::Int(9007199254740993),
    Value::Int(i64::MAX),
    Value::Int(i64::MIN),
    Value::Float(0.5),
    Value::Float(-1.5),
    Value::Float(1e10),
    Value::Float(9223372036854775808.0),
    Value::Float(3.389e38),
    Value::Float(3.4e38),
    Value::Float(3.402823e38),
    Value::Float(3.5e38),
    Value::Float(-1e39),
    Value::Float(1e300),
    Value::Float(1e-300),
    Value::Float(f64::INFINITY),
    Value::Float(f64::NEG_INFINITY),
    Value::Float(f64::NAN),
];

/// A zero beside the number, or `None` where the type does not hold it.
fn matrix(number: Value, dtype: DType) -> Option<DynMatrix> {
    let wide: DynMatrix = match number {
        Value::Int(x) => Matrix::from_fn(1, 2, |_, j| if j == 0 { 0 } else { x }).unwrap().into(),
        Value::Float(x) => Matrix::from_fn(1, 2, |_, j| if j == 0 { 0.0 } else { x }).unwrap().into(),
        _ => unreachable!("there are no others above"),
    };
    wide.as_ref().convert(dtype, Extremes::Refuse).ok()
}

/// The rule: floats round but stay finite, integers are exact.
fn is_held(number: Value, dtype: DType) -> bool {
    let (float, whole) = match number {
        Value::Float(x) => (x, (x.trunc() == x && x.abs() < 1e30).then_some(x as i128)),
        Value::Int(x) => (x as f64, Some(i128::from(x))),
        Value::Bool(x) => (f64::from(u8::from(x)), Some(x.into())),
        _ => unreachable!("there are no others"),
    };
    let within = |bits: u32| whole.is_some_and(|x| (-(1 << (bits - 1))..1 << (bits - 1)).contains(&x));
    // From half of a step above the largest on, a number rounds to infinity.
    let rounds_below = |exponent: i32, digits: i32| {
        !float.is_finite() || float.abs() < 2f64.powi(exponent) - 2f64.powi(exponent - digits - 1)
    };
    match dtype {
        DType::F16 => rounds_below(16, 11),
        DType::Bf16 => rounds_below(128, 8),
        // It has no infinity; what lies in the middle to the next number there would be rounds to the largest, whose last digit is 0.
        DType::E4m3 => float.is_nan() || float.abs() <= 464.0,
        DType::E5m2 => rounds_below(16, 3),
        DType::F32 => rounds_below(128, 24),
        DType::F64 => true,
        DType::I8 => within(8),
        DType::I16 => within(16),
        DType::I32 => within(32),
        DType::I64 => within(64),
        DType::U8 => whole.is_some_and(|x| (0..256).contains(&x)),
        // Every number but 0 is true.
        DType::Bool => !float.is_nan(),
        other => unreachable!("{other}"),
    }
}

/// The bytes of a file.
fn file(format: Format, m: &DynMatrix) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let kind = if format == Format::Npz { Format::Npy } else { format };
    if kind == Format::Npy && matches!(m.dtype(), DType::Bf16 | DType::E4m3 | DType::E5m2) {
        return None;
    }
    write_to(&Spec::new("memory", kind, None), &mut bytes, m.as_ref(), &WriteOptions::default()).unwrap();
    if format == Format::Npz {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file("m.npy", zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(&bytes).unwrap();
        bytes = archive.finish().unwrap().into_inner();
    }
    Some(bytes)
}

#[test]
fn what_a_type_does_not_hold_is_refused_and_named() {
    let mut refused = 0;
    for (&number, &from) in NUMBERS.iter().flat_map(|n| DType::ALL.iter().map(move |d| (n, d))) {
        let Some(m) = matrix(number, from) else { continue };
        // Rounded to the type of the file.
        let number = m.as_ref().get(0, 1).unwrap();
        for &format in Format::ALL {
            let Some(bytes) = file(format, &m) else { continue };
            let spec = Spec::new("memory", format, None);
            // Text holds the number that its digits say: the shortest that read back as the element.
            let number = match format {
                Format::Csv | Format::Mtx => {
                    read_bytes(&spec, &bytes, &ReadOptions::default()).unwrap().as_ref().get(0, 1).unwrap()
                }
                _ => number,
            };
            for &to in DType::ALL {
                let what = format!("{number} of {from} in {format} to {to}");
                let options = ReadOptions { dtype: Some(to), ..Default::default() };
                match read_bytes(&spec, &bytes, &options) {
                    Ok(read) => {
                        assert!(is_held(number, to), "{what}");
                        let read = read.as_ref().get(0, 1).unwrap();
                        let is_finite = |v| !matches!(v, Value::Float(x) if !x.is_finite());
                        assert!(to == DType::Bool || is_finite(read) == is_finite(number), "{what}: {read}");
                    }
                    Err(error) => {
                        refused += 1;
                        // From 2^53 on, the digits of a float in text may be those of another integer.
                        let is_text = matches!(format, Format::Csv | Format::Mtx);
                        let is_unsure = matches!(number, Value::Float(x) if x.abs() >= 2f64.powi(53));
                        assert!(!is_held(number, to) || is_text && is_unsure, "{what}: {error}");
                        assert_eq!(error.code(), "bad-file", "{what}");
                        let place = match format {
                            Format::Csv => "line 1, column 2",
                            Format::Mtx => "line 4",
                            _ => "element [0, 1]",
                        };
                        let text = error.to_string();
                        assert!(text.contains(place), "{what}: {text}");
                        assert!(text.contains(&format!("cannot be represented as {to}")), "{what}: {text}");
                        // What would help depends on the number; see `Error::hint`.
                        assert!(error.hint().is_some(), "{what}");
                    }
                }
            }
        }
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn a_file_that_is_mapped_obeys_the_same_rule() {
    let directory = tempfile::tempdir().unwrap();
    let wide = Matrix::from_fn(400, 400, |i, j| if (i, j) == (7, 9) { -1e39 } else { 1.0 }).unwrap();
    for name in ["a.npy", "a.safetensors"] {
        let spec = Spec::parse(directory.path().join(name)).unwrap();
        write(&spec, wide.as_ref().into(), &WriteOptions::default()).unwrap();
        let error = read(&spec, &ReadOptions { dtype: Some(DType::F32), ..Default::default() }).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("element [7, 9] = -1e39 cannot be represented as f32"), "{text}");
    }
}
