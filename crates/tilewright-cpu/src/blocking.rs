//! How a product is cut to fit the caches. Pure functions.

use core::ops::Range;

/// Block sizes, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocking {
    /// Terms per block.
    pub kc: usize,
    /// Columns per block; `kc x nc` elements of B stay in the second-level cache.
    pub nc: usize,
}

/// Bytes of one row of a tile of A, `kc` terms: a tile of twelve takes half of a first-level cache of 48 KiB.
pub const ROW_OF_A: usize = 2 << 10;

/// Tiles of A that are packed at a time, where they meet one block of columns. Where the rows of A are side by side in memory,
/// a tile alone would use a small part of every cache line and page that it touches; a panel uses them up.
pub const PANEL: usize = 16;

/// Bytes of sums that are buffered at a time, together with their winners: about what a block of B of the usual size asks for,
/// with all the rows that are packed at a time.
pub const BUFFERED: usize = 8 << 20;

/// Rows of a pruned product that are few.
const FEW_ROWS: usize = 96;

/// What a line of packed elements takes, of a row of A or a column of B.
#[derive(Clone, Copy)]
pub struct Line {
    /// Bytes in a block, roughly.
    pub bytes: usize,
    /// It has a multiple of so many elements for terms.
    pub unit: usize,
    /// Elements before those.
    pub before: usize,
}

impl Blocking {
    /// Blocks for `n` columns and `k` terms, with register tiles of `nr` columns of elements of `size` bytes, rows of A of such lines
    /// and a second-level cache of `cache` bytes, of which a block of B takes three eighths: half was 2 to 5 % slower where others used the core, too.
    pub fn new((n, k): (usize, usize), nr: usize, size: usize, line: Line, cache: usize) -> Self {
        let size = size.max(1);
        let kc = even(k, (line.bytes / size).max(1), line.unit);
        let nc = even(n, cache / 8 * 3 / ((kc + line.before) * size), nr);
        Self { kc, nc }
    }

    /// The same with fewer columns, where sums of `rows` rows, of `bytes` each, would take more than the buffer has.
    pub fn buffered(self, n: usize, nr: usize, rows: usize, bytes: usize) -> Self {
        let fit = BUFFERED / rows.saturating_mul(bytes).max(1);
        Self { nc: self.nc.min(even(n, fit / nr * nr, nr)), ..self }
    }

    /// Blocks of panels of `width` columns, of which one with all its terms takes up to half of the cache, or two side by
    /// side where `m` rows are so few that most of the time is spent on packing, which longer parts of rows of B make faster.
    pub fn of_panels((m, n, k): (usize, usize, usize), width: usize, size: usize, cache: usize) -> Self {
        let beside = if m < FEW_ROWS { 2 } else { 1 };
        let kc = Self::terms_of_strip(width * beside, k, size, cache);
        let nc = even(n, cache / 2 / (kc * size).max(1), width);
        Self { kc, nc }
    }

    /// Terms per block of a single strip of `width` columns, which also takes half of the cache.
    pub fn terms_of_strip(width: usize, k: usize, size: usize, cache: usize) -> usize {
        even(k, cache / 2 / (width * size).max(1), 1)
    }
}

/// The length of equal parts of `total` that are at most about `limit` and a multiple of `unit`.
fn even(total: usize, limit: usize, unit: usize) -> usize {
    let parts = total.div_ceil(limit.max(unit)).max(1);
    total.div_ceil(parts).next_multiple_of(unit).max(unit)
}

/// Consecutive parts of `range` of `step` each, the last one shorter.
pub fn parts(range: Range<usize>, step: usize) -> impl Iterator<Item = Range<usize>> {
    (0..range.len().div_ceil(step)).map(move |i| part(&range, step, i))
}

/// The `i`th of these parts.
pub fn part(range: &Range<usize>, step: usize, i: usize) -> Range<usize> {
    let at = |i: usize| range.end.min(range.start + i * step);
    at(i)..at(i + 1)
}

