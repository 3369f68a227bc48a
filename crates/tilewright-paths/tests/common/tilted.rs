//! Graphs whose cycles weigh about nothing.

use super::{
    Random,
    exact::{is_product, number, prefers_larger},
};
use tilewright_core::{DType, Element, Extremes, Matrix, Value};
use tilewright_paths::PathSemiring;

/// The number of this type that is so many last digits away from `x`, rounded.
fn rounded<S: PathSemiring>(x: f64, digits: i32) -> S::Weight {
    let from = |x: f64| S::Weight::from_value(Value::Float(x), Extremes::Refuse).unwrap();
    let step = |x: f64, up: bool| match S::Weight::DTYPE {
        DType::F32 if up => f64::from((x as f32).next_up()),
        DType::F32 => f64::from((x as f32).next_down()),
        _ if up => x.next_up(),
        _ => x.next_down(),
    };
    let nearest = number::<S>(from(x));
    from((0..digits.abs()).fold(nearest, |x, _| step(x, digits > 0)))
}

/// Potentials of one of some kinds: prices, their logarithms, multiples of a tenth, heights of very different size.
fn heights(random: &mut Random, n: usize) -> Vec<f64> {
    let kind = random.below(4);
    let height = |random: &mut Random| match kind {
        0 => 200.0 * random.unit() - 100.0,
        1 => (0.01 + 100.0 * random.unit()).ln(),
        2 => random.below(30) as f64 / 10.0,
        _ => (random.unit() - 0.5) * 10.0_f64.powi(random.below(7) as i32 - 3),
    };
    (0..n).map(|_| height(random)).collect()
}

/// A graph of `n` vertices whose edges weigh the difference of two potentials, but for the last digits, or more than that.
pub fn tilted<S: PathSemiring>(random: &mut Random, n: usize) -> Matrix<S::Weight> {
    let heights = heights(random, n);
    let (density, noise) = ([1.0, 0.6, 0.2][random.below(3) as usize], random.below(3) as i32);
    let extra = [0.0, 0.3, 0.9][random.below(3) as usize];
    let sign = if prefers_larger::<S>() { -1.0 } else { 1.0 };
    let whole = !S::Weight::DTYPE.is_float();
    Matrix::from_fn(n, n, |i, j| {
        // So that a graph of few edges has a long cycle, too.
        if random.unit() > density && (i + 1) % n != j || i == j && random.below(4) > 0 {
            return S::ZERO;
        }
        let more = if random.unit() < extra {
            [2.0_f64.powi(-43), 0.01, 3.0][random.below(3) as usize]
                * (random.below(1 << 20) as f64 / 1_048_576.0)
        } else {
            0.0
        };
        let difference = if whole {
            (heights[i].round() - heights[j].round()) + (10.0 * more).round()
        } else {
            heights[i] - heights[j] + more
        };
        let digits = (random.below(2 * noise as u64 + 1) as i32 - noise) * i32::from(difference.abs() > 1e-6);
        if is_product::<S>() {
            // A quotient of two numbers, rounded once, so that cycles are as near to 1 as differences are to 0.
            let price = |height: f64| (sign * 0.1 * height).exp2();
            rounded::<S>(price(heights[i]) / price(heights[j]) * price(more), digits)
        } else if whole {
            rounded::<S>(sign * difference, 0)
        } else {
            rounded::<S>(sign * difference, digits)
        }
    })
    .unwrap()
}
