//! Comparisons and selections.

use super::form::Form;
use super::half::Half;
use super::integer::with_integer;
use super::native::Float;
use super::operation::{Operation, unary, words};
use super::value::Value;
use crate::ptx_isa::{Kind, Modifier, Opcode, Type};

/// Resolves `setp`, `set`, `selp`, `slct`, `testp` and `mov`; `None` if the opcode is not one of them.
pub(super) fn resolve(op: &mut Form) -> Option<Operation> {
    match op.opcode {
        Opcode::Setp => set_predicate(op),
        Opcode::Set => set(op),
        Opcode::Selp => {
            with_bits(op.take_type()?, |keep| words(move |[a, b, p]| keep & if p & 1 != 0 { a } else { b }))
        }
        Opcode::Slct => select_by_sign(op),
        Opcode::Testp => test(op),
        Opcode::Mov => match op.take_type()? {
            Type::Pred => Some(unary(|a: bool| a)),
            ty => with_bits(ty, |keep| words(move |[a]| keep & a)),
        },
        _ => None,
    }
}

/// An operation that only moves values of `ty`, from the mask of the type's bits.
fn with_bits(ty: Type, f: impl FnOnce(u64) -> Operation) -> Option<Operation> {
    let movable = match ty.kind() {
        Kind::Bits | Kind::Unsigned | Kind::Signed => matches!(ty.bits(), 16 | 32 | 64),
        Kind::Float => matches!(ty, Type::F32 | Type::F64),
        Kind::Predicate | Kind::Opaque => false,
    };
    movable.then(|| f(u64::MAX >> (64 - ty.bits())))
}

/// A set of outcomes of a comparison.
#[derive(Clone, Copy)]
struct Relation {
    less: bool,
    equal: bool,
    greater: bool,
    unordered: bool,
}

impl Relation {
    const fn new(less: bool, equal: bool, greater: bool, unordered: bool) -> Self {
        Relation { less, equal, greater, unordered }
    }

    /// Without branches, so that a loop over lanes vectorises.
    #[inline(always)]
    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        let (less, equal, greater) = (a < b, a == b, a > b);
        let unordered = !(less | equal | greater);
        (self.less & less) | (self.equal & equal) | (self.greater & greater) | (self.unordered & unordered)
    }
}

/// Which comparisons exist for a kind of type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Domain {
    Bits,
    Unsigned,
    Signed,
    Float,
}

/// Every comparison: spelling, domains, the outcomes for which it is true (less, equal, greater, unordered).
const COMPARISONS: &[(Modifier, &[Domain], Relation)] = {
    use Domain::*;
    &[
        (Modifier::Eq, &[Bits, Unsigned, Signed, Float], Relation::new(false, true, false, false)),
        (Modifier::Ne, &[Bits, Unsigned, Signed, Float], Relation::new(true, false, true, false)),
        (Modifier::Lt, &[Unsigned, Signed, Float], Relation::new(true, false, false, false)),
        (Modifier::Le, &[Unsigned, Signed, Float], Relation::new(true, true, false, false)),
        (Modifier::Gt, &[Unsigned, Signed, Float], Relation::new(false, false, true, false)),
        (Modifier::Ge, &[Unsigned, Signed, Float], Relation::new(false, true, true, false)),
        (Modifier::Lo, &[Unsigned], Relation::new(true, false, false, false)),
        (Modifier::Ls, &[Unsigned], Relation::new(true, true, false, false)),
        (Modifier::Hi, &[Unsigned], Relation::new(false, false, true, false)),
        (Modifier::Hs, &[Unsigned], Relation::new(false, true, true, false)),
        (Modifier::Equ, &[Float], Relation::new(false, true, false, true)),
        (Modifier::Neu, &[Float], Relation::new(true, false, true, true)),
        (Modifier::Ltu, &[Float], Relation::new(true, false, false, true)),
        (Modifier::Leu, &[Float], Relation::new(true, true, false, true)),
        (Modifier::Gtu, &[Float], Relation::new(false, false, true, true)),
        (Modifier::Geu, &[Float], Relation::new(false, true, true, true)),
        (Modifier::Num, &[Float], Relation::new(true, true, true, false)),
        (Modifier::IsNan, &[Float], Relation::new(false, false, false, true)),
    ]
};

