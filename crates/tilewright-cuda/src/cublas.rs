//! The vendor's products of f32 and f64 matrices, to measure against. Nothing else depends on it.

use crate::device::DeviceMatrix;
use crate::engine::Engine;
use crate::ffi::{self, MissingFunction, cublas::Operation};
use crate::locate::{self, Component, Environment, Kept, Location};
use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;
use tilewright_core::{Element, Error, ErrorKind, Layout, Problem};

/// The arithmetic that is asked of the library.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CublasMath {
    /// The fastest that is not of lower precision: TF32 and emulation only where [`CublasMath::VARIABLES`] ask for them.
    #[default]
    Default,
    /// The prescribed precision in every step, whatever the environment says: no TF32, no emulation.
    Pedantic,
}

impl CublasMath {
    /// Environment variables that let the library compute in another way than it is asked to.
    pub const VARIABLES: [&str; 3] =
        ["NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION"];

    /// The name in the library's manual.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "CUBLAS_DEFAULT_MATH",
            Self::Pedantic => "CUBLAS_PEDANTIC_MATH",
        }
    }

    /// Of those variables, which are set, with their values.
    pub fn overrides() -> Vec<(&'static str, String)> {
        let value = |name| Some((name, std::env::var_os(name)?.to_string_lossy().into_owned()));
        Self::VARIABLES.into_iter().filter_map(value).collect()
    }
}

/// cuBLAS, opened for an engine: it works in the engine's stream.
#[derive(Debug)]
pub struct Cublas {
    engine: Engine,
    library: &'static Library,
    handle: Handle,
}

struct Library {
    functions: ffi::cublas::Functions,
    location: Location,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.location.fmt(f)
    }
}

#[derive(Debug)]
struct Handle(ffi::cublas::Handle);

// SAFETY: a handle may be used from any thread, one at a time; `Cublas` is not `Sync`, since `Handle` is not.
unsafe impl Send for Handle {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The element types that are measured against: f32 and f64.
pub trait CublasElement: Element + sealed::Sealed {
    #[doc(hidden)]
    fn gemm(cublas: &Cublas, call: &Gemm) -> c_int;
}

/// The arguments of a column-major product.
#[doc(hidden)]
#[derive(Debug)]
pub struct Gemm {
    m: c_int,
    n: c_int,
    k: c_int,
    a: (Operation, u64, c_int),
    b: (Operation, u64, c_int),
    c: (u64, c_int),
}

macro_rules! gemm {
    ($type:ty, $function:ident) => {
        impl CublasElement for $type {
            fn gemm(cublas: &Cublas, call: &Gemm) -> c_int {
                let Gemm { m, n, k, a, b, c } = *call;
                let (alpha, beta): ($type, $type) = (1.0, 0.0);
                // SAFETY: the matrices have these shapes on this device, and the scalars are read before the call returns.
                unsafe {
                    (cublas.library.functions.$function)(
                        cublas.handle.0,
                        a.0,
                        b.0,
                        m,
                        n,
                        k,
                        &alpha,
                        a.1,
                        a.2,
                        b.1,
                        b.2,
                        &beta,
                        c.0,
                        c.1,
                    )
                }
            }
        }
    };
}
gemm!(f32, cublasSgemm_v2);
gemm!(f64, cublasDgemm_v2);

impl Cublas {
    /// Finds the library and opens it for `engine`, with this arithmetic.
    ///
    /// # Errors
    /// `unavailable` where it is not installed, `device` when it fails.
    pub fn open(engine: &Engine, math: CublasMath) -> Result<Self, Error> {
        let library = Self::library()?;
        // Its calls take the context that is current.
        let _entered = engine.stream().context.enter()?;
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer is valid for a write.
        check(unsafe { (library.functions.cublasCreate_v2)(&mut handle) }, "opening cuBLAS")?;
        let cublas = Self { engine: engine.clone(), library, handle: Handle(handle) };
        // SAFETY: handle and stream are alive, and `self` keeps the engine.
        let code = unsafe { (library.functions.cublasSetStream_v2)(handle, engine.stream().handle()) };
        check(code, "giving cuBLAS a stream")?;
        let mode = match math {
            CublasMath::Default => ffi::cublas::DEFAULT_MATH,
            CublasMath::Pedantic => ffi::cublas::PEDANTIC_MATH,
        };
        // SAFETY: the handle is alive.
        check(unsafe { (library.functions.cublasSetMathMode)(handle, mode) }, "setting cuBLAS's math mode")?;
        Ok(cublas)
    }

    /// Where the library is, without opening it for a device.
    ///
    /// # Errors
    /// `unavailable` where it is not installed.
    pub fn locate() -> Result<Location, Error> {
        Self::library().map(|library| library.location.clone())
    }

    fn library() -> Result<&'static Library, Error> {
        static FOUND: Kept<&'static Library> = Kept::new();
        FOUND.get(Environment::current(), Self::library_in)
    }

