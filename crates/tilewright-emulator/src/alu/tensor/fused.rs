//! Sums of groups of floating-point products.
//!
//! In a group the exponent of a product is the sum of the exponents of its factors, and is not normalised. Each term, C among them, is
//! truncated to so many places below the largest exponent; the terms are then added exactly.

use super::{
    TensorProduct,
    decode::{Class, Term, Terms, term},
    generation::{FLOOR, Rule},
    pack::pack,
};
use crate::alu::Half;
use crate::alu::float::{Format, Number, Rounding};
use crate::ptx_isa::Type;

/// D, group after group.
pub fn floats(product: &TensorProduct, rule: Rule, a: &[u64], b: &[u64], c: &[u64]) -> Vec<u64> {
    let (k, d) = (product.k, product.d);
    let a_terms = Terms::new(product.a, a);
    let b_terms = Terms::new(product.b, b);
    let group = (8 * rule.group_bytes / product.a.bits() as usize).min(k);
    product.each(c, |row, column, c| {
        let mut sum = (product.c, c);
        for first in (0..k).step_by(group) {
            let a = Part::new(&a_terms, row * k + first, group);
            let b = Part::new(&b_terms, column * k + first, group);
            sum = (d, fused(a, b, sum, d, rule));
        }
        sum.1
    })
}

/// FP8 where there is no instruction for it: as f16, first the elements of k with k mod 4 in {0, 1}, from zero; then the others, onto that;
/// then C, by an addition of its own.
pub fn widened(product: &TensorProduct, rule: Rule, a: &[u64], b: &[u64], c: &[u64]) -> Vec<u64> {
    let (k, d) = (product.k, product.d);
    let half = TensorProduct { k: k / 2, a: Type::F16, b: Type::F16, c: d, ..*product };
    let part = |ty, words: &[u64], second: bool| -> Vec<u64> {
        let chosen = words.iter().enumerate().filter(|(index, _)| (index % k % 4 >= 2) == second);
        chosen.map(|(_, &word)| to_f16(ty, word)).collect()
    };
    let mut sums = vec![0; c.len()];
    for second in [false, true] {
        sums = floats(&half, rule, &part(product.a, a, second), &part(product.b, b, second), &sums);
    }
    sums.iter().zip(c).map(|(&sum, &c)| add(sum, d, c, product.c)).collect()
}

/// An FP8 element as f16, which holds all of them.
fn to_f16(ty: Type, word: u64) -> u64 {
    let format = if ty == Type::E4m3 { Format::E4M3 } else { Format::E5M2 };
    match ty {
        // The same exponents: the fraction has zeros behind it.
        Type::E5m2 => (word & 0xff) << 8,
        _ => Format::F16.round(format.unpack(word & 0xff), Rounding::NearestEven),
    }
}

/// The sum of two results, rounded to nearest even.
fn add(sum: u64, d: Type, c: u64, c_type: Type) -> u64 {
    let value = |ty, word: u64| match ty {
        Type::F16 => Half::F16.widen(word as u16),
        _ => f32::from_bits(word as u32),
    };
    let (x, y) = (value(d, sum), value(c_type, c));
    match d {
        Type::F16 => Half::F16.narrow(f64::from(x) + f64::from(y)).into(),
        _ if (x + y).is_nan() => Format::F32.nan(),
        _ => (x + y).to_bits().into(),
    }
}

/// Some terms of a row.
#[derive(Clone, Copy)]
struct Part<'a> {
    fraction_bits: u32,
    significands: &'a [i32],
    exponents: &'a [i32],
    classes: &'a [Class],
    finite: bool,
}

impl<'a> Part<'a> {
    fn new(terms: &'a Terms, first: usize, length: usize) -> Self {
        Self {
            fraction_bits: terms.fraction_bits,
            significands: &terms.significands[first..first + length],
            exponents: &terms.exponents[first..first + length],
            classes: &terms.classes[first..first + length],
            finite: terms.finite,
        }
    }
}

/// The sum of the products of one group and C.
fn fused(a: Part<'_>, b: Part<'_>, (c_type, c): (Type, u64), d: Type, rule: Rule) -> u64 {
    let c = term(c_type, c);
    if !(a.finite && b.finite && c.class == Class::Finite)
        && let Some(special) = special(a, b, c)
    {
        return special.bits(d);
    }
    let exponents = || a.exponents.iter().zip(b.exponents).map(|(a, b)| a + b);
    let top = exponents().fold(c.exponent.max(FLOOR), i32::max);
    // All products keep `kept` places at the largest exponent, and lose what is shifted out below.
    let places = rule.kept - (a.fraction_bits + b.fraction_bits);
    let products = a.significands.iter().zip(b.significands).map(|(a, b)| a * b);
    let sum: i64 = products
        .zip(exponents())
        .map(|(product, exponent)| {
            let kept = product.unsigned_abs() << places >> (top - exponent).min(31);
            if product < 0 { -i64::from(kept) } else { i64::from(kept) }
        })
        .sum();
    let c_bits = if c_type == Type::F16 { Format::F16.fraction_bits } else { Format::F32.fraction_bits };
    let c_places = u64::from(c.significand.unsigned_abs()) << rule.kept >> c_bits;
    let c_kept = (c_places >> (top - c.exponent).min(63)) as i64;
    pack(sum + if c.significand < 0 { -c_kept } else { c_kept }, top - rule.kept as i32, d, rule.fraction)
}

/// A result that is no finite number.
enum Special {
    Nan,
    Infinite { negative: bool },
}

impl Special {
    fn bits(&self, d: Type) -> u64 {
        let format = if d == Type::F16 { Format::F16 } else { Format::F32 };
        let number = match *self {
            Special::Nan => return format.nan(),
            Special::Infinite { negative } => Number::Infinite { negative },
        };
        format.round(number, Rounding::NearestEven)
    }
}

/// NaN and infinity, by the operands alone: finite products are never infinite.
fn special(a: Part<'_>, b: Part<'_>, c: Term) -> Option<Special> {
    // Whether there is an infinity of each sign: positive, negative.
    let mut infinite = [false; 2];
    let mut note = |negative: bool| infinite[usize::from(negative)] = true;
    if c.class == Class::Nan {
        return Some(Special::Nan);
    }
    if c.class == Class::Infinite {
        note(c.significand < 0);
    }
    for (index, (&x, &y)) in a.significands.iter().zip(b.significands).enumerate() {
        match (a.classes[index], b.classes[index]) {
            (Class::Nan, _) | (_, Class::Nan) => return Some(Special::Nan),
            (Class::Finite, Class::Finite) => {}
            (Class::Finite, _) if x == 0 => return Some(Special::Nan),
            (_, Class::Finite) if y == 0 => return Some(Special::Nan),
            _ => note((x < 0) != (y < 0)),
        }
    }
    match infinite {
        [true, true] => Some(Special::Nan),
        [false, false] => None,
        [_, negative] => Some(Special::Infinite { negative }),
    }
}
