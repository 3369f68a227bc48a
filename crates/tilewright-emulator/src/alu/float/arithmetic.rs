//! Sums, products, quotients and square roots of numbers with significands of up to 53 bits.

use super::format::{Finite, Number, Rounding};

/// `a + b`. The rounding mode decides the sign of an exact zero sum.
pub(crate) fn add(a: Number, b: Number, rounding: Rounding) -> Number {
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite { negative: x }, Number::Infinite { negative: y }) if x != y => Number::Nan,
        (Number::Infinite { .. }, _) => a,
        (_, Number::Infinite { .. }) => b,
        (Number::Finite(a), Number::Finite(b)) => Number::Finite(add_finite(a, b, rounding)),
    }
}

fn add_finite(a: Finite, b: Finite, rounding: Rounding) -> Finite {
    match (a.significand, b.significand) {
        (0, 0) if a.negative == b.negative => return a,
        (0, 0) => return Finite { negative: rounding == Rounding::Down, ..a },
        (0, _) => return b,
        (_, 0) => return a,
        _ => {}
    }
    let (a, b) = (normalized(a), normalized(b));
    let (large, small) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    let small_significand = shift_right_to_odd(small.significand, (large.exponent - small.exponent) as u32);
    if large.negative == small.negative {
        return Finite { significand: large.significand + small_significand, ..large };
    }
    let difference = large.significand.abs_diff(small_significand);
    let negative = match large.significand.cmp(&small_significand) {
        std::cmp::Ordering::Greater => large.negative,
        std::cmp::Ordering::Less => small.negative,
        std::cmp::Ordering::Equal => rounding == Rounding::Down,
    };
    Finite { negative, significand: difference, exponent: large.exponent }
}

/// The same value with the top bit at 126: a sum does not overflow, and products of 106 bits leave 20 bits for what a
/// shift to the right can lose before cancellation could bring it up.
fn normalized(x: Finite) -> Finite {
    let shift = x.significand.leading_zeros() - 1;
    Finite { significand: x.significand << shift, exponent: x.exponent - shift as i32, ..x }
}

fn shift_right_to_odd(significand: u128, shift: u32) -> u128 {
    match significand.checked_shr(shift) {
        Some(kept) => kept | u128::from(kept << shift != significand),
        None => 1,
    }
}

/// `a b`, exactly.
pub(crate) fn multiply(a: Number, b: Number) -> Number {
    let negative = a.is_negative() != b.is_negative();
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite { .. }, Number::Finite(Finite { significand: 0, .. }))
        | (Number::Finite(Finite { significand: 0, .. }), Number::Infinite { .. }) => Number::Nan,
        (Number::Infinite { .. }, _) | (_, Number::Infinite { .. }) => Number::Infinite { negative },
        (Number::Finite(a), Number::Finite(b)) => Number::Finite(Finite {
            negative,
            significand: a.significand * b.significand,
            exponent: a.exponent + b.exponent,
        }),
    }
}

/// `a b + c`, rounded once.
pub(crate) fn fused_multiply_add(a: Number, b: Number, c: Number, rounding: Rounding) -> Number {
    add(multiply(a, b), c, rounding)
}

/// `a / b`.
pub(crate) fn divide(a: Number, b: Number) -> Number {
    let negative = a.is_negative() != b.is_negative();
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite { .. }, Number::Infinite { .. }) => Number::Nan,
        (Number::Infinite { .. }, _) => Number::Infinite { negative },
        (_, Number::Infinite { .. }) => Number::zero(negative),
        (Number::Finite(a), Number::Finite(b)) => match (a.significand, b.significand) {
            (0, 0) => Number::Nan,
            (0, _) => Number::zero(negative),
            (_, 0) => Number::Infinite { negative },
            (_, divisor) => {
                // A dividend of 127 bits over at most 53 leaves at least 74 bits of quotient.
                let a = normalized(a);
                let inexact = !a.significand.is_multiple_of(divisor);
                Number::Finite(Finite {
                    negative,
                    significand: (a.significand / divisor) | u128::from(inexact),
                    exponent: a.exponent - b.exponent,
                })
            }
        },
    }
}

/// The square root; NaN for negative numbers, -0 for -0.
pub(crate) fn square_root(a: Number) -> Number {
    let Number::Finite(x) = a else {
        return if a.is_negative() { Number::Nan } else { a };
    };
    if x.significand == 0 {
        return a;
    }
    if x.negative {
        return Number::Nan;
    }
    // 126 or 127 bits with an even exponent give a root of 63 or 64; the bit shifted out is a zero.
    let x = normalized(x);
    let odd = x.exponent & 1;
    let (radicand, exponent) = (x.significand >> odd, x.exponent + odd);
    let root = radicand.isqrt();
    let inexact = root * root != radicand;
    Number::Finite(Finite {
        negative: false,
        significand: root | u128::from(inexact),
        exponent: exponent / 2,
    })
}
