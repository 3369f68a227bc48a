//! Integer arithmetic.

use super::form::Form;
use super::operation::{Operation, binary, ternary, unary, words};
use super::value::Int;
use crate::ptx_isa::{Modifier, Opcode, Type};

/// Evaluates an expression with `$T` bound to the Rust type of an integer instruction type, or yields `None`.
macro_rules! with_integer {
    ($ty:expr, $T:ident => $body:expr, $($variant:ident = $rust:ty),+ $(,)?) => {
        match $ty {
            $(Type::$variant => { type $T = $rust; Some($body) })+
            _ => None,
        }
    };
    ($ty:expr, $T:ident => $body:expr) => {
        with_integer!($ty, $T => $body, U16 = u16, U32 = u32, U64 = u64, S16 = i16, S32 = i32, S64 = i64,
            B16 = u16, B32 = u32, B64 = u64)
    };
}
pub(super) use with_integer;

/// Resolves the integer arithmetic instructions; `None` if the opcode is not one of them.
pub(super) fn resolve(op: &mut Form) -> Option<Operation> {
    match op.opcode {
        Opcode::Add | Opcode::Sub | Opcode::Min | Opcode::Max => packed_or_scalar(op),
        Opcode::Mul | Opcode::Mad => multiply(op),
        Opcode::Mul24 | Opcode::Mad24 => multiply24(op),
        Opcode::Dp4a | Opcode::Dp2a => dot_product(op),
        Opcode::Sad | Opcode::Div | Opcode::Rem | Opcode::Abs | Opcode::Neg => scalar(op),
        _ => None,
    }
}

/// The larger of a value and zero.
fn relu<T: Int>(value: T) -> T {
    value.max(T::wrap(0))
}

fn packed_or_scalar(op: &mut Form) -> Option<Operation> {
    let (saturate, clamp_negative) = (op.take(Modifier::Sat), op.take(Modifier::Relu));
    let ty = op.take_type()?;
    match ty {
        Type::U16x2 | Type::S16x2 if saturate => None,
        Type::U16x2 if !clamp_negative => halves::<u16>(op.opcode, false),
        Type::S16x2 => halves::<i16>(op.opcode, clamp_negative),
        _ if saturate && (ty != Type::S32 || clamp_negative) => None,
        _ if clamp_negative && ty != Type::S32 => None,
        Type::B16 | Type::B32 | Type::B64 => None,
        _ => with_integer!(ty, T => match (op.opcode, saturate, clamp_negative) {
            (Opcode::Add, false, false) => binary(|a: T, b: T| T::wrap(a.wide() + b.wide())),
            (Opcode::Add, true, false) => binary(|a: T, b: T| T::saturate(a.wide() + b.wide())),
            (Opcode::Sub, false, false) => binary(|a: T, b: T| T::wrap(a.wide() - b.wide())),
            (Opcode::Sub, true, false) => binary(|a: T, b: T| T::saturate(a.wide() - b.wide())),
            (Opcode::Min, false, false) => binary(|a: T, b: T| a.min(b)),
            (Opcode::Max, false, false) => binary(|a: T, b: T| a.max(b)),
            (Opcode::Min, false, true) => binary(|a: T, b: T| relu(a.min(b))),
            (Opcode::Max, false, true) => binary(|a: T, b: T| relu(a.max(b))),
            _ => return None,
        }),
    }
}

/// Two 16-bit lanes in a 32-bit word.
fn halves<T: Int>(opcode: Opcode, clamp_negative: bool) -> Option<Operation> {
    fn each<T: Int>(f: impl Fn(T, T) -> T + Send + Sync + 'static) -> Operation {
        words(move |[a, b]| {
            let half = |shift: u32| f(T::from_word(a >> shift), T::from_word(b >> shift)).word() << shift;
            half(0) | half(16)
        })
    }
    Some(match (opcode, clamp_negative) {
        (Opcode::Add, false) => each(|a: T, b: T| T::wrap(a.wide() + b.wide())),
        (Opcode::Min, false) => each(|a: T, b: T| a.min(b)),
        (Opcode::Max, false) => each(|a: T, b: T| a.max(b)),
        (Opcode::Min, true) => each(|a: T, b: T| relu(a.min(b))),
        (Opcode::Max, true) => each(|a: T, b: T| relu(a.max(b))),
        _ => return None,
    })
}

/// Which half of a double-width product is wanted.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Low,
    High,
    Wide,
}

pub(super) const PARTS: &[(Modifier, Part)] =
    &[(Modifier::Lo, Part::Low), (Modifier::Hi, Part::High), (Modifier::Wide, Part::Wide)];

/// The upper half of the product of two values.
pub(super) fn mul_high<T: Int>(a: T, b: T) -> T {
    // The product of two unsigned 64-bit values reaches the sign bit; the logical shift is right for it, and for signed
    // values only the bits below the sign extension are kept.
    T::wrap((a.wide().wrapping_mul(b.wide()) as u128 >> T::BITS) as i128)
}

/// The lower half of the product of two values.
pub(super) fn mul_low<T: Int>(a: T, b: T) -> T {
    T::wrap(a.wide().wrapping_mul(b.wide()))
}

