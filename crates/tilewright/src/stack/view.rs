//! Arrays of any number of dimensions in memory.

use super::loops::Loops;
use std::{borrow::Cow, marker::PhantomData, ptr::NonNull};
use tilewright_core::{DType, DynMut, DynRef, Element, Error, ErrorKind, Layout, MatMut, MatRef};

/// An array to read: a vector, a matrix, or a stack of matrices, whose last two dimensions are those of a matrix.
///
/// ```
/// use tilewright::StackRef;
/// // Three matrices of 1 x 2, the last one first, and each of them twice.
/// let stack = StackRef::new(&[1, 2, 3, 4, 5, 6], &[3, 2, 1, 2], &[-2, 0, 2, 1], 4)?;
/// assert_eq!(stack.shape(), [3, 2, 1, 2]);
/// assert_eq!(stack.t().shape(), [3, 2, 2, 1]);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StackRef<'a> {
    first: NonNull<u8>,
    dtype: DType,
    shape: Cow<'a, [usize]>,
    strides: Cow<'a, [isize]>,
    life: PhantomData<&'a [u8]>,
}

/// An array to write, no element of which has two indices.
#[derive(Debug)]
pub struct StackMut<'a> {
    first: NonNull<u8>,
    dtype: DType,
    shape: Cow<'a, [usize]>,
    strides: Cow<'a, [isize]>,
    life: PhantomData<&'a mut [u8]>,
}

// SAFETY: all element types are plain data, and a StackRef gives shared access only.
unsafe impl Send for StackRef<'_> {}
// SAFETY: as above.
unsafe impl Sync for StackRef<'_> {}
// SAFETY: all element types are plain data, and a StackMut is the only way to its elements.
unsafe impl Send for StackMut<'_> {}
// SAFETY: as above; a shared StackMut only reads.
unsafe impl Sync for StackMut<'_> {}

impl<'a> StackRef<'a> {
    /// The array whose element at index (i, j, ...) is `data[origin + i strides[0] + j strides[1] + ...]`.
    ///
    /// # Errors
    /// `unsupported` where there are not as many strides as dimensions, or where the array reaches outside of `data`.
    pub fn new<T: Element>(
        data: &'a [T],
        shape: &'a [usize],
        strides: &'a [isize],
        origin: usize,
    ) -> Result<Self, Error> {
        let first = first_of(NonNull::from(data).cast::<T>(), data.len(), shape, strides, origin)?;
        // SAFETY: every element lies in `data`.
        Ok(unsafe { Self::from_raw_parts(first.cast(), T::DTYPE, shape, strides) })
    }

    /// The array of this shape whose last dimension runs along the rows of a matrix, the others down its columns; or all of them down its only column.
    ///
    /// # Errors
    /// `unsupported` for a shape that has not as many elements as the matrix, or other rows.
    pub fn of_rows(rows: impl Into<DynRef<'a>>, shape: &'a [usize]) -> Result<Self, Error> {
        let rows = rows.into();
        let strides = strides_in(rows.layout(), shape)?;
        let first = NonNull::new(rows.as_ptr().cast_mut()).unwrap_or(NonNull::dangling());
        Ok(Self {
            first,
            dtype: rows.dtype(),
            shape: shape.into(),
            strides: strides.into(),
            life: PhantomData,
        })
    }

    /// The same of winning terms, which are 32-bit integers here: [`NO_ARG`](tilewright_core::NO_ARG) is -1.
    ///
    /// # Errors
    /// As [`StackRef::of_rows`].
    pub fn of_winners(rows: MatRef<'a, u32>, shape: &'a [usize]) -> Result<Self, Error> {
        let strides = strides_in(rows.layout(), shape)?;
        let first = NonNull::new(rows.as_ptr().cast_mut()).map_or(NonNull::dangling(), NonNull::cast);
        Ok(Self { first, dtype: DType::I32, shape: shape.into(), strides: strides.into(), life: PhantomData })
    }

    /// The array with these extents and strides, in elements, from its first element on.
    ///
    /// # Safety
    /// There is a stride for each extent. Every element that has an index is one of type `dtype`, and can be read as long as this lives.
    pub unsafe fn from_raw_parts(
        first: NonNull<u8>,
        dtype: DType,
        shape: &'a [usize],
        strides: &'a [isize],
    ) -> Self {
        Self { first, dtype, shape: shape.into(), strides: strides.into(), life: PhantomData }
    }

    /// The extents of its dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The same with every matrix transposed; a vector stays as it is.
    #[must_use]
    pub fn t(mut self) -> Self {
        if let Some(outer) = self.shape.len().checked_sub(2) {
            self.shape.to_mut().swap(outer, outer + 1);
            self.strides.to_mut().swap(outer, outer + 1);
        }
        self
    }

