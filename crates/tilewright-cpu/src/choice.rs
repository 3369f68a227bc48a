//! What to pack, which tiles to use, and which regions of C threads take. Pure functions.

use crate::{
    blocking::{BUFFERED, Blocking},
    cache::{PAGE, first_level_ways, is_pages_apart, second_level},
    kernel::{Kernel, Tiles},
};
use tilewright_core::Layout;

/// Rows of a large B that few rows of A meet at a time: as many streams as hardware prefetchers follow.
const STREAMS: usize = 32;
/// Rows of A so few that tiles read B, or pack it, a few of its rows at a time, where those lie along memory.
const FEW_ROWS: usize = 24;

/// Where partial sums are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    /// In C itself.
    InC,
    /// In a buffer, because C has another type, is scaled, or holds values that sums could overflow.
    Buffered,
}

/// How a region of C is computed.
pub struct Choice<P: 'static, A: 'static> {
    pub tiles: Tiles<P, A>,
    pub pack_a: bool,
    pub pack_b: bool,
    /// Tiles for the first rows of a block, where it is they that pack B.
    pub copying: Option<Tiles<P, A>>,
    /// Whether the next strip of B is asked for ahead of time: in place, and far away.
    pub ahead: bool,
    pub block: Blocking,
}

/// Rows that are packed, or whose sums are buffered, at a time.
const ROWS: usize = 4096;

/// Rows of C that are computed at a time: fewer where a tile's columns of them do not fit the buffer for sums.
pub fn rows_at_a_time<E, P, A>(kernel: &Kernel<E, P, A>, sums: Sums) -> usize {
    let (mr, nr) = kernel.tile();
    match sums {
        Sums::InC => ROWS,
        Sums::Buffered => (BUFFERED / (nr * kernel.bytes_of_sum()).max(1)).clamp(mr, ROWS),
    }
}

/// Which tiles to use for `m` rows and `n` columns of C, what to pack for them, and in which blocks.
pub fn choose<E, P, A>(
    kernel: &Kernel<E, P, A>,
    a: Layout,
    b: Layout,
    (m, n): (usize, usize),
    sums: Sums,
) -> Choice<P, A> {
    let choice = with_room_for_sums(kernel, a, b, (m, n), first_level_ways());
    match sums {
        Sums::InC => choice,
        Sums::Buffered => {
            let (nr, rows) = (choice.tiles.vectors() * kernel.lanes, m.min(rows_at_a_time(kernel, sums)));
            Choice { block: choice.block.buffered(n, nr, rows, kernel.bytes_of_sum()), ..choice }
        }
    }
}