fn multiply(op: &mut Form) -> Option<Operation> {
    let part = op.take_from(PARTS)?;
    let saturate = op.take(Modifier::Sat);
    let ty = op.take_type()?;
    if matches!(ty, Type::B16 | Type::B32 | Type::B64) {
        return None;
    }
    if saturate {
        let exact = matches!((op.opcode, part, ty), (Opcode::Mad, Part::High, Type::S32));
        return exact
            .then(|| ternary(|a: i32, b: i32, c: i32| i32::saturate(mul_high(a, b).wide() + c.wide())));
    }
    match (op.opcode, part) {
        (Opcode::Mul, Part::Low) => with_integer!(ty, T => binary(mul_low::<T>)),
        (Opcode::Mul, Part::High) => with_integer!(ty, T => binary(mul_high::<T>)),
        (Opcode::Mad, Part::Low) => {
            with_integer!(ty, T => ternary(|a: T, b: T, c: T| T::wrap(mul_low(a, b).wide() + c.wide())))
        }
        (Opcode::Mad, Part::High) => {
            with_integer!(ty, T => ternary(|a: T, b: T, c: T| T::wrap(mul_high(a, b).wide() + c.wide())))
        }
        (opcode, _) => wide(opcode, ty),
    }
}

/// `mul.wide` and `mad.wide`: the destination and the addend are twice as wide as the factors.
fn wide(opcode: Opcode, ty: Type) -> Option<Operation> {
    fn product<T: Int, W: Int>(opcode: Opcode) -> Operation {
        if opcode == Opcode::Mul {
            binary(|a: T, b: T| W::wrap(a.wide() * b.wide()))
        } else {
            ternary(|a: T, b: T, c: W| W::wrap(a.wide() * b.wide() + c.wide()))
        }
    }
    match ty {
        Type::U16 => Some(product::<u16, u32>(opcode)),
        Type::S16 => Some(product::<i16, i32>(opcode)),
        Type::U32 => Some(product::<u32, u64>(opcode)),
        Type::S32 => Some(product::<i32, i64>(opcode)),
        _ => None,
    }
}

/// The low 24 bits of a 32-bit value, as a number of its signedness.
fn low24<T: Int>(value: T) -> i128 {
    if T::SIGNED { i128::from((value.wide() as i32) << 8 >> 8) } else { value.wide() & 0xff_ffff }
}

/// `mul24` keeps bits 31..0 (`lo`) or 47..16 (`hi`) of a 48-bit product.
fn multiply24(op: &mut Form) -> Option<Operation> {
    let shift = match op.take_from(PARTS)? {
        Part::Low => 0,
        Part::High => 16,
        Part::Wide => return None,
    };
    let saturate = op.take(Modifier::Sat);
    let ty = op.take_type()?;
    let product = move |a: i128, b: i128| (a * b) >> shift;
    match (op.opcode, saturate) {
        (Opcode::Mul24, false) => with_integer!(ty, T =>
            binary(move |a: T, b: T| T::wrap(product(low24(a), low24(b)))), U32 = u32, S32 = i32),
        (Opcode::Mad24, false) => with_integer!(ty, T =>
            ternary(move |a: T, b: T, c: T| T::wrap(product(low24(a), low24(b)) + c.wide())), U32 = u32, S32 = i32),
        (Opcode::Mad24, true) if ty == Type::S32 && shift == 16 => {
            Some(ternary(move |a: i32, b: i32, c: i32| {
                i32::saturate(i128::from(product(low24(a), low24(b)) as i32) + c.wide())
            }))
        }
        _ => None,
    }
}

fn scalar(op: &mut Form) -> Option<Operation> {
    let ty = op.take_type()?;
    if matches!(ty, Type::B16 | Type::B32 | Type::B64) {
        return None;
    }
    match op.opcode {
        Opcode::Sad => with_integer!(ty, T => ternary(|a: T, b: T, c: T| {
            T::wrap(c.wide() + (a.wide() - b.wide()).abs())
        })),
        // PTX leaves division by zero open; the compiled sequences give all ones for quotient and remainder.
        Opcode::Div => {
            with_integer!(ty, T => binary(|a: T, b: T| if b == 0 { !0 } else { a.wrapping_div(b) }))
        }
        Opcode::Rem => {
            with_integer!(ty, T => binary(|a: T, b: T| if b == 0 { !0 } else { a.wrapping_rem(b) }))
        }
        Opcode::Abs => {
            with_integer!(ty, T => unary(|a: T| T::wrap(a.wide().abs())), S16 = i16, S32 = i32, S64 = i64)
        }
        _ => with_integer!(ty, T => unary(|a: T| T::wrap(-a.wide())), S16 = i16, S32 = i32, S64 = i64),
    }
}

/// `dp4a` and `dp2a`: products of bytes (and of half-words with bytes) summed into a 32-bit value.
fn dot_product(op: &mut Form) -> Option<Operation> {
    // Which two bytes of b `dp2a` takes.
    let half = if op.opcode == Opcode::Dp2a {
        Some(op.take_from(&[(Modifier::Lo, 0), (Modifier::Hi, 16)])?)
    } else {
        None
    };
    let signed = |ty| match ty {
        Type::U32 => Some(false),
        Type::S32 => Some(true),
        _ => None,
    };
    let a_signed = signed(op.take_type()?)?;
    let b_signed = signed(op.take_type()?)?;
    let byte = |word: u64, signed: bool| if signed { i64::from(word as i8) } else { i64::from(word as u8) };
    let half_word =
        |word: u64, signed: bool| if signed { i64::from(word as i16) } else { i64::from(word as u16) };
    Some(match half {
        None => words(move |[a, b, c]| {
            let product = |i: u32| byte(a >> (8 * i), a_signed) * byte(b >> (8 * i), b_signed);
            u64::from((0..4).map(product).fold(c as u32, |sum, p| sum.wrapping_add(p as u32)))
        }),
        Some(offset) => words(move |[a, b, c]| {
            let product = |i: u32| half_word(a >> (16 * i), a_signed) * byte(b >> (offset + 8 * i), b_signed);
            u64::from((0..2).map(product).fold(c as u32, |sum, p| sum.wrapping_add(p as u32)))
        }),
    })
}
