//! The element types of cuBLASLt's products.

use super::super::{CublasMath, sealed::Sealed};
use crate::ffi::cublaslt::{self as ffi, Compute, Type};
use tilewright_core::{Element, bf16, f16};

/// The element types that cuBLASLt is measured on: f16 and bf16 with sums in f32, f32 and f64, and i8 with sums in i32.
pub trait LtElement: Element + Sealed {
    /// The type of C.
    type Output: Element;
    /// The type of sums and factors.
    #[doc(hidden)]
    type Factor;
    #[doc(hidden)]
    const ONE_AND_ZERO: [Self::Factor; 2];
    #[doc(hidden)]
    const TYPE: Type;
    #[doc(hidden)]
    const OUTPUT_TYPE: Type;
    #[doc(hidden)]
    const FACTOR_TYPE: Type;
    #[doc(hidden)]
    fn compute(math: CublasMath) -> Compute;
}

macro_rules! element {
    ($type:ty, $code:ident, $output:ty, $output_code:ident, $factor:ty, $factor_code:ident, $default:ident, $tf32:ident, $pedantic:ident) => {
        impl LtElement for $type {
            type Output = $output;
            type Factor = $factor;
            const ONE_AND_ZERO: [$factor; 2] = [1 as $factor, 0 as $factor];
            const TYPE: Type = ffi::$code;
            const OUTPUT_TYPE: Type = ffi::$output_code;
            const FACTOR_TYPE: Type = ffi::$factor_code;

            fn compute(math: CublasMath) -> Compute {
                match math {
                    CublasMath::Default => ffi::$default,
                    CublasMath::Tf32 => ffi::$tf32,
                    CublasMath::Pedantic => ffi::$pedantic,
                }
            }
        }
    };
}
element!(f16, REAL_16, f16, REAL_16, f32, REAL_32, COMPUTE_32F, COMPUTE_32F, COMPUTE_32F_PEDANTIC);
element!(bf16, BRAIN_16, bf16, BRAIN_16, f32, REAL_32, COMPUTE_32F, COMPUTE_32F, COMPUTE_32F_PEDANTIC);
element!(f32, REAL_32, f32, REAL_32, f32, REAL_32, COMPUTE_32F, COMPUTE_32F_FAST_TF32, COMPUTE_32F_PEDANTIC);
element!(f64, REAL_64, f64, REAL_64, f64, REAL_64, COMPUTE_64F, COMPUTE_64F, COMPUTE_64F_PEDANTIC);
element!(i8, INTEGER_8, i32, INTEGER_32, i32, INTEGER_32, COMPUTE_32I, COMPUTE_32I, COMPUTE_32I_PEDANTIC);
