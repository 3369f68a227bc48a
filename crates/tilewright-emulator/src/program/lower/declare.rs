//! Declarations: parameters, variables and registers of a function.

use super::{Lowerer, REGISTERS};
use crate::parse::ast::{self, FunctionKind, StateSpace};
use crate::program::{
    error::ProgramError,
    instruction::{Place, Width},
    layout::{self, Parameter},
    locals::LocalVariable,
    names::{Local, Pinned, Register, Rows},
};

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
        Ok(())
    }

    /// A parameter or result of a function: rows, or a register that is passed as rows.
    fn passed(&mut self, variable: &ast::Variable<'a>, bytes: u64) -> Result<(Place, u32), ProgramError> {
        let rows = self.rows(variable, bytes)?;
        self.scopes.declare(variable.name, Local::Rows(rows));
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
                let index = self.layout.add_shared(variable)?;
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
        if let Some(count) = variable.range {
            self.scopes.declare_range(variable.name, variable.ty, count);
            return Ok(());
        }
        // 128-bit and vector registers stay undeclared until something uses them: no compiler writes them.
        let Some(width) = Width::of(variable.ty) else { return Ok(()) };
        let slot = self.registers.add(width, Pinned::No);
        self.scopes.declare(variable.name, Local::Register(Register { slot, bits: variable.ty.bits() }));
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
