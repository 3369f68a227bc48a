//! `cvt` to and from pairs of small floating-point numbers, and `cvt.pack`.

use super::narrow::{Limit, Narrow, format};
use crate::alu::float::{Format, Rounding};
use crate::alu::form::Form;
use crate::alu::half::Half;
use crate::alu::operation::{Operation, binary, words};
use crate::alu::value::{Int, Value};
use crate::ptx_isa::{Modifier, Type};

/// The distance of the two elements of a packed type in bits; `None` for scalars.
fn pitch(ty: Type) -> Option<u32> {
    match ty {
        Type::F16x2 | Type::Bf16x2 => Some(16),
        Type::E4m3x2 | Type::E5m2x2 | Type::E2m3x2 | Type::E3m2x2 => Some(8),
        Type::E2m1x2 => Some(4),
        _ => None,
    }
}

pub(super) fn is_packed(ty: Type) -> bool {
    pitch(ty).is_some()
}

/// The first source, or the high element of the one source, becomes the high element of the result.
pub(super) fn resolve(to: Type, from: Type, narrow: Narrow) -> Option<Operation> {
    let to_pitch = pitch(to)?;
    let small = to_pitch < 16;
    let allowed = match (small, from) {
        // The small formats are rounded to nearest, and as they lack infinity, limited.
        (true, _) => (narrow.rounding, narrow.limit) == (Rounding::NearestEven, Limit::Finite),
        (false, Type::F32) => {
            matches!(narrow.rounding, Rounding::NearestEven | Rounding::TowardZero)
                && narrow.limit != Limit::Unit
        }
        (false, _) => {
            to == Type::F16x2 && (narrow.rounding, narrow.limit) == (Rounding::NearestEven, Limit::None)
        }
    };
    if !allowed || narrow.flush {
        return None;
    }
    if let Some(half) = Half::of(to).filter(|_| from == Type::F32 && narrow.is_plain_nearest()) {
        return Some(binary(move |high: f32, low: f32| {
            u32::from(half.narrow(high.into())) << 16 | u32::from(half.narrow(low.into()))
        }));
    }
    let write = narrow.write_number(to)?;
    match (from, pitch(from)) {
        (Type::F32, _) => Some(words(move |[high, low]| {
            let element = |word| write(Format::F32.unpack(word));
            element(high) << to_pitch | element(low)
        })),
        (_, Some(from_pitch)) if small != (from_pitch < 16) => {
            let format = format(from)?;
            Some(words(move |[pair]| {
                let element = |shift: u32| write(format.unpack(pair >> shift & ((1 << from_pitch) - 1)));
                element(from_pitch) << to_pitch | element(0)
            }))
        }
        _ => None,
    }
}

/// `cvt.pack.sat`: two 32-bit integers clamped to a smaller type, and beside them the low bits of c for types below 16
/// bits.
pub(super) fn pack_integers(op: &mut Form) -> Option<Operation> {
    if !op.take(Modifier::Sat) {
        return None;
    }
    let (to, from) = (op.take_type()?, op.take_type()?);
    let (bits, signed) = (to.bits(), to.is_signed());
    if from != Type::S32 {
        return None;
    }
    let (lowest, highest) =
        if signed { (-1i64 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let mask = (1u64 << bits) - 1;
    let clamped = move |word| i64::from(i32::from_word(word)).clamp(lowest, highest) as u64 & mask;
    match to {
        Type::U16 | Type::S16 => Some(words(move |[a, b]| clamped(a) << bits | clamped(b))),
        Type::U8 | Type::S8 | Type::U4 | Type::S4 => (op.take_type()? == Type::B32).then(|| {
            words(move |[a, b, c]| {
                u32::wrap((c << (2 * bits) | clamped(a) << bits | clamped(b)).into()).word()
            })
        }),
        _ => None,
    }
}
