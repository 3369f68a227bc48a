//! Matrix instructions of warpgroups: `wgmma`.

use super::{Lowerer, Lowering, matrix::register_type, other_form, unsupported};
use crate::alu;
use crate::parse::ast::{Immediate, Operand};
use crate::program::{grammar::Split, instruction::*};
use crate::ptx_isa::{
    Fragment, Major, MatrixArithmetic, MatrixFamily, MatrixOp, Modifier, Overflow, Shape, Type,
};

/// Rows of D that each of the four warps has.
const ROWS: u16 = 16;

impl<'a> Lowerer<'a, '_> {
    /// `wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 d, a, b, p, 1, 1, 0, 0;`
    pub fn wgmma(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let [d, a, b, accumulates, rest @ ..] = operands else { return other_form() };
        let op = wgmma_op(split)?;
        let in_registers = matches!(a, Operand::Vector(_));
        let [negates, transposes] = flags(&op, rest, in_registers)?;
        let a = if in_registers {
            let parts = self.parts(a);
            if alu::fragment_registers(&block(&op), Fragment::A) != Some(parts.len()) {
                return unsupported("A has four registers");
            }
            let slots: Lowering<_> = parts.iter().map(|part| self.source(part, Type::B32)).collect();
            WgmmaFactor::Registers(slots?)
        } else {
            WgmmaFactor::Shared(self.source(a, Type::B64)?)
        };
        let b = self.source(b, Type::B64)?;
        let accumulates = self.predicate(accumulates)?;
        let parts = self.parts(d);
        let of_block = alu::fragment_registers(&block(&op), Fragment::C);
        if of_block.map(|count| count * usize::from(op.n / 8)) != Some(parts.len()) {
            return unsupported("the number of registers of D does not fit the shape");
        }
        let ty = register_type(op.d);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for part in parts {
            before.push(self.source(part, ty)?);
            match self.destination(part, ty)? {
                Some(destination) => after.push(destination.slot),
                None => return unsupported("D is in registers"),
            }
        }
        let majors = transposes.map(|transposed| if transposed { Major::Col } else { Major::Row });
        self.sites.wgmmas.push(WgmmaSite {
            op,
            a,
            b,
            c: before,
            d: after,
            accumulates,
            negates,
            majors,
            counter: 0,
            misuses: Vec::new(),
        });
        self.push(Rare::Wgmma, self.sites.wgmmas.len() as u32 - 1);
        Ok(())
    }

    /// `setmaxnreg.inc.sync.aligned.u32 n;`
    pub fn set_registers(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [Operand::Immediate(Immediate::Int(registers))] = operands else { return other_form() };
        if !(24..=256).contains(registers) || !registers.is_multiple_of(8) {
            return unsupported("a warp has 24 to 256 registers, a multiple of 8");
        }
        self.push(Rare::SetRegisters, *registers as u32);
        Ok(())
    }

    /// `wgmma.wait_group.sync.aligned n;`
    pub fn wgmma_wait(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [Operand::Immediate(Immediate::Int(groups))] = operands else { return other_form() };
        self.push(Rare::WgmmaWait, (*groups).min(u64::from(u32::MAX)) as u32);
        Ok(())
    }
}

/// The product of 16 rows and 8 columns, of which a warp has one for each 8 columns of its instruction.
pub fn block(op: &MatrixOp) -> MatrixOp {
    MatrixOp { n: 8, ..*op }
}

fn wgmma_op(split: &Split<'_>) -> Lowering<MatrixOp> {
    let (Some(Shape { m: 64, n, k }), [d, a, b]) = (split.shape, split.types.as_slice()) else {
        return other_form();
    };
    let (d, a, b) = (*d, *a, *b);
    let arithmetic = match a {
        Type::B1 if split.has(Modifier::And) && split.has(Modifier::Popc) => MatrixArithmetic::AndPopc,
        Type::B1 => return other_form(),
        _ => MatrixArithmetic::MultiplyAdd,
    };
    let overflow = if split.has(Modifier::Satfinite) { Overflow::Saturate } else { Overflow::Wrap };
    let (a_major, b_major) = (Major::Row, Major::Col);
    let op = MatrixOp {
        family: MatrixFamily::Mma,
        m: ROWS,
        n,
        k,
        a,
        b,
        c: d,
        d,
        a_major,
        b_major,
        arithmetic,
        overflow,
    };
    // Integers have every column count up to 32, and then every other.
    let step = if matches!(a, Type::S8 | Type::U8 | Type::B1) && n > 32 { 16 } else { 8 };
    let bits_of_row = u32::from(k) * if a == Type::Tf32 { 32 } else { a.bits() };
    let is_known = (8..=256).contains(&n) && (n.is_multiple_of(step) || n == 24) && bits_of_row == 256;
    if !is_known || matches!(a, Type::F64 | Type::U4 | Type::S4) || !alu::has_matrix(&block(&op)) {
        return unsupported("this shape with these types is not supported");
    }
    Ok(op)
}

/// Whether A and B are negated, and whether they are transposed, by the numbers behind the predicate.
fn flags(op: &MatrixOp, numbers: &[Operand<'_>], in_registers: bool) -> Lowering<[[bool; 2]; 2]> {
    let mut values = Vec::new();
    for number in numbers {
        match number {
            Operand::Immediate(Immediate::Int(value)) => values.push(*value as i64),
            _ => return unsupported("scales and transposes are numbers"),
        }
    }
    let scale = |value: i64| match value {
        1 => Ok(false),
        -1 => Ok(true),
        _ => unsupported("a scale is 1 or -1"),
    };
    let transpose = |value: i64| match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => unsupported("a transpose is 0 or 1"),
    };
    let is_half = matches!(op.a, Type::F16 | Type::Bf16);
    match (values.as_slice(), op.a) {
        ([], Type::S8 | Type::U8 | Type::B1) => Ok([[false; 2]; 2]),
        (_, Type::S8 | Type::U8 | Type::B1) => other_form(),
        (&[a, b, x, y], _) if is_half && !in_registers => {
            Ok([[scale(a)?, scale(b)?], [transpose(x)?, transpose(y)?]])
        }
        (&[a, b, y], _) if is_half && in_registers => Ok([[scale(a)?, scale(b)?], [false, transpose(y)?]]),
        (&[a, b], _) if !is_half => Ok([[scale(a)?, scale(b)?], [false; 2]]),
        _ => other_form(),
    }
}
