//! Whether an array is what it should be.

use super::{Array, Scalar};
use crate::case::unsupported;
use serde::Serialize;
use tilewright_core::Error;

/// How many differences are kept.
const MOST: usize = 8;

/// How far a number may be from the expected one: `|found - expected| <= tolerance * max(1, |expected|)`, so that it is absolute for small numbers
/// and relative for large ones. 0 asks for the same value; then integers of any size are compared exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Tolerance(f64);

impl Tolerance {
    /// `None` unless it is finite and not negative.
    ///
    /// ```
    /// use tilewright_explain::Tolerance;
    /// assert!(Tolerance::new(1e-5).is_some());
    /// assert!(Tolerance::new(f64::NAN).is_none());
    /// ```
    pub fn new(tolerance: f64) -> Option<Self> {
        (tolerance.is_finite() && tolerance >= 0.0).then_some(Self(tolerance))
    }

    /// How far two numbers are apart, as a part of what is allowed for tolerance 1; `None` where no tolerance is enough: one of them is NaN, or they are
    /// different infinities.
    fn error(found: Scalar, expected: Scalar) -> Option<f64> {
        if let (Scalar::Integer(found), Scalar::Integer(expected)) = (found, expected) {
            return Some(found.abs_diff(expected) as f64 / (expected.unsigned_abs() as f64).max(1.0));
        }
        let (found, expected) = (found.to_f64(), expected.to_f64());
        if found == expected || (found.is_nan() && expected.is_nan()) {
            return Some(0.0);
        }
        let error = (found - expected).abs() / expected.abs().max(1.0);
        error.is_finite().then_some(error)
    }
}

/// An array beside the expected one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The array.
    pub name: String,
    /// What was allowed.
    pub tolerance: Tolerance,
    /// Elements that were compared.
    pub elements: usize,
    /// Those that differ by more than the tolerance.
    pub different: usize,
    /// The largest `|found - expected| / max(1, |expected|)`; `None` where a NaN or an infinity stands on one side alone.
    pub largest_error: Option<f64>,
    /// The element that is farthest from what it should be; `None` where none differs.
    pub worst: Option<Difference>,
    /// The first that differ.
    pub first: Vec<Difference>,
}

/// An element that is not what it should be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Its indices; for a vector or a complex number, that of the component behind them.
    pub index: Vec<usize>,
    /// What the kernel wrote.
    pub found: serde_json::Value,
    /// What it should be.
    pub expected: serde_json::Value,
}

impl Comparison {
    /// Whether every element is as expected.
    pub fn is_same(&self) -> bool {
        self.different == 0
    }

    /// One line, such as `y differs in 3 of 1024 elements, most of all y[0][5] is 2, expected 1.25 (absolute error 7.500e-1); the first: y[0][4]
    /// is 1, expected 1.25`.
    pub fn describe(&self) -> String {
        let Self { name, elements, different, .. } = self;
        if self.is_same() {
            return format!("{name} is as expected, {elements} elements");
        }
        let first: Vec<String> = self.first.iter().map(|difference| difference.describe(name)).collect();
        let more = if self.different > self.first.len() { ", ..." } else { "" };
        let worst = self.describe_worst().map_or(String::new(), |worst| format!(", most of all {worst}"));
        format!(
            "{name} differs in {different} of {elements} elements{worst}; the first: {}{more}",
            first.join(", ")
        )
    }

    /// The element that is farthest from what it should be, such as `y[0][5] is 2, expected 1.25 (absolute error 7.500e-1)`.
    pub fn describe_worst(&self) -> Option<String> {
        let worst = self.worst.as_ref()?;
        // Relative to 1 at least: so it is absolute for small numbers.
        let kind = match worst.expected.as_f64() {
            Some(expected) if expected.abs() > 1.0 => "relative",
            _ => "absolute",
        };
        let far = self.largest_error.map_or(String::new(), |error| format!(" ({kind} error {error:.3e})"));
        Some(worst.describe(&self.name) + &far)
    }
}

impl Difference {
    /// `y[0][5] is 1, expected 1.25`.
    fn describe(&self, name: &str) -> String {
        let index: String = self.index.iter().map(|i| format!("[{i}]")).collect();
        format!("{name}{index} is {}, expected {}", plain(&self.found), plain(&self.expected))
    }
}

