//! Passing on what a closed diagonal block knows: three products, in place.

use crate::{
    blocks::Blocks,
    semiring::PathSemiring,
    sparse,
    thin::{Nearest, thin},
};
use core::ops::Range;
use tilewright_core::{Error, MatMut, MatRef, Matrix, Update};
use tilewright_cpu::{Isa, Options, multiply};

/// Bytes of a strip that are copied at a time at least: enough rows for products of full speed.
const LEAST_BYTES: usize = 8 << 20;
/// A copy takes at most this part of the whole matrix, where that is more.
const PART: usize = 16;
/// Bytes of a line of terms from which on it pays to look which of them are needed: a dense product has more of them in a vector
/// when they are narrow.
const LEAST_LINE: usize = 2048;
/// The most of a strip that may remain for a product by lists: there a term takes about twice as long as in a dense one.
const MOST: f64 = 0.4;

/// `D[p,r] = D[p,p] ⊗ D[p,r]`, `D[r,p] = D[r,p] ⊗ D[p,p]` and `D[r,r] = D[r,r] ⊕ D[r,p] ⊗ D[p,r]`, where `D[p,p]` is closed.
pub(crate) struct Pass<'o, S: PathSemiring> {
    /// Rows of `D`.
    pub n: usize,
    /// How much better a way must be to make another one superfluous; see [`Nearest`].
    pub margin: S::Weight,
    pub isa: Isa,
    pub options: &'o Options<'o>,
}

impl<S: PathSemiring> Pass<'_, S> {
    pub fn run(
        &self,
        d: &mut Blocks<'_, S::Weight>,
        pivot: &Range<usize>,
        others: &Range<usize>,
    ) -> Result<(), Error> {
        let at_a_time = rows_at_a_time(self.n, pivot.len(), size_of::<S::Weight>());
        let (from, to) = self.nearest(d.one((pivot, pivot)).as_ref())?;
        for cols in parts(others, at_a_time) {
            let (strip, [closed]) = d.split((pivot, &cols), [(pivot, pivot)]);
            self.extend(strip.t(), closed.t(), from.as_ref())?;
        }
        for rows in parts(others, at_a_time) {
            let (strip, [closed]) = d.split((&rows, pivot), [(pivot, pivot)]);
            let few = self.extend(strip, closed, to.as_ref())?;
            let (c, [a, b]) = d.split((&rows, others), [(&rows, pivot), (pivot, others)]);
            match few {
                Some(a) => sparse::accumulate::<S>(c, &a, b, self.isa, self.options)?,
                None => self.multiply(c, a, b, &Update::Accumulate)?,
            }
        }
        Ok(())
    }

    /// The nearest vertices from and to each vertex of a block, where it pays to know them.
    #[allow(clippy::type_complexity)]
    fn nearest(
        &self,
        closed: MatRef<'_, S::Weight>,
    ) -> Result<(Option<Nearest<S>>, Option<Nearest<S>>), Error> {
        if closed.rows() * size_of::<S::Weight>() < LEAST_LINE {
            return Ok((None, None));
        }
        let nearest = |closed| Nearest::new(closed, self.margin, self.isa, self.options);
        Ok((Some(nearest(closed.t())?), Some(nearest(closed)?)))
    }

    /// `strip = strip ⊗ closed`, and what is needed of the strip as it was, if that is little.
    fn extend(
        &self,
        strip: MatMut<'_, S::Weight>,
        closed: MatRef<'_, S::Weight>,
        nearest: Option<&Nearest<S>>,
    ) -> Result<Option<Vec<sparse::Lists<S::Weight>>>, Error> {
        let few = match nearest {
            Some(nearest) => thin(strip.as_ref().t(), nearest, MOST, self.isa, self.options)?,
            None => None,
        };
        // The diagonal of what is closed is ONE, so that the product contains the strip.
        match &few {
            Some(few) => sparse::accumulate::<S>(strip, few, closed, self.isa, self.options)?,
            None => {
                let copy = Matrix::copy_of(strip.as_ref())?;
                self.multiply(strip, copy.as_ref(), closed, &Update::Replace)?;
            }
        }
        Ok(few)
    }

    fn multiply(
        &self,
        c: MatMut<'_, S::Weight>,
        a: MatRef<'_, S::Weight>,
        b: MatRef<'_, S::Weight>,
        update: &Update<S>,
    ) -> Result<(), Error> {
        multiply::<S>(c, a, b, update, self.options).map(|_| ())
    }
}

/// Rows of a strip that are multiplied at a time, in a matrix of `n` rows whose strip has `k` columns of `size` bytes.
fn rows_at_a_time(n: usize, k: usize, size: usize) -> usize {
    let bytes = (n.saturating_mul(n) / PART).saturating_mul(size).max(LEAST_BYTES);
    (bytes / (k * size).max(1)).max(1)
}

/// Bytes beside a matrix of `n` rows while it is closed: a copy of a part of a strip, or what remains of it, and a panel for each thread.
pub(crate) fn bytes_beside(n: usize, size: usize) -> usize {
    let k = (n / 2).next_multiple_of(crate::schedule::BLOCK).min(n);
    rows_at_a_time(n, k, size).min(n - k) * k * size
}

fn parts(range: &Range<usize>, at_a_time: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.clone().step_by(at_a_time).map(move |start| start..(start + at_a_time).min(end))
}
