//! Best paths by exact arithmetic, for the tests here and for the hunt.

use tilewright_core::{DType, Element, Matrix, SemiringId};
use tilewright_paths::PathSemiring;

fn id<S: PathSemiring>() -> Option<SemiringId> {
    S::BUILT_IN.map(|built_in| built_in.id())
}

/// Whether weights are multiplied.
pub fn is_product<S: PathSemiring>() -> bool {
    matches!(id::<S>(), Some(SemiringId::MaxTimes | SemiringId::MinTimes))
}

/// Whether the larger of two sums or products is the better one.
pub fn prefers_larger<S: PathSemiring>() -> bool {
    matches!(id::<S>(), Some(SemiringId::MaxPlus | SemiringId::MaxTimes))
}

/// The weight as a float.
pub fn number<S: PathSemiring>(weight: S::Weight) -> f64 {
    weight.to_value().to_f64()
}

/// The distance from 1 to the next weight; 0 of integers.
pub fn epsilon<S: PathSemiring>() -> f64 {
    match S::Weight::DTYPE {
        DType::F64 => f64::EPSILON,
        DType::F32 => f64::from(f32::EPSILON),
        _ => 0.0,
    }
}

/// The weight of a path, exactly: a whole number of times a power of two, or a product of 63 digits.
#[derive(Clone, Copy)]
pub enum Exact {
    /// So many last digits.
    Sum(i128),
    /// A mantissa of 63 digits, and a power of two.
    Product(u128, i32),
}

/// What turns weights into exact ones: the last digit of sums.
#[derive(Clone, Copy)]
pub struct Scale(i32);

impl Scale {
    /// For the weights of a graph, which are finite.
    pub fn of<S: PathSemiring>(w: &Matrix<S::Weight>) -> Self {
        let weights = w.as_slice().iter().filter(|&&weight| !S::is_absent(weight)).map(|&x| number::<S>(x));
        let digits = weights.filter(|&x| x != 0.0).map(|x| parts(x).1).min();
        Self(digits.unwrap_or(0))
    }
    /// A weight of the graph, or one that was computed from them.
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
    /// The weight of a path and one that continues it.
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
    let larger = prefers_larger::<S>();
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
