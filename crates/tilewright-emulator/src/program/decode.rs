//! From a parsed module to a program.

use super::{
    allocate::allocate,
    blocks::{self, NO_RECONVERGENCE},
    constants::Constants,
    dominators::immediate_post_dominators,
    error::ProgramError,
    flags,
    function::Function,
    graph::is_recursive,
    image::{BlockInfo, Program},
    instruction::*,
    layout::{Layout, Symbol},
    lines::Origin,
    locals::{self, Locals},
    lower::{self, Lowered, lower},
    products::{self, Found},
    sites::Sites,
};
use crate::parse::{
    ast::{FunctionKind, Module},
    parse,
};

impl Program {
    /// Parses and decodes a PTX module.
    ///
    /// # Errors
    /// If `ptx` is not PTX, has 32-bit addresses, or if every entry is wrong in itself, by an undeclared name for one. An entry beside
    /// others that is wrong, or calls a function that is, is refused when it is launched; an instruction that the emulator does not know
    /// when it is executed.
    pub fn new(ptx: &str) -> Result<Self, ProgramError> {
        Self::from_module(&parse(ptx)?)
    }

    /// As [`Program::new`], with variables in regions `first_region` and on: several programs share a memory.
    pub(crate) fn placed(ptx: &str, first_region: u64) -> Result<Self, ProgramError> {
        Self::from_module_at(&parse(ptx)?, first_region)
    }

    /// Decodes a parsed module.
    ///
    /// # Errors
    /// As for [`Program::new`].
    pub fn from_module(module: &Module<'_>) -> Result<Self, ProgramError> {
        Self::from_module_at(module, FIRST_REGION)
    }

    fn from_module_at(module: &Module<'_>, first_region: u64) -> Result<Self, ProgramError> {
        if module.address_size != 64 {
            return Err(ProgramError::AddressSize { size: module.address_size });
        }
        let mut builder = Builder { layout: Layout::new(module, first_region)?, ..Builder::default() };
        for function in &module.functions {
            builder.add(function, &module.files);
        }
        let mut functions = builder.functions.iter();
        if !functions.any(|f| f.kind == FunctionKind::Entry && f.start.is_some())
            && let Some(fault) = builder.functions.iter().find_map(|f| f.fault.clone())
        {
            return Err(fault);
        }
        let mut program = builder.finish(module)?;
        program.link_shared();
        Ok(program)
    }

    /// Adds the shared variables of callees to their callers.
    fn link_shared(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for index in 0..self.functions.len() {
                for callee in self.functions[index].callees.clone() {
                    for variable in self.functions[callee as usize].shared.clone() {
                        if !self.functions[index].shared.contains(&variable) {
                            self.functions[index].shared.push(variable);
                            changed = true;
                        }
                    }
                }
            }
        }
        self.functions.iter_mut().for_each(|function| function.shared.sort_unstable());
    }
}

/// Where the variables of a program begin that has a memory to itself. Region 0 has none, so that null and small numbers are no addresses.
pub(crate) const FIRST_REGION: u64 = 1;

/// Most bytes of the frames of all functions: places in them have 31 bits.
const FRAMES: u32 = 1 << 30;

/// A program under construction.
#[derive(Default)]
struct Builder {
    layout: Layout,
    constants: Constants,
    sites: Sites,
    code: Vec<Inst>,
    origins: Vec<Origin>,
    opcodes: Vec<u32>,
    names: Vec<String>,
    known_names: std::collections::HashMap<String, u32>,
    blocks: Vec<BlockInfo>,
    functions: Vec<Function>,
    accesses: Vec<u32>,
}

impl Builder {
    fn add(&mut self, function: &crate::parse::ast::Function<'_>, files: &[(u32, &str)]) {
        let lowered = lower(function, &mut self.layout, &mut self.constants, &mut self.sites, files);
        let mut lowered = match lowered {
            Ok(lowered) => lowered,
            Err(fault) => {
                self.functions.push(Function { fault: Some(fault), ..lower::info(function) });
                return;
            }
        };
        let start = (!lowered.code.is_empty()).then_some(self.code.len() as u32);
        let frame_bytes = self.append(&mut lowered);
        let mut info = lowered.function;
        info.start = start;
        info.end = self.code.len() as u32;
        info.frame_bytes = frame_bytes;
        self.functions.push(info);
    }

