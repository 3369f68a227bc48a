//! The products of two stacks of matrices, without Python.

use crate::shape::{Shapes, Stack, merge, stack_rows};
use tilewright::{DType, DynMut, DynProduct, DynRef, Error, Joining, MatMut, Options, SemiringId, Value};

/// What is computed of two stacks, and where it goes.
pub struct Products {
    pub semiring: SemiringId,
    pub dtype: DType,
    pub output: DType,
    pub joining: Joining<Value>,
    pub batch: Vec<usize>,
    pub a: Stack,
    pub b: Stack,
    pub c: Stack,
    /// 32-bit integers: which term won, as unsigned.
    pub arg: Option<Stack>,
}

impl Products {
    /// Computes all of them.
    ///
    /// # Errors
    /// As a product's.
    ///
    /// # Safety
    /// The stacks describe memory that is there as long as this runs, and elements of their types. C and the winners have no element twice, and are nobody
    /// else's.
    pub unsafe fn run(mut self, shapes: &Shapes, options: &Options<'_>) -> Result<(), Error> {
        self.simplify();
        if shapes.is_empty() {
            // The shapes and types are checked all the same.
            let c = DynProduct::new(
                self.semiring,
                self.empty(shapes.m, shapes.k),
                self.empty(shapes.k, shapes.n),
            );
            return c?.update(self.joining, None).map(drop);
        }
        let (outer, inner) = match self.batch.split_last() {
            Some((&count, outer)) if self.arg.is_none() && self.is_apart() => (outer, Some(count)),
            _ => (&self.batch[..], None),
        };
        let mut index = vec![0; outer.len()];
        loop {
            match inner {
                // SAFETY: the caller's promise, for the matrices from this index on.
                Some(count) => unsafe { self.stack(&index, count, options) }?,
                // SAFETY: as above, for the matrices at this index.
                None => unsafe { self.one(&index, options) }?,
            }
            if !advance(&mut index, outer) {
                return Ok(());
            }
        }
    }

    /// Fewer dimensions, and one product where that is the same.
    fn simplify(&mut self) {
        match &mut self.arg {
            Some(arg) => merge(&mut self.batch, &mut [&mut self.a, &mut self.b, &mut self.c, arg]),
            None => {
                merge(&mut self.batch, &mut [&mut self.a, &mut self.b, &mut self.c]);
                stack_rows(&mut self.batch, &mut self.a, &mut self.b, &mut self.c);
            }
        }
    }

    /// Whether the matrices of C lie one after another in the last dimension of the stack.
    fn is_apart(&self) -> bool {
        let span = self.c.layout.span().ok().flatten();
        let apart = |(low, high): (isize, isize)| {
            self.c.strides.last().is_some_and(|stride| stride.unsigned_abs() > high.abs_diff(low))
        };
        span.is_some_and(apart)
    }

    fn empty(&self, rows: usize, cols: usize) -> DynRef<'static> {
        let layout = tilewright::Layout::strided(rows, cols, 0, 0);
        // SAFETY: nobody reads an element of an operand of which only shape and type are looked at.
        unsafe { DynRef::from_raw_parts(self.a.first, self.dtype, layout) }
    }

    /// The products of the last dimension of the stack.
    ///
    /// # Safety
    /// As [`Products::run`].
    unsafe fn stack(&self, index: &[usize], count: usize, options: &Options<'_>) -> Result<(), Error> {
        let stride = |stack: &Stack| stack.strides.last().copied().unwrap_or(0);
        let strides = [stride(&self.a), stride(&self.b), stride(&self.c)];
        // SAFETY: the caller's promise.
        let product = unsafe { self.product(index, options) }?;
        // SAFETY: the caller's promise, and `is_apart` has found the matrices of C one after another.
        unsafe { product.write_stack_to(self.target(index), count, strides) }.map(drop)
    }

    /// # Safety
    /// As [`Products::run`].
    unsafe fn one(&self, index: &[usize], options: &Options<'_>) -> Result<(), Error> {
        let arg = self.arg.as_ref().map(|arg| {
            // SAFETY: the caller's promise.
            unsafe { MatMut::from_raw_parts(arg.at(index, size_of::<u32>()).cast::<u32>(), arg.layout) }
        });
        // SAFETY: the caller's promise.
        let (product, c) = unsafe { (self.product(index, options)?, self.target(index)) };
        product.write_to(c, arg).map(drop)
    }

    /// The product of the matrices at an index.
    ///
    /// # Safety
    /// As [`Products::run`].
    unsafe fn product<'a>(&'a self, index: &[usize], options: &Options<'a>) -> Result<DynProduct<'a>, Error> {
        let view = |stack: &Stack| {
            // SAFETY: the caller's promise.
            unsafe { DynRef::from_raw_parts(stack.at(index, self.dtype.size()), self.dtype, stack.layout) }
        };
        let product = DynProduct::new(self.semiring, view(&self.a), view(&self.b))?;
        Ok(product.update(self.joining, None)?.options(*options))
    }

    /// C at an index.
    ///
    /// # Safety
    /// As [`Products::run`], and only one of them is there at a time.
    unsafe fn target(&self, index: &[usize]) -> DynMut<'_> {
        // SAFETY: the caller's promise.
        unsafe { DynMut::from_raw_parts(self.c.at(index, self.output.size()), self.output, self.c.layout) }
    }
}

/// The next index of a stack with these extents; false after the last.
fn advance(index: &mut [usize], extents: &[usize]) -> bool {
    for (i, &extent) in index.iter_mut().zip(extents).rev() {
        *i += 1;
        if *i < extent {
            return true;
        }
        *i = 0;
    }
    false
}
