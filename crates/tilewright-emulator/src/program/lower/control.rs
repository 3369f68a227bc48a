//! Jumps, calls and ends.

use super::{Lowerer, Lowering, other_form, unsupported};
use crate::parse::ast::{FunctionKind, Operand};
use crate::program::{instruction::*, layout::ModuleName, names::Local};
use crate::ptx_isa::Type;

const SYSTEM: &[(&str, System)] = &[
    ("vprintf", System::Vprintf),
    ("__assertfail", System::AssertFail),
    ("malloc", System::Malloc),
    ("free", System::Free),
];

impl<'a> Lowerer<'a, '_> {
    /// The end of an entry or function.
    pub fn leave(&mut self) -> Lowering<()> {
        if self.kind == FunctionKind::Entry {
            self.push(Op::Exit, 0);
            return Ok(());
        }
        self.hand_back()?;
        self.push(Op::Return, 0);
        Ok(())
    }

    pub fn branch(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [Operand::Name(name)] = operands else { return other_form() };
        match self.label(name) {
            Some(label) => {
                self.push(Op::Branch, label);
                Ok(())
            }
            None => self.undeclared(name),
        }
    }

    pub fn branch_indexed(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [index, Operand::Name(list)] = operands else {
            return other_form();
        };
        let index = self.source(index, Type::U32)?;
        let names = self.scopes.numbers().find_map(|scope| self.targets.get(&(scope, *list)).cloned());
        let Some(names) = names else { return self.undeclared(list) };
        let mut labels = Vec::with_capacity(names.len());
        for name in names {
            match self.label(name) {
                Some(label) => labels.push(label),
                None => return self.undeclared(name),
            }
        }
        self.sites.tables.push(labels);
        let table = self.sites.tables.len() as u32 - 1;
        self.push(Op::BranchIndexed, table).a = index.place;
        Ok(())
    }

    /// `call (results), name, (arguments);` in all its shorter forms.
    pub fn call(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let (results, rest): (&[Operand<'a>], _) = match operands {
            [Operand::List(results), rest @ ..] => (results, rest),
            rest => (&[], rest),
        };
        let Some((Operand::Name(name), rest)) = rest.split_first() else {
            return other_form();
        };
        let arguments: &[Operand<'a>] = match rest.first() {
            Some(Operand::List(arguments)) => arguments,
            _ => &[],
        };
        let target = match self.scopes.find(name, &mut self.registers) {
            Some(Local::Register(register)) => CallTarget::Indirect(register.slot),
            _ => match self.module_name(name) {
                Some(ModuleName::Function(index)) => {
                    self.may_call(index);
                    match SYSTEM.iter().find(|row| row.0 == *name) {
                        Some(&(_, system)) => CallTarget::System(system),
                        None => CallTarget::Function(index),
                    }
                }
                _ => return self.undeclared(name),
            },
        };
        let arguments = self.passed_rows(arguments)?;
        let (results, after) = self.result_rows(results)?;
        self.sites.calls.push(CallSite { target, arguments, results });
        self.push(Op::Call, self.sites.calls.len() as u32 - 1);
        for (first, operand, ty) in after {
            self.load_rows(first, 0, ty, &operand)?;
        }
        Ok(())
    }

    /// Rows of the arguments; a register or number gets rows first.
    fn passed_rows(&mut self, operands: &[Operand<'a>]) -> Lowering<Vec<(Place, u32)>> {
        let mut rows = Vec::with_capacity(operands.len());
        for operand in operands {
            if let Operand::Name(name) = operand
                && let Some(Local::Rows(known)) = self.scopes.find(name, &mut self.registers)
            {
                rows.push((known.first, known.words));
                continue;
            }
            let (ty, bytes) = self.passed_type(operand)?;
            let fresh = self.registers.add_rows(bytes);
            self.store_rows(fresh.first, 0, ty, operand)?;
            rows.push((fresh.first, fresh.words));
        }
        Ok(rows)
    }

    /// Rows of the results, and the registers that get them afterwards.
    #[allow(clippy::type_complexity, reason = "used once, right above")]
    fn result_rows(
        &mut self,
        operands: &[Operand<'a>],
    ) -> Lowering<(Vec<(Place, u32)>, Vec<(Place, Operand<'a>, Type)>)> {
        let (mut rows, mut after) = (Vec::new(), Vec::new());
        for operand in operands {
            if let Operand::Name(name) = operand
                && let Some(Local::Rows(known)) = self.scopes.find(name, &mut self.registers)
            {
                rows.push((known.first, known.words));
                continue;
            }
            let (ty, bytes) = self.passed_type(operand)?;
            let fresh = self.registers.add_rows(bytes);
            rows.push((fresh.first, fresh.words));
            after.push((fresh.first, operand.clone(), ty));
        }
        Ok((rows, after))
    }

    /// The type in which a register or number is passed, and the bytes of all of it.
    fn passed_type(&mut self, operand: &Operand<'a>) -> Lowering<(Type, u64)> {
        let ty = match operand {
            Operand::Vector(parts) => {
                let Some(first) = parts.first() else { return unsupported("a vector without elements") };
                let ty = self.passed_type(first)?.0;
                return Ok((ty, parts.len() as u64 * u64::from(ty.bytes())));
            }
            Operand::Element(name, _) => {
                return self.operand_of_register(name).map(|(_, ty)| (ty, ty.bytes().into()));
            }
            Operand::Name(name) => match self.scopes.find(name, &mut self.registers) {
                Some(Local::Register(_)) => self.operand_of_register(name)?.1,
                Some(_) | None => Type::B64,
            },
            _ => Type::B32,
        };
        Ok((ty, ty.bytes().into()))
    }
}
