//! Matrices whose element type is only known at run time: what files hold, devices compute and the command line multiplies.

mod owned;

pub use owned::{DynMatrix, Erase};

use crate::{
    dtype::{DType, Element},
    error::{Error, ErrorKind},
    for_each_dtype,
    layout::Layout,
    matrix::Matrix,
    value::{Extremes, Value},
    view::{MatMut, MatRef},
};
use core::{marker::PhantomData, ptr::NonNull};

/// Runs `$body` with `$t` naming the type that `$dtype` stands for.
macro_rules! with_dtype {
    ($dtype:expr, $t:ident => $body:expr) => {
        for_each_dtype!(with_dtype!(@ $dtype, $t, $body;))
    };
    (@ $dtype:expr, $t:ident, $body:expr; $($variant:ident $type:ty, $name:literal, $doc:literal;)*) => {
        match $dtype {
            $(DType::$variant => {
                type $t = $type;
                $body
            })*
        }
    };
}
pub(crate) use with_dtype;

/// A matrix that is read, with a run-time element type: a [`MatRef`] without its type.
///
/// ```
/// use tilewright_core::{DType, DynRef, Layout, MatRef, Value};
/// let a = DynRef::from(MatRef::new(&[1.0f32, 2.0, 3.0, 4.0], Layout::row_major(2, 2))?);
/// assert_eq!((a.dtype(), a.t().get(0, 1)), (DType::F32, Some(Value::Float(3.0))));
/// assert!(a.typed::<f32>().is_some() && a.typed::<i32>().is_none());
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DynRef<'a> {
    ptr: NonNull<u8>,
    dtype: DType,
    layout: Layout,
    life: PhantomData<&'a [u8]>,
}

/// A matrix that is written, with a run-time element type: a [`MatMut`] without its type.
#[derive(Debug)]
pub struct DynMut<'a> {
    ptr: NonNull<u8>,
    dtype: DType,
    layout: Layout,
    life: PhantomData<&'a mut [u8]>,
}

// SAFETY: all element types are plain data, and a DynRef gives shared access only.
unsafe impl Send for DynRef<'_> {}
// SAFETY: as above.
unsafe impl Sync for DynRef<'_> {}
// SAFETY: all element types are plain data, and a DynMut is the only way to its elements.
unsafe impl Send for DynMut<'_> {}
// SAFETY: as above; a shared DynMut only reads.
unsafe impl Sync for DynMut<'_> {}

/// Checks that `bytes` hold the elements of `layout`, the first of them at the beginning.
fn check_bytes(bytes: &[u8], dtype: DType, layout: Layout) -> Result<(), Error> {
    let size = dtype.size();
    layout.check_bounds(bytes.len() / size, 0)?;
    let why = if !bytes.as_ptr().addr().is_multiple_of(size) {
        format!("their address is no multiple of {size}")
    } else if dtype == DType::Bool && bytes.iter().any(|&byte| byte > 1) {
        "a boolean is a byte that is 0 or 1".into()
    } else {
        return Ok(());
    };
    let (what, hint) = (format!("a matrix of {dtype} in these bytes"), "copy the elements".into());
    Err(ErrorKind::Unsupported { what, why, hint }.into())
}

impl<'a> DynRef<'a> {
    /// The matrix whose element `(0, 0)` begins at `bytes[0]`, in this processor's byte order.
    ///
    /// # Errors
    /// As [`MatRef::new`]; `unsupported` for bytes at an address where such elements cannot be, and for a boolean that is neither
    /// 0 nor 1.
    pub fn new(bytes: &'a [u8], dtype: DType, layout: Layout) -> Result<Self, Error> {
        check_bytes(bytes, dtype, layout)?;
        // SAFETY: every element of the layout lies in these bytes, aligned, and is valid.
        Ok(unsafe { Self::from_raw_parts(NonNull::from(bytes).cast(), dtype, layout) })
    }

    /// # Safety
    /// As [`MatRef::from_raw_parts`], of elements of type `dtype`, each of them valid.
    pub const unsafe fn from_raw_parts(ptr: NonNull<u8>, dtype: DType, layout: Layout) -> Self {
        Self { ptr, dtype, layout, life: PhantomData }
    }

    /// Shape and strides.
    pub const fn layout(&self) -> Layout {
        self.layout
    }
    /// The element type.
    pub const fn dtype(&self) -> DType {
        self.dtype
    }
    /// Address of element `(0, 0)`; dangling when the matrix is empty.
    pub const fn as_ptr(&self) -> *const u8 {
        self.ptr.as_ptr()
    }
    /// The transpose, without moving an element.
    #[must_use]
    pub const fn t(self) -> Self {
        Self { layout: self.layout.t(), ..self }
    }

