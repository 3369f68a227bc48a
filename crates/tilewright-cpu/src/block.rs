//! The inner loops: a block of B meets its rows of A, tile by tile.
//!
//! Usually the block is packed and stays in the second-level cache, and each tile of rows of A stays in the
//! first-level cache while it sweeps along the block, so that C is written along its rows, which hardware
//! prefetchers follow. The order of loops is otherwise that of Goto and van de Geijn, "Anatomy of
//! high-performance matrix multiplication" (2008).

use crate::{
    blocking::{Cut, parts},
    job::Job,
    kernel::Tiles,
    lanes::prefetch_to_read,
    narrow::Code,
    pack::{Lines, Strips},
    share::{Help, untaken},
    tile::{Finish, Start, Tile, TileFn},
    winners::{FindFn, Search},
    workspace::Workspace,
};
use core::{ops::Range, sync::atomic::AtomicUsize};
use tilewright_core::Layout;

/// Bytes of a cache line, at least.
const LINE: usize = 64;

/// A block of B, `terms` by `cols`, and the `rows` of A and C that it meets.
pub struct Block<'a, E: 'static, P: 'static, A: 'static> {
    pub job: &'a Job<'a, E, P, A>,
    pub tiles: Tiles<P, A>,
    pub rows: Range<usize>,
    pub cols: Range<usize>,
    pub terms: Range<usize>,
    pub pack_a: bool,
    pub pack_b: bool,
    /// Rows of A that are packed at a time: at most these many tiles.
    pub panel: usize,
    /// Whether these rows and terms of A are packed already, all in one panel.
    pub has_a: bool,
    /// Whether all of B is packed already.
    pub has_b: bool,
    /// Tiles for the first rows, where it is they that pack B.
    pub copying: Option<Tiles<P, A>>,
    /// Whether the next strip of B is asked for ahead of time.
    pub ahead: bool,
    pub start: Start,
    pub finish: Finish,
    /// How sums are written, where operands are narrowed.
    pub code: Code,
    pub c: Window<A>,
    /// Winners, if they are asked for.
    pub winners: Window<u32>,
    pub buffers: Buffers<P, A>,
}

// SAFETY: a block reads A and B, and threads write disjoint tiles of C.
unsafe impl<E: Sync, P, A: Send> Sync for Block<'_, E, P, A> {}

/// Where a tile finds an operand: the first element and a stride.
type Source<P> = (*const P, isize);

/// Columns of C that a tile spans, and B for them.
struct Strip<P: 'static, A: 'static> {
    cols: Range<usize>,
    tiles: Tiles<P, A>,
    b: Source<P>,
    copy: *mut P,
}

