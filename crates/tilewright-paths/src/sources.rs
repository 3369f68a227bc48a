//! A search from every vertex.

use crate::{
    graph::Graph,
    options::{check_cancelled, tell},
    search::Prepared,
    semiring::PathSemiring,
    share::share,
    tree::NO_PREDECESSOR,
};
use tilewright_core::{Error, ErrorKind, Layout, Matrix};
use tilewright_cpu::Options;

/// Sources whose rows a thread takes at a time.
pub(crate) const SOURCES: usize = 32;

/// Weights of all pairs, and the stop before the last of each where searches find them.
pub(crate) type Found<S> = (Matrix<<S as PathSemiring>::Weight>, Option<Matrix<u32>>);

/// The weights of all best paths, and where it was asked for and searches find them, the stop before the last of each.
///
/// # Errors
/// `negative-cycle`; `out-of-memory`; `cancelled`.
pub(crate) fn search_all<S: PathSemiring>(
    graph: &Graph<S>,
    with_stops: bool,
    options: &Options<'_>,
) -> Result<Found<S>, Error> {
    let (n, work) = (graph.vertices(), (graph.vertices() + graph.edges()) as f64);
    let prepared = Prepared::new(graph, options)?;
    let mut rows = reserve(n)?;
    let has_stops = with_stops && prepared.finds_stops();
    let mut stops = if has_stops { Matrix::filled(n, n, NO_PREDECESSOR)?.into_vec() } else { Vec::new() };
    // Searches work in a row that stays in the cache, and write what they found once.
    let unwritten = &mut rows.spare_capacity_mut()[..n * n];
    let size = (n * SOURCES).max(1);
    let mut stops_parts = stops.chunks_mut(size);
    let parts = unwritten.chunks_mut(size).map(|rows| (rows, stops_parts.next().unwrap_or_default()));
    share(options.threads, parts.enumerate(), |(i, (rows, stops))| {
        let (mut room, mut best) = (prepared.room(), vec![S::ZERO; n]);
        let mut stops = stops.chunks_mut(n);
        for (source, row) in (i * SOURCES..).zip(rows.chunks_mut(n)) {
            check_cancelled(options)?;
            prepared.search(source, &mut best, &mut room);
            row.iter_mut().zip(&best).for_each(|(element, &weight)| {
                element.write(weight);
            });
            if let Some(stops) = stops.next() {
                stops.copy_from_slice(&room.before);
            }
            tell(options, work);
        }
        Ok(())
    })?;
    // SAFETY: there is room for them, and every row was written: parts are only left out where there is an error.
    unsafe { rows.set_len(n * n) };
    let layout = Layout::row_major(n, n);
    let stops = has_stops.then(|| Matrix::from_vec(stops, layout)).transpose()?;
    Ok((Matrix::from_vec(rows, layout)?, stops))
}

/// Room for the elements of a matrix.
fn reserve<T>(n: usize) -> Result<Vec<T>, Error> {
    let mut elements = Vec::new();
    match n.checked_mul(n).map(|count| elements.try_reserve_exact(count)) {
        Some(Ok(())) => Ok(elements),
        _ => {
            let bytes = (n as u64).saturating_mul(n as u64).saturating_mul(size_of::<T>() as u64);
            Err(ErrorKind::OutOfMemory { what: "all best paths", bytes }.into())
        }
    }
}
