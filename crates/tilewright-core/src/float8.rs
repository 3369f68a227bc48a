//! Floats of 8 bits, as tensor cores take them: the formats of "FP8 Formats for Deep Learning" (Micikevicius and others, 2022).

use core::{cmp::Ordering, fmt, ops::Neg};

/// A format: a sign, an exponent and `$digits` digits after the point, in a byte. `$top` is the first code, without its sign, that is no finite number.
macro_rules! float8 {
    ($(#[$doc:meta])* $name:ident, digits $digits:literal, bias $bias:literal, top $top:literal, nan $nan:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(0);
            /// One.
            pub const ONE: Self = Self($bias << $digits);
            /// Not a number.
            pub const NAN: Self = Self($nan);
            /// The largest finite number.
            pub const MAX: Self = Self($top - 1);
            /// The smallest positive number, which is subnormal.
            pub const TINY: Self = Self(1);

            /// The number with these bits.
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }
            /// Its bits: sign, exponent, digits.
            pub const fn to_bits(self) -> u8 {
                self.0
            }
            /// The bits as a file or a device holds them.
            pub const fn to_le_bytes(self) -> [u8; 1] {
                [self.0]
            }
            /// The number with the bits of a file or a device.
            pub const fn from_le_bytes(bytes: [u8; 1]) -> Self {
                Self(bytes[0])
            }
            /// False for NaN and infinities.
            pub const fn is_finite(self) -> bool {
                self.0 & 0x7f < $top
            }
            /// True for NaN.
            pub const fn is_nan(self) -> bool {
                // The code of infinity, where there is one, comes before those of NaN.
                self.0 & 0x7f >= $top + Self::HAS_INFINITY as u8
            }
            /// The same number as f32, which holds all of them.
            #[inline(always)]
            pub fn to_f32(self) -> f32 {
                // Exponent and digits in their place, times the difference of the biases, which normalises subnormals as well. Without a branch, so that loops over it
                // are vectors.
                let magnitude = u32::from(self.0 & 0x7f);
                let scaled = f32::from_bits(magnitude << (23 - $digits)) * f32::from_bits((254 - $bias) << 23);
                let special = match magnitude {
                    $top if Self::HAS_INFINITY => f32::INFINITY.to_bits(),
                    $top.. => f32::NAN.to_bits(),
                    _ => scaled.to_bits(),
                };
                f32::from_bits(special | u32::from(self.0 & 0x80) << 24)
            }
            /// The nearest number, of two the one with an even last bit; what is rounded beyond [`MAX`](Self::MAX) is infinity, or NaN where there is none.
            pub fn from_f32(x: f32) -> Self {
                const LEAST: i32 = 1 - $bias;
                let sign = (x.to_bits() >> 24) as u8 & 0x80;
                if x.is_nan() {
                    return Self(sign | $nan);
                }
                let exponent = ((x.to_bits() >> 23 & 0xff) as i32 - 127).max(LEAST);
                // In units of the last digit: at most twice the first digit, which then is one more of the exponent.
                let unit = 2f64.powi(exponent - $digits);
                let digits = (f64::from(x.abs()) / unit).round_ties_even() as u32;
                let code = (((exponent - LEAST) as u32) << $digits).saturating_add(digits);
                match code {
                    0..$top => Self(sign | code as u8),
                    _ if Self::HAS_INFINITY => Self(sign | $top),
                    _ => Self(sign | $nan),
                }
            }
        }

        // SAFETY: it is a byte, whose bits all mean something.
        unsafe impl bytemuck::NoUninit for $name {}

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }
        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }
        impl Neg for $name {
            type Output = Self;
            fn neg(self) -> Self {
                Self(self.0 ^ 0x80)
            }
        }
        impl From<$name> for f32 {
            fn from(x: $name) -> f32 {
                x.to_f32()
            }
        }
        impl From<$name> for f64 {
            fn from(x: $name) -> f64 {
                x.to_f32().into()
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_f32().fmt(f)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_f32().fmt(f)
            }
        }
    };
}

float8! {
    /// A float with 4 bits of exponent and 3 digits after the point: up to 448, without infinities, NaN by all bits set (`e4m3fn`).
    ///
    /// ```
    /// use tilewright_core::E4m3;
    /// assert_eq!(E4m3::from_f32(0.3).to_f32(), 0.3125);
    /// assert_eq!(E4m3::MAX.to_f32(), 448.0);
    /// assert!(E4m3::from_f32(1000.0).is_nan());
    /// ```
    E4m3, digits 3, bias 7, top 0x7f, nan 0x7f
}
impl E4m3 {
    const HAS_INFINITY: bool = false;
}