    /// The same repeated to this shape: counted from the last, each extent is that of the array, or the array has 1 or none there.
    ///
    /// # Errors
    /// `result-mismatch` where it cannot be.
    pub fn broadcast(self, shape: &[usize]) -> Result<Self, Error> {
        let missing = shape.len().checked_sub(self.shape.len());
        let fits = |missing: &usize| {
            self.shape.iter().zip(&shape[*missing..]).all(|(&own, &extent)| own == extent || own == 1)
        };
        let Some(missing) = missing.filter(fits) else {
            let (what, found, expected) = ("the array", self.shape.to_vec(), shape.to_vec());
            return Err(ErrorKind::ShapeMismatch { what, found, expected }.into());
        };
        let own = self.shape.iter().zip(&*self.strides);
        let own = own.map(|(&extent, &stride)| if extent == 1 { 0 } else { stride });
        let strides = std::iter::repeat_n(0, missing).chain(own).collect();
        Ok(Self { shape: shape.to_vec().into(), strides: Cow::Owned(strides), ..self })
    }

    pub(super) fn parts(&self) -> (&[usize], &[isize]) {
        (&self.shape, &self.strides)
    }

    /// The matrix with this layout, `offset` elements behind the first.
    ///
    /// # Safety
    /// Its elements are some of this array's.
    pub(super) unsafe fn matrix(&self, offset: isize, layout: Layout) -> DynRef<'a> {
        // SAFETY: the caller's promise.
        unsafe { DynRef::from_raw_parts(behind(self.first, offset, self.dtype), self.dtype, layout) }
    }
}

impl<'a> StackMut<'a> {
    /// As [`StackRef::new`], to write.
    ///
    /// # Errors
    /// As [`StackRef::new`]; `unsupported` where two indices may have one element.
    pub fn new<T: Element>(
        data: &'a mut [T],
        shape: &'a [usize],
        strides: &'a [isize],
        origin: usize,
    ) -> Result<Self, Error> {
        let first = first_of(NonNull::from(&mut *data).cast::<T>(), data.len(), shape, strides, origin)?;
        if !is_without_overlap(shape, strides) {
            let hint = "write to an array whose strides are not zero and do not overlap";
            return Err(refused(shape, strides, "two indices may have one element", hint));
        }
        // SAFETY: every element lies in `data`, and has one index.
        Ok(unsafe { Self::from_raw_parts(first.cast(), T::DTYPE, shape, strides) })
    }

    /// As [`StackRef::of_rows`], to write.
    ///
    /// # Errors
    /// As [`StackRef::of_rows`].
    pub fn of_rows(rows: impl Into<DynMut<'a>>, shape: &'a [usize]) -> Result<Self, Error> {
        let mut rows = rows.into();
        let strides = strides_in(rows.layout(), shape)?;
        let first = NonNull::new(rows.as_mut_ptr()).unwrap_or(NonNull::dangling());
        Ok(Self {
            first,
            dtype: rows.dtype(),
            shape: shape.into(),
            strides: strides.into(),
            life: PhantomData,
        })
    }

    /// The same of winning terms, which are 32-bit integers here: [`NO_ARG`](tilewright_core::NO_ARG) is -1.
    ///
    /// # Errors
    /// As [`StackRef::of_rows`].
    pub fn of_winners(mut rows: MatMut<'a, u32>, shape: &'a [usize]) -> Result<Self, Error> {
        let strides = strides_in(rows.layout(), shape)?;
        let first = NonNull::new(rows.as_mut_ptr()).map_or(NonNull::dangling(), NonNull::cast);
        Ok(Self { first, dtype: DType::I32, shape: shape.into(), strides: strides.into(), life: PhantomData })
    }

    /// The array with these extents and strides, in elements, from its first element on.
    ///
    /// # Safety
    /// As [`StackRef::from_raw_parts`]; no element has two indices, and nobody else reads or writes it as long as this lives.
    pub unsafe fn from_raw_parts(
        first: NonNull<u8>,
        dtype: DType,
        shape: &'a [usize],
        strides: &'a [isize],
    ) -> Self {
        Self { first, dtype, shape: shape.into(), strides: strides.into(), life: PhantomData }
    }

