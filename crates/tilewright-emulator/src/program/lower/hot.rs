//! Instructions that have an operation of their own.

use crate::program::instruction::*;
use crate::ptx_isa::{Kind, Modifier, Modifiers, Opcode, ScalarOp, Type};

/// The operation of its own that an instruction has, if any. `rn` is what unmarked floating-point instructions do.
pub fn hot(op: &ScalarOp) -> Option<Op> {
    let none = Modifiers::default();
    let only = |modifier: Modifier| [modifier].into_iter().collect::<Modifiers>() == op.modifiers;
    let plain = op.modifiers == none;
    let rounded = plain || only(Modifier::Rn);
    let ty = op.types[0];
    let same = op.written_types == 1;
    let bits = ty.bits();
    let packed = !matches!(ty, Type::B32 | Type::U32 | Type::S32 | Type::B64 | Type::U64 | Type::S64);
    let by_width = |word: Op, double: Op| match (packed, bits) {
        (false, 32) => Some(word),
        (false, 64) => Some(double),
        _ => None,
    };
    let by_sign = |s32: Op, u32: Op, s64: Op, u64: Op| {
        if ty.is_signed() { by_width(s32, s64) } else { by_width(u32, u64) }
    };
    let float = |single: Op, double: Op| match ty {
        Type::F32 if same => Some(single),
        Type::F64 if same => Some(double),
        _ => None,
    };
    let integer = ty.kind() != Kind::Float;
    match op.opcode {
        Opcode::Add if integer && plain => by_width(Op::Add32, Op::Add64),
        Opcode::Sub if integer && plain => by_width(Op::Sub32, Op::Sub64),
        Opcode::Mul if only(Modifier::Lo) => by_width(Op::MulLo32, Op::MulLo64),
        Opcode::Mul if only(Modifier::Hi) => match ty {
            Type::S32 => Some(Op::MulHiS32),
            Type::U32 => Some(Op::MulHiU32),
            _ => None,
        },
        Opcode::Mad if only(Modifier::Lo) => by_width(Op::MadLo32, Op::MadLo64),
        Opcode::Mul if only(Modifier::Wide) => match ty {
            Type::S32 => Some(Op::MulWideS32),
            Type::U32 => Some(Op::MulWideU32),
            _ => None,
        },
        Opcode::Mad if only(Modifier::Wide) => match ty {
            Type::S32 => Some(Op::MadWideS32),
            Type::U32 => Some(Op::MadWideU32),
            _ => None,
        },
        Opcode::And if ty == Type::Pred => Some(Op::PredAnd),
        Opcode::Or if ty == Type::Pred => Some(Op::PredOr),
        Opcode::Xor if ty == Type::Pred => Some(Op::PredXor),
        Opcode::Not if ty == Type::Pred => Some(Op::PredNot),
        Opcode::And => by_width(Op::And32, Op::And64),
        Opcode::Or => by_width(Op::Or32, Op::Or64),
        Opcode::Xor => by_width(Op::Xor32, Op::Xor64),
        Opcode::Not => by_width(Op::Not32, Op::Not64),
        Opcode::Neg if integer => by_width(Op::Neg32, Op::Neg64),
        Opcode::Shl => by_width(Op::Shl32, Op::Shl64),
        Opcode::Shr => by_sign(Op::ShrS32, Op::ShrU32, Op::ShrS64, Op::ShrU64),
        Opcode::Min if integer && plain && op.sources == 2 => {
            by_sign(Op::MinS32, Op::MinU32, Op::MinS64, Op::MinU64)
        }
        Opcode::Max if integer && plain && op.sources == 2 => {
            by_sign(Op::MaxS32, Op::MaxU32, Op::MaxS64, Op::MaxU64)
        }
        Opcode::Add if rounded => float(Op::AddF32, Op::AddF64),
        Opcode::Sub if rounded => float(Op::SubF32, Op::SubF64),
        Opcode::Mul if rounded => float(Op::MulF32, Op::MulF64),
        Opcode::Fma if only(Modifier::Rn) => float(Op::FmaF32, Op::FmaF64),
        Opcode::Min if plain && op.sources == 2 => float(Op::MinF32, Op::MinF64),
        Opcode::Max if plain && op.sources == 2 => float(Op::MaxF32, Op::MaxF64),
        Opcode::Neg if plain => float(Op::NegF32, Op::NegF64),
        Opcode::Abs if plain => float(Op::AbsF32, Op::AbsF64),
        Opcode::Selp => match bits {
            32 => Some(Op::Selp32),
            64 => Some(Op::Selp64),
            _ => None,
        },
        Opcode::Setp if op.sources == 2 => setp(op),
        Opcode::Cvt if same_width_cvt(op) => None,
        Opcode::Cvt => cvt(op),
        _ => None,
    }
}

