//! Refuses elements that a semiring does not contain, by name.

use crate::{
    error::{Error, ErrorKind},
    for_each_dtype,
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
    if S::ACCEPTS.is_none() {
        return Ok(());
    }
    refuse::<S>(operand, x, find_outside::<S>(x))
}

/// The error that names an element found by [`find_outside`], if one was found.
///
/// # Errors
/// `outside-domain`.
pub fn refuse<S: Semiring>(
    operand: &'static str,
    x: MatRef<'_, S::Elem>,
    found: Option<(usize, usize)>,
) -> Result<(), Error> {
    let Some((row, col)) = found else { return Ok(()) };
    let value = x.get(row, col).map(describe).unwrap_or_default();
    let accepts = S::ACCEPTS.unwrap_or("nothing that says so");
    Err(ErrorKind::OutsideDomain { operand, row, col, value, semiring: S::NAME, accepts }.into())
}

/// The indices of an element that `S` does not admit.
///
/// Always inlined, and free of closures, so that a caller's instruction set applies to the scan.
#[inline(always)]
pub fn find_outside<S: Semiring>(x: MatRef<'_, S::Elem>) -> Option<(usize, usize)> {
    let layout = x.layout();
    if layout.is_empty() {
        return None;
    }
    // Walk along the shorter stride.
    if layout.row_stride.unsigned_abs() < layout.col_stride.unsigned_abs() {
        let found = find_outside_rows::<S>(x.t());
        return found.map(|(j, i)| (i, j));
    }
    find_outside_rows::<S>(x)
}

#[inline(always)]
fn find_outside_rows<S: Semiring>(x: MatRef<'_, S::Elem>) -> Option<(usize, usize)> {
    let layout = x.layout();
    // Repeated (zero-stride) lines need one look.
    let rows = if layout.row_stride == 0 { 1 } else { layout.rows };
    let cols = if layout.col_stride == 0 { 1 } else { layout.cols };
    for i in 0..rows {
        let mut admitted = true;
        // No early exit within a row, so that the scan vectorises.
        if layout.col_stride == 1 {
            // SAFETY: a row with unit stride is a slice.
            let row = unsafe { core::slice::from_raw_parts(x.as_ptr().offset(layout.offset(i, 0)), cols) };
            for &element in row {
                admitted &= S::admits(element);
            }
        } else {
            for j in 0..cols {
                // SAFETY: the indices run inside the layout.
                admitted &= S::admits(unsafe { x.get_unchecked(i, j) });
            }
        }
        if !admitted {
            // SAFETY: as above.
            return (0..cols).find(|&j| !S::admits(unsafe { x.get_unchecked(i, j) })).map(|j| (i, j));
        }
    }
    None
}

/// The value in words, for the built-in element types.
pub(crate) fn describe<T: Copy + 'static>(value: T) -> String {
    use core::any::Any;
    let value: &dyn Any = &value;
    macro_rules! try_types {
        ($($dtype:ident $t:ty, $name:literal, $doc:literal;)*) => {
            $(if let Some(v) = value.downcast_ref::<$t>() { return v.to_string(); })*
        };
    }
    for_each_dtype!(try_types!());
    String::from("an element")
}
