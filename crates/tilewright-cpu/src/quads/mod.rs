//! Filtered products: packing four terms of a line to a quad, and the micro-kernel; see [`crate::filter`].

mod pack;
mod refine;
#[cfg(test)]
mod tests;

use crate::{
    filter::{BLOCK, RUN, Rough},
    kernel::Packing,
    lanes::{self, Across, SmallLanes},
    pack::{Lines, Load, Strips},
    tile::Tile,
};
use core::mem::MaybeUninit;

/// Terms in a quad.
const TERMS: usize = 4;
/// Terms in a group of quads: a run for each place in them.
const GROUP: usize = TERMS * RUN;
/// Groups of a block.
const GROUPS: usize = BLOCK / GROUP;
/// Lines of the widest strip.
const WIDEST: usize = 32;
/// Quads of the largest tile.
const LARGEST: usize = 12 * 32;

/// A strip has the quads of its lines, those of a step side by side, and then the lines as they are, each filled up with its
/// last term. Of a group, tiles read the quads over and over and write about as many minima, and read one run of each line: a
/// quarter of the lines in the second-level cache was measured to be enough, and fewer blocks pack A less often.
pub const fn packing<P>() -> Packing {
    Packing {
        group: GROUP,
        len: RUN + GROUP * size_of::<P>() / size_of::<u32>(),
        near: [2 * GROUP, GROUP + GROUP * size_of::<P>() / 4],
    }
}

/// The functions of one instruction set. The smallest rough sums of each group, a quad for its four places, do not depend on the
/// type of C, and are compiled once for all.
macro_rules! with_features {
    ($isa:ident, $bytes:literal, $avx2:literal $(, $arch:literal, $features:literal)?) => {
        $(#[cfg(target_arch = $arch)])?
        pub mod $isa {
            use super::*;

            /// # Safety
            /// As [`crate::pack::PackFn`], on a processor with these features.
            $(#[target_feature(enable = $features)])?
            pub unsafe fn pack<E: Copy, V: Across<T: Rough>, L: Load<E, V::T>, const MAX: bool>(
                s: &Lines<E>,
                strips: Strips,
                to: *mut u32,
            ) {
                // SAFETY: as the caller guarantees.
                unsafe { super::pack::pack::<E, V, L, MAX, $avx2>(s, strips, to) }
            }

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            unsafe fn minima<V: SmallLanes, const MR: usize, const NV: usize>(
                groups: usize,
                a: *const u32,
                b: *const u32,
                to: *mut u32,
            ) {
                // SAFETY: as the caller guarantees.
                unsafe { lanes::least_sums::<V, MR, NV>(groups, RUN, a, b, to) }
            }

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            unsafe fn refine<V: Across<T: Rough>, const MAX: bool>(
                minima: *const u32,
                size: [usize; 2],
                a: *const V::T,
                b: *const V::T,
                t: &Tile<u32, V::T>,
            ) {
                // SAFETY: as the caller guarantees.
                unsafe { super::refine::refine::<V, MAX, $bytes>(minima, size, a, b, t) }
            }

            /// # Safety
            /// As [`crate::tile::TileFn`], on a processor with these features, for packed operands.
            pub unsafe fn tile<Q, V, const MAX: bool, const MR: usize, const NV: usize>(t: &Tile<u32, V::T>)
            where
                Q: SmallLanes,
                V: Across<T: Rough>,
            {
                const { assert!(MR * NV * Q::LEN <= LARGEST && MR <= WIDEST && NV * Q::LEN <= WIDEST) };
                const { assert!((NV * Q::LEN).is_multiple_of($bytes / TERMS) && Q::LEN.is_multiple_of(V::LEN)) };
                let mut buffer = MaybeUninit::<[u32; GROUPS * LARGEST]>::uninit();
                let buffer = buffer.as_mut_ptr().cast::<u32>();
                let (groups, cols) = (t.k.div_ceil(GROUP), NV * Q::LEN);
                // SAFETY: as the caller guarantees; the buffer holds all minima of a tile, and the lines follow the quads.
                unsafe {
                    minima::<Q, MR, NV>(groups, t.a, t.b, buffer);
                    let (a, b) = (t.a.add(groups * RUN * MR), t.b.add(groups * RUN * cols));
                    refine::<V, MAX>(buffer, [MR, cols], a.cast(), b.cast(), t);
                }
            }
        }
    };
}
with_features!(avx512, 64, true, "x86_64", "avx512f,avx512bw,avx512dq,avx512vl,fma");
with_features!(avx2, 32, true, "x86_64", "avx2,fma");
with_features!(neon, 16, false, "aarch64", "neon");
with_features!(portable, 32, false);