    /// The `rows x cols` part whose first element is `(row, col)`.
    ///
    /// # Errors
    /// `window-out-of-bounds` when it reaches outside.
    pub fn window(self, row: usize, col: usize, rows: usize, cols: usize) -> Result<Self, Error> {
        let (layout, offset) = self.layout.window(row, col, rows, cols)?;
        let bytes = offset * self.dtype.size() as isize;
        // SAFETY: the window's elements are elements of this matrix.
        Ok(Self { ptr: unsafe { self.ptr.offset(bytes) }, layout, ..self })
    }

    /// The typed view, or `None` when the elements are not `T`.
    pub fn typed<T: Element>(self) -> Option<MatRef<'a, T>> {
        // SAFETY: the constructors vouch for elements of this type.
        (T::DTYPE == self.dtype).then(|| unsafe { MatRef::from_raw_parts(self.ptr.cast(), self.layout) })
    }

    /// A row-major copy with elements of type `dtype`.
    ///
    /// Floats round to nearest, but a number beyond the range of the type is refused and does not become infinite;
    /// integers must fit, and a float becomes an integer only when it is whole. A boolean is `true` for every number but 0; NaN
    /// is refused. `extremes` says what happens to infinities on the way to integers, and what the extreme integers mean on the
    /// way from one type to another.
    ///
    /// # Errors
    /// `conversion` names the first element that cannot be represented; `out-of-memory`.
    pub fn convert(self, dtype: DType, extremes: Extremes) -> Result<DynMatrix, Error> {
        with_dtype!(dtype, To => {
            let mut bad = None;
            let source = self.values();
            let m = Matrix::from_fn(self.layout.rows, self.layout.cols, |i, j| {
                let value = source(i, j);
                To::from_value(extremes.meaning(self.dtype, value), extremes).unwrap_or_else(|| {
                    bad.get_or_insert((i, j, value));
                    To::DEFAULT
                })
            })?;
            match bad {
                None => Ok(m.into()),
                Some((row, col, v)) => {
                    // A large float as 1e39, not digit by digit.
                    let value = if let Value::Float(x) = v { format!("{x:?}") } else { v.to_string() };
                    Err(ErrorKind::Conversion { row, col, value, to: dtype }.into())
                }
            }
        })
    }

    /// A row-major copy.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn to_matrix(self) -> Result<DynMatrix, Error> {
        with_dtype!(self.dtype, T => {
            // SAFETY: the constructors vouch for elements of this type.
            let typed = unsafe { MatRef::<T>::from_raw_parts(self.ptr.cast(), self.layout) };
            Ok(Matrix::copy_of(typed)?.into())
        })
    }

    /// Element `(row, col)`, or `None` outside the matrix.
    pub fn get(&self, row: usize, col: usize) -> Option<Value> {
        (row < self.layout.rows && col < self.layout.cols).then(|| self.values()(row, col))
    }

    /// The bytes of element `(row, col)`, or `None` outside the matrix.
    pub fn bytes(&self, row: usize, col: usize) -> Option<&'a [u8]> {
        let size = self.dtype.size();
        let at = self.layout.offset(row, col).wrapping_mul(size as isize);
        // SAFETY: inside, the element is readable for as long as the view, and is bytes without padding.
        (row < self.layout.rows && col < self.layout.cols)
            .then(|| unsafe { core::slice::from_raw_parts(self.ptr.as_ptr().offset(at), size) })
    }

    fn values(self) -> impl Fn(usize, usize) -> Value + 'a {
        move |i, j| {
            assert!(i < self.layout.rows && j < self.layout.cols);
            with_dtype!(self.dtype, T => {
                // SAFETY: the indices are inside the layout, whose elements are of this type.
                unsafe { self.ptr.cast::<T>().as_ptr().offset(self.layout.offset(i, j)).read() }.to_value()
            })
        }
    }
}

impl<'a> DynMut<'a> {
    /// The matrix whose element `(0, 0)` begins at `bytes[0]`, in this processor's byte order.
    ///
    /// # Errors
    /// As [`DynRef::new`], and `aliased` when two indices address one element.
    pub fn new(bytes: &'a mut [u8], dtype: DType, layout: Layout) -> Result<Self, Error> {
        check_bytes(bytes, dtype, layout)?;
        layout.check_unaliased()?;
        // SAFETY: every element of the layout lies in these bytes, aligned, valid and apart from the others.
        Ok(unsafe { Self::from_raw_parts(NonNull::from(bytes).cast(), dtype, layout) })
    }

    /// # Safety
    /// As [`MatMut::from_raw_parts`], of elements of type `dtype`, each of them valid.
    pub const unsafe fn from_raw_parts(ptr: NonNull<u8>, dtype: DType, layout: Layout) -> Self {
        Self { ptr, dtype, layout, life: PhantomData }
    }

