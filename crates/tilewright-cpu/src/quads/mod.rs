//! Bytes for dot products of four: packing four terms of a line to an element of 32 bits.
//!
//! VNNI multiplies bytes without a sign by signed ones. With `a' = a + 128` signed bytes of A have no sign, and
//! `Σ a b = Σ a' b - 128 Σ b`. With `b' = b - 128` bytes of B without a sign are signed, and `Σ a b = Σ a b' + 128 Σ a`. What depends
//! on one column, or one row, is what sums begin with. It is packed before the terms of that line. All of this is modulo 2^32, as sums are.
//! SDOT multiplies signed bytes and UDOT those without a sign: for them bytes stay as they are.

#[cfg(target_arch = "aarch64")]
pub mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
use self::neon as vectors;
#[cfg(target_arch = "x86_64")]
use self::x86 as vectors;
#[cfg(target_arch = "x86_64")]
pub use self::x86::{FOURS, TILES, avx2, avx512};
use crate::{
    kernel::Groups,
    pack::{self, Lines, Same, Strips},
};
use core::mem::MaybeUninit;

/// Terms in an element.
pub const TERMS: usize = 4;

/// Elements of a line that are written before they are put in order: those of a strip stay in the first-level cache.
const WRITTEN: usize = 32;
/// Lines of the widest strip.
const WIDEST: usize = 32;
/// Elements of lines side by side that are packed at a time, along all strips.
const BESIDE: usize = 4;
/// Terms that are not there.
const ZEROS: [u8; WIDEST] = [0; WIDEST];

/// How the bytes of an operand are written, and what they add to what sums begin with.
#[derive(Clone, Copy)]
pub struct Written {
    /// Exclusive-or of an element: the highest bits of its bytes, where these get a sign or lose it.
    flip: i32,
    /// What sums begin with, for each unit of a byte.
    weight: i32,
    /// Whether bytes have a sign.
    pub signed: bool,
}

/// An integer of 8 bits.
pub trait Byte: Copy + 'static {
    const A: Written;
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // Elsewhere both stay as they are.
    const B: Written;
}

/// As they are.
const PLAIN: Written = Written { flip: 0, weight: 0, signed: false };
const FLIP: i32 = 0x8080_8080_u32 as i32;
impl Byte for i8 {
    const A: Written = Written { flip: FLIP, weight: 0, signed: true };
    const B: Written = Written { flip: 0, weight: -128, signed: true };
}
impl Byte for u8 {
    const A: Written = Written { flip: 0, weight: 128, signed: false };
    const B: Written = Written { flip: FLIP, weight: 0, signed: false };
}

/// Packs bytes by fours.
///
/// # Safety
/// As [`pack::PackFn`], with lines as `groups` says, on a processor with AVX2 or NEON.
#[inline(always)]
unsafe fn pack(s: &Lines<u8>, strips: Strips, to: *mut i32, groups: Groups, how: Written) {
    let (elements, first) = (groups.elements(s.k), usize::from(groups.begins));
    let last = first + s.k.div_ceil(TERMS);
    // As in `pack::pack`: lines that are side by side are read along all strips, a few terms at a time.
    let step = TERMS * if s.line == 1 { BESIDE } else { WRITTEN };
    for i in (0..s.count).step_by(strips.width) {
        let padded = strips.width.min(s.count - i).next_multiple_of(strips.unit);
        // SAFETY: the strip has so many elements.
        unsafe {
            let strip = to.add(i * elements);
            zero(strip, padded * first);
            zero(strip.add(padded * last), padded * (elements - last));
        }
    }
    for p in (0..s.k).step_by(step) {
        for i in (0..s.count).step_by(strips.width) {
            // SAFETY: the part lies inside the lines, and its place inside the strips.
            unsafe {
                let part = s.part((i, strips.width), (p, step));
                let padded = part.count.next_multiple_of(strips.unit);
                let begin = to.add(i * elements);
                let to = begin.add(padded * (first + p / TERMS));
                if s.line == 1 {
                    rows(&part, how, padded, begin, to);
                } else {
                    // The lines lie here until they are packed.
                    let mut space = MaybeUninit::uninit();
                    let lines = columns(&part, how, begin, &mut space);
                    pack::pack::<i32, i32, Same, true>(&lines, strips, to);
                }
            }
        }
    }
    if how.weight != 0 {
        for i in (0..s.count).step_by(strips.width) {
            // SAFETY: as above.
            unsafe {
                let begin = to.add(i * elements);
                for l in 0..strips.width.min(s.count - i) {
                    *begin.add(l) *= how.weight;
                }
            }
        }
    }
}

