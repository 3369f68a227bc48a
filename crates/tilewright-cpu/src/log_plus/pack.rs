//! Packs operands as exponentials: each element less the largest of its line.

use super::real::{Loops, Real, run};
use crate::{
    isa::Isa,
    pack::{self, Lines, PackFn, Same, Strips},
};
use core::slice::from_raw_parts_mut;

/// The [`PackFn`] of an instruction set.
pub fn packing<T: Real>(isa: Isa) -> PackFn<T, T> {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::<T>,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::<T>,
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => neon::<T>,
        _ => portable::<T>,
    }
}

macro_rules! packings {
    ($($isa:ident $variant:ident $(on $arch:literal)?;)*) => {$(
        /// # Safety
        /// As [`PackFn`], with the largest element of every line in [`Lines::best`].
        $(#[cfg(target_arch = $arch)])?
        unsafe fn $isa<T: Real>(s: &Lines<T>, strips: Strips, to: *mut T) {
            // SAFETY: as the caller guarantees.
            unsafe {
                pack::$isa::<T, T, Same>(s, strips, to);
                exponentials(s, strips, to, Isa::$variant);
            }
        }
    )*};
}
packings! {
    portable Portable;
    avx2 Avx2 on "x86_64";
    avx512 Avx512 on "x86_64";
    neon Neon on "aarch64";
}

/// Replaces packed elements by their exponentials.
///
/// # Safety
/// The lines must have been packed to `to`, and the instruction set be available.
unsafe fn exponentials<T: Real>(s: &Lines<T>, strips: Strips, to: *mut T, isa: Isa) {
    for first in (0..s.count).step_by(strips.width) {
        let count = strips.width.min(s.count - first);
        let padded = count.next_multiple_of(strips.unit);
        let mut pattern = [T::NIL; PATTERN];
        // SAFETY: the strip was packed, and every line has a largest element.
        let strip = unsafe {
            for (i, shift) in pattern.iter_mut().enumerate() {
                let best = *s.best.add(first + (i % padded).min(count - 1));
                *shift = if best == T::BOTTOM { T::NIL } else { best };
            }
            from_raw_parts_mut(to.add(first * s.k), padded * s.k)
        };
        let terms = (PATTERN / padded).max(1);
        run(Strip { elements: strip, shifts: &pattern[..terms * padded] }, isa);
    }
}

/// Elements of the widest strip, and of several terms of a narrow one, so that loops over them are long.
const PATTERN: usize = 256;

/// A strip: what is subtracted repeats.
struct Strip<'a, T> {
    elements: &'a mut [T],
    shifts: &'a [T],
}

impl<T: Real> Loops for Strip<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for terms in self.elements.chunks_mut(self.shifts.len()) {
            for (x, &shift) in terms.iter_mut().zip(self.shifts) {
                let (distance, lost) = x.two_sum(T::NIL.minus(shift));
                *x = T::exponential::<FUSED>(distance, lost);
            }
        }
    }
}
