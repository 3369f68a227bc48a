//! Best paths: of graphs whose cycles weigh about nothing, by every method, compared with exact arithmetic.

mod finder;
mod graph;
mod truth;

/// The arithmetic that the tests of paths are judged by, too.
#[path = "../../../tilewright-paths/tests/common/exact.rs"]
mod exact;

use crate::{case::Case, form::Placed, plant::Plant, random::Random, run::Outcome, sample::Sample};
use exact::{is_product, number};
use finder::{Finder, Found, close_in_place};
use tilewright_core::{Element, Error, Matrix, for_each_pair};
use tilewright_paths::{Graph, Method, Options, PathSemiring, Paths};
use truth::Truth;

/// What was wrong with the paths of a graph, if anything was.
type Search = fn(&Case, Option<Plant>) -> Result<(), String>;

macro_rules! searches {
    ($($id:ident { paths: $(($dtype:ident $semiring:ty))*; products: $(($other:ident $rest:ty))*; })*) => {
        /// Every semiring and type that has paths.
        const ALL: &[Search] = &[$($(judge::<$semiring>,)*)*];
    };
}
for_each_pair!(searches!());

/// Finds the best paths of a graph in every way.
pub fn run(case: &Case, plant: Option<Plant>) -> Outcome {
    let number = Random::new(case.elements, 0).below(ALL.len());
    ALL[number](case, plant).map(|()| None)
}

fn judge<S: PathSemiring<Weight: Sample>>(case: &Case, plant: Option<Plant>) -> Result<(), String> {
    let n = case.size.0;
    let w = graph::draw::<S>(&mut Random::new(case.elements, 1), n);
    let options = Options { threads: case.threads, isa: Some(case.isa), ..Options::default() };
    let truth = Truth::<S>::new(&w, n)?;
    let judge = Judge { case, plant, options, w: &w, n, truth };
    judge.all_methods().map_err(|what| format!("{} {:?}, {n} vertices: {what}", S::NAME, S::Weight::DTYPE))
}

struct Judge<'a, S: PathSemiring> {
    case: &'a Case,
    plant: Option<Plant>,
    options: Options<'a>,
    w: &'a [S::Weight],
    n: usize,
    truth: Truth<'a, S>,
}