/// `range` cut into `count` parts whose lengths are multiples of `unit`, except for the last.
pub fn cut(range: Range<usize>, count: usize, unit: usize) -> impl Iterator<Item = Range<usize>> {
    let units = range.len().div_ceil(unit);
    (0..count).map(move |i| {
        let at = |i: usize| range.end.min(range.start + units * i / count * unit);
        at(i)..at(i + 1)
    })
}

/// The regions of C, of `m` rows and `n` columns, that threads take: so many down and across, cut at multiples of `unit`, without empty ones.
pub fn regions(
    (m, n): (usize, usize),
    (down, across): (usize, usize),
    unit: (usize, usize),
) -> Vec<(Range<usize>, Range<usize>)> {
    cut(0..m, down, unit.0)
        .flat_map(|rows| cut(0..n, across, unit.1).map(move |cols| (rows.clone(), cols)))
        .filter(|(rows, cols)| !rows.is_empty() && !cols.is_empty())
        .collect()
}

/// The height of tiles that cover `rows` rows: the least that needs no more of them than `most` rows each would.
fn tile_height(rows: usize, most: usize) -> usize {
    rows.div_ceil(rows.div_ceil(most).max(1)).max(1)
}

/// Heights of tiles for which there are micro-kernels: all up to `low`, and `tall`, which is above.
#[derive(Clone, Copy, Debug)]
pub struct Heights {
    pub low: usize,
    pub tall: usize,
}

impl Heights {
    /// Cuts rows into tiles: where heights are missing, as many tall ones as there can be, and the rest into low ones. A rest that would
    /// keep few of the processor's pipelines busy takes a tall tile's rows with it.
    pub fn cut(self, rows: Range<usize>) -> Cut {
        let Self { low, tall } = self;
        let Range { start, end } = rows;
        let count = end - start;
        if low + 1 == tall {
            return Cut::new((start..end, tile_height(count, tall)), (end..end, 1));
        }
        if count <= low {
            return Cut::new((start..start, tall), (start..end, count.max(1)));
        }
        let (tiles, rest) = (count / tall, count % tall);
        let is_thin = rest > 0 && 4 * rest < tall && tiles > 0;
        let split = start + (tiles - usize::from(is_thin)) * tall;
        Cut::new((start..split, tall), (split..end, tile_height(end - split, low)))
    }
}

/// Rows that are cut into tiles: some of one height, and then some of another. The last of each may be lower.
#[derive(Clone, Debug)]
pub struct Cut {
    /// Rows and the height of their tiles.
    parts: [(Range<usize>, usize); 2],
    /// Tiles of the first part.
    first: usize,
    /// All tiles.
    pub count: usize,
}

impl Cut {
    #[inline(always)]
    fn new(first: (Range<usize>, usize), rest: (Range<usize>, usize)) -> Self {
        let tiles = |(rows, height): &(Range<usize>, usize)| match rows.len() {
            0 => 0,
            len if len <= *height => 1,
            len => len.div_ceil(*height),
        };
        let counts = (tiles(&first), tiles(&rest));
        Self { parts: [first, rest], first: counts.0, count: counts.0 + counts.1 }
    }

    /// Rows whose tiles have one height, and that height.
    pub fn parts(&self) -> impl Iterator<Item = (&Range<usize>, usize)> {
        self.parts.iter().filter(|(rows, _)| !rows.is_empty()).map(|(rows, height)| (rows, *height))
    }

    /// The rows of the `i`th tile.
    #[inline(always)]
    pub fn tile(&self, i: usize) -> Range<usize> {
        let [(rows, height), (rest, low)] = &self.parts;
        if i < self.first { part(rows, *height, i) } else { part(rest, *low, i - self.first) }
    }
}

