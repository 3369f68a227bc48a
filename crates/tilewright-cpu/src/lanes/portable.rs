//! Vectors as small arrays, for processors without a path of their own.

use super::{Below, Lanes, PairLanes};

/// Eight elements in an array; the compiler makes of it what the target has.
#[derive(Clone, Copy)]
pub struct Array<T>(pub(super) [T; LEN]);

pub(super) const LEN: usize = 8;

pub type F32 = Array<f32>;
pub type F64 = Array<f64>;
pub type I16 = Array<i16>;
pub type I32 = Array<i32>;
pub type I64 = Array<i64>;
pub type Bytes = Array<u8>;

macro_rules! array {
    ($($t:ty, $add:expr, $mul:expr, $mul_add:expr;)*) => {$(
        // SAFETY (all blocks): the caller guarantees the memory; no instruction set is needed.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl Lanes for Array<$t> {
            type T = $t;
            const LEN: usize = LEN;
            // Few processors take this path, and unrolled it would be a tenth of the library.
            const UNROLLS: bool = false;
            #[inline(always)]
            unsafe fn splat(x: $t) -> Self { Self([x; LEN]) }
            #[inline(always)]
            unsafe fn load(p: *const $t) -> Self { Self(unsafe { p.cast::<[$t; LEN]>().read_unaligned() }) }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t) { unsafe { p.cast::<[$t; LEN]>().write_unaligned(self.0) } }
            #[inline(always)]
            unsafe fn add(self, o: Self) -> Self { self.zip(o, $add) }
            #[inline(always)]
            unsafe fn mul(self, o: Self) -> Self { self.zip(o, $mul) }
            #[inline(always)]
            unsafe fn mul_add(self, o: Self, acc: Self) -> Self {
                Self(each(|i| $mul_add(self.0[i], o.0[i], acc.0[i])))
            }
            #[inline(always)]
            unsafe fn min(self, acc: Self) -> Self { self.zip(acc, |x, c| if x < c { x } else { c }) }
            #[inline(always)]
            unsafe fn max(self, acc: Self) -> Self { self.zip(acc, |x, c| if x > c { x } else { c }) }
            #[inline(always)]
            unsafe fn replace_above(self, limit: Self, then: Self) -> Self {
                Self(each(|i| if self.0[i] > limit.0[i] { then.0[i] } else { self.0[i] }))
            }
            #[inline(always)]
            unsafe fn replace_below(self, limit: Self, then: Self) -> Self {
                Self(each(|i| if self.0[i] < limit.0[i] { then.0[i] } else { self.0[i] }))
            }
            #[inline(always)]
            unsafe fn where_better(self, max: bool, new: Self, old: Self, then: Self) -> Self {
                let better = |i: usize| if max { new.0[i] > old.0[i] } else { new.0[i] < old.0[i] };
                Self(each(|i| if better(i) { then.0[i] } else { self.0[i] }))
            }
            #[inline(always)]
            unsafe fn any_better(self, max: bool, o: Self) -> bool {
                (0..LEN).fold(false, |any, i| any | if max { self.0[i] > o.0[i] } else { self.0[i] < o.0[i] })
            }
            #[inline(always)]
            unsafe fn where_equal(self, a: Self, b: Self, then: Self) -> Self {
                Self(each(|i| if a.0[i] == b.0[i] { then.0[i] } else { self.0[i] }))
            }
            #[inline(always)]
            unsafe fn equal(self, o: Self) -> u64 {
                (0..LEN).fold(0, |bits, i| bits | u64::from(self.0[i] == o.0[i]) << i)
            }
        }
    )*};
}

/// `element` of every number, by a loop: `core::array::from_fn` and `map` call a function for each of them.
#[inline(always)]
pub(super) fn each<T: Copy + Default, const N: usize>(element: impl Fn(usize) -> T) -> [T; N] {
    let mut elements = [T::default(); N];
    for (i, to) in elements.iter_mut().enumerate() {
        *to = element(i);
    }
    elements
}

impl<T: Copy + Default> Array<T> {
    #[inline(always)]
    fn zip(self, o: Self, f: impl Fn(T, T) -> T) -> Self {
        Self(each(|i| f(self.0[i], o.0[i])))
    }
}

// Without a fused instruction `f32::mul_add` calls a library routine, so this path multiplies and adds;
// the error bound of plus-times covers both.
array! {
    f32, |x, y| x + y, |x, y| x * y, |x: f32, y: f32, c: f32| x * y + c;
    f64, |x, y| x + y, |x, y| x * y, |x: f64, y: f64, c: f64| x * y + c;
    i16, i16::wrapping_add, i16::wrapping_mul, |x: i16, y: i16, c: i16| x.wrapping_mul(y).wrapping_add(c);
    i32, i32::wrapping_add, i32::wrapping_mul, |x: i32, y: i32, c: i32| x.wrapping_mul(y).wrapping_add(c);
    i64, i64::wrapping_add, i64::wrapping_mul, |x: i64, y: i64, c: i64| x.wrapping_mul(y).wrapping_add(c);
    u8, |x, y| x | y, |x, y| x & y, |x: u8, y: u8, c: u8| (x & y) | c;
}

impl Below for Bytes {}

/// Eight pairs in an array.
#[derive(Clone, Copy)]
pub struct Pairs([[u16; 2]; LEN]);

impl Pairs {
    #[inline(always)]
    fn zip(self, o: Self, f: impl Fn(u16, u16) -> u16) -> Self {
        Self(each(|i| [f(self.0[i][0], o.0[i][0]), f(self.0[i][1], o.0[i][1])]))
    }
}

// SAFETY (all blocks): the caller guarantees the memory; no instruction set is needed.
#[allow(clippy::undocumented_unsafe_blocks)]
impl PairLanes for Pairs {
    const LEN: usize = LEN;
    #[inline(always)]
    unsafe fn splat(pair: u32) -> Self {
        Self([[pair as u16, (pair >> 16) as u16]; LEN])
    }
    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        let pairs = unsafe { p.cast::<[u32; LEN]>().read_unaligned() };
        Self(each(|i| [pairs[i] as u16, (pairs[i] >> 16) as u16]))
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u32) {
        let pair = |[low, high]: [u16; 2]| u32::from(low) | u32::from(high) << 16;
        unsafe { p.cast::<[u32; LEN]>().write_unaligned(each(|i| pair(self.0[i]))) }
    }
    #[inline(always)]
    unsafe fn add(self, o: Self) -> Self {
        self.zip(o, u16::wrapping_add)
    }
    #[inline(always)]
    unsafe fn min(self, o: Self) -> Self {
        self.zip(o, u16::min)
    }
}
