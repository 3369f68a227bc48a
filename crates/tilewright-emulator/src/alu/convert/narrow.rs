//! Writing a number in a floating-point format: rounding, then the limits that `cvt` can ask for.

use crate::alu::float::{Format, Number, Rounding};
use crate::ptx_isa::Type;

/// What happens to results that are large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// They overflow as the rounding mode says.
    None,
    /// `.sat`: results are brought into 0..=1, NaN to +0.
    Unit,
    /// `.satfinite`: they become the largest number of their sign.
    Finite,
}

/// The modifiers of a conversion to floating point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Narrow {
    pub rounding: Rounding,
    pub limit: Limit,
    /// `.relu`: negative results become +0.
    pub rectify: bool,
    /// `.ftz`: subnormal `f32` results become zeros.
    pub flush: bool,
}

/// The format of a scalar type, or of one element of a packed type.
pub(super) fn format(ty: Type) -> Option<Format> {
    Some(match ty {
        Type::F16 | Type::F16x2 => Format::F16,
        Type::Bf16 | Type::Bf16x2 => Format::BF16,
        Type::Tf32 => Format::TF32,
        Type::F32 => Format::F32,
        Type::F64 => Format::F64,
        Type::E4m3x2 => Format::E4M3,
        Type::E5m2x2 => Format::E5M2,
        Type::E2m3x2 => Format::E2M3,
        Type::E3m2x2 => Format::E3M2,
        Type::E2m1x2 => Format::E2M1,
        _ => return None,
    })
}

impl Narrow {
    pub fn is_plain_nearest(&self) -> bool {
        *self == Narrow { rounding: Rounding::NearestEven, limit: Limit::None, rectify: false, flush: false }
    }

    /// The function that writes an `f64` in the format of `ty`.
    pub fn write(self, ty: Type) -> Option<impl Fn(f64) -> u64 + Copy + Send + Sync + 'static> {
        let write = self.write_number(ty)?;
        Some(move |x: f64| write(Format::F64.unpack(x.to_bits())))
    }

    /// The function that writes a number in the format of `ty`.
    pub fn write_number(self, ty: Type) -> Option<impl Fn(Number) -> u64 + Copy + Send + Sync + 'static> {
        let format = format(ty)?;
        // A tf32 word is an f32 whose last 13 bits are zeros, except that its NaN is the one of f32.
        let tf32 = ty == Type::Tf32;
        let nearest_away_exists = tf32 && !self.rectify;
        if self.rounding == Rounding::NearestAway && !nearest_away_exists {
            return None;
        }
        Some(move |number| {
            let bits = self.bits(format, number);
            match (tf32, number) {
                (false, _) => bits,
                (true, Number::Nan) => Format::F32.nan(),
                (true, _) => bits << (Format::F32.fraction_bits - format.fraction_bits),
            }
        })
    }

    fn bits(self, format: Format, number: Number) -> u64 {
        if number == Number::Nan {
            return if self.limit == Limit::Unit { 0 } else { format.nan() };
        }
        let unit = self.limit == Limit::Unit;
        if number.is_negative() && (unit || self.rectify) {
            return 0;
        }
        let bits = format.round(number, self.rounding);
        let flushes = self.flush && format == Format::F32;
        let magnitude = bits & format.nan();
        let sign = bits - magnitude;
        if flushes && magnitude >> format.fraction_bits == 0 {
            return sign;
        }
        match self.limit {
            Limit::Unit => bits.min(format.round(Number::integer(1), Rounding::TowardZero)),
            Limit::Finite => sign | magnitude.min(format.max_finite()),
            Limit::None => bits,
        }
    }
}
