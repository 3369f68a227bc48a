//! 256-bit vectors (AVX2, FMA).

use super::{
    Below, DotBy, FusedPairs, FusedQuads, Lanes, PairLanes, PlainPairs, dots::dots, intrinsics::lanes,
    pairs::pairs,
};
use core::arch::x86_64::*;

/// `if mask { b } else { a }` for floats and for integers of any width.
#[inline(always)]
unsafe fn blend_ps(mask: __m256, a: __m256, b: __m256) -> __m256 {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_blendv_ps(a, b, mask) }
}
#[inline(always)]
unsafe fn blend_pd(mask: __m256d, a: __m256d, b: __m256d) -> __m256d {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_blendv_pd(a, b, mask) }
}
#[inline(always)]
unsafe fn blend(mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_blendv_epi8(a, b, mask) }
}
/// Bytes in the order of which signed comparison knows.
#[inline(always)]
unsafe fn flipped(bytes: __m256i) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_xor_si256(bytes, _mm256_set1_epi8(i8::MIN)) }
}

/// The low halves of 64-bit products, from 32-bit ones: AVX2 has no 64-bit multiplication.
#[inline(always)]
unsafe fn mul_epi64(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe {
        let cross = _mm256_add_epi64(
            _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), b),
            _mm256_mul_epu32(a, _mm256_srli_epi64::<32>(b)),
        );
        _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(cross))
    }
}

/// A bit for each 16-bit mask: the masks of both halves packed into bytes beside zeros, and these closed up.
#[inline(always)]
unsafe fn bits_of_16(mask: __m256i) -> u64 {
    // SAFETY: the caller has AVX2.
    let bits = unsafe { _mm256_movemask_epi8(_mm256_packs_epi16(mask, _mm256_setzero_si256())) } as u32;
    u64::from((bits | bits >> 8) & 0xffff)
}

// `a * 1 + b` runs on the two multiply-add ports. Zen 2 and Zen 3 compare and select floats on those that add.
// vminps and vmaxps return their second operand when the operands are unordered or equal, hence (new, acc).
lanes! {
    F32, f32, __m256, 8, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_add_ps, _mm256_mul_ps,
    _mm256_fmadd_ps, _mm256_min_ps, _mm256_max_ps, _mm256_cmp_ps::<_CMP_LT_OQ>, blend_ps, |m| _mm256_movemask_ps(m) != 0,
    _mm256_cmp_ps::<_CMP_EQ_OQ>, |m| _mm256_movemask_ps(m) as u64, add_with: _mm256_fmadd_ps
}
lanes! {
    F64, f64, __m256d, 4, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_add_pd, _mm256_mul_pd,
    _mm256_fmadd_pd, _mm256_min_pd, _mm256_max_pd, _mm256_cmp_pd::<_CMP_LT_OQ>, blend_pd, |m| _mm256_movemask_pd(m) != 0,
    _mm256_cmp_pd::<_CMP_EQ_OQ>, |m| _mm256_movemask_pd(m) as u64, add_with: _mm256_fmadd_pd
}
lanes! {
    I16, i16, __m256i, 16, _mm256_set1_epi16, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_add_epi16,
    _mm256_mullo_epi16, |a, b, c| _mm256_add_epi16(_mm256_mullo_epi16(a, b), c), _mm256_min_epi16,
    _mm256_max_epi16, |a, b| _mm256_cmpgt_epi16(b, a), blend, |m| _mm256_movemask_epi8(m) != 0,
    _mm256_cmpeq_epi16, bits_of_16
}
lanes! {
    I32, i32, __m256i, 8, _mm256_set1_epi32, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_add_epi32,
    _mm256_mullo_epi32, |a, b, c| _mm256_add_epi32(_mm256_mullo_epi32(a, b), c), _mm256_min_epi32,
    _mm256_max_epi32, |a, b| _mm256_cmpgt_epi32(b, a), blend, |m| _mm256_movemask_epi8(m) != 0,
    _mm256_cmpeq_epi32, |m| _mm256_movemask_ps(_mm256_castsi256_ps(m)) as u64
}
lanes! {
    I64, i64, __m256i, 4, _mm256_set1_epi64x, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_add_epi64,
    mul_epi64, |a, b, c| _mm256_add_epi64(mul_epi64(a, b), c),
    |x, acc| blend(_mm256_cmpgt_epi64(acc, x), acc, x), |x, acc| blend(_mm256_cmpgt_epi64(x, acc), acc, x),
    |a, b| _mm256_cmpgt_epi64(b, a), blend, |m| _mm256_movemask_epi8(m) != 0,
    _mm256_cmpeq_epi64, |m| _mm256_movemask_pd(_mm256_castsi256_pd(m)) as u64
}
lanes! {
    Bytes, u8, __m256i, 32, |x: u8| _mm256_set1_epi8(x as i8), _mm256_loadu_si256, _mm256_storeu_si256,
    _mm256_or_si256, _mm256_and_si256, |a, b, c| _mm256_or_si256(_mm256_and_si256(a, b), c), _mm256_min_epu8,
    _mm256_max_epu8, |a, b| _mm256_cmpgt_epi8(flipped(b), flipped(a)), blend, |m| _mm256_movemask_epi8(m) != 0,
    _mm256_cmpeq_epi8, |m| u64::from(_mm256_movemask_epi8(m) as u32)
}
impl Below for Bytes {}
pairs! {
    __m256i, 8, |x: u32| _mm256_set1_epi32(x as i32), _mm256_loadu_si256, _mm256_storeu_si256, _mm256_add_epi16,
    _mm256_min_epu16
}
/// `acc` and the products of pairs of 16 bits.
/// # Safety
/// The instruction set must be available.
#[inline(always)]
unsafe fn add_products(acc: __m256i, a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: as the caller guarantees.
    unsafe { _mm256_add_epi32(acc, _mm256_madd_epi16(a, b)) }
}

dots! {
    PlainPairs: add_products;
    FusedPairs: _mm256_dpwssd_avx_epi32;
    FusedQuads begins true: _mm256_dpbusd_avx_epi32;
}
