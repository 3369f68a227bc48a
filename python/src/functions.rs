//! Semirings of functions that the caller has: `tilewright._functions` knows what they are, and calls those of NumPy.

use crate::{dtype::python_name, errors::refuse, matmul::value};
use pyo3::{intern, prelude::*, types::PyDict};
use tilewright::{
    Cancel, DType, DynMut, DynRef, Error, ErrorKind, Extremes, MatMut, MatRef, Value, expressions::Cell,
};

/// Two functions, and what they need to know.
pub struct Functions {
    /// A `tilewright._functions.Functions`.
    object: Py<PyAny>,
    /// Where they are compiled.
    compiled: Option<Compiled>,
}

/// Functions of C with two arguments and a result of one type, and the sum of no terms.
#[derive(Clone, Copy)]
pub struct Compiled {
    add: usize,
    mul: usize,
    zero: Value,
}

impl Functions {
    /// Of the keywords of a semiring.
    pub fn new(given: &Bound<'_, PyDict>, zero: Value) -> PyResult<Self> {
        let object = given.py().import("tilewright._functions")?.call_method1("of", (given,))?;
        let addresses: Option<(usize, usize)> = object.getattr("addresses")?.extract()?;
        let compiled = addresses.map(|(add, mul)| Compiled { add, mul, zero });
        Ok(Self { object: object.unbind(), compiled })
    }

    /// The Python object.
    pub fn object<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.object.bind(py)
    }

    /// What it is called in messages.
    pub fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.object(py).call_method0(intern!(py, "name"))?.extract()
    }

    /// The addresses, where they are compiled.
    pub fn compiled(&self) -> Option<Compiled> {
        self.compiled
    }

    /// Tries the laws of a semiring, once for each type, and looks whether the operands belong to it.
    pub fn check(&self, dtype: DType, a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = a.py();
        self.object(py).call_method1(intern!(py, "check"), (python_name(dtype), a, b)).map(drop)
    }

    /// The product by functions of NumPy.
    pub fn multiply(&self, [a, b, c]: [&Bound<'_, PyAny>; 3], joins: bool) -> PyResult<()> {
        let py = a.py();
        self.object(py).call_method1(intern!(py, "multiply"), (a, b, c, joins)).map(drop)
    }
}

impl Compiled {
    /// The product, in this thread alone: what the functions do beside computing is not known.
    ///
    /// # Errors
    /// `dtype-mismatch`; `cancelled`.
    ///
    /// # Safety
    /// The functions have two arguments and a result of A's type, and shapes go together.
    pub unsafe fn multiply(
        self,
        (a, b, c): (DynRef<'_>, DynRef<'_>, DynMut<'_>),
        joins: bool,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe {
            match a.dtype() {
                DType::F32 => self.typed::<f32>((a, b, c), joins, cancel),
                DType::F64 => self.typed::<f64>((a, b, c), joins, cancel),
                DType::I32 => self.typed::<i32>((a, b, c), joins, cancel),
                _ => self.typed::<i64>((a, b, c), joins, cancel),
            }
        }
    }

    /// # Safety
    /// As [`Compiled::multiply`].
    unsafe fn typed<T: Cell>(
        self,
        (a, b, c): (DynRef<'_>, DynRef<'_>, DynMut<'_>),
        joins: bool,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let (expected, found) = (T::DTYPE, b.dtype());
        let mismatch = || ErrorKind::DTypeMismatch { what: "B", expected, found };
        let a: MatRef<'_, T> = a.typed().ok_or_else(mismatch)?;
        let b: MatRef<'_, T> = b.typed().ok_or_else(mismatch)?;
        let mut c: MatMut<'_, T> = c.typed().ok_or_else(mismatch)?;
        // SAFETY: the caller's promise; an address of a function is as large as a pointer.
        let [add, mul] = unsafe {
            [self.add, self.mul].map(|f| std::mem::transmute::<usize, extern "C" fn(T, T) -> T>(f))
        };
        let zero = T::from_value(self.zero, Extremes::Absent).unwrap_or(T::ZERO);
        let mut sums = vec![zero; b.cols()];
        for i in 0..a.rows() {
            cancel.check()?;
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = c.get_mut(i, j).filter(|_| joins).map_or(zero, |old| *old);
            }
            for p in 0..a.cols() {
                let Some(x) = a.get(i, p) else { continue };
                for (j, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: p and j are inside B.
                    *sum = add(*sum, mul(x, unsafe { b.get_unchecked(p, j) }));
                }
            }
            for (j, &sum) in sums.iter().enumerate() {
                if let Some(element) = c.get_mut(i, j) {
                    *element = sum;
                }
            }
        }
        Ok(())
    }
}

/// The sum of no terms as a number, for functions.
pub fn zero(zero: &Bound<'_, PyAny>) -> PyResult<Value> {
    let what = "a zero that is no number, beside functions";
    value(zero).or_else(|_| refuse(zero.py(), "unsupported", what, "such as zero=numpy.inf"))
}