float8! {
    /// A float with 5 bits of exponent and 2 digits after the point: up to 57344, with infinities and NaN as in IEEE 754.
    ///
    /// ```
    /// use tilewright_core::E5m2;
    /// assert_eq!(E5m2::from_f32(0.3).to_f32(), 0.3125);
    /// assert_eq!(E5m2::MAX.to_f32(), 57344.0);
    /// assert_eq!(E5m2::from_f32(1e6), E5m2::INFINITY);
    /// ```
    E5m2, digits 2, bias 15, top 0x7c, nan 0x7e
}
impl E5m2 {
    const HAS_INFINITY: bool = true;
    /// Infinity.
    pub const INFINITY: Self = Self(0x7c);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a code means, by the definition of the formats.
    fn meaning(code: u8, digits: i32, bias: i32) -> f64 {
        let (exponent, fraction) = (i32::from(code & 0x7f) >> digits, i32::from(code) & ((1 << digits) - 1));
        let sign = if code < 0x80 { 1.0 } else { -1.0 };
        let one = if exponent == 0 { 0.0 } else { 1.0 };
        sign * (one + f64::from(fraction) / 2f64.powi(digits)) * 2f64.powi(exponent.max(1) - bias)
    }

    macro_rules! all_codes {
        ($test:ident, $t:ident, $digits:literal, $bias:literal, $finite:expr) => {
            #[test]
            fn $test() {
                for code in 0..=u8::MAX {
                    let x = $t::from_bits(code);
                    assert_eq!(x.is_finite(), $finite(code & 0x7f), "{code:02x}");
                    assert!(!(x.is_finite() && x.is_nan()));
                    let back = $t::from_f32(x.to_f32());
                    if !x.is_finite() {
                        assert_eq!((x.is_nan(), back.is_nan()), (x.to_f32().is_nan(), x.is_nan()));
                        assert_eq!(x.to_f32().is_sign_negative(), code >= 0x80);
                        continue;
                    }
                    assert_eq!(f64::from(x), meaning(code, $digits, $bias), "{code:02x}");
                    assert_eq!(x.to_f32().to_bits() >> 31, u32::from(code >> 7));
                    assert_eq!(back.to_bits(), code);
                    // Between this number and the next: nearest, and of two the even one. Behind the last comes what would be the next.
                    if code >= 0x80 {
                        continue;
                    }
                    let (here, next) = (meaning(code, $digits, $bias), meaning(code + 1, $digits, $bias));
                    let middle = ((here + next) / 2.0) as f32;
                    let even = code + code % 2;
                    for (x, nearest) in
                        [(middle.next_down(), code), (middle, even), (middle.next_up(), code + 1)]
                    {
                        let beyond = !$finite(nearest);
                        let found = $t::from_f32(x);
                        assert!(
                            if beyond { !found.is_finite() } else { found.to_bits() == nearest },
                            "{x}: {found}"
                        );
                        assert_eq!($t::from_f32(-x).to_bits(), found.to_bits() | 0x80);
                    }
                }
                assert_eq!($t::ONE.to_f32(), 1.0);
                assert!($t::NAN.is_nan() && $t::NAN != $t::NAN && $t::from_f32(f32::NAN).is_nan());
                assert_eq!($t::from_f32(f32::from_bits(1)).to_bits(), 0);
                assert_eq!($t::from_f32(-f32::MIN_POSITIVE).to_bits(), 0x80);
                for x in [f32::MAX, f32::INFINITY] {
                    assert!(!$t::from_f32(x).is_finite() && !$t::from_f32(-x).is_finite());
                }
            }
        };
    }
    all_codes!(every_e4m3, E4m3, 3, 7, |code| code != 0x7f);
    all_codes!(every_e5m2, E5m2, 2, 15, |code| code < 0x7c);

    #[test]
    fn infinities_are_those_of_e5m2() {
        assert_eq!(E5m2::from_f32(f32::NEG_INFINITY).to_bits(), 0xfc);
        assert_eq!(E5m2::INFINITY.to_f32(), f32::INFINITY);
        assert!(!E5m2::INFINITY.is_nan() && E5m2::from_bits(0x7d).is_nan() && E5m2::from_bits(0xff).is_nan());
        assert!(E4m3::from_f32(f32::INFINITY).is_nan());
        assert!(E4m3::ONE < E4m3::MAX && -E4m3::MAX < E4m3::ZERO);
    }
}
