//! Paths of at most so many edges.

use crate::{
    closure::check_square,
    device::Device,
    graph::Graph,
    range::{self, Range},
    route::Route,
    scan::largest_of,
    schedule::{self, Power},
    semiring::PathSemiring,
    tree::NO_PREDECESSOR,
    wide,
};
use tilewright_core::{Element, Error, ErrorKind, MatRef, Matrix, MaxPlus, MinPlus, Update};
use tilewright_cpu::{Options, multiply, multiply_arg};

/// The power of `W ⊕ 1` by squaring: element `(i, j)` is the weight of the best path of at most `most` edges.
pub(crate) fn distances<S: PathSemiring>(
    w: MatRef<'_, S::Weight>,
    most: u32,
    device: Option<&dyn Device>,
    options: &Options<'_>,
) -> Result<Matrix<S::Weight>, Error> {
    if range_of::<S>(w, most)? == Range::Wide {
        return in_64_bits::<S>(w, most, device, options);
    }
    let n = w.rows();
    let mut base = Matrix::from_fn(n, n, |i, j| {
        let weight = S::clean(w[(i, j)]);
        if i == j { S::add(S::ONE, weight) } else { weight }
    })?;
    let steps = schedule::power(most);
    if steps.is_empty() {
        return Matrix::from_fn(n, n, |i, j| if i == j { S::ONE } else { S::ZERO });
    }
    if let Some(device) = device {
        let built_in = S::BUILT_IN.ok_or_else(wide::unsupported::<S>)?;
        device.power(built_in.id(), built_in.result(base.as_mut()), most, options)?;
        return Ok(base);
    }
    // The last step leaves `B` as it is.
    let mut power: Option<Matrix<S::Weight>> = None;
    for step in steps {
        match (step, power.take()) {
            (Power::Square, so_far) => {
                power = so_far;
                base = product::<S>(&base, &base, options)?;
            }
            (_, Some(so_far)) => power = Some(product::<S>(&so_far, &base, options)?),
            (_, None) => power = Some(base.clone()),
        }
    }
    Ok(power.unwrap_or(base))
}

/// As [`distances`], edge after edge from left to right, and the stop before the last of each path: of several best paths the one with the fewest edges, and of these
/// the smallest stop. A path to that stop has one edge less, and may be another one than the best of as many edges.
pub(crate) fn last_stops<S: PathSemiring>(
    w: MatRef<'_, S::Weight>,
    most: u32,
    options: &Options<'_>,
) -> Result<(Matrix<S::Weight>, Matrix<u32>), Error> {
    if range_of::<S>(w, most)? == Range::Wide {
        let (d, stops) = match wide::is_max_plus::<S>() {
            true => last_stops::<MaxPlus<i64>>(wide::widen::<S>(w)?.as_ref(), most, options)?,
            false => last_stops::<MinPlus<i64>>(wide::widen::<S>(w)?.as_ref(), most, options)?,
        };
        return Ok((wide::narrow::<S>(d)?, stops));
    }
    let n = w.rows();
    let edges = Matrix::from_fn(n, n, |i, j| S::clean(w[(i, j)]))?;
    let mut best = Matrix::from_fn(n, n, |i, j| if i == j { S::ONE } else { S::ZERO })?;
    let mut stops = Matrix::filled(n, n, NO_PREDECESSOR)?;
    let (mut next, mut via) = (Matrix::filled(n, n, S::ZERO)?, stops.clone());
    for _ in 0..most {
        let (c, arg) = (next.as_mut(), via.as_mut());
        multiply_arg::<S>(c, arg, best.as_ref(), edges.as_ref(), &Update::Replace, options)?;
        let mut is_better = false;
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            if S::improves(next[(i, j)], best[(i, j)]) {
                (best[(i, j)], stops[(i, j)]) = (next[(i, j)], via[(i, j)]);
                is_better = true;
            }
        }
        if !is_better {
            break;
        }
    }
    Ok((best, stops))
}

/// Where sums of so many edges stay.
fn range_of<S: PathSemiring>(w: MatRef<'_, S::Weight>, most: u32) -> Result<Range, Error> {
    check_square("W", w.layout())?;
    range::find::<S>(w, 0)?;
    let largest = largest_of::<S>(w, 0)?;
    range::of_largest::<S>(largest, (most as usize).saturating_add(1)).ok_or_else(|| too_long::<S>(most))
}

fn product<S: PathSemiring>(
    a: &Matrix<S::Weight>,
    b: &Matrix<S::Weight>,
    options: &Options<'_>,
) -> Result<Matrix<S::Weight>, Error> {
    let mut c = Matrix::filled(a.rows(), b.cols(), S::ZERO)?;
    multiply::<S>(c.as_mut(), a.as_ref(), b.as_ref(), &Update::Replace, options)?;
    Ok(c)
}

/// In 64 bits, because sums may leave the range in which products are computed.
fn in_64_bits<S: PathSemiring>(
    w: MatRef<'_, S::Weight>,
    most: u32,
    device: Option<&dyn Device>,
    options: &Options<'_>,
) -> Result<Matrix<S::Weight>, Error> {
    let w = wide::widen::<S>(w)?;
    let found = match wide::is_max_plus::<S>() {
        true => distances::<MaxPlus<i64>>(w.as_ref(), most, device, options)?,
        false => distances::<MinPlus<i64>>(w.as_ref(), most, device, options)?,
    };
    wide::narrow::<S>(found)
}

fn too_long<S: PathSemiring>(most: u32) -> Error {
    let what = format!("a path of {most} edges under {} on {}", S::NAME, S::Weight::DTYPE);
    let (why, hint) =
        ("its weight may leave the range of the type".into(), "choose f64, or fewer steps".into());
    ErrorKind::Unsupported { what, why, hint }.into()
}

/// Stops that are remembered at most: 400 MB.
const MOST_REMEMBERED: usize = 100_000_000;

/// The best path of at most `most` edges: the fewest edges of several, and of these the smallest stop before the last.
///
/// # Errors
/// `unsupported` where `most` times the number of vertices is too large to remember all stops.
pub(crate) fn route<S: PathSemiring>(
    graph: &Graph<S>,
    from: usize,
    to: usize,
    most: u32,
) -> Result<Option<Route>, Error> {
    let n = graph.vertices();
    let into = graph.reversed();
    let mut best = vec![S::ZERO; n];
    best[from] = S::ONE;
    // For each number of edges, the stops before those vertices that more edges lead to by a better path.
    let mut before: Vec<Vec<u32>> = Vec::new();
    let mut edges = 0;
    for step in 1..=most as usize {
        if step.saturating_mul(n) > MOST_REMEMBERED {
            return Err(too_long::<S>(most));
        }
        let (mut next, mut stops) = (best.clone(), vec![u32::MAX; n]);
        for at in 0..n {
            for &(stop, edge) in into.list(at) {
                let path = S::times(best[stop as usize], edge);
                if S::improves(path, next[at]) {
                    (next[at], stops[at]) = (path, stop);
                }
            }
        }
        if stops.iter().all(|&stop| stop == u32::MAX) {
            break;
        }
        if stops[to] != u32::MAX {
            edges = step;
        }
        before.push(stops);
        best = next;
    }
    if S::is_absent(best[to]) {
        return Ok(None);
    }
    let (mut route, mut at) = (vec![to], to);
    for stops in before[..edges].iter().rev() {
        // A vertex that was reached by fewer edges keeps its stop.
        if stops[at] != u32::MAX {
            at = stops[at] as usize;
            route.push(at);
        }
    }
    route.reverse();
    Ok(Some(Route::of(route)))
}
