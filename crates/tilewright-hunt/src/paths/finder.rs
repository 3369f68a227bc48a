//! What finds best paths, perhaps with a fault.

use crate::plant::Plant;
use tilewright_core::{Element, Error, ErrorKind, MatMut, Matrix};
use tilewright_paths::{Method, Options, PathSemiring, Paths, Predecessors, close};

/// Distances and stops.
pub type Found<S> = (Matrix<<S as PathSemiring>::Weight>, Predecessors);

/// The paths of a graph by one method, perhaps with a fault.
pub struct Finder<'a, S: PathSemiring> {
    pub paths: Paths<'a, S>,
    /// The same graph.
    pub w: &'a [S::Weight],
    pub method: Method,
    pub plant: Option<Plant>,
}

impl<S: PathSemiring> Finder<'_, S> {
    /// Distances and stops.
    ///
    /// # Errors
    /// As the library.
    pub fn find(&self) -> Result<Found<S>, Error> {
        let (mut d, stops) = self.paths.with_predecessors()?;
        self.break_distances(&mut d)?;
        Ok((d, stops))
    }

    /// Distances alone.
    ///
    /// # Errors
    /// As the library.
    pub fn distances(&self) -> Result<Matrix<S::Weight>, Error> {
        let mut d = self.paths.distances()?;
        self.break_distances(&mut d)?;
        Ok(d)
    }

    /// The stops of a route.
    pub fn route(&self, stops: &Predecessors, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut stops: Vec<_> = stops.route(from, to)?.collect();
        if self.plant == Some(Plant::Route) && stops.len() > 2 {
            stops.remove(1);
        }
        Some(stops)
    }

    fn break_distances(&self, d: &mut Matrix<S::Weight>) -> Result<(), Error> {
        let n = d.rows();
        match self.plant {
            // Ways of several edges are forgotten between two vertices.
            Some(Plant::Distance) if n > 1 => d[(0, n - 1)] = S::clean(self.w[n - 1]),
            Some(Plant::Method) if n > 1 && self.method == Method::Dijkstra => {
                d[(n - 1, 0)] = S::finish(S::ZERO)
            }
            Some(Plant::Cycle) if n > 0 => {
                let weight = S::ONE.to_value();
                return Err(ErrorKind::NegativeCycle { semiring: S::NAME, cycle: vec![0], weight }.into());
            }
            _ => {}
        }
        Ok(())
    }
}

/// The closure in place, perhaps with a fault.
///
/// # Errors
/// As the library.
pub fn close_in_place<S: PathSemiring>(
    mut w: MatMut<'_, S::Weight>,
    plant: Option<Plant>,
    options: &Options<'_>,
) -> Result<(), Error> {
    close::<S>(w.reborrow(), options)?;
    if let Some(first) = w.get_mut(0, 0)
        && plant == Some(Plant::Closure)
    {
        *first = S::finish(S::ZERO);
    }
    Ok(())
}
