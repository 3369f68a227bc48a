//! Fours of bytes in the vectors of x86-64, and lines for VNNI and AMX.

use super::{Byte, Lines, PLAIN, Strips, TERMS, Written};
use crate::{kernel::Groups, options::Dots};
use core::arch::x86_64::*;

/// Lines for VNNI.
pub const FOURS: Groups = Groups { terms: TERMS, begins: true, dots: Dots::Vnni, ..Groups::ONE };
/// Lines for tiles of AMX: shorter ones, because there are more of them.
pub const TILES: Groups = Groups { terms: TERMS, unit: 16, line: 1 << 10, dots: Dots::Amx, ..Groups::ONE };

impl Written {
    /// The sum of the bytes of each element.
    ///
    /// # Safety
    /// On a processor with AVX2.
    #[inline(always)]
    unsafe fn sums(self, elements: __m128i) -> __m128i {
        // SAFETY: as the caller guarantees.
        unsafe {
            let ones = _mm_set1_epi8(1);
            let halves = match self.signed {
                true => _mm_maddubs_epi16(ones, elements),
                false => _mm_maddubs_epi16(elements, ones),
            };
            _mm_madd_epi16(halves, _mm_set1_epi16(1))
        }
    }
}

/// Writes elements of as many of the lines as fill vectors, and returns how many they are.
///
/// # Safety
/// The bytes must be readable, the elements writable, and AVX2 available.
#[inline(always)]
pub unsafe fn write(
    from: [*const u8; TERMS],
    count: usize,
    how: Written,
    begin: *mut i32,
    to: *mut i32,
) -> usize {
    let mut i = 0;
    // SAFETY: as the caller guarantees.
    unsafe {
        while i + 16 <= count {
            sixteen(from, i, how, begin, to);
            i += 16;
        }
        while i + 4 <= count {
            let [r0, r1, r2, r3] = from;
            let rows = [read4(r0.add(i)), read4(r1.add(i)), read4(r2.add(i)), read4(r3.add(i))];
            four(rows, how, begin.add(i), to.add(i));
            i += 4;
        }
    }
    i
}

#[inline(always)]
unsafe fn read4(from: *const u8) -> __m128i {
    // SAFETY: the caller guarantees four bytes, and the instruction set.
    unsafe { _mm_cvtsi32_si128(from.cast::<i32>().read_unaligned()) }
}

/// Elements of sixteen lines from the `i`th on.
#[inline(always)]
unsafe fn sixteen(from: [*const u8; TERMS], i: usize, how: Written, begin: *mut i32, to: *mut i32) {
    // SAFETY: the caller guarantees so many lines, and the instruction set.
    unsafe {
        let [r0, r1, r2, r3] = from;
        let (r0, r1) = (_mm_loadu_si128(r0.add(i).cast()), _mm_loadu_si128(r1.add(i).cast()));
        let (r2, r3) = (_mm_loadu_si128(r2.add(i).cast()), _mm_loadu_si128(r3.add(i).cast()));
        let (low, high) = (_mm_unpacklo_epi8(r0, r1), _mm_unpackhi_epi8(r0, r1));
        let (low2, high2) = (_mm_unpacklo_epi8(r2, r3), _mm_unpackhi_epi8(r2, r3));
        let elements = [
            _mm_unpacklo_epi16(low, low2),
            _mm_unpackhi_epi16(low, low2),
            _mm_unpacklo_epi16(high, high2),
            _mm_unpackhi_epi16(high, high2),
        ];
        for (l, element) in elements.into_iter().enumerate() {
            write_four(element, how, begin.add(i + 4 * l), to.add(i + 4 * l));
        }
    }
}

/// Elements of four lines.
#[inline(always)]
unsafe fn four([r0, r1, r2, r3]: [__m128i; TERMS], how: Written, begin: *mut i32, to: *mut i32) {
    // SAFETY: the caller guarantees so many lines, and the instruction set.
    unsafe {
        write_four(_mm_unpacklo_epi16(_mm_unpacklo_epi8(r0, r1), _mm_unpacklo_epi8(r2, r3)), how, begin, to);
    }
}

