//! A decoded program, and what is asked of it.

use super::{
    constants::Line,
    function::Function,
    instruction::*,
    layout::{Constancy, Parameter, SharedVariable, Symbol, Variable},
    lines::{Origin, SourceLine},
    locals::Locals,
    sites::Sites,
};
use tilewright_arch::{ComputeCapability, WARP_SIZE};

/// A basic block as the machine counts it.
#[derive(Clone, Copy, Debug)]
pub struct BlockInfo {
    /// The program counter of its marker.
    pub start: u32,
    /// Behind its last instruction.
    pub end: u32,
}

/// What an entry takes of a device, as far as PTX says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryNeeds {
    /// 32-bit registers of a thread as the emulator allocates them, by liveness. An assembler, which also reorders instructions, comes to another
    /// number.
    pub registers: u32,
    /// Bytes of local variables of a thread.
    pub local_bytes: u32,
    /// Bytes of static shared memory of a block.
    pub shared_bytes: u64,
    /// Bytes of the module's constant memory.
    pub constant_bytes: u64,
    /// The block that it was compiled for (`.reqntid`).
    pub required_threads: Option<[u64; 3]>,
    /// The most threads that it was compiled for (`.maxntid`).
    pub max_threads: Option<u64>,
}

/// A PTX module, ready to be executed.
///
/// ```
/// use tilewright_emulator::Program;
///
/// let program = Program::new(".version 9.0 .target sm_90 .address_size 64 .visible .entry k() { ret; }")?;
/// assert_eq!(program.entries().collect::<Vec<_>>(), ["k"]);
/// # Ok::<(), tilewright_emulator::ProgramError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) code: Vec<Inst>,
    pub(crate) origins: Vec<Origin>,
    /// The PTX opcode of each instruction, as an index into `names`.
    pub(crate) opcodes: Vec<u32>,
    pub(crate) names: Vec<String>,
    pub(crate) sites: Sites,
    pub(crate) blocks: Vec<BlockInfo>,
    pub(crate) constants: Vec<Line>,
    pub(crate) functions: Vec<Function>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) shared: Vec<SharedVariable>,
    /// Bytes of all frames of one level of recursion.
    pub(crate) frame_bytes: u32,
    pub(crate) locals: Locals,
    /// Whether a function may be active twice in a thread.
    pub(crate) recursive: bool,
    /// Counted memory accesses: the instruction of each.
    pub(crate) accesses: Vec<u32>,
    pub(crate) files: Vec<(u32, String)>,
    pub(super) target: String,
    pub(super) symbols: Vec<Symbol>,
}

impl Program {
    /// The names of the entries, in order.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().filter(|function| function.is_entry()).map(|function| function.name.as_str())
    }

    /// The `.target` of the module, such as `sm_90`.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Whether the threads of a warp count one by one at a barrier, so that it waits for those alone that have not exited: from compute
    /// capability 7.0 on.
    pub(crate) fn has_independent_threads(&self) -> bool {
        self.target.parse().map_or(true, |target: ComputeCapability| target >= ComputeCapability::new(7, 0))
    }

    /// Whether the next that a thread at `pc` does is to exit.
    pub(crate) fn exits_at(&self, mut pc: u32) -> bool {
        while self.code[pc as usize].op == Op::Enter {
            pc += 1;
        }
        let next = &self.code[pc as usize];
        next.op == Op::Exit && next.guard.place == Place::NONE
    }

    /// The device symbols: `__device__` and `__constant__` variables.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The parameters of an entry; `None` if there is no such entry.
    pub fn parameters(&self, entry: &str) -> Option<&[Parameter]> {
        self.entry(entry).map(|function| function.parameters.as_slice())
    }

    /// Bytes of the static shared memory of an entry, as the compiler would lay it out.
    pub fn static_shared_bytes(&self, entry: &str) -> Option<u64> {
        let function = self.entry(entry)?;
        Some(function.shared.iter().fold(0, |bytes, &index| {
            let variable = &self.shared[index as usize];
            u64::next_multiple_of(bytes, variable.align) + variable.bytes
        }))
    }

    /// What an entry takes of a device; `None` if there is no such entry.
    pub fn needs(&self, entry: &str) -> Option<EntryNeeds> {
        let function = self.entry(entry)?;
        let constants = self.variables.iter().filter(|variable| variable.constant == Constancy::Constant);
        Some(EntryNeeds {
            registers: function.frame_bytes / (4 * WARP_SIZE),
            local_bytes: function.local_bytes,
            shared_bytes: self.static_shared_bytes(entry)?,
            constant_bytes: constants.map(|variable| variable.bytes).sum(),
            required_threads: function.required_threads,
            max_threads: function.max_threads,
        })
    }

    /// The instructions that would be refused if they were executed: PTX line, opcode, and why.
    pub fn unsupported(&self) -> impl Iterator<Item = (u32, &str, &str)> {
        self.refusals(0..self.code.len())
    }

    /// Those of [`Program::unsupported`] that an entry may reach: its own, and those of the functions that it may call. None where there is no
    /// such entry.
    pub fn unsupported_in(&self, entry: &str) -> impl Iterator<Item = (u32, &str, &str)> {
        let first = self.functions.iter().position(|function| function.name == entry && function.is_entry());
        let mut reached: Vec<usize> = first.into_iter().collect();
        let mut next = 0;
        while let Some(&function) = reached.get(next) {
            for &callee in &self.functions[function].callees {
                if !reached.contains(&(callee as usize)) {
                    reached.push(callee as usize);
                }
            }
            next += 1;
        }
        reached.sort_unstable();
        reached.into_iter().flat_map(|function| {
            let Function { start, end, .. } = self.functions[function];
            self.refusals(start.unwrap_or(end) as usize..end as usize)
        })
    }

    fn refusals(&self, code: std::ops::Range<usize>) -> impl Iterator<Item = (u32, &str, &str)> {
        code.filter(|&pc| self.code[pc].op == Op::Unsupported).map(|pc| {
            let name = &self.names[self.opcodes[pc] as usize];
            let why = &self.sites.refusals[self.code[pc].aux as usize];
            (self.origins[pc].ptx_line, name.as_str(), why.as_str())
        })
    }

    /// Bytes that a resident thread takes for registers and local variables, at the first level of recursion.
    pub fn bytes_per_thread(&self) -> u32 {
        self.frame_bytes / 32 + self.locals.bytes()
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name && function.is_entry())
    }

    /// The CUDA line of an instruction, if the module has line information.
    pub(crate) fn source_line(&self, origin: Origin) -> Option<SourceLine> {
        if origin.line == 0 {
            return None;
        }
        let file = self.files.iter().find(|file| file.0 == origin.file);
        Some(SourceLine { file: file.map(|file| file.1.clone()).unwrap_or_default(), line: origin.line })
    }
}