/// Parts of the columns of C that threads take, in a pruned product: at most `nc` columns each, in panels of `width`. There are several for each
/// thread, so that one that is held up takes fewer of them.
pub fn shares(n: usize, width: usize, nc: usize, threads: usize) -> usize {
    let least = if threads == 1 { 1 } else { PARTS * threads };
    n.div_ceil(nc).max(least.min(n.div_ceil(width))).max(1)
}

/// Parts that each thread takes of a pruned product.
const PARTS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_fit_their_budgets() {
        for n in [1, 31, 128, 1000, 4096, 100_000] {
            for (k, unit, before) in [(n, 1, 0), (n, 16, 1), (5, 16, 0)] {
                let line = Line { bytes: ROW_OF_A, unit, before };
                let b = Blocking::new((n, k), 32, 4, line, 1 << 20);
                let bytes = (b.kc + before) * 4;
                assert!(
                    b.kc * 4 <= ROW_OF_A && b.kc.is_multiple_of(unit) && b.nc.is_multiple_of(32),
                    "{b:?}"
                );
                assert!(bytes * b.nc <= (512 << 10) + 32 * bytes, "{b:?}");
            }
        }
    }

    #[test]
    fn sums_fit_their_buffer() {
        for (n, rows) in [(1, 4096), (64, 4096), (32_768, 4096), (1_usize << 40, 4096), (1 << 20, 7)] {
            for (nr, bytes) in [(8, 4), (32, 8), (64, 12), (4, 512), (8, 0)] {
                let all = Blocking { kc: 1, nc: n.next_multiple_of(nr) };
                let some = all.buffered(n, nr, rows, bytes);
                assert!(some.nc >= nr && some.nc.is_multiple_of(nr) && some.nc <= all.nc, "{some:?}");
                assert!(some.nc * rows * bytes <= BUFFERED, "{n} {rows} {nr} {bytes}: {some:?}");
            }
        }
    }

    #[test]
    fn cuts_cover_the_range() {
        for len in 0..70 {
            for count in 1..9 {
                let cut: Vec<_> = cut(3..3 + len, count, 8).collect();
                assert_eq!(cut.first().map(|r| r.start), Some(3));
                assert_eq!(cut.last().map(|r| r.end), Some(3 + len));
                assert!(cut.windows(2).all(|w| w[0].end == w[1].start));
            }
            let height = tile_height(len, 12);
            assert!((1..=12).contains(&height) && len.div_ceil(height) == len.div_ceil(12));
        }
    }

    #[test]
    fn tiles_have_heights_that_there_are() {
        for heights in [(3, 4), (2, 4), (5, 6), (6, 12), (31, 32)].map(|(low, tall)| Heights { low, tall }) {
            for len in 0..200 {
                let (cut, mut end) = (heights.cut(7..7 + len), 7);
                for tile in (0..cut.count).map(|i| cut.tile(i)) {
                    assert_eq!(tile.start, end);
                    let height = tile.len();
                    assert!(
                        (1..=heights.low).contains(&height) || height == heights.tall,
                        "{height} of {len}"
                    );
                    end = tile.end;
                }
                assert_eq!(end, 7 + len, "{heights:?}");
                assert!(cut.parts().all(|(rows, _)| !rows.is_empty()));
            }
        }
        let lengths = |rows| {
            let cut = Heights { low: 6, tall: 12 }.cut(0..rows);
            (0..cut.count).map(|i| cut.tile(i).len()).collect()
        };
        let of: [Vec<usize>; 4] = [11, 25, 27, 48].map(lengths);
        assert_eq!(of, [vec![6, 5], vec![12, 5, 5, 3], vec![12, 12, 3], vec![12; 4]]);
    }

    #[test]
    fn shares_of_a_pruned_product() {
        assert_eq!(shares(1000, 64, 256, 1), 4);
        assert_eq!(shares(1000, 64, 256, 4), 8);
        assert_eq!(shares(130, 64, 256, 2), 3);
        assert_eq!(shares(64, 64, 256, 16), 1);
    }
}
