//! Some rows of C: their sums as bits, word of terms by word of terms.

#![allow(clippy::needless_range_loop)] // The words of a line are one vector.

use super::pack::{Booleans, WORD, pack, unpack};
use crate::lanes::{self, Lanes};
use tilewright_core::NO_ARG;

/// The bits of a row that are computed together.
pub type Line<const W: usize> = [u32; W];

/// Terms that are packed at a time, when the first of them is needed.
pub const CHUNK: usize = 8 * WORD;

/// Unions of four rows of B.
const UNIONS: usize = 16;
/// Fours in a word of terms.
const FOURS: usize = WORD / 4;
/// Unions for a word of terms.
pub const TABLES: usize = FOURS * UNIONS;

/// Rows of A and C, columns of B and C, and the terms between them.
pub struct Panel {
    pub rows: usize,
    pub cols: usize,
    pub terms: usize,
    /// The number of the first term.
    pub first: usize,
    pub a: Booleans,
    pub b: Booleans,
    pub c: Booleans,
    /// Whether sums start from C.
    pub joins: bool,
    /// Where winners go, if they are asked for.
    pub winners: Option<Winners>,
}

/// Where the winner of row `i` and column `j` goes: to `first + i * row + j * col`.
#[derive(Clone, Copy)]
pub struct Winners {
    pub first: *mut u32,
    pub row: isize,
    pub col: isize,
}

/// Memory of one thread, and what of the operands it holds.
pub struct Buffers<const W: usize> {
    /// The bits of A: word `w` of row `i` at `a + w * a_word + i`.
    pub a: *mut u32,
    pub a_word: usize,
    /// Terms of A that have been packed, for these rows.
    pub a_terms: usize,
    /// The bits of B, a line for each term.
    pub b: *mut Line<W>,
    /// Terms of B that have been packed.
    pub b_terms: usize,
    /// [`TABLES`] lines.
    pub tables: *mut Line<W>,
    /// A line for each row.
    pub sums: *mut Line<W>,
    /// Rows that are not yet true everywhere.
    pub open: *mut u32,
}

impl<const W: usize> Buffers<W> {
    /// Word `w` of the first row of A.
    #[inline(always)]
    fn word(&self, w: usize) -> *const u32 {
        self.a.wrapping_add(w * self.a_word)
    }

    /// The line of the first term of word `w`.
    #[inline(always)]
    fn lines(&self, w: usize) -> *const Line<W> {
        self.b.wrapping_add(w * WORD)
    }
}

/// Computes a panel, packing of A and B what has not been packed.
///
/// # Safety
/// Operands must be readable, C, winners and buffers writable, and the instruction set of `V` available.
#[inline(always)]
unsafe fn compute<V: Lanes<T = u8>, const W: usize>(p: &Panel, on: &mut Buffers<W>, steps: &Steps<W>) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let mut open = begin::<V, W>(p, on);
        for w in 0..p.terms.div_ceil(WORD) {
            if open == 0 {
                break;
            }
            if w * WORD >= on.a_terms {
                // Most rows are closed by the first chunk, if they are at all. The rest is read in long rows.
                let rest = p.terms - on.a_terms;
                let terms = if w == 0 { CHUNK.min(rest) } else { rest };
                let to = on.word(w).cast_mut();
                pack::<V>(p.a.from(0, on.a_terms), (p.rows, terms), to, (1, on.a_word));
                on.a_terms += terms;
            }
            if w * WORD >= on.b_terms {
                pack_b::<V, W>(p, on);
            }
            open = match p.winners {
                None => {
                    (steps.unite)(on, w);
                    let look_up = steps.look_up[usize::from(is_sparse(on, w, open))];
                    look_up(on, w, open)
                }
                Some(winners) => (steps.by_terms)(on, w, open, p.first, winners),
            };
        }
        for i in 0..p.rows {
            unpack(on.sums.add(i).cast(), p.cols, p.c.from(i, 0).first.cast_mut(), p.c.col);
        }
    }
}