/// As [`choose`], where sums need no buffer, and sets of the first-level cache hold so many lines.
fn with_room_for_sums<E, P, A>(
    kernel: &Kernel<E, P, A>,
    a: Layout,
    b: Layout,
    (m, n): (usize, usize),
    ways: usize,
) -> Choice<P, A> {
    let k = a.cols;
    let with = |tiles: Tiles<P, A>, [pack_a, pack_b]: [bool; 2], terms: usize| {
        let (nr, packed) = (tiles.vectors() * kernel.lanes, k.div_ceil(kernel.groups.terms));
        // Where the winner is asked for, columns of B lie there a second time.
        let cache = if kernel.arg.is_some() { second_level() / 2 } else { second_level() };
        let line = kernel.groups.line();
        let Blocking { kc, nc } = Blocking::new((n, packed), nr, size_of::<P>(), line, cache);
        Choice {
            tiles,
            pack_a,
            pack_b,
            copying: None,
            ahead: false,
            block: Blocking { kc: (kc * kernel.groups.terms).min(terms), nc },
        }
    };
    let in_place = kernel.in_place.as_ref().filter(|_| a.col_stride == 1);
    let Some(in_place) = in_place else { return with(kernel.packed, [true, true], usize::MAX) };
    let bytes = n.saturating_mul(k).saturating_mul(size_of::<E>());
    let (near, narrow) = (bytes <= in_place.small_b, n <= in_place.both.vectors() * kernel.lanes);
    let along_rows = b.col_stride == 1;
    if along_rows && near && !narrow {
        return with(in_place.a, [false, false], usize::MAX);
    }
    let several_tiles = m > in_place.both.heights.tall && m <= FEW_ROWS;
    if along_rows && !near && several_tiles && share_sets(b, n, size_of::<E>(), ways) {
        // In place each tile would read B anew, and from the second-level cache at best. It is packed along whole pages.
        let (nr, few) = (kernel.packed.vectors() * kernel.lanes, k.min(STREAMS));
        let block = Blocking::new((n, few), nr, size_of::<P>(), kernel.groups.line(), second_level());
        return Choice { block, ..with(kernel.packed, [true, true], usize::MAX) };
    }
    if along_rows && (near || m <= FEW_ROWS) {
        let choice = with(in_place.both, [false, false], if near { usize::MAX } else { STREAMS });
        return Choice { ahead: !near, ..choice };
    }
    if narrow {
        // One strip of B. Most of what is read is A, each element once: in long rows, as hardware prefetchers expect,
        // and by tall tiles, which have enough sums in flight even if they are narrow.
        let choice = with(in_place.both, [false, true], usize::MAX);
        let kc =
            Blocking::terms_of_strip(n.next_multiple_of(kernel.lanes), k, size_of::<P>(), second_level());
        return Choice { block: Blocking { kc, ..choice.block }, ..choice };
    }
    let shape = |tiles: &Tiles<P, A>| (tiles.heights.tall, tiles.vectors());
    if n >= MANY_COLUMNS
        && shape(&kernel.packed) == shape(&in_place.a)
        && share_sets(a, k, size_of::<E>(), ways)
    {
        // Rows of a tile that share sets of the first-level cache are read more slowly than A is packed.
        return with(kernel.packed, [true, true], usize::MAX);
    }
    // Read by columns of strips, B must not come from memory.
    let copying = in_place.copying.filter(|_| along_rows && bytes <= second_level() / 4);
    Choice { copying, ..with(in_place.a, [false, true], usize::MAX) }
}

/// Columns for which packing A costs little beside the product.
const MANY_COLUMNS: usize = 256;

/// Lines of a set of the first-level cache that are too few for the rows of a tile and what lies beside them. With twelve, packing was slower.
const FEW_WAYS: usize = 8;

/// Whether rows with elements of `size` bytes displace each other from a first-level cache with sets of `ways` lines: rows that are whole pages
/// apart, and of which `n` columns are at least a page long.
fn share_sets(layout: Layout, n: usize, size: usize, ways: usize) -> bool {
    let is_long = n.saturating_mul(size) >= PAGE;
    ways <= FEW_WAYS && is_long && is_pages_apart(layout.row_stride, size)
}

/// Terms of a region at least: enough to be worth taking.
const TERMS_PER_REGION: f64 = 5e5;

/// How many regions to cut C into for so many threads: two for each, so that a thread that is held up takes fewer of them,
/// but not more, because each reads its operands for itself; and one where each also packs them both.
fn count(pair_ops: f64, threads: usize, packs_both: bool) -> usize {
    let each = if packs_both { 1 } else { 2 };
    (each * threads).min((pair_ops / TERMS_PER_REGION) as usize).max(threads)
}

