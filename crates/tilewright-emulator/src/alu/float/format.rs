//! Formats, and the two ways between bits and numbers: [`Format::unpack`] and [`Format::round`].

/// How a result that a format cannot hold is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// `rn`, and `rni` to integers.
    NearestEven,
    /// `rna`: ties go away from zero.
    NearestAway,
    /// `rz`, `rzi`.
    TowardZero,
    /// `rm`, `rmi`: toward negative infinity.
    Down,
    /// `rp`, `rpi`: toward positive infinity.
    Up,
}

impl Rounding {
    /// Whether a magnitude `q + rest` goes up to `q + 1`. `rest` is compared with half a unit.
    pub fn rounds_up(self, negative: bool, odd: bool, rest: Rest) -> bool {
        match self {
            _ if rest == Rest::Zero => false,
            Rounding::NearestEven => rest == Rest::AboveHalf || rest == Rest::Half && odd,
            Rounding::NearestAway => rest >= Rest::Half,
            Rounding::TowardZero => false,
            Rounding::Down => negative,
            Rounding::Up => !negative,
        }
    }
}

/// What rounding discards, in units of the last place kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rest {
    Zero,
    BelowHalf,
    Half,
    AboveHalf,
}

impl Rest {
    /// The rest that a right shift by `1..=127` drops.
    pub fn of(significand: u128, shift: u32) -> Rest {
        let (rest, half) = (significand & ((1 << shift) - 1), 1 << (shift - 1));
        match rest {
            0 => Rest::Zero,
            _ if rest < half => Rest::BelowHalf,
            _ if rest == half => Rest::Half,
            _ => Rest::AboveHalf,
        }
    }
}

/// What the largest exponent of a format encodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Specials {
    /// Infinities and NaN, as in IEEE 754.
    InfinityAndNan,
    /// NaN when all bits are ones, numbers otherwise (e4m3).
    Nan,
    /// Numbers only (e2m1, e2m3, e3m2).
    None,
}

/// A binary interchange format: sign, exponent, fraction, from the top bit down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub exponent_bits: u32,
    pub fraction_bits: u32,
    pub specials: Specials,
}

/// `± significand 2^exponent`. A significand of 0 is a zero.
///
/// Results of arithmetic may have been rounded to odd: the last bit is set if anything below it was not zero. They keep
/// at least two bits more than any format, so that rounding them once more gives the rounding of the exact result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finite {
    pub negative: bool,
    pub significand: u128,
    pub exponent: i32,
}

/// The value of a bit pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Nan,
    Infinite { negative: bool },
    Finite(Finite),
}

impl Number {
    pub fn zero(negative: bool) -> Number {
        Number::Finite(Finite { negative, significand: 0, exponent: 0 })
    }

    pub fn integer(value: i128) -> Number {
        Number::Finite(Finite { negative: value < 0, significand: value.unsigned_abs(), exponent: 0 })
    }

    pub fn negated(self) -> Number {
        match self {
            Number::Nan => Number::Nan,
            Number::Infinite { negative } => Number::Infinite { negative: !negative },
            Number::Finite(x) => Number::Finite(Finite { negative: !x.negative, ..x }),
        }
    }

    pub fn is_negative(self) -> bool {
        matches!(self, Number::Infinite { negative: true } | Number::Finite(Finite { negative: true, .. }))
    }
}

const fn ieee(exponent_bits: u32, fraction_bits: u32) -> Format {
    Format { exponent_bits, fraction_bits, specials: Specials::InfinityAndNan }
}

impl Format {
    pub const F16: Format = ieee(5, 10);
    pub const BF16: Format = ieee(8, 7);
    /// The 19 significant bits of a `.tf32` word, which holds them at its top.
    pub const TF32: Format = ieee(8, 10);
    pub const F32: Format = ieee(8, 23);
    pub const F64: Format = ieee(11, 52);
    pub const E5M2: Format = ieee(5, 2);
    pub const E4M3: Format = Format { exponent_bits: 4, fraction_bits: 3, specials: Specials::Nan };
    pub const E3M2: Format = Format { exponent_bits: 3, fraction_bits: 2, specials: Specials::None };
    pub const E2M3: Format = Format { exponent_bits: 2, fraction_bits: 3, specials: Specials::None };
    pub const E2M1: Format = Format { exponent_bits: 2, fraction_bits: 1, specials: Specials::None };

