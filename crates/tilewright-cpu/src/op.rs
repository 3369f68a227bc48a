//! The semirings on vectors.

#![allow(clippy::undocumented_unsafe_blocks)] // The methods of operations share one reason, which is given once.

use crate::lanes::{DotBy, Lanes};
use core::marker::PhantomData;

/// ⊗ of a semiring whose products are pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Addition: distances are differences from the best element, and that of a term is the sum of those of its operands.
    Sum,
    /// Multiplication, of elements that are not negative: distances are parts of the best element.
    Product,
    /// Selection by the opposite order: distances are the elements themselves, the smaller the better, and a term is as far as the farther of its operands.
    Bottleneck,
}

/// ⊕ and ⊗ on vectors, with the constants that a loop keeps in registers.
pub trait Op<V: Lanes>: Copy {
    /// Terms per turn of the micro-kernel's loop, which spreads the cost of counting.
    const UNROLL: usize = 4;
    /// Whether packed lines begin with what sums begin with: the sum of what the row and the column have.
    const BEGINS: bool = false;
    /// # Safety
    /// The instruction set of `V` must be available, here and in every method.
    unsafe fn new() -> Self;
    /// The identity of ⊕.
    /// # Safety
    /// As [`Op::new`].
    unsafe fn zero(self) -> V;
    /// The element of A at `p` for all columns of a vector, as `mul` and `mul_add` take it.
    /// # Safety
    /// As [`Op::new`], and the element must be readable.
    #[inline(always)]
    unsafe fn spread(self, p: *const V::T) -> V {
        // SAFETY: as the caller guarantees.
        unsafe { V::splat(*p) }
    }
    /// `a ⊗ b`.
    /// # Safety
    /// As [`Op::new`].
    unsafe fn mul(self, a: V, b: V) -> V;
    /// `acc ⊕ term`.
    /// # Safety
    /// As [`Op::new`].
    unsafe fn add(self, acc: V, term: V) -> V;
    /// `acc ⊕ (a ⊗ b)`.
    /// # Safety
    /// As [`Op::new`].
    #[inline(always)]
    unsafe fn mul_add(self, acc: V, a: V, b: V) -> V {
        // SAFETY: as the caller guarantees.
        unsafe { self.add(acc, self.mul(a, b)) }
    }
    /// The partial sum that elements of an old C stand for.
    /// # Safety
    /// As [`Op::new`].
    #[inline(always)]
    unsafe fn resume(self, old: V) -> V {
        // Finishing adds zero to floats, which makes a signalling NaN quiet; see `Lanes::min`.
        // SAFETY: as the caller guarantees.
        unsafe { self.add(self.zero(), self.finish(old)) }
    }
    /// The elements of C that complete sums stand for.
    /// # Safety
    /// As [`Op::new`].
    unsafe fn finish(self, sum: V) -> V;
}

/// An operation whose ⊕ selects, so that one can ask which term it selected.
pub trait SelectOp<V: Lanes>: Op<V> {
    /// Whether the larger value wins.
    const MAX: bool;
    /// What ⊗ is.
    const BY: By;
    /// What the best of some terms, or any, is rounded to where elements hold less than a lane.
    /// # Safety
    /// As [`Op::new`].
    #[inline(always)]
    unsafe fn rounded(self, term: V) -> V {
        term
    }
}

/// The constants that the operations need of an element.
pub trait Scalar: Copy + 'static {
    /// 0, and false.
    const NIL: Self;
    /// 1, and true.
    const ONE: Self;
    /// The largest and smallest values that a matrix can hold: infinities for floats.
    const TOP: Self;
    /// See [`Scalar::TOP`].
    const BOTTOM: Self;
    /// The "absent" that min-plus computes with: it can be added to itself without overflow.
    const INF: Self;
    /// The "absent" that max-plus computes with.
    const NEG_INF: Self;
    /// For integers, what separates finite sums from those with an absent element, for min-plus and for
    /// max-plus. Admitted finite elements are below a quarter of `INF`, so a finite sum is at most half of
    /// it and an absent one at least three quarters.
    const LIMITS: Option<(Self, Self)>;
    /// Whether there are such limits.
    const HAS_LIMITS: bool = Self::LIMITS.is_some();
    /// A small number.
    fn number(number: usize) -> Self;
    /// A small number, or none for 0.
    fn term(self) -> Option<u32>;
}

