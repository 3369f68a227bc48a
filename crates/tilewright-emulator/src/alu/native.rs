//! `f32` and `f64` arithmetic in every rounding mode.

use super::float::{self, Format, Number, Rounding};
use super::form::Form;
use super::half::Half;
use super::operation::{Operation, binary, ternary, unary, words};
use super::value::Value;
use crate::ptx_isa::{Modifier, Opcode, Type};

/// The two formats that the processor computes in.
pub(super) trait Float: Value + PartialOrd {
    const FORMAT: Format;
    const ONE: Self;
    const ZERO: Self;
    fn add(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn fused_multiply_add(self, b: Self, c: Self) -> Self;
    fn divide(self, other: Self) -> Self;
    fn square_root(self) -> Self;
    fn negated(self) -> Self;
    fn is_nan(self) -> bool;
    fn is_subnormal(self) -> bool;
    /// The NaN of an instruction with these operands.
    fn nan<const N: usize>(operands: [Self; N]) -> Self;

    fn number(self) -> Number {
        Self::FORMAT.unpack(self.word())
    }

    fn rounded(number: Number, rounding: Rounding) -> Self {
        Self::from_word(Self::FORMAT.round(number, rounding))
    }

    /// Subnormal numbers become zeros of the same sign.
    #[inline(always)]
    fn flushed(self, flush: bool) -> Self {
        if flush && self.is_subnormal() { self.multiply(Self::ZERO) } else { self }
    }

    /// A NaN result replaced by the instruction's NaN.
    #[inline(always)]
    fn or_nan_of<const N: usize>(self, operands: [Self; N]) -> Self {
        if self.is_nan() { Self::nan(operands) } else { self }
    }

    /// `.sat`: into 0..=1, NaN to +0.
    #[inline(always)]
    fn saturated(self) -> Self {
        // -0 and NaN are not above 0.
        if self > Self::ZERO { if self > Self::ONE { Self::ONE } else { self } } else { Self::ZERO }
    }
}

macro_rules! arithmetic_of {
    ($type:ty) => {
        const ONE: Self = 1.0;
        const ZERO: Self = 0.0;
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            self + other
        }
        #[inline(always)]
        fn multiply(self, other: Self) -> Self {
            self * other
        }
        #[inline(always)]
        fn fused_multiply_add(self, b: Self, c: Self) -> Self {
            self.mul_add(b, c)
        }
        #[inline(always)]
        fn divide(self, other: Self) -> Self {
            self / other
        }
        #[inline(always)]
        fn square_root(self) -> Self {
            self.sqrt()
        }
        #[inline(always)]
        fn negated(self) -> Self {
            -self
        }
        #[inline(always)]
        fn is_nan(self) -> bool {
            self.is_nan()
        }
        #[inline(always)]
        fn is_subnormal(self) -> bool {
            self.is_subnormal()
        }
    };
}

impl Float for f32 {
    const FORMAT: Format = Format::F32;
    arithmetic_of!(f32);

    /// Single precision keeps no payloads.
    #[inline(always)]
    fn nan<const N: usize>(_: [Self; N]) -> Self {
        // The optimiser takes any NaN for as good as a NaN that it knows, and would leave the payload.
        f32::from_bits(std::hint::black_box(0x7fff_ffff))
    }
}

impl Float for f64 {
    const FORMAT: Format = Format::F64;
    arithmetic_of!(f64);

    /// The first NaN operand, quieted; for an invalid operation the default NaN, which has its sign set.
    #[inline(always)]
    fn nan<const N: usize>(operands: [Self; N]) -> Self {
        const QUIET: u64 = 1 << 51;
        const INVALID: u64 = 0xfff8_0000_0000_0000;
        // Without an early exit, so that a loop over lanes stays without calls and branches.
        let bits =
            operands.iter().rev().fold(INVALID, |nan, x| if x.is_nan() { x.to_bits() | QUIET } else { nan });
        f64::from_bits(bits)
    }
}

/// How an instruction treats its operands and result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Modes {
    pub rounding: Rounding,
    /// `.ftz`
    pub flush: bool,
    /// `.sat`
    pub saturate: bool,
}

impl Modes {
    const PLAIN: Modes = Modes { rounding: Rounding::NearestEven, flush: false, saturate: false };

    /// An instruction of `N` operands: `nearest` computes it in round-to-nearest-even, `exact` in any mode.
    fn bind<F: Float, const N: usize>(
        self,
        nearest: impl Fn([F; N]) -> F + Send + Sync + 'static,
        exact: impl Fn([Number; N], Rounding) -> Number + Send + Sync + 'static,
    ) -> Operation {
        // Three closures, so that the frequent ones are small enough to be compiled into the loop over lanes.
        if self == Modes::PLAIN {
            return words(move |sources: [u64; N]| {
                let operands = sources.map(F::from_word);
                nearest(operands).or_nan_of(operands).word()
            });
        }
        if self.rounding == Rounding::NearestEven {
            return words(move |sources: [u64; N]| {
                let operands = sources.map(|word| F::from_word(word).flushed(self.flush));
                self.finish(nearest(operands), operands)
            });
        }
        words(move |sources: [u64; N]| {
            let operands = sources.map(|word| F::from_word(word).flushed(self.flush));
            let result = F::rounded(exact(operands.map(F::number), self.rounding), self.rounding);
            self.finish(result, operands)
        })
    }

    #[inline(always)]
    fn finish<F: Float, const N: usize>(self, result: F, operands: [F; N]) -> u64 {
        let result = result.or_nan_of(operands).flushed(self.flush);
        if self.saturate { result.saturated().word() } else { result.word() }
    }
}

