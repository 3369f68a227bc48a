//! Best paths over a semiring and on an element type that are known at run time: what the command line computes.

use tilewright_core::{
    DType, DynMatrix, DynRef, Element, Error, ErrorKind, Extremes, MatRef, Matrix, MaxMin, MaxPlus, MaxTimes,
    MinMax, MinPlus, MinTimes, OrAnd, SemiringId, Value,
};
use tilewright_paths::{Graph, Method, Options, PathSemiring, Paths, Plan, Predecessors, Route};

/// The best paths of a graph whose semiring and element type are known at run time.
///
/// ```
/// use tilewright::{DType, SemiringId, Value, paths::DynPaths};
/// let roads = [(0, 1, Value::Int(3)), (1, 2, Value::Int(4)), (0, 2, Value::Int(9))];
/// let paths = DynPaths::of_edges(SemiringId::MinPlus, DType::I32, 3, &roads)?;
/// let solution = paths.distances()?;
/// assert_eq!(solution.distances.as_ref().get(0, 2), Some(Value::Int(7)));
/// assert_eq!(paths.route(0, 2)?.map(Vec::from_iter), Some(vec![0, 1, 2]));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DynPaths<'a> {
    semiring: SemiringId,
    dtype: DType,
    weights: Weights<'a>,
    method: Method,
    steps: Option<u32>,
    options: Options<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Weights<'a> {
    Dense(DynRef<'a>),
    Edges { vertices: usize, edges: &'a [(usize, usize, Value)] },
}

/// What [`DynPaths`] gives.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Solution {
    /// The weight of the best path between each pair, row-major.
    pub distances: DynMatrix,
    /// The stop before the last of each, where it was asked for.
    pub predecessors: Option<Predecessors>,
}

impl<'a> DynPaths<'a> {
    /// Of the graph whose edge from row to column has the weight that stands there.
    ///
    /// # Errors
    /// `not-square`; `unsupported` where the semiring has no best paths on these elements: plus-times, and 16-bit floats.
    pub fn new(semiring: SemiringId, w: impl Into<DynRef<'a>>) -> Result<Self, Error> {
        let w = w.into();
        let (rows, cols) = (w.layout().rows, w.layout().cols);
        if rows != cols {
            return Err(ErrorKind::NotSquare { what: "W", rows, cols }.into());
        }
        Self::of(semiring, w.dtype(), Weights::Dense(w))
    }

    /// Of a graph with few edges: from, to, weight, which is converted to `dtype`.
    ///
    /// # Errors
    /// As [`DynPaths::new`]. Edges are looked at when paths are computed.
    pub fn of_edges(
        semiring: SemiringId,
        dtype: DType,
        vertices: usize,
        edges: &'a [(usize, usize, Value)],
    ) -> Result<Self, Error> {
        Self::of(semiring, dtype, Weights::Edges { vertices, edges })
    }

    fn of(semiring: SemiringId, dtype: DType, weights: Weights<'a>) -> Result<Self, Error> {
        if !Self::dtypes(semiring).contains(&dtype) {
            let known =
                Self::dtypes(semiring).iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
            let hint = if known.is_empty() {
                "choose min-plus, for example".into()
            } else {
                format!("one of {known}")
            };
            let what = format!("best paths over {semiring} on {dtype}");
            return Err(ErrorKind::Unsupported { what, why: String::new(), hint }.into());
        }
        Ok(Self { semiring, dtype, weights, method: Method::Auto, steps: None, options: Options::default() })
    }

