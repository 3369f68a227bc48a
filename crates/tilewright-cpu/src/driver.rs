//! The loops around the micro-kernel: blocks for the caches, packing, edges, threads.
//!
//! Columns are cut by `nc` and terms by `kc`; that block of B is packed and stays in the second-level cache.
//! Each tile of rows of A then stays in the first-level cache while it sweeps along the block, so that C is
//! written along its rows.

use crate::{
    blocking::{Blocking, cut, parts, row_tiles},
    kernel::Kernel,
    options::Options,
    pack::{Lines, Strips},
    tile::{Finish, Start, Tile, TileFn},
    workspace::Workspace,
};
use core::ops::Range;
use tilewright_core::{Error, Layout, MatRef, NO_ARG};

/// Where sums go.
#[derive(Clone, Copy)]
pub enum Target<'a, A> {
    /// Into C itself, which also holds the partial sums between blocks of k.
    InPlace { c: *mut A, layout: Layout, start: Start },
    /// Through a buffer: `store(i, j, sums, winners)` receives the complete sums of row `i` from column `j`
    /// and, from a kernel that tells, which terms won.
    Through(&'a Store<'a, A>),
}

/// Receives complete sums; see [`Target::Through`].
pub type Store<'a, A> = dyn Fn(usize, usize, &[A], &[u32]) + Sync + 'a;

/// A product to compute.
pub struct Job<'a, E: 'static, P: 'static, A: 'static> {
    pub kernel: &'a Kernel<E, P, A>,
    pub a: MatRef<'a, E>,
    pub b: MatRef<'a, E>,
    pub target: Target<'a, A>,
    pub options: &'a Options<'a>,
}

// SAFETY: a job reads A and B, and its regions write disjoint parts of C.
unsafe impl<E: Sync, P, A: Send> Sync for Job<'_, E, P, A> {}

