//! The products of two stacks of matrices, without Python.

use crate::{
    functions::Compiled,
    shape::{Shapes, Stack, longest_last, merge, stack_rows},
    text::Text,
};
use std::sync::Arc;
use tilewright::{
    Cancel, DType, DynMut, DynProduct, DynRef, Epilogue, Error, ExpressionProduct, Joining, Layout, MatMut,
    Options, SemiringId, Value,
};

/// What a product of two matrices is computed by.
pub enum Kind {
    BuiltIn(SemiringId),
    Text(Arc<Text>),
    Compiled(Compiled),
}

/// What is computed of two stacks, and where it goes.
pub struct Products {
    pub kind: Kind,
    pub dtype: DType,
    pub output: DType,
    pub joining: Joining<Value>,
    /// With where the bias is, as a row of the type of C.
    pub epilogue: Epilogue<Stack>,
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
    /// else's. Compiled functions have two arguments and a result of A's type.
    pub unsafe fn run(self, shapes: &Shapes, options: &Options<'_>) -> Result<(), Error> {
        let products = self.simplified();
        if shapes.is_empty() {
            return products.check_types(shapes);
        }
        let stacked = match products.kind {
            Kind::BuiltIn(id) if products.arg.is_none() && products.is_apart() => Some(id),
            _ => None,
        };
        products.each(stacked.is_some(), |index, count| match (stacked, count) {
            // SAFETY: the caller's promise, for the matrices from this index on.
            (Some(semiring), Some(count)) => unsafe { products.stack(semiring, index, count, options) },
            // SAFETY: as above, for the matrices at this index.
            _ => unsafe { products.one(index, options) },
        })
    }

    /// Calls `f` with the index of each product; or, where they are `stacked`, with that of each stack in the last dimension, and how many there are in it.
    pub fn each<E>(
        &self,
        stacked: bool,
        mut f: impl FnMut(&[usize], Option<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (outer, count) = match self.batch.split_last() {
            Some((&count, outer)) if stacked => (outer, Some(count)),
            _ => (&self.batch[..], None),
        };
        let mut index = vec![0; outer.len()];
        loop {
            f(&index, count)?;
            if !advance(&mut index, outer) {
                return Ok(());
            }
        }
    }

    /// Fewer dimensions, and one product where that is the same.
    pub fn simplified(mut self) -> Self {
        match &mut self.arg {
            Some(arg) => {
                merge(&mut self.batch, &mut [&mut self.a, &mut self.b, &mut self.c, arg]);
                stack_rows(&mut self.batch, &mut self.b, &mut [&mut self.a, &mut self.c, arg], true);
            }
            None => {
                merge(&mut self.batch, &mut [&mut self.a, &mut self.b, &mut self.c]);
                stack_rows(&mut self.batch, &mut self.b, &mut [&mut self.a, &mut self.c], false);
            }
        }
        self
    }

    /// The same, with the longest dimension last that one launch on a GPU takes: in which winning terms, where they are wanted, follow each other without gaps.
    pub fn for_launches(self) -> Self {
        let mut products = self.simplified();
        let Self { batch, a, b, c, arg, .. } = &mut products;
        match arg {
            Some(arg) => {
                let next = (arg.layout.rows * arg.layout.cols) as isize;
                let follows: Vec<bool> = arg.strides.iter().map(|&stride| stride == next).collect();
                longest_last(batch, &mut [a, b, c, arg], |d| follows[d]);
            }
            None => longest_last(batch, &mut [a, b, c], |_| true),
        }
        products
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
        let layout = Layout::strided(rows, cols, 0, 0);
        // SAFETY: nobody reads an element of an operand of which only shape and type are looked at.
        unsafe { DynRef::from_raw_parts(self.a.first, self.dtype, layout) }
    }

    /// Where there is nothing to compute, the shapes and types are checked all the same.
    pub fn check_types(&self, shapes: &Shapes) -> Result<(), Error> {
        let (a, b) = (self.empty(shapes.m, shapes.k), self.empty(shapes.k, shapes.n));
        match &self.kind {
            &Kind::BuiltIn(id) => {
                let product = DynProduct::new(id, a, b)?.giving(self.output)?.update(self.joining, None)?;
                // SAFETY: nobody reads an element of it.
                product.epilogue(unsafe { self.epilogue() }).map(drop)
            }
            Kind::Text(text) => ExpressionProduct::new(text, a, b).map(drop),
            Kind::Compiled(_) => Ok(()),
        }
    }

    /// The products of the last dimension of the stack.
    ///
    /// # Safety
    /// As [`Products::run`].
    unsafe fn stack(
        &self,
        semiring: SemiringId,
        index: &[usize],
        count: usize,
        options: &Options<'_>,
    ) -> Result<(), Error> {
        let stride = |stack: &Stack| stack.strides.last().copied().unwrap_or(0);
        let strides = [stride(&self.a), stride(&self.b), stride(&self.c)];
        // SAFETY: the caller's promise.
        let product = unsafe { self.product(semiring, index, options) }?;
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
        let joins = self.joining.reads_c();
        // SAFETY: the caller's promise.
        let ((a, b), c) = unsafe { (self.operands(index), self.target(index)) };
        match &self.kind {
            // SAFETY: the caller's promise.
            &Kind::BuiltIn(id) => unsafe { self.product(id, index, options) }?.write_to(c, arg).map(drop),
            Kind::Text(text) => {
                let product = ExpressionProduct::new(text, a, b)?;
                let product = if joins { product.accumulate() } else { product };
                product.write_to(c, options).map(drop)
            }
            // SAFETY: the caller's promise.
            Kind::Compiled(functions) => unsafe {
                functions.multiply((a, b, c), joins, options.cancel.unwrap_or(&Cancel::new()))
            },
        }
    }

    /// The product of the matrices at an index.
    ///
    /// # Safety
    /// As [`Products::run`].
    unsafe fn product<'a>(
        &'a self,
        semiring: SemiringId,
        index: &[usize],
        options: &Options<'a>,
    ) -> Result<DynProduct<'a>, Error> {
        // SAFETY: the caller's promise.
        let (a, b) = unsafe { self.operands(index) };
        let product = DynProduct::new(semiring, a, b)?.giving(self.output)?.update(self.joining, None)?;
        // SAFETY: as above.
        Ok(product.epilogue(unsafe { self.epilogue() })?.options(*options))
    }

    /// What follows each product.
    ///
    /// # Safety
    /// The bias is read as long as [`Products::run`] runs, if at all.
    unsafe fn epilogue(&self) -> Epilogue<DynRef<'_>> {
        let Epilogue { bias, activation } = &self.epilogue;
        // SAFETY: the caller's promise.
        let row = |bias: &Stack| unsafe { DynRef::from_raw_parts(bias.first, self.output, bias.layout) };
        Epilogue { bias: bias.as_ref().map(row), activation: *activation }
    }

    /// A and B at an index.
    ///
    /// # Safety
    /// As [`Products::run`].
    unsafe fn operands(&self, index: &[usize]) -> (DynRef<'_>, DynRef<'_>) {
        let view = |stack: &Stack| {
            // SAFETY: the caller's promise.
            unsafe { DynRef::from_raw_parts(stack.at(index, self.dtype.size()), self.dtype, stack.layout) }
        };
        (view(&self.a), view(&self.b))
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
