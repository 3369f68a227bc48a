//! Vectors of pairs of 16-bit numbers: two terms of a sum in each element of 32 bits.

/// A vector of `LEN` pairs. Every method must be called where the vector's instruction set is enabled.
pub trait PairLanes: Copy {
    /// Pairs in a vector.
    const LEN: usize;

    /// # Safety
    /// The instruction set must be available.
    unsafe fn splat(pair: u32) -> Self;
    /// # Safety
    /// The instruction set must be available, and `LEN` pairs readable at `p`; no alignment is needed.
    unsafe fn load(p: *const u32) -> Self;
    /// # Safety
    /// The instruction set must be available, and `LEN` pairs writable at `p`; no alignment is needed.
    unsafe fn store(self, p: *mut u32);
    /// The sums of numbers; those beyond 16 bits wrap.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn add(self, other: Self) -> Self;
    /// The smaller of unsigned numbers.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn min(self, other: Self) -> Self;
}

/// Defines `Pairs` by intrinsics. `$v` is the register.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
macro_rules! pairs {
    ($v:ty, $len:literal, $splat:expr, $load:expr, $store:expr, $add:expr, $min:expr) => {
        #[derive(Clone, Copy)]
        pub struct Pairs($v);
        // SAFETY (all blocks): the caller guarantees the instruction set, and the memory where one is named.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl PairLanes for Pairs {
            const LEN: usize = $len;
            #[inline(always)]
            unsafe fn splat(pair: u32) -> Self {
                Self(unsafe { $splat(pair) })
            }
            #[inline(always)]
            unsafe fn load(p: *const u32) -> Self {
                Self(unsafe { $load(p.cast()) })
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut u32) {
                unsafe { $store(p.cast(), self.0) }
            }
            #[inline(always)]
            unsafe fn add(self, o: Self) -> Self {
                Self(unsafe { $add(self.0, o.0) })
            }
            #[inline(always)]
            unsafe fn min(self, o: Self) -> Self {
                Self(unsafe { $min(self.0, o.0) })
            }
        }
    };
}
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
pub(super) use pairs;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{isa::Isa, lanes};

    /// Sums and minima of pairs from all quarters of the range.
    fn results<V: PairLanes>() -> Vec<u32> {
        let numbers = [0_u16, 1, 0x3fff, 0x4000, 0x7fff, 0x8000, 0xfffe, 0xffff];
        let pair = |i: usize| u32::from(numbers[i % 8]) | u32::from(numbers[(i / 8 + i) % 8]) << 16;
        let values: Vec<u32> = (0..64).map(pair).collect();
        let mut out = vec![0; 64 * 64 * 2];
        for (x, &other) in values.iter().enumerate() {
            for i in (0..64).step_by(V::LEN) {
                // SAFETY: `LEN` divides 64, and the caller has the instruction set.
                unsafe {
                    let (x_at, y) = (x * 128 + i, V::load(values[i..].as_ptr()));
                    V::splat(other).add(y).store(out[x_at..].as_mut_ptr());
                    V::splat(other).min(y).store(out[x_at + 64..].as_mut_ptr());
                }
            }
        }
        out
    }

    #[test]
    fn vectors_agree_with_arrays() {
        for isa in Isa::ALL.iter().filter(|isa| isa.is_supported()) {
            let found = match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => results::<lanes::avx2::Pairs>(),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => results::<lanes::avx512::Pairs>(),
                #[cfg(target_arch = "aarch64")]
                Isa::Neon => results::<lanes::neon::Pairs>(),
                _ => continue,
            };
            assert!(found == results::<lanes::portable::Pairs>(), "{isa}");
        }
    }
}
