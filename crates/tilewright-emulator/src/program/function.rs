//! What is known of a function.

use super::{
    error::ProgramError,
    instruction::{Place, Slot},
    layout::Parameter,
    locals::LocalVariable,
};
use crate::parse::ast::FunctionKind;

/// An entry or function.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub kind: FunctionKind,
    /// Where it starts, or `None` for a declaration.
    pub start: Option<u32>,
    /// Behind its last instruction.
    pub end: u32,
    /// Bytes of its registers.
    pub frame_bytes: u32,
    /// Where its frame starts among those of all functions of the program.
    pub frame_offset: u32,
    /// Bytes of its local variables.
    pub local_bytes: u32,
    /// They themselves.
    pub locals: Vec<LocalVariable>,
    /// Rows of its parameters and results.
    pub params: Vec<(Place, u32)>,
    pub results: Vec<(Place, u32)>,
    /// Parameters of an entry.
    pub parameters: Vec<Parameter>,
    pub parameter_bytes: usize,
    /// Registers that may be read before anything is written to them.
    pub unwritten: Vec<Slot>,
    /// Shared variables in use, callees included.
    pub shared: Vec<u32>,
    /// Functions that may be called.
    pub callees: Vec<u32>,
    /// Why it has no code, although it has a body.
    pub fault: Option<ProgramError>,
    /// `.reqntid` and `.maxntid`.
    pub required_threads: Option<[u64; 3]>,
    pub max_threads: Option<u64>,
    /// `.reqnctapercluster`.
    pub required_cluster: Option<[u32; 3]>,
}

impl Function {
    /// Whether it is an entry that is defined here.
    pub fn is_entry(&self) -> bool {
        self.kind == FunctionKind::Entry && (self.start.is_some() || self.fault.is_some())
    }
}
