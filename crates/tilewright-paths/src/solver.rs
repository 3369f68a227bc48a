//! Which code finds best paths. That of the built-in semirings is compiled here, once; a crate that uses it has none of it compiled again.

use crate::{
    closure,
    device::Device,
    graph::Graph,
    paths::Paths,
    plan::Plan,
    route::{Predecessors, Route},
    semiring::PathSemiring,
};
use core::any::{Any, TypeId};
use tilewright_core::{DType, Error, MatMut, Matrix, SemiringId, for_each_pair};
use tilewright_cpu::Options;

/// All that is done with paths over a semiring, behind one table of functions.
pub trait Solver<S: PathSemiring>: Sync {
    fn plan(&self, paths: &Paths<'_, S>) -> Result<Plan, Error>;
    fn distances(&self, paths: &Paths<'_, S>) -> Result<Matrix<S::Weight>, Error>;
    fn with_predecessors(&self, paths: &Paths<'_, S>) -> Result<(Matrix<S::Weight>, Predecessors), Error>;
    fn with_last_stops(&self, paths: &Paths<'_, S>) -> Result<(Matrix<S::Weight>, Matrix<u32>), Error>;
    fn route(&self, paths: &Paths<'_, S>, from: usize, to: usize) -> Result<Option<Route>, Error>;
    fn check_cycles(&self, paths: &Paths<'_, S>) -> Result<(), Error>;
    fn close(
        &self,
        d: MatMut<'_, S::Weight>,
        device: Option<&dyn Device>,
        options: &Options<'_>,
    ) -> Result<(), Error>;
    fn graph(&self, n: usize, edges: &mut Edges<'_, S>) -> Result<Graph<S>, Error>;
}

/// Edges: from, to, weight.
pub type Edges<'a, S> = dyn Iterator<Item = (usize, usize, <S as PathSemiring>::Weight)> + 'a;

/// Compiled wherever it is named.
struct Generic;

impl<S: PathSemiring> Solver<S> for Generic {
    fn plan(&self, paths: &Paths<'_, S>) -> Result<Plan, Error> {
        paths.plan_generic()
    }

    fn distances(&self, paths: &Paths<'_, S>) -> Result<Matrix<S::Weight>, Error> {
        paths.distances_generic()
    }

    fn with_predecessors(&self, paths: &Paths<'_, S>) -> Result<(Matrix<S::Weight>, Predecessors), Error> {
        paths.with_predecessors_generic()
    }

    fn with_last_stops(&self, paths: &Paths<'_, S>) -> Result<(Matrix<S::Weight>, Matrix<u32>), Error> {
        paths.with_last_stops_generic()
    }

    fn route(&self, paths: &Paths<'_, S>, from: usize, to: usize) -> Result<Option<Route>, Error> {
        paths.route_generic(from, to)
    }

    fn check_cycles(&self, paths: &Paths<'_, S>) -> Result<(), Error> {
        paths.check_cycles_generic()
    }

    fn close(
        &self,
        d: MatMut<'_, S::Weight>,
        device: Option<&dyn Device>,
        options: &Options<'_>,
    ) -> Result<(), Error> {
        closure::close_generic::<S>(d, device, options)
    }

    fn graph(&self, n: usize, edges: &mut Edges<'_, S>) -> Result<Graph<S>, Error> {
        Graph::new_generic(n, edges)
    }
}

macro_rules! compiled_here {
    ($($id:ident { paths: $(($dtype:ident $semiring:ty))*; products: $(($other:ident $rest:ty))*; })*) => {
        fn find<S: PathSemiring>() -> Option<&'static dyn Solver<S>> {
            $($(if TypeId::of::<S>() == TypeId::of::<$semiring>() {
                // Never inlined, so that what it names is compiled here alone.
                #[inline(never)]
                fn here() -> &'static dyn Solver<$semiring> {
                    &Generic
                }
                let solver: &dyn Any = &here();
                return solver.downcast_ref::<&'static dyn Solver<S>>().copied();
            })*)*
            None
        }
    };
}
for_each_pair!(compiled_here!());

/// Whether the table of pairs has best paths there.
const fn is_compiled_here(id: SemiringId, dtype: DType) -> bool {
    let (dtypes, mut i) = (id.path_dtypes(), 0);
    while i < dtypes.len() {
        if dtypes[i] as u8 == dtype as u8 {
            return true;
        }
        i += 1;
    }
    false
}

/// What finds paths over `S`.
pub fn solver<S: PathSemiring>() -> &'static dyn Solver<S> {
    // A constant condition: for the semirings that are compiled here, nothing generic is compiled elsewhere.
    let is_compiled_here = const {
        match S::BUILT_IN {
            Some(built_in) => is_compiled_here(built_in.id(), built_in.dtype()),
            None => false,
        }
    };
    if is_compiled_here {
        let Some(solver) = find::<S>() else { unreachable!("the list has its type") };
        return solver;
    }
    &Generic
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{Element, MaxTimes, MinMax, MinPlus, OrAnd, f16};

    fn is_found<S: PathSemiring>() -> bool {
        let built_in = S::BUILT_IN.map(|built_in| is_compiled_here(built_in.id(), S::Weight::DTYPE));
        assert_eq!(built_in, Some(find::<S>().is_some()));
        find::<S>().is_some()
    }

    #[test]
    fn a_semiring_has_its_code_here_by_its_type_and_by_its_name() {
        assert!(is_found::<MinPlus<f32>>() && is_found::<MaxTimes<f64>>() && is_found::<MinMax<i32>>());
        assert!(is_found::<OrAnd>() && !is_found::<MinPlus<f16>>());
    }
}
