//! From the text of an opcode to its result.

use tilewright_emulator::alu::{self, MAX_SOURCES, Operation};
use tilewright_emulator::ptx_isa::{Modifier, Modifiers, Opcode, ScalarOp, Selector, Type};

use Opcode::*;
const OPCODES: &[Opcode] = &[
    Abs, Add, And, Bfe, Bfi, Bfind, Bmsk, Brev, Clz, Cnot, Copysign, Cos, Cvt, Div, Dp2a, Dp4a, Ex2, Fma,
    Fns, Lg2, Lop3, Mad, Mad24, Max, Min, Mov, Mul, Mul24, Neg, Not, Or, Popc, Prmt, Rcp, Rem, Rsqrt, Sad,
    Selp, Set, Setp, Shf, Shl, Shr, Sin, Slct, Sqrt, Sub, Szext, Tanh, Testp, Xor, Vadd, Vsub, Vabsdiff,
    Vmin, Vmax, Vshl, Vshr, Vmad, Vset, Vadd2, Vsub2, Vavrg2, Vabsdiff2, Vmin2, Vmax2, Vset2, Vadd4, Vsub4,
    Vavrg4, Vabsdiff4, Vmin4, Vmax4, Vset4,
];

/// The description of `text` with a number of sources; `None` if a part of it is not known at all.
pub fn parse(text: &str, sources: usize, selectors: [Selector; 4]) -> Option<ScalarOp> {
    let mut parts = text.split('.');
    let base = parts.next()?;
    let opcode = *OPCODES.iter().find(|opcode| format!("{opcode:?}").eq_ignore_ascii_case(base))?;
    let (mut types, mut modifiers) = (Vec::new(), Modifiers::default());
    for part in parts {
        match (Type::parse(part), Modifier::parse(part)) {
            (Some(ty), _) => types.push(ty),
            (None, Some(modifier)) => modifiers.insert(modifier),
            (None, None) => return None,
        }
    }
    let last = types.last().copied().unwrap_or(Type::B32);
    Some(ScalarOp {
        opcode,
        types: std::array::from_fn(|i| types.get(i).copied().unwrap_or(last)),
        written_types: types.len() as u8,
        modifiers,
        sources: sources as u8,
        selectors,
    })
}

pub fn prepare(text: &str, sources: usize) -> Option<Operation> {
    alu::prepare(&parse(text, sources, [Selector::Whole; 4])?)
}

/// The result of an instruction, from the single-lane and from the warp-wide evaluation.
pub fn eval<const N: usize>(text: &str, sources: [u64; N]) -> u64 {
    run(&prepare(text, N).unwrap_or_else(|| panic!("{text} with {N} sources is not supported")), sources)
}

pub fn run<const N: usize>(operation: &Operation, sources: [u64; N]) -> u64 {
    // Words beyond the sources, and bits above the types, must not matter; the callers vary the latter.
    let words: [u64; MAX_SOURCES] = std::array::from_fn(|i| sources.get(i).copied().unwrap_or(u64::MAX));
    let result = operation.lane(words);
    let lanes = words.map(|word| [word; 32]);
    let mut warp = [0; 32];
    operation.warp(std::array::from_fn(|i| &lanes[i]), &mut warp);
    assert_eq!(warp, [result; 32], "the warp-wide evaluation differs");
    result
}

pub fn eval_selected<const N: usize>(text: &str, selectors: [Selector; 4], sources: [u64; N]) -> u64 {
    let op = parse(text, N, selectors).unwrap_or_else(|| panic!("{text} is not known"));
    run(&alu::prepare(&op).unwrap_or_else(|| panic!("{text} with {N} sources is not supported")), sources)
}

pub fn f(x: f32) -> u64 {
    x.to_bits().into()
}

pub fn d(x: f64) -> u64 {
    x.to_bits()
}

/// Every row: opcode, sources, result.
pub fn check<const N: usize>(rows: &[(&str, [u64; N], u64)]) {
    for &(text, sources, expected) in rows {
        let result = eval(text, sources);
        assert_eq!(result, expected, "{text} {sources:#x?}: {result:#x} instead of {expected:#x}");
    }
}

pub const fn s32(x: i32) -> u64 {
    x as u32 as u64
}

pub const fn s16(x: i16) -> u64 {
    x as u16 as u64
}

pub const fn s64(x: i64) -> u64 {
    x as u64
}