/// Resolves the `f32` and `f64` instructions that are exact functions; `None` if the opcode is not one of them.
pub(super) fn resolve(op: &mut Form) -> Option<Operation> {
    let rounding = op.take_rounding();
    let full = op.take(Modifier::Full);
    if op.take(Modifier::Approx) {
        return None;
    }
    let flush = op.take(Modifier::Ftz);
    let saturate = op.take(Modifier::Sat);
    match op.take_type()? {
        _ if full && (op.opcode != Opcode::Div || rounding.is_some() || saturate) => None,
        Type::F64 if flush || saturate || full => None,
        Type::F64 => arithmetic::<f64>(op.opcode, rounding, Modes { flush, saturate, ..Modes::PLAIN }),
        Type::F32 if full => Some(
            Modes { flush, ..Modes::PLAIN }.bind(|[a, b]: [f32; 2]| a / b, |[a, b], _| float::divide(a, b)),
        ),
        Type::F32 => {
            let operation =
                arithmetic::<f32>(op.opcode, rounding, Modes { flush, saturate, ..Modes::PLAIN })?;
            match op.take_type() {
                None => Some(operation),
                Some(ty) => mixed(op.opcode, operation, ty).filter(|_| !flush),
            }
        }
        Type::F32x2 if !saturate => packed(op.opcode, rounding, flush),
        _ => None,
    }
}

fn arithmetic<F: Float>(opcode: Opcode, rounding: Option<Rounding>, modes: Modes) -> Option<Operation> {
    if rounding == Some(Rounding::NearestAway) {
        return None;
    }
    let nearest_by_default = Modes { rounding: rounding.unwrap_or(Rounding::NearestEven), ..modes };
    let explicit = rounding.map(|rounding| Modes { rounding, ..modes });
    let unsaturated = || explicit.filter(|_| !modes.saturate);
    Some(match opcode {
        Opcode::Add => nearest_by_default.bind(|[a, b]: [F; 2]| a.add(b), |[a, b], r| float::add(a, b, r)),
        Opcode::Sub => nearest_by_default
            .bind(|[a, b]: [F; 2]| a.add(b.negated()), |[a, b], r| float::add(a, b.negated(), r)),
        Opcode::Mul => {
            nearest_by_default.bind(|[a, b]: [F; 2]| a.multiply(b), |[a, b], _| float::multiply(a, b))
        }
        Opcode::Fma | Opcode::Mad => explicit?.bind(
            |[a, b, c]: [F; 3]| a.fused_multiply_add(b, c),
            |[a, b, c], r| float::fused_multiply_add(a, b, c, r),
        ),
        Opcode::Div => unsaturated()?.bind(|[a, b]: [F; 2]| a.divide(b), |[a, b], _| float::divide(a, b)),
        Opcode::Rcp => {
            unsaturated()?.bind(|[a]: [F; 1]| F::ONE.divide(a), |[a], _| float::divide(Number::integer(1), a))
        }
        Opcode::Sqrt => unsaturated()?.bind(|[a]: [F; 1]| a.square_root(), |[a], _| float::square_root(a)),
        Opcode::Abs if rounding.is_none() && !modes.saturate => {
            sign_bit::<F>(modes.flush, |word, sign| word & !sign)
        }
        Opcode::Neg if rounding.is_none() && !modes.saturate => {
            sign_bit::<F>(modes.flush, |word, sign| word ^ sign)
        }
        Opcode::Copysign if rounding.is_none() && modes == Modes::PLAIN => copy_sign::<F>(),
        _ => return None,
    })
}

fn sign_mask<F: Float>() -> u64 {
    1 << (F::FORMAT.exponent_bits + F::FORMAT.fraction_bits)
}

/// `abs` and `neg` touch the sign alone, of NaN too.
fn sign_bit<F: Float>(flush: bool, f: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Operation {
    unary(move |a: F| F::from_word(f(a.flushed(flush).word(), sign_mask::<F>())))
}

/// `copysign`: the second operand with the sign of the first.
fn copy_sign<F: Float>() -> Operation {
    binary(|a: F, b: F| {
        let sign = sign_mask::<F>();
        F::from_word(a.word() & sign | b.word() & !sign)
    })
}

/// `add.f32.f16`, `fma.rn.f32.bf16`: the last source is an `f32`, the ones before have a 16-bit format.
fn mixed(opcode: Opcode, operation: Operation, ty: Type) -> Option<Operation> {
    let half = match ty {
        Type::F16 => Half::F16,
        Type::Bf16 => Half::Bf16,
        _ => return None,
    };
    Some(match opcode {
        Opcode::Add | Opcode::Sub => {
            binary(move |a: u16, b: u32| operation.lane([half.widen(a).word(), b.into(), 0, 0, 0]))
        }
        Opcode::Fma => ternary(move |a: u16, b: u16, c: u32| {
            operation.lane([half.widen(a).word(), half.widen(b).word(), c.into(), 0, 0])
        }),
        _ => return None,
    })
}

/// Two `f32` in a 64-bit register.
fn packed(opcode: Opcode, rounding: Option<Rounding>, flush: bool) -> Option<Operation> {
    let modes = Modes { flush, ..Modes::PLAIN };
    let one = arithmetic::<f32>(opcode, rounding, modes)
        .filter(|_| matches!(opcode, Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Fma))?;
    let both = move |sources: [u64; 3]| {
        let lane = |shift: u32| {
            let [a, b, c] = sources.map(|word| word >> shift & 0xffff_ffff);
            one.lane([a, b, c, 0, 0]) << shift
        };
        lane(0) | lane(32)
    };
    Some(match opcode {
        Opcode::Fma => ternary(move |a: u64, b: u64, c: u64| both([a, b, c])),
        _ => binary(move |a: u64, b: u64| both([a, b, 0])),
    })
}