/// Sums before the first term, and how many rows are open. Columns that do not exist are true.
#[inline(always)]
unsafe fn begin<V: Lanes<T = u8>, const W: usize>(p: &Panel, on: &Buffers<W>) -> usize {
    let mut beyond = [0; W];
    for w in 0..W {
        let columns = p.cols.saturating_sub(WORD * w).min(WORD);
        beyond[w] = if columns == WORD { 0 } else { u32::MAX << columns };
    }
    let mut open = 0;
    // SAFETY: as the caller guarantees.
    unsafe {
        for i in 0..p.rows {
            on.sums.add(i).write([0; W]);
        }
        if p.joins {
            pack::<V>(p.c, (p.rows, p.cols), on.sums.cast(), (W, 1));
        }
        for i in 0..p.rows {
            let sum = union(*on.sums.add(i), beyond);
            on.sums.add(i).write(sum);
            on.open.add(open).write(i as u32);
            open += usize::from(!is_full(sum));
        }
        if let (Some(winners), 0) = (p.winners, p.first) {
            for i in 0..p.rows {
                for j in 0..p.cols {
                    winners.first.offset(i as isize * winners.row + j as isize * winners.col).write(NO_ARG);
                }
            }
        }
    }
    open
}

/// Packs the next terms of B. Rows and columns that do not exist are false.
#[inline(always)]
unsafe fn pack_b<V: Lanes<T = u8>, const W: usize>(p: &Panel, on: &mut Buffers<W>) {
    let terms = CHUNK.min(p.terms - on.b_terms);
    // SAFETY: as the caller guarantees.
    unsafe {
        let to = on.b.add(on.b_terms);
        for term in 0..terms.next_multiple_of(WORD) {
            to.add(term).write([0; W]);
        }
        pack::<V>(p.b.from(on.b_terms, 0), (terms, p.cols), to.cast(), (W, 1));
    }
    on.b_terms += terms;
}

#[inline(always)]
fn union<const W: usize>(mut x: Line<W>, y: Line<W>) -> Line<W> {
    for w in 0..W {
        x[w] |= y[w];
    }
    x
}

#[inline(always)]
fn is_full<const W: usize>(x: Line<W>) -> bool {
    let mut all = u32::MAX;
    for w in 0..W {
        all &= x[w];
    }
    all == u32::MAX
}

/// All unions of the rows of B of word `w`, four by four: that of the rows whose bits are set in `x` is entry `x` of a table.
#[inline(always)]
unsafe fn unite<const W: usize>(on: &Buffers<W>, w: usize) {
    let (b, tables) = (on.lines(w), on.tables);
    for four in 0..FOURS {
        // SAFETY: as the caller guarantees.
        unsafe {
            let table = tables.add(four * UNIONS);
            table.write([0; W]);
            for bit in 0..4 {
                let row = *b.add(four * 4 + bit);
                for x in 0..1 << bit {
                    table.add(x | 1 << bit).write(union(*table.add(x), row));
                }
            }
        }
    }
}

/// Rows whose words are looked at to tell whether most are without a term.
const LOOKS: usize = 32;

/// Whether less than half of the words `w` have terms. Only then is it worth a branch, which is foretold wrongly where some have.
#[inline(always)]
unsafe fn is_sparse<const W: usize>(on: &Buffers<W>, w: usize, count: usize) -> bool {
    let (a, open) = (on.word(w), on.open);
    let looks = count.min(LOOKS);
    let mut filled = 0;
    for look in 0..looks {
        // SAFETY: as the caller guarantees.
        unsafe { filled += usize::from(*a.add(*open.add(look * count / looks) as usize) != 0) };
    }
    filled * 2 <= looks
}

/// Adds the terms of word `w` to `count` open rows, and returns how many are still open. `SKIPS` those without a term.
#[inline(always)]
unsafe fn look_up<const SKIPS: bool, const W: usize>(on: &Buffers<W>, w: usize, count: usize) -> usize {
    let (a, tables, sums, open) = (on.word(w), on.tables.cast_const(), on.sums, on.open);
    let mut left = 0;
    for number in 0..count {
        // SAFETY: as the caller guarantees; rows are open at most once.
        unsafe {
            let i = *open.add(number);
            let word = *a.add(i as usize);
            open.add(left).write(i);
            if SKIPS && word == 0 {
                left += 1;
                continue;
            }
            let mut sum = *sums.add(i as usize);
            for four in 0..FOURS {
                sum = union(sum, *tables.add(four * UNIONS + (word >> (4 * four) & 15) as usize));
            }
            sums.add(i as usize).write(sum);
            left += usize::from(!is_full(sum));
        }
    }
    left
}

