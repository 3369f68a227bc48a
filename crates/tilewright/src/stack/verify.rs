//! Comparing the products of two stacks with the definition.

use super::{
    Loops, StackProduct, StackRef,
    loops::{A, B, C},
    product::By,
};
use crate::{
    dynamic::{DynProduct, typed},
    expression_product::ExpressionProduct,
    verify::Verification,
};
use core::ptr::NonNull;
use tilewright_core::{DynRef, Error, MatRef};

impl StackProduct<'_> {
    /// Compares a result with the definition, product by product: see [`DynProduct::verify`] and [`ExpressionProduct::verify`]. `c0` is what C held where it was
    /// joined, and has the shape of the result, as `c` and `arg` have. Gives the first that is wrong, or else the worst, with the rows of all; `None` for no product.
    ///
    /// # Errors
    /// `result-mismatch` and `dtype-mismatch` for what cannot be a result; `unsupported` for functions.
    pub fn verify(
        &self,
        c: &StackRef<'_>,
        c0: Option<&StackRef<'_>>,
        arg: Option<&StackRef<'_>>,
    ) -> Result<Option<Verification>, Error> {
        let results: Vec<&StackRef<'_>> = [Some(c), c0, arg].into_iter().flatten().collect();
        results.iter().try_for_each(|result| self.check_shape("C", result.shape()))?;
        let strides: Vec<&[isize]> = results.iter().map(|result| result.parts().1).collect();
        let mut loops = Loops::beside(&self.shapes, [self.a.parts(), self.b.parts()], &strides).simplified();
        if self.shapes.is_empty() {
            // Of results without an element one is enough, however many there are.
            loops.batch.iter_mut().for_each(|extent| *extent = 1.min(*extent));
        }
        let (mut worst, mut rows): (Option<Verification>, usize) = (None, 0);
        loops.each(false, |part| {
            let view = |i: usize| self.matrix(results[i], &part, C + i);
            let (a, b) = (self.matrix(&self.a, &part, A), self.matrix(&self.b, &part, B));
            let old = c0.map(|_| view(1));
            let arg = arg.map(|_| winners(view(results.len() - 1))).transpose()?;
            let verdict = self.verify_one((a, b), view(0), old, arg)?;
            rows += verdict.rows_checked;
            let is_worse = |known: &Verification| {
                known.passed && (!verdict.passed || verdict.max_error > known.max_error)
            };
            if worst.as_ref().is_none_or(is_worse) {
                worst = Some(verdict);
            }
            Ok::<_, Error>(())
        })?;
        if self.shapes.is_empty() {
            rows = self.shapes.m.saturating_mul(self.shapes.count());
        }
        Ok(worst.map(|worst| Verification { rows_checked: rows, ..worst }))
    }

    fn verify_one(
        &self,
        (a, b): (DynRef<'_>, DynRef<'_>),
        c: DynRef<'_>,
        old: Option<DynRef<'_>>,
        arg: Option<MatRef<'_, u32>>,
    ) -> Result<Verification, Error> {
        match self.by {
            By::BuiltIn(id) => {
                let product = DynProduct::new(id, a, b)?.giving(self.output)?.update(self.joining, old)?;
                let product = product.epilogue(self.epilogue)?.scales(self.scales)?;
                product.options(self.options).verify(c, arg)
            }
            By::Text(text) => {
                let product = ExpressionProduct::new(text, a, b)?;
                let product = if self.joining.reads_c() { product.accumulate() } else { product };
                product.verify(c, old)
            }
            By::Function(_) => Err(self.refused("a comparison", "compare with the functions")),
        }
    }
}

/// Winning terms as the definition compares them.
fn winners(arg: DynRef<'_>) -> Result<MatRef<'_, u32>, Error> {
    let arg = typed::<i32>("the arg result", arg)?;
    let first = NonNull::new(arg.as_ptr().cast_mut()).map_or(NonNull::dangling(), NonNull::cast);
    // SAFETY: the same elements, and every 32 bits are a number.
    Ok(unsafe { MatRef::from_raw_parts(first, arg.layout()) })
}
