//! What a recipe gives: launches, with everything an engine or the emulator needs.

use crate::{
    kernel::{Kernel, Variant},
    program::Program,
    request::{Request, Scalar},
};

/// How one kernel does what was asked: launches to run one after another, and the memory they share.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Its semiring and element type.
    pub variant: Variant,
    /// Launches in order, each after the one before has ended. None for an empty result.
    pub launches: Vec<Launch>,
    /// Bytes of each workspace; their contents before the first launch do not matter.
    pub workspaces: Vec<u64>,
    /// What a plan prints about the choice: tile, outputs per thread, stages, splits.
    pub details: Vec<(&'static str, String)>,
    /// What else was considered, and why it was not chosen.
    pub rejected: Vec<Rejected>,
}

impl Recipe {
    /// A recipe without workspace or remarks.
    pub(crate) fn new(kernel: &'static Kernel, variant: Variant, launches: Vec<Launch>) -> Self {
        Self { kernel, variant, launches, workspaces: Vec::new(), details: Vec::new(), rejected: Vec::new() }
    }

    /// The same for a product: no launch at all when the result has no element.
    pub(crate) fn product(kernel: &'static Kernel, request: &Request, launches: Vec<Launch>) -> Self {
        let launches = if request.problem.c().is_empty() { Vec::new() } else { launches };
        Self::new(kernel, request.variant(), launches)
    }
}

/// A candidate that a recipe decided against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The candidate, by its tile and split.
    pub candidate: String,
    /// Why another is better, or why it cannot be used.
    pub reason: String,
}

/// One kernel launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program to compile.
    pub program: Program,
    /// The entry in the program.
    pub entry: &'static str,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads along x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_memory: u32,
    /// The arguments, in the order of the entry's parameters.
    pub arguments: Vec<Argument>,
    /// Device symbols to be set before the launch.
    pub symbols: Vec<Symbol>,
    /// Whether local memory (spilled registers, indexed arrays) is an error.
    pub local_memory: LocalMemory,
    /// Whether it may start while the kernel before it in the stream still runs: it waits for that one's results by itself
    /// (programmatic dependent launch, from compute capability 9.0). Only code that was compiled for such a GPU waits.
    pub starts_early: bool,
}

impl Launch {
    /// A launch without dynamic shared memory, symbols or local memory.
    pub(crate) fn new(
        program: Program,
        entry: &'static str,
        grid: [u32; 3],
        block: [u32; 3],
        arguments: Vec<Argument>,
    ) -> Self {
        Self {
            program,
            entry,
            grid,
            block,
            dynamic_shared_memory: 0,
            arguments,
            symbols: Vec::new(),
            local_memory: LocalMemory::Forbidden,
            starts_early: false,
        }
    }
}

/// What a compiled kernel may keep in local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalMemory {
    /// Nothing: local memory means that the kernel was compiled badly.
    Forbidden,
    /// The kernel is there to show it.
    Declared,
}

/// One argument, by the name of its parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Argument {
    /// The parameter's name in the source.
    pub name: &'static str,
    /// What to pass.
    pub value: ArgumentValue,
}

/// What is passed to a parameter; the PTX type is given in brackets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArgumentValue {
    /// The address of a buffer (`.u64`): of element (0, 0) for A, B and C, of the first byte otherwise.
    Pointer(Buffer),
    /// A texture object over a buffer of f32 elements, fetched by index (`.u64`).
    Texture(Buffer),
    /// A 32-bit integer (`.u32`).
    I32(i32),
    /// A 64-bit integer (`.u64`).
    I64(i64),
    /// A single-precision number (`.f32`).
    F32(f32),
    /// A double-precision number (`.f64`).
    F64(f64),
}

impl From<Scalar> for ArgumentValue {
    fn from(s: Scalar) -> Self {
        match s {
            Scalar::F32(x) => Self::F32(x),
            Scalar::F64(x) => Self::F64(x),
            Scalar::I32(x) => Self::I32(x),
            Scalar::I64(x) => Self::I64(x),
        }
    }
}

/// Memory, by its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffer {
    /// The left operand.
    A,
    /// The right operand.
    B,
    /// The result.
    C,
    /// The input of an exhibit.
    Input,
    /// The output of an exhibit.
    Output,
    /// One of [`Recipe::workspaces`].
    Workspace(usize),
}

/// A `__constant__` or `__device__` variable with an initial value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name in the module.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}