    /// The element types on which a semiring has best paths.
    pub const fn dtypes(semiring: SemiringId) -> &'static [DType] {
        use DType::{Bool, F32, F64, I16, I32, I64};
        match semiring {
            SemiringId::MinPlus | SemiringId::MaxPlus => &[F32, F64, I16, I32, I64],
            SemiringId::MaxTimes | SemiringId::MinTimes => &[F32, F64],
            SemiringId::MaxMin | SemiringId::MinMax => &[F32, F64, I32],
            SemiringId::OrAnd => &[Bool],
            _ => &[],
        }
    }

    /// Computes in this way; [`Method::Auto`] unless called.
    #[must_use]
    pub fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Allows paths of at most so many edges; any number unless called.
    #[must_use]
    pub fn steps(self, most: u32) -> Self {
        Self { steps: Some(most), ..self }
    }

    /// Replaces the choices of threads, instruction set, progress and cancelling.
    #[must_use]
    pub fn options(self, options: Options<'a>) -> Self {
        Self { options, ..self }
    }

    /// As [`Paths::plan`].
    ///
    /// # Errors
    /// As [`Paths::plan`].
    pub fn plan(&self) -> Result<Plan, Error> {
        self.visit(PlanTask)
    }

    /// As [`Paths::distances`].
    ///
    /// # Errors
    /// As [`Paths::distances`]; `conversion` for an edge whose weight the type cannot hold.
    pub fn distances(&self) -> Result<Solution, Error> {
        self.visit(DistancesTask)
    }

    /// As [`Paths::with_predecessors`].
    ///
    /// # Errors
    /// As [`Paths::with_predecessors`], and [`DynPaths::distances`].
    pub fn with_predecessors(&self) -> Result<Solution, Error> {
        self.visit(PredecessorsTask)
    }

    /// As [`Paths::route`].
    ///
    /// # Errors
    /// As [`Paths::route`], and [`DynPaths::distances`].
    pub fn route(&self, from: usize, to: usize) -> Result<Option<Route>, Error> {
        self.visit(RouteTask { from, to })
    }

    /// The weights of the edges of a route, one after another, and of the route; `None` where two stops have no edge between them.
    ///
    /// # Errors
    /// As [`DynPaths::distances`].
    pub fn weights(&self, stops: &[usize]) -> Result<Option<(Vec<Value>, Value)>, Error> {
        self.visit(WeightsTask { stops })
    }

    fn visit<T: Task>(&self, task: T) -> Result<T::Output, Error> {
        use DType::{Bool, F32, F64, I16, I32, I64};
        match (self.semiring, self.dtype) {
            (SemiringId::MinPlus, F32) => self.run::<MinPlus<f32>, T>(task),
            (SemiringId::MinPlus, F64) => self.run::<MinPlus<f64>, T>(task),
            (SemiringId::MinPlus, I16) => self.run::<MinPlus<i16>, T>(task),
            (SemiringId::MinPlus, I32) => self.run::<MinPlus<i32>, T>(task),
            (SemiringId::MinPlus, I64) => self.run::<MinPlus<i64>, T>(task),
            (SemiringId::MaxPlus, F32) => self.run::<MaxPlus<f32>, T>(task),
            (SemiringId::MaxPlus, F64) => self.run::<MaxPlus<f64>, T>(task),
            (SemiringId::MaxPlus, I16) => self.run::<MaxPlus<i16>, T>(task),
            (SemiringId::MaxPlus, I32) => self.run::<MaxPlus<i32>, T>(task),
            (SemiringId::MaxPlus, I64) => self.run::<MaxPlus<i64>, T>(task),
            (SemiringId::MaxTimes, F32) => self.run::<MaxTimes<f32>, T>(task),
            (SemiringId::MaxTimes, F64) => self.run::<MaxTimes<f64>, T>(task),
            (SemiringId::MinTimes, F32) => self.run::<MinTimes<f32>, T>(task),
            (SemiringId::MinTimes, F64) => self.run::<MinTimes<f64>, T>(task),
            (SemiringId::MaxMin, F32) => self.run::<MaxMin<f32>, T>(task),
            (SemiringId::MaxMin, F64) => self.run::<MaxMin<f64>, T>(task),
            (SemiringId::MaxMin, I32) => self.run::<MaxMin<i32>, T>(task),
            (SemiringId::MinMax, F32) => self.run::<MinMax<f32>, T>(task),
            (SemiringId::MinMax, F64) => self.run::<MinMax<f64>, T>(task),
            (SemiringId::MinMax, I32) => self.run::<MinMax<i32>, T>(task),
            (SemiringId::OrAnd, Bool) => self.run::<OrAnd, T>(task),
            // `of` has refused the others.
            _ => Self::of(self.semiring, self.dtype, self.weights).and_then(|paths| paths.visit(task)),
        }
    }

    fn run<S: PathSemiring, T: Task>(&self, task: T) -> Result<T::Output, Error> {
        let graph;
        let mut paths = match self.weights {
            Weights::Dense(w) => {
                let (expected, found) = (S::Weight::DTYPE, w.dtype());
                let typed: Option<MatRef<'_, S::Weight>> = w.typed();
                Paths::<S>::new(typed.ok_or(ErrorKind::DTypeMismatch { what: "W", expected, found })?)?
            }
            Weights::Edges { vertices, edges } => {
                graph = self.graph::<S>(vertices, edges)?;
                Paths::of_graph(&graph)
            }
        };
        paths = paths.method(self.method).options(self.options);
        task.run(self.steps.map_or(paths, |most| paths.steps(most)), self)
    }

    /// Infinite weights are absent edges, in integers, too.
    fn graph<S: PathSemiring>(
        &self,
        vertices: usize,
        edges: &[(usize, usize, Value)],
    ) -> Result<Graph<S>, Error> {
        let convert = |&(from, to, value): &(usize, usize, Value)| -> Result<_, Error> {
            let weight = S::Weight::from_value(value, Extremes::Absent);
            let to_dtype = S::Weight::DTYPE;
            let refused =
                || ErrorKind::Conversion { row: from, col: to, value: value.to_string(), to: to_dtype };
            Ok((from, to, weight.ok_or_else(refused)?))
        };
        Graph::new(vertices, edges.iter().map(convert).collect::<Result<Vec<_>, Error>>()?)
    }

    /// The weight of the best edge between two vertices.
    fn edge<S: PathSemiring>(&self, from: usize, to: usize) -> S::Weight {
        let value = |value| S::Weight::from_value(value, Extremes::Absent).map_or(S::ZERO, S::clean);
        match self.weights {
            Weights::Dense(w) => {
                w.typed::<S::Weight>().and_then(|w| w.get(from, to)).map_or(S::ZERO, S::clean)
            }
            Weights::Edges { edges, .. } => {
                let between = edges.iter().filter(|edge| (edge.0, edge.1) == (from, to));
                between.map(|edge| value(edge.2)).fold(S::ZERO, S::add)
            }
        }
    }
}

