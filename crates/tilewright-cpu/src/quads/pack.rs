//! Packing: lines as they are, and their quads.

use super::{BLOCK, GROUP, TERMS, WIDEST, packing};
use crate::{
    filter::{self, RUN, Rough, worst},
    lanes::Across,
    pack::{self, Lines, Load, Same, Strips},
};
use core::{mem::MaybeUninit, ptr::copy_nonoverlapping};

/// The body of every [`pack::PackFn`] that makes quads.
///
/// # Safety
/// As [`pack::PackFn`].
#[inline(always)]
pub unsafe fn pack<E: Copy, V: Across<T: Rough>, L: Load<E, V::T>, const MAX: bool, const AVX2: bool>(
    s: &Lines<E>,
    strips: Strips,
    to: *mut u32,
) {
    let line = packing::<V::T>().elements(s.k);
    let mut quads = MaybeUninit::<[u32; WIDEST * BLOCK / TERMS]>::uninit();
    let quads = quads.as_mut_ptr().cast::<u32>();
    // SAFETY: all parts lie inside the lines, and their places inside the strips and the buffer of quads.
    unsafe {
        // As in `pack::pack`: lines that are side by side are read along all strips, a few terms at a time.
        let side_by_side = s.line == 1;
        if side_by_side {
            for p in (0..s.k).step_by(GROUP) {
                for i in (0..s.count).step_by(strips.width) {
                    let count = strips.width.min(s.count - i);
                    let to = Strip::<V::T>::new(to.add(i * line), count.next_multiple_of(strips.unit), s.k);
                    to.copy_all::<E, L, AVX2>(&s.part(i, count, p, GROUP.min(s.k - p)), p);
                }
            }
        }
        for i in (0..s.count).step_by(strips.width) {
            let count = strips.width.min(s.count - i);
            let to = Strip::<V::T>::new(to.add(i * line), count.next_multiple_of(strips.unit), s.k);
            // Each line stays in the first-level cache until its quads are written.
            for l in 0..to.padded {
                if l >= count {
                    copy_nonoverlapping(to.line(count - 1), to.line(l), to.terms);
                } else if !side_by_side {
                    if i + l + 1 < s.count {
                        // Hardware prefetchers do not know which line is next.
                        prefetch::<E, V>(&s.part(i + l + 1, 1, 0, s.k));
                    }
                    to.copy_line::<E, L>(&s.part(i + l, 1, 0, s.k), l);
                }
                to.fill_up(l, s.k);
                write::<V, MAX>(to.line(l), to.terms, s.code.scale, quads.add(l * to.terms / TERMS));
            }
            let (first, line) = (quads.cast_const(), (to.terms / TERMS) as isize);
            let quads = Lines { first, line, term: 1, count: to.padded, k: to.terms / TERMS, code: s.code };
            pack::strip::<u32, u32, Same, AVX2>(&quads, to.padded, to.quads);
        }
    }
}

/// Asks for a line whose terms are side by side.
#[inline(always)]
unsafe fn prefetch<E, V: Across>(line: &Lines<E>) {
    const CACHE_LINE: usize = 64;
    if line.term == 1 {
        for p in (0..line.k).step_by(CACHE_LINE / size_of::<E>()) {
            // SAFETY: the caller guarantees the line.
            V::prefetch(unsafe { line.first.add(p) });
        }
    }
}

/// A packed strip.
struct Strip<P> {
    quads: *mut u32,
    lines: *mut P,
    /// Lines, with those that fill up the strip.
    padded: usize,
    /// Terms, with those that fill up a line.
    terms: usize,
}

impl<P: Copy> Strip<P> {
    #[inline(always)]
    unsafe fn new(to: *mut u32, padded: usize, k: usize) -> Self {
        let terms = k.next_multiple_of(GROUP);
        // SAFETY: the caller guarantees the room.
        let lines = unsafe { to.add(padded * terms / TERMS).cast() };
        Self { quads: to, lines, padded, terms }
    }

    #[inline(always)]
    unsafe fn line(&self, i: usize) -> *mut P {
        // SAFETY: the caller guarantees that there is such a line.
        unsafe { self.lines.add(i * self.terms) }
    }

    /// Copies some terms of all lines, to those from `p` on.
    #[inline(always)]
    unsafe fn copy_all<E: Copy, L: Load<E, P>, const AVX2: bool>(&self, from: &Lines<E>, p: usize) {
        // Lines whose terms are side by side are a strip of terms.
        let terms = Lines { line: from.term, term: from.line, count: from.k, k: from.count, ..*from };
        // SAFETY: as the caller guarantees.
        unsafe { pack::strip::<E, P, L, AVX2>(&terms, self.terms, self.line(0).add(p)) }
    }

    /// Copies a line.
    #[inline(always)]
    unsafe fn copy_line<E: Copy, L: Load<E, P>>(&self, from: &Lines<E>, i: usize) {
        // SAFETY: as the caller guarantees.
        unsafe {
            let to = self.line(i);
            // The stride of one is a case of its own, so that the compiler sees it.
            if from.term == 1 {
                for p in 0..from.k {
                    to.add(p).write(L::load(*from.first.add(p)));
                }
            } else {
                for p in 0..from.k {
                    to.add(p).write(L::load(*from.first.offset(p as isize * from.term)));
                }
            }
        }
    }

    /// Fills up line `i` with its last of `k` terms, which changes no selection.
    #[inline(always)]
    unsafe fn fill_up(&self, i: usize, k: usize) {
        for p in k..self.terms {
            // SAFETY: as the caller guarantees.
            unsafe { self.line(i).add(p).write(*self.line(i).add(k - 1)) }
        }
    }
}

/// Writes the quads of a line.
#[inline(always)]
unsafe fn write<V: Across<T: Rough>, const MAX: bool>(
    line: *const V::T,
    terms: usize,
    scale: f64,
    quads: *mut u32,
) {
    // SAFETY: the caller guarantees the line and the room.
    unsafe {
        let mut best = V::splat(worst::<V::T, MAX>());
        for p in (0..terms).step_by(V::LEN) {
            let terms = V::load(line.add(p));
            best = if MAX { terms.max(best) } else { terms.min(best) };
        }
        let origin = best.across(MAX);
        for p in (0..terms).step_by(GROUP) {
            for t in p..p + RUN {
                let mut quad = 0;
                for q in 0..TERMS {
                    quad |= filter::code(*line.add(t + q * RUN), origin, scale) << (8 * q);
                }
                // In the order of the bytes in memory.
                quads.add((p / TERMS) + t - p).write(quad.to_le());
            }
        }
    }
}
