//! Integers, single bits and `f64`.

use super::TensorProduct;
use crate::ptx_isa::{MatrixArithmetic, Overflow, Type};

/// The rows of A and of B whose product is an element.
fn rows<'a, T>(
    product: &TensorProduct,
    a: &'a [T],
    b: &'a [T],
    row: usize,
    column: usize,
) -> (&'a [T], &'a [T]) {
    let k = product.k;
    (&a[row * k..][..k], &b[column * k..][..k])
}

/// Exact; the sum wraps, or is clamped once.
pub fn integers(product: &TensorProduct, a: &[u64], b: &[u64], c: &[u64]) -> Vec<u64> {
    let decode = |ty: Type, words: &[u64]| -> Vec<i32> {
        let unused = 64 - ty.bits();
        let value = |&word: &u64| match ty.is_signed() {
            true => ((word << unused) as i64 >> unused) as i32,
            false => (word << unused >> unused) as i32,
        };
        words.iter().map(value).collect()
    };
    let (a, b) = (decode(product.a, a), decode(product.b, b));
    product.each(c, |row, column, c| {
        let (a, b) = rows(product, &a, &b, row, column);
        let sum = a.iter().zip(b).map(|(a, b)| a * b).sum::<i32>();
        let sum = i64::from(c as i32) + i64::from(sum);
        let sum = match product.overflow {
            Overflow::Wrap => sum,
            Overflow::Saturate => sum.clamp(i32::MIN.into(), i32::MAX.into()),
        };
        u64::from(sum as u32)
    })
}

/// The number of ones among the exclusive or, or the conjunction, of a row and a column; the sum wraps.
pub fn bits(product: &TensorProduct, a: &[u64], b: &[u64], c: &[u64]) -> Vec<u64> {
    let is_xor = product.arithmetic == MatrixArithmetic::XorPopc;
    product.each(c, |row, column, c| {
        let (a, b) = rows(product, a, b, row, column);
        let ones = a.iter().zip(b).map(|(a, b)| if is_xor { a ^ b } else { a & b } & 1);
        u64::from((c as u32).wrapping_add(ones.sum::<u64>() as u32))
    })
}

/// Fused multiply-adds, one after the other in the order of k.
pub fn doubles(product: &TensorProduct, a: &[u64], b: &[u64], c: &[u64]) -> Vec<u64> {
    product.each(c, |row, column, c| {
        let (a, b) = rows(product, a, b, row, column);
        a.iter().zip(b).fold(c, |sum, (&a, &b)| multiply_add(a, b, sum))
    })
}

/// `a b + c`. A NaN keeps the payload of b, else of c, else of a; one that arises is negative.
fn multiply_add(a: u64, b: u64, c: u64) -> u64 {
    const QUIET: u64 = 1 << 51;
    const ARISEN: u64 = 0xfff8 << 48;
    if let Some(nan) = [b, c, a].into_iter().find(|&word| f64::from_bits(word).is_nan()) {
        return nan | QUIET;
    }
    let sum = f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c));
    if sum.is_nan() { ARISEN } else { sum.to_bits() }
}
