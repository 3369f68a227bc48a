//! Complete graphs of random weights, to measure with: `random:N` in place of a file.

use super::{memory, resolved::Resolved};
use crate::{args::Common, failure::Failure};
use tilewright::{DType, DynMatrix, DynMut, Element, MatMut, SemiringId, paths::DynPaths};

/// A weight for every pair, uniformly distributed and the same every time: no cycle makes paths better. Under or-and each vertex has some eight edges.
pub fn graph(asked: &Resolved, common: &Common, n: usize) -> Result<DynMatrix, Failure> {
    let dtype = asked.dtype.unwrap_or_else(|| natural(asked.semiring));
    memory::check(common, (n as u64).saturating_mul(n as u64).saturating_mul(dtype.size() as u64))?;
    let mut weights = DynMatrix::zeros(dtype, n, n)?;
    fill(asked.semiring, n, (0, 0), weights.as_mut());
    Ok(weights)
}

/// The type that weights have where none is asked for.
pub fn natural(semiring: SemiringId) -> DType {
    if DynPaths::dtypes(semiring).contains(&DType::F32) { DType::F32 } else { DType::Bool }
}

/// Writes the part of the graph of `n` vertices that begins with this row and column.
pub fn fill(semiring: SemiringId, n: usize, first: (usize, usize), part: DynMut<'_>) {
    let unit = |x: f64| match semiring {
        SemiringId::MaxPlus => -x,
        SemiringId::MinTimes => 1.0 + x,
        _ => x,
    };
    let whole = |x: f64| unit((1.0 + 999.0 * x).floor());
    match part.dtype() {
        DType::F32 => weights(n, first, part.typed(), |x| unit(x) as f32),
        DType::F64 => weights(n, first, part.typed(), unit),
        DType::I16 => weights(n, first, part.typed(), |x| whole(x) as i16),
        DType::I32 => weights(n, first, part.typed(), |x| whole(x) as i32),
        DType::I64 => weights(n, first, part.typed(), |x| whole(x) as i64),
        DType::Bool => weights(n, first, part.typed(), |x| x * (n as f64) < 8.0),
        // No other type has paths.
        _ => {}
    }
}

fn weights<T: Element>(
    n: usize,
    first: (usize, usize),
    part: Option<MatMut<'_, T>>,
    weight: impl Fn(f64) -> T,
) {
    let Some(mut part) = part else { return };
    for i in 0..part.rows() {
        let mut state = after((first.0 + i) as u64 * n as u64 + first.1 as u64);
        for j in 0..part.cols() {
            state = next(state);
            part[(i, j)] = weight((state >> 11) as f64 / (1_u64 << 53) as f64);
        }
    }
}

const FACTOR: u64 = 6_364_136_223_846_793_005;
const SUMMAND: u64 = 1_442_695_040_888_963_407;

fn next(state: u64) -> u64 {
    state.wrapping_mul(FACTOR).wrapping_add(SUMMAND)
}

/// The state after so many numbers: steps are doubled, and those that add up to `count` are taken.
fn after(mut count: u64) -> u64 {
    let (mut state, mut factor, mut summand) = (12_345_u64, FACTOR, SUMMAND);
    while count > 0 {
        if count & 1 == 1 {
            state = state.wrapping_mul(factor).wrapping_add(summand);
        }
        summand = summand.wrapping_mul(factor.wrapping_add(1));
        factor = factor.wrapping_mul(factor);
        count >>= 1;
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_of_the_whole() {
        let mut state = 12_345;
        for count in 0..100 {
            assert_eq!(after(count), state);
            state = next(state);
        }
        let (n, semiring) = (13, SemiringId::MinPlus);
        let mut whole = DynMatrix::zeros(DType::I32, n, n).unwrap();
        fill(semiring, n, (0, 0), whole.as_mut());
        let mut part = DynMatrix::zeros(DType::I32, 4, 5).unwrap();
        fill(semiring, n, (7, 3), part.as_mut());
        assert_eq!(part.as_ref().get(2, 4), whole.as_ref().get(9, 7));
        assert_eq!(part.as_ref().get(0, 0), whole.as_ref().get(7, 3));
    }
}
