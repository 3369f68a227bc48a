//! From the exact sum of a group to the bits of D.

use super::decode::{format, min_exponent};
use crate::ptx_isa::Type;

/// `sum 2^unit` in f32, truncated to `fraction` fraction bits, or in f16, rounded to nearest even. Zero is always +0, and what is too
/// large is infinite, however it is rounded.
pub fn pack(sum: i64, unit: i32, ty: Type, fraction: u32) -> u64 {
    let (format, _) = format(ty);
    let nearest = ty == Type::F16;
    let kept_bits = if nearest { format.fraction_bits } else { fraction };
    let magnitude = sum.unsigned_abs();
    if magnitude == 0 {
        return 0;
    }
    let lowest = min_exponent(format);
    let mut exponent = (63 - magnitude.leading_zeros() as i32 + unit).max(lowest);
    let shift = exponent - kept_bits as i32 - unit;
    let mut kept =
        if shift <= 0 { magnitude << -shift } else { magnitude.checked_shr(shift as u32).unwrap_or(0) };
    if nearest && shift > 0 {
        kept += u64::from(rounds_up(magnitude, shift as u32, kept));
    }
    if kept >> (kept_bits + 1) != 0 {
        (kept, exponent) = (kept >> 1, exponent + 1);
    }
    let one = 1 << kept_bits;
    let largest = (1 << format.exponent_bits) - 1;
    let bits = match kept < one {
        true => kept,
        false => (((exponent - lowest + 1) as u64) << kept_bits) | (kept & (one - 1)),
    };
    let bits = bits.min(largest << kept_bits) << (format.fraction_bits - kept_bits);
    let sign = u64::from(sum < 0 && bits != 0) << (format.exponent_bits + format.fraction_bits);
    sign | bits
}

/// Whether what a shift of `magnitude` to `kept` drops rounds up.
fn rounds_up(magnitude: u64, shift: u32, kept: u64) -> bool {
    if shift > 63 {
        return false;
    }
    let (rest, half) = (magnitude & ((1 << shift) - 1), 1 << (shift - 1));
    rest > half || rest == half && kept & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f32_is_truncated_and_f16_rounded() {
        let f32 = |sum, unit| f32::from_bits(pack(sum, unit, Type::F32, 23) as u32);
        assert_eq!(f32((1 << 30) - 1, 0), 1_073_741_760.0);
        assert_eq!(f32(-3, -149), -f32::from_bits(3));
        assert_eq!(f32(-1, -150).to_bits(), 0);
        assert_eq!(f32(-1, 128), f32::NEG_INFINITY);
        assert_eq!(pack(1 << 24 | 1, -24, Type::F32, 13), 0x3f80_0000);
        assert_eq!(pack(65520, 0, Type::F16, 0), 0x7c00);
        assert_eq!(pack(65519, 0, Type::F16, 0), 0x7bff);
        assert_eq!(pack(3, -25, Type::F16, 0), 2);
        assert_eq!(pack(1, -25, Type::F16, 0), 0);
    }
}
