//! Dot products of pairs: vectors of 32 bits whose halves are two terms of a sum.

use super::{Lanes, portable};

/// A vector of pairs of 16-bit numbers, or of sums of their products.
pub trait DotLanes: Lanes<T = i32> {
    /// `acc + low low' + high high'` of the halves of `self` and `other`, which are signed; sums wrap.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn dot(self, other: Self, acc: Self) -> Self;
}

impl DotLanes for portable::I32 {
    #[inline(always)]
    unsafe fn dot(self, other: Self, acc: Self) -> Self {
        let halves = |pair: i32| [i32::from(pair as i16), pair >> 16];
        Self(core::array::from_fn(|i| {
            let ([low, high], [other_low, other_high]) = (halves(self.0[i]), halves(other.0[i]));
            acc.0[i].wrapping_add(low.wrapping_mul(other_low)).wrapping_add(high.wrapping_mul(other_high))
        }))
    }
}

/// Implements [`DotLanes`] by the instruction that multiplies halves and adds the two products.
#[cfg(target_arch = "x86_64")]
macro_rules! dots {
    ($madd:expr, $add:expr) => {
        impl DotLanes for I32 {
            #[inline(always)]
            unsafe fn dot(self, other: Self, acc: Self) -> Self {
                // SAFETY: as the caller guarantees.
                Self(unsafe { $add(acc.0, $madd(self.0, other.0)) })
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use dots;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{isa::Isa, lanes};

    /// Dot products of halves from all quarters of the range, and of those whose products overflow together.
    fn results<V: DotLanes>() -> Vec<i32> {
        let numbers = [0_i16, 1, -1, 255, -300, i16::MAX, i16::MIN, i16::MIN + 1];
        let half = |i: usize| i32::from(numbers[i % 8] as u16);
        let values: Vec<i32> = (0..64).map(|i| half(i) | half(i / 8) << 16).collect();
        let mut out = vec![0; 64 * 64];
        for (x, &other) in values.iter().enumerate() {
            for i in (0..64).step_by(V::LEN) {
                // SAFETY: `LEN` divides 64, and the caller has the instruction set.
                unsafe {
                    let (y, acc) = (V::load(values[i..].as_ptr()), V::splat(other.rotate_left(5)));
                    V::splat(other).dot(y, acc).store(out[x * 64 + i..].as_mut_ptr());
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
                Isa::Avx2 => results::<lanes::avx2::I32>(),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => results::<lanes::avx512::I32>(),
                _ => continue,
            };
            assert!(found == results::<portable::I32>(), "{isa}");
        }
    }
}
