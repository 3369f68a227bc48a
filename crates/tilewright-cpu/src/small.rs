//! Small products, one tile after another, without a plan: operands are read where they are or, if tiles need them packed, packed whole.

use crate::{
    block::ragged,
    blocking::Cut,
    kernel::{InPlaceTiles, Kernel},
    narrow::Code,
    pack::{Lines, Strips},
    tile::{Finish, Start, Tile},
    workspace::Workspace,
};
use core::{ops::Range, ptr::null_mut};
use tilewright_core::{Error, Layout, MatRef};

/// Bytes of a strip of B that stay in the first-level cache while it meets all rows of A.
const STRIP: usize = 16 << 10;

/// Terms (`m n k`) of a product that one thread computes alone.
const TERMS: usize = 1 << 19;

/// The tiles for a small product with these layouts, if it can be computed here.
pub fn tiles<E, T>(kernel: &Kernel<E, T, T>, a: Layout, b: Layout, c: Layout) -> Option<&InPlaceTiles<T, T>> {
    let in_place = kernel.in_place.as_ref()?;
    let (n, k, size) = (b.cols, b.rows, size_of::<T>());
    let along_rows = [a, b, c].iter().all(|layout| layout.col_stride == 1);
    let area = n.checked_mul(k)?;
    let strip = k.checked_mul(in_place.a.vectors() * kernel.lanes * size)?;
    let fits = area.checked_mul(size)? <= in_place.small_b && strip <= STRIP;
    // Without rows there is nothing to visit, however many columns there are, or terms.
    (!c.is_empty() && along_rows && fits && area.checked_mul(a.rows)? <= TERMS).then_some(in_place)
}

/// Computes C, whose first element is at `c`, as `tiles` says.
///
/// # Errors
/// `out-of-memory`, for columns that do not fill a vector.
///
/// # Safety
/// C must have this layout and be nobody else's, the layouts must fit together, and the kernel's instruction set be available.
pub unsafe fn compute<E: Copy, T: Copy>(
    kernel: &Kernel<E, T, T>,
    tiles: &InPlaceTiles<T, T>,
    (a, b): (MatRef<'_, E>, MatRef<'_, E>),
    (c, c_row): (*mut T, isize),
    start: Start,
) -> Result<(), Error> {
    let (n, k, tiles) = (b.cols(), a.cols(), tiles.a);
    let cut = tiles.heights.cut(0..a.rows());
    let width = tiles.vectors() * kernel.lanes;
    let (mut first, a_row, b_k) = (0, a.layout().row_stride, b.layout().row_stride);
    let tile = Tile {
        k,
        a: a.as_ptr().cast(),
        a_row,
        b: null_mut(),
        b_k,
        copy: null_mut(),
        c,
        c_row,
        start,
        finish: Finish::Complete,
        seen: null_mut(),
        code: Code::default(),
    };
    while first < n {
        let vectors = width.min(n - first) / kernel.lanes;
        if vectors == 0 {
            break;
        }
        // SAFETY: these columns lie inside C and, if there are terms, inside B.
        unsafe {
            let strip = Tile { b: b.as_ptr().wrapping_add(first).cast(), c: c.add(first), ..tile };
            rows(&cut, &strip, |height, tile| tiles.get(vectors, height)(tile));
        }
        first += vectors * kernel.lanes;
    }
    if first == n {
        return Ok(());
    }
    // The last columns are fewer than a vector has: they are read, and written, apart.
    let (lanes, left) = (kernel.lanes, n - first);
    Workspace::with(|workspace| {
        let bytes = [k * lanes, tiles.heights.tall * lanes].map(|count| count * size_of::<T>());
        let [packed, edge] = workspace.reserve_anew(bytes, align_of::<T>())?;
        let (packed, edge) = (packed.cast::<T>(), edge.cast::<T>());
        // SAFETY: these columns lie inside B and C, and memory was reserved for them.
        unsafe {
            let lines = Lines::of(b, &(first..n), &(0..k), Code::default());
            kernel.pack[1](&lines, Strips { width: lanes, unit: lanes }, packed);
            let strip = Tile { b: packed, b_k: lanes as isize, c: c.add(first), ..tile };
            rows(&cut, &strip, |height, tile| {
                ragged(tiles.get(1, height), None, *tile, 1, height, left, lanes, edge);
            });
        }
        Ok(())
    })
}

/// Bytes of both operands, packed, that fit the first-level cache beside C.
const PACKED: usize = 24 << 10;

