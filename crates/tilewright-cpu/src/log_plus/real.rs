//! Exponentials and logarithms of floats, without a branch, so that loops of them become vector instructions.

use crate::{
    isa::Isa,
    lanes::{self, FloatLanes},
    op::Scalar,
};
use tilewright_core::semiring::Logarithm;

/// What is computed for many elements, in loops that the compiler turns into vector instructions.
pub trait Loops {
    type Output;
    /// Always inlined, and free of closures in its hot paths, so that a caller's instruction set applies. `FUSED` tells that it
    /// multiplies and adds in one instruction.
    fn run<const FUSED: bool>(self) -> Self::Output;
}

/// Runs loops on an instruction set that was checked to be supported when it was chosen.
pub fn run<L: Loops>(loops: L, isa: Isa) -> L::Output {
    match isa {
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { avx512(loops) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { avx2(loops) },
        // NEON is part of every AArch64 target.
        _ => loops.run::<{ cfg!(target_arch = "aarch64") }>(),
    }
}

/// # Safety
/// On a processor with AVX-512 F, BW, DQ and VL.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
unsafe fn avx512<L: Loops>(loops: L) -> L::Output {
    loops.run::<true>()
}

/// # Safety
/// On a processor with AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<L: Loops>(loops: L) -> L::Output {
    loops.run::<true>()
}

/// A float with an exponential and a logarithm.
pub trait Real: Logarithm + Scalar {
    /// Vectors of every instruction set.
    #[cfg(target_arch = "x86_64")]
    type Avx512: FloatLanes<T = Self>;
    #[cfg(target_arch = "x86_64")]
    type Avx2: FloatLanes<T = Self>;
    #[cfg(target_arch = "aarch64")]
    type Neon: FloatLanes<T = Self>;
    type Portable: FloatLanes<T = Self>;
    const NAN: Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn magnitude(self) -> Self;
    /// `self * other + more`, in one instruction where `FUSED`.
    fn times_plus<const FUSED: bool>(self, other: Self, more: Self) -> Self;
    /// `exp(x + low)`, where `x` is at most 0 and `low` less than a unit roundoff of it: within two unit roundoffs. It is 0 where that is
    /// below the smallest normal number, and for NaN.
    fn exponential<const FUSED: bool>(x: Self, low: Self) -> Self;
    /// `log x` of a normal number, as a number of logarithms of two and the rest, which is within two unit roundoffs of 1.
    fn logarithm<const FUSED: bool>(x: Self) -> (Self, Self);
    /// The logarithm of two, in a part whose products with exponents are exact, and the rest; and its inverse.
    const LN_2: [Self; 2];
    const LOG2_E: Self;
    /// Exponentials of this and below are not normal numbers.
    const LOWEST: Self;
    /// The smallest normal number.
    const TINY: Self;
    /// Adding it leaves the nearest whole number in the last digits.
    const ROUND: Self;
    /// `1/2!`, `1/3!` and so on, the last first.
    const EXP: &[Self];
    /// `1/3`, `1/5` and so on, the last first.
    const LOG: &[Self];

    /// The sum and its rounding error.
    #[inline(always)]
    fn two_sum(self, other: Self) -> (Self, Self) {
        let sum = self.plus(other);
        let part = sum.minus(self);
        (sum, self.minus(sum.minus(part)).plus(other.minus(part)))
    }

    /// `a + b + log s`, rounded nearly once; not finite where `a + b` is not. `s` is normal.
    #[inline(always)]
    fn scaled_log<const FUSED: bool>(a: Self, b: Self, s: Self) -> Self {
        let (exponent, rest) = Self::logarithm::<FUSED>(s);
        let (sum, lost) = a.two_sum(b);
        let (sum, lost_again) = sum.two_sum(exponent.times(Self::LN_2[0]));
        let small = exponent.times(Self::LN_2[1]).plus(rest);
        sum.plus(lost.plus(lost_again).plus(small))
    }

    /// `log(exp x + exp y)`, with the infinities and NaN of [`tilewright_core::semiring::log_add_exp`].
    #[inline(always)]
    fn log_add_exp<const FUSED: bool>(x: Self, y: Self) -> Self {
        let distance = Self::NIL.minus(x.minus(y).magnitude());
        let added = Self::exponential::<FUSED>(distance, Self::NIL);
        let sum = Self::ONE.plus(added);
        // What was lost of a small addend.
        let lost = added.minus(sum.minus(Self::ONE));
        let larger = if x > y { x } else { y };
        let (exponent, rest) = Self::logarithm::<FUSED>(sum);
        let log = exponent.times(Self::LN_2[0]).plus(exponent.times(Self::LN_2[1]).plus(rest).plus(lost));
        if x == y {
            x.plus(Self::LN_2[0].plus(Self::LN_2[1]))
        } else if distance <= Self::NIL {
            larger.plus(log)
        } else {
            Self::NAN
        }
    }
}

