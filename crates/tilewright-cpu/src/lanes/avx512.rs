//! 512-bit vectors (AVX-512 F, BW, DQ, VL).

use super::{
    Below, DotBy, FusedPairs, FusedQuads, Lanes, PairLanes, PlainPairs, dots::dots, intrinsics::lanes,
    pairs::pairs,
};
use core::arch::x86_64::*;

// vminps and vmaxps return their second operand when the operands are unordered or equal, hence (new, acc).
// `a * 1 + b` runs on the two multiply-add ports; Zen 5 has fewer for plain addition, and it is never slower.
lanes! {
    F32, f32, __m512, 16, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_ps, _mm512_mul_ps,
    _mm512_fmadd_ps, _mm512_min_ps, _mm512_max_ps, _mm512_cmp_ps_mask::<_CMP_LT_OQ>, _mm512_mask_blend_ps, |m| m != 0,
    _mm512_cmp_ps_mask::<_CMP_EQ_OQ>, u64::from,
    add_with: _mm512_fmadd_ps
}
lanes! {
    F64, f64, __m512d, 8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_add_pd, _mm512_mul_pd,
    _mm512_fmadd_pd, _mm512_min_pd, _mm512_max_pd, _mm512_cmp_pd_mask::<_CMP_LT_OQ>, _mm512_mask_blend_pd, |m| m != 0,
    _mm512_cmp_pd_mask::<_CMP_EQ_OQ>, u64::from,
    add_with: _mm512_fmadd_pd
}
lanes! {
    I16, i16, __m512i, 32, _mm512_set1_epi16, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_add_epi16,
    _mm512_mullo_epi16, |a, b, c| _mm512_add_epi16(_mm512_mullo_epi16(a, b), c), _mm512_min_epi16,
    _mm512_max_epi16, _mm512_cmplt_epi16_mask, _mm512_mask_blend_epi16, |m| m != 0,
    _mm512_cmpeq_epi16_mask, u64::from
}
lanes! {
    I32, i32, __m512i, 16, _mm512_set1_epi32, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_add_epi32,
    _mm512_mullo_epi32, |a, b, c| _mm512_add_epi32(_mm512_mullo_epi32(a, b), c), _mm512_min_epi32,
    _mm512_max_epi32, _mm512_cmplt_epi32_mask, _mm512_mask_blend_epi32, |m| m != 0,
    _mm512_cmpeq_epi32_mask, u64::from
}
lanes! {
    I64, i64, __m512i, 8, _mm512_set1_epi64, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_add_epi64,
    _mm512_mullo_epi64, |a, b, c| _mm512_add_epi64(_mm512_mullo_epi64(a, b), c), _mm512_min_epi64,
    _mm512_max_epi64, _mm512_cmplt_epi64_mask, _mm512_mask_blend_epi64, |m| m != 0,
    _mm512_cmpeq_epi64_mask, u64::from
}
// 0xf8 is the truth table of c | (a & b) with inputs (c, a, b).
lanes! {
    Bytes, u8, __m512i, 64, |x: u8| _mm512_set1_epi8(x as i8), _mm512_loadu_si512, _mm512_storeu_si512,
    _mm512_or_si512, _mm512_and_si512, |a, b, c| _mm512_ternarylogic_epi32::<0xf8>(c, a, b), _mm512_min_epu8,
    _mm512_max_epu8, _mm512_cmplt_epu8_mask, _mm512_mask_blend_epi8, |m| m != 0,
    _mm512_cmpeq_epu8_mask, u64::from
}
impl Below for Bytes {
    #[inline(always)]
    unsafe fn below(bytes: &[u8], limit: u8, to: *mut u32) -> usize {
        const STEP: usize = 16;
        let (steps, rest) = bytes.as_chunks::<STEP>();
        let mut count = 0;
        // SAFETY: as the caller guarantees; a step writes 16 numbers, of which those count that belong there.
        unsafe {
            let mut numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            for step in steps {
                let below =
                    _mm_cmplt_epu8_mask(_mm_loadu_si128(step.as_ptr().cast()), _mm_set1_epi8(limit as i8));
                // To a register and then to memory, which is faster than both in one on some processors.
                _mm512_storeu_si512(to.add(count).cast(), _mm512_maskz_compress_epi32(below, numbers));
                count += below.count_ones() as usize;
                numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(STEP as i32));
            }
            for (i, &byte) in (steps.len() * STEP..).zip(rest) {
                to.add(count).write(i as u32);
                count += usize::from(byte < limit);
            }
        }
        count
    }
}
pairs! {
    __m512i, 16, |x: u32| _mm512_set1_epi32(x as i32), _mm512_loadu_si512, _mm512_storeu_si512, _mm512_add_epi16,
    _mm512_min_epu16
}
/// `acc` and the products of pairs of 16 bits.
/// # Safety
/// The instruction set must be available.
#[inline(always)]
unsafe fn add_products(acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: as the caller guarantees.
    unsafe { _mm512_add_epi32(acc, _mm512_madd_epi16(a, b)) }
}

dots! {
    PlainPairs: add_products;
    FusedPairs: _mm512_dpwssd_epi32;
    FusedQuads begins true: _mm512_dpbusd_epi32;
}
