//! The element types of cuBLASLt's products.

use super::super::{CublasMath, sealed::Sealed};
use crate::ffi::cublaslt::{self as ffi, Compute, Type};
use tilewright_core::{Element, bf16, f16};

/// The element types that cuBLASLt is measured on: f16 and bf16 with sums in f32, f32 and f64.
pub trait LtElement: Element + Sealed {
    /// The type of sums and factors.
    #[doc(hidden)]
    type Factor;
    #[doc(hidden)]
    const ONE_AND_ZERO: [Self::Factor; 2];
    #[doc(hidden)]
    const TYPE: Type;
    #[doc(hidden)]
    const FACTOR_TYPE: Type;
    #[doc(hidden)]
    fn compute(math: CublasMath) -> Compute;
}

macro_rules! element {
    ($type:ty, $code:ident, $factor:ty, $factor_code:ident, $default:ident, $pedantic:ident) => {
        impl LtElement for $type {
            type Factor = $factor;
            const ONE_AND_ZERO: [$factor; 2] = [1.0, 0.0];
            const TYPE: Type = ffi::$code;
            const FACTOR_TYPE: Type = ffi::$factor_code;

            fn compute(math: CublasMath) -> Compute {
                match math {
                    CublasMath::Default => ffi::$default,
                    CublasMath::Pedantic => ffi::$pedantic,
                }
            }
        }
    };
}
element!(f16, REAL_16, f32, REAL_32, COMPUTE_32F, COMPUTE_32F_PEDANTIC);
element!(bf16, BRAIN_16, f32, REAL_32, COMPUTE_32F, COMPUTE_32F_PEDANTIC);
element!(f32, REAL_32, f32, REAL_32, COMPUTE_32F, COMPUTE_32F_PEDANTIC);
element!(f64, REAL_64, f64, REAL_64, COMPUTE_64F, COMPUTE_64F_PEDANTIC);