    fn library_in(environment: &Environment) -> Result<&'static Library, Error> {
        let loaded = locate::library(Component::Cublas, environment)?;
        // SAFETY: a library of this name is cuBLAS, and loaded libraries are never unloaded.
        let functions = unsafe { ffi::cublas::Functions::load(loaded.library) }
            .map_err(|MissingFunction(name)| locate::incomplete(Component::Cublas, &loaded.location, name))?;
        Ok(Box::leak(Box::new(Library { functions, location: loaded.location })))
    }

    /// The version, such as 130000 for 13.0.0.
    ///
    /// # Errors
    /// `device` when the library fails.
    pub fn version(&self) -> Result<u32, Error> {
        let mut version = 0;
        // SAFETY: the pointer is valid for a write.
        let code = unsafe { (self.library.functions.cublasGetVersion_v2)(self.handle.0, &mut version) };
        check(code, "asking cuBLAS for its version")?;
        Ok(version.unsigned_abs())
    }

    /// `C = A B`. Returns before the device has finished.
    ///
    /// # Errors
    /// `inner-mismatch` and `result-mismatch` for shapes; `unsupported` for matrices of another engine, with neither rows nor columns
    /// of neighbouring elements, or with more than 2^31 rows or columns; `device` when the library fails.
    pub fn product<T: CublasElement>(
        &self,
        a: &DeviceMatrix<T>,
        b: &DeviceMatrix<T>,
        c: &mut DeviceMatrix<T>,
    ) -> Result<(), Error> {
        let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
        if [a.stream(), b.stream(), c.stream()]
            .iter()
            .any(|stream| !Arc::ptr_eq(stream, self.engine.stream()))
        {
            return Err(unsupported("a matrix belongs to another engine"));
        }
        if problem.c().is_empty() {
            return Ok(());
        }
        let (address_a, address_b, address_c) = (a.address(), b.address(), c.address());
        // The library knows columns only. The transpose of C is the product of the transposes in the other order.
        let call = match column_major(problem.c()) {
            Some((ffi::cublas::AS_IS, pitch)) => {
                call(problem.a(), problem.b(), (address_a, address_b), (address_c, pitch))
            }
            Some((_, pitch)) => {
                call(problem.b().t(), problem.a().t(), (address_b, address_a), (address_c, pitch))
            }
            None => None,
        };
        let call = call.ok_or_else(|| {
            unsupported("it takes matrices with neighbouring elements in rows or in columns")
        })?;
        let _entered = self.engine.stream().context.enter()?;
        check(T::gemm(self, &call), "multiplying with cuBLAS")
    }
}

impl Drop for Cublas {
    fn drop(&mut self) {
        if let Ok(_entered) = self.engine.stream().context.enter() {
            // SAFETY: opened in `open`. A failure could not be handled.
            unsafe { (self.library.functions.cublasDestroy_v2)(self.handle.0) };
        }
    }
}

/// The column-major product of matrices with these layouts, into a column-major C.
fn call(a: Layout, b: Layout, (address_a, address_b): (u64, u64), c: (u64, c_int)) -> Option<Gemm> {
    let (operation_a, pitch_a) = column_major(a)?;
    let (operation_b, pitch_b) = column_major(b)?;
    let size = |value: usize| c_int::try_from(value).ok();
    Some(Gemm {
        m: size(a.rows)?,
        n: size(b.cols)?,
        k: size(a.cols)?,
        a: (operation_a, address_a, pitch_a),
        b: (operation_b, address_b, pitch_b),
        c,
    })
}

/// How a matrix looks to a library that knows columns only: as it is or transposed, and the distance between columns.
fn column_major(layout: Layout) -> Option<(Operation, c_int)> {
    let pitch = |along: usize, stride: isize, count: usize| {
        // With one column the stride says nothing; the library wants one that is long enough.
        let stride = if count <= 1 { along.max(1) } else { usize::try_from(stride).ok()? };
        c_int::try_from(stride).ok().filter(|_| stride >= along.max(1))
    };
    let Layout { rows, cols, row_stride, col_stride } = layout;
    let columns = (row_stride == 1 || rows <= 1).then(|| pitch(rows, col_stride, cols)).flatten();
    let lines = || (col_stride == 1 || cols <= 1).then(|| pitch(cols, row_stride, rows)).flatten();
    columns
        .map(|pitch| (ffi::cublas::AS_IS, pitch))
        .or_else(|| lines().map(|pitch| (ffi::cublas::TRANSPOSED, pitch)))
}

fn check(code: c_int, doing: &str) -> Result<(), Error> {
    if code == 0 {
        return Ok(());
    }
    let name = STATUS.iter().find(|(known, _)| *known == code).map_or("an unknown status", |(_, name)| name);
    let (doing, text, hint) = (doing.into(), String::new(), String::new());
    Err(ErrorKind::Device { doing, name: name.into(), number: code, text, hint }.into())
}

const STATUS: [(c_int, &str); 6] = [
    (1, "CUBLAS_STATUS_NOT_INITIALIZED"),
    (3, "CUBLAS_STATUS_ALLOC_FAILED"),
    (7, "CUBLAS_STATUS_INVALID_VALUE"),
    (8, "CUBLAS_STATUS_ARCH_MISMATCH"),
    (13, "CUBLAS_STATUS_EXECUTION_FAILED"),
    (15, "CUBLAS_STATUS_NOT_SUPPORTED"),
];

fn unsupported(why: &str) -> Error {
    ErrorKind::Unsupported { what: "this product by cuBLAS".into(), why: why.into(), hint: String::new() }
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ffi::cublas::{AS_IS, TRANSPOSED};

    #[test]
    fn layouts_as_the_library_sees_them() {
        assert_eq!(column_major(Layout::col_major(3, 4)), Some((AS_IS, 3)));
        assert_eq!(column_major(Layout::row_major(3, 4)), Some((TRANSPOSED, 4)));
        assert_eq!(column_major(Layout::strided(3, 4, 1, 10)), Some((AS_IS, 10)));
        assert_eq!(column_major(Layout::strided(3, 4, 10, 1)), Some((TRANSPOSED, 10)));
        assert_eq!(column_major(Layout::row_major(1, 4)), Some((AS_IS, 1)));
        assert_eq!(column_major(Layout::row_major(4, 1)), Some((AS_IS, 4)));
        for (row_stride, col_stride) in [(20, 2), (-4, 1), (0, 1), (1, 2), (2, 1)] {
            assert_eq!(
                column_major(Layout::strided(3, 4, row_stride, col_stride)),
                None,
                "{row_stride} {col_stride}"
            );
        }
    }
}
