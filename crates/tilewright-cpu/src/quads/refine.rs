//! What the filter leaves of an output, computed exactly.

#![allow(clippy::needless_range_loop)] // Bytes of several vectors count at once.

use super::{GROUP, GROUPS, TERMS, WIDEST};
use crate::{
    filter::{LIMIT, RUN, Rough, SLACK},
    lanes::Across,
    op::{Op, SelectSum},
    tile::{Start, Tile},
};
use core::mem::MaybeUninit;

/// The runs that the filter leaves of an output, one bit each: the bit of a group in the byte of a place, in one half for
/// the first eight groups, in the other for the rest.
type Runs = u64;
const _: () = assert!(GROUPS * TERMS <= Runs::BITS as usize);

/// The first term of the run of each bit.
const FIRST: [u16; Runs::BITS as usize] = {
    let mut first = [0; Runs::BITS as usize];
    let mut bit = 0;
    while bit < first.len() {
        let (group, place) = (bit / 32 * 8 + bit % 8, bit / 8 % TERMS);
        first[bit] = (group * GROUP + place * RUN) as u16;
        bit += 1;
    }
    first
};

/// Looks at the minima of outputs side by side, those of a group in `BYTES` bytes and `stride` quads from those of the next.
#[inline(always)]
unsafe fn look<const BYTES: usize>(minima: *const u32, groups: usize, stride: usize, runs: &mut [Runs]) {
    let mut least = [u8::MAX; BYTES];
    for g in 0..groups {
        // SAFETY: the caller guarantees the minima.
        let sums = unsafe { minima.add(g * stride).cast::<[u8; BYTES]>().read() };
        for l in 0..BYTES {
            least[l] = least[l].min(sums[l]);
        }
    }
    // Of all places of an output.
    let (mut pairs, mut limit) = (least, least);
    for l in 0..BYTES {
        pairs[l] = least[l].min(least[l ^ 1]);
    }
    for l in 0..BYTES {
        let least = pairs[l].min(pairs[l ^ 2]);
        limit[l] = if least > LIMIT { u8::MAX } else { least + SLACK };
    }
    let mut bits = [[0; BYTES]; 2];
    for (half, bits) in bits.iter_mut().enumerate() {
        for g in 8 * half..groups.min(8 * half + 8) {
            // SAFETY: as above.
            let sums = unsafe { minima.add(g * stride).cast::<[u8; BYTES]>().read() };
            for l in 0..BYTES {
                bits[l] |= if sums[l] <= limit[l] { 1 << (g % 8) } else { 0 };
            }
        }
    }
    for j in 0..BYTES / TERMS {
        runs[j] = quad(&bits[0], j) | quad(&bits[1], j) << 32;
    }
}

/// The bits of the four places of output `j`.
#[inline(always)]
fn quad<const BYTES: usize>(bits: &[u8; BYTES], j: usize) -> Runs {
    let at = j * TERMS;
    u32::from_le_bytes([bits[at], bits[at + 1], bits[at + 2], bits[at + 3]]).into()
}

/// Writes elements of C, `rows` by `cols`, or joins them with what is there, by the terms that the filter leaves.
#[inline(always)]
pub unsafe fn refine<V: Across<T: Rough>, const MAX: bool, const BYTES: usize>(
    minima: *const u32,
    [rows, cols]: [usize; 2],
    a: *const V::T,
    b: *const V::T,
    t: &Tile<u32, V::T>,
) {
    let (groups, terms) = (t.k.div_ceil(GROUP), t.k.next_multiple_of(GROUP));
    let mut next = [0; WIDEST];
    // SAFETY: as the caller guarantees.
    unsafe {
        let op = SelectSum::<V, MAX>::new();
        for i in 0..=rows {
            // One row ahead, so that its runs are on their way to the first-level cache.
            let runs = next;
            if i < rows {
                for first in (0..cols).step_by(BYTES / TERMS) {
                    look::<BYTES>(minima.add(i * cols + first), groups, rows * cols, &mut next[first..]);
                }
                let mut b = b;
                for &runs in &next[..cols] {
                    V::prefetch(b.add(first(runs)));
                    b = b.add(terms);
                }
            }
            let Some(i) = i.checked_sub(1) else { continue };
            let (a, c) = (a.add(i * terms), t.c.offset(i as isize * t.c_row));
            for first in (0..cols).step_by(V::LEN) {
                let mut left = MaybeUninit::<[V; RUN]>::uninit();
                let left = left.as_mut_ptr().cast::<V>();
                for j in 0..V::LEN {
                    let b = b.add((first + j) * terms);
                    left.add(j).write(op.finish(best(op, a, b, *runs.get_unchecked(first + j))));
                }
                let (sums, c) = (V::across_each(left, MAX), c.add(first));
                let sums = if t.start == Start::Zero { sums } else { op.add(V::load(c), sums) };
                sums.store(c);
            }
        }
    }
}

/// The first term of the first of some runs.
#[inline(always)]
unsafe fn first(runs: Runs) -> usize {
    // SAFETY: there is a run, and a first term for each.
    unsafe { usize::from(*FIRST.get_unchecked(runs.trailing_zeros() as usize)) }
}

/// The best terms of some runs, at least one.
#[inline(always)]
unsafe fn best<V: Across<T: Rough>, const MAX: bool>(
    op: SelectSum<V, MAX>,
    a: *const V::T,
    b: *const V::T,
    runs: Runs,
) -> V {
    // SAFETY: the caller guarantees the runs and the instruction set.
    unsafe {
        // There is mostly one, and sometimes another: to look at the same run twice costs less than to ask.
        let others = runs & (runs - 1);
        let mut best = run(op, op.zero(), a, b, runs);
        best = run(op, best, a, b, if others == 0 { runs } else { others });
        let mut more = others & others.wrapping_sub(1);
        while more != 0 {
            best = run(op, best, a, b, more);
            more &= more - 1;
        }
        best
    }
}

/// `best` joined with the terms of the first of some runs.
#[inline(always)]
unsafe fn run<V: Across<T: Rough>, const MAX: bool>(
    op: SelectSum<V, MAX>,
    mut best: V,
    a: *const V::T,
    b: *const V::T,
    runs: Runs,
) -> V {
    // SAFETY: as the caller guarantees.
    unsafe {
        let first = first(runs);
        for p in (first..first + RUN).step_by(V::LEN) {
            best = op.mul_add(best, V::load(a.add(p)), V::load(b.add(p)));
        }
        best
    }
}