/// Whether a product of `m x k` and `k x n` elements into C with this layout is small enough to pack both operands whole.
pub fn packs<E, P, A>(kernel: &Kernel<E, P, A>, (m, n, k): (usize, usize, usize), c: Layout) -> bool {
    let lines = m.saturating_add(n.saturating_add(kernel.lanes));
    let bytes = lines.saturating_mul(kernel.groups.elements(k.min(PACKED))).saturating_mul(size_of::<P>());
    let terms = m.saturating_mul(n).saturating_mul(k.max(1));
    let packs = kernel.in_place.is_none() && kernel.arg.is_none();
    packs && c.col_stride == 1 && !c.is_empty() && terms <= TERMS && bytes <= PACKED
}

/// Computes C, whose first element is at `c`, from operands that are packed whole.
///
/// # Errors
/// `out-of-memory`.
///
/// # Safety
/// C must be nobody else's, the shapes must fit together, and the kernel's instruction set be available.
pub unsafe fn compute_packed<E: Copy, P: Copy, A: Copy>(
    kernel: &Kernel<E, P, A>,
    (a, b): (MatRef<'_, E>, MatRef<'_, E>),
    (c, c_row): (*mut A, isize),
    start: Start,
) -> Result<(), Error> {
    let (m, n, k, lanes) = (a.rows(), b.cols(), a.cols(), kernel.lanes);
    let (most, width) = kernel.tile();
    let (cut, line) = (kernel.packed.heights.cut(0..m), kernel.groups.elements(k));
    Workspace::with(|workspace| {
        let bytes_of_line = line * size_of::<P>();
        let bytes =
            [m * bytes_of_line, n.next_multiple_of(lanes) * bytes_of_line, most * width * size_of::<A>()];
        let [to_a, to_b, edge] = workspace.reserve_anew(bytes, align_of::<P>().max(align_of::<A>()))?;
        let (to_a, to_b, edge) = (to_a.cast::<P>(), to_b.cast::<P>(), edge.cast::<A>());
        // SAFETY: the lines are those of A and B, tiles lie inside C, and memory was reserved for all.
        unsafe {
            for (rows, height) in cut.parts() {
                let lines = Lines::of(a.t(), rows, &(0..k), kernel.codes[0]);
                kernel.pack[0](&lines, Strips { width: height, unit: 1 }, to_a.add(rows.start * line));
            }
            let cols = Lines::of(b, &(0..n), &(0..k), kernel.codes[1]);
            kernel.pack[1](&cols, Strips { width, unit: lanes }, to_b);
            for j in (0..n).step_by(width) {
                let cols = width.min(n - j);
                let vectors = cols.div_ceil(lanes);
                let padded = vectors * lanes;
                for Range { start: i, end } in (0..cut.count).map(|i| cut.tile(i)) {
                    let rows = end - i;
                    let compute = kernel.packed.get(vectors, rows);
                    let tile = Tile {
                        k: line,
                        a: to_a.add(i * line).cast_const(),
                        a_row: 0,
                        b: to_b.add(j * line).cast_const(),
                        b_k: padded as isize,
                        copy: null_mut(),
                        c: c.offset(i as isize * c_row).add(j),
                        c_row,
                        start,
                        finish: Finish::Complete,
                        seen: null_mut(),
                        code: Code::sum(kernel.codes),
                    };
                    if cols == padded {
                        compute(&tile);
                    } else {
                        ragged(compute, None, tile, 1, rows, cols, padded, edge);
                    }
                }
            }
        }
        Ok(())
    })
}

/// Calls `compute` with the height of each tile, of which `strip` is the first.
///
/// # Safety
/// The rows must exist.
#[inline(always)]
unsafe fn rows<T>(cut: &Cut, strip: &Tile<T, T>, compute: impl Fn(usize, &Tile<T, T>)) {
    let mut tile = *strip;
    for i in 0..cut.count {
        let height = cut.tile(i).len();
        compute(height, &tile);
        tile.a = tile.a.wrapping_offset(height as isize * tile.a_row);
        tile.c = tile.c.wrapping_offset(height as isize * tile.c_row);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, multiply};
    use tilewright_core::{Layout, LogPlus, MatMut, MatRef, MinPlus, PlusTimes, Update};

    /// Without rows, columns and terms may be as many as one likes: none of them is visited.
    #[test]
    fn no_rows() {
        for (n, k) in [(1, 1 << 62), (100, 1 << 55), (isize::MAX as usize, 0)] {
            let (options, ones) = (Options::default(), [1.0f32; 100]);
            let a = MatRef::new(&[], Layout::strided(0, k, 0, 1)).unwrap();
            let b = MatRef::new(&ones, Layout::strided(k, n, 0, 1)).unwrap();
            let c = || MatMut::new(&mut [], Layout::row_major(0, n)).unwrap();
            multiply::<MinPlus<f32>>(c(), a, b, &Update::Replace, &options).unwrap();
            multiply::<PlusTimes<f32>>(c(), a, b, &Update::Accumulate, &options).unwrap();
            multiply::<LogPlus<f32>>(c(), a, b, &Update::Replace, &options).unwrap();
        }
    }
}
