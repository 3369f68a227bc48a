//! Complete graphs of random weights, to measure with: `random:N` in place of a file.

use super::{memory, resolved::Resolved};
use crate::{args::Common, failure::Failure};
use tilewright::{DType, DynMatrix, Element, Error, Matrix, SemiringId, paths::DynPaths};

/// A weight for every pair, uniformly distributed and the same every time: no cycle makes paths better. Under or-and each vertex has some eight edges.
pub fn graph(asked: &Resolved, common: &Common, n: usize) -> Result<DynMatrix, Failure> {
    let known = DynPaths::dtypes(asked.semiring);
    let natural = if known.contains(&DType::F32) { DType::F32 } else { DType::Bool };
    let dtype = asked.dtype.unwrap_or(natural);
    memory::check(common, (n as u64).saturating_mul(n as u64).saturating_mul(dtype.size() as u64))?;
    let unit = |x: f64| match asked.semiring {
        SemiringId::MaxPlus => -x,
        SemiringId::MinTimes => 1.0 + x,
        _ => x,
    };
    let whole = |x: f64| unit((1.0 + 999.0 * x).floor());
    Ok(match dtype {
        DType::F64 => weights(n, unit)?,
        DType::I16 => weights(n, |x| whole(x) as i16)?,
        DType::I32 => weights(n, |x| whole(x) as i32)?,
        DType::I64 => weights(n, |x| whole(x) as i64)?,
        DType::Bool => weights(n, |x| x * (n as f64) < 8.0)?,
        _ => weights(n, |x| unit(x) as f32)?,
    })
}

fn weights<T: Element>(n: usize, weight: impl Fn(f64) -> T) -> Result<DynMatrix, Error>
where
    Matrix<T>: Into<DynMatrix>,
{
    let mut state = 12_345_u64;
    let next = |_, _| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        weight((state >> 11) as f64 / (1_u64 << 53) as f64)
    };
    Ok(Matrix::from_fn(n, n, next)?.into())
}
