//! Integers in 64 bits, where sums may leave the range in which products of their own type are computed.

use crate::semiring::PathSemiring;
use tilewright_core::{DType, DynMatrix, Element, Error, ErrorKind, Extremes, MatRef, Matrix, SemiringId};

/// Whether it is max-plus; of the semirings that add integers, the other is min-plus.
pub(crate) fn is_max_plus<S: PathSemiring>() -> bool {
    S::BUILT_IN.is_some_and(|built_in| built_in.id() == SemiringId::MaxPlus)
}

/// A copy in 64 bits.
pub(crate) fn widen<S: PathSemiring>(w: MatRef<'_, S::Weight>) -> Result<Matrix<i64>, Error> {
    let built_in = S::BUILT_IN.ok_or_else(unsupported::<S>)?;
    built_in.operand(w).convert(DType::I64, Extremes::Absent)?.into_typed().map_err(|_| unsupported::<S>())
}

/// A copy in the type itself.
///
/// # Errors
/// `conversion` for a weight that it cannot hold.
pub(crate) fn narrow<S: PathSemiring>(wide: Matrix<i64>) -> Result<Matrix<S::Weight>, Error> {
    let narrow = DynMatrix::from(wide).as_ref().convert(S::Weight::DTYPE, Extremes::Absent)?;
    narrow.into_typed().map_err(|_| unsupported::<S>())
}

/// For a semiring that is not built in, where one is needed.
pub(crate) fn unsupported<S: PathSemiring>() -> Error {
    let (what, why, hint) = (format!("{} on {}", S::NAME, S::Weight::DTYPE), String::new(), String::new());
    ErrorKind::Unsupported { what, why, hint: hint.into() }.into()
}