    /// Shape and strides.
    pub const fn layout(&self) -> Layout {
        self.layout
    }
    /// The element type.
    pub const fn dtype(&self) -> DType {
        self.dtype
    }
    /// Address of element `(0, 0)`; dangling when the matrix is empty.
    pub const fn as_mut_ptr(&mut self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// The same matrix, to be read.
    pub const fn as_ref(&self) -> DynRef<'_> {
        DynRef { ptr: self.ptr, dtype: self.dtype, layout: self.layout, life: PhantomData }
    }
    /// The same matrix for a shorter time, so that it can be handed on and used again.
    pub const fn reborrow(&mut self) -> DynMut<'_> {
        DynMut { ptr: self.ptr, dtype: self.dtype, layout: self.layout, life: PhantomData }
    }
    /// The transpose, without moving an element.
    #[must_use]
    pub const fn t(self) -> Self {
        Self { layout: self.layout.t(), ..self }
    }
    /// The `rows x cols` part whose first element is `(row, col)`.
    ///
    /// # Errors
    /// `window-out-of-bounds` when it reaches outside.
    pub fn window(self, row: usize, col: usize, rows: usize, cols: usize) -> Result<Self, Error> {
        let (layout, offset) = self.layout.window(row, col, rows, cols)?;
        let bytes = offset * self.dtype.size() as isize;
        // SAFETY: the window's elements are elements of this matrix, and `self` is consumed.
        Ok(Self { ptr: unsafe { self.ptr.offset(bytes) }, layout, ..self })
    }
    /// Sets element `(row, col)` to the one that has these bytes.
    ///
    /// # Safety
    /// They must be those of a valid element: 0 or 1 for a boolean.
    ///
    /// # Panics
    /// Outside the matrix, and for another number of bytes.
    pub unsafe fn set_bytes(&mut self, row: usize, col: usize, bytes: &[u8]) {
        let size = self.dtype.size();
        assert!(row < self.layout.rows && col < self.layout.cols && bytes.len() == size);
        let at = self.layout.offset(row, col).wrapping_mul(size as isize);
        // SAFETY: the element is inside the layout, and `self` is borrowed exclusively.
        unsafe { self.ptr.as_ptr().offset(at).copy_from_nonoverlapping(bytes.as_ptr(), size) };
    }
    /// Sets every element to that of `source` at the same place.
    ///
    /// # Errors
    /// `result-mismatch` for another shape, `dtype-mismatch` for other elements.
    pub fn copy_from(&mut self, source: DynRef<'_>) -> Result<(), Error> {
        let (Layout { rows, cols, .. }, Layout { rows: m, cols: n, .. }) = (self.layout, source.layout);
        if (rows, cols) != (m, n) {
            return Err(ErrorKind::ResultMismatch { what: "the target", rows, cols, m, n }.into());
        }
        with_dtype!(self.dtype, T => match (self.reborrow().typed::<T>(), source.typed::<T>()) {
            (Some(mut target), Some(source)) => {
                let is_by_rows = cols == 1 || target.layout().col_stride == 1;
                if let (true, Some(slices)) = (is_by_rows, source.row_slices()) {
                    for (i, row) in slices.enumerate() {
                        // SAFETY: the shapes are equal, and elements of a row of the target, which nobody else reads, follow each other.
                        unsafe {
                            let to = target.as_mut_ptr().offset(target.layout().offset(i, 0));
                            to.copy_from_nonoverlapping(row.as_ptr(), cols);
                        }
                    }
                    return Ok(());
                }
                // SAFETY: the shapes are equal.
                target.fill_with(|i, j| unsafe { source.get_unchecked(i, j) });
                Ok(())
            }
            _ => {
                let (what, expected, found) = ("the source", self.dtype, source.dtype);
                Err(ErrorKind::DTypeMismatch { what, expected, found }.into())
            }
        })
    }
    /// The typed view, or `None` when the elements are not `T`.
    pub fn typed<T: Element>(self) -> Option<MatMut<'a, T>> {
        // SAFETY: the constructors vouch for elements of this type.
        (T::DTYPE == self.dtype).then(|| unsafe { MatMut::from_raw_parts(self.ptr.cast(), self.layout) })
    }
}

impl<'a, T: Element> From<MatRef<'a, T>> for DynRef<'a> {
    fn from(m: MatRef<'a, T>) -> Self {
        // A view's pointer is never null.
        let ptr = NonNull::new(m.as_ptr().cast_mut()).map_or(NonNull::dangling(), NonNull::cast);
        Self { ptr, dtype: T::DTYPE, layout: m.layout(), life: PhantomData }
    }
}

