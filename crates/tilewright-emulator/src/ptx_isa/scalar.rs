//! Arithmetic instructions as the scalar semantics see them: one lane, values in, value out.

use super::{Modifiers, Type};

/// The base opcodes whose result depends on nothing but the source values of the lane.
///
/// Carry chains (`add.cc`, `addc`, `madc` ...) are not here: they need a carry register, and the machine has them itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is the PTX opcode of the same spelling")]
pub enum Opcode {
    Abs,
    Add,
    And,
    Bfe,
    Bfi,
    Bfind,
    Bmsk,
    Brev,
    Clz,
    Cnot,
    Copysign,
    Cos,
    /// Source type in `types[1]`; two sources (high half first) for packed destinations.
    Cvt,
    Div,
    Dp2a,
    Dp4a,
    Ex2,
    Fma,
    Fns,
    Lg2,
    /// The look-up table is the fourth source. With a Boolean operation q is the fifth, and p is bit 32 of the result.
    Lop3,
    Mad,
    Mad24,
    Max,
    Min,
    Mov,
    Mul,
    Mul24,
    Neg,
    Not,
    Or,
    Popc,
    Prmt,
    Rcp,
    Rem,
    Rsqrt,
    Sad,
    Selp,
    /// Destination type in `types[0]`, source type in `types[1]`; a predicate may be the third source.
    Set,
    /// Bit 0 of the result is `p`, bit 1 is `q`; a predicate may be the third source (`Modifier::And`, `Or`, `Xor`).
    Setp,
    Shf,
    Shl,
    Shr,
    Sin,
    Slct,
    Sqrt,
    Sub,
    Szext,
    Tanh,
    Testp,
    Xor,
    Vadd,
    Vsub,
    Vabsdiff,
    Vmin,
    Vmax,
    Vshl,
    Vshr,
    Vmad,
    Vset,
    Vadd2,
    Vsub2,
    Vavrg2,
    Vabsdiff2,
    Vmin2,
    Vmax2,
    Vset2,
    Vadd4,
    Vsub4,
    Vavrg4,
    Vabsdiff4,
    Vmin4,
    Vmax4,
    Vset4,
}

/// Which part of a register a video instruction takes or writes (`%r1.b2`, `%r3.h10`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Selector {
    /// No suffix.
    #[default]
    Whole,
    /// `.b0` to `.b3`.
    Byte(u8),
    /// `.h0`, `.h1`.
    Half(u8),
    /// `.b3210`: one nibble per byte, the most significant first. On a destination: the bytes written, in falling order.
    Bytes(u16),
    /// `.h10`: one nibble per half. On a destination: the halves written, in falling order.
    Halves(u16),
}

/// An arithmetic instruction of one lane.
///
/// Values travel as `u64`. A source of `n` bits comes in the low `n` bits; the bits above are zero for every type, signed ones too.
/// A predicate is bit 0. Packed types (`f16x2`) fill their 32 bits, the first element low. Results follow the same rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScalarOp {
    /// The base opcode.
    pub opcode: Opcode,
    /// The types in the order written; missing ones repeat the last written one.
    pub types: [Type; 3],
    /// How many types were written.
    pub written_types: u8,
    /// The modifiers that are not types.
    pub modifiers: Modifiers,
    /// How many sources the instruction has; sources beyond are zero.
    pub sources: u8,
    /// Selectors of the destination and of the first three sources (video instructions only).
    pub selectors: [Selector; 4],
}

impl ScalarOp {
    /// An operation of two operands of one type.
    pub fn of_two(opcode: Opcode, ty: Type, modifiers: Modifiers) -> Self {
        let selectors = [Selector::Whole; 4];
        Self { opcode, types: [ty; 3], written_types: 1, modifiers, sources: 2, selectors }
    }
}
