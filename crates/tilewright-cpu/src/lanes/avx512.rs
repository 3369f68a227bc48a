//! 512-bit vectors (AVX-512 F, BW, DQ, VL).

use super::{Across, Lanes, SmallLanes, intrinsics::lanes, small::small};
use core::{arch::x86_64::*, mem::transmute};

// vminps and vmaxps return their second operand when the operands are unordered or equal, hence (new, acc).
// `a * 1 + b` runs on the two multiply-add ports; Zen 5 has fewer for plain addition, and it is never slower.
lanes! {
    F32, f32, __m512, 16, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_ps, _mm512_mul_ps,
    _mm512_fmadd_ps, _mm512_min_ps, _mm512_max_ps, _mm512_cmp_ps_mask::<_CMP_LT_OQ>, _mm512_mask_blend_ps,
    add_with: _mm512_fmadd_ps
}
lanes! {
    F64, f64, __m512d, 8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_add_pd, _mm512_mul_pd,
    _mm512_fmadd_pd, _mm512_min_pd, _mm512_max_pd, _mm512_cmp_pd_mask::<_CMP_LT_OQ>, _mm512_mask_blend_pd,
    add_with: _mm512_fmadd_pd
}
lanes! {
    I16, i16, __m512i, 32, _mm512_set1_epi16, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_add_epi16,
    _mm512_mullo_epi16, |a, b, c| _mm512_add_epi16(_mm512_mullo_epi16(a, b), c), _mm512_min_epi16,
    _mm512_max_epi16, _mm512_cmplt_epi16_mask, _mm512_mask_blend_epi16
}
lanes! {
    I32, i32, __m512i, 16, _mm512_set1_epi32, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_add_epi32,
    _mm512_mullo_epi32, |a, b, c| _mm512_add_epi32(_mm512_mullo_epi32(a, b), c), _mm512_min_epi32,
    _mm512_max_epi32, _mm512_cmplt_epi32_mask, _mm512_mask_blend_epi32
}
lanes! {
    I64, i64, __m512i, 8, _mm512_set1_epi64, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_add_epi64,
    _mm512_mullo_epi64, |a, b, c| _mm512_add_epi64(_mm512_mullo_epi64(a, b), c), _mm512_min_epi64,
    _mm512_max_epi64, _mm512_cmplt_epi64_mask, _mm512_mask_blend_epi64
}
// 0xf8 is the truth table of c | (a & b) with inputs (c, a, b).
lanes! {
    Bits, u8, __m512i, 64, |x: u8| _mm512_set1_epi8(x as i8), _mm512_loadu_si512, _mm512_storeu_si512,
    _mm512_or_si512, _mm512_and_si512, |a, b, c| _mm512_ternarylogic_epi32::<0xf8>(c, a, b), _mm512_min_epu8,
    _mm512_max_epu8, _mm512_cmplt_epu8_mask, _mm512_mask_blend_epi8
}
/// The even and the odd elements of both vectors, by quarters.
/// # Safety
/// As all intrinsics here.
#[inline(always)]
unsafe fn elements(a: __m512, b: __m512) -> (__m512, __m512) {
    // SAFETY: the caller has AVX-512.
    unsafe { (_mm512_shuffle_ps::<0x88>(a, b), _mm512_shuffle_ps::<0xdd>(a, b)) }
}
/// As [`elements`], in elements of 64 bits.
#[inline(always)]
unsafe fn doubles(a: __m512, b: __m512) -> (__m512, __m512) {
    // SAFETY: the caller has AVX-512.
    unsafe {
        let (a, b) = (_mm512_castps_pd(a), _mm512_castps_pd(b));
        (_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)))
    }
}
/// The even and the odd quarters of both vectors.
#[inline(always)]
unsafe fn quarters(a: __m512, b: __m512) -> (__m512, __m512) {
    // SAFETY: the caller has AVX-512.
    unsafe { (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b)) }
}

/// [`Across`] as a tree: at each level, neighbours of two vectors are compared and become one vector.
macro_rules! across {
    ($($name:ident: $($level:ident)*;)*) => {$(
        impl Across for $name {
            #[inline(always)]
            unsafe fn across_each(vectors: *const Self, max: bool) -> Self {
                // SAFETY: the caller guarantees the instruction set and the vectors, which are bits to move.
                unsafe {
                    let mut best = vectors.cast::<[Self; Self::LEN]>().read();
                    let mut count = Self::LEN;
                    $(
                        count /= 2;
                        for i in 0..count {
                            let (x, y) = $level(transmute::<Self, __m512>(best[2 * i]), transmute::<Self, __m512>(best[2 * i + 1]));
                            let (x, y) = (transmute::<__m512, Self>(x), transmute::<__m512, Self>(y));
                            best[i] = if max { x.max(y) } else { x.min(y) };
                        }
                    )*
                    best[0]
                }
            }
        }
    )*};
}
across! {
    F32: elements elements quarters quarters;
    I32: elements elements quarters quarters;
    F64: doubles quarters quarters;
    I64: doubles quarters quarters;
}
small! {
    Pairs, __m512i, 16, |x: u32| _mm512_set1_epi32(x as i32), _mm512_loadu_si512, _mm512_storeu_si512, _mm512_add_epi16,
    _mm512_min_epu16
}
small! {
    Quads, __m512i, 16, |x: u32| _mm512_set1_epi32(x as i32), _mm512_loadu_si512, _mm512_storeu_si512, _mm512_add_epi8,
    _mm512_min_epu8
}