    const fn sign_bit(self) -> u64 {
        1 << (self.exponent_bits + self.fraction_bits)
    }

    /// The exponent of the last place of subnormal numbers.
    pub const fn min_exponent(self) -> i32 {
        2 - (1 << (self.exponent_bits - 1)) - self.fraction_bits as i32
    }

    const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    /// The bits of the largest finite number.
    pub const fn max_finite(self) -> u64 {
        match self.specials {
            Specials::InfinityAndNan => self.infinity() - 1,
            Specials::Nan => self.sign_bit() - 2,
            Specials::None => self.sign_bit() - 1,
        }
    }

    /// The NaN that instructions yield: all ones below the sign, except in `f64`, where it depends on the operands.
    /// Formats without NaN yield their largest number.
    pub const fn nan(self) -> u64 {
        self.sign_bit() - 1
    }

    fn with_sign(self, negative: bool, magnitude: u64) -> u64 {
        if negative { magnitude | self.sign_bit() } else { magnitude }
    }

    /// The value of the low bits of `bits`.
    pub fn unpack(self, bits: u64) -> Number {
        let negative = bits & self.sign_bit() != 0;
        let magnitude = bits & (self.sign_bit() - 1);
        match self.specials {
            Specials::InfinityAndNan if magnitude == self.infinity() => return Number::Infinite { negative },
            Specials::InfinityAndNan | Specials::Nan if magnitude > self.max_finite() => return Number::Nan,
            _ => {}
        }
        let implicit = 1 << self.fraction_bits;
        let fraction = magnitude & (implicit - 1);
        let (significand, offset) = match magnitude >> self.fraction_bits {
            0 => (fraction, 0),
            exponent => (fraction | implicit, exponent as i32 - 1),
        };
        let exponent = self.min_exponent() + offset;
        Number::Finite(Finite { negative, significand: significand.into(), exponent })
    }

    /// The bits of a number, rounded once.
    ///
    /// Overflow gives infinity or the largest number, as the rounding mode says; in formats without infinity NaN
    /// ([`Specials::Nan`]) or the largest number.
    pub fn round(self, number: Number, rounding: Rounding) -> u64 {
        let x = match number {
            Number::Nan => return self.nan(),
            Number::Infinite { negative } => return self.with_sign(negative, self.overflow()),
            Number::Finite(x) => x,
        };
        if x.significand == 0 {
            return self.with_sign(x.negative, 0);
        }
        let top = 127 - x.significand.leading_zeros() as i32 + x.exponent;
        let last_place = (top - self.fraction_bits as i32).max(self.min_exponent());
        let shift = last_place - x.exponent;
        let kept = if shift <= 0 {
            x.significand << -shift
        } else {
            // Two spare bits above let a shift of 127 stand for all larger ones: everything is below half then.
            let (significand, shift) = match x.significand >> 126 {
                0 => (x.significand, shift.min(127) as u32),
                _ => (x.significand >> 2 | u128::from(x.significand & 3 != 0), (shift - 2).min(127) as u32),
            };
            let kept = significand >> shift;
            let up = rounding.rounds_up(x.negative, kept & 1 == 1, Rest::of(significand, shift));
            kept + u128::from(up)
        };
        // The implicit bit and a carry out of the fraction count the exponent up by themselves.
        let magnitude = (((last_place - self.min_exponent()) as u128) << self.fraction_bits) + kept;
        if magnitude <= self.max_finite().into() {
            return self.with_sign(x.negative, magnitude as u64);
        }
        let to_infinity = rounding.rounds_up(x.negative, true, Rest::Half);
        self.with_sign(x.negative, if to_infinity { self.overflow() } else { self.max_finite() })
    }

    fn overflow(self) -> u64 {
        match self.specials {
            Specials::InfinityAndNan => self.infinity(),
            Specials::Nan => self.nan(),
            Specials::None => self.max_finite(),
        }
    }
}
