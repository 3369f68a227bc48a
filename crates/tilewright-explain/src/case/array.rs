//! Arrays in device memory, and how the command line names them.

use super::unsupported;
use crate::model::Buffer;
use tilewright_core::{DType, DynMatrix, DynRef, Error, Extremes, Matrix, Value};

/// A matrix in row-major order; a vector is a matrix of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The parameter that points to it.
    pub name: String,
    /// The type of the elements.
    pub dtype: DType,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// The elements, little-endian.
    pub bytes: Vec<u8>,
}

/// More elements than this are a mistake rather than a wish.
const MOST_BYTES: usize = 1 << 32;

/// What the elements of a new array are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fill {
    /// Reproducible: from 0 to 1 for floats, -100 to 100 for integers.
    Random,
    /// 0, 1, 2 ...
    Range,
    /// All the same.
    Number(f64),
}

impl Array {
    /// An array of zeros.
    pub fn zeros(name: &str, dtype: DType, rows: usize, columns: usize) -> Self {
        let bytes = vec![0; rows * columns * dtype.size()];
        Self { name: name.into(), dtype, rows, columns, bytes }
    }

    /// An array of random elements, the same every time: floats from 0 to 1, integers from -100 to 100.
    pub fn random(name: &str, dtype: DType, rows: usize, columns: usize) -> Self {
        Self::zeros(name, dtype, rows, columns).filled(Fill::Random)
    }

    /// A copy of a matrix, packed row after row.
    pub fn from_matrix(name: &str, matrix: DynRef<'_>) -> Self {
        let layout = matrix.layout();
        let mut array = Self::zeros(name, matrix.dtype(), layout.rows, layout.cols);
        for (index, element) in array.bytes.chunks_exact_mut(array.dtype.size()).enumerate() {
            if let Some(value) = matrix.get(index / layout.cols, index % layout.cols) {
                write(element, array.dtype, value);
            }
        }
        array
    }

    /// The array that a text such as `f32[256,256]:random` describes; `None` for a text of another form, a file's name for
    /// one.
    ///
    /// The part behind the colon is `random`, `range`, `zeros`, `ones` or a number; without it the elements are 0.
    ///
    /// ```
    /// use tilewright_explain::Array;
    /// let array = Array::parse("x", "i32[2,3]:range").unwrap()?;
    /// assert_eq!((array.rows, array.columns, array.bytes[4]), (2, 3, 1));
    /// assert!(Array::parse("x", "weights.npy").is_none());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// For a type, an extent or a filling that does not exist.
    pub fn parse(name: &str, text: &str) -> Option<Result<Self, Error>> {
        let (dtype, rest) = text.split_once('[')?;
        let (extents, fill) = rest.split_once(']')?;
        let is_word = |s: &str| s.chars().all(|c| c.is_ascii_alphanumeric());
        is_word(dtype).then(|| Self::from_parts(name, text, dtype, extents, fill))
    }

