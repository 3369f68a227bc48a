//! Work that is done elsewhere than on this processor.

use core::fmt;
use tilewright_core::{DType, DynMut, DynRef, Error, Matrix, SemiringId};
use tilewright_cpu::Options;

/// A GPU, or whatever else closes and multiplies matrices in place of this processor.
///
/// Elements come clean: no NaN, no negative zeros, nothing outside the semiring's domain, and a diagonal that is no worse than the semiring's one. Sums of integers stay in
/// the domain. Implementations take the steps of [`schedule`](crate::schedule), so that results have the same order of sums everywhere.
pub trait Device: Sync + fmt::Debug {
    /// Seconds that the closure of `n` vertices takes, or a product of that size, by an estimate; the way there and back included.
    fn seconds(&self, n: usize, dtype: DType) -> f64;

    /// Closes `d` in place, or tells the first vertex through which a cycle is better than the semiring's one; `d` is as it was then.
    ///
    /// # Errors
    /// `unsupported` for a semiring or type that the device does not compute; `cancelled`; whatever a device fails with.
    fn close(
        &self,
        semiring: SemiringId,
        d: DynMut<'_>,
        options: &Options<'_>,
    ) -> Result<Option<usize>, Error>;

    /// The stop before the last of the best path from row to column, [`NO_PREDECESSOR`](crate::NO_PREDECESSOR) where there is none; for each source
    /// whether it is not to be relied on, because paths are equally good or roundings hide which one is the best. `w` holds the weights of edges as they were
    /// given, `d` those of best paths. `None` where the device does not find them.
    ///
    /// # Errors
    /// `cancelled`; whatever a device fails with.
    fn last_stops(
        &self,
        semiring: SemiringId,
        w: DynRef<'_>,
        d: DynRef<'_>,
        stops: &mut Matrix<u32>,
        options: &Options<'_>,
    ) -> Result<Option<Vec<bool>>, Error>;

    /// Replaces `base` by its power, the product of `exponent` of it, by the steps of [`schedule::power`](crate::schedule::power). The exponent is not 0.
    ///
    /// # Errors
    /// As [`Device::close`].
    fn power(
        &self,
        semiring: SemiringId,
        base: DynMut<'_>,
        exponent: u32,
        options: &Options<'_>,
    ) -> Result<(), Error>;
}
