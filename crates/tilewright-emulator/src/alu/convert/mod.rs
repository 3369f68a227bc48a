//! `cvt` between all scalar types.

mod narrow;
mod packed;

use super::float::Rounding;
use super::form::Form;
use super::half::Half;
use super::native::Float;
use super::operation::{Operation, unary, words};
use super::value::{Int, Value};
use crate::ptx_isa::{Kind, Modifier, Opcode, Type};
use narrow::{Limit, Narrow};

/// The formats a scalar `cvt` reads and writes, each exact in `f64`.
fn reader(ty: Type, flush: bool) -> Option<fn(u64) -> f64> {
    Some(match (ty, flush) {
        (Type::F16, _) => |word| Half::F16.widen(word as u16).into(),
        (Type::Bf16, _) => |word| Half::Bf16.widen(word as u16).into(),
        (Type::F32, false) => |word| f32::from_word(word).into(),
        (Type::F32, true) => |word| f32::from_word(word).flushed(true).into(),
        (Type::F64, _) => f64::from_word,
        _ => return None,
    })
}

const INTEGER_ROUNDINGS: &[(Modifier, Rounding)] = &[
    (Modifier::Rni, Rounding::NearestEven),
    (Modifier::Rzi, Rounding::TowardZero),
    (Modifier::Rmi, Rounding::Down),
    (Modifier::Rpi, Rounding::Up),
];

fn to_integral(x: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::TowardZero => x.trunc(),
        Rounding::Down => x.floor(),
        Rounding::Up => x.ceil(),
        Rounding::NearestEven | Rounding::NearestAway => x.round_ties_even(),
    }
}

/// Resolves `cvt` and `cvt.pack`; `None` for other opcodes.
pub(super) fn resolve(op: &mut Form) -> Option<Operation> {
    if op.opcode != Opcode::Cvt {
        return None;
    }
    if op.take(Modifier::Pack) {
        return packed::pack_integers(op);
    }
    let integral = op.take_from(INTEGER_ROUNDINGS);
    let rounding = op.take_rounding();
    let flush = op.take(Modifier::Ftz);
    let saturate = op.take(Modifier::Sat);
    let limit = match (saturate, op.take(Modifier::Satfinite)) {
        (false, false) => Limit::None,
        (true, false) => Limit::Unit,
        (false, true) => Limit::Finite,
        (true, true) => return None,
    };
    let rectify = op.take(Modifier::Relu);
    let (to, from) = (op.take_type()?, op.take_type()?);
    if flush && to != Type::F32 && from != Type::F32 {
        return None;
    }
    let narrow = |rounding| Narrow { rounding, limit, rectify, flush };
    if saturate && (to == Type::Bf16 || from == Type::Bf16) {
        return None;
    }
    if packed::is_packed(to) || packed::is_packed(from) {
        return packed::resolve(to, from, narrow(rounding?));
    }
    if rectify || limit == Limit::Finite || to == Type::Tf32 {
        // These exist for one purpose: to shorten f32 to the formats of tensor cores.
        let shortens = from == Type::F32 && matches!(to, Type::F16 | Type::Bf16 | Type::Tf32);
        let nearest_or_zero = !matches!(rounding, Some(Rounding::Down | Rounding::Up));
        if !shortens || !nearest_or_zero || flush || saturate {
            return None;
        }
    }
    match (to.kind(), from.kind()) {
        (Kind::Float, Kind::Float) => match (integral, rounding) {
            (Some(_), Some(_)) => None,
            (Some(integral), None) if to == from => {
                round_to_integral(to, integral, narrow(Rounding::NearestEven))
            }
            (None, None) if exact(to, from) || halves(to, from) => {
                between_floats(to, from, narrow(Rounding::NearestEven))
            }
            // From bf16 a rounding mode may stand where nothing is rounded.
            (None, Some(rounding)) if !exact(to, from) || from == Type::Bf16 && to != from => {
                between_floats(to, from, narrow(rounding))
            }
            _ => None,
        },
        (Kind::Unsigned | Kind::Signed, Kind::Float) => {
            to_integer(to, from, integral.filter(|_| rounding.is_none())?, flush)
        }
        (Kind::Float, Kind::Unsigned | Kind::Signed) if integral.is_none() => {
            from_integer(to, from, narrow(rounding?))
        }
        (Kind::Unsigned | Kind::Signed, Kind::Unsigned | Kind::Signed)
            if integral.is_none() && rounding.is_none() && !(saturate && holds_all(to, from)) =>
        {
            between_integers(to, from, saturate)
        }
        _ => None,
    }
}

