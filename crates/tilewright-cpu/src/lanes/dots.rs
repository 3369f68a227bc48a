//! Dot products in vectors of 32 bits: each element holds two terms of 16 bits, or four bytes, and stands for all of them.

use super::{Lanes, portable};

/// An instruction, or two, for dot products in vectors `V`.
pub trait DotBy<V: Lanes<T = i32>>: Copy + 'static {
    /// Whether packed lines begin with what sums begin with.
    const BEGINS: bool = false;
    /// The element at `p` as `dot` takes that of `a`: in every place, or in the first alone.
    /// # Safety
    /// The instruction set must be available, and the element readable.
    #[inline(always)]
    unsafe fn spread(p: *const i32) -> V {
        // SAFETY: as the caller guarantees.
        unsafe { V::splat(*p) }
    }
    /// `acc` and the products of what an element, spread to `a`, and those of `b` hold; sums wrap.
    /// # Safety
    /// The instruction set must be available.
    unsafe fn dot(a: V, b: V, acc: V) -> V;
}

/// Signed numbers of 16 bits, multiplied and added in two instructions.
#[derive(Clone, Copy)]
pub struct PlainPairs;
/// The same in one instruction, with VNNI.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
#[derive(Clone, Copy)]
pub struct FusedPairs;
/// Bytes of `a` without a sign and signed bytes of `b`, in one instruction, with VNNI.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
#[derive(Clone, Copy)]
pub struct FusedQuads;
/// Signed bytes, in one instruction of NEON.
#[cfg_attr(not(target_arch = "aarch64"), allow(dead_code))]
#[derive(Clone, Copy)]
pub struct SignedQuads;
/// Bytes without a sign, in one instruction of NEON.
#[cfg_attr(not(target_arch = "aarch64"), allow(dead_code))]
#[derive(Clone, Copy)]
pub struct UnsignedQuads;

impl DotBy<portable::I32> for PlainPairs {
    #[inline(always)]
    unsafe fn dot(a: portable::I32, b: portable::I32, acc: portable::I32) -> portable::I32 {
        let halves = |pair: i32| [i32::from(pair as i16), pair >> 16];
        portable::Array(portable::each(|i| {
            let ([low, high], [other_low, other_high]) = (halves(a.0[i]), halves(b.0[i]));
            acc.0[i].wrapping_add(low.wrapping_mul(other_low)).wrapping_add(high.wrapping_mul(other_high))
        }))
    }
}

/// Implements [`DotBy`] by instructions.
#[cfg(target_arch = "x86_64")]
macro_rules! dots {
    ($($by:ident $(begins $begins:literal)?: $dot:expr;)*) => {$(
        impl DotBy<I32> for $by {
            $(const BEGINS: bool = $begins;)?
            #[inline(always)]
            unsafe fn dot(a: I32, b: I32, acc: I32) -> I32 {
                // SAFETY: as the caller guarantees.
                I32(unsafe { $dot(acc.0, a.0, b.0) })
            }
        }
    )*};
}
#[cfg(target_arch = "x86_64")]
pub(super) use dots;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{isa::Isa, lanes};

    /// Dot products of halves from all quarters of the range, and of those whose products overflow together.
    #[inline(always)]
    fn results<V: Lanes<T = i32>, D: DotBy<V>>() -> Vec<i32> {
        let numbers = [0_i16, 1, -1, 255, -300, i16::MAX, i16::MIN, i16::MIN + 1];
        let half = |i: usize| i32::from(numbers[i % 8] as u16);
        let values: Vec<i32> = (0..64).map(|i| half(i) | half(i / 8) << 16).collect();
        let mut out = vec![0; 64 * 64];
        for (x, &other) in values.iter().enumerate() {
            for i in (0..64).step_by(V::LEN) {
                // SAFETY: `LEN` divides 64, and the caller has the instructions.
                unsafe {
                    let (y, acc) = (V::load(values[i..].as_ptr()), V::splat(other.rotate_left(5)));
                    D::dot(D::spread(&other), y, acc).store(out[x * 64 + i..].as_mut_ptr());
                }
            }
        }
        out
    }

    /// The same of four bytes, with a sign or without, by the definition.
    #[derive(Clone, Copy)]
    struct PlainQuads<const SIGNED_A: bool, const SIGNED_B: bool>;
    impl<const SIGNED_A: bool, const SIGNED_B: bool> DotBy<portable::I32> for PlainQuads<SIGNED_A, SIGNED_B> {
        unsafe fn dot(a: portable::I32, b: portable::I32, acc: portable::I32) -> portable::I32 {
            let byte = |x: i32, at: usize, signed: bool| match x.to_le_bytes()[at] {
                byte if signed => i32::from(byte as i8),
                byte => i32::from(byte),
            };
            portable::Array(core::array::from_fn(|i| {
                let term = |at| byte(a.0[i], at, SIGNED_A) * byte(b.0[i], at, SIGNED_B);
                (0..4).fold(acc.0[i], |sum, at| sum.wrapping_add(term(at)))
            }))
        }
    }

    #[inline(always)]
    fn agree<V: Lanes<T = i32>, D: DotBy<V>, Definition: DotBy<portable::I32>>(isa: Isa) {
        assert!(results::<V, D>() == results::<portable::I32, Definition>(), "{isa}");
    }

    /// The compiler takes assembly only where its instructions are enabled.
    #[cfg(target_arch = "aarch64")]
    #[target_feature(enable = "neon,dotprod")]
    fn quads_of_neon_agree(isa: Isa) {
        agree::<lanes::neon::I32, SignedQuads, PlainQuads<true, true>>(isa);
        agree::<lanes::neon::I32, UnsignedQuads, PlainQuads<false, false>>(isa);
    }

    #[test]
    fn vectors_agree_with_arrays() {
        for &isa in Isa::ALL.iter().filter(|isa| isa.is_supported()) {
            match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => {
                    agree::<lanes::avx2::I32, PlainPairs, PlainPairs>(isa);
                    if isa.has_vnni() {
                        agree::<lanes::avx2::I32, FusedPairs, PlainPairs>(isa);
                        agree::<lanes::avx2::I32, FusedQuads, PlainQuads<false, true>>(isa);
                    }
                }
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => {
                    agree::<lanes::avx512::I32, PlainPairs, PlainPairs>(isa);
                    if isa.has_vnni() {
                        agree::<lanes::avx512::I32, FusedPairs, PlainPairs>(isa);
                        agree::<lanes::avx512::I32, FusedQuads, PlainQuads<false, true>>(isa);
                    }
                }
                #[cfg(target_arch = "aarch64")]
                // SAFETY: the instructions are there.
                Isa::Neon if isa.has_dotprod() => unsafe { quads_of_neon_agree(isa) },
                _ => {}
            }
        }
    }
}
