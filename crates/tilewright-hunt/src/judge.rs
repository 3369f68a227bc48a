//! Whether a result is right.

use crate::{double::Double, form::Placed, sample::Sample};
use tilewright_core::semiring::Logarithm;

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

/// A sum of plus-times on floats, and the old element it meets.
pub struct Sum<'a, E, O> {
    pub factors: [f64; 2],
    pub a: &'a Placed<E>,
    pub b: &'a Placed<E>,
    /// Matrix of the batch, row and column.
    pub place: (usize, usize, usize),
    pub old: O,
}

impl<E: Sample, O: Sample> Sum<'_, E, O> {
    /// The numbers that `got` must lie between, rounding included: `(k + 4) eps (|alpha| |A| |B| + |beta| |C|)` around the exact
    /// value, one rounding per product and one per addition, then those of alpha, beta and their sum. `None` where `got` is exactly
    /// the infinity or NaN that it must be; the same number twice where it is not.
    pub fn bounds(&self, got: O) -> Option<(f64, f64)> {
        let ([alpha, beta], (i, row, col)) = (self.factors, self.place);
        let k = self.a.layout.cols;
        let mut sum = Precise::default();
        (0..k).for_each(|p| sum.add(self.a.get(i, row, p).wide(), self.b.get(i, p, col).wide()));
        let old = if beta == 0.0 { 0.0 } else { beta * self.old.wide() };
        if !sum.magnitude.is_finite() || !old.is_finite() {
            let expected = alpha * sum.plain + old;
            let same = if expected.is_nan() { got.wide().is_nan() } else { got.wide() == expected };
            return (!same).then_some((expected, expected));
        }
        let exact = alpha * (sum.high + sum.low) + old;
        let magnitude = alpha.abs() * sum.magnitude + old.abs();
        // Products below the normal range lose up to a subnormal each.
        let underflow = if E::SUM_EPSILON > 1e-10 { 1e-44 } else { f64::from_bits(1) };
        let slack = (k + 4) as f64 * (E::SUM_EPSILON * magnitude + alpha.abs().max(1.0) * underflow);
        Some((O::nearest(exact - slack).wide(), O::nearest(exact + slack).wide()))
    }
}

impl<T: Sample + Logarithm> Sum<'_, T, T> {
    /// As [`Sum::bounds`], for log-plus: [`Logarithm::error_bound`] around the sum by its largest term, in twice the precision of f64.
    pub fn bounds_of_logarithm(&self, got: T) -> Option<(f64, f64)> {
        let ((i, row, col), k, joined) = (self.place, self.a.layout.cols, self.factors[1] != 0.0);
        let product = |p: usize| Double::sum(self.a.get(i, row, p).wide(), self.b.get(i, p, col).wide());
        // The old element is one term more.
        let old = joined.then(|| Double::from(self.old.wide()));
        let terms = || (0..k).map(product).chain(old);
        let nothing = Double::from(f64::NEG_INFINITY);
        let best = terms().fold(nothing, |best, term| if term > best { term } else { best });
        let right = match best.high {
            _ if terms().any(|term| term.high.is_nan()) => f64::NAN,
            high if high.is_infinite() => high,
            high => {
                // The others are nothing beside the largest, and their distance from it may exceed all f64.
                let near = terms().filter(|term| term.high - high > -700.0);
                let sum =
                    near.map(|term| (term - best).exp()).fold(Double::from(0.0), |sum, term| sum + term);
                (best + sum.ln()).high
            }
        };
        let got = got.wide();
        if !right.is_finite() {
            let same = if right.is_nan() { got.is_nan() } else { got == right };
            return (!same).then_some((right, right));
        }
        let slack = T::error_bound(k, right, joined);
        let nearest = |x| <T as Sample>::nearest(x).wide();
        Some((nearest(right - slack), nearest(right + slack)))
    }
}

/// The first place where `got` and `expected` differ, in words.
pub fn differs<T: Copy + core::fmt::Debug>(
    what: &str,
    got: &Placed<T>,
    expected: &[T],
    same: impl Fn(T, T) -> bool,
) -> Option<String> {
    let pairs = got.data.slice().iter().zip(expected);
    let (at, (got_there, wanted)) = pairs.enumerate().find(|(_, (x, y))| !same(**x, **y))?;
    let (rows, cols) = (got.layout.rows, got.layout.cols);
    let place = (0..got.count)
        .flat_map(|i| (0..rows).flat_map(move |row| (0..cols).map(move |col| (i, row, col))))
        .find(|&(i, row, col)| got.index(i, row, col) == at);
    Some(match place {
        Some((i, row, col)) => {
            format!("{what} {i}[{row}, {col}] is {got_there:?} instead of {wanted:?}")
        }
        None => format!("element {at} of memory, between those of {what}, has become {got_there:?}"),
    })
}