macro_rules! scalars {
    ($($t:ident, $nil:expr, $one:expr, $top:expr, $bottom:expr, $inf:expr, $limits:expr;)*) => {$(
        impl Scalar for $t {
            const NIL: Self = $nil;
            const ONE: Self = $one;
            const TOP: Self = $top;
            const BOTTOM: Self = $bottom;
            const INF: Self = $inf;
            const NEG_INF: Self = $nil - $inf;
            const LIMITS: Option<(Self, Self)> = $limits;
            #[inline(always)]
            fn number(number: usize) -> Self { number as $t }
            #[inline(always)]
            fn term(self) -> Option<u32> { (self != $nil).then_some(self as u32) }
        }
    )*};
}
scalars! {
    f32, 0.0, 1.0, f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY, None;
    f64, 0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, None;
    i16, 0, 1, i16::MAX, i16::MIN, 0x3fff, Some((0x1fff, -0x1fff));
    i32, 0, 1, i32::MAX, i32::MIN, 0x3fff_ffff, Some((0x1fff_ffff, -0x1fff_ffff));
    i64, 0, 1, i64::MAX, i64::MIN, 1 << 61, Some((1 << 60, -(1 << 60)));
    u8, 0, 1, u8::MAX, 0, 0, None;
}

/// Of several minima or sums of integers in a row the compiler makes a tree, which has more values at a time than there are registers. Integers are the types
/// with limits, and bytes.
const fn unroll<V: Lanes<T: Scalar>>() -> usize {
    if V::T::HAS_LIMITS || size_of::<V::T>() == 1 || !V::UNROLLS { 1 } else { 4 }
}

/// `acc + a b`; on bytes, `acc or (a and b)`.
#[derive(Clone, Copy)]
pub struct Sum<V>(PhantomData<V>);

// SAFETY (all blocks below): the callers of these methods guarantee the instruction set.
impl<V: Lanes<T: Scalar>> Op<V> for Sum<V> {
    const UNROLL: usize = unroll::<V>();
    #[inline(always)]
    unsafe fn new() -> Self {
        Self(PhantomData)
    }
    #[inline(always)]
    unsafe fn zero(self) -> V {
        unsafe { V::splat(V::T::NIL) }
    }
    #[inline(always)]
    unsafe fn mul(self, a: V, b: V) -> V {
        unsafe { a.mul(b) }
    }
    #[inline(always)]
    unsafe fn add(self, acc: V, term: V) -> V {
        unsafe { acc.add(term) }
    }
    #[inline(always)]
    unsafe fn mul_add(self, acc: V, a: V, b: V) -> V {
        unsafe { a.mul_add(b, acc) }
    }
    #[inline(always)]
    unsafe fn resume(self, old: V) -> V {
        old
    }
    #[inline(always)]
    unsafe fn finish(self, sum: V) -> V {
        sum
    }
}

/// `acc + a b`, where each element of a and b holds several terms, and stands for all of them.
#[derive(Clone, Copy)]
pub struct Dot<V, D>(PhantomData<(V, D)>);

impl<V: Lanes<T = i32>, D: DotBy<V>> Op<V> for Dot<V, D> {
    const UNROLL: usize = unroll::<V>();
    const BEGINS: bool = D::BEGINS;
    #[inline(always)]
    unsafe fn new() -> Self {
        Self(PhantomData)
    }
    #[inline(always)]
    unsafe fn zero(self) -> V {
        unsafe { V::splat(0) }
    }
    #[inline(always)]
    unsafe fn spread(self, p: *const i32) -> V {
        unsafe { D::spread(p) }
    }
    #[inline(always)]
    unsafe fn mul(self, a: V, b: V) -> V {
        unsafe { D::dot(a, b, self.zero()) }
    }
    #[inline(always)]
    unsafe fn add(self, acc: V, term: V) -> V {
        unsafe { acc.add(term) }
    }
    #[inline(always)]
    unsafe fn mul_add(self, acc: V, a: V, b: V) -> V {
        unsafe { D::dot(a, b, acc) }
    }
    #[inline(always)]
    unsafe fn resume(self, old: V) -> V {
        old
    }
    #[inline(always)]
    unsafe fn finish(self, sum: V) -> V {
        sum
    }
}

#[inline(always)]
unsafe fn select<V: Lanes, const MAX: bool>(acc: V, term: V) -> V {
    unsafe { if MAX { term.max(acc) } else { term.min(acc) } }
}

/// Zero results are `+0`, whichever zero came first.
#[inline(always)]
unsafe fn canonical<V: Lanes<T: Scalar>>(sum: V) -> V {
    unsafe { sum.add(V::splat(V::T::NIL)) }
}

