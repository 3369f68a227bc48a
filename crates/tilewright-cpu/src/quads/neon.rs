//! Fours of bytes in the vectors of NEON, and lines for SDOT and UDOT.

use super::{Byte, Lines, PLAIN, Strips, TERMS, Written};
use crate::{kernel::Groups, options::Dots};
use core::arch::aarch64::*;

/// Lines for SDOT and UDOT, which need no correction.
pub const FOURS: Groups = Groups { terms: TERMS, dots: Dots::DotProd, ..Groups::ONE };

/// Writes elements of as many of the lines as fill vectors, and returns how many they are. Bytes stay as they are.
///
/// # Safety
/// The bytes must be readable, the elements writable, and NEON available.
#[inline(always)]
pub unsafe fn write(from: [*const u8; TERMS], count: usize, _: Written, _: *mut i32, to: *mut i32) -> usize {
    let mut i = 0;
    while i + 4 <= count {
        let [r0, r1, r2, r3] = from;
        // SAFETY: as the caller guarantees.
        unsafe {
            let (r0, r1) = (read4(r0.add(i)), read4(r1.add(i)));
            let (r2, r3) = (read4(r2.add(i)), read4(r3.add(i)));
            let low = vreinterpret_u16_u8(vzip1_u8(r0, r1));
            let high = vreinterpret_u16_u8(vzip1_u8(r2, r3));
            let elements = vcombine_u16(vzip1_u16(low, high), vzip2_u16(low, high));
            vst1q_s32(to.add(i), vreinterpretq_s32_u16(elements));
        }
        i += 4;
    }
    i
}

#[inline(always)]
unsafe fn read4(from: *const u8) -> uint8x8_t {
    // SAFETY: the caller guarantees four bytes, and the instruction set.
    unsafe { vreinterpret_u8_u32(vdup_n_u32(from.cast::<u32>().read_unaligned())) }
}

/// What is done to bytes is compiled once for both of their types.
#[target_feature(enable = "neon")]
#[inline(never)]
unsafe fn pack_bytes(s: &Lines<u8>, strips: Strips, to: *mut i32) {
    // SAFETY: as the caller guarantees.
    unsafe { super::pack(s, strips, to, FOURS, PLAIN) }
}

/// # Safety
/// As [`crate::pack::PackFn`], on a processor with NEON.
pub unsafe fn pack<E: Byte>(s: &Lines<E>, strips: Strips, to: *mut i32) {
    // SAFETY: as the caller guarantees; elements are bytes.
    unsafe { pack_bytes(&s.bytes(), strips, to) }
}
