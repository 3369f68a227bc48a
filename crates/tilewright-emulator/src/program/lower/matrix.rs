//! Matrix instructions of tensor cores.

use super::{Lowerer, Lowering, unsupported};
use crate::alu;
use crate::parse::ast::Operand;
use crate::program::{instruction::*, opcode::Split};
use crate::ptx_isa::{Fragment, Major, MatrixArithmetic, MatrixFamily, MatrixOp, Modifier, Overflow, Type};

/// m, n and k by name.
const SHAPES: &[(Modifier, (u16, u16, u16))] = &[
    (Modifier::M8n8k4, (8, 8, 4)),
    (Modifier::M8n8k16, (8, 8, 16)),
    (Modifier::M8n8k32, (8, 8, 32)),
    (Modifier::M8n8k128, (8, 8, 128)),
    (Modifier::M16n8k4, (16, 8, 4)),
    (Modifier::M16n8k8, (16, 8, 8)),
    (Modifier::M16n8k16, (16, 8, 16)),
    (Modifier::M16n8k32, (16, 8, 32)),
    (Modifier::M16n8k64, (16, 8, 64)),
    (Modifier::M16n8k128, (16, 8, 128)),
    (Modifier::M16n8k256, (16, 8, 256)),
    (Modifier::M16n16k16, (16, 16, 16)),
    (Modifier::M16n16k8, (16, 16, 8)),
    (Modifier::M32n8k16, (32, 8, 16)),
    (Modifier::M8n32k16, (8, 32, 16)),
];

impl<'a> Lowerer<'a, '_> {
    /// `mma`, `wmma`, `ldmatrix`, `stmatrix`.
    pub fn matrix(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        match split.base {
            "mma" => self.mma(split, operands, MatrixFamily::Mma),
            "wmma" if split.has(Modifier::Mma) => self.mma(split, operands, MatrixFamily::Wmma),
            "wmma" => self.wmma_access(split, operands),
            "ldmatrix" | "stmatrix" => self.matrix_rows(split, operands),
            "movmatrix" => self.transpose(operands),
            _ => unsupported("this opcode is not supported"),
        }
    }

    fn mma(&mut self, split: &Split<'a>, operands: &[Operand<'a>], family: MatrixFamily) -> Lowering<()> {
        let [d, a, b, c] = operands else { return unsupported("four fragments are expected") };
        let op = matrix_op(split, family)?;
        let Some(eval) = alu::prepare_matrix(&op) else {
            return unsupported("this shape with these types is not supported");
        };
        let a = self.fragment(&op, Fragment::A, a)?;
        let b = self.fragment(&op, Fragment::B, b)?;
        let c = self.fragment(&op, Fragment::C, c)?;
        let d_op = MatrixOp { c: op.d, ..op };
        let mut registers = Vec::new();
        for part in self.parts(d) {
            match self.destination(part, register_type(op.d))? {
                Some(destination) => registers.push(destination.slot),
                None => return unsupported("fragments are registers"),
            }
        }
        if alu::fragment_registers(&d_op, Fragment::C) != Some(registers.len()) {
            return unsupported("the number of registers does not fit the shape");
        }
        self.sites.mmas.push(MmaSite { op, eval, d: registers, a, b, c });
        self.push(Rare::Mma, self.sites.mmas.len() as u32 - 1);
        Ok(())
    }

    fn fragment(&mut self, op: &MatrixOp, fragment: Fragment, operand: &Operand<'a>) -> Lowering<Vec<Slot>> {
        let parts = self.parts(operand);
        if alu::fragment_registers(op, fragment) != Some(parts.len()) {
            return unsupported("the number of registers does not fit the shape");
        }
        let ty = register_type(element(op, fragment));
        parts.iter().map(|part| self.source(part, ty)).collect()
    }

    /// `wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {...}, [p], stride;` and `wmma.store.d`.
    fn wmma_access(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let store = split.has(Modifier::Store);
        let (values, address, stride) = match (store, operands) {
            (false, [values, address, stride @ ..]) | (true, [address, values, stride @ ..]) => {
                (values, address, stride.first())
            }
            _ => return unsupported("a fragment and an address are expected"),
        };
        let Some(ty) = split.ty(0) else { return unsupported("a type is missing") };
        let fragment = match () {
            () if split.has(Modifier::MatrixA) => Fragment::A,
            () if split.has(Modifier::MatrixB) => Fragment::B,
            () => Fragment::C,
        };
        let Some(&(_, (m, n, k))) = SHAPES.iter().find(|row| split.has(row.0)) else {
            return unsupported("this shape is not supported");
        };
        let (factor, sum) = if fragment == Fragment::C { (factor_of(ty, k), ty) } else { (ty, sum_of(ty)) };
        let major = if split.has(Modifier::Col) { Major::Col } else { Major::Row };
        let op = MatrixOp {
            family: MatrixFamily::Wmma,
            m,
            n,
            k,
            a: factor,
            b: factor,
            c: sum,
            d: sum,
            a_major: major,
            b_major: major,
            arithmetic: MatrixArithmetic::MultiplyAdd,
            overflow: Overflow::Wrap,
        };
        let parts = self.parts(values);
        if alu::fragment_registers(&op, fragment) != Some(parts.len()) {
            return unsupported("the number of registers does not fit the shape");
        }
        let target = self.address(Some(address))?;
        let mut memory = self.access(split, target, ty, 1)?;
        for part in parts {
            let slot = if store {
                Some(self.source(part, register_type(ty))?)
            } else {
                self.destination(part, register_type(ty))?.map(|d| d.slot)
            };
            memory.values.push(slot);
        }
        let stride = match stride {
            Some(operand) => Some(self.source(operand, Type::U32)?),
            None => None,
        };
        self.sites.wmmas.push(WmmaSite { op, fragment, major, stride, ty, memory });
        self.push(if store { Rare::WmmaStore } else { Rare::WmmaLoad }, self.sites.wmmas.len() as u32 - 1);
        Ok(())
    }

    /// `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {...}, [p];`
    fn matrix_rows(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        if split.ty(0) != Some(Type::B16) || !split.has(Modifier::M8n8) {
            return unsupported("only 8 x 8 matrices of 16-bit elements are supported");
        }
        let load = split.base == "ldmatrix";
        let (values, address) = match (load, operands) {
            (true, [values, address]) | (false, [address, values]) => (values, address),
            _ => return unsupported("registers and an address are expected"),
        };
        let wanted = split.modifiers.pick(&[(Modifier::X1, 1), (Modifier::X2, 2), (Modifier::X4, 4)]);
        let parts = self.parts(values);
        if Some(parts.len()) != wanted {
            return unsupported("the number of registers does not fit");
        }
        let target = self.address(Some(address))?;
        let mut memory = self.access(split, target, Type::B16, 8)?;
        if memory.space != Space::Shared {
            // Without a space the address is generic and points into shared memory.
            memory.space = Space::Generic;
        }
        for part in parts {
            let slot = if load {
                self.destination(part, Type::B32)?.map(|d| d.slot)
            } else {
                Some(self.source(part, Type::B32)?)
            };
            memory.values.push(slot);
        }
        let transpose = if split.has(Modifier::Trans) { Transpose::Yes } else { Transpose::No };
        self.sites.matrices.push(MatrixRowsSite { memory, transpose });
        self.push(
            if load { Rare::LoadMatrix } else { Rare::StoreMatrix },
            self.sites.matrices.len() as u32 - 1,
        );
        Ok(())
    }
}

