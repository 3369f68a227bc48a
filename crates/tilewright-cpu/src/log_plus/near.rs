//! What is computed of few terms while it is near: exponentials of strips of B and of some rows of A, their products, and results.

#![allow(clippy::needless_range_loop)] // Rows count in several places at once.

use super::{
    doubtful,
    exact::{Again, COLS, ROWS},
    finish::Joined,
    real::{Loops, Real, run},
    vectors::{Extreme, MOST, factor, is_sure, result, shift},
};
use crate::{
    kernel::Tiles,
    lanes::FloatLanes,
    narrow::Code,
    options::Options,
    tile::{Finish, Start, Tile},
};
use core::{marker::PhantomData, ops::Range, ptr::null_mut};
use tilewright_core::Error;

/// Rows of A that are near at a time: whole tiles of most instruction sets.
pub const NEAR: usize = 24;
const _: () = assert!(NEAR <= ROWS);

/// Memory of one thread.
pub struct Memory<T> {
    /// Strips of columns of B, as exponentials.
    pub b: *mut T,
    /// The largest element of each of these columns, and its span.
    pub best: *mut T,
    pub span: *mut T,
    /// Some rows of A, as exponentials, each padded to whole vectors.
    pub a: *mut T,
    /// A tile of scaled sums.
    pub sums: *mut T,
}

/// What is common to all parts of C that one thread computes.
pub struct Region<'a, T: 'static, V> {
    pub again: &'a Again<'a, T>,
    pub tiles: Tiles<T, T>,
    /// Columns of B at a time.
    pub near: usize,
    /// Columns of a strip.
    pub width: usize,
    /// From a row of A to the next.
    pub row: usize,
    /// The least sum that lost terms leave as it is.
    pub least: T,
    pub memory: Memory<T>,
    pub lanes: PhantomData<V>,
}

/// Some rows and columns of C.
pub struct Part<'a, T: 'static, V> {
    pub region: Region<'a, T, V>,
    pub rows: Range<usize>,
    pub cols: Range<usize>,
    pub options: &'a Options<'a>,
}

impl<T: Real, V: FloatLanes<T = T>> Loops for Part<'_, T, V> {
    type Output = Result<(), Error>;
    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Result<(), Error> {
        let Self { region, rows, cols, options } = self;
        let mut scales = [(T::NIL, T::NIL); NEAR];
        let mut at = cols.start;
        while at < cols.end {
            let cols = at..cols.end.min(at + region.near);
            at = cols.end;
            // SAFETY: rows and columns lie inside the operands, memory was reserved for them, and `run` enables the instructions of `V`.
            unsafe { region.factors_of_b(&cols) };
            let mut at = rows.start;
            while at < rows.end {
                let rows = at..rows.end.min(at + NEAR);
                at = rows.end;
                options.check_cancelled()?;
                // SAFETY: as above.
                unsafe {
                    region.factors_of_a(&rows, &mut scales);
                    let mut first = 0;
                    while first < cols.len() {
                        region.strip(&rows, &scales, &cols, first);
                        first += region.width;
                    }
                }
            }
        }
        Ok(())
    }
}

