//! Matrix instructions of tensor cores.

use super::{Lowerer, Lowering, other_form, unsupported};
use crate::alu;
use crate::parse::ast::Operand;
use crate::program::{grammar::Split, instruction::*};
use crate::ptx_isa::{
    Fragment, Major, MatrixArithmetic, MatrixFamily, MatrixOp, Modifier, Overflow, Shape, Type,
};

/// m, n and k of the shapes that some instruction has.
const SHAPES: &[(u16, u16, u16)] = &[
    (8, 8, 4),
    (8, 8, 16),
    (8, 8, 32),
    (8, 8, 128),
    (16, 8, 4),
    (16, 8, 8),
    (16, 8, 16),
    (16, 8, 32),
    (16, 8, 64),
    (16, 8, 128),
    (16, 8, 256),
    (16, 16, 16),
    (16, 16, 8),
    (32, 8, 16),
    (8, 32, 16),
];

impl<'a> Lowerer<'a, '_> {
    /// `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c;` and `wmma.mma`.
    pub fn mma(&mut self, split: &Split<'a>, operands: &[Operand<'a>], family: MatrixFamily) -> Lowering<()> {
        let [d, a, b, c] = operands else { return other_form() };
        let op = matrix_op(split, family)?;
        if !alu::has_matrix(&op) {
            return unsupported("this shape with these types is not supported");
        }
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
        self.sites.mmas.push(MmaSite { op, d: registers, a, b, c });
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

    /// `wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {...}, [p], stride;`
    pub fn load_fragment(
        &mut self,
        split: &Split<'a>,
        fragment: Fragment,
        operands: &[Operand<'a>],
    ) -> Lowering<()> {
        let [values, address, stride @ ..] = operands else { return other_form() };
        self.move_fragment(split, Rare::WmmaLoad, fragment, values, address, stride.first())
    }

    /// `wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [p], {...}, stride;`
    pub fn store_fragment(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let [address, values, stride @ ..] = operands else { return other_form() };
        self.move_fragment(split, Rare::WmmaStore, Fragment::C, values, address, stride.first())
    }

    fn move_fragment(
        &mut self,
        split: &Split<'a>,
        direction: Rare,
        fragment: Fragment,
        values: &Operand<'a>,
        address: &Operand<'a>,
        stride: Option<&Operand<'a>>,
    ) -> Lowering<()> {
        let Some(ty) = split.ty(0) else { return other_form() };
        let Shape { m, n, k } = shape(split)?;
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
        let mut memory = self.access(split.modifiers, target, ty, 1)?;
        for part in parts {
            let slot = if direction == Rare::WmmaStore {
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
        self.push(direction, self.sites.wmmas.len() as u32 - 1);
        Ok(())
    }

    /// `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {...}, [p];`
    pub fn load_matrix(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let [values, address] = operands else { return other_form() };
        self.move_matrix(split, Rare::LoadMatrix, values, address)
    }

    /// `stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [p], {...};`
    pub fn store_matrix(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let [address, values] = operands else { return other_form() };
        self.move_matrix(split, Rare::StoreMatrix, values, address)
    }

    fn move_matrix(
        &mut self,
        split: &Split<'a>,
        direction: Rare,
        values: &Operand<'a>,
        address: &Operand<'a>,
    ) -> Lowering<()> {
        if split.ty(0) != Some(Type::B16) || split.shape != Some(Shape { m: 8, n: 8, k: 0 }) {
            return unsupported("only 8 x 8 matrices of 16-bit elements are supported");
        }
        let wanted = split.modifiers.pick(&[(Modifier::X1, 1), (Modifier::X2, 2), (Modifier::X4, 4)]);
        let parts = self.parts(values);
        if Some(parts.len()) != wanted {
            return unsupported("the number of registers does not fit");
        }
        let target = self.address(Some(address))?;
        let mut memory = self.access(split.modifiers, target, Type::B16, 8)?;
        if memory.space != Space::Shared {
            // Without a space the address is generic and points into shared memory.
            memory.space = Space::Generic;
        }
        for part in parts {
            let slot = if direction == Rare::LoadMatrix {
                self.destination(part, Type::B32)?.map(|d| d.slot)
            } else {
                Some(self.source(part, Type::B32)?)
            };
            memory.values.push(slot);
        }
        let transpose = if split.has(Modifier::Trans) { Transpose::Yes } else { Transpose::No };
        self.sites.matrices.push(MatrixRowsSite { memory, transpose });
        self.push(direction, self.sites.matrices.len() as u32 - 1);
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

fn shape(split: &Split<'_>) -> Lowering<Shape> {
    match split.shape.filter(|shape| SHAPES.contains(&(shape.m, shape.n, shape.k))) {
        Some(shape) => Ok(shape),
        None => unsupported("this shape is not supported"),
    }
}

fn matrix_op(split: &Split<'_>, family: MatrixFamily) -> Lowering<MatrixOp> {
    let Shape { m, n, k } = shape(split)?;
    // `mma` names d, a, b, c; `wmma.mma` of f16 names d and c alone.
    let (d, a, b, c) = match split.types.as_slice() {
        [d, a, b, c] => (*d, *a, *b, *c),
        [d, c] if family == MatrixFamily::Wmma => (*d, Type::F16, Type::F16, *c),
        _ => return other_form(),
    };
    // Row and column come in this order: A, then B.
    let major = |word: &Modifier| match word {
        Modifier::Row => Some(Major::Row),
        Modifier::Col => Some(Major::Col),
        _ => None,
    };
    let majors: Vec<Major> = split.words.iter().filter_map(major).collect();
    let [a_major, b_major] = majors[..] else { return other_form() };
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
pub fn register_type(element: Type) -> Type {
    if element == Type::F64 { Type::F64 } else { Type::B32 }
}