/// Regions of C down and across for `threads` threads: those that move the fewest elements, because each region reads, and
/// packs, its own operands, and among these the squarest. What is packed on the way is written for nothing. Threads that
/// write beside each other in the same rows fetch each other's lines ahead of time, which costs about as much as moving
/// C twice more.
pub fn regions<E, P, A>(kernel: &Kernel<E, P, A>, a: Layout, b: Layout, threads: usize) -> (usize, usize) {
    if threads == 1 {
        return (1, 1);
    }
    let (m, n, tile) = (a.rows, b.cols, kernel.tile());
    let Choice { pack_a, pack_b, copying, .. } = with_room_for_sums(kernel, a, b, (m, n), first_level_ways());
    let (tall, wide) = (m.div_ceil(tile.0).max(1), n.div_ceil(tile.1).max(1));
    let moves_a = if pack_a { 2 * m } else { m };
    let moves_b = if pack_b && copying.is_none() { 2 * n } else { n };
    let moved = |down: usize, across: usize| {
        let beside = if across > 1 { m.saturating_mul(2 * n) } else { 0 };
        a.cols.saturating_mul(moves_a * across + moves_b * down).saturating_add(beside)
    };
    let sides = |down, across| tall.div_ceil(down) * tile.0 + wide.div_ceil(across) * tile.1;
    let count = count(m as f64 * n as f64 * a.cols as f64, threads, pack_a && pack_b);
    (1..=count)
        .filter(|down| count.is_multiple_of(*down) && *down <= tall && count / down <= wide)
        .map(|down| (down, count / down))
        .min_by_key(|&(down, across)| (moved(down, across), sides(down, across)))
        .unwrap_or_else(|| (tall.min(count), (count / tall.min(count)).clamp(1, wide)))
}

/// Rows and columns of a C that is small: threads that share it read, and pack, the same lines of A and B.
const SMALL: usize = 256;
/// Terms, and terms in all (`m n k`), of a part of the terms at least: beside them it takes nothing to join it with others.
const TERMS_PER_PART: usize = 8192;
const PAIRS_PER_PART: usize = 2_000_000;
/// Parts at most, and sums of all of them.
const PARTS: usize = 32;
const SUMS_OF_PARTS: usize = 1 << 20;

