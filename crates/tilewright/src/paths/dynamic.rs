//! Best paths over a semiring and on an element type that are known at run time: what the command line computes.

use tilewright_core::{
    DType, DynMatrix, DynMut, DynRef, Element, Error, ErrorKind, Extremes, MatRef, Matrix, SemiringId, Value,
    for_each_pair,
};
use tilewright_paths::{
    Device, Graph, Method, Options, PathSemiring, Paths, Plan, Predecessors, Route, close, close_on,
};

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
    device: Option<&'a dyn Device>,
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

impl Solution {
    /// Weights alone.
    pub fn of(distances: DynMatrix) -> Self {
        Self { distances, predecessors: None }
    }
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
            return Err(unsupported(semiring, dtype));
        }
        let (method, options) = (Method::Auto, Options::default());
        Ok(Self { semiring, dtype, weights, method, steps: None, options, device: None })
    }

    /// The element types on which a semiring has best paths.
    pub const fn dtypes(semiring: SemiringId) -> &'static [DType] {
        semiring.path_dtypes()
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

    /// As [`Paths::device`].
    #[must_use]
    pub fn device(self, device: &'a dyn Device) -> Self {
        Self { device: Some(device), ..self }
    }

    /// As [`Paths::plan`].
    ///
    /// # Errors
    /// As [`Paths::plan`].
    pub fn plan(&self) -> Result<Plan, Error> {
        self.typed()?.plan()
    }

    /// As [`Paths::distances`].
    ///
    /// # Errors
    /// As [`Paths::distances`]; `conversion` for an edge whose weight the type cannot hold.
    pub fn distances(&self) -> Result<Solution, Error> {
        self.typed()?.distances()
    }

    /// As [`Paths::with_predecessors`].
    ///
    /// # Errors
    /// As [`Paths::with_predecessors`], and [`DynPaths::distances`].
    pub fn with_predecessors(&self) -> Result<Solution, Error> {
        self.typed()?.with_predecessors()
    }

    /// As [`Paths::with_last_stops`].
    ///
    /// # Errors
    /// As [`Paths::with_last_stops`], and [`DynPaths::distances`].
    pub fn with_last_stops(&self) -> Result<(DynMatrix, Matrix<u32>), Error> {
        self.typed()?.with_last_stops()
    }

    /// As [`Paths::check_cycles`].
    ///
    /// # Errors
    /// As [`Paths::check_cycles`], and [`DynPaths::distances`].
    pub fn check_cycles(&self) -> Result<(), Error> {
        self.typed()?.check_cycles()
    }

    /// As [`Paths::route`].
    ///
    /// # Errors
    /// As [`Paths::route`], and [`DynPaths::distances`].
    pub fn route(&self, from: usize, to: usize) -> Result<Option<Route>, Error> {
        self.typed()?.route(from, to)
    }

    /// The weights of the edges of a route, one after another, and of the route; `None` where two stops have no edge between them.
    ///
    /// # Errors
    /// As [`DynPaths::distances`].
    pub fn weights(&self, stops: &[usize]) -> Result<Option<(Vec<Value>, Value)>, Error> {
        self.typed()?.weights(stops)
    }

    fn typed(&self) -> Result<Box<dyn AnyPaths + '_>, Error> {
        with_types(self.semiring, self.dtype, WithTypes(self))
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

/// Something to do over a semiring on a type, both known at run time.
trait Visit {
    type Output;
    fn visit<S: PathSemiring>(self) -> Result<Self::Output, Error>;
}

macro_rules! with_types {
    ($($id:ident { paths: $(($dtype:ident $semiring:ty))*; products: $(($other:ident $rest:ty))*; })*) => {
        fn with_types<V: Visit>(semiring: SemiringId, dtype: DType, visit: V) -> Result<V::Output, Error> {
            match (semiring, dtype) {
                $($((SemiringId::$id, DType::$dtype) => visit.visit::<$semiring>(),)*)*
                _ => Err(unsupported(semiring, dtype)),
            }
        }
    };
}
for_each_pair!(with_types!());

fn unsupported(semiring: SemiringId, dtype: DType) -> Error {
    let known = DynPaths::dtypes(semiring).iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
    let hint =
        if known.is_empty() { "choose min-plus, for example".into() } else { format!("one of {known}") };
    let what = format!("best paths over {semiring} on {dtype}");
    ErrorKind::Unsupported { what, why: String::new(), hint: hint.into() }.into()
}

/// As [`close`], and on a device [`close_on`], of a matrix whose type is known at run time.
///
/// ```
/// use tilewright::{DynMatrix, Matrix, SemiringId, Value, paths::{Options, close_dyn}};
/// let inf = f32::INFINITY;
/// let mut d: DynMatrix = Matrix::from([[inf, 3.0, 9.0], [inf, inf, 4.0], [1.0, inf, inf]]).into();
/// close_dyn(SemiringId::MinPlus, d.as_mut(), None, &Options::default())?;
/// assert_eq!(d.as_ref().get(0, 2), Some(Value::Float(7.0)));
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// As [`close_on`]; `unsupported` as [`DynPaths::new`].
pub fn close_dyn(
    semiring: SemiringId,
    d: DynMut<'_>,
    device: Option<&dyn Device>,
    options: &Options<'_>,
) -> Result<(), Error> {
    with_types(semiring, d.dtype(), Close { d, device, options })
}