    /// Appends the code of a function, block by block with a marker before each, and returns the bytes of its frame.
    fn append(&mut self, lowered: &mut Lowered<'_>) -> u32 {
        if lowered.code.is_empty() {
            return 0;
        }
        let tables = &self.sites.tables;
        let cut = blocks::cut(&lowered.code, &lowered.labels, &|table| tables[table as usize].clone());
        let meet = immediate_post_dominators(&cut);
        flags::mark(&mut lowered.code, &mut self.sites);
        let misuses = products::misuses(&mut lowered.code, &mut self.sites, &cut);
        let frame = allocate(&mut lowered.code, &mut self.sites, &cut, &lowered.registers);
        for (place, _) in lowered.function.params.iter_mut().chain(&mut lowered.function.results) {
            *place = Place(frame.offsets[place.0 as usize]);
        }
        lowered.function.unwritten = frame.unwritten;
        // Every block grows by its marker.
        let base = self.code.len();
        let first_block = self.blocks.len();
        let pc_of = |number: usize| (base + cut[number].start + number) as u32;
        let block_of = |index: usize| cut.partition_point(|block| block.start <= index).saturating_sub(1);
        for Found { site, with, misuse } in misuses {
            let block = block_of(with);
            let pc = (with < lowered.code.len()).then(|| pc_of(block) + (with - cut[block].start) as u32 + 1);
            self.sites.wgmmas[site as usize].misuses.push((misuse, pc));
        }
        let pc_of_label = |label: u32| {
            let index = lowered.labels[label as usize];
            pc_of(block_of(index))
        };
        for (number, block) in cut.iter().enumerate() {
            let meeting = meet[number].map_or(NO_RECONVERGENCE, |block| pc_of(block as usize));
            let marker = blocks::enter((first_block + number) as u32, (block.end - block.start) as u32);
            self.push(marker, lowered.origins[block.start], "");
            for index in block.start..block.end {
                let mut inst = lowered.code[index];
                match inst.op.flow() {
                    Some(Flow::Jump) => {
                        inst.aux = pc_of_label(inst.aux);
                        inst.c = Place(meeting as i32);
                    }
                    Some(Flow::JumpIndexed) => {
                        inst.c = Place(meeting as i32);
                        let table = &mut self.sites.tables[inst.aux as usize];
                        table.iter_mut().for_each(|label| *label = pc_of_label(*label));
                    }
                    Some(Flow::Call | Flow::End | Flow::Refusal) | None => {}
                }
                for counter in self.sites.counters(&inst).into_iter().flatten() {
                    *counter = self.accesses.len() as u32;
                    self.accesses.push(self.code.len() as u32);
                }
                self.push(inst, lowered.origins[index], lowered.opcodes[index]);
            }
            self.blocks.push(BlockInfo { start: pc_of(number), end: self.code.len() as u32 });
        }
        frame.bytes
    }

    fn push(&mut self, inst: Inst, origin: Origin, opcode: &str) {
        let next = self.names.len() as u32;
        let name = match self.known_names.get(opcode) {
            Some(&name) => name,
            None => {
                self.names.push(opcode.into());
                self.known_names.insert(opcode.into(), next);
                next
            }
        };
        self.code.push(inst);
        self.origins.push(origin);
        self.opcodes.push(name);
    }

    /// Gives every function a place of its own for registers and local variables; entries, of which one runs at a time, share theirs.
    /// Returns the bytes of the registers.
    fn place_frames(&mut self) -> Result<(u32, Locals), ProgramError> {
        let entries = || self.functions.iter().filter(|function| function.kind == FunctionKind::Entry);
        let mut frame_bytes = entries().map(|entry| entry.frame_bytes).max().unwrap_or(0);
        let mut local_bytes =
            entries().map(|entry| entry.local_bytes.next_multiple_of(16)).max().unwrap_or(0);
        let mut variables = Vec::new();
        for entry in self.functions.iter().filter(|function| function.kind == FunctionKind::Entry) {
            let Some(start) = entry.start else { continue };
            let code = &mut self.code[start as usize..entry.end as usize];
            locals::place(&mut variables, &entry.locals, code, 0);
        }
        for function in self.functions.iter_mut().filter(|function| function.kind == FunctionKind::Device) {
            let Some(start) = function.start else { continue };
            let code = &mut self.code[start as usize..function.end as usize];
            locals::place(&mut variables, &function.locals, code, local_bytes);
            function.frame_offset = frame_bytes;
            frame_bytes = frame_bytes.saturating_add(function.frame_bytes);
            local_bytes = local_bytes.saturating_add(function.local_bytes.next_multiple_of(16));
            if frame_bytes.max(local_bytes) > FRAMES {
                return Err(ProgramError::Declaration {
                    line: self.origins[start as usize].ptx_line,
                    name: function.name.clone(),
                    message: format!(
                        "with it, the functions of the module take more than {FRAMES} bytes of registers or local variables"
                    ),
                });
            }
        }
        Ok((frame_bytes, Locals::new(variables, local_bytes)))
    }

    fn finish(mut self, module: &Module<'_>) -> Result<Program, ProgramError> {
        let (frame_bytes, locals) = self.place_frames()?;
        // A variable may point at one that a function declares, or at a function.
        for variable in module.variables.iter().filter(|variable| !variable.init.is_empty()) {
            // Errors were found when the layout was made.
            let _ = self.layout.initialise(variable);
        }
        let symbols = self
            .layout
            .variables
            .iter()
            .map(|variable| Symbol {
                name: variable.name.clone(),
                address: super::layout::address::of_region(variable.region),
                bytes: variable.bytes,
            })
            .collect();
        Ok(Program {
            code: self.code,
            origins: self.origins,
            opcodes: self.opcodes,
            names: self.names,
            blocks: self.blocks,
            constants: self.constants.lines().to_vec(),
            variables: self.layout.variables,
            shared: self.layout.shared,
            frame_bytes,
            locals,
            recursive: is_recursive(&self.functions, &self.sites),
            functions: self.functions,
            sites: self.sites,
            accesses: self.accesses,
            files: module.files.iter().map(|&(index, path)| (index, path.into())).collect(),
            target: module.target.first().copied().unwrap_or_default().into(),
            symbols,
        })
    }
}