/// Whether both are 16-bit formats, between which the assembler does not insist on a rounding mode.
fn halves(to: Type, from: Type) -> bool {
    Half::of(to).is_some() && Half::of(from).is_some()
}

/// Whether every integer of type `from` is one of type `to`.
fn holds_all(to: Type, from: Type) -> bool {
    match (to.is_signed(), from.is_signed()) {
        (true, false) => to.bits() > from.bits(),
        (false, true) => false,
        _ => to.bits() >= from.bits(),
    }
}

/// Whether every value of `from` is one of `to`.
fn exact(to: Type, from: Type) -> bool {
    match (narrow::format(to), narrow::format(from)) {
        (Some(to), Some(from)) => {
            to.exponent_bits >= from.exponent_bits && to.fraction_bits >= from.fraction_bits
        }
        _ => false,
    }
}

fn between_floats(to: Type, from: Type, narrow: Narrow) -> Option<Operation> {
    let read = reader(from, narrow.flush)?;
    if narrow.is_plain_nearest() {
        // The frequent conversions, which the processor has.
        return match (to, from) {
            (Type::F32, Type::F16) => Some(unary(|a: u16| canonical(Half::F16.widen(a)))),
            (Type::F32, Type::Bf16) => Some(unary(|a: u16| canonical(Half::Bf16.widen(a)))),
            (Type::F32, Type::F64) => Some(unary(|a: f64| canonical(a as f32))),
            (Type::F16, _) => Some(words(move |[a]| Half::F16.narrow(read(a)).into())),
            (Type::Bf16, _) => Some(words(move |[a]| Half::Bf16.narrow(read(a)).into())),
            (Type::F64, _) => Some(words(move |[a]| quieted(read(a)).word())),
            _ => narrow.write(to).map(|write| words(move |[a]| write(read(a)))),
        };
    }
    let write = narrow.write(to)?;
    Some(words(move |[a]| write(read(a))))
}

/// `f64` keeps the payload of a NaN.
fn quieted(x: f64) -> f64 {
    x.or_nan_of([x])
}

fn canonical(x: f32) -> f32 {
    x.or_nan_of([x])
}

fn round_to_integral(ty: Type, integral: Rounding, narrow: Narrow) -> Option<Operation> {
    if ty == Type::F64 && narrow.is_plain_nearest() {
        return Some(unary(move |a| quieted(to_integral(a, integral))));
    }
    let (read, write) = (reader(ty, narrow.flush)?, narrow.write(ty)?);
    Some(words(move |[a]| write(to_integral(read(a), integral))))
}

/// Evaluates an expression with `$T` bound to the Rust type of any integer type of 8 to 64 bits.
macro_rules! with_any_integer {
    ($ty:expr, $T:ident => $body:expr) => {
        super::integer::with_integer!($ty, $T => $body, U8 = u8, U16 = u16, U32 = u32, U64 = u64, S8 = i8, S16 = i16,
            S32 = i32, S64 = i64)
    };
}

/// Values beyond the range of the destination are clamped. NaN gives 0, or the highest bit alone if 64-bit types are
/// involved.
fn to_integer(to: Type, from: Type, rounding: Rounding, flush: bool) -> Option<Operation> {
    let read = reader(from, flush)?;
    let nan_is_zero = from != Type::F64 && to.bits() != 64;
    with_any_integer!(to, T => words(move |[a]| {
        let x = read(a);
        let nan = if nan_is_zero { 0 } else { 1 << (T::BITS - 1) };
        if x.is_nan() { T::wrap(nan) } else { to_integral(x, rounding) as T }.word()
    }))
}

fn from_integer(to: Type, from: Type, narrow: Narrow) -> Option<Operation> {
    if narrow.is_plain_nearest() && matches!(to, Type::F32 | Type::F64) {
        return match to {
            Type::F32 => with_any_integer!(from, T => unary(|a: T| a as f32)),
            _ => with_any_integer!(from, T => unary(|a: T| a as f64)),
        };
    }
    let write = narrow.write_number(to)?;
    with_any_integer!(from, T => words(move |[a]| write(super::float::Number::integer(T::from_word(a).wide()))))
}

fn between_integers(to: Type, from: Type, saturate: bool) -> Option<Operation> {
    fn convert<F: Int, T: Int>(saturate: bool) -> Operation {
        if saturate { unary(|a: F| T::saturate(a.wide())) } else { unary(|a: F| T::wrap(a.wide())) }
    }
    with_any_integer!(from, F => with_any_integer!(to, T => convert::<F, T>(saturate))?)
}
