//! Copies blocks of A and B into the order in which the micro-kernel reads them.

#[cfg(target_arch = "x86_64")]
use crate::transpose;
use crate::{cache::is_pages_apart, lanes::prefetch_to_write, narrow::Code, op::Scalar, tile::ON_STACK};
use core::ops::Range;
use half::{bf16, f16};
use tilewright_core::{E4m3, E5m2, MatRef};

/// Lines (rows of A, columns of B) of an operand to pack. Strides are in elements.
#[derive(Clone, Copy)]
pub struct Lines<E> {
    /// Line 0, term 0.
    pub first: *const E,
    /// From a line to the next.
    pub line: isize,
    /// From a term to the next.
    pub term: isize,
    /// How many lines.
    pub count: usize,
    /// How many terms of each.
    pub k: usize,
    /// How they are written, where they are narrowed.
    pub code: Code,
    /// The largest element of each of them, where they are packed as exponentials.
    pub best: *const E,
}

impl<E> Lines<E> {
    /// Columns `lines` of `x` as lines, rows `terms` as their terms. Rows of A are columns of its transpose.
    ///
    /// # Safety
    /// They must lie inside `x`.
    pub unsafe fn of(x: MatRef<'_, E>, lines: &Range<usize>, terms: &Range<usize>, code: Code) -> Self {
        let layout = x.layout();
        // SAFETY: as the caller guarantees.
        let first = unsafe { x.as_ptr().offset(layout.offset(terms.start, lines.start)) };
        let (line, term) = (layout.col_stride, layout.row_stride);
        Self { first, line, term, count: lines.len(), k: terms.len(), code, best: core::ptr::null() }
    }

    /// From line `i` on at most so many of them, from term `p` on at most so many of their terms.
    ///
    /// # Safety
    /// There are a line `i` and a term `p`.
    #[inline(always)]
    pub unsafe fn part(&self, (i, lines): (usize, usize), (p, terms): (usize, usize)) -> Self {
        // SAFETY: as the caller guarantees.
        let first = unsafe { self.first.offset(i as isize * self.line + p as isize * self.term) };
        Self { first, count: lines.min(self.count - i), k: terms.min(self.k - p), ..*self }
    }
}

/// How packed lines are arranged: strips of `width` lines, each padded to a multiple of `unit`.
///
/// Term `p` of line `i` goes to `strip * width * k + p * padded + i % width`, where `strip = i / width` and
/// `padded` is the number of lines in that strip, rounded up.
#[derive(Clone, Copy)]
pub struct Strips {
    pub width: usize,
    pub unit: usize,
}

/// Packs lines into strips; the padding is filled with something harmless.
///
/// # Safety
/// Every element must be readable, `k * count` elements, `count` rounded up to `unit`, writable at `to`, and
/// the instruction set available.
pub type PackFn<E, P> = unsafe fn(&Lines<E>, Strips, to: *mut P);

/// What packing does to an element.
pub trait Load<E, P> {
    /// True when a packed element has the bits of the original, so that it may be read in place.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // Only x86-64 has transpositions.
    const IDENTITY: bool;
    /// The packed element.
    fn load(x: E) -> P;
}

/// Elements stay as they are.
pub struct Same;
/// Elements are widened to the type that is computed in.
pub struct Widen;
/// Integer `MAX` (`MAX_PLUS`: `MIN`) becomes the internal "absent".
pub struct Absent<const MAX_PLUS: bool>;
/// NaN becomes the identity of ⊕, which is `TOP` or, for `MAX`, `BOTTOM`.
pub struct NoNan<const MAX: bool>;

