//! Sums of halves with winners: terms in f32, rounded as their elements are.

use crate::{
    lanes::Lanes,
    op::{By, Op, SelectOp, SelectSum},
};
use core::marker::PhantomData;
use half::{bf16, f16};

/// How f32 are rounded, ties to even, and widened again.
pub trait RoundTo: Copy {
    fn round(x: f32) -> f32;
}

/// The bits of a number that is not NaN, rounded so that the last `DROPPED` are zero. Beyond the largest number lies infinity.
#[inline(always)]
fn without<const DROPPED: u32>(bits: u32) -> u32 {
    let half = (1 << (DROPPED - 1)) - 1 + (bits >> DROPPED & 1);
    (bits + half) & !((1 << DROPPED) - 1)
}

impl RoundTo for bf16 {
    #[inline(always)]
    fn round(x: f32) -> f32 {
        let rounded = f32::from_bits(without::<16>(x.to_bits() & 0x7fff_ffff)).copysign(x);
        if x.is_nan() { x } else { rounded }
    }
}

impl RoundTo for f16 {
    /// Free of branches, so that it becomes vectors.
    #[inline(always)]
    fn round(x: f32) -> f32 {
        /// The least number with a full fraction, and the largest number.
        const NORMAL: f32 = 6.103_515_6e-5;
        const LARGEST: f32 = 65_504.0;
        let magnitude = x.abs();
        let normal = f32::from_bits(without::<13>(magnitude.to_bits() & 0x7fff_ffff));
        // The last digit of numbers from 1/2 to 1 is that of subnormal halves.
        let subnormal = (magnitude + 0.5) - 0.5;
        let rounded = if magnitude < NORMAL { subnormal } else { normal };
        let bounded = if rounded > LARGEST { f32::INFINITY } else { rounded };
        if x.is_nan() { x } else { bounded.copysign(x) }
    }
}

/// As [`SelectSum`], among sums that are rounded to `H`.
#[derive(Clone, Copy)]
pub struct SelectRoundedSum<V, H, const MAX: bool> {
    exact: SelectSum<V, MAX>,
    to: PhantomData<H>,
}

pub type SelectF16Sum<V, const MAX: bool> = SelectRoundedSum<V, f16, MAX>;
pub type SelectBf16Sum<V, const MAX: bool> = SelectRoundedSum<V, bf16, MAX>;

#[allow(clippy::undocumented_unsafe_blocks)] // The callers of these methods guarantee the instruction set.
impl<V: Lanes<T = f32>, H: RoundTo, const MAX: bool> Op<V> for SelectRoundedSum<V, H, MAX> {
    const UNROLL: usize = <SelectSum<V, MAX> as Op<V>>::UNROLL;
    #[inline(always)]
    unsafe fn new() -> Self {
        Self { exact: unsafe { SelectSum::new() }, to: PhantomData }
    }
    #[inline(always)]
    unsafe fn zero(self) -> V {
        unsafe { self.exact.zero() }
    }
    #[inline(always)]
    unsafe fn mul(self, a: V, b: V) -> V {
        unsafe { self.exact.mul(a, b) }
    }
    #[inline(always)]
    unsafe fn add(self, acc: V, term: V) -> V {
        unsafe { self.exact.add(acc, term) }
    }
    #[inline(always)]
    unsafe fn finish(self, sum: V) -> V {
        unsafe { self.exact.finish(sum) }
    }
}

impl<V: Lanes<T = f32>, H: RoundTo, const MAX: bool> SelectOp<V> for SelectRoundedSum<V, H, MAX> {
    const MAX: bool = MAX;
    const BY: By = By::Sum;
    #[inline(always)]
    unsafe fn rounded(self, term: V) -> V {
        /// Elements of the longest vector.
        const LONGEST: usize = 16;
        const { assert!(V::LEN <= LONGEST) };
        let mut elements = [0.0; LONGEST];
        // SAFETY: the caller has the instruction set, and a vector fits the elements.
        unsafe {
            term.store(elements.as_mut_ptr());
            for x in &mut elements[..V::LEN] {
                *x = H::round(*x);
            }
            V::load(elements.as_ptr())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All sums of two f16 lie between or on halves; so do these, and those between bf16.
    #[test]
    fn rounds_as_conversion_does() {
        for bits in 0..=u16::MAX {
            let around = [f16::from_bits(bits).to_f32(), bf16::from_bits(bits).to_f32()];
            let ties = around.map(|x| f32::from_bits(x.to_bits() ^ 0x1000));
            for x in
                around.into_iter().chain(ties).chain(around.map(|x| f32::from_bits(x.to_bits() ^ 0x8000)))
            {
                for x in [x, x.next_up(), x.next_down()] {
                    let [half, brief] = [f16::from_f32(x).to_f32(), bf16::from_f32(x).to_f32()];
                    let [to_half, to_brief] = [<f16 as RoundTo>::round(x), <bf16 as RoundTo>::round(x)];
                    assert!(to_half.to_bits() == half.to_bits() || x.is_nan() && to_half.is_nan(), "{x:e}");
                    assert!(
                        to_brief.to_bits() == brief.to_bits() || x.is_nan() && to_brief.is_nan(),
                        "{x:e}"
                    );
                }
            }
        }
    }
}
