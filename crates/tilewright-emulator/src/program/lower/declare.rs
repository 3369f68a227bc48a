//! Declarations: parameters, variables and registers of a function.

use super::{Lowerer, Lowering, REGISTERS, Refusal};
use crate::parse::ast::{self, FunctionKind, StateSpace};
use crate::program::{
    error::ProgramError,
    instruction::Place,
    layout::{self, Parameter},
    locals::LocalVariable,
    names::{Local, Rows},
};
use crate::ptx_isa::Type;

/// Most bytes that the local variables of one function may take (a thread has 512 KiB on hardware).
const LOCAL_BYTES: u64 = 1 << 20;

/// Most bytes of a parameter (the hardware's limit for all of them is 32,764).
const PARAM_BYTES: u64 = 1 << 16;

impl<'a> Lowerer<'a, '_> {
    /// Parameters and results.
    pub fn parameters(&mut self, function: &ast::Function<'a>) -> Result<(), ProgramError> {
        for variable in &function.params {
            let bytes = layout::checked_bytes(variable, PARAM_BYTES)?;
            if function.kind == FunctionKind::Entry {
                let align = layout::align_of(variable) as usize;
                let offset = self.function.parameter_bytes.next_multiple_of(align);
                self.function.parameter_bytes = offset + bytes as usize;
                if self.function.parameter_bytes as u64 > PARAM_BYTES {
                    let message = format!("with its {bytes} bytes, parameters take more than {PARAM_BYTES}");
                    return Err(declaration(variable, message));
                }
                self.function.parameters.push(Parameter {
                    name: variable.name.into(),
                    offset,
                    bytes: bytes as usize,
                });
                self.scopes.declare(variable.name, Local::EntryParam(offset as u32));
            } else {
                let rows = self.passed(variable, bytes)?;
                self.function.params.push(rows);
            }
        }
        for variable in &function.returns {
            let bytes = layout::checked_bytes(variable, PARAM_BYTES)?;
            let rows = self.passed(variable, bytes)?;
            self.function.results.push(rows);
        }
        let in_registers = |variable: &&ast::Variable<'a>| variable.space == StateSpace::Reg;
        for (variable, rows) in function.params.iter().zip(self.function.params.clone()) {
            if in_registers(&variable) && function.kind == FunctionKind::Device && function.body.is_some() {
                self.receive(variable, rows)?;
            }
        }
        for (variable, rows) in function.returns.iter().zip(self.function.results.clone()) {
            if in_registers(&variable) {
                self.returned.push((rows.0, variable.name));
            }
        }
        Ok(())
    }

    /// Moves a parameter that is a register out of the rows that it was passed in.
    fn receive(&mut self, variable: &ast::Variable<'a>, (rows, _): (Place, u32)) -> Result<(), ProgramError> {
        let moved = self
            .operand_of_register(variable.name)
            .and_then(|(operand, ty)| self.load_rows(rows, 0, ty, &operand));
        match moved {
            Ok(()) => Ok(()),
            Err(Refusal::Error(error)) => Err(error),
            Err(Refusal::Unsupported(why)) => Err(declaration(variable, why)),
            Err(Refusal::Form) => Err(declaration(variable, "cannot be moved into a register".into())),
        }
    }

    /// Writes the results that are registers to the rows in which they are handed back.
    pub fn hand_back(&mut self) -> Lowering<()> {
        for (rows, name) in self.returned.clone() {
            let (operand, ty) = self.operand_of_register(name)?;
            self.store_rows(rows, 0, ty, &operand)?;
        }
        Ok(())
    }

    /// A parameter or result of a function: rows, or a register that is passed as rows.
    fn passed(&mut self, variable: &ast::Variable<'a>, bytes: u64) -> Result<(Place, u32), ProgramError> {
        let rows = self.rows(variable, bytes)?;
        if variable.space == StateSpace::Reg {
            self.declare_registers(variable)?;
        } else {
            self.scopes.declare(variable.name, Local::Rows(rows));
        }
        Ok((rows.first, rows.words))
    }

    /// Rows of registers for `bytes` bytes, before they become too many.
    fn rows(&mut self, variable: &ast::Variable<'a>, bytes: u64) -> Result<Rows, ProgramError> {
        let rows = self.registers.add_rows(bytes);
        if self.registers.widths.len() > REGISTERS {
            let message =
                format!("with its {bytes} bytes, the function takes more than {REGISTERS} registers");
            return Err(declaration(variable, message));
        }
        Ok(rows)
    }

    /// A variable of the body.
    pub fn declare(&mut self, variable: &ast::Variable<'a>) -> Result<(), ProgramError> {
        let local = match variable.space {
            StateSpace::Reg | StateSpace::Sreg => return self.declare_registers(variable),
            StateSpace::Shared => {
                let scope = match self.kind {
                    ast::FunctionKind::Entry => layout::SharedScope::Entry,
                    _ => layout::SharedScope::Module,
                };
                let index = self.layout.add_shared(variable, scope)?;
                self.use_shared(index);
                Local::Shared(index)
            }
            StateSpace::Local => {
                let bytes = layout::checked_bytes(variable, LOCAL_BYTES)? as u32;
                let align = layout::align_of(variable).max(8) as u32;
                let offset = self.function.local_bytes.next_multiple_of(align);
                self.function.local_bytes = offset.saturating_add(bytes);
                if u64::from(self.function.local_bytes) > LOCAL_BYTES {
                    let message =
                        format!("with its {bytes} bytes, local variables take more than {LOCAL_BYTES}");
                    return Err(declaration(variable, message));
                }
                self.function.locals.push(LocalVariable { name: variable.name.into(), bytes, offset });
                Local::Stack(self.function.locals.len() as u32 - 1)
            }
            StateSpace::Param => {
                let bytes = layout::checked_bytes(variable, PARAM_BYTES)?;
                Local::Rows(self.rows(variable, bytes)?)
            }
            StateSpace::Global | StateSpace::Const | StateSpace::Tex => {
                let bytes = layout::checked_bytes(variable, layout::VARIABLE_BYTES)?;
                let address = self.layout.add_variable(variable, bytes)?;
                self.layout.initialise(variable)?;
                Local::Address(address)
            }
        };
        self.scopes.declare(variable.name, local);
        Ok(())
    }

    fn declare_registers(&mut self, variable: &ast::Variable<'a>) -> Result<(), ProgramError> {
        self.has_vectors |= variable.vector > 1 || variable.ty == Type::B128;
        if let Some(count) = variable.range {
            self.scopes.declare_range(variable.name, variable.ty, variable.vector, count);
        } else if let Some(local) = self.registers.declare(variable.ty, variable.vector) {
            self.scopes.declare(variable.name, local);
        }
        Ok(())
    }

    /// Notes that the function uses this shared variable.
    pub fn use_shared(&mut self, index: u32) {
        if !self.function.shared.contains(&index) {
            self.function.shared.push(index);
        }
    }
}

/// A declaration that cannot be honoured.
fn declaration(variable: &ast::Variable<'_>, message: String) -> ProgramError {
    ProgramError::Declaration { line: variable.line, name: variable.name.into(), message }
}
