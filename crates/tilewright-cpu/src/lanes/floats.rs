//! What exponentials and logarithms need of vectors of floats beyond [`Lanes`].

#![allow(clippy::undocumented_unsafe_blocks)] // The methods share one reason: the caller guarantees the instruction set.
#![allow(unused_unsafe)] // Arrays need none.

use super::{Lanes, portable};

/// A vector of floats.
pub trait FloatLanes: Lanes {
    /// `self - other`.
    /// # Safety
    /// The instruction set must be available, as for every method.
    unsafe fn sub(self, other: Self) -> Self;
    /// `self / other`.
    /// # Safety
    /// As [`FloatLanes::sub`].
    unsafe fn div(self, other: Self) -> Self;
    /// `x` where that is NaN; elsewhere `self`.
    /// # Safety
    /// As [`FloatLanes::sub`].
    unsafe fn or_nan(self, x: Self) -> Self;
    /// `2^n`, where `self` is `1.5 * 2^d + n` with a whole number `n`, and `d` digits follow the first one of a float. `2^n` is normal.
    /// # Safety
    /// As [`FloatLanes::sub`].
    unsafe fn power(self) -> Self;
    /// The whole number `e` and the `m` between the root of 1/2 and that of 2 for which a normal number is `2^e m`.
    /// # Safety
    /// As [`FloatLanes::sub`].
    unsafe fn split(self) -> (Self, Self);
}

/// Of a vector type: its float, integers of that width, the digits after the first one and the bias of exponents, and intrinsics.
macro_rules! floats {
    ($lanes:ty, $t:ident, $digits:literal, $bias:literal, $sub:expr, $div:expr, $or_nan:expr, $bits:expr, $float:expr,
        $splat:expr, $add:expr, $less:expr, $left:expr, $right:expr) => {
        impl FloatLanes for $lanes {
            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                Self(unsafe { $sub(self.0, other.0) })
            }
            #[inline(always)]
            unsafe fn div(self, other: Self) -> Self {
                Self(unsafe { $div(self.0, other.0) })
            }
            #[inline(always)]
            unsafe fn or_nan(self, x: Self) -> Self {
                Self(unsafe { $or_nan(self.0, x.0) })
            }
            #[inline(always)]
            unsafe fn power(self) -> Self {
                Self(unsafe { $float($add($left($bits(self.0)), $splat($bias << $digits))) })
            }
            #[inline(always)]
            unsafe fn split(self) -> (Self, Self) {
                const ROUND: $t = (3u64 << ($digits - 1)) as $t;
                const ONE: i64 = (1.0 as $t).to_bits() as i64;
                const ROOT: i64 = core::$t::consts::FRAC_1_SQRT_2.to_bits() as i64;
                unsafe {
                    let bits = $bits(self.0);
                    let biased = $right($add(bits, $splat((ONE - ROOT) as _)));
                    let m = $add($less(bits, $left(biased)), $splat($bias << $digits));
                    let rounded = $float($add(biased, $splat(ROUND.to_bits() as _)));
                    let exponent = Self(rounded).sub(Self::splat(ROUND + $bias as $t));
                    (exponent, Self($float(m)))
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{
        super::{avx2, avx512},
        FloatLanes, Lanes,
    };
    use core::arch::x86_64::*;

    floats! {
        avx2::F32, f32, 23, 127, _mm256_sub_ps, _mm256_div_ps,
        |a, x| _mm256_blendv_ps(a, x, _mm256_cmp_ps::<_CMP_UNORD_Q>(x, x)), _mm256_castps_si256, _mm256_castsi256_ps,
        _mm256_set1_epi32, _mm256_add_epi32, _mm256_sub_epi32, _mm256_slli_epi32::<23>, _mm256_srli_epi32::<23>
    }
    floats! {
        avx2::F64, f64, 52, 1023, _mm256_sub_pd, _mm256_div_pd,
        |a, x| _mm256_blendv_pd(a, x, _mm256_cmp_pd::<_CMP_UNORD_Q>(x, x)), _mm256_castpd_si256, _mm256_castsi256_pd,
        _mm256_set1_epi64x, _mm256_add_epi64, _mm256_sub_epi64, _mm256_slli_epi64::<52>, _mm256_srli_epi64::<52>
    }
    floats! {
        avx512::F32, f32, 23, 127, _mm512_sub_ps, _mm512_div_ps,
        |a, x| _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x), a, x), _mm512_castps_si512, _mm512_castsi512_ps,
        _mm512_set1_epi32, _mm512_add_epi32, _mm512_sub_epi32, _mm512_slli_epi32::<23>, _mm512_srli_epi32::<23>
    }
    floats! {
        avx512::F64, f64, 52, 1023, _mm512_sub_pd, _mm512_div_pd,
        |a, x| _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_UNORD_Q>(x, x), a, x), _mm512_castpd_si512, _mm512_castsi512_pd,
        _mm512_set1_epi64, _mm512_add_epi64, _mm512_sub_epi64, _mm512_slli_epi64::<52>, _mm512_srli_epi64::<52>
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use super::{super::neon, FloatLanes, Lanes};
    use core::arch::aarch64::*;

    floats! {
        neon::F32, f32, 23, 127, vsubq_f32, vdivq_f32, |a, x| vbslq_f32(vceqq_f32(x, x), a, x),
        vreinterpretq_s32_f32, vreinterpretq_f32_s32, vdupq_n_s32, vaddq_s32, vsubq_s32, vshlq_n_s32::<23>,
        |x| vreinterpretq_s32_u32(vshrq_n_u32::<23>(vreinterpretq_u32_s32(x)))
    }
    floats! {
        neon::F64, f64, 52, 1023, vsubq_f64, vdivq_f64, |a, x| vbslq_f64(vceqq_f64(x, x), a, x),
        vreinterpretq_s64_f64, vreinterpretq_f64_s64, vdupq_n_s64, vaddq_s64, vsubq_s64, vshlq_n_s64::<52>,
        |x| vreinterpretq_s64_u64(vshrq_n_u64::<52>(vreinterpretq_u64_s64(x)))
    }
}

/// The same of arrays, element by element.
macro_rules! arrays {
    ($($lanes:ty, $t:ident, $i:ident, $u:ident, $digits:literal, $bias:literal;)*) => {$(
        floats! {
            $lanes, $t, $digits, $bias, |x, y| each(x, y, |x: $t, y| x - y), |x, y| each(x, y, |x: $t, y| x / y),
            |a, x| each(a, x, |a: $t, x| if x.is_nan() { x } else { a }), |x| all(x, |x: $t| x.to_bits() as $i),
            |x| all(x, |x: $i| $t::from_bits(x as $u)), |x: $i| [x; portable::LEN],
            |x, y| each(x, y, $i::wrapping_add), |x, y| each(x, y, $i::wrapping_sub),
            |x| all(x, |x: $i| x << $digits), |x| all(x, |x: $i| (x as $u >> $digits) as $i)
        }
    )*};
}
arrays! {
    portable::F32, f32, i32, u32, 23, 127;
    portable::F64, f64, i64, u64, 52, 1023;
}

/// `f` of every element.
#[inline(always)]
fn all<T: Copy, R: Copy + Default, const N: usize>(x: [T; N], f: impl Fn(T) -> R) -> [R; N] {
    portable::each(|l| f(x[l]))
}

/// `f` of each two elements.
#[inline(always)]
fn each<T: Copy, R: Copy + Default, const N: usize>(x: [T; N], y: [T; N], f: impl Fn(T, T) -> R) -> [R; N] {
    portable::each(|l| f(x[l], y[l]))
}