/// As [`look_up`], term by term, of which `first` is the number of the panel's first one: the first that makes an element true is its winner.
#[inline(always)]
unsafe fn by_terms<const W: usize>(
    on: &Buffers<W>,
    w: usize,
    count: usize,
    first: usize,
    winners: Winners,
) -> usize {
    let (a, b, sums, open) = (on.word(w), on.lines(w), on.sums, on.open);
    let first = first + w * WORD;
    let mut left = 0;
    for number in 0..count {
        // SAFETY: as the caller guarantees.
        unsafe {
            let i = *open.add(number);
            let (mut word, mut sum) = (*a.add(i as usize), *sums.add(i as usize));
            let row = winners.first.offset(i as isize * winners.row);
            while word != 0 {
                let term = word.trailing_zeros() as usize;
                word &= word - 1;
                let line = *b.add(term);
                for w in 0..W {
                    let mut new = line[w] & !sum[w];
                    sum[w] |= new;
                    while new != 0 {
                        let j = WORD * w + new.trailing_zeros() as usize;
                        row.offset(j as isize * winners.col).write((first + term) as u32);
                        new &= new - 1;
                    }
                }
            }
            sums.add(i as usize).write(sum);
            open.add(left).write(i);
            left += usize::from(!is_full(sum));
        }
    }
    left
}

/// The loops over rows, each a function by itself: in one of all the compiler keeps no line in registers.
struct Steps<const W: usize> {
    unite: unsafe fn(&Buffers<W>, usize),
    /// Adding all words, and skipping those without a term.
    look_up: [unsafe fn(&Buffers<W>, usize, usize) -> usize; 2],
    by_terms: unsafe fn(&Buffers<W>, usize, usize, usize, Winners) -> usize,
}

/// The functions of one instruction set. With AVX-512 bits are taken from 32 bytes at a time as well.
macro_rules! with_features {
    ($isa:ident, $lanes:ident $(, $arch:literal, $features:literal)?) => {
        $(#[cfg(target_arch = $arch)])?
        pub mod $isa {
            use super::*;

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            unsafe fn unite<const W: usize>(on: &Buffers<W>, w: usize) {
                // SAFETY: as the caller guarantees.
                unsafe { super::unite(on, w) }
            }

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            unsafe fn look_up<const SKIPS: bool, const W: usize>(
                on: &Buffers<W>,
                w: usize,
                count: usize,
            ) -> usize {
                // SAFETY: as the caller guarantees.
                unsafe { super::look_up::<SKIPS, W>(on, w, count) }
            }

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            unsafe fn by_terms<const W: usize>(
                on: &Buffers<W>,
                w: usize,
                count: usize,
                first: usize,
                winners: Winners,
            ) -> usize {
                // SAFETY: as the caller guarantees.
                unsafe { super::by_terms(on, w, count, first, winners) }
            }

            /// # Safety
            /// As [`super::compute`], on a processor with these features.
            $(#[target_feature(enable = $features)])?
            pub unsafe fn compute<const W: usize>(panel: &Panel, buffers: &mut Buffers<W>) {
                let steps =
                    Steps { unite, look_up: [look_up::<false, W>, look_up::<true, W>], by_terms };
                // SAFETY: as the caller guarantees.
                unsafe { super::compute::<lanes::$lanes::Bytes, W>(panel, buffers, &steps) }
            }
        }
    };
}
with_features!(avx512, avx2, "x86_64", "avx512f,avx512bw,avx512dq,avx512vl,fma");
with_features!(avx2, avx2, "x86_64", "avx2,fma");
with_features!(neon, neon, "aarch64", "neon");
with_features!(portable, portable);
