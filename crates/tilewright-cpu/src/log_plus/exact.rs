//! Results whose scaled sums cannot be trusted, from their terms: the largest term is found first, and what it dwarfs is left out.

#![allow(clippy::needless_range_loop)] // Columns count in several places at once.

use super::{
    finish::SIDE,
    real::{Loops, Real, run},
};
use crate::{isa::Isa, lanes::Lanes, options::Options, share::share, shared::Shared};
use core::{
    hint::black_box,
    marker::PhantomData,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};
use tilewright_core::{Error, ErrorKind, MatRef};

/// The elements of C whose sums cannot be trusted: a bit each.
pub struct Doubts {
    words: Vec<AtomicU64>,
    per_row: usize,
    any: AtomicBool,
}

impl Doubts {
    /// None yet, of `m x n` elements.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn new(m: usize, n: usize) -> Result<Self, Error> {
        let per_row = n.div_ceil(SIDE);
        let count = m.saturating_mul(per_row);
        let mut words = Vec::new();
        if words.try_reserve_exact(count).is_err() {
            let bytes = (count as u64).saturating_mul(8);
            return Err(ErrorKind::OutOfMemory { what: "a bit for each sum", bytes }.into());
        }
        words.resize_with(count, AtomicU64::default);
        Ok(Self { words, per_row, any: AtomicBool::new(false) })
    }

    /// Doubts element `(i, j)`.
    pub fn add(&self, i: usize, j: usize) {
        self.words[i * self.per_row + j / SIDE].fetch_or(1 << (j % SIDE), Ordering::Relaxed);
        self.any.store(true, Ordering::Relaxed);
    }

    /// Columns `SIDE * word ..` of row `i`, a bit each.
    fn word(&self, i: usize, word: usize) -> u64 {
        self.words[i * self.per_row + word].load(Ordering::Relaxed)
    }

    fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum()
    }
}

/// What is computed again.
pub struct Again<'a, T> {
    pub a: MatRef<'a, T>,
    pub b: MatRef<'a, T>,
    pub c: Shared<T>,
    /// Whether results are joined with C.
    pub joins: bool,
    pub isa: Isa,
}

/// Columns that are computed side by side.
pub const COLS: usize = 16;
/// Rows that meet the same part of B.
pub const ROWS: usize = 32;
/// Terms of a part.
const TERMS: usize = 128;
/// How much longer a term takes than in the scaled product, roughly.
const SLOWER: f64 = 8.0;

impl<T: Real> Again<'_, T> {
    /// Computes all doubtful elements, shared among threads.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn compute(&self, doubts: &Doubts, options: &Options<'_>) -> Result<(), Error> {
        if !doubts.any.load(Ordering::Relaxed) {
            return Ok(());
        }
        let terms = doubts.count() as f64 * self.a.cols() as f64;
        let parts: Vec<_> = (0..doubts.per_row)
            .flat_map(|word| (0..self.a.rows()).step_by(ROWS).map(move |row| (row, word)))
            .collect();
        share(&parts, options.threads_for(terms * SLOWER), &|&(row, word)| {
            options.check_cancelled()?;
            let rows = row..self.a.rows().min(row + ROWS);
            for first in (0..SIDE).step_by(COLS) {
                let mut columns = [0; ROWS];
                for i in rows.clone() {
                    columns[i - row] = (doubts.word(i, word) >> first) & ((1 << COLS) - 1);
                }
                if columns.iter().any(|&bits| bits != 0) {
                    self.group(row, word * SIDE + first, &columns);
                }
            }
            Ok(())
        })
    }

    /// Computes the elements that `columns` tells of rows from `row` and columns from `col` on.
    #[cold]
    pub fn group(&self, row: usize, col: usize, columns: &[u64; ROWS]) {
        let k = self.a.cols();
        let cut_off = T::nearest(-((k as f64).ln() - T::UNIT_ROUNDOFF.ln()));
        let mut sums = [Sums { best: [T::BOTTOM; COLS], sum: [T::NIL; COLS] }; ROWS];
        let mut b = [[T::BOTTOM; COLS]; TERMS];
        let width = COLS.min(self.b.cols() - col);
        for first in (0..k).step_by(TERMS) {
            let count = TERMS.min(k - first);
            for (p, line) in b.iter_mut().enumerate().take(count) {
                for (l, x) in line.iter_mut().enumerate().take(width) {
                    // SAFETY: the terms and columns lie inside B.
                    *x = unsafe { self.b.get_unchecked(first + p, col + l) };
                }
            }
            for (i, sums) in (row..).zip(&mut sums).take(self.a.rows() - row) {
                if columns[i - row] != 0 {
                    let mut a = [T::BOTTOM; TERMS];
                    for (p, x) in a.iter_mut().enumerate().take(count) {
                        // SAFETY: the row and the terms lie inside A.
                        *x = unsafe { self.a.get_unchecked(i, first + p) };
                    }
                    add_terms(&a[..count], &b[..count], cut_off, sums, self.isa);
                }
            }
        }
        for ((i, sums), &bits) in (row..).zip(&sums).zip(columns) {
            let mut results = [T::NIL; COLS];
            run(Ends { sums, results: &mut results }, self.isa);
            for (l, &result) in results.iter().enumerate().filter(|(l, _)| bits >> l & 1 == 1) {
                // SAFETY: the element exists, and no other part has it.
                unsafe { self.set(i, col + l, result) };
            }
        }
    }

    /// Element `(i, j)`, to which this is the sum of all terms.
    ///
    /// # Safety
    /// The element must exist, and no other thread may use it.
    pub unsafe fn set(&self, i: usize, j: usize, sum: T) {
        // SAFETY: as the caller guarantees.
        unsafe {
            let joined = if self.joins { T::log_add_exp::<false>(self.c.get(i, j), sum) } else { sum };
            self.c.set(i, j, joined.plus(T::NIL));
        }
    }
}

