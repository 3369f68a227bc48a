//! 128-bit vectors (NEON).

use super::{Below, DotBy, Lanes, PairLanes, SignedQuads, UnsignedQuads, intrinsics::lanes, pairs::pairs};
use core::arch::{aarch64::*, asm};

/// The low halves of 64-bit products, from 32-bit ones: NEON has no 64-bit multiplication.
#[inline(always)]
unsafe fn mul_s64(a: int64x2_t, b: int64x2_t) -> int64x2_t {
    // SAFETY: the caller has NEON.
    unsafe {
        let (a, b) = (vreinterpretq_u64_s64(a), vreinterpretq_u64_s64(b));
        let crossed = vmulq_u32(vrev64q_u32(vreinterpretq_u32_u64(a)), vreinterpretq_u32_u64(b));
        let high = vshlq_n_u64::<32>(vpaddlq_u32(crossed));
        vreinterpretq_s64_u64(vmlal_u32(high, vmovn_u64(a), vmovn_u64(b)))
    }
}

/// A bit for each mask of 32 bits: powers of two where it is set, added up.
#[inline(always)]
unsafe fn bits_of_32(mask: uint32x4_t) -> u64 {
    const POWERS: [u32; 4] = [1, 2, 4, 8];
    // SAFETY: the caller has NEON.
    unsafe { u64::from(vaddvq_u32(vandq_u32(mask, vld1q_u32(POWERS.as_ptr())))) }
}
/// As [`bits_of_32`], for masks of 64 bits.
#[inline(always)]
unsafe fn bits_of_64(mask: uint64x2_t) -> u64 {
    const POWERS: [u64; 2] = [1, 2];
    // SAFETY: the caller has NEON.
    unsafe { vaddvq_u64(vandq_u64(mask, vld1q_u64(POWERS.as_ptr()))) }
}
/// As [`bits_of_32`], for masks of 16 bits.
#[inline(always)]
unsafe fn bits_of_16(mask: uint16x8_t) -> u64 {
    const POWERS: [u16; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: the caller has NEON.
    unsafe { u64::from(vaddvq_u16(vandq_u16(mask, vld1q_u16(POWERS.as_ptr())))) }
}
/// As [`bits_of_32`], for masks of bytes, half by half.
#[inline(always)]
unsafe fn bits_of_8(mask: uint8x16_t) -> u64 {
    const POWERS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: the caller has NEON.
    unsafe {
        let bits = vandq_u8(mask, vld1q_u8(POWERS.as_ptr()));
        u64::from(vaddv_u8(vget_low_u8(bits))) | u64::from(vaddv_u8(vget_high_u8(bits))) << 8
    }
}

// FMINNM and FMAXNM return the number where the other operand is a quiet NaN, so `acc` where the new term is NaN:
// terms are results of arithmetic, whose NaN are quiet, or were cleared of NaN while packing, and accumulators
// start at a number and so stay numbers. Comparing and selecting would take one instruction more.
lanes! {
    F32, f32, float32x4_t, 4, vdupq_n_f32, vld1q_f32, vst1q_f32, vaddq_f32, vmulq_f32,
    |a, b, c| vfmaq_f32(c, a, b), vminnmq_f32, vmaxnmq_f32, vcltq_f32, |m, a, b| vbslq_f32(m, b, a), |m| vmaxvq_u32(m) != 0,
    vceqq_f32, bits_of_32
}
lanes! {
    F64, f64, float64x2_t, 2, vdupq_n_f64, vld1q_f64, vst1q_f64, vaddq_f64, vmulq_f64,
    |a, b, c| vfmaq_f64(c, a, b), vminnmq_f64, vmaxnmq_f64, vcltq_f64, |m, a, b| vbslq_f64(m, b, a), |m| vaddvq_u64(m) != 0,
    vceqq_f64, bits_of_64
}
lanes! {
    I16, i16, int16x8_t, 8, vdupq_n_s16, vld1q_s16, vst1q_s16, vaddq_s16, vmulq_s16,
    |a, b, c| vmlaq_s16(c, a, b), vminq_s16, vmaxq_s16, vcltq_s16, |m, a, b| vbslq_s16(m, b, a), |m| vmaxvq_u16(m) != 0,
    vceqq_s16, bits_of_16
}
lanes! {
    I32, i32, int32x4_t, 4, vdupq_n_s32, vld1q_s32, vst1q_s32, vaddq_s32, vmulq_s32,
    |a, b, c| vmlaq_s32(c, a, b), vminq_s32, vmaxq_s32, vcltq_s32, |m, a, b| vbslq_s32(m, b, a), |m| vmaxvq_u32(m) != 0,
    vceqq_s32, bits_of_32
}
lanes! {
    I64, i64, int64x2_t, 2, vdupq_n_s64, vld1q_s64, vst1q_s64, vaddq_s64, mul_s64,
    |a, b, c| vaddq_s64(mul_s64(a, b), c), |x, acc| vbslq_s64(vcltq_s64(x, acc), x, acc),
    |x, acc| vbslq_s64(vcgtq_s64(x, acc), x, acc), vcltq_s64, |m, a, b| vbslq_s64(m, b, a), |m| vaddvq_u64(m) != 0,
    vceqq_s64, bits_of_64
}
lanes! {
    Bytes, u8, uint8x16_t, 16, vdupq_n_u8, vld1q_u8, vst1q_u8, vorrq_u8, vandq_u8,
    |a, b, c| vorrq_u8(vandq_u8(a, b), c), vminq_u8, vmaxq_u8, vcltq_u8, |m, a, b| vbslq_u8(m, b, a), |m| vmaxvq_u8(m) != 0,
    vceqq_u8, bits_of_8
}
impl Below for Bytes {}
pairs! {
    uint16x8_t, 4, |x: u32| vreinterpretq_u16_u32(vdupq_n_u32(x)), |p: *const u16| vld1q_u16(p),
    |p: *mut u16, x| vst1q_u16(p, x), vaddq_u16, vminq_u16
}

/// Implements [`DotBy`] by an instruction, whose intrinsic is not in stable Rust. It takes the first element of `a` for all of `b`, so that loading it spreads nothing.
macro_rules! dots {
    ($($by:ident: $instruction:literal;)*) => {$(
        impl DotBy<I32> for $by {
            #[inline(always)]
            unsafe fn spread(p: *const i32) -> I32 {
                // SAFETY: as the caller guarantees.
                I32(unsafe { vld1q_lane_s32::<0>(p, vdupq_n_s32(0)) })
            }
            #[inline(always)]
            unsafe fn dot(a: I32, b: I32, acc: I32) -> I32 {
                let mut sum = acc.0;
                // SAFETY: the caller guarantees the instruction, which reads and writes these registers alone.
                unsafe {
                    asm!(
                        concat!($instruction, " {sum:v}.4s, {b:v}.16b, {a:v}.4b[0]"),
                        sum = inout(vreg) sum,
                        a = in(vreg) a.0,
                        b = in(vreg) b.0,
                        options(pure, nomem, nostack, preserves_flags),
                    );
                }
                I32(sum)
            }
        }
    )*};
}
dots! {
    SignedQuads: "sdot";
    UnsignedQuads: "udot";
}
