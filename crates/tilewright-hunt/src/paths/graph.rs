//! Graphs that are hard: edges weigh the difference of two heights, so that cycles weigh about nothing.

use super::exact::{is_product, number, prefers_larger};
use crate::random::Random;
use tilewright_core::{DType, Element, Extremes, Matrix, Value};
use tilewright_paths::PathSemiring;

/// The weight that no other beats, of floats; paths over it are as good as paths can be.
pub fn unbeatable<S: PathSemiring>() -> Option<S::Weight> {
    let number = match (prefers_larger::<S>(), is_product::<S>()) {
        (true, _) => f64::INFINITY,
        (false, true) => 0.0,
        (false, false) => f64::NEG_INFINITY,
    };
    (S::times_is_strict() && S::Weight::DTYPE.is_float()).then(|| weight::<S>(number))
}

/// The weight of this number; no edge where there is none.
fn weight<S: PathSemiring>(number: f64) -> S::Weight {
    S::Weight::from_value(Value::Float(number), Extremes::Refuse).unwrap_or(S::ZERO)
}

/// How the edges of a graph are drawn.
struct Sketch {
    heights: Vec<f64>,
    /// How many of a hundred edges are there, and how many are worse than the difference of heights.
    density: usize,
    worse: usize,
    /// Last digits by which weights are off.
    noise: usize,
    /// Whether all vertices lie on a cycle.
    ring: bool,
    loops: bool,
}

impl Sketch {
    fn new<S: PathSemiring>(r: &mut Random, n: usize) -> Self {
        let heights = heights::<S>(r, n);
        Self {
            heights,
            density: r.pick(&[0, 5, 20, 60, 100, 100]),
            worse: r.pick(&[0, 0, 30, 90, 100]),
            noise: r.below(3),
            ring: r.one_in(2),
            loops: r.one_in(3),
        }
    }

    fn edge<S: PathSemiring>(&self, r: &mut Random, i: usize, j: usize) -> S::Weight {
        let on_ring = self.ring && (i + 1) % self.heights.len() == j;
        let absent = r.below(100) >= self.density && !on_ring;
        let digits = r.below(2 * self.noise + 1) as i32 - self.noise as i32;
        let more = if r.below(100) < self.worse { r.pick(&[2f64.powi(-43), 0.01, 1.0, 3.0]) } else { 0.0 };
        let more = if r.one_in(2) { more } else { more * unit(r) };
        if absent || i == j && !self.loops {
            return S::ZERO;
        }
        let (from, to) = (self.heights[i], self.heights[j]);
        let sign = if prefers_larger::<S>() { -1.0 } else { 1.0 };
        let ideal = if is_product::<S>() {
            // A quotient of two numbers, rounded once, so that cycles are as near to 1 as differences are to 0.
            let price = |height: f64| (sign * 0.1 * height).exp2();
            price(from) / price(to) * price(more)
        } else {
            sign * (from - to + more)
        };
        match S::Weight::DTYPE {
            DType::Bool => weight::<S>(1.0),
            DType::F64 => {
                weight::<S>(steps(ideal, digits, |x, up| if up { x.next_up() } else { x.next_down() }))
            }
            DType::F32 => weight::<S>(
                steps(ideal as f32, digits, |x, up| if up { x.next_up() } else { x.next_down() }).into(),
            ),
            // Rounded one by one, so that cycles weigh nothing at all.
            _ => weight::<S>(sign * (from.round() - to.round() + (10.0 * more).round())),
        }
    }
}

/// So many numbers further; near zero, where digits are without bound, none.
fn steps<T: Copy + Into<f64>>(x: T, digits: i32, step: impl Fn(T, bool) -> T) -> T {
    let digits = if x.into().abs() > 1e-6 { digits } else { 0 };
    (0..digits.abs()).fold(x, |x, _| step(x, digits > 0))
}

fn unit(r: &mut Random) -> f64 {
    r.below(1 << 20) as f64 / 1_048_576.0
}

/// All the same, small whole numbers, large ones, prices, their logarithms, tenths, and numbers of very different size.
fn heights<S: PathSemiring>(r: &mut Random, n: usize) -> Vec<f64> {
    // Beyond what products of the type are exact for, within what it holds.
    let large = match S::Weight::DTYPE {
        DType::I16 => 3000.0,
        DType::I32 => 2f64.powi(29),
        DType::I64 => 2f64.powi(50),
        _ => 100.0,
    };
    let kind = r.below(7);
    let height = |r: &mut Random| match kind {
        0 => 0.0,
        1 => r.below(10) as f64,
        2 => (large * (2.0 * unit(r) - 1.0)).round(),
        3 => 200.0 * unit(r) - 100.0,
        4 => (0.01 + 100.0 * unit(r)).ln(),
        5 => r.below(30) as f64 / 10.0,
        _ => (unit(r) - 0.5) * 10f64.powi(r.below(7) as i32 - 3),
    };
    (0..n).map(|_| height(r)).collect()
}

/// A graph of `n` vertices.
pub fn draw<S: PathSemiring>(r: &mut Random, n: usize) -> Vec<S::Weight> {
    let sketch = Sketch::new::<S>(r, n);
    let mut w: Vec<_> = (0..n * n).map(|at| sketch.edge::<S>(r, at / n, at % n)).collect();
    if n > 0 && S::times_is_strict() && r.one_in(5) {
        gain::<S>(r, &mut w, n);
    }
    if let Some(best) = unbeatable::<S>()
        && n > 0
        && r.one_in(10)
    {
        w[r.below(n * n)] = best;
    }
    w
}

/// Makes a way back so good that the cycle gains, by much or by little.
fn gain<S: PathSemiring>(r: &mut Random, w: &mut [S::Weight], n: usize) {
    let (i, j) = (r.below(n), r.below(n));
    let by = r.pick(&[1e-15, 1e-9, 1e-3, 1.0]);
    let sign = if prefers_larger::<S>() { 1.0 } else { -1.0 };
    let there = w[i * n + j];
    if S::is_absent(there) {
        return;
    }
    let back = match number::<S>(there) {
        there if is_product::<S>() => (1.0 + sign * f64::min(by, 0.5)) / there,
        there if S::Weight::DTYPE.is_float() => sign * by - there,
        there => sign - there,
    };
    w[j * n + i] = weight::<S>(back);
}

/// The matrix of these weights.
///
/// # Errors
/// In words, where memory is used up.
pub fn matrix<S: PathSemiring>(w: &[S::Weight], n: usize) -> Result<Matrix<S::Weight>, String> {
    Matrix::from_fn(n, n, |i, j| w[i * n + j]).map_err(|error| error.to_string())
}