/// How many parts the terms of a product are cut into, which threads share. The shape alone decides, so that sums are rounded the same on any
/// number of threads.
pub fn parts_of_terms((m, n, k): (usize, usize, usize)) -> usize {
    if m == 0 || n == 0 || m > SMALL || n > SMALL {
        return 1;
    }
    let pairs = k.saturating_mul(m * n) / PAIRS_PER_PART;
    [k / TERMS_PER_PART, pairs, SUMS_OF_PARTS / (m * n)].into_iter().fold(PARTS, usize::min).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        isa::Isa,
        kernel::{Groups, Vectorised, generic},
        pack::{self, Same},
        tile::{Tile, TileFn},
    };
    use tilewright_core::{MinPlus, PlusTimes, f16};

    #[test]
    fn terms_are_split_where_c_is_small() {
        assert_eq!(parts_of_terms((64, 64, 262_144)), 32);
        assert_eq!(parts_of_terms((256, 256, 262_144)), 16);
        assert_eq!(parts_of_terms((1, 1, 262_144)), 1);
        assert_eq!(parts_of_terms((1, 256, 1 << 62)), 32);
        for (m, n, k) in [(0, 9, 1 << 40), (9, 0, 1 << 40), (257, 1, 1 << 40), (256, 256, 16_383)] {
            assert_eq!(parts_of_terms((m, n, k)), 1, "{m}x{n}x{k}");
        }
    }

    #[test]
    fn one_strip_of_b_meets_long_rows_of_a() {
        let kernel = <PlusTimes<f32> as Vectorised>::kernel(Isa::Portable);
        let choice = |n| {
            let (a, b) = (Layout::row_major(4096, 10_000), Layout::row_major(10_000, n));
            choose(&kernel, a, b, (4096, n), Sums::InC)
        };
        let (strip, block) = (choice(8), choice(100));
        assert!(strip.block.kc >= 2000 && block.block.kc <= 512, "{:?} {:?}", strip.block, block.block);
        assert_eq!([strip.pack_a, strip.pack_b], [false, true]);
        assert!(strip.block.nc >= 8);
    }

    /// Which operands of a product of plain `m x k` and `k x n` elements are packed, and in which blocks.
    fn packed(m: usize, n: usize, k: usize, ways: usize) -> ([bool; 2], Blocking) {
        let kernel = <PlusTimes<f32> as Vectorised>::kernel(Isa::Portable);
        let (a, b) = (Layout::row_major(m, k), Layout::row_major(k, n));
        let choice = with_room_for_sums(&kernel, a, b, (m, n), ways);
        ([choice.pack_a, choice.pack_b], choice.block)
    }

    #[test]
    fn rows_of_b_that_share_sets_are_packed_for_few_rows() {
        let kernel = <PlusTimes<f32> as Vectorised>::kernel(Isa::Portable);
        let tall = kernel.in_place.as_ref().expect("it has tiles in place").both.heights.tall;
        for (m, n, k) in [(tall + 1, 4096, 4096), (FEW_ROWS, 1024, 1000), (16, 2048, 33)] {
            let (operands, block) = packed(m, n, k, 8);
            assert_eq!((operands, block.kc), ([true; 2], STREAMS), "{m}x{n}x{k}");
            // A page of B is used up at once, if three eighths of the second-level cache hold so much.
            assert!(second_level() < 512 << 10 || block.nc * size_of::<f32>() >= PAGE, "{block:?}");
        }
        for (m, n, ways) in [(tall, 4096, 8), (16, 4100, 8), (16, 512, 8), (16, 4096, 12)] {
            // Sums are rounded alike.
            let (operands, block) = packed(m, n, 4096, ways);
            assert_eq!((operands, block.kc), ([false; 2], STREAMS), "{m}x{n}");
        }
    }

    #[test]
    fn rows_of_a_that_share_sets_are_packed_for_many_columns() {
        let (operands, block) = packed(64, 256, 1024, 8);
        assert_eq!(operands, [true; 2]);
        for (n, k, ways) in [(255, 1024, 8), (256, 1025, 8), (256, 512, 8), (256, 1024, 12)] {
            assert_eq!(packed(64, n, k, ways).0, [false, true], "64x{n}x{k}");
        }
        // Sums are rounded alike.
        assert_eq!(packed(64, 256, 1024, 12).1.kc, block.kc);
    }

    /// Whatever the shape, also for sums with winners and for large ones.
    #[test]
    fn buffered_sums_are_bounded() {
        fn all<E, P, A>(kernel: &Kernel<E, P, A>) {
            for (m, n, k) in
                [(4096, 32_768, 1), (1 << 30, 1 << 30, 1), (5000, 9, 3), (1, 1 << 40, 2), (300, 300, 300)]
            {
                let (a, b) = (Layout::row_major(m, k), Layout::row_major(k, n));
                let rows = m.min(rows_at_a_time(kernel, Sums::Buffered));
                let choice = choose(kernel, a, b, (rows, n), Sums::Buffered);
                let bytes = rows * choice.block.nc * kernel.bytes_of_sum();
                let tile = kernel.tile().0 * choice.tiles.vectors() * kernel.lanes * kernel.bytes_of_sum();
                assert!(bytes <= BUFFERED.max(tile), "{m}x{n}x{k}: {bytes}");
                assert!(rows == m || rows >= kernel.tile().0);
            }
        }
        for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_supported()) {
            all(&<PlusTimes<f16> as Vectorised>::kernel(isa));
            all(&<PlusTimes<f32> as Vectorised>::kernel(isa));
            all(&<MinPlus<i16> as Vectorised>::arg_kernel(isa).expect("it tells which term won"));
        }
        all(&generic::<PlusTimes<f64>>());
        type Large = [u64; 8192];
        unsafe fn tile(_: &Tile<u8, Large>) {}
        const TILES: &[TileFn<u8, Large>] = &[tile as TileFn<u8, Large>; 4];
        let pack = [pack::portable::<u8, u8, Same> as pack::PackFn<u8, u8>; 2];
        let codes = Default::default();
        let groups = Groups::ONE;
        let packed = Tiles::new(&[TILES], &[[1, 2, 3, 4]]);
        all(&Kernel { lanes: 4, groups, codes, packed, in_place: None, pack, arg: None, join: None });
    }
}