// Every function here is inlined where the instructions of `V` are enabled; ranges lie inside the operands, and memory was reserved for them.
#[allow(clippy::undocumented_unsafe_blocks)]
impl<T: Real, V: FloatLanes<T = T>> Region<'_, T, V> {
    /// Columns of the strip that begins at column `first` of `count`, and the same in whole vectors.
    #[inline(always)]
    fn strip_width(&self, first: usize, count: usize) -> usize {
        self.width.min(count - first).next_multiple_of(V::LEN)
    }

    /// Exponentials of some columns of B, in strips.
    #[inline(always)]
    unsafe fn factors_of_b(&self, cols: &Range<usize>) {
        let (b, k) = (self.again.b, self.again.b.rows());
        let layout = b.layout();
        let mut first = 0;
        while first < cols.len() {
            let padded = self.strip_width(first, cols.len());
            let mut v = first;
            while v < first + padded {
                unsafe {
                    let from = b.as_ptr().wrapping_offset(layout.offset(0, cols.start + v));
                    let count = V::LEN.min(cols.len() - v);
                    let to = self.memory.b.add(first * k + v - first);
                    let lines = Lines { from, next: layout.row_stride, stride: layout.col_stride, count, k };
                    let (best, span) = match count == V::LEN && layout.col_stride == 1 {
                        true => lines.factors::<V, true>(to, padded),
                        false => lines.factors::<V, false>(to, padded),
                    };
                    best.store(self.memory.best.add(v));
                    span.store(self.memory.span.add(v));
                }
                v += V::LEN;
            }
            first += self.width;
        }
    }

    /// Exponentials of some rows of A, and what they are scaled by.
    #[inline(always)]
    unsafe fn factors_of_a(&self, rows: &Range<usize>, scales: &mut [(T, T); NEAR]) {
        let (a, k) = (self.again.a, self.again.a.cols());
        let layout = a.layout();
        // Terms in whole vectors, as they lie.
        let whole = if layout.col_stride == 1 { k / V::LEN * V::LEN } else { 0 };
        for (i, scale) in rows.clone().zip(scales) {
            unsafe {
                let from = a.as_ptr().wrapping_offset(layout.offset(i, 0));
                let (mut seen, mut p) = (Extreme::<V>::new(), 0);
                while p < whole {
                    seen = seen.see(V::load(from.add(p)));
                    p += V::LEN;
                }
                while p < k {
                    seen = seen.see(some::<T, V>(
                        from.wrapping_offset(p as isize * layout.col_stride),
                        layout.col_stride,
                        k - p,
                    ));
                    p += V::LEN;
                }
                *scale = seen.of_one_line();
                let (shift, to) = (shift(V::splat(scale.0)), self.row(i - rows.start));
                let mut p = 0;
                while p < whole {
                    factor(V::load(from.add(p)), shift).store(to.add(p));
                    p += V::LEN;
                }
                while p < k {
                    factor(
                        some::<T, V>(
                            from.wrapping_offset(p as isize * layout.col_stride),
                            layout.col_stride,
                            k - p,
                        ),
                        shift,
                    )
                    .store(to.add(p));
                    p += V::LEN;
                }
            }
        }
    }

    /// Where the exponentials of a row of A are.
    #[inline(always)]
    unsafe fn row(&self, i: usize) -> *mut T {
        unsafe { self.memory.a.add(i * self.row) }
    }

    /// C in the strip that begins at column `first` of `cols`.
    #[inline(always)]
    unsafe fn strip(&self, rows: &Range<usize>, scales: &[(T, T); NEAR], cols: &Range<usize>, first: usize) {
        let (again, k) = (self.again, self.again.a.cols());
        let (padded, width) = (self.strip_width(first, cols.len()), self.width.min(cols.len() - first));
        let mut doubts = Doubts { columns: [[0; ROWS]; GROUPS], any: false };
        // Columns whose results are written as they are, in whole vectors.
        let is_plain = !again.joins && again.c.layout().col_stride == 1;
        let plain = if is_plain { width / V::LEN * V::LEN } else { 0 };
        let (bests, spans) = unsafe { (self.memory.best.add(first), self.memory.span.add(first)) };
        let least = unsafe { V::splat(self.least) };
        let (cut, mut number) = (self.tiles.heights.cut(0..rows.len()), 0);
        while number < cut.count {
            let Range { start: tile, end } = cut.tile(number);
            let height = end - tile;
            unsafe {
                self.tiles.get(padded / V::LEN, height)(&Tile {
                    k,
                    a: self.row(tile),
                    a_row: self.row as isize,
                    b: self.memory.b.add(first * k),
                    b_k: padded as isize,
                    copy: null_mut(),
                    c: self.memory.sums,
                    c_row: padded as isize,
                    start: Start::Zero,
                    finish: Finish::Complete,
                    seen: null_mut(),
                    code: Code::default(),
                });
                for i in tile..tile + height {
                    let sums = self.memory.sums.add((i - tile) * padded);
                    let (to, scale) = ((rows.start + i, cols.start + first), scales[i]);
                    let row = (V::splat(scale.0), V::splat(scale.1));
                    let line = again.c.address(to.0, to.1);
                    let mut v = 0;
                    while v < padded {
                        let (best, span) = (V::load(bests.add(v)), V::load(spans.add(v)));
                        let result = result(row, (best, span), V::load(sums.add(v)), least);
                        if v < plain && is_sure(result) {
                            result.store(line.add(v));
                        } else {
                            let count = V::LEN.min(width - v);
                            let bits = apart::<T, V>(again, (to.0, to.1 + v), count, result, (scale.0, best));
                            doubts.add(i, v, bits);
                        }
                        v += V::LEN;
                    }
                }
            }
            number += 1;
        }
        doubts.settle(again, rows.start, cols.start + first);
    }
}

/// As many lines as a vector has elements, or `count` of them, and where they are: `next` from a term to the next, `stride` from a line to the next.
struct Lines<T> {
    from: *const T,
    next: isize,
    stride: isize,
    count: usize,
    k: usize,
}

