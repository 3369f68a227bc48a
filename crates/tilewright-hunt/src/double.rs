//! Numbers of two f64, of about 106 bits, and as much of their arithmetic as a logarithm of a sum needs.

use core::{f64::consts::LN_2, ops};

/// The sum of both parts; the second is at most half a unit in the last place of the first.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Double {
    pub high: f64,
    pub low: f64,
}

/// What of ln 2 is left beside its f64.
const LN_2_REST: f64 = 2.319_046_813_846_3e-17;
/// The exponential is that of a number so many times smaller, as often squared as this is a power of two.
const SQUARINGS: i32 = 9;
const TERMS: u32 = 10;

impl Double {
    /// The sum of two f64, exactly (Knuth).
    pub fn sum(x: f64, y: f64) -> Self {
        let high = x + y;
        let part = high - x;
        Self { high, low: (x - (high - part)) + (y - part) }
    }

    fn product(x: f64, y: f64) -> Self {
        let high = x * y;
        Self { high, low: x.mul_add(y, -high) }
    }

    /// e to this power, which is at most a few; 0 where that is too small for full precision.
    pub fn exp(self) -> Self {
        if self.high < -700.0 {
            return Self::from(0.0);
        }
        let turns = (self.high / LN_2).round();
        let rest = self - Self { high: LN_2, low: LN_2_REST } * Self::from(turns);
        let small = rest * Self::from(0.5f64.powi(SQUARINGS));
        // e^x - 1, whose bits are not lost beside 1.
        let mut sum = Self::from(0.0);
        for term in (1..=TERMS).rev() {
            sum = (sum + Self::from(1.0)) * small / f64::from(term);
        }
        for _ in 0..SQUARINGS {
            sum = sum * sum + sum + sum;
        }
        (sum + Self::from(1.0)) * Self::from(2f64.powi(turns as i32))
    }

    /// The natural logarithm of a positive number: a step of Newton's from that of an f64.
    pub fn ln(self) -> Self {
        let near = Self::from(self.high.ln());
        near + self * (Self::from(0.0) - near).exp() - Self::from(1.0)
    }
}

impl From<f64> for Double {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl ops::Add for Double {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, low) = (Self::sum(self.high, other.high), Self::sum(self.low, other.low));
        let near = Self::sum(high.high, high.low + low.high);
        Self::sum(near.high, near.low + low.low)
    }
}

impl ops::Sub for Double {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + Self { high: -other.high, low: -other.low }
    }
}

impl ops::Mul for Double {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        Self::sum(product.high, product.low + (self.high * other.low + self.low * other.high))
    }
}

impl ops::Div<f64> for Double {
    type Output = Self;
    fn div(self, by: f64) -> Self {
        let near = self.high / by;
        let rest = self - Self::product(near, by);
        Self::sum(near, (rest.high + rest.low) / by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ways to the same number agree in some ninety bits.
    #[test]
    fn exponentials_and_logarithms_undo_each_other() {
        let close = |x: Double, y: Double| {
            let difference = x - y;
            (difference.high + difference.low).abs() <= 1e-27 * x.high.abs().max(1.0)
        };
        for x in [-600.0, -100.1, -3.0, -0.7, -1e-9, 0.0, 0.3, 2.0] {
            let number = Double::sum(x, x * 1e-20);
            assert!(close(number.exp().ln(), number), "{x}");
            let halves = Double::sum(x / 2.0, x * 5e-21).exp();
            let (whole, square) = (number.exp(), halves * halves);
            assert!(close(square * (Double::from(0.0) - number).exp(), Double::from(1.0)), "{x}");
            assert!(((whole - square).high / whole.high).abs() < 1e-27, "{x}");
        }
        // e and ln 2, by their published digits.
        let e = Double { high: core::f64::consts::E, low: 1.445_646_891_729_250_2e-16 };
        assert!(close(Double::from(1.0).exp(), e));
        assert!(close(Double::from(2.0).ln(), Double { high: LN_2, low: LN_2_REST }));
    }
}
