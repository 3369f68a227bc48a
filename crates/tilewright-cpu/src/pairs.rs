//! Products in 16 bits: packing two terms of a line to a pair, and the micro-kernel on vectors of pairs. Integers that have no more than 16 bits
//! are packed so as well, for dot products.

#![allow(clippy::needless_range_loop)] // Rows and vectors of a tile count in several places at once.

use crate::{
    lanes::PairLanes,
    narrow::{Code, Integer},
    pack::{self, Lines, Same, Strips},
    tile::{Start, Tile},
};
use core::mem::MaybeUninit;

/// Terms in a pair.
pub const TERMS: usize = 2;

/// Pairs of a strip that are written before they are put in order: they stay in the first-level cache.
const WRITTEN: usize = 32;
/// Lines of the widest strip.
const WIDEST: usize = 32;
/// Elements of the largest tile.
const LARGEST: usize = 12 * 32;

/// How terms are written in 16 bits.
pub trait Half<E> {
    fn write(code: Code, x: E) -> u16;
    /// The partner of a last term that is alone.
    fn partner(alone: u16) -> u16;
}

/// As distances, of which the smallest sum is selected.
pub struct Distance;
/// As they are.
pub struct Number;

impl<E: Integer> Half<E> for Distance {
    #[inline(always)]
    fn write(code: Code, x: E) -> u16 {
        code.write(x)
    }
    /// A term that counts twice changes no selection.
    #[inline(always)]
    fn partner(alone: u16) -> u16 {
        alone
    }
}

impl<E: Into<i16>> Half<E> for Number {
    #[inline(always)]
    fn write(_: Code, x: E) -> u16 {
        x.into() as u16
    }
    #[inline(always)]
    fn partner(_: u16) -> u16 {
        0
    }
}

/// The body of every [`pack::PackFn`] that makes pairs.
///
/// # Safety
/// As [`pack::PackFn`], with `k` halved and rounded up.
#[inline(always)]
unsafe fn pack<E: Copy, H: Half<E>, const AVX2: bool>(s: &Lines<E>, strips: Strips, to: *mut u32) {
    let pairs = s.k.div_ceil(TERMS);
    // As in `pack::pack`: lines that are side by side are read along all strips, a few terms at a time.
    let step = TERMS * if s.line == 1 { 2 } else { WRITTEN };
    let mut written = MaybeUninit::<[u32; WIDEST * WRITTEN]>::uninit();
    let written = written.as_mut_ptr().cast::<u32>();
    for p in (0..s.k).step_by(step) {
        for i in (0..s.count).step_by(strips.width) {
            // SAFETY: the part lies inside the lines, its pairs inside `written`, and its place inside the strips.
            unsafe {
                let part = s.part((i, strips.width), (p, step));
                let to = to.add(i * pairs + p / TERMS * part.count.next_multiple_of(strips.unit));
                pack::pack::<u32, u32, Same, AVX2>(&write::<E, H>(&part, written), strips, to);
            }
        }
    }
}

/// Writes the pairs of one strip, in the order in which its elements lie.
#[inline(always)]
unsafe fn write<E: Copy, H: Half<E>>(s: &Lines<E>, to: *mut u32) -> Lines<u32> {
    let (pairs, last) = (s.k.div_ceil(TERMS), s.k - 1);
    let lines = Lines {
        first: to.cast_const(),
        line: 1,
        term: s.count as isize,
        count: s.count,
        k: pairs,
        code: s.code,
        best: core::ptr::null(),
    };
    // SAFETY: the elements lie inside the strip, and there is room for all pairs.
    unsafe {
        if s.line == 1 {
            for p in 0..pairs {
                let low = s.first.offset((TERMS * p) as isize * s.term);
                let to = to.add(p * s.count);
                if TERMS * p == last {
                    for i in 0..s.count {
                        to.add(i).write(alone::<E, H>(s.code, *low.add(i)));
                    }
                    continue;
                }
                let high = low.offset(s.term);
                for i in 0..s.count {
                    to.add(i).write(pair::<E, H>(s.code, *low.add(i), *high.add(i)));
                }
            }
            return lines;
        }
        for i in 0..s.count {
            let line = s.first.offset(i as isize * s.line);
            let to = to.add(i * pairs);
            // The stride of one is a case of its own, so that the compiler sees it.
            if s.term == 1 {
                for p in 0..s.k / TERMS {
                    to.add(p).write(pair::<E, H>(s.code, *line.add(TERMS * p), *line.add(TERMS * p + 1)));
                }
            } else {
                for p in 0..s.k / TERMS {
                    let first = line.offset((TERMS * p) as isize * s.term);
                    to.add(p).write(pair::<E, H>(s.code, *first, *first.offset(s.term)));
                }
            }
            if !s.k.is_multiple_of(TERMS) {
                to.add(pairs - 1).write(alone::<E, H>(s.code, *line.offset(last as isize * s.term)));
            }
        }
        Lines { line: pairs as isize, term: 1, ..lines }
    }
}