/// Without the quotes of a text.
fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Compares `found` with `expected`, element by element; types of numbers may differ, since values are compared. NaN is equal to NaN.
///
/// # Errors
/// `unsupported` for another number of elements, and for vectors of other lengths.
///
/// ```
/// use tilewright_explain::{Array, Tolerance, compare};
/// let array = |text| Array::parse("x", text).unwrap();
/// let same = compare(&array("f32[4]:0.5")?, &array("f64[2,2]:0.501")?, Tolerance::new(0.01).unwrap())?;
/// assert!(same.is_same());
/// let other = compare(&array("i32[2]:range")?, &array("i32[2]:0")?, Tolerance::default())?;
/// assert_eq!((other.different, other.first[0].index.as_slice()), (1, &[1][..]));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn compare(found: &Array, expected: &Array, tolerance: Tolerance) -> Result<Comparison, Error> {
    let (lanes, elements) = (found.element.lanes(), found.len());
    // Numbers of a vector may stand one by one in a file.
    if elements * lanes != expected.len() * expected.element.lanes() {
        let (what, hint) = (format!("the comparison of {}", found.name), "compare arrays of the same size");
        return Err(unsupported(
            what,
            format!("it is {}, and {} is expected", shape(found), shape(expected)),
            hint,
        ));
    }
    // Where the shapes are the same but for their form, indices are those that a person has chosen for the kernel's array.
    let mut comparison = Comparison {
        name: found.name.clone(),
        tolerance,
        elements,
        different: 0,
        largest_error: Some(0.0),
        worst: None,
        first: Vec::new(),
    };
    let (mut last, mut farthest) = (None, 0.0);
    for (place, (one, other)) in found.numbers().zip(expected.numbers()).enumerate() {
        let error = Tolerance::error(one, other);
        comparison.largest_error = comparison.largest_error.zip(error).map(|(most, error)| most.max(error));
        if error.is_some_and(|error| error <= tolerance.0) {
            continue;
        }
        let difference =
            || Difference { index: index_of(place, found), found: one.to_json(), expected: other.to_json() };
        let far = error.unwrap_or(f64::INFINITY);
        if comparison.worst.is_none() || far > farthest {
            (comparison.worst, farthest) = (Some(difference()), far);
        }
        // An element counts once, whatever differs of it.
        if last.replace(place / lanes) == Some(place / lanes) {
            continue;
        }
        comparison.different += 1;
        if comparison.first.len() < MOST {
            comparison.first.push(difference());
        }
    }
    Ok(comparison)
}

fn shape(array: &Array) -> String {
    let extents: Vec<String> = array.shape.iter().map(usize::to_string).collect();
    format!("{}[{}]", array.element, extents.join(","))
}

/// The indices of a number.
fn index_of(mut place: usize, array: &Array) -> Vec<usize> {
    let lanes = array.element.lanes();
    let component = (lanes > 1).then_some(place % lanes);
    place /= lanes;
    let mut index: Vec<usize> = component.into_iter().collect();
    for &extent in array.shape.iter().rev() {
        index.insert(0, place % extent);
        place /= extent;
    }
    index
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn array(text: &str) -> Array {
        Array::parse("x", text).unwrap().unwrap()
    }

    fn compared(found: &str, expected: &str, tolerance: f64) -> Comparison {
        compare(&array(found), &array(expected), Tolerance::new(tolerance).unwrap()).unwrap()
    }

    #[test]
    fn tolerance_is_absolute_below_one_and_relative_above() {
        assert!(compared("f32[2]:1000.5", "f32[2]:1000", 1e-3).is_same());
        assert!(!compared("f32[2]:1000.5", "f32[2]:1000", 1e-4).is_same());
        assert!(compared("f32[2]:0.0005", "f32[2]:0", 1e-3).is_same());
        assert!(!compared("f32[2]:0.0005", "f32[2]:0", 0.0).is_same());
        assert!(compared("i64[2]:9007199254740993", "f64[2]:9007199254740992", 0.0).is_same());
        assert!(!compared("i64[2]:9007199254740993", "i64[2]:9007199254740992", 0.0).is_same());
    }

    #[test]
    fn nan_and_infinities() {
        assert!(compared("f32[2]:nan", "f64[2]:nan", 0.0).is_same());
        assert!(compared("f32[2]:inf", "f64[2]:inf", 0.0).is_same());
        let comparison = compared("f32[2]:nan", "f32[2]:1", 1e30);
        assert_eq!((comparison.different, comparison.largest_error), (2, None));
        assert_eq!(comparison.first[0].found, serde_json::json!("NaN"));
        assert_eq!(comparison.describe_worst().unwrap(), "x[0] is NaN, expected 1.0");
        assert!(!compared("f32[2]:inf", "f32[2]:-inf", 1e30).is_same());
    }

    #[test]
    fn differences_have_their_place() {
        let comparison = compared("i32[3,4]:range", "i32[12]:0", 0.0);
        assert_eq!((comparison.different, comparison.first.len()), (11, MOST));
        assert_eq!(comparison.first[4].index, [1, 1]);
        assert!(comparison.describe().starts_with(
            "x differs in 11 of 12 elements, most of all x[2][3] is 11, expected 0 (absolute error 1.100e1); \
             the first: x[0][1] is 1, expected 0, x[0][2] is 2, expected 0"
        ));
        let comparison = compared("float2[2]:range", "f32[2,2]:2", 0.0);
        assert_eq!((comparison.elements, comparison.different), (2, 2));
        assert_eq!(comparison.first[1].index, [1, 1]);
    }

    #[test]
    fn the_worst_is_named_and_its_error_is_relative_where_numbers_are_large() {
        let comparison = compared("i32[4]:range", "f32[4]:2", 0.0);
        assert_eq!(comparison.describe_worst().unwrap(), "x[0] is 0, expected 2.0 (relative error 1.000e0)");
        assert_eq!(compared("i32[4]:range", "i32[4]:range", 0.0).describe_worst(), None);
    }

    #[test]
    fn sizes_must_agree() {
        let error =
            compare(&array("f32[4]"), &array("f32[5]"), Tolerance::default()).unwrap_err().to_string();
        assert!(error.contains("f32[4]") && error.contains("f32[5]"), "{error}");
        assert!(Tolerance::new(-1.0).is_none() && Tolerance::new(f64::INFINITY).is_none());
    }
}
