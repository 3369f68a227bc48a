//! Weights as lengths: numbers that are added, the smaller the better, in twice the digits of a float.
//!
//! Potentials and the weights of cycles are sums of differences that nearly cancel. A pair of floats holds such sums so exactly that what is left
//! of them says something about the weights, and nothing about the order of additions (T. J. Dekker, "A floating-point technique for extending the
//! available precision", 1971).

use crate::semiring::{PathSemiring, number, weight};
use tilewright_core::{DType, Element, SemiringId, Value};

/// A sum `high + low`, whose second part is below the last digit of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Length {
    high: f64,
    low: f64,
}

impl Length {
    pub const ZERO: Self = Self { high: 0.0, low: 0.0 };

    pub fn new(number: f64) -> Self {
        Self { high: number, low: 0.0 }
    }

    pub fn plus(self, other: Self) -> Self {
        let (high, rest) = two_sum(self.high, other.high);
        let (low, last) = two_sum(self.low, other.low);
        let (high, rest) = fast_two_sum(high, rest + low);
        let (high, low) = fast_two_sum(high, rest + last);
        Self { high, low }
    }

    pub fn minus(self, other: Self) -> Self {
        self.plus(Self { high: -other.high, low: -other.low })
    }

    fn times(self, factor: f64) -> Self {
        let high = self.high * factor;
        let rest = self.high.mul_add(factor, -high) + self.low * factor;
        let (high, low) = fast_two_sum(high, rest);
        Self { high, low }
    }

    pub fn is_less(self, other: Self) -> bool {
        self.high < other.high || self.high == other.high && self.low < other.low
    }

    pub fn to_f64(self) -> f64 {
        self.high + self.low
    }
}

/// The sum as it is rounded, and what rounding left out.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// As [`two_sum`], where `a` is not smaller in magnitude.
fn fast_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// How the weights of a graph become lengths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    vertices: usize,
    is_product: bool,
    /// -1 where larger weights are better; a power of two smaller than 1 where sums of the weights might leave the range of floats.
    scale: f64,
    /// What the best weight of all counts, which is infinite or the zero of products: more than all others together.
    best: f64,
    /// The last digit of the largest weight, or of a product about 1; 0 of integers.
    digit: f64,
}

impl Measure {
    /// For a graph of so many vertices, whose weights are at most `largest` in magnitude; `None` where a semiring neither adds nor multiplies.
    pub fn of<S: PathSemiring>(vertices: usize, largest: f64) -> Option<Self> {
        let id = S::BUILT_IN.map(|built_in| built_in.id())?;
        let is_product = matches!(id, SemiringId::MaxTimes | SemiringId::MinTimes);
        if !is_product && !matches!(id, SemiringId::MinPlus | SemiringId::MaxPlus) {
            return None;
        }
        let sign = if matches!(id, SemiringId::MaxPlus | SemiringId::MaxTimes) { -1.0 } else { 1.0 };
        let shrink = if largest > 2.0_f64.powi(900) && !is_product { 2.0_f64.powi(-128) } else { 1.0 };
        // Logarithms to base 2 of floats are less than 1100.
        let (most, digit) =
            if is_product { (1100.0, epsilon::<S>()) } else { (largest, largest * epsilon::<S>()) };
        Some(Self {
            vertices,
            is_product,
            scale: sign * shrink,
            best: 4.0 * (vertices as f64 + 1.0) * (most * shrink).max(f64::MIN_POSITIVE),
            digit,
        })
    }

    /// The length of an edge of this weight, which is not absent.
    pub fn length<S: PathSemiring>(&self, edge: S::Weight) -> Length {
        if let Value::Int(whole) = edge.to_value() {
            let high = whole as f64;
            let low = (whole - high as i64) as f64;
            return Length { high: self.scale * high, low: self.scale * low };
        }
        let number = number::<S>(edge);
        if number.is_infinite() || self.is_product && number == 0.0 {
            return Length::new(-self.best);
        }
        if !self.is_product {
            return Length::new(self.scale * number);
        }
        let (mantissa, exponent) = split(number);
        Length { high: self.scale * f64::from(exponent), low: 0.0 }
            .plus(Length::new(self.scale * mantissa.log2()))
    }

    /// By how much edges are made longer, one try after another: by nothing, then by twice as much each time, up to the tolerance of a whole cycle.
    pub fn slacks(&self) -> impl Iterator<Item = f64> {
        // Logarithms differ by eps / ln 2 where the floats differ by eps.
        let unit = if self.is_product {
            self.digit / core::f64::consts::LN_2
        } else {
            self.digit * self.scale.abs()
        };
        let most = unit * self.vertices as f64;
        let doubled = core::iter::successors((unit > 0.0).then_some(unit), move |&slack| {
            (slack < most).then_some((2.0 * slack).min(most))
        });
        core::iter::once(0.0).chain(doubled)
    }

    /// How far from [`Semiring::ONE`](tilewright_core::Semiring::ONE) the weight of a cycle may be and count as that.
    pub fn tolerance(&self) -> f64 {
        self.digit * self.vertices as f64
    }

