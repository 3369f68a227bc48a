//! Refuses elements that a semiring does not contain, by name.

use crate::{
    error::{Error, ErrorKind},
    semiring::Semiring,
    view::MatRef,
};

/// Checks every element of A and B.
///
/// # Errors
/// `outside-domain`, naming the first offending element.
pub fn check<S: Semiring>(a: MatRef<'_, S::Elem>, b: MatRef<'_, S::Elem>) -> Result<(), Error> {
    check_operand::<S>("A", a)?;
    check_operand::<S>("B", b)
}

/// Checks every element of one operand, called `operand` in the error.
///
/// # Errors
/// `outside-domain`, naming an offending element.
pub fn check_operand<S: Semiring>(operand: &'static str, x: MatRef<'_, S::Elem>) -> Result<(), Error> {
    let Some(accepts) = S::ACCEPTS else { return Ok(()) };
    let Some((row, col)) = find_outside::<S>(x) else { return Ok(()) };
    // SAFETY: `find_outside` returns indices of the matrix.
    let value = describe(unsafe { x.get_unchecked(row, col) });
    Err(ErrorKind::OutsideDomain { operand, row, col, value, semiring: S::NAME, accepts }.into())
}

/// An element that `S` does not admit.
pub fn find_outside<S: Semiring>(x: MatRef<'_, S::Elem>) -> Option<(usize, usize)> {
    let layout = x.layout();
    if layout.is_empty() {
        return None;
    }
    // Walk along the shorter stride; repeated (zero-stride) lines need one look.
    if layout.row_stride.unsigned_abs() < layout.col_stride.unsigned_abs() {
        return find_outside_rows::<S>(x.t()).map(|(j, i)| (i, j));
    }
    find_outside_rows::<S>(x)
}

fn find_outside_rows<S: Semiring>(x: MatRef<'_, S::Elem>) -> Option<(usize, usize)> {
    let rows = if x.layout().row_stride == 0 { 1 } else { x.rows() };
    let cols = if x.layout().col_stride == 0 { 1 } else { x.cols() };
    (0..rows).find_map(|i| {
        // SAFETY: the indices run inside the layout.
        let at = |j| unsafe { x.get_unchecked(i, j) };
        let admitted = if x.layout().col_stride == 1 {
            // SAFETY: a row with unit stride is a slice.
            let row =
                unsafe { core::slice::from_raw_parts(x.as_ptr().offset(x.layout().offset(i, 0)), cols) };
            // No early exit, so that the check vectorises.
            row.iter().fold(true, |ok, &e| ok & S::admits(e))
        } else {
            (0..cols).all(|j| S::admits(at(j)))
        };
        if admitted { None } else { (0..cols).find(|&j| !S::admits(at(j))).map(|j| (i, j)) }
    })
}

/// The value in words, for the built-in element types.
fn describe<T: Copy + 'static>(value: T) -> String {
    use core::any::Any;
    let value: &dyn Any = &value;
    macro_rules! try_types {
        ($($t:ty),*) => { $(if let Some(v) = value.downcast_ref::<$t>() { return v.to_string(); })* };
    }
    try_types!(f32, f64, half::f16, half::bf16, i8, i16, i32, i64, bool);
    String::from("an element")
}
