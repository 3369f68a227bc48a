//! Graphs whose cycles weigh about nothing, and their best paths by exact arithmetic.

use super::Random;
use tilewright_core::{DType, Element, Extremes, Matrix, SemiringId, Value};
use tilewright_paths::PathSemiring;

fn id<S: PathSemiring>() -> SemiringId {
    S::BUILT_IN.unwrap().id()
}

pub fn is_product<S: PathSemiring>() -> bool {
    matches!(id::<S>(), SemiringId::MaxTimes | SemiringId::MinTimes)
}

pub fn number<S: PathSemiring>(weight: S::Weight) -> f64 {
    weight.to_value().to_f64()
}

pub fn epsilon<S: PathSemiring>() -> f64 {
    match S::Weight::DTYPE {
        DType::F64 => f64::EPSILON,
        DType::F32 => f64::from(f32::EPSILON),
        _ => 0.0,
    }
}

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
    let sign = if matches!(id::<S>(), SemiringId::MaxPlus | SemiringId::MaxTimes) { -1.0 } else { 1.0 };
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

/// The weight of a path, exactly: a whole number of times a power of two, or a product of 63 digits.
#[derive(Clone, Copy)]
pub enum Exact {
    Sum(i128),
    Product(u128, i32),
}

/// What turns weights into exact ones: the last digit of sums.
#[derive(Clone, Copy)]
pub struct Scale(i32);

impl Scale {
    pub fn of<S: PathSemiring>(w: &Matrix<S::Weight>) -> Self {
        let weights = w.as_slice().iter().filter(|&&weight| !S::is_absent(weight)).map(|&x| number::<S>(x));
        let digits = weights.filter(|&x| x != 0.0).map(|x| parts(x).1).min();
        Self(digits.unwrap_or(0))
    }
    pub fn exact<S: PathSemiring>(self, weight: S::Weight) -> Exact {
        let (mantissa, exponent) = parts(number::<S>(weight));
        if is_product::<S>() {
            return normal(mantissa.unsigned_abs(), exponent);
        }
        let bits = 128 - mantissa.unsigned_abs().leading_zeros() as i32;
        assert!(bits + exponent - self.0 < 120 || mantissa == 0, "weights of too different size");
        Exact::Sum(if mantissa == 0 { 0 } else { mantissa << (exponent - self.0) })
    }
    /// How much `found` is more than `exact`; of products, as a part of it.
    pub fn excess<S: PathSemiring>(self, found: S::Weight, exact: Exact) -> f64 {
        match (self.exact::<S>(found), exact) {
            (Exact::Sum(found), Exact::Sum(exact)) => (found - exact) as f64 * 2.0_f64.powi(self.0),
            (Exact::Product(m, e), Exact::Product(n, f)) => {
                let shifted = |m: u128, by: i32| (m as f64) * 2.0_f64.powi(by);
                let (high, low) = (m as i128 - n as i128, n as f64);
                if e == f { high as f64 / low } else { shifted(m, e - f) / low - 1.0 }
            }
            _ => unreachable!("weights of one graph"),
        }
    }
}

/// A whole mantissa and a power of two.
fn parts(x: f64) -> (i128, i32) {
    if x == 0.0 {
        return (0, 0);
    }
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let mantissa = (bits & ((1 << 52) - 1) | u64::from(exponent > 0) << 52) as i128;
    let zeros = mantissa.trailing_zeros() as i32;
    (if x < 0.0 { -mantissa } else { mantissa } >> zeros, exponent.max(1) - 1075 + zeros)
}

fn normal(mantissa: u128, exponent: i32) -> Exact {
    let shift = 65 - mantissa.leading_zeros() as i32;
    let mantissa = if shift > 0 { mantissa >> shift } else { mantissa << -shift };
    Exact::Product(mantissa, exponent + shift)
}

impl Exact {
    pub fn times(self, other: Self) -> Self {
        match (self, other) {
            (Self::Sum(x), Self::Sum(y)) => Self::Sum(x + y),
            (Self::Product(m, e), Self::Product(n, f)) => normal(m * n, e + f),
            _ => unreachable!("weights of one graph"),
        }
    }
    fn is_less(self, other: Self) -> bool {
        match (self, other) {
            (Self::Sum(x), Self::Sum(y)) => x < y,
            (Self::Product(m, e), Self::Product(n, f)) => (e, m) < (f, n),
            _ => unreachable!("weights of one graph"),
        }
    }
}

/// The best weights of all walks of as many edges as there are vertices, or some more: no worse than those of paths.
pub fn walks<S: PathSemiring>(w: &Matrix<S::Weight>, scale: Scale) -> Vec<Option<Exact>> {
    let n = w.rows();
    let larger = matches!(id::<S>(), SemiringId::MaxPlus | SemiringId::MaxTimes);
    let one = if is_product::<S>() { normal(1, 0) } else { Exact::Sum(0) };
    let better =
        |x: Exact, y: Option<Exact>| y.is_none_or(|y| if larger { y.is_less(x) } else { x.is_less(y) });
    let mut d: Vec<Option<Exact>> = (0..n * n)
        .map(|at| {
            let weight = w[(at / n, at % n)];
            let edge = (!S::is_absent(weight)).then(|| scale.exact::<S>(weight));
            if at / n == at % n && edge.is_none_or(|edge| better(one, Some(edge))) { Some(one) } else { edge }
        })
        .collect();
    for _ in 0..n.next_power_of_two().trailing_zeros() {
        let mut next = d.clone();
        for i in 0..n {
            for k in 0..n {
                let Some(first) = d[i * n + k] else { continue };
                for j in 0..n {
                    if let Some(second) = d[k * n + j] {
                        let way = first.times(second);
                        if better(way, next[i * n + j]) {
                            next[i * n + j] = Some(way);
                        }
                    }
                }
            }
        }
        d = next;
    }
    d
}
