//! Vectors of small numbers: two terms of a sum (pairs of 16 bits) or four (quads of 8 bits) in each element of 32 bits.

/// A vector of `LEN` elements of small numbers. Every method must be called where the vector's instruction set is enabled.
pub trait SmallLanes: Copy {
    /// Elements in a vector.
    const LEN: usize;

    /// # Safety
    /// The instruction set must be available.
    unsafe fn splat(numbers: u32) -> Self;
    /// # Safety
    /// The instruction set must be available, and `LEN` elements readable at `p`; no alignment is needed.
    unsafe fn load(p: *const u32) -> Self;
    /// # Safety
    /// The instruction set must be available, and `LEN` elements writable at `p`; no alignment is needed.
    unsafe fn store(self, p: *mut u32);
    /// The sums of numbers; those that they cannot hold wrap.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn add(self, other: Self) -> Self;
    /// The smaller of unsigned numbers.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn min(self, other: Self) -> Self;
}

/// The smallest sums of each of `groups` groups of `steps` steps, of `MR` rows and `NV` vectors of columns, row by row to `sums`:
/// the micro-kernel of small numbers. A step is an element of each row of `a`, side by side, and of each column of `b`.
///
/// # Safety
/// The instruction set must be available, all steps readable, and the sums of all groups writable.
#[allow(clippy::needless_range_loop)] // Rows and vectors of a tile count in several places at once.
#[inline(always)]
pub unsafe fn least_sums<V: SmallLanes, const MR: usize, const NV: usize>(
    groups: usize,
    steps: usize,
    mut a: *const u32,
    mut b: *const u32,
    mut sums: *mut u32,
) {
    // SAFETY: as the caller guarantees.
    unsafe {
        for _ in 0..groups {
            let mut acc = [[V::splat(u32::MAX); NV]; MR];
            for _ in 0..steps {
                let mut row = [V::splat(0); NV];
                for j in 0..NV {
                    row[j] = V::load(b.add(j * V::LEN));
                }
                for i in 0..MR {
                    let x = V::splat(*a.add(i));
                    for j in 0..NV {
                        acc[i][j] = acc[i][j].min(x.add(row[j]));
                    }
                }
                (a, b) = (a.add(MR), b.add(NV * V::LEN));
            }
            for i in 0..MR {
                for j in 0..NV {
                    acc[i][j].store(sums);
                    sums = sums.add(V::LEN);
                }
            }
        }
    }
}

/// Defines a vector of small numbers by intrinsics. `$v` is the register.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
macro_rules! small {
    ($name:ident, $v:ty, $len:literal, $splat:expr, $load:expr, $store:expr, $add:expr, $min:expr) => {
        #[derive(Clone, Copy)]
        pub struct $name($v);
        // SAFETY (all blocks): the caller guarantees the instruction set, and the memory where one is named.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl SmallLanes for $name {
            const LEN: usize = $len;
            #[inline(always)]
            unsafe fn splat(numbers: u32) -> Self {
                Self(unsafe { $splat(numbers) })
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
pub(super) use small;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{isa::Isa, lanes};

    /// Sums and minima of numbers from all quarters of the range, of 8 and of 16 bits.
    fn results<V: SmallLanes>() -> Vec<u32> {
        let numbers = [0_u16, 1, 0x3f7f, 0x4080, 0x7fff, 0x8000, 0xfffe, 0xffff];
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
            let [pairs, quads] = match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => [results::<lanes::avx2::Pairs>(), results::<lanes::avx2::Quads>()],
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => [results::<lanes::avx512::Pairs>(), results::<lanes::avx512::Quads>()],
                #[cfg(target_arch = "aarch64")]
                Isa::Neon => [results::<lanes::neon::Pairs>(), results::<lanes::neon::Quads>()],
                _ => continue,
            };
            assert!(pairs == results::<lanes::portable::Pairs>(), "{isa}");
            assert!(quads == results::<lanes::portable::Quads>(), "{isa}");
        }
    }
}