/// Sums of terms so far, of columns side by side.
#[derive(Clone, Copy)]
struct Sums<T> {
    /// The largest term.
    best: [T; COLS],
    /// Of `exp(term - best)`.
    sum: [T; COLS],
}

/// Adds some terms of a row, on an instruction set.
fn add_terms<T: Real>(a: &[T], b: &[[T; COLS]], cut_off: T, sums: &mut Sums<T>, isa: Isa) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => run(Part::<T, T::Avx512> { a, b, cut_off, sums, lanes: PhantomData }, isa),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => run(Part::<T, T::Avx2> { a, b, cut_off, sums, lanes: PhantomData }, isa),
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => run(Part::<T, T::Neon> { a, b, cut_off, sums, lanes: PhantomData }, isa),
        _ => run(Part::<T, T::Portable> { a, b, cut_off, sums, lanes: PhantomData }, isa),
    }
}

/// Some terms of a row.
struct Part<'a, T, V> {
    a: &'a [T],
    b: &'a [[T; COLS]],
    /// Terms that far from the largest have no weight, all together.
    cut_off: T,
    sums: &'a mut Sums<T>,
    lanes: PhantomData<V>,
}

/// Largest terms that are looked for side by side, so that one need not wait for the other.
const CHAINS: usize = 4;

impl<T: Real, V: Lanes<T = T>> Loops for Part<'_, T, V> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { a, b, cut_off, sums, .. } = self;
        for first in (0..COLS).step_by(V::LEN) {
            // SAFETY: a vector lies inside the columns, and `run` is called where its instruction set is enabled.
            unsafe {
                let best = largest::<T, V>(a, b, first, &sums.best);
                let mut weight = [T::NIL; COLS];
                best.store(weight[first..].as_mut_ptr());
                for l in first..first + V::LEN {
                    if weight[l] > sums.best[l] {
                        let less = T::exponential::<FUSED>(sums.best[l].minus(weight[l]), T::NIL);
                        sums.sum[l] = sums.sum[l].times(less);
                        sums.best[l] = weight[l];
                    }
                }
                // The difference, because a cut-off that is added to a large number may change nothing.
                let (back, cut_off) = (best.mul(V::splat(T::NIL.minus(T::ONE))), V::splat(cut_off));
                for (&a, b) in a.iter().zip(b) {
                    let term = V::splat(a).add(V::load(b[first..].as_ptr()));
                    if term.add(back).any_better(true, cut_off) {
                        // A length that the compiler does not know, lest it make a loop of single elements of it.
                        let end = first + black_box(V::LEN).min(COLS - first);
                        add_exponentials::<T, FUSED>(
                            a,
                            &b[first..end],
                            &sums.best[first..end],
                            &mut sums.sum[first..end],
                        );
                    }
                }
            }
        }
    }
}

/// The largest terms of a vector of columns.
///
/// # Safety
/// The instruction set of `V` must be available, and the vector lie inside the columns.
#[inline(always)]
unsafe fn largest<T: Real, V: Lanes<T = T>>(a: &[T], b: &[[T; COLS]], first: usize, so_far: &[T; COLS]) -> V {
    // SAFETY: as the caller guarantees.
    unsafe {
        let mut best = [V::load(so_far[first..].as_ptr()); CHAINS];
        let (chunks, rest) = a.as_chunks::<CHAINS>();
        for (chunk, b) in chunks.iter().zip(b.as_chunks::<CHAINS>().0) {
            for p in 0..CHAINS {
                best[p] = V::splat(chunk[p]).add(V::load(b[p][first..].as_ptr())).max(best[p]);
            }
        }
        for (&a, b) in rest.iter().zip(&b[chunks.len() * CHAINS..]) {
            best[0] = V::splat(a).add(V::load(b[first..].as_ptr())).max(best[0]);
        }
        best[0].max(best[1]).max(best[2].max(best[3]))
    }
}

/// Adds the weights of terms beside the largest ones.
#[inline(always)]
fn add_exponentials<T: Real, const FUSED: bool>(a: T, b: &[T], best: &[T], sum: &mut [T]) {
    for ((sum, &b), &best) in sum.iter_mut().zip(b).zip(best) {
        *sum = sum.plus(T::exponential::<FUSED>(a.plus(b).minus(best), T::NIL));
    }
}

/// The results of complete sums.
struct Ends<'a, T> {
    sums: &'a Sums<T>,
    results: &'a mut [T; COLS],
}

impl<T: Real> Loops for Ends<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Sums { best, sum } = self.sums;
        for l in 0..COLS {
            let result = T::scaled_log::<FUSED>(best[l], T::NIL, sum[l]);
            // Without a term that is not absent there is no sum; and an infinite one has no logarithm to add.
            self.results[l] = if best[l].magnitude() < T::TOP { result } else { best[l] };
        }
    }
}