fn same_width_cvt(op: &ScalarOp) -> bool {
    op.written_types != 2 || op.sources != 1
}

fn setp(op: &ScalarOp) -> Option<Op> {
    const COMPARES: &[(Modifier, Compare)] = &[
        (Modifier::Eq, Compare::Eq),
        (Modifier::Ne, Compare::Ne),
        (Modifier::Lt, Compare::Lt),
        (Modifier::Le, Compare::Le),
        (Modifier::Gt, Compare::Gt),
        (Modifier::Ge, Compare::Ge),
        (Modifier::Lo, Compare::Lt),
        (Modifier::Ls, Compare::Le),
        (Modifier::Hi, Compare::Gt),
        (Modifier::Hs, Compare::Ge),
        (Modifier::Equ, Compare::Equ),
        (Modifier::Neu, Compare::Neu),
        (Modifier::Ltu, Compare::Ltu),
        (Modifier::Leu, Compare::Leu),
        (Modifier::Gtu, Compare::Gtu),
        (Modifier::Geu, Compare::Geu),
        (Modifier::Num, Compare::Num),
        (Modifier::IsNan, Compare::Nan),
    ];
    let &(modifier, compare) = COMPARES.iter().find(|row| op.modifiers.has(row.0))?;
    if op.modifiers != [modifier].into_iter().collect::<Modifiers>() {
        return None;
    }
    Some(match op.types[0] {
        Type::S32 => Op::SetpS32(compare),
        Type::U32 | Type::B32 => Op::SetpU32(compare),
        Type::S64 => Op::SetpS64(compare),
        Type::U64 | Type::B64 => Op::SetpU64(compare),
        Type::F32 => Op::SetpF32(compare),
        Type::F64 => Op::SetpF64(compare),
        _ => return None,
    })
}

fn cvt(op: &ScalarOp) -> Option<Op> {
    let plain = op.modifiers == Modifiers::default();
    let rounded = op.modifiers == [Modifier::Rn].into_iter().collect::<Modifiers>();
    let (to, from) = (op.types[0], op.types[1]);
    let integers = to.kind() != Kind::Float && from.kind() != Kind::Float && to.bits() >= 16;
    match (to, from) {
        (Type::F32, Type::S32) if rounded => Some(Op::F32FromS32),
        (Type::F32, Type::U32) if rounded => Some(Op::F32FromU32),
        _ if !plain || !integers => None,
        _ => match (to.bits(), from.bits()) {
            (64, 32) if from.is_signed() => Some(Op::ExtendS32),
            (64, 32) => Some(Op::ExtendU32),
            (32, 64) => Some(Op::Truncate),
            (64, 64) => Some(Op::Mov64),
            (32, 32) => Some(Op::Mov32),
            (32, 16) if from.is_signed() => Some(Op::LowS16),
            (32, 16 | 8) if !from.is_signed() => Some(Op::Mov32),
            (32, 8) => Some(Op::LowS8),
            (16, 32) => Some(Op::Low16),
            (16, 16 | 8) if !from.is_signed() => Some(Op::Mov32),
            _ => None,
        },
    }
}