impl<T: Copy> Load<T, T> for Same {
    const IDENTITY: bool = true;
    #[inline(always)]
    fn load(x: T) -> T {
        x
    }
}
impl Load<bool, u8> for Same {
    const IDENTITY: bool = true;
    #[inline(always)]
    fn load(x: bool) -> u8 {
        u8::from(x)
    }
}
macro_rules! widened_integers {
    ($($t:ty),*) => {$(
        impl Load<$t, i32> for Widen {
            const IDENTITY: bool = false;
            #[inline(always)]
            fn load(x: $t) -> i32 {
                i32::from(x)
            }
        }
    )*};
}
widened_integers!(i8, i16, u8);
impl Load<bf16, f32> for Widen {
    const IDENTITY: bool = false;
    #[inline(always)]
    fn load(x: bf16) -> f32 {
        f32::from_bits(u32::from(x.to_bits()) << 16)
    }
}
impl Load<f16, f32> for Widen {
    const IDENTITY: bool = false;
    /// Moves the exponent and fraction into place and multiplies by 2^112, the difference of the exponent
    /// biases, which also normalises subnormals. Branch-free, so that it vectorises.
    #[inline(always)]
    fn load(x: f16) -> f32 {
        let bits = u32::from(x.to_bits());
        let magnitude = (bits & 0x7fff) << 13;
        let scaled = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
        let special = if bits & 0x7c00 == 0x7c00 { 0x7f80_0000 } else { 0 };
        f32::from_bits(scaled.to_bits() | special | (bits & 0x8000) << 16)
    }
}
macro_rules! widened_bytes {
    ($($t:ty),*) => {$(
        impl Load<$t, f32> for Widen {
            const IDENTITY: bool = false;
            #[inline(always)]
            fn load(x: $t) -> f32 {
                x.to_f32()
            }
        }
    )*};
}
widened_bytes!(E4m3, E5m2);
impl<T: Scalar + PartialEq, const MAX_PLUS: bool> Load<T, T> for Absent<MAX_PLUS> {
    const IDENTITY: bool = false;
    #[inline(always)]
    fn load(x: T) -> T {
        let (absent, internal) = if MAX_PLUS { (T::BOTTOM, T::NEG_INF) } else { (T::TOP, T::INF) };
        if x == absent { internal } else { x }
    }
}
#[allow(clippy::eq_op)] // NaN is what differs from itself.
impl<T: Scalar + PartialEq, const MAX: bool> Load<T, T> for NoNan<MAX> {
    const IDENTITY: bool = false;
    #[inline(always)]
    fn load(x: T) -> T {
        if x == x {
            x
        } else if MAX {
            T::BOTTOM
        } else {
            T::TOP
        }
    }
}

/// The body of every [`PackFn`]. `AVX2` lets it transpose in registers.
///
/// Nothing here is a closure: those are not reliably inlined into the function that enables the instructions.
///
/// # Safety
/// As [`PackFn`].
#[inline(always)]
pub unsafe fn pack<E: Copy, P: Copy, L: Load<E, P>, const AVX2: bool>(
    s: &Lines<E>,
    strips: Strips,
    to: *mut P,
) {
    // Lines that are side by side are read along all strips, a few terms at a time, which hardware
    // prefetchers follow; other lines are read one strip at a time. Terms whole pages apart share a set of the first-level cache, which has
    // eight ways or more.
    let terms = if is_pages_apart(s.term, size_of::<E>()) { 8 } else { 16 };
    let step = if s.line == 1 { terms } else { s.k.max(1) };
    for p in (0..s.k).step_by(step) {
        for i in (0..s.count).step_by(strips.width) {
            // SAFETY: the part lies inside the lines, and its place inside the strips.
            unsafe {
                let part = s.part((i, strips.width), (p, step));
                let padded = part.count.next_multiple_of(strips.unit);
                let to = to.add(i * s.k + p * padded);
                if s.line == 1 {
                    // Parts of strips lie far apart, where no prefetcher expects the next one.
                    rows::<E, P, L>(&part, padded, to, to.wrapping_add(strips.width * s.k));
                } else {
                    #[allow(unused_mut)] // Only x86-64 has transpositions.
                    let mut moved = 0;
                    #[cfg(target_arch = "x86_64")]
                    if AVX2 && s.term == 1 && size_of::<E>() == size_of::<P>() {
                        moved = transposed::<E, P, L>(&part, padded, to);
                    }
                    columns::<E, P, L>(&part, moved, padded, to);
                }
                pad(&part, padded, to);
            }
        }
    }
}

/// One strip whose terms are side by side, as far as transposition in registers goes. Returns how many terms
/// were packed.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn transposed<E: Copy, P: Copy, L: Load<E, P>>(s: &Lines<E>, padded: usize, to: *mut P) -> usize {
    // SAFETY: the elements lie inside the strip; originals and packed elements are of one size, and every
    // original is read before its place is written.
    unsafe {
        let size = size_of::<E>();
        let moved = transpose::squares(size, s.first.cast(), s.line, s.count, s.k, to.cast(), padded);
        if !L::IDENTITY {
            for p in 0..moved {
                let line = to.add(p * padded);
                for i in 0..s.count {
                    line.add(i).write(L::load(line.add(i).cast::<E>().read()));
                }
            }
        }
        moved
    }
}

/// One strip whose lines are side by side. Another one will be written at `next`.
#[inline(always)]
unsafe fn rows<E: Copy, P: Copy, L: Load<E, P>>(s: &Lines<E>, padded: usize, to: *mut P, next: *const P) {
    // SAFETY: the indices stay inside the strip.
    unsafe {
        // Heights of tiles have loops of their own: a short copy of known length is a few instructions.
        match s.count {
            // Copied one at a time: several do not fit the stack.
            _ if const { size_of::<[E; 16]>() > ON_STACK } => columns::<E, P, L>(s, 0, padded, to),
            6 => rows_of::<E, P, L, 6>(s, 1, padded, to, next),
            12 => rows_of::<E, P, L, 12>(s, 1, padded, to, next),
            _ => rows_of::<E, P, L, 16>(s, s.count / 16, padded, to, next),
        }
    }
}

