//! What the fuzz targets share.

use tilewright_core::{DType, Extremes, Value};
use tilewright_files::{Format, ReadOptions, Spec, WriteOptions, read_bytes, write_to};

/// Reads `bytes` as `format`, and writes what was read, for a few choices of options. Nothing may panic, hang
/// or take memory out of proportion; what is written reads back as it was.
pub fn read_and_write(format: Format, bytes: &[u8]) {
    let spec = Spec::new("fuzz", format, None);
    for (dtype, extremes, fill) in [
        (None, Extremes::Refuse, Value::Int(0)),
        (None, Extremes::Absent, Value::Float(f64::INFINITY)),
        (Some(DType::F16), Extremes::Refuse, Value::Int(0)),
        (Some(DType::I16), Extremes::Absent, Value::Float(f64::INFINITY)),
        (Some(DType::Bool), Extremes::Refuse, Value::Bool(false)),
    ] {
        let options = ReadOptions { dtype, extremes, fill, max_bytes: 1 << 22, ..ReadOptions::default() };
        let Ok(matrix) = read_bytes(&spec, bytes, &options) else { continue };
        assert!(dtype.is_none_or(|dtype| dtype == matrix.dtype()));
        let mut written = Vec::new();
        if write_to(&spec, &mut written, matrix.as_ref(), &WriteOptions::default()).is_err() {
            // bf16 has no place in .npy, nor has an empty matrix in .csv.
            assert!(matrix.dtype() == DType::Bf16 || matrix.layout().is_empty());
            continue;
        }
        let options = ReadOptions { dtype: Some(matrix.dtype()), ..ReadOptions::default() };
        let again = read_bytes(&spec, &written, &options).expect("what was written can be read");
        let layout = again.layout();
        assert_eq!((layout.rows, layout.cols), (matrix.layout().rows, matrix.layout().cols));
        if layout.is_empty() {
            continue;
        }
        for i in 0..layout.rows {
            for j in 0..layout.cols {
                let (a, b) = (matrix.as_ref().get(i, j), again.as_ref().get(i, j));
                let nan = |v| matches!(v, Some(Value::Float(x)) if x.is_nan());
                assert!(a == b || nan(a) && nan(b));
            }
        }
    }
}
