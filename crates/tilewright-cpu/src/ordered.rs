//! Max-min and min-max on floats by minima and maxima of integers: floats are ordered while they are packed, and sums made floats when they are complete.

use crate::{
    lanes::avx2::F32,
    op::{Op, SelectBottleneck},
    pack::{Load, NoNan},
};

/// NaN becomes the identity of ⊕, as by [`NoNan`], and floats are ordered.
pub struct Ordered<const MAX: bool>;

impl<const MAX: bool> Load<f32, f32> for Ordered<MAX> {
    const IDENTITY: bool = false;
    #[inline(always)]
    fn load(x: f32) -> f32 {
        let bits = NoNan::<MAX>::load(x).to_bits();
        f32::from_bits(bits ^ (bits.cast_signed() >> 31).cast_unsigned() >> 1)
    }
}

/// As [`SelectBottleneck`], on ordered floats.
#[derive(Clone, Copy)]
pub struct SelectOrdered<const MAX: bool>(SelectBottleneck<F32, MAX>);

#[allow(clippy::undocumented_unsafe_blocks)] // The callers of these methods guarantee the instruction set.
impl<const MAX: bool> Op<F32> for SelectOrdered<MAX> {
    // As for integers.
    const UNROLL: usize = 1;
    #[inline(always)]
    unsafe fn new() -> Self {
        Self(unsafe { SelectBottleneck::new() })
    }
    #[inline(always)]
    unsafe fn zero(self) -> F32 {
        unsafe { self.0.zero().reordered() }
    }
    #[inline(always)]
    unsafe fn mul(self, a: F32, b: F32) -> F32 {
        unsafe { if MAX { a.ordered_min(b) } else { a.ordered_max(b) } }
    }
    #[inline(always)]
    unsafe fn add(self, acc: F32, term: F32) -> F32 {
        unsafe { if MAX { term.ordered_max(acc) } else { term.ordered_min(acc) } }
    }
    #[inline(always)]
    unsafe fn resume(self, old: F32) -> F32 {
        unsafe { self.0.resume(old).reordered() }
    }
    #[inline(always)]
    unsafe fn finish(self, sum: F32) -> F32 {
        unsafe { self.0.finish(sum.reordered()) }
    }
}
