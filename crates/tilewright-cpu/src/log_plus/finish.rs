//! From scaled sums to elements of C, as far as they can be trusted.

use super::{
    extremes::Extremes,
    real::{Loops, Real},
};

/// Sums that are finished side by side.
pub const SIDE: usize = 64;

/// What the sums of some columns of a row are scaled by.
pub struct Scales<'a, T> {
    /// The largest element of the row of A, and its span.
    pub row: (T, T),
    /// Those of the columns of B.
    pub best: &'a [T],
    pub span: &'a [T],
    /// The least sum that lost terms leave as it is.
    pub least: T,
}

impl<'a, T: Real> Scales<'a, T> {
    /// Of row `i` and columns `j .. j + count`, for sums of `k` terms.
    pub fn new(
        rows: &Extremes<T>,
        cols: &'a Extremes<T>,
        i: usize,
        j: usize,
        count: usize,
        k: usize,
    ) -> Self {
        let row = (rows.best[i], rows.span[i]);
        let (best, span) = (&cols.best[j..j + count], &cols.span[j..j + count]);
        Self { row, best, span, least: T::least_sum(k) }
    }
}

/// The results of up to [`SIDE`] sums; NaN where a sum cannot be trusted.
pub struct Results<'a, T> {
    pub scales: Scales<'a, T>,
    pub sums: &'a [T],
    pub to: &'a mut [T; SIDE],
}

impl<T: Real> Loops for Results<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { scales: Scales { row, best, span, least }, sums, to } = self;
        for (((to, &sum), &best), &span) in to.iter_mut().zip(sums).zip(best).zip(span) {
            // Nothing is lost where all factors are normal; no sum is then small, unless it is of absent terms alone.
            let is_whole = row.1.plus(span) <= T::SPAN;
            let result = T::scaled_log::<FUSED>(row.0, best, sum);
            let is_finite = result.magnitude() < T::TOP;
            let weighs = if sum >= least || is_whole { result } else { T::NAN };
            let finite = if is_finite { weighs } else { T::NAN };
            *to = if is_whole && sum == T::NIL { T::BOTTOM } else { finite.plus(T::NIL) };
        }
    }
}

/// Joins results with the elements of an old C.
pub struct Joined<'a, T> {
    pub results: &'a mut [T],
    pub old: &'a [T],
}

impl<T: Real> Loops for Joined<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for (result, &old) in self.results.iter_mut().zip(self.old) {
            *result = T::log_add_exp::<FUSED>(old, *result).plus(T::NIL);
        }
    }
}
