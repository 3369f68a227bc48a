//! What the best paths of a graph weigh, exactly, and what the documentation allows to be told of them.

use super::{
    exact::{Exact, Scale, epsilon, is_product, number, prefers_larger, walks},
    graph::{matrix, unbeatable},
};
use tilewright_core::{ErrorKind, Matrix};
use tilewright_paths::PathSemiring;

/// A graph and its best paths.
pub struct Truth<'a, S: PathSemiring> {
    w: &'a [S::Weight],
    n: usize,
    best: Best<S>,
    /// What stands between the last vertices of paths, over edges that nothing beats.
    unbeatable: Vec<bool>,
    /// `n eps max|w|`, or `n eps` of products.
    pub tolerance: f64,
}

/// The weights of the best paths over other edges.
enum Best<S: PathSemiring> {
    /// Sums and products.
    Exact(Scale, Vec<Option<Exact>>),
    /// The narrowest edge and the like, which are never rounded.
    Same(Vec<S::Weight>),
}

impl<'a, S: PathSemiring> Truth<'a, S> {
    /// The truth about a graph of `n` vertices.
    ///
    /// # Errors
    /// In words, where memory is used up.
    pub fn new(w: &'a [S::Weight], n: usize) -> Result<Self, String> {
        let without: Vec<_> =
            w.iter().map(|&x| if Some(x) == unbeatable::<S>() { S::ZERO } else { x }).collect();
        let present = without.iter().filter(|&&x| !S::is_absent(x)).map(|&x| number::<S>(x).abs());
        let largest = if is_product::<S>() { 1.0 } else { present.fold(0.0, f64::max) };
        let best = if S::times_is_strict() {
            let w = matrix::<S>(&without, n)?;
            let scale = Scale::of::<S>(&w);
            Best::Exact(scale, walks::<S>(&w, scale))
        } else {
            Best::Same(bottlenecks::<S>(w, n))
        };
        let tolerance = n as f64 * epsilon::<S>() * largest;
        Ok(Self { w, n, best, unbeatable: over_unbeatable::<S>(w, n), tolerance })
    }

    /// What is wrong about these distances.
    pub fn judge_distances(&self, d: &Matrix<S::Weight>) -> Option<String> {
        (0..self.n * self.n).find_map(|at| {
            let (i, j) = (at / self.n, at % self.n);
            let wrong = self.judge_distance(at, d[(i, j)])?;
            Some(format!("the distance from {i} to {j} is {:?}: {wrong}", d[(i, j)]))
        })
    }

    /// What is wrong about one of them.
    pub fn judge_distance(&self, at: usize, found: S::Weight) -> Option<String> {
        if self.unbeatable[at] {
            return (Some(found) != unbeatable::<S>())
                .then(|| "a path leads over an edge that nothing beats".into());
        }
        let (scale, exact) = match &self.best {
            Best::Same(best) => return (best[at] != found).then(|| format!("it should be {:?}", best[at])),
            Best::Exact(scale, best) => (scale, best[at]),
        };
        let Some(exact) = exact else {
            return (!S::is_absent(found)).then(|| "there is no path".into());
        };
        if S::is_absent(found) || Some(found) == unbeatable::<S>() || !number::<S>(found).is_finite() {
            return Some("there is a path of finite weight".into());
        }
        let error = scale.excess::<S>(found, exact);
        // As much as a path may be worse than the best, walks better than that by cycles which count as zero, and roundings.
        let n = self.n as f64;
        let most = (n + self.longest() + 1.0) * self.tolerance;
        (error.abs() > most).then(|| format!("it is off by {error:e}, at most {most:e} is allowed"))
    }

    /// Edges of the longest walk that is weighed.
    fn longest(&self) -> f64 {
        self.n.next_power_of_two() as f64
    }

    /// The vertex of a cycle that must be found.
    pub fn cycle(&self) -> Option<usize> {
        (0..self.n).find(|&i| {
            let at = i * self.n + i;
            let gains = match &self.best {
                Best::Exact(scale, best) => best[at].is_some_and(|exact| {
                    scale.excess::<S>(S::ONE, exact).abs() > self.longest() * self.tolerance
                }),
                Best::Same(_) => false,
            };
            gains || self.unbeatable[at]
        })
    }

