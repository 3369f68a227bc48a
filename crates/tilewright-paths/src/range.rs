//! Whether sums of integers stay where products compute exactly.

use crate::{scan::largest_of, semiring::PathSemiring};
use tilewright_core::{DType, Element, Error, ErrorKind, Extremes, MatRef, SemiringId, Value, domain};

/// What the weights of a graph ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Range {
    /// No sum leaves the domain of the semiring.
    Fits,
    /// Sums of 16 or 32 bits might; those of 64 bits do not.
    Wide,
}

/// Looks at all weights.
///
/// # Errors
/// `outside-domain` for a weight that the semiring does not contain, and for one so large that a path of `n - 1` such edges leaves 64 bits.
pub(crate) fn find<S: PathSemiring>(w: MatRef<'_, S::Weight>, threads: usize) -> Result<Range, Error> {
    if !sums_integers::<S>() {
        return domain::check_operand::<S>("W", w).map(|()| Range::Fits);
    }
    of_largest::<S>(largest_of::<S>(w, threads)?, w.rows()).ok_or_else(|| too_large::<S>(w))
}

/// As [`find`], of weights whose magnitudes are at most `largest`; `None` is too large.
pub(crate) fn of_largest<S: PathSemiring>(largest: f64, n: usize) -> Option<Range> {
    /// The domain of 64 bits.
    const MOST: f64 = (1_u64 << 59) as f64;
    let longest = largest * n.saturating_sub(1).max(1) as f64;
    let fits = S::Weight::from_value(Value::Float(longest), Extremes::Refuse).is_some_and(S::admits);
    match S::Weight::DTYPE {
        _ if fits => Some(Range::Fits),
        DType::I64 => None,
        _ => (longest < MOST).then_some(Range::Wide),
    }
}

/// Whether weights are integers that are added.
pub(crate) fn sums_integers<S: PathSemiring>() -> bool {
    let id = S::BUILT_IN.map(|built_in| built_in.id());
    matches!(id, Some(SemiringId::MinPlus | SemiringId::MaxPlus)) && !S::Weight::DTYPE.is_float()
}

/// Names the largest weight.
fn too_large<S: PathSemiring>(w: MatRef<'_, S::Weight>) -> Error {
    let magnitude =
        |weight: S::Weight| if S::is_absent(weight) { 0.0 } else { weight.to_value().to_f64().abs() };
    let (mut row, mut col) = (0, 0);
    for i in 0..w.rows() {
        for j in 0..w.cols() {
            if magnitude(w[(i, j)]) > magnitude(w[(row, col)]) {
                (row, col) = (i, j);
            }
        }
    }
    let value = w.get(row, col).map_or_else(String::new, |weight| weight.to_value().to_string());
    let accepts = "paths of n - 1 edges whose weights add up to less than 2^59";
    ErrorKind::OutsideDomain { operand: "W", row, col, value, semiring: S::NAME, accepts }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{MaxMin, MinPlus};

    #[test]
    fn long_paths_of_large_weights_need_more_bits() {
        let range = |largest, n| of_largest::<MinPlus<i32>>(largest, n);
        assert_eq!(range(1000.0, 1000), Some(Range::Fits));
        assert_eq!(range(1e9, 2), Some(Range::Wide));
        assert_eq!(range(1e6, 1000), Some(Range::Wide));
        assert_eq!(of_largest::<MinPlus<i16>>(4095.0, 2), Some(Range::Fits));
        assert_eq!(of_largest::<MinPlus<i16>>(4095.0, 3), Some(Range::Wide));
        assert_eq!(of_largest::<MinPlus<i64>>(1e16, 1000), None);
        assert!(!sums_integers::<MaxMin<i32>>() && !sums_integers::<MinPlus<f32>>());
    }
}