#[inline(always)]
fn pair<E, H: Half<E>>(code: Code, first: E, second: E) -> u32 {
    u32::from(H::write(code, first)) | u32::from(H::write(code, second)) << 16
}

#[inline(always)]
fn alone<E, H: Half<E>>(code: Code, last: E) -> u32 {
    let last = H::write(code, last);
    u32::from(last) | u32::from(H::partner(last)) << 16
}

/// The smallest sums of `MR` rows and `NV` vectors of columns, row by row to `sums`; a pair holds those of even and of
/// odd terms.
#[inline(always)]
unsafe fn sums<V: PairLanes, const MR: usize, const NV: usize>(
    pairs: usize,
    mut a: *const u32,
    mut b: *const u32,
    sums: *mut u32,
) {
    // SAFETY: the caller guarantees all that is read, written and executed here.
    unsafe {
        let mut acc = [[V::splat(u32::MAX); NV]; MR];
        for _ in 0..pairs {
            let mut row = [V::splat(0); NV];
            for j in 0..NV {
                row[j] = V::load(b.add(j * V::LEN));
            }
            for i in 0..MR {
                let x = V::splat(*a.add(i));
                for j in 0..NV {
                    acc[i][j] = acc[i][j].min(x.add(row[j]));
                }
            }
            (a, b) = (a.add(MR), b.add(NV * V::LEN));
        }
        for i in 0..MR {
            for j in 0..NV {
                acc[i][j].store(sums.add((i * NV + j) * V::LEN));
            }
        }
    }
}

/// Writes elements of C, `rows` by `cols`, for the sums, or joins them with what is there.
#[inline(always)]
unsafe fn widen<E: Integer>(sums: *const u32, rows: usize, cols: usize, t: &Tile<u32, E>) {
    for i in 0..rows {
        for j in 0..cols {
            // SAFETY: as the caller guarantees.
            unsafe {
                let (pair, c) = (*sums.add(i * cols + j), t.c.offset(i as isize * t.c_row).add(j));
                let x = t.code.read((pair as u16).min((pair >> 16) as u16));
                c.write(if t.start == Start::Zero { x } else { t.code.better(*c, x) });
            }
        }
    }
}

/// The functions of one instruction set. Sums do not depend on the type of C, and are compiled once for all.
macro_rules! with_features {
    ($isa:ident, $avx2:literal $(, $arch:literal, $features:literal)?) => {
        $(#[cfg(target_arch = $arch)])?
        pub mod $isa {
            use super::*;

            /// # Safety
            /// As [`pack::PackFn`], on a processor with these features.
            $(#[target_feature(enable = $features)])?
            pub unsafe fn pack<E: Integer>(s: &Lines<E>, strips: Strips, to: *mut u32) {
                // SAFETY: as the caller guarantees.
                unsafe { super::pack::<E, Distance, $avx2>(s, strips, to) }
            }

            /// # Safety
            /// As [`pack::PackFn`], on a processor with these features.
            #[cfg_attr(target_arch = "aarch64", allow(dead_code))] // NEON multiplies numbers one by one.
            $(#[target_feature(enable = $features)])?
            pub unsafe fn pack_numbers<E: Copy + Into<i16>>(s: &Lines<E>, strips: Strips, to: *mut i32) {
                // SAFETY: as the caller guarantees.
                unsafe { super::pack::<E, Number, $avx2>(s, strips, to.cast()) }
            }

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            unsafe fn sums<V: PairLanes, const MR: usize, const NV: usize>(
                k: usize,
                a: *const u32,
                b: *const u32,
                to: *mut u32,
            ) {
                // SAFETY: as the caller guarantees.
                unsafe { super::sums::<V, MR, NV>(k, a, b, to) }
            }

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            unsafe fn widen<E: Integer>(sums: *const u32, rows: usize, cols: usize, t: &Tile<u32, E>) {
                // SAFETY: as the caller guarantees.
                unsafe { super::widen::<E>(sums, rows, cols, t) }
            }

            /// # Safety
            /// As [`crate::tile::TileFn`], on a processor with these features, for packed operands.
            pub unsafe fn tile<V: PairLanes, E: Integer, const MR: usize, const NV: usize>(t: &Tile<u32, E>) {
                const { assert!(MR * NV * V::LEN <= LARGEST && MR <= WIDEST && NV * V::LEN <= WIDEST) };
                let mut buffer = MaybeUninit::<[u32; LARGEST]>::uninit();
                let buffer = buffer.as_mut_ptr().cast::<u32>();
                // SAFETY: as the caller guarantees; the buffer holds all sums of a tile.
                unsafe {
                    sums::<V, MR, NV>(t.k, t.a, t.b, buffer);
                    widen(buffer, MR, NV * V::LEN, t);
                }
            }
        }
    };
}
with_features!(avx512, true, "x86_64", "avx512f,avx512bw,avx512dq,avx512vl,fma");
with_features!(avx2, true, "x86_64", "avx2,fma");
with_features!(neon, false, "aarch64", "neon");
with_features!(portable, false);