    /// The extents of its dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The same array, to be read.
    pub fn as_ref(&self) -> StackRef<'_> {
        let (shape, strides) = (Cow::Borrowed(&*self.shape), Cow::Borrowed(&*self.strides));
        StackRef { first: self.first, dtype: self.dtype, shape, strides, life: PhantomData }
    }

    /// Sets every element to that of `source` at the same place, which is [broadcast](StackRef::broadcast) to this shape.
    ///
    /// # Errors
    /// As [`StackRef::broadcast`]; `dtype-mismatch` for other elements.
    pub fn copy_from(&mut self, source: &StackRef<'_>) -> Result<(), Error> {
        let source = source.clone().broadcast(&self.shape)?;
        if self.shape.contains(&0) {
            // However many matrices there are, the types are compared of none of them.
            let none = Layout::row_major(0, 0);
            // SAFETY: it has no element.
            return unsafe { self.matrix(0, none).copy_from(source.matrix(0, none)) };
        }
        Loops::pair(&self.shape, [&self.strides, &source.strides]).each(false, |part| {
            // SAFETY: both arrays have this shape, and these strides.
            let (mut to, from) = unsafe {
                (self.matrix(part.offset(0), part.layout(0)), source.matrix(part.offset(1), part.layout(1)))
            };
            to.copy_from(from)
        })
    }

    pub(super) fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The matrix with this layout, `offset` elements behind the first.
    ///
    /// # Safety
    /// Its elements are some of this array's, and no other view of them is there.
    pub(super) unsafe fn matrix(&self, offset: isize, layout: Layout) -> DynMut<'_> {
        // SAFETY: the caller's promise.
        unsafe { DynMut::from_raw_parts(behind(self.first, offset, self.dtype), self.dtype, layout) }
    }
}

/// The address of an element; of the first where there is none.
fn behind(first: NonNull<u8>, offset: isize, dtype: DType) -> NonNull<u8> {
    NonNull::new(first.as_ptr().wrapping_offset(offset.wrapping_mul(dtype.size() as isize))).unwrap_or(first)
}

/// Whether no two indices can address one element. Some arrays of which that is true are not recognised: those whose dimensions interlock.
pub fn is_without_overlap(shape: &[usize], strides: &[isize]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut dimensions: Vec<(usize, usize)> = shape
        .iter()
        .zip(strides)
        .filter(|&(&extent, _)| extent > 1)
        .map(|(&extent, &stride)| (stride.unsigned_abs(), extent))
        .collect();
    dimensions.sort_unstable();
    let mut reach = 0usize;
    dimensions.into_iter().all(|(stride, extent)| {
        let is_beyond = stride > reach;
        reach = reach.saturating_add(stride.saturating_mul(extent - 1));
        is_beyond
    })
}

fn refused(shape: &[usize], strides: &[isize], why: &str, hint: &str) -> Error {
    let what = format!("an array of shape {shape:?} with strides {strides:?}");
    ErrorKind::Unsupported { what, why: why.into(), hint: hint.into() }.into()
}

/// Element number `origin` of `len`, where an array from there on reaches no other than these.
fn first_of<T>(
    data: NonNull<T>,
    len: usize,
    shape: &[usize],
    strides: &[isize],
    origin: usize,
) -> Result<NonNull<T>, Error> {
    if shape.len() != strides.len() {
        return Err(refused(shape, strides, "there is not a stride for each dimension", "give as many"));
    }
    if shape.contains(&0) {
        return Ok(data);
    }
    let (mut low, mut high) = (origin as i128, origin as i128);
    for (&extent, &stride) in shape.iter().zip(strides) {
        let reach = (extent as i128 - 1).saturating_mul(stride as i128);
        low = low.saturating_add(reach.min(0));
        high = high.saturating_add(reach.max(0));
    }
    if low < 0 || high >= len as i128 {
        let why = format!("from element {origin} on it reaches outside of {len}");
        return Err(refused(shape, strides, &why, "give fewer dimensions, or more data"));
    }
    // SAFETY: the element is one of them.
    Ok(unsafe { data.add(origin) })
}

/// The strides of an array of this shape in a matrix.
fn strides_in(rows: Layout, shape: &[usize]) -> Result<Vec<isize>, Error> {
    let (along, down) = match shape {
        [down @ .., last] if *last == rows.cols => (Some(rows.col_stride), down),
        _ => (None, shape),
    };
    let count = down.iter().try_fold(1usize, |all, &extent| all.checked_mul(extent));
    if count != Some(rows.rows) || along.is_none() && rows.cols != 1 {
        let what = format!("an array of shape {shape:?} in {} rows of {}", rows.rows, rows.cols);
        let (why, hint) = ("it has other rows", "give it as many elements, and rows as long");
        return Err(ErrorKind::Unsupported { what, why: why.into(), hint: hint.into() }.into());
    }
    let mut next = rows.row_stride;
    let mut strides: Vec<isize> = along.into_iter().collect();
    for &extent in down.iter().rev() {
        strides.push(next);
        next = next.wrapping_mul(extent as isize);
    }
    strides.reverse();
    Ok(strides)
}
