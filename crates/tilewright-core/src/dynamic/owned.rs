//! Owned matrices without a type.

use super::{DynMut, DynRef, with_dtype};
use crate::{
    dtype::{DType, Element},
    error::Error,
    for_each_dtype,
    layout::Layout,
    matrix::Matrix,
};

/// Between a typed matrix and one without a type; what makes [`Element`] a trait that only this crate implements.
pub trait Erase: Sized {
    /// Forgets the type.
    fn erase(matrix: Matrix<Self>) -> DynMatrix;
    /// The typed matrix, or the matrix itself when the elements are others.
    fn restore(matrix: DynMatrix) -> Result<Matrix<Self>, DynMatrix>;
}

macro_rules! dyn_matrix {
    ($($variant:ident $t:ty, $name:literal, $doc:literal;)*) => {
        /// An owned matrix with a run-time element type.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum DynMatrix { $(#[doc = concat!("Elements of type `", $name, "`.")] $variant(Matrix<$t>),)* }

        impl DynMatrix {
            /// A view to read.
            pub fn as_ref(&self) -> DynRef<'_> {
                match self { $(Self::$variant(m) => m.as_ref().into(),)* }
            }
            /// A view to write.
            pub fn as_mut(&mut self) -> DynMut<'_> {
                match self { $(Self::$variant(m) => m.as_mut().into(),)* }
            }
        }

        $(impl Erase for $t {
            fn erase(matrix: Matrix<Self>) -> DynMatrix {
                DynMatrix::$variant(matrix)
            }
            fn restore(matrix: DynMatrix) -> Result<Matrix<Self>, DynMatrix> {
                match matrix {
                    DynMatrix::$variant(matrix) => Ok(matrix),
                    other => Err(other),
                }
            }
        })*
    };
}
for_each_dtype!(dyn_matrix!());

impl<T: Element> From<Matrix<T>> for DynMatrix {
    fn from(matrix: Matrix<T>) -> Self {
        T::erase(matrix)
    }
}

impl DynMatrix {
    /// A row-major matrix of elements of type `dtype`, all zero bytes.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn zeros(dtype: DType, rows: usize, cols: usize) -> Result<Self, Error> {
        with_dtype!(dtype, T => Ok(Matrix::filled(rows, cols, T::DEFAULT)?.into()))
    }

    /// The typed matrix, or the matrix itself when the elements are not `T`.
    ///
    /// # Errors
    /// The matrix, unchanged.
    pub fn into_typed<T: Element>(self) -> Result<Matrix<T>, Self> {
        T::restore(self)
    }
    /// Shape and strides.
    pub fn layout(&self) -> Layout {
        self.as_ref().layout()
    }
    /// The element type.
    pub fn dtype(&self) -> DType {
        self.as_ref().dtype()
    }
}
