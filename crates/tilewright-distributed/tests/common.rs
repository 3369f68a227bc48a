//! Weights, grids, and comparison bit by bit.

use tilewright::{DType, DynMatrix, DynRef, Error, Extremes, Matrix, SemiringId};
use tilewright_distributed::{DistMatrix, Grid, Group, Shape, threads};

/// Grids of one to nine ranks.
pub const GRIDS: &[(usize, usize)] =
    &[(1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (5, 1), (2, 3), (1, 7), (4, 2), (3, 3)];

/// All semirings and types that have paths.
pub fn pairs() -> impl Iterator<Item = (SemiringId, DType)> {
    SemiringId::ALL
        .iter()
        .flat_map(|&semiring| semiring.path_dtypes().iter().map(move |&dtype| (semiring, dtype)))
}

/// A number from 0 to 1 for each place.
pub fn unit(i: usize, j: usize) -> f64 {
    let mut x =
        (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (j as u64).wrapping_add(0x1234_5678_9abc_def1);
    for _ in 0..3 {
        x = (x ^ x >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    (x >> 11) as f64 / (1_u64 << 53) as f64
}

/// Weights of which no cycle makes paths better, a third of them absent. Floats are rounded when they are added.
pub fn weights(semiring: SemiringId, dtype: DType, rows: usize, cols: usize) -> DynMatrix {
    let absent = match semiring {
        SemiringId::MaxPlus | SemiringId::MaxMin => f64::NEG_INFINITY,
        SemiringId::MaxTimes | SemiringId::OrAnd => 0.0,
        _ => f64::INFINITY,
    };
    let weight = |i: usize, j: usize| {
        let x = unit(i, j);
        // A path of all edges stays in the range of 16 bits.
        let most = if dtype == DType::I16 { 20.0 } else { 100.0 };
        let x = if dtype.is_float() { x } else { (most * x).floor() };
        match semiring {
            _ if unit(j + 1000, i) < 1.0 / 3.0 && !(absent.is_infinite() && dtype == DType::Bool) => absent,
            SemiringId::MaxPlus => -x,
            SemiringId::MinTimes => 1.0 + x,
            SemiringId::OrAnd => f64::from(u8::from(x * 3.0 < 100.0)),
            _ => x,
        }
    };
    let numbers: DynMatrix = Matrix::from_fn(rows, cols, weight).unwrap().into();
    numbers.as_ref().convert(dtype, Extremes::Absent).unwrap()
}

/// The parts of a whole matrix.
pub fn dealt<'g>(grid: &'g Grid<'g>, whole: DynRef<'_>, block: usize) -> Result<DistMatrix<'g>, Error> {
    let layout = whole.layout();
    let mut d = DistMatrix::zeros(grid, whole.dtype(), layout.rows, layout.cols, block)?;
    d.fill(|block, mut part| {
        let (rows, cols) = (&block.rows, &block.cols);
        part.copy_from(whole.window(rows.start, cols.start, rows.len(), cols.len())?)
    })?;
    Ok(d)
}

/// Runs `work` at every rank of a grid of threads.
pub fn on_grid<T: Send>(
    (rows, cols): (usize, usize),
    work: impl for<'g> Fn(&'g Grid<'g>) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    threads::run(rows * cols, |group: &dyn Group| {
        let grid = Grid::new(group, Shape { rows, cols })?;
        work(&grid)
    })
}

pub fn same_bits(a: DynRef<'_>, b: DynRef<'_>) -> bool {
    let layout = a.layout();
    let all = (0..layout.rows).flat_map(|i| (0..layout.cols).map(move |j| (i, j)));
    (layout.rows, layout.cols, a.dtype()) == (b.layout().rows, b.layout().cols, b.dtype())
        && all.into_iter().all(|(i, j)| a.bytes(i, j) == b.bytes(i, j))
}