/// `chunks` of `N` lines of every term, and then what lines are left, one by one.
#[inline(always)]
unsafe fn rows_of<E: Copy, P: Copy, L: Load<E, P>, const N: usize>(
    s: &Lines<E>,
    chunks: usize,
    padded: usize,
    to: *mut P,
    next: *const P,
) {
    for p in 0..s.k {
        // SAFETY: the indices stay inside the strip.
        unsafe {
            let from = s.first.offset(p as isize * s.term);
            let (to, next) = (to.add(p * padded), next.wrapping_add(p * padded));
            for c in 0..chunks {
                for line in (0..size_of::<[P; N]>()).step_by(64) {
                    prefetch_to_write(next.wrapping_add(c * N).wrapping_byte_add(line));
                }
                // Read before written: the compiler need not fear that they overlap.
                let chunk = from.cast::<[E; N]>().add(c).read_unaligned();
                for (i, x) in chunk.into_iter().enumerate() {
                    to.add(c * N + i).write(L::load(x));
                }
            }
            for i in chunks * N..s.count {
                to.add(i).write(L::load(*from.add(i)));
            }
        }
    }
}

/// One strip, line after line, from term `begin` on.
#[inline(always)]
unsafe fn columns<E: Copy, P: Copy, L: Load<E, P>>(s: &Lines<E>, begin: usize, padded: usize, to: *mut P) {
    // Terms at a time: a cache line of the source is used up before it is evicted.
    const BLOCK: usize = 16;
    for block in (begin..s.k).step_by(BLOCK) {
        for i in 0..s.count {
            for p in block..s.k.min(block + BLOCK) {
                // SAFETY: the indices stay inside the strip.
                unsafe {
                    let from = s.first.offset(i as isize * s.line + p as isize * s.term);
                    to.add(p * padded + i).write(L::load(*from));
                }
            }
        }
    }
}

/// Fills the padding by repeating the last line, which keeps it free of overflow, denormals and undefined
/// memory.
#[inline(always)]
unsafe fn pad<E, P: Copy>(s: &Lines<E>, padded: usize, to: *mut P) {
    if s.count == padded || s.count == 0 {
        return;
    }
    for p in 0..s.k {
        // SAFETY: the strip has `k * padded` elements, of which the first `count` of every term are written.
        unsafe {
            let last = *to.add(p * padded + s.count - 1);
            for i in s.count..padded {
                to.add(p * padded + i).write(last);
            }
        }
    }
}

/// # Safety
/// As [`PackFn`].
pub unsafe fn portable<E: Copy, P: Copy, L: Load<E, P>>(s: &Lines<E>, strips: Strips, to: *mut P) {
    // SAFETY: as the caller guarantees.
    unsafe { pack::<E, P, L, false>(s, strips, to) }
}

/// # Safety
/// As [`PackFn`], on a processor with AVX-512 F, BW, DQ and VL.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
pub unsafe fn avx512<E: Copy, P: Copy, L: Load<E, P>>(s: &Lines<E>, strips: Strips, to: *mut P) {
    // SAFETY: as the caller guarantees.
    unsafe { pack::<E, P, L, true>(s, strips, to) }
}

/// # Safety
/// As [`PackFn`], on a processor with AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub unsafe fn avx2<E: Copy, P: Copy, L: Load<E, P>>(s: &Lines<E>, strips: Strips, to: *mut P) {
    // SAFETY: as the caller guarantees.
    unsafe { pack::<E, P, L, true>(s, strips, to) }
}

/// # Safety
/// As [`PackFn`], on a processor with NEON.
#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
pub unsafe fn neon<E: Copy, P: Copy, L: Load<E, P>>(s: &Lines<E>, strips: Strips, to: *mut P) {
    // SAFETY: as the caller guarantees.
    unsafe { pack::<E, P, L, false>(s, strips, to) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_widens_exactly() {
        for bits in 0..=u16::MAX {
            let (h, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            let (wide, wide_b) = (<Widen as Load<_, f32>>::load(h), <Widen as Load<_, f32>>::load(b));
            assert!(h.is_nan() && wide.is_nan() || wide.to_bits() == h.to_f32().to_bits(), "{bits:x}");
            assert!(b.is_nan() && wide_b.is_nan() || wide_b.to_bits() == b.to_f32().to_bits(), "{bits:x}");
        }
    }
}
