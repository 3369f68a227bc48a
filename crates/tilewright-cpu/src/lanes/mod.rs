//! Vectors of one element type, as thin as the processor's own.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
mod dots;
mod floats;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod intrinsics;
#[cfg(target_arch = "aarch64")]
pub mod neon;
#[cfg(target_arch = "x86_64")]
mod ordered;
mod pairs;
pub mod portable;

pub use dots::{DotBy, PlainPairs};
#[cfg(target_arch = "x86_64")]
pub use dots::{FusedPairs, FusedQuads};
#[cfg(target_arch = "aarch64")]
pub use dots::{SignedQuads, UnsignedQuads};
pub use floats::FloatLanes;
pub use pairs::PairLanes;

/// Asks for the cache line at `p`, which will be written. No memory is touched.
#[inline(always)]
pub fn prefetch_to_write<T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: whatever the address. Processors that do not know the instruction do nothing.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_ET0>(p.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

/// Asks for the cache line at `p`, to come as near as the second-level cache: the first has few places for lines that are a multiple of 4 KiB apart. No
/// memory is touched.
#[inline(always)]
pub fn prefetch_to_read<T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: whatever the address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(p.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

/// A vector of `LEN` elements of type `T`.
///
/// Every method must be called where the vector's instruction set is enabled; all are inlined into a
/// function that enables it.
pub trait Lanes: Copy {
    type T: Copy + 'static;
    const LEN: usize;
    /// Whether loops of micro-kernels are unrolled.
    const UNROLLS: bool = true;

    /// # Safety
    /// The instruction set must be available.
    unsafe fn splat(x: Self::T) -> Self;
    /// # Safety
    /// The instruction set must be available, and `LEN` elements readable at `p`; no alignment is needed.
    unsafe fn load(p: *const Self::T) -> Self;
    /// # Safety
    /// The instruction set must be available, and `LEN` elements writable at `p`; no alignment is needed.
    unsafe fn store(self, p: *mut Self::T);
    /// `self + other`; wraps for integers, is the bitwise or for bytes.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn add(self, other: Self) -> Self;
    /// `acc + self * other`; fused for floats, wrapping for integers, or-and for bytes.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn mul_add(self, other: Self, acc: Self) -> Self;
    /// `self * other`; the bitwise and for bytes.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn mul(self, other: Self) -> Self;
    /// `if self < acc { self } else { acc }`: `acc` when `self` is a quiet NaN. Neither may be a signalling NaN,
    /// nor `acc` any NaN. Of two zeros it may be either.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn min(self, acc: Self) -> Self;
    /// `if self > acc { self } else { acc }`, on the same conditions as [`Lanes::min`].
    /// # Safety
    /// The instruction set must be available.
    unsafe fn max(self, acc: Self) -> Self;
    /// `if self > limit { then } else { self }`.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn replace_above(self, limit: Self, then: Self) -> Self;
    /// `if self < limit { then } else { self }`.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn replace_below(self, limit: Self, then: Self) -> Self;
    /// Where `new` is below (`max`: above) `old`, `then`; elsewhere `self`.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn where_better(self, max: bool, new: Self, old: Self, then: Self) -> Self;
    /// Whether some element is below (`max`: above) that of `other`. NaN is neither.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn any_better(self, max: bool, other: Self) -> bool;
    /// Where `a` equals `b`, `then`; elsewhere `self`.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn where_equal(self, a: Self, b: Self, then: Self) -> Self;
    /// A bit for each element that equals that of `other`, the first one lowest. NaN equals nothing.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn equal(self, other: Self) -> u64;
    /// `self + other` where `one` is a vector of ones. Processors that add on fewer ports than they
    /// multiply-add write it `self * one + other`, which rounds the same.
    /// # Safety
    /// The instruction set must be available.
    #[inline(always)]
    unsafe fn add_with(self, other: Self, _one: Self) -> Self {
        // SAFETY: as the caller guarantees.
        unsafe { self.add(other) }
    }
}

/// A vector of bytes that can tell which of them are small.
pub trait Below {
    /// Writes to `to` the numbers of the bytes that are below `limit`, and returns how many they are.
    /// # Safety
    /// The instruction set must be available, and as many numbers writable as there are bytes, and [`crate::prune::SPARE`] more.
    #[inline(always)]
    unsafe fn below(bytes: &[u8], limit: u8, to: *mut u32) -> usize {
        let mut count = 0;
        for (i, &byte) in bytes.iter().enumerate() {
            // SAFETY: as the caller guarantees; no more numbers are written than there are bytes.
            unsafe { to.add(count).write(i as u32) };
            count += usize::from(byte < limit);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;

    /// Every method on every pair of values. Accumulators are none of the last value, which may be NaN.
    fn results<V: Lanes>(values: [V::T; 8]) -> Vec<V::T> {
        let column = |f: fn(usize) -> usize| (0..64).map(|i| values[f(i)]).collect::<Vec<_>>();
        let columns = [column(|i| i / 8), column(|i| i % 8), column(|i| (i / 8 + i) % 8), column(|i| i % 7)];
        let mut out = vec![values[0]; 10 * 64];
        for i in (0..64).step_by(V::LEN) {
            // SAFETY: `LEN` divides 64, and the caller has the instruction set.
            unsafe {
                let [x, y, z, acc] = columns.each_ref().map(|c| V::load(c[i..].as_ptr()));
                let results = [
                    x.add(y),
                    x.mul(y),
                    x.mul_add(y, z),
                    x.min(acc),
                    x.max(acc),
                    x.replace_above(y, z),
                    x.replace_below(y, z),
                    x.where_better(false, y, z, acc),
                    x.where_better(true, y, z, acc),
                    x.where_equal(y, z, acc),
                ];
                for (r, result) in results.into_iter().enumerate() {
                    result.store(out[r * 64 + i..].as_mut_ptr());
                }
            }
        }
        out
    }

    /// Of elements that are all alike but for one, all but that one are equal, if they equal themselves.
    fn finds_the_equal_ones<V: Lanes<T: PartialOrd>>(values: [V::T; 8]) {
        for (x, y) in values.into_iter().flat_map(|x| values.map(|y| (x, y))) {
            for l in 0..V::LEN {
                let mut elements = [y; 64];
                elements[l] = x;
                // SAFETY: the caller has the instruction set, and a vector is no longer than the elements.
                let equal = unsafe { V::load(elements.as_ptr()).equal(V::splat(y)) };
                let expected = (0..V::LEN).fold(0, |bits, i| bits | u64::from(elements[i] == y) << i);
                assert_eq!(equal, expected, "element {l}");
            }
        }
    }

    /// Of elements that are all alike but for one, some are better where that one is.
    fn finds_the_better_one<V: Lanes<T: PartialOrd>>(values: [V::T; 8]) {
        for (x, y) in values.into_iter().flat_map(|x| values.map(|y| (x, y))) {
            for l in 0..V::LEN {
                let mut elements = [y; 64];
                elements[l] = x;
                // SAFETY: the caller has the instruction set, and a vector is no longer than the elements.
                let better = unsafe {
                    let (one, all) = (V::load(elements.as_ptr()), V::splat(y));
                    [false, true].map(|max| one.any_better(max, all))
                };
                assert_eq!(better, [x < y, x > y], "element {l}");
            }
        }
    }

    #[allow(clippy::eq_op)] // NaN is what differs from itself.
    fn check<V: Lanes<T: PartialOrd + core::fmt::Debug>, P: Lanes<T = V::T>>(values: [V::T; 8]) {
        finds_the_better_one::<V>(values);
        finds_the_equal_ones::<V>(values);
        for (i, (x, y)) in results::<V>(values).into_iter().zip(results::<P>(values)).enumerate() {
            assert!(x == y || x != x && y != y, "method {}, pair {}: {x:?}, not {y:?}", i / 64, i % 64);
        }
    }

    macro_rules! check {
        ($isa:ident) => {{
            let floats = [1.0, -2.5, 0.0, -0.0, 3.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
            check::<$isa::F32, portable::F32>(floats);
            check::<$isa::F64, portable::F64>(floats.map(f64::from));
            check::<$isa::I16, portable::I16>([0, 1, -1, 300, -12345, 0x55aa, i16::MAX, i16::MIN]);
            let int = 0x1234_5678;
            check::<$isa::I32, portable::I32>([0, 1, -1, 70_000, int, -int, i32::MAX, i32::MIN]);
            let long = 0x1234_5678_9abc_def0;
            check::<$isa::I64, portable::I64>([0, 1, -1, 5 << 32, long, -long, i64::MAX, i64::MIN]);
            check::<$isa::Bytes, portable::Bytes>([0, 1, 0x7f, 0x80, 0x55, 0xaa, 200, 255]);
        }};
    }

    #[test]
    fn vectors_agree_with_arrays() {
        for isa in Isa::ALL.iter().filter(|isa| isa.is_supported()) {
            match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => check!(avx2),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => check!(avx512),
                #[cfg(target_arch = "aarch64")]
                Isa::Neon => check!(neon),
                _ => {}
            }
        }
    }
}