    /// The weight of a cycle of these edges, rounded once, if going around it makes a path better by more than the tolerance.
    pub fn gain<S: PathSemiring>(&self, edges: impl Iterator<Item = S::Weight> + Clone) -> Option<S::Weight> {
        let folded = S::finish(edges.clone().fold(S::ONE, S::times));
        if !S::Weight::DTYPE.is_float() {
            return S::improves(folded, S::ONE).then_some(folded);
        }
        if edges.clone().any(|edge| self.length::<S>(edge).high == -self.best) {
            return Some(folded);
        }
        let tolerance = self.tolerance();
        if !self.is_product {
            let sum = edges.fold(Length::ZERO, |sum, edge| sum.plus(self.length::<S>(edge)));
            let tolerance = tolerance * self.scale.abs();
            return (sum.to_f64() < -tolerance).then(|| weight::<S>(sum.to_f64() / self.scale));
        }
        let (mut product, mut exponent) = (Length::new(1.0), 0);
        for edge in edges {
            let (mantissa, more) = split(number::<S>(edge));
            product = product.times(mantissa);
            let (_, carried) = split(product.high);
            product = product.times(2.0_f64.powi(-carried));
            exponent += more + carried;
        }
        // Beyond these the sign is all that counts.
        let whole = product.times(2.0_f64.powi(exponent.clamp(-1000, 1000)));
        let excess = self.scale * whole.minus(Length::new(1.0)).to_f64();
        (excess < -tolerance)
            .then(|| if exponent.abs() < 1000 { weight::<S>(whole.to_f64()) } else { folded })
    }

    /// Whether a route of weight `sum` has the weight `told`, within `n eps` of its parts: of `magnitudes` for sums, of itself for products.
    #[inline(always)]
    pub fn agrees<S: PathSemiring>(&self, sum: S::Weight, told: S::Weight, magnitudes: f64) -> bool {
        let (sum, told) = (number::<S>(sum), number::<S>(told));
        let scale = if self.is_product { sum.max(told) } else { magnitudes };
        sum == told || (sum - told).abs() <= self.vertices as f64 * epsilon::<S>() * scale
    }
}

/// The distance from 1 to the next number of a type; 0 for integers.
fn epsilon<S: PathSemiring>() -> f64 {
    match S::Weight::DTYPE {
        DType::F64 => f64::EPSILON,
        DType::F32 => f64::from(f32::EPSILON),
        _ => 0.0,
    }
}

/// A positive number as a mantissa about 1, from 0.7 to 1.5, and a power of two.
fn split(number: f64) -> (f64, i32) {
    let (number, shifted) =
        if number < f64::MIN_POSITIVE { (number * 2.0_f64.powi(64), -64) } else { (number, 0) };
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let mantissa = f64::from_bits(bits & !(0x7ff << 52) | 1023 << 52);
    if mantissa > core::f64::consts::SQRT_2 {
        (mantissa / 2.0, exponent + 1 + shifted)
    } else {
        (mantissa, exponent + shifted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{MaxTimes, MinPlus, MinTimes};

    #[test]
    fn sums_keep_what_floats_lose() {
        let sum = Length::new(1e20).plus(Length::new(1.0)).minus(Length::new(1e20));
        assert_eq!(sum, Length::new(1.0));
        assert!(Length::new(-1e-30).plus(Length::new(1.0)).is_less(Length::new(1.0)));
        let whole = (1_i64 << 58) + 1;
        let measure = Measure::of::<MinPlus<i64>>(3, 1e18).unwrap();
        let twice = measure.length::<MinPlus<i64>>(whole).plus(measure.length::<MinPlus<i64>>(-whole + 1));
        assert_eq!(twice, Length::new(1.0));
    }

    #[test]
    fn products_are_lengths_too() {
        let measure = Measure::of::<MaxTimes<f64>>(3, 1.0).unwrap();
        // 2^-1070, a subnormal.
        let tiny = f64::from_bits(1 << 4);
        for number in [1.0, 0.5, 4.0, tiny, 3.0, 0.1, f64::MAX] {
            let length = measure.length::<MaxTimes<f64>>(number).to_f64();
            assert!((length + number.log2()).abs() <= 1e-13, "{number}: {length}");
        }
        assert_eq!(measure.length::<MaxTimes<f64>>(tiny), Length::new(1070.0));
        let third = 1.0 / 3.0;
        assert_eq!(measure.gain::<MaxTimes<f64>>([3.0, third].into_iter()), None);
        let powers = [600, 600, -900].map(|exponent| 2.0_f64.powi(exponent));
        assert_eq!(measure.gain::<MaxTimes<f64>>(powers.into_iter()), Some(2.0_f64.powi(300)));
        assert_eq!(
            measure.gain::<MaxTimes<f64>>([1.0 + 4.0 * f64::EPSILON].into_iter()),
            Some(1.0 + 4.0 * f64::EPSILON)
        );
        let measure = Measure::of::<MinTimes<f64>>(3, 1.0).unwrap();
        assert_eq!(measure.gain::<MinTimes<f64>>([0.0, 5.0].into_iter()), Some(0.0));
        assert_eq!(measure.gain::<MinTimes<f64>>([0.25, 2.0].into_iter()), Some(0.5));
    }

    #[test]
    fn a_cycle_gains_beyond_the_tolerance_alone() {
        let measure = Measure::of::<MinPlus<f64>>(3, 0.3).unwrap();
        assert_eq!(measure.gain::<MinPlus<f64>>([0.3, -0.1, -0.2].into_iter()), None);
        let gain = measure.gain::<MinPlus<f64>>([0.3, -0.3 - 1e-9].into_iter());
        assert!(gain.is_some_and(|gain| (gain + 1e-9).abs() < 1e-15), "{gain:?}");
        let measure = Measure::of::<MinPlus<i32>>(9, 5.0).unwrap();
        assert_eq!(measure.gain::<MinPlus<i32>>([4, -5].into_iter()), Some(-1));
        assert_eq!(measure.slacks().collect::<Vec<_>>(), [0.0]);
        let measure = Measure::of::<MinPlus<f32>>(5, 1.0).unwrap();
        let slacks: Vec<f64> = measure.slacks().map(|slack| slack / f64::from(f32::EPSILON)).collect();
        assert_eq!(slacks, [0.0, 1.0, 2.0, 4.0, 5.0]);
    }
}