    /// What is wrong about an error.
    pub fn judge_error(&self, error: &ErrorKind) -> Option<String> {
        let ErrorKind::NegativeCycle { cycle, .. } = error else { return Some(error.to_string()) };
        let edges = cycle.iter().zip(cycle.iter().cycle().skip(1)).map(|(&i, &j)| self.w[i * self.n + j]);
        if edges.clone().any(S::is_absent) || cycle.is_empty() {
            return Some(format!("{error}: there is no such cycle"));
        }
        if edges.clone().any(|edge| Some(edge) == unbeatable::<S>()) {
            return None;
        }
        let Best::Exact(scale, _) = &self.best else { return Some(format!("{error}: no cycle gains")) };
        let exact = edges.map(|edge| scale.exact::<S>(edge)).reduce(Exact::times)?;
        let loss = scale.excess::<S>(S::ONE, exact);
        let gains = if prefers_larger::<S>() { -loss } else { loss };
        (gains <= self.tolerance)
            .then(|| format!("{error}: it gains {gains:e}, {:e} counts as zero", self.tolerance))
    }

    fn edges(&self, stops: &[usize]) -> impl Iterator<Item = S::Weight> + Clone {
        stops.windows(2).map(|pair| S::clean(self.w[pair[0] * self.n + pair[1]]))
    }

    /// What a route weighs, from left to right.
    pub fn weigh(&self, stops: &[usize]) -> S::Weight {
        S::finish(self.edges(stops).fold(S::ONE, S::times))
    }

    /// What is wrong about a route of this weight. `is_searched`: its weight has the same bits.
    pub fn judge_route(
        &self,
        ends: (usize, usize),
        stops: Option<&[usize]>,
        told: S::Weight,
        is_searched: bool,
    ) -> Option<String> {
        let Some(stops) = stops else {
            return (!S::is_absent(told)).then(|| format!("no route from {ends:?}, which weighs {told:?}"));
        };
        if stops.first() != Some(&ends.0) || stops.last() != Some(&ends.1) || stops.len() > self.n {
            return Some(format!("{stops:?} is no route of {ends:?}"));
        }
        let edges = self.edges(stops);
        if edges.clone().any(S::is_absent) {
            return Some(format!("{stops:?} has an edge that is not there"));
        }
        let magnitudes: f64 = edges.map(|edge| number::<S>(edge).abs()).sum();
        let sum = self.weigh(stops);
        let (x, y) = (number::<S>(sum), number::<S>(told));
        let scale = if is_product::<S>() { x.max(y) } else { magnitudes };
        let is_rounded = S::times_is_strict() && !is_searched && scale.is_finite();
        let slack = if is_rounded { self.n as f64 * epsilon::<S>() * scale } else { 0.0 };
        let is_near = (x - y).abs() <= slack;
        (sum != told && !is_near).then(|| format!("{stops:?} weighs {sum:?}, not {told:?}"))
    }
}

/// Floyd and Warshall's loop.
fn bottlenecks<S: PathSemiring>(w: &[S::Weight], n: usize) -> Vec<S::Weight> {
    let mut d: Vec<_> = w.iter().map(|&x| S::clean(x)).collect();
    (0..n).for_each(|i| d[i * n + i] = S::add(S::ONE, d[i * n + i]));
    for k in 0..n {
        for at in 0..n * n {
            d[at] = S::mul_add(d[at], d[at / n * n + k], d[k * n + at % n]);
        }
    }
    d
}

/// The pairs of vertices between which a path leads over an edge that nothing beats.
fn over_unbeatable<S: PathSemiring>(w: &[S::Weight], n: usize) -> Vec<bool> {
    let mut over = vec![false; n * n];
    let edges: Vec<_> = (0..n * n).filter(|&at| Some(w[at]) == unbeatable::<S>()).collect();
    if edges.is_empty() {
        return over;
    }
    let mut reach: Vec<_> = (0..n * n).map(|at| at / n == at % n || !S::is_absent(w[at])).collect();
    for k in 0..n {
        for at in 0..n * n {
            reach[at] |= reach[at / n * n + k] && reach[k * n + at % n];
        }
    }
    for edge in edges {
        for (at, over) in over.iter_mut().enumerate() {
            *over |= reach[at / n * n + edge / n] && reach[edge % n * n + at % n];
        }
    }
    over
}
