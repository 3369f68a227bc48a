//! Max-min and min-max on floats by minima and maxima of integers: floats are ordered while they are packed, and sums made floats when they are complete.

use crate::{
    lanes::OrderedLanes,
    op::{Op, Scalar, SelectBottleneck},
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
pub struct SelectOrdered<V, const MAX: bool>(SelectBottleneck<V, MAX>);

#[allow(clippy::undocumented_unsafe_blocks)] // The callers of these methods guarantee the instruction set.
impl<V: OrderedLanes<T: Scalar>, const MAX: bool> Op<V> for SelectOrdered<V, MAX> {
    // As for integers.
    const UNROLL: usize = 1;
    #[inline(always)]
    unsafe fn new() -> Self {
        Self(unsafe { SelectBottleneck::new() })
    }
    #[inline(always)]
    unsafe fn zero(self) -> V {
        unsafe { self.0.zero().flipped() }
    }
    #[inline(always)]
    unsafe fn mul(self, a: V, b: V) -> V {
        unsafe { if MAX { a.ordered_min(b) } else { a.ordered_max(b) } }
    }
    #[inline(always)]
    unsafe fn add(self, acc: V, term: V) -> V {
        unsafe { if MAX { term.ordered_max(acc) } else { term.ordered_min(acc) } }
    }
    #[inline(always)]
    unsafe fn resume(self, old: V) -> V {
        unsafe { self.0.resume(old).flipped() }
    }
    #[inline(always)]
    unsafe fn finish(self, sum: V) -> V {
        unsafe { self.0.finish(sum.flipped()) }
    }
}