impl<S: PathSemiring<Weight: Sample>> Judge<'_, S> {
    fn all_methods(&self) -> Result<(), String> {
        let mut dense =
            Placed::new((self.n, self.n), 1, self.case.forms[2], S::Weight::POISON).map_err(words)?;
        dense.fill(|_, i, j| self.w[i * self.n + j]);
        let view = dense.view(0).map_err(words)?;
        let sparse = Graph::<S>::of_matrix(view).map_err(words)?;
        let mut first = None;
        for (name, paths) in
            [("matrix", Paths::<S>::new(view).map_err(words)?), ("graph", Paths::of_graph(&sparse))]
        {
            for &method in Method::ALL {
                let paths = paths.options(self.options).method(method);
                let finder = Finder { paths, w: self.w, method, plant: self.plant };
                let wrong = |what| format!("{method} of a {name}: {what}");
                let found = self.one_method(&finder).map_err(wrong)?;
                self.same(first.get_or_insert_with(|| found.clone()).as_ref(), found.as_ref())
                    .map_err(wrong)?;
            }
        }
        self.in_place(first.is_some_and(|found| found.is_some()))
    }

    /// The paths by one method; nothing where a cycle gains.
    fn one_method(&self, finder: &Finder<'_, S>) -> Result<Option<Found<S>>, String> {
        let (found, distances, cycles) = (finder.find(), finder.distances(), finder.paths.check_cycles());
        let (d, stops) = match found {
            Ok(found) => found,
            Err(error) => {
                self.truth.judge_error(error.kind()).map_or(Ok(()), Err)?;
                let others = [distances.err(), cycles.err()];
                let same = others.iter().all(|other| other.as_ref().map(Error::code) == Some(error.code()));
                return if same { Ok(None) } else { Err(format!("not in all ways: {error}")) };
            }
        };
        if let Some(vertex) = self.truth.cycle() {
            return Err(format!("a cycle that gains, over {vertex}, is not found"));
        }
        let distances = distances.and_then(|d| cycles.map(|()| d)).map_err(words)?;
        let wrong = self.truth.judge_distances(&d).or_else(|| self.truth.judge_distances(&distances));
        wrong.map_or(Ok(()), Err)?;
        let is_searched = finder.method == Method::Dijkstra;
        for (i, j) in (0..self.n).flat_map(|i| (0..self.n).map(move |j| (i, j))) {
            let route = finder.route(&stops, i, j);
            let wrong = self.truth.judge_route((i, j), route.as_deref(), d[(i, j)], is_searched);
            wrong.map_or(Ok(()), Err)?;
        }
        self.single_route(finder, &d)?;
        Ok(Some((d, stops)))
    }

    /// One route by itself, which a search finds: its own weight is as good as a distance must be.
    fn single_route(&self, finder: &Finder<'_, S>, d: &Matrix<S::Weight>) -> Result<(), String> {
        if self.n == 0 {
            return Ok(());
        }
        let (from, to) = (self.n / 3, self.n - 1);
        let route = finder.paths.route(from, to).map_err(words)?.map(Vec::from_iter);
        let told = match &route {
            Some(stops) => self.truth.weigh(stops),
            None => d[(from, to)],
        };
        let wrong = self.truth.judge_route((from, to), route.as_deref(), told, true);
        let wrong = wrong.or_else(|| self.truth.judge_distance(from * self.n + to, told));
        wrong.map_or(Ok(()), |wrong| Err(format!("the route from {from} to {to} alone: {wrong}")))
    }

    /// Whether two methods agree: that there are cycles which gain, and on all bits where nothing is rounded.
    fn same(&self, first: Option<&Found<S>>, found: Option<&Found<S>>) -> Result<(), String> {
        match (first, found) {
            (Some(first), Some(found)) if self.is_exact() && first != found => {
                Err("another result than by the method before, though nothing is rounded".into())
            }
            (Some(_), None) | (None, Some(_)) => Err("methods disagree on whether a cycle gains".into()),
            _ => Ok(()),
        }
    }

    /// Whether no sum is rounded: of integers, of bottlenecks, of whole numbers that are small.
    fn is_exact(&self) -> bool {
        let is_small = |x: f64| x.fract() == 0.0 && x.abs() * self.n as f64 <= 2f64.powi(23);
        let mut weights = self.w.iter().filter(|&&x| !S::is_absent(x)).map(|&x| number::<S>(x));
        !S::times_is_strict() || !S::Weight::DTYPE.is_float() || !is_product::<S>() && weights.all(is_small)
    }

    /// The closure in place.
    fn in_place(&self, has_paths: bool) -> Result<(), String> {
        let mut w = Placed::new((self.n, self.n), 1, self.case.forms[3], S::Weight::POISON).map_err(words)?;
        w.fill(|_, i, j| self.w[i * self.n + j]);
        let done = close_in_place::<S>(w.view_mut(0).map_err(words)?, self.plant, &self.options);
        if !w.data.band_is_whole() {
            return Err("in place: memory beside the matrix was written".into());
        }
        let wrong = match done {
            Err(error) if !has_paths => self.truth.judge_error(error.kind()),
            Err(error) => Some(error.to_string()),
            Ok(()) if !has_paths => Some("a cycle that gains is not found".into()),
            Ok(()) => {
                let closed: Vec<_> =
                    (0..self.n * self.n).map(|at| w.get(0, at / self.n, at % self.n)).collect();
                self.truth.judge_distances(&graph::matrix::<S>(&closed, self.n)?)
            }
        };
        wrong.map_or(Ok(()), |wrong| Err(format!("in place: {wrong}")))
    }
}

fn words(error: Error) -> String {
    error.to_string()
}