/// How a comparison is combined with a predicate.
#[derive(Clone, Copy)]
enum Logic {
    And,
    Or,
    Xor,
}

impl Logic {
    fn apply(self, a: bool, b: bool) -> bool {
        match self {
            Logic::And => a & b,
            Logic::Or => a | b,
            Logic::Xor => a ^ b,
        }
    }
}

const LOGIC: &[(Modifier, Logic)] =
    &[(Modifier::And, Logic::And), (Modifier::Or, Logic::Or), (Modifier::Xor, Logic::Xor)];

/// A comparison as written: relation, Boolean operation, `.ftz`.
struct Comparison {
    relation: Relation,
    domains: &'static [Domain],
    logic: Option<Logic>,
    flush: bool,
}

impl Comparison {
    fn take(op: &mut Form) -> Option<Comparison> {
        let &(modifier, domains, relation) = COMPARISONS.iter().find(|row| op.has(row.0))?;
        op.take(modifier);
        Some(Comparison { relation, domains, logic: op.take_from(LOGIC), flush: op.take(Modifier::Ftz) })
    }

    fn domain_allowed(&self, ty: Type) -> bool {
        let domain = match ty {
            Type::B16 | Type::B32 | Type::B64 => Domain::Bits,
            Type::U16 | Type::U32 | Type::U64 => Domain::Unsigned,
            Type::S16 | Type::S32 | Type::S64 => Domain::Signed,
            Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::F32 | Type::F64 => Domain::Float,
            _ => return false,
        };
        let flushable = matches!(ty, Type::F32 | Type::F16 | Type::F16x2);
        self.domains.contains(&domain) && (flushable || !self.flush)
    }
}

/// `setp`: bit 0 of the result is `p = (a cmp b) op c`, bit 1 is `q = !(a cmp b) op c`. For packed types p and q belong to
/// the low and the high element.
fn set_predicate(op: &mut Form) -> Option<Operation> {
    let comparison = Comparison::take(op)?;
    let ty = op.take_type()?;
    if !comparison.domain_allowed(ty) {
        return None;
    }
    let Comparison { relation, logic, flush, .. } = comparison;
    let packed = matches!(ty, Type::F16x2 | Type::Bf16x2);
    match (logic, packed) {
        (None, false) => compared(ty, relation, flush, |p, _| u64::from(p) | u64::from(!p) << 1),
        (Some(logic), false) => compared(ty, relation, flush, move |p, c| {
            u64::from(logic.apply(p, c)) | u64::from(logic.apply(!p, c)) << 1
        })
        .map(|operation| operation.with_sources(3)),
        (_, true) => {
            let half = Half::of(ty)?;
            let holds = move |a: u64, b: u64| {
                let value = |word: u64| half.widen(half.flushed(word as u16, flush));
                relation.holds(value(a), value(b))
            };
            let logic_or_self = move |p: bool, c: u64| logic.map_or(p, |logic| logic.apply(p, c & 1 != 0));
            let operation = words(move |[a, b, c]| {
                let (p, q) = (holds(a, b), holds(a >> 16, b >> 16));
                u64::from(logic_or_self(p, c)) | u64::from(logic_or_self(q, c)) << 1
            });
            Some(operation.with_sources(if logic.is_some() { 3 } else { 2 }))
        }
    }
}

