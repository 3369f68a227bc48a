//! Products of equally shaped matrices at equal distances, whose types are known at run time.

use super::{DynProduct, Task, dispatch, run::typed};
use crate::{batch::BatchProduct, options::Report};
use core::ptr::NonNull;
use tilewright_core::{BatchMut, BatchRef, DynMut, Element, Error, ErrorKind, Semiring, Update};

impl DynProduct<'_> {
    /// Computes `count` products: of A, B and C as they are, and of those that follow at the distances `strides`, in elements. A distance of 0 repeats A or B.
    /// C is joined with what it holds.
    ///
    /// ```
    /// use tilewright::{DynProduct, DynRef, Layout, MatMut, MatRef, SemiringId};
    /// let (l, a, mut c) = (Layout::row_major(1, 1), [1, 2, 3], [0; 3]);
    /// let first = DynRef::from(MatRef::new(&a, l)?);
    /// let product = DynProduct::new(SemiringId::PlusTimes, first, first)?;
    /// // SAFETY: three matrices of one element each lie one after another.
    /// unsafe { product.write_stack_to(MatMut::new(&mut c, l)?.into(), 3, [1, 1, 1]) }?;
    /// assert_eq!(c, [1, 4, 9]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`DynProduct::write_to`].
    ///
    /// # Safety
    /// All `count` matrices of A and B can be read, and those of C written, as the first can. None of C touches another, nor any of A and B.
    pub unsafe fn write_stack_to(
        &self,
        c: DynMut<'_>,
        count: usize,
        strides: [isize; 3],
    ) -> Result<Report, Error> {
        dispatch(
            self.semiring,
            self.types_into(c.dtype())?,
            self.joining,
            RunStack { product: self, c, count, strides },
        )
    }
}

struct RunStack<'p, 'a> {
    product: &'p DynProduct<'a>,
    c: DynMut<'p>,
    count: usize,
    strides: [isize; 3],
}

impl Task for RunStack<'_, '_> {
    type Output = Report;
    fn run<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(
        mut self,
        update: &Update<S>,
    ) -> Result<Report, Error> {
        let (_, a, b) = self.product.operands();
        let (a, b) = (typed::<S::Elem>("A", a)?, typed::<S::Elem>("B", b)?);
        let [stride_a, stride_b, stride_c] = self.strides;
        if self.c.dtype() != S::Out::DTYPE {
            let (expected, found) = (S::Out::DTYPE, self.c.dtype());
            return Err(ErrorKind::DTypeMismatch { what: "C", expected, found }.into());
        }
        let (layout, first) = (self.c.layout(), self.c.as_mut_ptr().cast::<S::Out>());
        let first = NonNull::new(first).unwrap_or(NonNull::dangling());
        // SAFETY: the promise of the caller of `write_stack_to`; the type is that of the elements.
        let mut c = unsafe { BatchMut::from_raw_parts(first, layout, self.count, stride_c) };
        // SAFETY: as above.
        let (a, b) = unsafe {
            (BatchRef::from_first(a, self.count, stride_a), BatchRef::from_first(b, self.count, stride_b))
        };
        let product = BatchProduct::<S>::new(a, b)?.options(*self.product.choices());
        product.epilogue(self.product.epilogue)?.run(&mut c, update)
    }
}