/// The smaller (`MAX`: larger) of `acc` and `a + b`.
#[derive(Clone, Copy)]
pub struct SelectSum<V, const MAX: bool> {
    one: V,
}

impl<V: Lanes<T: Scalar>, const MAX: bool> Op<V> for SelectSum<V, MAX> {
    const UNROLL: usize = unroll::<V>();
    #[inline(always)]
    unsafe fn new() -> Self {
        // Opaque, because the compiler would turn `a * 1 + b` back into `a + b`; see `Lanes::add_with`.
        Self { one: unsafe { V::splat(core::hint::black_box(V::T::ONE)) } }
    }
    #[inline(always)]
    unsafe fn zero(self) -> V {
        unsafe { V::splat(if MAX { V::T::NEG_INF } else { V::T::INF }) }
    }
    #[inline(always)]
    unsafe fn mul(self, a: V, b: V) -> V {
        unsafe { a.add_with(b, self.one) }
    }
    #[inline(always)]
    unsafe fn add(self, acc: V, term: V) -> V {
        unsafe { select::<V, MAX>(acc, term) }
    }
    #[inline(always)]
    unsafe fn finish(self, sum: V) -> V {
        match V::T::LIMITS {
            None => unsafe { canonical(sum) },
            Some((_, limit)) if MAX => unsafe { sum.replace_below(V::splat(limit), V::splat(V::T::BOTTOM)) },
            Some((limit, _)) => unsafe { sum.replace_above(V::splat(limit), V::splat(V::T::TOP)) },
        }
    }
}

/// The smaller (`MAX`: larger) of `acc` and `a b`, on elements that are not negative.
#[derive(Clone, Copy)]
pub struct SelectProduct<V, const MAX: bool>(PhantomData<V>);

impl<V: Lanes<T: Scalar>, const MAX: bool> Op<V> for SelectProduct<V, MAX> {
    const UNROLL: usize = unroll::<V>();
    #[inline(always)]
    unsafe fn new() -> Self {
        Self(PhantomData)
    }
    #[inline(always)]
    unsafe fn zero(self) -> V {
        unsafe { V::splat(if MAX { V::T::NIL } else { V::T::TOP }) }
    }
    #[inline(always)]
    unsafe fn mul(self, a: V, b: V) -> V {
        unsafe { a.mul(b) }
    }
    #[inline(always)]
    unsafe fn add(self, acc: V, term: V) -> V {
        unsafe { select::<V, MAX>(acc, term) }
    }
    #[inline(always)]
    unsafe fn finish(self, sum: V) -> V {
        unsafe { canonical(sum) }
    }
}

/// The smaller (`MAX`: larger) of `acc` and the larger (`MAX`: smaller) of `a` and `b`. NaN must have been
/// replaced by the identity of ⊕ while packing.
#[derive(Clone, Copy)]
pub struct SelectBottleneck<V, const MAX: bool>(PhantomData<V>);

impl<V: Lanes<T: Scalar>, const MAX: bool> Op<V> for SelectBottleneck<V, MAX> {
    const UNROLL: usize = unroll::<V>();
    #[inline(always)]
    unsafe fn new() -> Self {
        Self(PhantomData)
    }
    #[inline(always)]
    unsafe fn zero(self) -> V {
        unsafe { V::splat(if MAX { V::T::BOTTOM } else { V::T::TOP }) }
    }
    #[inline(always)]
    unsafe fn mul(self, a: V, b: V) -> V {
        unsafe { if MAX { a.min(b) } else { a.max(b) } }
    }
    #[inline(always)]
    unsafe fn add(self, acc: V, term: V) -> V {
        unsafe { select::<V, MAX>(acc, term) }
    }
    #[inline(always)]
    unsafe fn finish(self, sum: V) -> V {
        unsafe { canonical(sum) }
    }
}

impl<V: Lanes<T: Scalar>, const MAX: bool> SelectOp<V> for SelectSum<V, MAX> {
    const MAX: bool = MAX;
    const BY: By = By::Sum;
}

impl<V: Lanes<T: Scalar>, const MAX: bool> SelectOp<V> for SelectProduct<V, MAX> {
    const MAX: bool = MAX;
    const BY: By = By::Product;
}

impl<V: Lanes<T: Scalar>, const MAX: bool> SelectOp<V> for SelectBottleneck<V, MAX> {
    const MAX: bool = MAX;
    const BY: By = By::Bottleneck;
}
