//! The vendor's products of matrices of floats, to measure against. Nothing else depends on it.
//!
//! [`Cublas`] is what most programs call: the library picks an algorithm by itself. [`CublasLt`] lets the caller pick, so that the best of those that its
//! heuristics name can be found by trying.

mod blas;
mod gemm;
mod lt;

pub use blas::Cublas;
use gemm::Gemm;
pub use lt::{CublasLt, LtElement, LtProduct};

use crate::device::{DeviceMatrix, DriverKind};
use crate::engine::Engine;
use crate::ffi::cublas::{Code, DEFAULT_MATH, Math, PEDANTIC_MATH, TF32_MATH};
use std::sync::Arc;
use tilewright_core::{DType, Element, Error, ErrorKind};

/// The arithmetic that is asked of the libraries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CublasMath {
    /// The fastest that is not of lower precision: TF32 and emulation only where [`CublasMath::VARIABLES`] ask for them.
    #[default]
    Default,
    /// As the default, but f32 may be rounded to tf32.
    Tf32,
    /// The prescribed precision in every step, whatever the environment says: no TF32, no emulation.
    Pedantic,
}

impl CublasMath {
    /// Environment variables that let the libraries compute in another way than they are asked to.
    pub const VARIABLES: [&str; 3] =
        ["NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION"];

    /// The name of the mode in the manual of cuBLAS.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "CUBLAS_DEFAULT_MATH",
            Self::Tf32 => "CUBLAS_TF32_TENSOR_OP_MATH",
            Self::Pedantic => "CUBLAS_PEDANTIC_MATH",
        }
    }

    /// The name in the manual of cuBLASLt, where the mode depends on the element type; none for types that are not measured.
    ///
    /// ```
    /// use tilewright_core::DType;
    /// use tilewright_cuda::CublasMath;
    /// assert_eq!(CublasMath::Default.compute_name(DType::F32), Some("CUBLAS_COMPUTE_32F"));
    /// assert_eq!(CublasMath::Default.compute_name(DType::I32), None);
    /// ```
    pub const fn compute_name(self, dtype: DType) -> Option<&'static str> {
        Some(match (self, dtype) {
            (Self::Tf32, DType::F32) => "CUBLAS_COMPUTE_32F_FAST_TF32",
            (Self::Default | Self::Tf32, DType::F16 | DType::Bf16 | DType::F32) => "CUBLAS_COMPUTE_32F",
            (Self::Pedantic, DType::F16 | DType::Bf16 | DType::F32) => "CUBLAS_COMPUTE_32F_PEDANTIC",
            (Self::Default | Self::Tf32, DType::F64) => "CUBLAS_COMPUTE_64F",
            (Self::Pedantic, DType::F64) => "CUBLAS_COMPUTE_64F_PEDANTIC",
            (Self::Default | Self::Tf32, DType::I8) => "CUBLAS_COMPUTE_32I",
            (Self::Pedantic, DType::I8) => "CUBLAS_COMPUTE_32I_PEDANTIC",
            _ => return None,
        })
    }

    /// Of those variables, which are set, with their values.
    pub fn overrides() -> Vec<(&'static str, String)> {
        let value = |name| Some((name, std::env::var_os(name)?.to_string_lossy().into_owned()));
        Self::VARIABLES.into_iter().filter_map(value).collect()
    }

    fn mode(self) -> Math {
        match self {
            Self::Default => DEFAULT_MATH,
            Self::Tf32 => TF32_MATH,
            Self::Pedantic => PEDANTIC_MATH,
        }
    }
}

/// Refuses an emulated device: the vendor's libraries talk to the vendor's driver, whatever driver an engine has.
fn needs_a_gpu(engine: &Engine, what: &'static str) -> Result<(), Error> {
    if engine.driver_kind() != DriverKind::Emulator {
        return Ok(());
    }
    let why = "it needs NVIDIA's driver, and this engine is on the emulator".into();
    Err(ErrorKind::Unavailable { what, why, hint: "open a GPU".into() }.into())
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for tilewright_core::f16 {}
    impl Sealed for tilewright_core::bf16 {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for i8 {}
}

/// The element types that cuBLAS is measured on: f32 and f64.
pub trait CublasElement: LtElement<Output = Self> {
    #[doc(hidden)]
    const ZERO: Self;
    #[doc(hidden)]
    const ONE: Self;
    /// The column-major product of the matrices at these addresses, A, B and C of the call.
    #[doc(hidden)]
    fn gemm(cublas: &Cublas, call: &Gemm, addresses: [u64; 3]) -> Code;
}

macro_rules! element {
    ($type:ty, $function:ident) => {
        impl CublasElement for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            fn gemm(cublas: &Cublas, call: &Gemm, [a, b, c]: [u64; 3]) -> Code {
                let Gemm { m, n, k, .. } = *call;
                // SAFETY: the matrices have these shapes on this device, and the scalars are read before the call returns.
                unsafe {
                    (cublas.functions().$function)(
                        cublas.handle(),
                        call.a.operation,
                        call.b.operation,
                        m,
                        n,
                        k,
                        &Self::ONE,
                        a,
                        call.a.pitch,
                        b,
                        call.b.pitch,
                        &Self::ZERO,
                        c,
                        call.c.pitch,
                    )
                }
            }
        }
    };
}
element!(f32, cublasSgemm_v2);
element!(f64, cublasDgemm_v2);

/// Whether the matrices belong to the engine.
fn of_engine<T: Element, U: Element>(
    engine: &Engine,
    [a, b]: [&DeviceMatrix<T>; 2],
    c: &DeviceMatrix<U>,
    by: &'static str,
) -> Result<(), Error> {
    match [a.stream(), b.stream(), c.stream()].iter().all(|stream| Arc::ptr_eq(stream, engine.stream())) {
        true => Ok(()),
        false => Err(unsupported(by, "a matrix belongs to another engine")),
    }
}

fn check(code: Code, doing: &str) -> Result<(), Error> {
    if code == 0 {
        return Ok(());
    }
    let name = STATUS.iter().find(|(known, _)| *known == code).map_or("an unknown status", |(_, name)| name);
    let (doing, text, hint) = (doing.into(), String::new(), String::new());
    Err(ErrorKind::Device { doing, name: name.into(), number: code, text, hint: hint.into() }.into())
}

const STATUS: [(Code, &str); 6] = [
    (1, "CUBLAS_STATUS_NOT_INITIALIZED"),
    (3, "CUBLAS_STATUS_ALLOC_FAILED"),
    (7, "CUBLAS_STATUS_INVALID_VALUE"),
    (8, "CUBLAS_STATUS_ARCH_MISMATCH"),
    (13, "CUBLAS_STATUS_EXECUTION_FAILED"),
    (15, "CUBLAS_STATUS_NOT_SUPPORTED"),
];

fn unsupported(by: &str, why: &str) -> Error {
    ErrorKind::Unsupported { what: format!("this product by {by}"), why: why.into(), hint: "".into() }.into()
}
