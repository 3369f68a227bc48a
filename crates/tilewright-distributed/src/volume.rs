//! What a closure or a product takes, before it begins: pure functions.

use crate::{axis::Axis, grid::Shape};

/// The rows and columns of a block for a matrix of `n` rows, where none are asked for: a function of `n` alone, because the order of
/// sums depends on it.
///
/// Larger blocks make products faster, smaller ones leave less to the owner of a diagonal block.
pub fn default_block(n: usize) -> usize {
    (n / 16).next_multiple_of(64).clamp(64, 1024)
}

/// As [`default_block`], where each rank has a GPU: up to 2048 for large matrices, since on an H200 terms of 2048 have 30 T pair-operations a second, and of 1024 28.
/// Below 65,536 rows blocks are closed one after another for as long as the rest is updated, and smaller ones are faster.
pub fn default_block_of_gpus(n: usize) -> usize {
    default_block(n).max((n / 32).next_multiple_of(64).min(2048))
}

/// Bytes that all ranks together receive during a closure of `n` rows whose elements have `size` bytes, in blocks of `b` rows:
/// `size (n^2 + sum b_k^2) (rows + cols - 2)`, which is `size (n^2 + n b) (rows + cols - 2)` where `b` divides `n`.
///
/// ```
/// use tilewright_distributed::{Shape, closure_bytes};
/// assert_eq!(closure_bytes(1024, 128, Shape { rows: 2, cols: 2 }, 4), 4 * (1024 * 1024 + 1024 * 128) * 2);
/// ```
pub fn closure_bytes(n: usize, block: usize, grid: Shape, size: usize) -> u64 {
    let axis = Axis { len: n, block: block.max(1), parts: 1 };
    let diagonal: u64 = (0..axis.blocks()).map(|k| (axis.indices(k).len() as u64).pow(2)).sum();
    size as u64 * ((n as u64).pow(2) + diagonal) * (grid.rows + grid.cols - 2) as u64
}

/// Bytes that the rank with the most of them takes during a closure: its part of the matrix, and panels.
pub fn closure_memory(n: usize, block: usize, grid: Shape, size: usize) -> u64 {
    let most = |parts| Axis { len: n, block: block.max(1), parts }.local_len(0) as u64;
    let (rows, cols, block) = (most(grid.rows), most(grid.cols), block.min(n) as u64);
    size as u64 * (rows * cols + 2 * block * (rows + cols) + block * block)
}

/// Bytes that all ranks together receive during a closure with predecessors: one of elements of 8 bytes, and a product.
pub fn predecessor_bytes(n: usize, block: usize, grid: Shape) -> u64 {
    closure_bytes(n, block, grid, 8) + product_bytes((n, n, n), grid, 8)
}

/// Bytes that the rank with the most of them takes during a closure with predecessors of weights of `size` bytes: beside the closure's, weights and distances, keys of edges,
/// ways of a panel and their winners, and predecessors.
pub fn predecessor_memory(n: usize, block: usize, grid: Shape, size: usize) -> u64 {
    let most = |parts| Axis { len: n, block: block.max(1), parts }.local_len(0) as u64;
    closure_memory(n, block, grid, 8) + most(grid.rows) * most(grid.cols) * (2 * size as u64 + 8 + 8 + 4 + 8)
}

/// Bytes that all ranks together receive during a product of an `m x k` and a `k x n` matrix: `size (m k (cols - 1) + k n (rows - 1))`.
pub fn product_bytes((m, n, k): (usize, usize, usize), grid: Shape, size: usize) -> u64 {
    let [m, n, k, size] = [m, n, k, size].map(|number| number as u64);
    size * (m * k * (grid.cols as u64 - 1) + k * n * (grid.rows as u64 - 1))
}

/// Bytes that the rank with the most of them takes during a product: its parts of A, B and C, and panels.
pub fn product_memory(
    (m, n, k): (usize, usize, usize),
    block: usize,
    grid: Shape,
    (size, result): (usize, usize),
) -> u64 {
    let most = |len, parts| Axis { len, block: block.max(1), parts }.local_len(0) as u64;
    let (rows, cols) = (most(m, grid.rows), most(n, grid.cols));
    let (a, b) = (rows * most(k, grid.cols), most(k, grid.rows) * cols);
    let panels = block.min(k) as u64 * (rows + cols);
    size as u64 * (a + b + 2 * panels) + result as u64 * rows * cols
}

/// The grid of so many ranks that receives the least during a product.
///
/// ```
/// use tilewright_distributed::{Shape, best_grid};
/// assert_eq!(best_grid(8, (1000, 1000, 1000)), Shape { rows: 2, cols: 4 });
/// assert_eq!(best_grid(8, (100_000, 10, 1000)), Shape { rows: 8, cols: 1 });
/// ```
pub fn best_grid(ranks: usize, shape: (usize, usize, usize)) -> Shape {
    let grids =
        (1..=ranks).filter(|rows| ranks.is_multiple_of(*rows)).map(|rows| Shape { rows, cols: ranks / rows });
    grids.min_by_key(|&grid| product_bytes(shape, grid, 1)).unwrap_or(Shape { rows: ranks.max(1), cols: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_is_smaller() {
        let grid = Shape { rows: 2, cols: 3 };
        assert_eq!(closure_bytes(10, 4, grid, 8), 8 * (100 + 16 + 16 + 4) * 3);
        assert_eq!(closure_bytes(0, 4, grid, 8), 0);
        assert_eq!(closure_bytes(10, 4, Shape { rows: 1, cols: 1 }, 8), 0);
        // What the whole project is for: 131,072 vertices on 2 x 4 GPUs.
        let (n, block, grid) = (131_072, 1024, Shape { rows: 2, cols: 4 });
        assert_eq!(default_block(n), block);
        assert_eq!(closure_bytes(n, block, grid, 4) >> 30, 258);
        assert_eq!(closure_memory(n, block, grid, 4) >> 30, 8);
    }

    #[test]
    fn blocks_are_whole_cache_lines() {
        assert_eq!([0, 100, 2048, 4096, 1 << 20].map(default_block), [64, 64, 128, 256, 1024]);
        assert_eq!(
            [0, 16384, 32768, 50_000, 1 << 20].map(default_block_of_gpus),
            [64, 1024, 1024, 1600, 2048]
        );
    }
}