struct Close<'a> {
    d: DynMut<'a>,
    device: Option<&'a dyn Device>,
    options: &'a Options<'a>,
}

impl Visit for Close<'_> {
    type Output = ();
    fn visit<S: PathSemiring>(self) -> Result<(), Error> {
        let (expected, found) = (S::Weight::DTYPE, self.d.dtype());
        let d = self.d.typed::<S::Weight>().ok_or(ErrorKind::DTypeMismatch { what: "D", expected, found })?;
        match self.device {
            Some(device) => close_on::<S>(device, d, self.options),
            None => close::<S>(d, self.options),
        }
    }
}

/// Paths whose types are forgotten: they are found once, and not for each question.
trait AnyPaths {
    fn plan(&self) -> Result<Plan, Error>;
    fn distances(&self) -> Result<Solution, Error>;
    fn with_predecessors(&self) -> Result<Solution, Error>;
    fn with_last_stops(&self) -> Result<(DynMatrix, Matrix<u32>), Error>;
    fn check_cycles(&self) -> Result<(), Error>;
    fn route(&self, from: usize, to: usize) -> Result<Option<Route>, Error>;
    fn weights(&self, stops: &[usize]) -> Result<Option<(Vec<Value>, Value)>, Error>;
}

struct WithTypes<'p, 'a>(&'p DynPaths<'a>);

impl<'p> Visit for WithTypes<'p, '_> {
    type Output = Box<dyn AnyPaths + 'p>;
    fn visit<S: PathSemiring>(self) -> Result<Self::Output, Error> {
        let all = self.0;
        let source = match all.weights {
            Weights::Dense(w) => {
                let (expected, found) = (S::Weight::DTYPE, w.dtype());
                let typed: Option<MatRef<'_, S::Weight>> = w.typed();
                Source::Dense(typed.ok_or(ErrorKind::DTypeMismatch { what: "W", expected, found })?)
            }
            Weights::Edges { vertices, edges } => Source::Graph(all.graph::<S>(vertices, edges)?),
        };
        Ok(Box::new(Typed { all, source }))
    }
}

enum Source<'p, S: PathSemiring> {
    Dense(MatRef<'p, S::Weight>),
    Graph(Graph<S>),
}

struct Typed<'p, 'a, S: PathSemiring> {
    all: &'p DynPaths<'a>,
    source: Source<'p, S>,
}

impl<S: PathSemiring> Typed<'_, '_, S> {
    fn paths(&self) -> Result<Paths<'_, S>, Error> {
        let paths = match &self.source {
            Source::Dense(w) => Paths::<S>::new(*w)?,
            Source::Graph(graph) => Paths::of_graph(graph),
        };
        let paths = paths.method(self.all.method).options(self.all.options);
        let paths = self.all.device.map_or(paths, |device| paths.device(device));
        Ok(self.all.steps.map_or(paths, |most| paths.steps(most)))
    }
}

impl<S: PathSemiring> AnyPaths for Typed<'_, '_, S> {
    fn plan(&self) -> Result<Plan, Error> {
        self.paths()?.plan()
    }

    fn distances(&self) -> Result<Solution, Error> {
        Ok(Solution::of(self.paths()?.distances()?.into()))
    }

    fn with_predecessors(&self) -> Result<Solution, Error> {
        let (distances, predecessors) = self.paths()?.with_predecessors()?;
        Ok(Solution { distances: distances.into(), predecessors: Some(predecessors) })
    }

    fn with_last_stops(&self) -> Result<(DynMatrix, Matrix<u32>), Error> {
        self.paths()?.with_last_stops().map(|(distances, stops)| (distances.into(), stops))
    }

    fn check_cycles(&self) -> Result<(), Error> {
        self.paths()?.check_cycles()
    }

    fn route(&self, from: usize, to: usize) -> Result<Option<Route>, Error> {
        self.paths()?.route(from, to)
    }

    fn weights(&self, stops: &[usize]) -> Result<Option<(Vec<Value>, Value)>, Error> {
        let edges: Vec<S::Weight> =
            stops.windows(2).map(|pair| self.all.edge::<S>(pair[0], pair[1])).collect();
        if edges.iter().any(|&edge| S::is_absent(edge)) {
            return Ok(None);
        }
        let sum = S::finish(edges.iter().fold(S::ONE, |path, &edge| S::times(path, edge)));
        Ok(Some((edges.into_iter().map(Element::to_value).collect(), sum.to_value())))
    }
}