impl<E: Copy + Sync, P: Copy, A: Copy + Send> Block<'_, E, P, A> {
    /// Computes the block.
    ///
    /// # Safety
    /// The ranges must lie inside the operands and C, and the buffers must be large enough for them.
    pub unsafe fn compute(&self, help: &Help) {
        let (cols, lanes, heights) = (&self.cols, self.job.kernel.lanes, self.tiles.heights);
        let edges = self.buffers.edges;
        // In place, a last strip of less than whole vectors is packed all the same.
        let ragged = if cols.len().is_multiple_of(lanes) { 0 } else { cols.len() % self.nr() };
        let in_place = !self.pack_b || self.copying.is_some();
        let packed = if in_place { cols.end - ragged } else { cols.start };
        // SAFETY: tiles and strips are parts of the block.
        unsafe {
            if !self.has_b {
                self.pack_b(packed..cols.end);
                self.pack_columns();
            }
            if !self.pack_a && !self.pack_b {
                // All rows use a strip while it is near.
                let cut = heights.cut(self.rows.clone());
                for strip in parts(cols.clone(), self.nr()) {
                    if self.ahead {
                        self.ask_for(strip.end..packed.min(strip.end + self.nr()));
                    }
                    let strip = self.strip(strip, packed, None);
                    for tile in (0..cut.count).map(|i| cut.tile(i)) {
                        self.tile(&tile, &strip, self.a(&tile, &tile), edges);
                    }
                }
                return;
            }
            let mut rows = self.rows.clone();
            if self.copying.is_some() {
                // From the second tile on all of B is packed.
                let first = heights.cut(rows.clone()).tile(0);
                let a = self.a(&first, &first);
                parts(cols.clone(), self.nr())
                    .for_each(|strip| self.tile(&first, &self.strip(strip, packed, self.copying), a, edges));
                rows.start = first.end;
            }
            let high = if self.pack_a { self.panel * heights.tall } else { rows.len().max(1) };
            for panel in parts(rows, high) {
                let cut = heights.cut(panel.clone());
                if self.pack_a && !self.has_a {
                    self.pack_a(&panel, &cut);
                }
                let next = AtomicUsize::new(0);
                let offer = || self.with_edges(|edges| self.tiles(&panel, &cut, &next, edges));
                help.with(&offer, || self.tiles(&panel, &cut, &next, edges));
            }
        }
    }

    /// Asks for some columns of B, which are read in place: its rows are so far apart that hardware prefetchers do not expect the next strip.
    fn ask_for(&self, cols: Range<usize>) {
        let (layout, bytes) = (self.job.b.layout(), cols.len() * size_of::<E>());
        for term in self.terms.clone() {
            let first = self.job.b.as_ptr().wrapping_offset(layout.offset(term, cols.start));
            for at in (0..bytes).step_by(LINE) {
                prefetch_to_read(first.wrapping_byte_add(at));
            }
        }
    }

    /// Calls `tiles` with memory of a thread that helps. Without any there is no help.
    fn with_edges(&self, tiles: impl Fn(Edges<A>)) {
        Workspace::with(|workspace| {
            let bytes = self.tiles.heights.tall * self.nr() * size_of::<A>();
            if let Ok([edge, seen]) = workspace.reserve_anew([bytes; 2], align_of::<A>()) {
                tiles(Edges { edge: edge.cast(), seen: seen.cast() });
            }
        });
    }

    /// Computes tiles of a panel of rows until there are none.
    unsafe fn tiles(&self, panel: &Range<usize>, cut: &Cut, next: &AtomicUsize, edges: Edges<A>) {
        for i in untaken(next, cut.count) {
            let tile = cut.tile(i);
            // SAFETY: the rows are part of the block, and no other thread has them.
            unsafe {
                let a = self.a(&tile, panel);
                parts(self.cols.clone(), self.nr())
                    .for_each(|strip| self.tile(&tile, &self.strip(strip, self.cols.start, None), a, edges));
            }
        }
    }

    /// Where B is for some columns: packed from column `packed` on, in place before, from where `copying` tiles, if
    /// any, pack it.
    #[inline(always)]
    unsafe fn strip(&self, cols: Range<usize>, packed: usize, copying: Option<Tiles<P, A>>) -> Strip<P, A> {
        let layout = self.job.b.layout();
        // SAFETY: the columns lie inside the block.
        unsafe {
            let place = self.place(cols.start);
            if cols.start >= packed {
                let padded = self.vectors(&cols) * self.job.kernel.lanes;
                let b = (place.cast_const(), padded as isize);
                return Strip { cols, tiles: self.tiles, b, copy: place };
            }
            let first = self.job.b.as_ptr().offset(layout.offset(self.terms.start, cols.start));
            let b = (first.cast(), layout.row_stride);
            Strip { cols, tiles: copying.unwrap_or(self.tiles), b, copy: place }
        }
    }

    /// Where the packed columns from `col` on belong. A block that is read in place has at most one packed strip.
    #[inline(always)]
    unsafe fn place(&self, col: usize) -> *mut P {
        let offset = if self.pack_b { col - self.cols.start } else { 0 };
        // SAFETY: the buffer has room for all columns that are packed.
        unsafe { self.buffers.b.add(offset * self.packed_terms()) }
    }

    /// Terms of the block as packed elements.
    fn packed_terms(&self) -> usize {
        self.job.kernel.groups.elements(self.terms.len())
    }

    /// Columns of the widest tile.
    fn nr(&self) -> usize {
        self.tiles.vectors() * self.job.kernel.lanes
    }

    /// Vectors that cover the columns of a strip. Most strips have all columns, which takes no division.
    #[inline(always)]
    fn vectors(&self, cols: &Range<usize>) -> usize {
        if cols.len() == self.nr() {
            self.tiles.vectors()
        } else {
            cols.len().div_ceil(self.job.kernel.lanes)
        }
    }

    /// Packs some columns of the block.
    unsafe fn pack_b(&self, cols: Range<usize>) {
        let (job, kernel) = (self.job, self.job.kernel);
        let strips = Strips { width: self.nr(), unit: kernel.lanes };
        // SAFETY: the columns lie inside the block.
        unsafe {
            let lines = Lines::of(job.b, &cols, &self.terms, kernel.codes[1]);
            let lines = Lines { best: self.best(1, cols.start), ..lines };
            kernel.pack[1](&lines, strips, self.place(cols.start));
        }
    }

    /// The terms of a row or column that lie side by side, in whole groups and at least one, where the winner is asked for.
    fn line(&self) -> Option<usize> {
        self.job.kernel.arg.as_ref().map(|winners| self.terms.len().max(1).next_multiple_of(winners.group))
    }

    /// Where the columns of B lie, each by itself, where the winner is asked for: behind the strips.
    unsafe fn columns(&self) -> *mut P {
        let padded = self.cols.len().next_multiple_of(self.job.kernel.lanes);
        // SAFETY: the buffer has room for both.
        unsafe { self.buffers.b.add(padded * self.packed_terms()) }
    }

    /// Packs the columns of the block, each by itself, if the winner is asked for.
    unsafe fn pack_columns(&self) {
        let (Some(line), job) = (self.line(), self.job) else { return };
        // SAFETY: the columns lie inside the block. What are terms to the packing are columns here.
        unsafe {
            let lines = Lines::of(job.b.t(), &self.terms, &self.cols, job.kernel.codes[1]);
            job.kernel.pack[1](&lines, Strips { width: line, unit: line }, self.columns());
        }
    }

    /// Packs some rows of A as they are cut into tiles or, if the winner is asked for, each by itself.
    unsafe fn pack_a(&self, rows: &Range<usize>, cut: &Cut) {
        let (job, kernel) = (self.job, self.job.kernel);
        // SAFETY: the rows lie inside A. For rows by themselves, what are terms to the packing are rows.
        unsafe {
            if let Some(line) = self.line() {
                let lines = Lines::of(job.a, &self.terms, rows, kernel.codes[0]);
                return kernel.pack[0](&lines, Strips { width: line, unit: line }, self.buffers.a);
            }
            for (part, height) in cut.parts() {
                let lines = Lines::of(job.a.t(), part, &self.terms, kernel.codes[0]);
                let lines = Lines { best: self.best(0, part.start), ..lines };
                let to = self.buffers.a.add((part.start - rows.start) * self.packed_terms());
                kernel.pack[0](&lines, Strips { width: height, unit: 1 }, to);
            }
        }
    }

    /// The largest elements of the lines of an operand from `first` on.
    fn best(&self, operand: usize, first: usize) -> *const E {
        self.job.best.map_or(core::ptr::null(), |best| best[operand][first..].as_ptr())
    }

    /// Where the rows of a tile are: among the packed ones of their panel, or in A.
    unsafe fn a(&self, tile: &Range<usize>, panel: &Range<usize>) -> Source<P> {
        let layout = self.job.a.layout();
        // SAFETY: the rows lie inside A, or have been packed.
        unsafe {
            match self.pack_a {
                true => {
                    let line = self.line().unwrap_or(0);
                    let terms = if line > 0 { line } else { self.packed_terms() };
                    (self.buffers.a.add((tile.start - panel.start) * terms), line as isize)
                }
                false => {
                    let first = self.job.a.as_ptr().offset(layout.offset(tile.start, self.terms.start));
                    (first.cast(), layout.row_stride)
                }
            }
        }
    }

    /// One tile of C. Inlined, so that a strip is in registers: if it were written to memory and read from there in larger
    /// pieces, the processor would have to finish all earlier stores first.
    #[inline(always)]
    unsafe fn tile(&self, rows: &Range<usize>, strip: &Strip<P, A>, a: Source<P>, edges: Edges<A>) {
        let (kernel, c, cols) = (self.job.kernel, &self.c, &strip.cols);
        let (height, width, vectors) = (rows.len(), cols.len(), self.vectors(cols));
        let (compute, padded) = (strip.tiles.get(vectors, height), vectors * kernel.lanes);
        // SAFETY: the tile lies inside C; its operands are what the caller found for it.
        unsafe {
            let tile = Tile {
                k: self.packed_terms(),
                a: a.0,
                a_row: a.1,
                b: strip.b.0,
                b_k: strip.b.1,
                copy: strip.copy,
                c: c.at(rows.start, cols.start),
                c_row: c.layout.row_stride,
                start: self.start,
                finish: self.finish,
                seen: edges.seen,
                code: self.code,
            };
            let search = kernel.arg.as_ref().map(|winners| {
                let line = self.line().unwrap_or(0);
                let search = Search {
                    rows: height,
                    cols: width,
                    padded,
                    columns: self.columns().add((cols.start - self.cols.start) * line),
                    column: line,
                    first: self.terms.start,
                    winners: self.winners.at(rows.start, cols.start),
                    row: self.winners.layout.row_stride,
                    col: self.winners.layout.col_stride,
                };
                (winners.find, search)
            });
            if width == padded && c.layout.col_stride == 1 {
                compute(&tile);
                if let Some((find, search)) = search {
                    find(&tile, &search);
                }
            } else {
                ragged(compute, search, tile, c.layout.col_stride, height, width, padded, edges.edge);
            }
        }
    }
}

