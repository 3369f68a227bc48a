//! Dot products in vectors of 32 bits: each element holds two terms of 16 bits, or four bytes, and stands for all of them.

use super::portable;

/// An instruction, or two, for dot products in vectors `V`.
pub trait DotBy<V>: Copy + 'static {
    /// Whether packed lines begin with what sums begin with.
    const BEGINS: bool = false;
    /// `acc` and the products of what elements of `a` and `b` hold; sums wrap.
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

impl DotBy<portable::I32> for PlainPairs {
    #[inline(always)]
    unsafe fn dot(a: portable::I32, b: portable::I32, acc: portable::I32) -> portable::I32 {
        let halves = |pair: i32| [i32::from(pair as i16), pair >> 16];
        portable::Array(core::array::from_fn(|i| {
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
    use crate::{
        isa::Isa,
        lanes::{self, Lanes},
    };

    /// Dot products of halves from all quarters of the range, and of those whose products overflow together.
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
                    D::dot(V::splat(other), y, acc).store(out[x * 64 + i..].as_mut_ptr());
                }
            }
        }
        out
    }

    /// The same of four bytes, by the definition.
    #[derive(Clone, Copy)]
    struct PlainQuads;
    impl DotBy<portable::I32> for PlainQuads {
        unsafe fn dot(a: portable::I32, b: portable::I32, acc: portable::I32) -> portable::I32 {
            let term = |a: i32, b: i32, at: usize| {
                i32::from(a.to_le_bytes()[at]) * i32::from(b.to_le_bytes()[at] as i8)
            };
            portable::Array(core::array::from_fn(|i| {
                (0..4).fold(acc.0[i], |sum, at| sum.wrapping_add(term(a.0[i], b.0[i], at)))
            }))
        }
    }

    #[test]
    fn vectors_agree_with_arrays() {
        let (pairs, quads) = (results::<portable::I32, PlainPairs>(), results::<portable::I32, PlainQuads>());
        for isa in Isa::ALL.iter().filter(|isa| isa.is_supported()) {
            match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => {
                    assert!(results::<lanes::avx2::I32, PlainPairs>() == pairs, "{isa}");
                    if isa.has_vnni() {
                        assert!(results::<lanes::avx2::I32, FusedPairs>() == pairs, "{isa}");
                        assert!(results::<lanes::avx2::I32, FusedQuads>() == quads, "{isa}");
                    }
                }
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => {
                    assert!(results::<lanes::avx512::I32, PlainPairs>() == pairs, "{isa}");
                    if isa.has_vnni() {
                        assert!(results::<lanes::avx512::I32, FusedPairs>() == pairs, "{isa}");
                        assert!(results::<lanes::avx512::I32, FusedQuads>() == quads, "{isa}");
                    }
                }
                _ => {}
            }
        }
    }
}