macro_rules! reals {
    ($($t:ident, $lanes:ident, $bits:ident, $digits:literal, $bias:literal, $low:literal, $ln_2:expr,
        exp [$e0:literal $($e:literal)*], log [$l0:literal $($l:literal)*];)*) => {$(
        impl Real for $t {
            #[cfg(target_arch = "x86_64")]
            type Avx512 = lanes::avx512::$lanes;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = lanes::avx2::$lanes;
            #[cfg(target_arch = "aarch64")]
            type Neon = lanes::neon::$lanes;
            type Portable = lanes::portable::$lanes;
            const NAN: Self = $t::NAN;
            const LN_2: [Self; 2] = $ln_2;
            const LOG2_E: Self = core::$t::consts::LOG2_E;
            const LOWEST: Self = $low;
            const TINY: Self = $t::MIN_POSITIVE;
            const ROUND: Self = (3u64 << ($digits - 1)) as $t;
            const EXP: &[Self] = &[1.0 / $e0 $(, 1.0 / $e)*];
            const LOG: &[Self] = &[1.0 / $l0 $(, 1.0 / $l)*];

            #[inline(always)]
            fn plus(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn magnitude(self) -> Self { self.abs() }
            #[inline(always)]
            fn times_plus<const FUSED: bool>(self, other: Self, more: Self) -> Self {
                if FUSED { self.mul_add(other, more) } else { self * other + more }
            }
            #[inline(always)]
            fn exponential<const FUSED: bool>(x: Self, low: Self) -> Self {
                let inside = x > Self::LOWEST;
                let y = if inside { x } else { 0.0 };
                let rounded = y.times_plus::<FUSED>(Self::LOG2_E, Self::ROUND);
                let n = rounded - Self::ROUND;
                let r = (-n).times_plus::<FUSED>(Self::LN_2[0], y);
                let r = (-n).times_plus::<FUSED>(Self::LN_2[1], r) + low;
                // 1 + r + r^2 (1/2! + r/3! + ...), from the last factorial on.
                let p: $t = 1.0 / $e0;
                $(let p = p.times_plus::<FUSED>(r, 1.0 / $e);)*
                let exp = 1.0 + (r * r).times_plus::<FUSED>(p, r);
                let power = $t::from_bits((rounded.to_bits() << $digits).wrapping_add($bias << $digits));
                if inside { exp * power } else { 0.0 }
            }

            #[inline(always)]
            fn logarithm<const FUSED: bool>(x: Self) -> (Self, Self) {
                const ROOT: $bits = core::$t::consts::FRAC_1_SQRT_2.to_bits();
                // x = 2^exponent m with m between the root of 1/2 and that of 2.
                let bits = x.to_bits();
                let exponent = bits.wrapping_add((1.0 as $t).to_bits() - ROOT) >> $digits;
                let m = $t::from_bits(bits.wrapping_sub(exponent << $digits).wrapping_add($bias << $digits));
                let exponent = $t::from_bits(Self::ROUND.to_bits().wrapping_add(exponent)) - (Self::ROUND + $bias as $t);
                // log m = 2 (z + z^3/3 + z^5/5 + ...)
                let f = m - 1.0;
                let z = f / (2.0 + f);
                let (double, square) = (z + z, z * z);
                let p: $t = 1.0 / $l0;
                $(let p = p.times_plus::<FUSED>(square, 1.0 / $l);)*
                (exponent, (double * square).times_plus::<FUSED>(p, double))
            }
        }
    )*};
}
reals! {
    f32, F32, u32, 23, 127, -87.336_54, [0.693_359_4, -2.121_944_4e-4],
        exp [5040.0 720.0 120.0 24.0 6.0 2.0], log [9.0 7.0 5.0 3.0];
    f64, F64, u64, 52, 1023, -708.396_418_532_264, [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10],
        exp [6_227_020_800.0 479_001_600.0 39_916_800.0 3_628_800.0 362_880.0 40_320.0 5040.0 720.0 120.0 24.0 6.0 2.0],
        log [21.0 19.0 17.0 15.0 13.0 11.0 9.0 7.0 5.0 3.0];
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error of `found` in unit roundoffs of `right`.
    fn roundoffs<T: Real>(found: T, right: f64) -> f64 {
        let found: f64 = found.into();
        if found == right { 0.0 } else { (found - right).abs() / right.abs() / T::UNIT_ROUNDOFF }
    }

    /// `f` of every 97th f32 between two of one sign.
    fn each(from: f32, to: f32, mut f: impl FnMut(f32)) {
        let (from, to) = (from.to_bits(), to.to_bits());
        (from.min(to)..=from.max(to)).step_by(97).for_each(|bits| f(f32::from_bits(bits)));
    }

    fn exponentials_of_f32<const FUSED: bool>() {
        let mut worst = 0f64;
        each(-1e-8, -87.336_5, |x| {
            worst = worst.max(roundoffs(f32::exponential::<FUSED>(x, 0.0), f64::from(x).exp()));
            let low = x * 5e-8;
            let right = (f64::from(x) + f64::from(low)).exp();
            worst = worst.max(roundoffs(f32::exponential::<FUSED>(x, low), right));
        });
        assert!(worst < 2.0, "{worst} unit roundoffs");
        for (x, right) in [(0.0, 1.0), (-0.0, 1.0), (-88.0, 0.0), (f32::NEG_INFINITY, 0.0), (f32::NAN, 0.0)] {
            assert_eq!(f32::exponential::<FUSED>(x, 0.0), right);
        }
    }

    fn logarithms_of_f32<const FUSED: bool>() {
        let mut worst = 0f64;
        each(f32::MIN_POSITIVE, 1e30, |x| {
            let (exponent, rest) = f32::logarithm::<FUSED>(x);
            let right = f64::from(x).ln() - f64::from(exponent) * core::f64::consts::LN_2;
            assert!(right.abs() < 0.35 && exponent == exponent.trunc(), "{x}");
            worst = worst.max((f64::from(rest) - right).abs() / f32::UNIT_ROUNDOFF);
        });
        assert!(worst < 2.0, "{worst} unit roundoffs");
    }

    /// Against the standard library, which is itself only nearly right.
    fn functions_of_f64<const FUSED: bool>() {
        let (mut exp, mut log) = (0f64, 0f64);
        for i in 0..200_000 {
            let x = f64::from(i) * -0.003_541_7;
            exp = exp.max(roundoffs(f64::exponential::<FUSED>(x, 0.0), x.exp()));
            let x = 1.5f64.powi(i % 3000 - 1500) * (1.0 + f64::from(i) * 1e-6);
            let (exponent, rest) = f64::logarithm::<FUSED>(x);
            let [high, low] = f64::LN_2;
            log = log.max((x.ln() - exponent * high - exponent * low - rest).abs() / x.ln().abs().max(1.0));
        }
        assert!(exp < 3.0 && log < 3.0 * f64::UNIT_ROUNDOFF, "{exp} {log}");
    }

    fn sums_of_two<T: Real + core::fmt::Debug, const FUSED: bool>() {
        let values = [-1e30, -700.0, -80.0, -3.5, -0.0, 0.0, 1e-3, 1.0, 2.5, 88.0, 1e30];
        let values = values.into_iter().chain([f64::INFINITY, f64::NEG_INFINITY, f64::NAN]).map(T::nearest);
        for (x, y) in values.clone().flat_map(|x| values.clone().map(move |y| (x, y))) {
            let found: f64 = T::log_add_exp::<FUSED>(x, y).into();
            let right = tilewright_core::semiring::log_add_exp(x.into(), y.into());
            let close = (found - right).abs() <= T::UNIT_ROUNDOFF * (4.0 + 2.0 * right.abs());
            assert!(close || found == right || found.is_nan() && right.is_nan(), "{x:?} {y:?}: {found}");
        }
    }

    #[test]
    fn functions_keep_their_bounds() {
        exponentials_of_f32::<true>();
        exponentials_of_f32::<false>();
        logarithms_of_f32::<true>();
        logarithms_of_f32::<false>();
        functions_of_f64::<true>();
        functions_of_f64::<false>();
        sums_of_two::<f32, true>();
        sums_of_two::<f32, false>();
        sums_of_two::<f64, true>();
        sums_of_two::<f64, false>();
    }
}
