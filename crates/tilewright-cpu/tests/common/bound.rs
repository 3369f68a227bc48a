//! The error bounds of floating-point plus-times and of log-plus.

use super::{placed::Placed, values::Sample};
use tilewright_core::semiring::{Logarithm, log_add_exp};

/// A sum in about twice the precision of f64 (Ogita, Rump and Oishi's Dot2).
#[derive(Default)]
struct Precise {
    high: f64,
    low: f64,
    magnitude: f64,
    plain: f64,
}

impl Precise {
    fn add(&mut self, a: f64, b: f64) {
        let product = a * b;
        let sum = self.high + product;
        let part = sum - self.high;
        let lost = (self.high - (sum - part)) + (product - part);
        self.low += lost + a.mul_add(b, -product);
        self.high = sum;
        self.magnitude += product.abs();
        self.plain += product;
    }
}

/// Every element of `c` lies within `(k + 4) eps (|alpha| |A| |B| + |beta| |C|)` of `alpha A B + beta C`, rounded
/// to the element type, where `eps` is that of the sums. Infinities and NaN must be exactly where they belong.
///
/// The factor: one rounding per product and one per addition, `k` times, then those of alpha, beta and their sum,
/// each of at most `eps / 2`.
pub fn check<E: Sample, O: Sample>(
    [alpha, beta]: [f64; 2],
    a: &Placed<E>,
    b: &Placed<E>,
    before: &Placed<O>,
    c: &Placed<O>,
) {
    let k = a.layout.cols;
    for i in 0..c.layout.rows {
        for j in 0..c.layout.cols {
            let mut sum = Precise::default();
            for p in 0..k {
                sum.add(a.at(i, p).wide(), b.at(p, j).wide());
            }
            let old = if beta == 0.0 { 0.0 } else { beta * before.at(i, j).wide() };
            let got = c.at(i, j);
            if !sum.magnitude.is_finite() || !old.is_finite() {
                let expected = alpha * sum.plain + old;
                let same = if expected.is_nan() { got.wide().is_nan() } else { got.wide() == expected };
                assert!(same, "({i}, {j}): {got} instead of {expected}");
                continue;
            }
            let exact = alpha * (sum.high + sum.low) + old;
            let magnitude = alpha.abs() * sum.magnitude + old.abs();
            // Products below the normal range lose up to a subnormal each.
            let underflow = if E::SUM_EPSILON > 1e-10 { 1e-44 } else { f64::from_bits(1) };
            let slack = (k + 4) as f64 * (E::SUM_EPSILON * magnitude + alpha.abs().max(1.0) * underflow);
            let (low, high) = (O::nearest(exact - slack).wide(), O::nearest(exact + slack).wide());
            assert!(low <= got.wide() && got.wide() <= high, "({i}, {j}): {got} outside {low} ..= {high}");
        }
    }
}

/// Every element of `c` lies within [`Logarithm::error_bound`] of `log Σ exp(A + B)`, joined with the old C where that is asked for.
/// Infinities and NaN must be exactly where they belong.
pub fn check_logarithms<T: Sample + Logarithm>(
    joined: bool,
    a: &Placed<T>,
    b: &Placed<T>,
    before: &Placed<T>,
    c: &Placed<T>,
) {
    let k = a.layout.cols;
    for i in 0..c.layout.rows {
        for j in 0..c.layout.cols {
            let sum = sum_of_exponentials(k, |p| [a.at(i, p).wide(), b.at(p, j).wide()]);
            let exact = if joined { log_add_exp(before.at(i, j).wide(), sum) } else { sum };
            let got = c.at(i, j).wide();
            if !exact.is_finite() {
                assert!(
                    got == exact || got.is_nan() && exact.is_nan(),
                    "({i}, {j}): {got} instead of {exact}"
                );
                continue;
            }
            // What is not exact here: some logarithms and exponentials in f64, and roundings of f64 of numbers of this size.
            let reference = 2f64.powi(-53) * (24.0 + 3.0 * exact.abs());
            let slack = T::error_bound(k, exact, joined) + reference;
            let (low, high) = (T::nearest_to(exact - slack), T::nearest_to(exact + slack));
            assert!(low <= got && got <= high, "({i}, {j}): {got} outside {low} ..= {high}");
        }
    }
}

/// `log Σ exp(x + y)`, by the largest term, with sums that are compensated for their rounding.
fn sum_of_exponentials(k: usize, terms: impl Fn(usize) -> [f64; 2]) -> f64 {
    let terms: Vec<_> = (0..k).map(terms).collect();
    let best = terms.iter().map(|[x, y]| x + y).fold(f64::NEG_INFINITY, |m, t| if t > m { t } else { m });
    if terms.iter().any(|[x, y]| (x + y).is_nan()) {
        return f64::NAN;
    }
    if best.is_infinite() {
        return best;
    }
    let (mut sum, mut lost) = (0.0, 0.0);
    for [x, y] in terms {
        let term = x + y;
        let distance = term - best;
        let weight = distance.exp();
        let next = sum + weight;
        lost += if sum > weight { (sum - next) + weight } else { (weight - next) + sum };
        sum = next;
    }
    best + (sum + lost).ln()
}