/// Writes so many zeros; mostly none, which takes no call.
#[inline(always)]
unsafe fn zero(to: *mut i32, count: usize) {
    if count > 0 {
        // SAFETY: as the caller guarantees.
        unsafe { to.write_bytes(0, count) };
    }
}

/// One strip whose lines are side by side: four rows become one.
#[inline(always)]
unsafe fn rows(s: &Lines<u8>, how: Written, padded: usize, begin: *mut i32, to: *mut i32) {
    for p in 0..s.k.div_ceil(TERMS) {
        // SAFETY: the rows lie inside the lines, or are zeros, of which there are as many as in the widest strip.
        unsafe {
            let (mut from, to) = ([ZEROS.as_ptr(); TERMS], to.add(p * padded));
            for (t, from) in from.iter_mut().enumerate().take(s.k - TERMS * p) {
                *from = s.first.offset((TERMS * p + t) as isize * s.term);
            }
            for i in vectors::write(from, s.count, how, begin, to)..s.count {
                let [r0, r1, r2, r3] = from;
                let bytes = [*r0.add(i), *r1.add(i), *r2.add(i), *r3.add(i)];
                to.add(i).write(i32::from_le_bytes(bytes) ^ how.flip);
                if how.weight != 0 {
                    *begin.add(i) += sum(&bytes, how);
                }
            }
            zero(to.add(s.count), padded - s.count);
        }
    }
}

/// One strip whose lines are apart: writes the elements of each line side by side.
#[inline(always)]
unsafe fn columns(
    s: &Lines<u8>,
    how: Written,
    begin: *mut i32,
    to: &mut MaybeUninit<[i32; WIDEST * WRITTEN]>,
) -> Lines<i32> {
    let (to, elements, whole) = (to.as_mut_ptr().cast::<i32>(), s.k.div_ceil(TERMS), s.k / TERMS);
    let mut gathered = MaybeUninit::<[u8; TERMS * WRITTEN]>::uninit();
    let gathered = gathered.as_mut_ptr().cast::<u8>();
    for i in 0..s.count {
        // SAFETY: the terms lie inside the strip, and there is room for all.
        unsafe {
            let (mut line, to) = (s.first.offset(i as isize * s.line), to.add(i * elements));
            if s.term != 1 {
                for p in 0..s.k {
                    gathered.add(p).write(*line.offset(p as isize * s.term));
                }
                line = gathered;
            }
            for p in 0..whole {
                to.add(p).write(line.add(TERMS * p).cast::<i32>().read_unaligned() ^ how.flip);
            }
            if elements > whole {
                let mut bytes = [0; TERMS];
                for (t, byte) in bytes.iter_mut().enumerate().take(s.k % TERMS) {
                    *byte = *line.add(TERMS * whole + t);
                }
                to.add(whole).write(i32::from_le_bytes(bytes) ^ how.flip);
            }
            if how.weight != 0 {
                *begin.add(i) += sum(core::slice::from_raw_parts(line, s.k), how);
            }
        }
    }
    let (code, best) = (s.code, core::ptr::null());
    Lines {
        first: to.cast_const(),
        line: elements as isize,
        term: 1,
        count: s.count,
        k: elements,
        code,
        best,
    }
}

/// The sum of bytes.
#[inline(always)]
fn sum(bytes: &[u8], how: Written) -> i32 {
    let (mut signed, mut unsigned) = (0, 0);
    for &byte in bytes {
        signed += i32::from(byte as i8);
        unsigned += i32::from(byte);
    }
    if how.signed { signed } else { unsigned }
}

impl<E: Byte> Lines<E> {
    /// The same lines, whatever sign their bytes have.
    fn bytes(&self) -> Lines<u8> {
        let Self { first, line, term, count, k, code, .. } = *self;
        Lines { first: first.cast(), line, term, count, k, code, best: core::ptr::null() }
    }
}