    fn from_parts(name: &str, text: &str, dtype: &str, extents: &str, fill: &str) -> Result<Self, Error> {
        let wrong = |why: String| {
            unsupported(
                format!("{name}={text}"),
                why,
                "an array is TYPE[ROWS,COLUMNS]:FILL, as in f32[256,256]:random",
            )
        };
        let dtype: DType = dtype.parse().map_err(|_| {
            let known = DType::ALL.iter().map(|d| d.name()).collect::<Vec<_>>().join(", ");
            wrong(format!("element types are {known}"))
        })?;
        let extents: Vec<usize> = extents
            .split(',')
            .map(|n| n.trim().parse().map_err(|_| wrong(format!("'{n}' is no extent"))))
            .collect::<Result<_, _>>()?;
        let (rows, columns) = match extents[..] {
            [n] => (1, n),
            [rows, columns] => (rows, columns),
            _ => return Err(wrong("an array has one or two extents".into())),
        };
        let bytes = rows.checked_mul(columns).and_then(|n| n.checked_mul(dtype.size()));
        if bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
            return Err(wrong("that is more than 4 GiB".into()));
        }
        let fill = match fill.strip_prefix(':') {
            None if fill.is_empty() => Fill::Number(0.0),
            Some("random") => Fill::Random,
            Some("range") => Fill::Range,
            Some("zeros") => Fill::Number(0.0),
            Some("ones") => Fill::Number(1.0),
            Some(number) => Fill::Number(number.parse().map_err(|_| {
                wrong(format!("'{number}' is no filling: random, range, zeros, ones or a number are"))
            })?),
            None => return Err(wrong(format!("'{fill}' is not expected here"))),
        };
        if let Fill::Number(number) = fill {
            let one: DynMatrix = Matrix::filled(1, 1, number)?.into();
            one.as_ref().convert(dtype, Extremes::Refuse).map_err(|e| wrong(e.to_string()))?;
        }
        Ok(Self::zeros(name, dtype, rows, columns).filled(fill))
    }

    fn filled(mut self, fill: Fill) -> Self {
        let (size, dtype) = (self.dtype.size(), self.dtype);
        // Another array has other numbers.
        let mut state = self
            .name
            .bytes()
            .fold(0x9e37_79b9_7f4a_7c15, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        for (index, element) in self.bytes.chunks_exact_mut(size).enumerate() {
            let value = match fill {
                Fill::Number(number) => Value::Float(number),
                Fill::Range => Value::Int(index as i64),
                Fill::Random if dtype.is_float() => {
                    Value::Float((random(&mut state) >> 40) as f64 / f64::from(1 << 24))
                }
                Fill::Random => Value::Int((random(&mut state) % 201) as i64 - 100),
            };
            write(element, dtype, value);
        }
        self
    }

    /// How pictures see it.
    pub(crate) fn buffer(&self) -> Buffer {
        Buffer {
            name: self.name.clone(),
            dtype: self.dtype.name().into(),
            element_bytes: self.dtype.size() as u32,
            rows: self.rows as u64,
            columns: self.columns as u64,
            row_stride: self.columns.max(1) as u64,
            column_stride: 1,
        }
    }
}

/// SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// An element of the type with this value, or the nearest.
fn write(element: &mut [u8], dtype: DType, value: Value) {
    let (float, integer) = match value {
        Value::Float(float) => (float, float as i64),
        Value::Int(integer) => (integer as f64, integer),
        Value::Bool(is_set) => (f64::from(u8::from(is_set)), i64::from(is_set)),
        // Kinds of numbers that there are not yet.
        _ => return,
    };
    match dtype {
        DType::F64 => element.copy_from_slice(&float.to_le_bytes()),
        DType::F32 => element.copy_from_slice(&(float as f32).to_le_bytes()),
        DType::F16 => element.copy_from_slice(&half::f16::from_f64(float).to_le_bytes()),
        DType::Bf16 => element.copy_from_slice(&half::bf16::from_f64(float).to_le_bytes()),
        DType::I64 => element.copy_from_slice(&integer.to_le_bytes()),
        DType::I32 => element.copy_from_slice(&(integer as i32).to_le_bytes()),
        DType::I16 => element.copy_from_slice(&(integer as i16).to_le_bytes()),
        DType::I8 => element.copy_from_slice(&(integer as i8).to_le_bytes()),
        DType::Bool => element.copy_from_slice(&[u8::from(float > 0.0)]),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn floats(array: &Array) -> Vec<f32> {
        array.bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    #[test]
    fn fillings() {
        let parse = |text| Array::parse("x", text).unwrap().unwrap();
        assert_eq!(floats(&parse("f32[3]")), [0.0; 3]);
        assert_eq!(floats(&parse("f32[3]:ones")), [1.0; 3]);
        assert_eq!(floats(&parse("f32[2, 2]:range")), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(floats(&parse("f32[2]:-1.5e3")), [-1500.0; 2]);
        let random = floats(&parse("f32[1000]:random"));
        assert!(random.iter().all(|x| (0.0..1.0).contains(x)));
        assert!((random.iter().sum::<f32>() / 1000.0 - 0.5).abs() < 0.05);
        assert_ne!(parse("f32[4]:random").bytes, Array::parse("y", "f32[4]:random").unwrap().unwrap().bytes);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, word) in [
            ("f33[4]", "element types are"),
            ("f32[4,4,4]", "one or two"),
            ("f32[four]", "'four'"),
            ("f32[4]:much", "'much'"),
            ("f32[4]:1e39", "1e39 cannot be represented as f32"),
            ("i8[4]:300", "300.0 cannot be represented as i8"),
            ("f32[4]random", "not expected"),
            ("f64[99999999,99999999]", "4 GiB"),
        ] {
            let error = Array::parse("x", text).unwrap().unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        assert!(Array::parse("x", "../data[1].npy").is_none());
        assert!(Array::parse("x", "a.csv").is_none());
    }
}
