//! The inner loops: a block of B meets its rows of A, tile by tile.
//!
//! Usually the block is packed and stays in the second-level cache, and each tile of rows of A stays in the
//! first-level cache while it sweeps along the block, so that C is written along its rows, which hardware
//! prefetchers follow. The order of loops is otherwise that of Goto and van de Geijn, "Anatomy of
//! high-performance matrix multiplication" (2008).

use crate::{
    blocking::{PANEL, parts, tile_height},
    driver::Job,
    kernel::Tiles,
    narrow::Code,
    pack::{Lines, Strips},
    tile::{Finish, Start, Tile, TileFn},
};
use core::ops::Range;
use tilewright_core::{Layout, NO_ARG};

/// A block of B, `terms` by `cols`, and the `rows` of A and C that it meets.
pub struct Block<'a, E: 'static, P: 'static, A: 'static> {
    pub job: &'a Job<'a, E, P, A>,
    pub tiles: Tiles<P, A>,
    pub rows: Range<usize>,
    pub cols: Range<usize>,
    pub terms: Range<usize>,
    pub pack_a: bool,
    pub pack_b: bool,
    pub start: Start,
    pub finish: Finish,
    pub c: Window<A>,
    /// Winners, laid out as C is.
    pub winners: *mut u32,
    pub buffers: Buffers<P, A>,
}

/// Where a tile finds an operand: the first element and a stride.
type Source<P> = (*const P, isize);

