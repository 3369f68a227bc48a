//! The error bound of floating-point plus-times.

use super::{placed::Placed, values::Sample};

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