/// `set`: all ones or 1.0 for true, 0 for false.
fn set(op: &mut Form) -> Option<Operation> {
    let comparison = Comparison::take(op)?;
    let (destination, ty) = (op.take_type()?, op.take_type()?);
    if !comparison.domain_allowed(ty) {
        return None;
    }
    let Comparison { relation, logic, flush, .. } = comparison;
    let sources = if logic.is_some() { 3 } else { 2 };
    let decide = move |p: bool, c: bool| logic.map_or(p, |logic| logic.apply(p, c));
    let packed = matches!(ty, Type::F16x2 | Type::Bf16x2);
    let one: u64 = match destination {
        Type::U32 | Type::S32 if packed => 0xffff,
        Type::U32 | Type::S32 => 0xffff_ffff,
        Type::U16 | Type::S16 if matches!(ty, Type::F16 | Type::Bf16) => 0xffff,
        Type::F32 if Half::of(ty).is_none() => 1f32.to_bits().into(),
        Type::F16 if !packed && ty != Type::Bf16 => 0x3c00,
        Type::Bf16 if !packed => 0x3f80,
        Type::F16x2 if ty == Type::F16x2 => 0x3c00,
        Type::Bf16x2 if ty == Type::Bf16x2 => 0x3f80,
        _ => return None,
    };
    let operation = match Half::of(ty).filter(|_| packed) {
        Some(half) => {
            let lane = move |a: u64, b: u64, c: u64| {
                let p = {
                    let value = |word: u64| half.widen(half.flushed(word as u16, flush));
                    relation.holds(value(a), value(b))
                };
                if decide(p, c & 1 != 0) { one } else { 0 }
            };
            words(move |[a, b, c]| lane(a, b, c) | lane(a >> 16, b >> 16, c) << 16)
        }
        None => compared(ty, relation, flush, move |p, c| if decide(p, c) { one } else { 0 })?,
    };
    Some(operation.with_sources(sources))
}

/// The comparison of two values of `ty`, given with a third source, a predicate, to `f`.
fn compared(
    ty: Type,
    relation: Relation,
    flush: bool,
    f: impl Fn(bool, bool) -> u64 + Send + Sync + 'static,
) -> Option<Operation> {
    fn by<T: PartialOrd, V: Value>(
        relation: Relation,
        read: impl Fn(V) -> T + Send + Sync + 'static,
        f: impl Fn(bool, bool) -> u64 + Send + Sync + 'static,
    ) -> Operation {
        let read = move |word| read(V::from_word(word));
        words(move |[a, b, c]| f(relation.holds(read(a), read(b)), c & 1 != 0)).with_sources(2)
    }
    match ty {
        Type::F32 => Some(by(relation, move |a: f32| a.flushed(flush), f)),
        Type::F64 => Some(by(relation, |a: f64| a, f)),
        Type::F16 | Type::Bf16 => {
            let half = Half::of(ty)?;
            Some(by(relation, move |a: u16| half.widen(half.flushed(a, flush)), f))
        }
        _ => with_integer!(ty, T => by(relation, |a: T| a, f)),
    }
}

/// `slct`: a if c >= 0, else b; a NaN is not >= 0, -0 is.
fn select_by_sign(op: &mut Form) -> Option<Operation> {
    let flush = op.take(Modifier::Ftz);
    let (ty, by) = (op.take_type()?, op.take_type()?);
    with_bits(ty, |keep| match by {
        Type::F32 => {
            words(move |[a, b, c]| keep & if f32::from_word(c).flushed(flush) >= 0.0 { a } else { b })
        }
        _ => words(move |[a, b, c]| keep & if i32::from_word(c) >= 0 { a } else { b }),
    })
    .filter(|_| by == Type::F32 || by == Type::S32 && !flush)
}

type Test = fn(f64, bool) -> bool;

/// The classes of `testp`; the second argument is whether the value is subnormal in its own type. Zeros are neither normal
/// nor subnormal.
const TESTS: &[(Modifier, Test)] = &[
    (Modifier::Finite, |x, _| x.is_finite()),
    (Modifier::Infinite, |x, _| x.is_infinite()),
    (Modifier::Number, |x, _| !x.is_nan()),
    (Modifier::NotANumber, |x, _| x.is_nan()),
    (Modifier::Normal, |x, subnormal| x.is_finite() && x != 0.0 && !subnormal),
    (Modifier::Subnormal, |_, subnormal| subnormal),
];

fn test(op: &mut Form) -> Option<Operation> {
    let test = op.take_from(TESTS)?;
    match op.take_type()? {
        Type::F32 => Some(unary(move |a: f32| test(f64::from(a), a.is_subnormal()))),
        Type::F64 => Some(unary(move |a: f64| test(a, a.is_subnormal()))),
        _ => None,
    }
}
