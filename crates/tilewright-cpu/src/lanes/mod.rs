//! Vectors of one element type, as thin as the processor's own.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
#[cfg(target_arch = "aarch64")]
pub mod neon;
pub mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

/// A vector of `LEN` elements of type `T`.
///
/// Every method must be called where the vector's instruction set is enabled; all are inlined into a
/// function that enables it.
pub trait Lanes: Copy {
    type T: Copy + 'static;
    const LEN: usize;

    /// # Safety
    /// The instruction set must be available.
    unsafe fn splat(x: Self::T) -> Self;
    /// # Safety
    /// The instruction set must be available, and `LEN` elements readable at `p`; no alignment is needed.
    unsafe fn load(p: *const Self::T) -> Self;
    /// # Safety
    /// The instruction set must be available, and `LEN` elements writable at `p`; no alignment is needed.
    unsafe fn store(self, p: *mut Self::T);
    /// Asks for the cache line at `p`, which will be written. No memory is touched.
    #[inline(always)]
    fn prefetch_to_write(_p: *const Self::T) {}
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
    /// `if self < acc { self } else { acc }`: `acc` when either is NaN.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn min(self, acc: Self) -> Self;
    /// `if self > acc { self } else { acc }`: `acc` when either is NaN.
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