/// The accumulator that goes with a factor: a load of A or B does not name it, and its layout does not depend on it.
fn sum_of(factor: Type) -> Type {
    match factor {
        Type::F64 => Type::F64,
        Type::F16 | Type::Bf16 | Type::Tf32 => Type::F32,
        _ => Type::S32,
    }
}

/// A factor that goes with an accumulator in a shape of depth `k`, likewise.
fn factor_of(sum: Type, k: u16) -> Type {
    match (sum, k) {
        (Type::F64, _) => Type::F64,
        (Type::S32, 32) => Type::S4,
        (Type::S32, 128) => Type::B1,
        (Type::S32, _) => Type::S8,
        (_, 8) => Type::Tf32,
        _ => Type::F16,
    }
}

fn matrix_op(split: &Split<'_>, family: MatrixFamily) -> Lowering<MatrixOp> {
    let Some(&(_, (m, n, k))) = SHAPES.iter().find(|row| split.has(row.0)) else {
        return unsupported("this shape is not supported");
    };
    // `mma` names d, a, b, c; `wmma.mma` of f16 names d and c alone.
    let (d, a, b, c) = match split.types.as_slice() {
        [d, a, b, c] => (*d, *a, *b, *c),
        [d, c] if family == MatrixFamily::Wmma => (*d, Type::F16, Type::F16, *c),
        _ => return unsupported("the types of the fragments are missing"),
    };
    // Row and column come in this order: A, then B.
    let words: Vec<Major> = split
        .text
        .split('.')
        .filter_map(|word| match word {
            "row" => Some(Major::Row),
            "col" => Some(Major::Col),
            _ => None,
        })
        .collect();
    let [a_major, b_major] = words[..] else { return unsupported("the layouts of A and B are missing") };
    let arithmetic = match () {
        () if split.has(Modifier::Popc) && split.has(Modifier::And) => MatrixArithmetic::AndPopc,
        () if split.has(Modifier::Popc) => MatrixArithmetic::XorPopc,
        () => MatrixArithmetic::MultiplyAdd,
    };
    let overflow = if split.has(Modifier::Satfinite) { Overflow::Saturate } else { Overflow::Wrap };
    Ok(MatrixOp { family, m, n, k, a, b, c, d, a_major, b_major, arithmetic, overflow })
}

fn element(op: &MatrixOp, fragment: Fragment) -> Type {
    match fragment {
        Fragment::A => op.a,
        Fragment::B => op.b,
        Fragment::C => op.c,
    }
}

/// Fragments lie in 32-bit registers, those of f64 in 64-bit ones.
fn register_type(element: Type) -> Type {
    if element == Type::F64 { Type::F64 } else { Type::B32 }
}