#[inline(always)]
unsafe fn write_four(elements: __m128i, how: Written, begin: *mut i32, to: *mut i32) {
    // SAFETY: as the caller guarantees.
    unsafe {
        if how.weight != 0 {
            let begin = begin.cast::<__m128i>();
            _mm_storeu_si128(begin, _mm_add_epi32(_mm_loadu_si128(begin), how.sums(elements)));
        }
        _mm_storeu_si128(to.cast(), _mm_xor_si128(elements, _mm_set1_epi32(how.flip)));
    }
}

/// Bytes of a line that tiles of AMX have side by side.
const BESIDE_IN_TILES: usize = 64;

/// Packs lines for tiles of AMX.
#[inline(always)]
unsafe fn tiles(s: &Lines<u8>, strips: Strips, to: *mut u8) {
    const SIDE: usize = BESIDE_IN_TILES;
    let bytes = TERMS * TILES.elements(s.k);
    for strip in (0..s.count).step_by(strips.width) {
        let count = strips.width.min(s.count - strip);
        for i in 0..count {
            // SAFETY: the terms lie inside the lines, and each line has a multiple of 64 bytes.
            unsafe {
                let line = s.first.offset((strip + i) as isize * s.line);
                let to = to.add(strip * bytes + i * SIDE);
                for p in (0..s.k).step_by(SIDE) {
                    let (from, to) = (line.offset(p as isize * s.term), to.add(p * count));
                    if s.term == 1 && s.k - p >= SIDE {
                        to.cast::<[u8; SIDE]>().write_unaligned(from.cast::<[u8; SIDE]>().read_unaligned());
                        continue;
                    }
                    let left = SIDE.min(s.k - p);
                    for t in 0..left {
                        to.add(t).write(*from.offset(t as isize * s.term));
                    }
                    to.add(left).write_bytes(0, SIDE - left);
                }
            }
        }
    }
}

/// The functions of one instruction set. What is done to bytes is compiled once for all their types.
macro_rules! with_features {
    ($isa:ident, $features:literal) => {
        pub mod $isa {
            use super::*;

            #[target_feature(enable = $features)]
            #[inline(never)]
            unsafe fn pack(s: &Lines<u8>, strips: Strips, to: *mut i32, groups: Groups, how: Written) {
                // SAFETY: as the caller guarantees.
                unsafe { super::super::pack(s, strips, to, groups, how) }
            }

            /// # Safety
            /// As [`crate::pack::PackFn`], on a processor with these features.
            pub unsafe fn pack_a<E: Byte>(s: &Lines<E>, strips: Strips, to: *mut i32) {
                // SAFETY: as the caller guarantees; elements are bytes.
                unsafe { pack(&s.bytes(), strips, to, FOURS, E::A) }
            }

            /// As they are.
            ///
            /// # Safety
            /// As [`crate::pack::PackFn`], on a processor with these features.
            #[allow(dead_code)] // AMX comes with AVX-512.
            pub unsafe fn pack_plain<E: Byte>(s: &Lines<E>, strips: Strips, to: *mut i32) {
                // SAFETY: as the caller guarantees; elements are bytes.
                unsafe { pack(&s.bytes(), strips, to, TILES, PLAIN) }
            }

            /// As they are, 64 terms of a line side by side, and then those of the next line of the strip.
            ///
            /// # Safety
            /// As [`crate::pack::PackFn`], on a processor with these features.
            #[target_feature(enable = $features)]
            #[allow(dead_code)]
            pub unsafe fn pack_tiles<E: Byte>(s: &Lines<E>, strips: Strips, to: *mut i32) {
                // SAFETY: as the caller guarantees; elements are bytes.
                unsafe { tiles(&s.bytes(), strips, to.cast()) }
            }

            /// # Safety
            /// As [`crate::pack::PackFn`], on a processor with these features.
            pub unsafe fn pack_b<E: Byte>(s: &Lines<E>, strips: Strips, to: *mut i32) {
                // SAFETY: as the caller guarantees; elements are bytes.
                unsafe { pack(&s.bytes(), strips, to, FOURS, E::B) }
            }
        }
    };
}
with_features!(avx512, "avx512f,avx512bw,avx512dq,avx512vl,fma");
with_features!(avx2, "avx2,fma");