impl<E: Copy, P: Copy, A: Copy> Block<'_, E, P, A> {
    /// Computes the block.
    ///
    /// # Safety
    /// The ranges must lie inside the operands and C, and the buffers must be large enough for them.
    pub unsafe fn compute(&self) {
        let (cols, k, to) = (&self.cols, self.packed_terms(), self.buffers.b);
        let layout = self.job.b.layout();
        let ragged = cols.len() % self.nr();
        // SAFETY: tiles and strips are parts of the block.
        unsafe {
            // In place, a last strip of less than whole vectors is packed all the same.
            self.pack_b(if self.pack_b { cols.clone() } else { cols.end - ragged..cols.end });
            let first = self.job.b.as_ptr().offset(layout.offset(self.terms.start, cols.start));
            let b = |strip: &Range<usize>| {
                let (offset, padded) = (strip.start - cols.start, self.padded(strip));
                match self.pack_b {
                    true => (to.add(offset * k).cast_const(), padded as isize),
                    false if strip.len() == padded => (first.cast::<P>().add(offset), layout.row_stride),
                    false => (to.cast_const(), padded as isize),
                }
            };
            let height = tile_height(self.rows.len(), self.tiles[0].len());
            if !self.pack_a && !self.pack_b {
                // B comes from memory: all rows use a strip while it is near.
                for strip in parts(cols.clone(), self.nr()) {
                    parts(self.rows.clone(), height)
                        .for_each(|tile| self.tile(&tile, &strip, self.a(&tile, &tile), b(&strip)));
                }
                return;
            }
            for panel in parts(self.rows.clone(), PANEL * height) {
                if self.pack_a {
                    self.pack_a(&panel, height);
                }
                for tile in parts(panel.clone(), height) {
                    let a = self.a(&tile, &panel);
                    parts(cols.clone(), self.nr()).for_each(|strip| self.tile(&tile, &strip, a, b(&strip)));
                }
            }
        }
    }

    /// Terms of the block as packed elements.
    fn packed_terms(&self) -> usize {
        self.terms.len().div_ceil(self.job.kernel.terms)
    }

    /// Columns of the widest tile.
    fn nr(&self) -> usize {
        self.tiles.len() * self.job.kernel.lanes
    }

    /// The width of a strip in whole vectors.
    fn padded(&self, strip: &Range<usize>) -> usize {
        strip.len().next_multiple_of(self.job.kernel.lanes)
    }

    /// Packs some columns of the block.
    unsafe fn pack_b(&self, cols: Range<usize>) {
        let (kernel, layout) = (self.job.kernel, self.job.b.layout());
        let strips = Strips { width: self.nr(), unit: kernel.lanes };
        // SAFETY: the columns lie inside the block.
        unsafe {
            let first = self.job.b.as_ptr().offset(layout.offset(self.terms.start, cols.start));
            let (line, term) = (layout.col_stride, layout.row_stride);
            let (count, k, code) = (cols.len(), self.terms.len(), kernel.codes[1]);
            (kernel.pack)(&Lines { first, line, term, count, k, code }, strips, self.buffers.b);
        }
    }

    /// Packs some rows of A into tiles of `height`.
    unsafe fn pack_a(&self, rows: &Range<usize>, height: usize) {
        let layout = self.job.a.layout();
        // SAFETY: the rows lie inside A.
        unsafe {
            let first = self.job.a.as_ptr().offset(layout.offset(rows.start, self.terms.start));
            let (line, term) = (layout.row_stride, layout.col_stride);
            let (kernel, count, k) = (self.job.kernel, rows.len(), self.terms.len());
            let lines = Lines { first, line, term, count, k, code: kernel.codes[0] };
            (kernel.pack)(&lines, Strips { width: height, unit: 1 }, self.buffers.a);
        }
    }

    /// Where the rows of a tile are: among the packed ones of their panel, or in A.
    unsafe fn a(&self, tile: &Range<usize>, panel: &Range<usize>) -> Source<P> {
        let layout = self.job.a.layout();
        // SAFETY: the rows lie inside A, or have been packed.
        unsafe {
            match self.pack_a {
                true => (self.buffers.a.add((tile.start - panel.start) * self.packed_terms()), 0),
                false => {
                    let first = self.job.a.as_ptr().offset(layout.offset(tile.start, self.terms.start));
                    (first.cast(), layout.row_stride)
                }
            }
        }
    }

    /// One tile of C.
    unsafe fn tile(&self, rows: &Range<usize>, cols: &Range<usize>, a: Source<P>, b: Source<P>) {
        let (kernel, c) = (self.job.kernel, &self.c);
        let (height, width, padded) = (rows.len(), cols.len(), self.padded(cols));
        let compute = self.tiles[padded / kernel.lanes - 1][height - 1];
        // SAFETY: the tile lies inside C; its operands are what the caller found for it.
        unsafe {
            let tile = Tile {
                k: self.packed_terms(),
                a: a.0,
                a_row: a.1,
                b: b.0,
                b_k: b.1,
                c: c.at(rows.start, cols.start),
                c_row: c.layout.row_stride,
                start: self.start,
                finish: self.finish,
                arg: self.buffers.arg,
                code: Code::sum(kernel.codes),
            };
            if width == padded && c.layout.col_stride == 1 {
                compute(&tile);
            } else {
                ragged(compute, tile, c.layout.col_stride, height, width, padded, self.buffers.edge);
            }
            let Some(term) = kernel.arg else { return };
            for (i, row) in rows.clone().enumerate() {
                for (j, col) in cols.clone().enumerate() {
                    let winner = self.winners.offset(c.layout.offset(row - c.row, col - c.col));
                    match term(*self.buffers.arg.add(i * padded + j)) {
                        Some(p) => winner.write(self.terms.start as u32 + p),
                        None if self.start == Start::Zero => winner.write(NO_ARG),
                        None => {}
                    }
                }
            }
        }
    }
}

/// Computes a tile of which only `width` of `padded` columns exist, or whose columns are not side by side.
unsafe fn ragged<P, A: Copy>(
    compute: TileFn<P, A>,
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
    /// A tile of C that is ragged where it belongs.
    pub edge: *mut A,
    /// The term numbers of a tile.
    pub arg: *mut A,
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
    #[inline(always)]
    unsafe fn at(&self, i: usize, j: usize) -> *mut A {
        // SAFETY: as the caller guarantees.
        unsafe { self.origin.offset(self.layout.offset(i - self.row, j - self.col)) }
    }
}