impl<'a, T: Element> From<MatMut<'a, T>> for DynMut<'a> {
    fn from(mut m: MatMut<'a, T>) -> Self {
        // As above.
        let ptr = NonNull::new(m.as_mut_ptr()).map_or(NonNull::dangling(), NonNull::cast);
        Self { ptr, dtype: T::DTYPE, layout: m.layout(), life: PhantomData }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::f16;

    #[test]
    fn types_are_forgotten_and_found_again() {
        let mut data = [1i16, 2, 3, 4, 5, 6];
        let layout = Layout::strided(2, 2, 3, 1);
        let read = MatRef::new(&data, layout).unwrap();
        let erased = DynRef::from(read);
        assert_eq!((erased.typed::<i16>(), erased.typed::<f16>()), (Some(read), None));
        let mut erased = DynMut::from(MatMut::new(&mut data, layout).unwrap());
        assert!(erased.reborrow().typed::<i32>().is_none());
        erased.reborrow().typed::<i16>().unwrap().fill(7);
        assert_eq!(erased.as_ref().get(1, 1), Some(Value::Int(7)));
        assert_eq!(data, [7, 7, 3, 7, 7, 6]);
    }

    #[test]
    fn bytes_are_checked_as_elements_are() {
        let mut words = [0x0101_0101_u32; 4];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        let refused = |bytes: &[u8], dtype, layout| DynRef::new(bytes, dtype, layout).unwrap_err().code();
        let square = Layout::row_major(2, 2);
        assert_eq!(DynRef::new(bytes, DType::I32, square).unwrap().get(1, 1), Some(Value::Int(0x0101_0101)));
        assert_eq!(refused(bytes, DType::I64, square), "out-of-bounds");
        assert_eq!(refused(&bytes[1..], DType::I16, square), "unsupported");
        assert_eq!(refused(bytes, DType::I16, Layout::strided(2, 2, -1, 1)), "out-of-bounds");
        assert!(DynRef::new(bytes, DType::Bool, square).is_ok());
        bytes[3] = 2;
        assert_eq!(refused(bytes, DType::Bool, square), "unsupported");
        let broadcast = Layout::strided(2, 2, 0, 1);
        assert!(DynRef::new(bytes, DType::I8, broadcast).is_ok());
        assert_eq!(DynMut::new(bytes, DType::I8, broadcast).unwrap_err().code(), "aliased");
        DynMut::new(bytes, DType::I32, square).unwrap().typed::<i32>().unwrap().fill(-1);
        assert_eq!(words, [u32::MAX; 4]);
    }

    #[test]
    fn copies_need_equal_shapes_and_types() {
        let source: DynMatrix = Matrix::from_fn(2, 3, |i, j| (3 * i + j) as i8).unwrap().into();
        let mut data = [9i8; 8];
        let mut target = DynMut::from(MatMut::new(&mut data, Layout::strided(2, 3, 1, 3)).unwrap());
        target.copy_from(source.as_ref()).unwrap();
        assert_eq!(target.copy_from(source.as_ref().t()).unwrap_err().code(), "result-mismatch");
        let other = DynMatrix::zeros(DType::Bool, 2, 3).unwrap();
        assert_eq!(target.copy_from(other.as_ref()).unwrap_err().code(), "dtype-mismatch");
        assert_eq!(data, [0, 3, 9, 1, 4, 9, 2, 5]);
    }

    #[test]
    fn windows_are_parts_of_the_matrix() {
        let mut m: DynMatrix = Matrix::from_fn(4, 3, |i, j| (3 * i + j) as i16).unwrap().into();
        let lower = m.as_ref().window(2, 0, 2, 3).unwrap();
        assert_eq!((lower.get(0, 0), lower.get(1, 2)), (Some(Value::Int(6)), Some(Value::Int(11))));
        assert_eq!(lower.t().window(1, 1, 2, 1).unwrap().get(1, 0), Some(Value::Int(11)));
        assert_eq!(m.as_ref().window(3, 0, 2, 3).unwrap_err().code(), "window-out-of-bounds");
        m.as_mut().window(1, 1, 1, 2).unwrap().typed::<i16>().unwrap().fill(-1);
        assert_eq!(m.into_typed::<i16>().unwrap().as_slice(), [0, 1, 2, 3, -1, -1, 6, 7, 8, 9, 10, 11]);
    }

    #[test]
    fn owned_matrices_give_back_their_type() {
        let m = DynMatrix::zeros(DType::F32, 2, 3).unwrap();
        let m = m.into_typed::<i32>().unwrap_err();
        assert_eq!(m.into_typed::<f32>().unwrap().as_slice(), [0.0; 6]);
    }
}