impl<T: Real> Lines<T> {
    /// Writes their exponentials to `to`, terms `apart` from each other, and tells what they are scaled by: the largest elements and spans. `WHOLE` lines lie
    /// side by side.
    ///
    /// # Safety
    /// The elements must be readable, `to` writable, and the instruction set of `V` available.
    #[inline(always)]
    unsafe fn factors<V: FloatLanes<T = T>, const WHOLE: bool>(&self, to: *mut T, apart: usize) -> (V, V) {
        // SAFETY: as the caller guarantees.
        unsafe {
            let (mut seen, mut from) = (Extreme::<V>::new(), self.from);
            for _ in 0..self.k {
                seen = seen.see(self.load::<V, WHOLE>(from));
                from = from.wrapping_offset(self.next);
            }
            let (best, span) = seen.of_lines();
            let (shift, mut from, mut to) = (shift(best), self.from, to);
            for _ in 0..self.k {
                factor(self.load::<V, WHOLE>(from), shift).store(to);
                from = from.wrapping_offset(self.next);
                to = to.wrapping_add(apart);
            }
            (best, span)
        }
    }

    /// A term of each line.
    ///
    /// # Safety
    /// As [`Lines::factors`].
    #[inline(always)]
    unsafe fn load<V: FloatLanes<T = T>, const WHOLE: bool>(&self, from: *const T) -> V {
        // SAFETY: as the caller guarantees.
        unsafe { if WHOLE { V::load(from) } else { some(from, self.stride, self.count) } }
    }
}

/// At most `count` elements in a vector; "absent" where there are none.
///
/// # Safety
/// They must be readable, and the instruction set of `V` available.
#[inline(always)]
unsafe fn some<T: Real, V: FloatLanes<T = T>>(from: *const T, stride: isize, count: usize) -> V {
    // SAFETY: as the caller guarantees.
    unsafe { V::load(elements(from, stride, V::LEN.min(count)).as_ptr()) }
}

/// These elements, and "absent" ones. Compiled once, and not into every loop.
///
/// # Safety
/// They must be readable.
#[inline(never)]
unsafe fn elements<T: Real>(from: *const T, stride: isize, count: usize) -> [T; MOST] {
    let mut elements = [T::BOTTOM; MOST];
    for (l, element) in elements.iter_mut().enumerate().take(count) {
        // SAFETY: as the caller guarantees.
        *element = unsafe { *from.offset(l as isize * stride) };
    }
    elements
}

/// Writes results one by one, from element `to` of C on, and tells which of them must be computed again: a bit each.
///
/// # Safety
/// The elements must exist, no other thread may use them, and the instruction set of `V` must be available.
#[inline(always)]
unsafe fn apart<T: Real, V: FloatLanes<T = T>>(
    again: &Again<'_, T>,
    to: (usize, usize),
    count: usize,
    result: V,
    best: (T, V),
) -> u64 {
    let (mut results, mut columns) = ([T::NIL; MOST], [T::NIL; MOST]);
    // SAFETY: as the caller guarantees.
    unsafe {
        result.store(results.as_mut_ptr());
        best.1.store(columns.as_mut_ptr());
        write_apart(again, to, count, results, (best.0, &columns))
    }
}

/// As [`apart`], compiled once and not into every loop.
///
/// # Safety
/// The elements must exist, and no other thread may use them.
#[inline(never)]
unsafe fn write_apart<T: Real>(
    again: &Again<'_, T>,
    to: (usize, usize),
    count: usize,
    mut results: [T; MOST],
    best: (T, &[T; MOST]),
) -> u64 {
    // SAFETY: as the caller guarantees.
    unsafe {
        let sure = results;
        if again.joins {
            let mut old = [T::NIL; MOST];
            for (l, old) in old.iter_mut().enumerate().take(count) {
                *old = again.c.get(to.0, to.1 + l);
            }
            run(Joined { results: &mut results[..count], old: &old }, again.isa);
        }
        let mut doubts = 0;
        for l in 0..count {
            if sure[l] <= T::TOP {
                again.c.set(to.0, to.1 + l, results[l]);
                continue;
            }
            match doubtful(again, (to.0, to.1 + l), [best.0, best.1[l]]) {
                Some(sum) => again.set(to.0, to.1 + l, sum),
                None => doubts |= 1 << l,
            }
        }
        doubts
    }
}

/// Groups of columns of the widest strip.
const GROUPS: usize = 3;

/// Elements of a strip that must be computed again.
struct Doubts {
    /// Of each group of columns, the columns of each row, a bit each.
    columns: [[u64; ROWS]; GROUPS],
    any: bool,
}

impl Doubts {
    /// Adds the columns from `col` on that `bits` tells, in a row.
    #[inline(always)]
    fn add(&mut self, row: usize, col: usize, bits: u64) {
        if bits != 0 {
            self.columns[col / COLS][row] |= bits << (col % COLS);
            self.any = true;
        }
    }

    /// Computes them, of a strip whose first element is this.
    #[inline(always)]
    fn settle<T: Real>(&self, again: &Again<'_, T>, row: usize, col: usize) {
        if self.any {
            for (columns, col) in self.columns.iter().zip((col..).step_by(COLS)) {
                if columns.iter().any(|&bits| bits != 0) {
                    again.group(row, col, columns);
                }
            }
        }
    }
}
