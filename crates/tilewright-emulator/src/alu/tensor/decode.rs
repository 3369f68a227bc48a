//! Elements as tensor cores see them: subnormal numbers are not normalised.

use crate::alu::float::{Format, Specials};
use crate::ptx_isa::Type;

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Finite,
    Infinite,
    Nan,
}

/// `significand 2^(exponent - fraction bits)`, or an infinity with the sign of its significand.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    pub significand: i32,
    pub exponent: i32,
    pub class: Class,
}

/// The exponent of a zero: below that of any product.
pub const NOTHING: i32 = -10_000;

/// The format of an element, and the bits of its register below it that are dropped.
pub fn format(ty: Type) -> (Format, u32) {
    match ty {
        Type::F16 => (Format::F16, 0),
        Type::Bf16 => (Format::BF16, 0),
        Type::Tf32 => (Format::TF32, 13),
        Type::E4m3 => (Format::E4M3, 0),
        Type::E5m2 => (Format::E5M2, 0),
        _ => (Format::F32, 0),
    }
}

/// The exponent of the smallest normal number.
pub fn min_exponent(format: Format) -> i32 {
    2 - (1 << (format.exponent_bits - 1))
}

pub fn term(ty: Type, word: u64) -> Term {
    let (format, dropped) = format(ty);
    let bits = word as u32 >> dropped;
    let fraction_bits = format.fraction_bits;
    let fraction = bits & ((1 << fraction_bits) - 1);
    let largest = (1 << format.exponent_bits) - 1;
    let biased = bits >> fraction_bits & largest;
    let is_negative = bits >> (fraction_bits + format.exponent_bits) & 1 == 1;
    let class = match format.specials {
        Specials::InfinityAndNan if biased == largest && fraction == 0 => Class::Infinite,
        Specials::InfinityAndNan if biased == largest => Class::Nan,
        Specials::Nan if bits as u64 & format.nan() == format.nan() => Class::Nan,
        _ => Class::Finite,
    };
    let magnitude = if biased == 0 { fraction } else { fraction | 1 << fraction_bits } as i32;
    Term {
        significand: if is_negative { -magnitude } else { magnitude },
        exponent: if magnitude == 0 { NOTHING } else { biased.max(1) as i32 - 1 + min_exponent(format) },
        class,
    }
}

/// A matrix of elements, row by row.
pub struct Terms {
    pub fraction_bits: u32,
    pub significands: Vec<i32>,
    pub exponents: Vec<i32>,
    pub classes: Vec<Class>,
    /// Whether all are finite.
    pub finite: bool,
}

impl Terms {
    pub fn new(ty: Type, words: &[u64]) -> Self {
        let mut terms = Self {
            fraction_bits: format(ty).0.fraction_bits,
            significands: Vec::with_capacity(words.len()),
            exponents: Vec::with_capacity(words.len()),
            classes: Vec::with_capacity(words.len()),
            finite: true,
        };
        for &word in words {
            let term = term(ty, word);
            terms.significands.push(term.significand);
            terms.exponents.push(term.exponent);
            terms.classes.push(term.class);
            terms.finite &= term.class == Class::Finite;
        }
        terms
    }
}
