//! Routes, stop by stop.

use crate::tree::NO_PREDECESSOR;
use tilewright_core::Matrix;

/// For every pair of vertices the stop before the last one on the best path, or [`NO_PREDECESSOR`].
///
/// ```
/// use tilewright_paths::Paths;
/// use tilewright_core::{Matrix, MinPlus};
/// let inf = f32::INFINITY;
/// let w = Matrix::from([[0.0, 3.0, 9.0], [inf, 0.0, 4.0], [1.0, inf, 0.0]]);
/// let (distances, predecessors) = Paths::<MinPlus<f32>>::new(&w)?.with_predecessors()?;
/// let route: Vec<usize> = predecessors.route(0, 2).into_iter().flatten().collect();
/// assert_eq!((route.as_slice(), distances[(0, 2)]), (&[0, 1, 2][..], 7.0));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Predecessors(Matrix<u32>);

impl Predecessors {
    pub(crate) fn new(matrix: Matrix<u32>) -> Self {
        Self(matrix)
    }

    /// Element `(i, j)` is the stop before `j` on the best path from `i`.
    pub fn matrix(&self) -> &Matrix<u32> {
        &self.0
    }

    /// As [`Self::matrix`].
    pub fn into_matrix(self) -> Matrix<u32> {
        self.0
    }

    /// The stops of the best path between two vertices, both included; `None` if there is none.
    ///
    /// # Panics
    /// For a vertex that is not there.
    pub fn route(&self, from: usize, to: usize) -> Option<Route> {
        let row = |stop: usize| self.0[(from, stop)];
        follow(from, to, self.0.rows(), row)
    }
}

/// The stops from `from` to `to`, where `before` tells which comes before another; at most `most` of them.
pub(crate) fn follow(from: usize, to: usize, most: usize, before: impl Fn(usize) -> u32) -> Option<Route> {
    let (mut stops, mut at) = (vec![to], to);
    while at != from {
        let stop = before(at);
        if stop == NO_PREDECESSOR || stops.len() >= most {
            return None;
        }
        at = stop as usize;
        stops.push(at);
    }
    stops.reverse();
    Some(Route(stops.into_iter()))
}

/// The stops of a path in order, its ends included.
#[derive(Clone, Debug)]
pub struct Route(std::vec::IntoIter<usize>);

impl Route {
    pub(crate) fn of(stops: Vec<usize>) -> Self {
        Self(stops.into_iter())
    }
}

impl Iterator for Route {
    type Item = usize;
    fn next(&mut self) -> Option<usize> {
        self.0.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Route {
    fn next_back(&mut self) -> Option<usize> {
        self.0.next_back()
    }
}

impl ExactSizeIterator for Route {}
