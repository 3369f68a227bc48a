//! The one error type, with codes that stay stable across releases.

use crate::{
    dtype::DType, epilogue::BIAS, hint::Hint, layout::Layout, semiring::NOT_NEGATIVE, value::Value,
    visible::visible,
};
use std::{fmt, path::PathBuf};

/// Everything that can go wrong, as one small value.
///
/// [`Error::code`] is stable and meant for programs; the text is meant for people. `Debug` is for people, too, as `main` prints an error by it: the text, and the
/// [hint](Error::hint) on a line of its own. [`Error::kind`] has the data.
#[derive(thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<ErrorKind>);

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        self.hint().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

impl Error {
    /// What happened, with its data.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// A stable identifier such as `shape-mismatch`.
    pub fn code(&self) -> &'static str {
        self.0.code()
    }

    /// True when a library, driver or device is missing rather than something being wrong.
    pub fn is_unavailable(&self) -> bool {
        matches!(*self.0, ErrorKind::Unavailable { .. })
    }

    /// What the user can do about it, where there is something to say; [`ErrorKind::hint`] has the settings that it names.
    pub fn hint(&self) -> Option<String> {
        self.0.hint().map(|hint| hint.to_string())
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // The fields are what the messages name.
pub enum ErrorKind {
    #[error("{what} is not available: {why}")]
    Unavailable { what: &'static str, why: String, hint: Hint },

    #[error("A is {m}x{k} but B is {bk}x{n}: the inner dimensions differ")]
    InnerMismatch { m: usize, k: usize, bk: usize, n: usize },

    #[error("{what} is {rows}x{cols} but the product is {m}x{n}")]
    ResultMismatch { what: &'static str, rows: usize, cols: usize, m: usize, n: usize },

    /// The shapes that the scales of an operand may have.
    #[error(
        "the scales of {what} are {}, but those of this product are {}",
        extents(found),
        either(expected)
    )]
    ScaleMismatch { what: &'static str, found: [usize; 2], expected: Vec<[usize; 2]> },

    #[error("batch counts differ: A has {a}, B has {b}, C has {c}")]
    BatchMismatch { a: usize, b: usize, c: usize },

    /// The shapes of two arrays, whose last two dimensions are those of a matrix.
    #[error("A ({}) and B ({}) are stacks that do not match", extents(a), extents(b))]
    StackMismatch { a: Vec<usize>, b: Vec<usize> },

    #[error("{what} is {} but the product is {}", extents(found), extents(expected))]
    ShapeMismatch { what: &'static str, found: Vec<usize>, expected: Vec<usize> },

    #[error("{what} has no dimension, and a product needs one at least")]
    NoDimension { what: &'static str },

    #[error("{what} has element type {found}, but {expected} is needed")]
    DTypeMismatch { what: &'static str, expected: DType, found: DType },

    #[error("{what} is not supported{}", reason(why))]
    Unsupported { what: String, why: String, hint: Hint },

    #[error("{}x{} matrix with strides ({}, {}): element offsets exceed the address space", layout.rows, layout.cols, layout.row_stride, layout.col_stride)]
    LayoutOverflow { layout: Layout },

    #[error("{}x{} matrix with strides ({}, {}) from element {origin} reaches outside its {len} elements", layout.rows, layout.cols, layout.row_stride, layout.col_stride)]
    OutOfBounds { layout: Layout, origin: usize, len: usize },

    #[error("{}x{} matrix with strides ({}, {}) cannot be written: two indices address one element", layout.rows, layout.cols, layout.row_stride, layout.col_stride)]
    Aliased { layout: Layout },

    #[error("window of {rows}x{cols} at ({row}, {col}) reaches outside the {}x{} matrix", layout.rows, layout.cols)]
    WindowOutOfBounds { layout: Layout, row: usize, col: usize, rows: usize, cols: usize },

    #[error("{what} is {rows}x{cols}, but a graph has as many rows as columns")]
    NotSquare { what: &'static str, rows: usize, cols: usize },

    /// The vertices of the cycle in order, each once, and its weight.
    #[error(
        "no best path: the negative cycle {} has weight {weight} under {semiring}, so going around it again is always better",
        turn(cycle)
    )]
    NegativeCycle { semiring: &'static str, cycle: Vec<usize>, weight: Value },

    #[error("row {row} has {found} elements, but row 0 has {expected}")]
    RaggedRows { row: usize, found: usize, expected: usize },

    #[error("{operand}[{row}, {col}] = {value} is outside what {semiring} accepts ({accepts})")]
    OutsideDomain {
        operand: &'static str,
        row: usize,
        col: usize,
        value: String,
        semiring: &'static str,
        accepts: &'static str,
    },

    #[error("element [{row}, {col}] = {value} cannot be represented as {to}")]
    Conversion { row: usize, col: usize, value: String, to: DType },

    /// With the place where an emulated kernel was.
    #[error("the product was cancelled{}", place.as_ref().map_or_else(String::new, |place| format!(": {place}")))]
    Cancelled { place: Option<String> },

    #[error("{bytes} bytes could not be allocated for {what}")]
    OutOfMemory { what: &'static str, bytes: u64 },

    #[error("{device}: {bytes} bytes for {what} do not fit, {free} of {total} are free")]
    DeviceMemory { device: String, what: &'static str, bytes: u64, free: u64, total: u64 },

    #[error("{doing}: {name} ({number}): {text}")]
    Device { doing: String, name: String, number: i32, text: String, hint: Hint },

    /// A kernel that broke a rule of the machine while it was emulated, whatever it computed.
    #[error("emulating {program}: {name} ({findings}): {first}")]
    KernelFault { program: String, name: String, findings: usize, first: String },

    #[error("{} does not compile for {target}\n{}", visible(what), log.trim())]
    Compilation { what: String, target: String, log: String, hint: Hint },

    #[error("{name}={} is not valid: {expected}", visible(value))]
    Environment { name: &'static str, value: String, expected: String },

    #[error("{}: {source}", visible(&path.to_string_lossy()))]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },

    #[error("{}: {problem}", visible(&path.to_string_lossy()))]
    BadFile { path: PathBuf, problem: String, hint: Option<Hint> },
}

fn reason(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}

/// `3 -> 5 -> 3`, cut short when it is long.
fn turn(cycle: &[usize]) -> String {
    const MOST: usize = 12;
    let mut text: String = cycle.iter().take(MOST).map(|vertex| format!("{vertex} -> ")).collect();
    if cycle.len() > MOST {
        text += &format!("{} more -> ", cycle.len() - MOST);
    }
    cycle.first().map_or(text.clone(), |first| text + &first.to_string())
}

impl ErrorKind {
    /// The stable identifier of this kind.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "unavailable",
            Self::InnerMismatch { .. } => "inner-mismatch",
            Self::ResultMismatch { .. } | Self::ShapeMismatch { .. } | Self::ScaleMismatch { .. } => {
                "result-mismatch"
            }
            Self::BatchMismatch { .. } | Self::StackMismatch { .. } => "batch-mismatch",
            Self::NoDimension { .. } => "dimensions",
            Self::DTypeMismatch { .. } => "dtype-mismatch",
            Self::Unsupported { .. } => "unsupported",
            Self::LayoutOverflow { .. } => "layout-overflow",
            Self::OutOfBounds { .. } => "out-of-bounds",
            Self::Aliased { .. } => "aliased",
            Self::WindowOutOfBounds { .. } => "window-out-of-bounds",
            Self::NotSquare { .. } => "not-square",
            Self::NegativeCycle { .. } => "negative-cycle",
            Self::RaggedRows { .. } => "ragged-rows",
            Self::OutsideDomain { .. } => "outside-domain",
            Self::Conversion { .. } => "conversion",
            Self::Cancelled { .. } => "cancelled",
            Self::OutOfMemory { .. } => "out-of-memory",
            Self::DeviceMemory { .. } => "device-memory",
            Self::Device { .. } => "device",
            Self::KernelFault { .. } => "kernel-fault",
            Self::Compilation { .. } => "compilation",
            Self::Environment { .. } => "environment",
            Self::Io { .. } => "io",
            Self::BadFile { .. } => "bad-file",
        }
    }

    /// What the user can do about it, for a front end to say in its own words.
    pub fn hint(&self) -> Option<Hint> {
        let hint: Hint = match self {
            Self::Unavailable { hint, .. }
            | Self::Unsupported { hint, .. }
            | Self::Device { hint, .. }
            | Self::Compilation { hint, .. } => hint.clone(),
            Self::DeviceMemory { .. } => {
                "free device memory, split the product, or compute on the processor".into()
            }
            Self::BadFile { hint, .. } => hint.clone()?,
            Self::InnerMismatch { m, k, bk, n } if m == bk || k == n => {
                "the columns of A must equal the rows of B; is a transposition missing?".into()
            }
            Self::InnerMismatch { .. } => "the columns of A must equal the rows of B".into(),
            Self::StackMismatch { .. } => {
                "dimensions in front of a matrix's must be equal, or 1 in one of the two".into()
            }
            Self::NoDimension { .. } => "multiply by numbers with alpha".into(),
            Self::ResultMismatch { what: BIAS, n, .. } => {
                format!("a bias is one row or one column, with an element for each of the {n} columns of C")
                    .into()
            }
            Self::ScaleMismatch { what: "A", .. } => {
                "a scale of A is for all of it, for a row, or for 128 terms of one row or of 128 rows".into()
            }
            Self::ScaleMismatch { .. } => {
                "a scale of B is for all of it, for a column, or for 128 terms of one column or of 128 columns".into()
            }
            Self::Aliased { .. } => "write to a matrix whose strides are not zero and do not overlap".into(),
            Self::OutsideDomain { accepts: NOT_NEGATIVE, semiring, .. } => {
                format!("{semiring} takes 0 and numbers above it: no element type changes that").into()
            }
            Self::OutsideDomain { .. } => {
                "use a wider or a floating-point element type, or scale the data first".into()
            }
            Self::Conversion { value, to, .. } => type_for(value, *to).into(),
            Self::KernelFault { .. } => "this is a fault of the kernel: please report it".into(),
            Self::NegativeCycle { .. } => {
                "correct a weight of the cycle, or bound the number of edges of a path".into()
            }
            Self::Environment { name, .. } => format!("set {name} to that, or unset it").into(),
            _ => return None,
        };
        (!hint.is_empty()).then_some(hint)
    }
}

/// `4x2x3`; `()` for a number.
pub fn extents(shape: &[usize]) -> String {
    match shape {
        [] => "()".into(),
        _ => shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x"),
    }
}

/// `1x1, 3x1 or 3x2`.
fn either(shapes: &[[usize; 2]]) -> String {
    let names: Vec<_> = shapes.iter().map(|shape| extents(shape)).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// Which element type holds what `to` does not.
fn type_for(value: &str, to: DType) -> String {
    let is_held = |dtype: &&DType| dtype.size() > to.size() && holds(**dtype, value);
    let integers = [DType::I16, DType::I32, DType::I64];
    match value.parse::<f64>() {
        Ok(x) if x.is_nan() && to == DType::Bool => "write 0 or 1".into(),
        Ok(x) if x.is_nan() || is_infinity(value) => {
            format!("integers have no {value}: choose a floating-point element type, such as f64")
        }
        Ok(x) if x.is_infinite() => {
            "no element type holds it: scale the data, or write inf where infinity is meant".into()
        }
        Ok(_) if to.is_float() => "choose a wider element type: f64 holds it".into(),
        Ok(x) if x.fract() != 0.0 => "choose a floating-point element type, such as f64".into(),
        _ => match integers.iter().find(is_held) {
            Some(wider) => format!("choose a wider element type: {wider} holds it"),
            None => "choose a floating-point element type: f64 rounds it".into(),
        },
    }
}

/// Whether the digits are those of an integer that fits.
fn holds(dtype: DType, digits: &str) -> bool {
    let bits = 8 * dtype.size() as u32;
    let whole = digits.parse::<f64>().map_or(0, |x| x as i128);
    let exact = digits.parse::<i128>().unwrap_or(whole);
    (-(1 << (bits - 1))..1 << (bits - 1)).contains(&exact)
}

/// An infinity that is written as one, not as a number that is too large.
fn is_infinity(value: &str) -> bool {
    !value.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_prints_what_people_read() {
        let error = Error::from(ErrorKind::InnerMismatch { m: 5, k: 4, bk: 5, n: 4 });
        assert!(
            format!("{error:?}").starts_with("A is 5x4 but B is 5x4: the inner dimensions differ"),
            "{error:?}"
        );
        let hint = error.hint().unwrap_or_default();
        assert!(hint.is_empty() || format!("{error:?}").ends_with(&format!("\nhint: {hint}")));
        let bad = ErrorKind::BadFile {
            path: "a.csv".into(),
            problem: "no rows".into(),
            hint: Some("add one".into()),
        };
        assert_eq!(format!("{:?}", Error::from(bad)), "a.csv: no rows\nhint: add one");
    }

    #[test]
    fn hints_name_a_type_that_helps() {
        let hint = |value: &str, to| {
            let kind = ErrorKind::Conversion { row: 0, col: 0, value: value.into(), to };
            Error::from(kind).hint().unwrap_or_default()
        };
        for (value, to, part) in [
            ("1e400", DType::F64, "no element type holds it"),
            ("1e400", DType::F32, "no element type holds it"),
            ("1e39", DType::F32, "f64 holds it"),
            ("0.5", DType::I32, "floating-point element type"),
            ("300", DType::I8, "i16 holds it"),
            ("-40000", DType::I16, "i32 holds it"),
            ("9223372036854775808", DType::I64, "f64 rounds it"),
            ("inf", DType::I32, "integers have no inf"),
            ("NaN", DType::I32, "integers have no NaN"),
            ("NaN", DType::Bool, "write 0 or 1"),
        ] {
            assert!(hint(value, to).contains(part), "{value} as {to}: {}", hint(value, to));
        }
    }

    #[test]
    fn findings_are_counted_in_a_field_of_their_own() {
        let (program, name, first) = ("simt".to_owned(), "race".to_owned(), "line 3".to_owned());
        let error = Error::from(ErrorKind::KernelFault { program, name, findings: 70_000, first });
        assert_eq!(error.code(), "kernel-fault");
        assert_eq!(error.to_string(), "emulating simt: race (70000): line 3");
        assert!(matches!(error.kind(), ErrorKind::KernelFault { findings: 70_000, .. }));
    }

    #[test]
    fn no_type_is_suggested_for_negative_numbers() {
        let outside = |accepts| ErrorKind::OutsideDomain {
            operand: "A",
            row: 0,
            col: 0,
            value: "-1".into(),
            semiring: "max-times",
            accepts,
        };
        assert!(!Error::from(outside(NOT_NEGATIVE)).hint().unwrap_or_default().contains("wider"));
        assert!(Error::from(outside("-5 to 5")).hint().unwrap_or_default().contains("wider"));
    }
}