/// Something to do with paths whose types are known.
trait Task {
    type Output;
    fn run<S: PathSemiring>(self, paths: Paths<'_, S>, all: &DynPaths<'_>) -> Result<Self::Output, Error>;
}

struct PlanTask;

impl Task for PlanTask {
    type Output = Plan;
    fn run<S: PathSemiring>(self, paths: Paths<'_, S>, _: &DynPaths<'_>) -> Result<Plan, Error> {
        paths.plan()
    }
}

struct DistancesTask;

impl Task for DistancesTask {
    type Output = Solution;
    fn run<S: PathSemiring>(self, paths: Paths<'_, S>, _: &DynPaths<'_>) -> Result<Solution, Error> {
        Ok(Solution { distances: paths.distances()?.into(), predecessors: None })
    }
}

struct PredecessorsTask;

impl Task for PredecessorsTask {
    type Output = Solution;
    fn run<S: PathSemiring>(self, paths: Paths<'_, S>, _: &DynPaths<'_>) -> Result<Solution, Error> {
        let (distances, predecessors): (Matrix<S::Weight>, _) = paths.with_predecessors()?;
        Ok(Solution { distances: distances.into(), predecessors: Some(predecessors) })
    }
}

struct RouteTask {
    from: usize,
    to: usize,
}

impl Task for RouteTask {
    type Output = Option<Route>;
    fn run<S: PathSemiring>(self, paths: Paths<'_, S>, _: &DynPaths<'_>) -> Result<Option<Route>, Error> {
        paths.route(self.from, self.to)
    }
}

struct WeightsTask<'s> {
    stops: &'s [usize],
}

impl Task for WeightsTask<'_> {
    type Output = Option<(Vec<Value>, Value)>;
    fn run<S: PathSemiring>(self, _: Paths<'_, S>, all: &DynPaths<'_>) -> Result<Self::Output, Error> {
        let edges: Vec<S::Weight> =
            self.stops.windows(2).map(|pair| all.edge::<S>(pair[0], pair[1])).collect();
        if edges.iter().any(|&edge| S::is_absent(edge)) {
            return Ok(None);
        }
        let sum = S::finish(edges.iter().fold(S::ONE, |path, &edge| S::times(path, edge)));
        Ok(Some((edges.into_iter().map(Element::to_value).collect(), sum.to_value())))
    }
}