/// Computes a tile of which only `width` of `padded` columns exist, or whose columns are not side by side.
///
/// # Safety
/// As [`TileFn`], of `height x width` elements of C, and of `height x padded` at `edge`.
#[allow(clippy::too_many_arguments)] // All that a tile has.
pub unsafe fn ragged<P, A: Copy>(
    compute: TileFn<P, A>,
    search: Option<(FindFn<P, A>, Search<P>)>,
    mut tile: Tile<P, A>,
    c_col: isize,
    height: usize,
    width: usize,
    padded: usize,
    edge: *mut A,
) {
    let (c, c_row) = (tile.c, tile.c_row);
    // SAFETY: the caller guarantees `height x width` elements of C and `height x padded` of the edge buffer.
    unsafe {
        let c_at = |i: usize, j: usize| c.offset(i as isize * c_row + j as isize * c_col);
        if tile.start != Start::Zero {
            for i in 0..height {
                for j in 0..padded {
                    edge.add(i * padded + j).write(*c_at(i, j.min(width - 1)));
                }
            }
        }
        (tile.c, tile.c_row) = (edge, padded as isize);
        compute(&tile);
        if let Some((find, search)) = search {
            find(&tile, &search);
        }
        for i in 0..height {
            for j in 0..width {
                c_at(i, j).write(*edge.add(i * padded + j));
            }
        }
    }
}

/// Memory of one thread.
#[derive(Clone, Copy)]
pub struct Buffers<P, A> {
    /// A packed panel of A.
    pub a: *mut P,
    /// A packed block or strip of B.
    pub b: *mut P,
    pub edges: Edges<A>,
}

/// Memory of one thread for a tile.
#[derive(Clone, Copy)]
pub struct Edges<A> {
    /// A tile of C that is ragged where it belongs.
    pub edge: *mut A,
    /// The groups of terms in which the sums of a tile were first seen.
    pub seen: *mut A,
}

/// A matrix in memory whose element `(row, col)` is at `origin`.
pub struct Window<A> {
    pub origin: *mut A,
    pub layout: Layout,
    pub row: usize,
    pub col: usize,
}

impl<A> Clone for Window<A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Window<A> {}

impl<A> Window<A> {
    /// A whole matrix.
    pub fn of(origin: *mut A, layout: Layout) -> Self {
        Self { origin, layout, row: 0, col: 0 }
    }

    #[inline(always)]
    unsafe fn at(&self, i: usize, j: usize) -> *mut A {
        // SAFETY: as the caller guarantees.
        unsafe { self.origin.offset(self.layout.offset(i - self.row, j - self.col)) }
    }
}