impl<E: Copy + Sync, P: Copy, A: Copy + Send> Job<'_, E, P, A> {
    /// Computes the product and returns the number of threads that took part.
    pub fn run(&self) -> Result<usize, Error> {
        let (m, n, k) = (self.a.rows(), self.b.cols(), self.a.cols());
        if m == 0 || n == 0 {
            return Ok(0);
        }
        let (mr, nr) = (self.kernel.mr(), self.kernel.nr());
        let (down, across) = grid(m, n, self.options.threads_for(m as f64 * n as f64 * k as f64), mr, nr);
        let regions: Vec<_> = cut(0..m, down, mr)
            .flat_map(|rows| cut(0..n, across, nr).map(move |cols| (rows.clone(), cols)))
            .filter(|(rows, cols)| !rows.is_empty() && !cols.is_empty())
            .collect();
        in_parallel(&regions, &|(rows, cols)| {
            Workspace::with(|workspace| self.region(workspace, rows.clone(), cols.clone()))
        })?;
        Ok(regions.len())
    }

    /// Computes the part `rows` x `cols` of C on this thread.
    fn region(&self, workspace: &mut Workspace, rows: Range<usize>, cols: Range<usize>) -> Result<(), Error> {
        let kernel = self.kernel;
        let (mr, nr, k) = (kernel.mr(), kernel.nr(), self.a.cols());
        let Blocking { kc, nc } = Blocking::new(cols.len(), k, nr, size_of::<P>());
        let pack_a = self.packs_a(cols.len().min(nc));
        let pack_b = self.packs_b(rows.len());
        let sums = if matches!(self.target, Target::Through(_)) { rows.len().saturating_mul(nc) } else { 0 };
        let winners = if kernel.arg.is_some() { sums } else { 0 };
        let bytes = [
            mr * kc * size_of::<P>(),
            kc * if pack_b { nc } else { nr } * size_of::<P>(),
            mr * nr * size_of::<A>(),
            mr * nr * size_of::<A>(),
            sums.saturating_mul(size_of::<A>()),
            winners.saturating_mul(size_of::<u32>()),
        ];
        let [a, b, edge, arg, sums, winners] =
            workspace.reserve(bytes, align_of::<P>().max(align_of::<A>()))?;
        let (sums, winners) = (sums.cast::<A>(), winners.cast::<u32>());
        let buffers = Buffers { a: a.cast::<P>(), b: b.cast::<P>(), edge: edge.cast::<A>(), arg: arg.cast::<A>() };
        for jc in parts(cols.clone(), nc) {
            let c = match self.target {
                Target::InPlace { c, layout, .. } => Window { origin: c, layout, row: 0, col: 0 },
                Target::Through(_) => {
                    let layout = Layout::row_major(rows.len(), nc);
                    Window { origin: sums, layout, row: rows.start, col: jc.start }
                }
            };
            // An empty sum is one empty block.
            for pc in parts(0..k.max(1), kc).map(|pc| pc.start..pc.end.min(k)) {
                let start = match self.target {
                    _ if pc.start > 0 => Start::Partial,
                    Target::InPlace { start, .. } => start,
                    Target::Through(_) => Start::Zero,
                };
                let finish = if pc.end == k { Finish::Complete } else { Finish::Partial };
                let block = Block { cols: jc.clone(), terms: pc.clone(), pack_a, pack_b, start, finish };
                // SAFETY: all ranges lie inside the operands and C, and the buffers were sized for them.
                unsafe { self.block(&block, rows.clone(), &c, winners, &buffers) };
                if let Some(progress) = self.options.progress {
                    progress((rows.len() * jc.len() * pc.len()) as u64);
                }
            }
            if let Target::Through(store) = self.target {
                for i in rows.clone() {
                    let first = (i - rows.start) * nc;
                    // SAFETY: the blocks above have written these sums and winners.
                    unsafe {
                        let won = if kernel.arg.is_some() { jc.len() } else { 0 };
                        let winners = core::slice::from_raw_parts(winners.add(if won > 0 { first } else { 0 }), won);
                        store(i, jc.start, core::slice::from_raw_parts(sums.add(first), jc.len()), winners);
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether tiles of A are packed: not when they may be read in place and too few columns share the cost.
    fn packs_a(&self, n: usize) -> bool {
        self.kernel.in_place.is_none() || self.a.layout().col_stride != 1 || n > 8 * self.kernel.nr()
    }

    /// Whether B is packed: not when it may be read in place and too few rows share the cost.
    fn packs_b(&self, m: usize) -> bool {
        self.kernel.in_place.is_none() || self.b.layout().col_stride != 1 || m > 2 * self.kernel.mr()
    }

    /// One block of B with all `rows` of A.
    unsafe fn block(&self, block: &Block, rows: Range<usize>, c: &Window<A>, winners: *mut u32, buffers: &Buffers<P, A>) {
        let kernel = self.kernel;
        let Block { cols, terms, .. } = block;
        let k = terms.len();
        let tiles = if block.pack_a { kernel.packed } else { kernel.in_place.unwrap_or(kernel.packed) };
        let (a_layout, b_layout) = (self.a.layout(), self.b.layout());
        // SAFETY: all tiles and strips lie inside A, B, C and the buffers.
        unsafe {
            let b = self.b.as_ptr().offset(b_layout.offset(terms.start, cols.start));
            if block.pack_b {
                self.pack_b(b, cols.len(), k, buffers.b);
            } else if cols.len() % kernel.lanes != 0 {
                // The last strip cannot be read in whole vectors where it is.
                let ragged = cols.len() % kernel.nr();
                self.pack_b(b.offset(b_layout.offset(0, cols.len() - ragged)), ragged, k, buffers.b);
            }
            for tile in row_tiles(rows.clone(), kernel.mr()) {
                let height = tile.len();
                let first = self.a.as_ptr().offset(a_layout.offset(tile.start, terms.start));
                let (a, a_row) = if block.pack_a {
                    let (line, term) = (a_layout.row_stride, a_layout.col_stride);
                    let lines = Lines { first, line, term, count: height, k };
                    (kernel.pack)(&lines, Strips { width: height, unit: 1 }, buffers.a);
                    (buffers.a.cast_const(), 0)
                } else {
                    (first.cast::<P>(), a_layout.row_stride)
                };
                for strip in parts(cols.clone(), kernel.nr()) {
                    let vectors = strip.len().div_ceil(kernel.lanes);
                    let padded = vectors * kernel.lanes;
                    let offset = strip.start - cols.start;
                    let (b, b_k) = match (block.pack_b, strip.len() == padded) {
                        (true, _) => (buffers.b.add(offset * k).cast_const(), padded as isize),
                        (false, true) => (b.cast::<P>().add(offset), b_layout.row_stride),
                        (false, false) => (buffers.b.cast_const(), padded as isize),
                    };
                    let (start, finish) = (block.start, block.finish);
                    let to = c.at(tile.start, strip.start);
                    let t = Tile { k, a, a_row, b, b_k, c: to, c_row: c.layout.row_stride, start, finish, arg: buffers.arg };
                    let compute = tiles[vectors - 1][height - 1];
                    if strip.len() == padded && c.layout.col_stride == 1 {
                        compute(&t);
                    } else {
                        ragged(compute, t, c.layout.col_stride, height, strip.len(), padded, buffers.edge);
                    }
                    let Some(term) = kernel.arg else { continue };
                    for r in 0..height {
                        for s in 0..strip.len() {
                            let winner = winners.offset(c.layout.offset(tile.start - c.row + r, strip.start - c.col + s));
                            match term(*buffers.arg.add(r * padded + s)) {
                                Some(p) => winner.write((terms.start as u32) + p),
                                None if start == Start::Zero => winner.write(NO_ARG),
                                None => {}
                            }
                        }
                    }
                }
            }
        }
    }

    /// Packs `n` columns of `k` terms of B.
    unsafe fn pack_b(&self, first: *const E, n: usize, k: usize, to: *mut P) {
        let layout = self.b.layout();
        let lines = Lines { first, line: layout.col_stride, term: layout.row_stride, count: n, k };
        let strips = Strips { width: self.kernel.nr(), unit: self.kernel.lanes };
        // SAFETY: as the caller guarantees.
        unsafe { (self.kernel.pack)(&lines, strips, to) }
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

/// A block of B: which part, and how it is used.
struct Block {
    cols: Range<usize>,
    terms: Range<usize>,
    pack_a: bool,
    pack_b: bool,
    start: Start,
    finish: Finish,
}

struct Buffers<P, A> {
    a: *mut P,
    b: *mut P,
    edge: *mut A,
    arg: *mut A,
}

/// A matrix in memory whose element `(row, col)` is at `origin`.
struct Window<A> {
    origin: *mut A,
    layout: Layout,
    row: usize,
    col: usize,
}

impl<A> Window<A> {
    #[inline(always)]
    unsafe fn at(&self, i: usize, j: usize) -> *mut A {
        // SAFETY: as the caller guarantees.
        unsafe { self.origin.offset(self.layout.offset(i - self.row, j - self.col)) }
    }
}

/// Regions down and across for `threads` threads: as square as they can be, because each packs its own
/// operands.
fn grid(m: usize, n: usize, threads: usize, mr: usize, nr: usize) -> (usize, usize) {
    let (tall, wide) = (m.div_ceil(mr).max(1), n.div_ceil(nr).max(1));
    (1..=threads)
        .filter(|down| threads % down == 0 && *down <= tall && threads / down <= wide)
        .map(|down| (down, threads / down))
        .min_by_key(|&(down, across)| tall.div_ceil(down) * mr + wide.div_ceil(across) * nr)
        .unwrap_or_else(|| (tall.min(threads), (threads / tall.min(threads)).clamp(1, wide)))
}

/// Calls `f` for every item, on the thread pool, and returns the first error.
pub fn in_parallel<T: Sync>(items: &[T], f: &(dyn Fn(&T) -> Result<(), Error> + Sync)) -> Result<(), Error> {
    match items {
        [] => Ok(()),
        [one] => f(one),
        _ => {
            let (left, right) = items.split_at(items.len() / 2);
            let (l, r) = rayon::join(|| in_parallel(left, f), || in_parallel(right, f));
            l.and(r)
        }
    }
}
