//! Floats as integers in the same order: minima of integers take less time than those of floats on some processors.

use super::avx2;
use core::arch::x86_64::*;

/// Floats are *ordered* when they are written so that their bits, as signed integers, have the order of the floats. -0 comes before +0. NaN has no place.
// SAFETY (all blocks): the caller guarantees the instruction set.
#[allow(clippy::undocumented_unsafe_blocks)]
impl avx2::F32 {
    /// Orders floats, and makes floats of ordered ones: flips all bits but the first where that one is set.
    /// # Safety
    /// The instruction set must be available.
    #[inline(always)]
    pub unsafe fn reordered(self) -> Self {
        unsafe {
            let bits = _mm256_castps_si256(self.0);
            let others = _mm256_srli_epi32::<1>(_mm256_srai_epi32::<31>(bits));
            Self(_mm256_castsi256_ps(_mm256_xor_si256(bits, others)))
        }
    }

    /// The smaller of ordered floats.
    /// # Safety
    /// The instruction set must be available.
    #[inline(always)]
    pub unsafe fn ordered_min(self, other: Self) -> Self {
        unsafe {
            let [a, b] = [_mm256_castps_si256(self.0), _mm256_castps_si256(other.0)];
            Self(_mm256_castsi256_ps(_mm256_min_epi32(a, b)))
        }
    }

    /// The larger of ordered floats.
    /// # Safety
    /// The instruction set must be available.
    #[inline(always)]
    pub unsafe fn ordered_max(self, other: Self) -> Self {
        unsafe {
            let [a, b] = [_mm256_castps_si256(self.0), _mm256_castps_si256(other.0)];
            Self(_mm256_castsi256_ps(_mm256_max_epi32(a, b)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{isa::Isa, lanes::Lanes};

    /// In order, and a vector of them.
    const FLOATS: [f32; 8] = [f32::NEG_INFINITY, f32::MIN, -1.0, -1e-40, -0.0, 0.0, 1e-40, f32::INFINITY];

    /// What `f` makes of a vector whose elements are all `x`, and of [`FLOATS`].
    fn of(x: f32, f: unsafe fn(avx2::F32, avx2::F32) -> avx2::F32) -> [f32; 8] {
        let mut to = [0.0; 8];
        // SAFETY: the caller has the instruction set, and arrays are as long as vectors.
        unsafe { f(avx2::F32::splat(x), avx2::F32::load(FLOATS.as_ptr())).store(to.as_mut_ptr()) };
        to
    }

    #[test]
    #[allow(clippy::undocumented_unsafe_blocks)] // It returns where the instruction set is not there.
    fn ordered_floats_have_the_order_of_floats() {
        if !Isa::Avx2.is_supported() {
            return;
        }
        let ordered = of(0.0, |_, y| unsafe { y.reordered() }).map(|x| x.to_bits().cast_signed());
        assert!(ordered.is_sorted_by(|x, y| x < y), "{ordered:x?}");
        for (i, x) in FLOATS.into_iter().enumerate() {
            let smaller = of(x, |x, y| unsafe { x.reordered().ordered_min(y.reordered()).reordered() });
            let larger = of(x, |x, y| unsafe { x.reordered().ordered_max(y.reordered()).reordered() });
            for (j, result) in smaller.into_iter().zip(larger).enumerate() {
                let expected = (FLOATS[i.min(j)], FLOATS[i.max(j)]);
                assert_eq!(result.0.to_bits(), expected.0.to_bits(), "{x} and {}", FLOATS[j]);
                assert_eq!(result.1.to_bits(), expected.1.to_bits(), "{x} and {}", FLOATS[j]);
            }
        }
    }
}
