//! Which addresses the lanes of warps access, each distinct pattern once.

use crate::timeline::Timeline;
use serde::Serialize;

/// What the pictures of a report are drawn from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The source files.
    pub sources: Vec<SourceText>,
    /// The PTX instructions that were executed, in the order of the text.
    pub instructions: Vec<PtxInstruction>,
    /// Arrays in global memory.
    pub buffers: Vec<Buffer>,
    /// The block whose executions are recorded.
    pub block: [u32; 3],
    /// A row for each access of the kernel that was executed.
    pub patterns: Vec<Patterns>,
    /// What happened at its mbarriers.
    pub timeline: Timeline,
}

/// A PTX instruction that was executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PtxInstruction {
    /// Its line of the PTX text, from 1.
    pub ptx_line: u32,
    /// The CUDA file, as [`super::Line::file`] names it; empty without line information.
    pub file: String,
    /// The CUDA line, from 1; 0 without line information.
    pub line: u32,
    /// Its text.
    pub text: String,
    /// How often a warp executed it.
    pub executions: u64,
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceText {
    /// As lines name it.
    pub name: String,
    /// All of it.
    pub text: String,
}

/// An array in global memory, as a matrix: element (i, j) is `i * row_stride + j * column_stride` elements behind the
/// first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Buffer {
    /// The parameter that points to it.
    pub name: String,
    /// Such as `f32`.
    pub dtype: String,
    /// Bytes of an element.
    pub element_bytes: u32,
    /// Rows; 1 for a vector.
    pub rows: u64,
    /// Columns.
    pub columns: u64,
    /// Elements from one row to the next.
    pub row_stride: u64,
    /// Elements from one column to the next.
    pub column_stride: u64,
}

/// What one memory instruction accesses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patterns {
    /// The [`super::Access::id`].
    pub access: usize,
    /// Distinct shapes, in the order in which the recorded block first has them.
    pub shapes: Vec<Shape>,
    /// Executions of the recorded block, warp after warp, each in the order of its program.
    pub executions: Vec<Execution>,
    /// Executions of the recorded block that were left out of `executions` because there are too many.
    pub left_out: u64,
}

/// The addresses of 32 lanes, relative to the 128-byte line that has the lowest.
///
/// The line keeps what matters to the hardware: sectors and banks are the same for every base.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Shape {
    /// Bit `n` is lane `n`.
    pub active: u32,
    /// For each active lane, ascending: bytes from the base.
    pub offsets: Vec<u64>,
    /// For each active lane, in shared and constant memory: the wavefront that serves it. Empty elsewhere.
    pub wavefronts: Vec<u32>,
    /// How many executions of the recorded block have it.
    pub count: u64,
}

/// One execution by one warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The warp of the block.
    pub warp: u32,
    /// The turn of the loop: it grows when a warp comes to an access again.
    pub round: u32,
    /// An index into [`Patterns::shapes`].
    pub shape: u32,
    /// An index into [`Recording::buffers`]; `None` for other memory.
    pub buffer: Option<u32>,
    /// Where the shape's line begins: bytes from the start of the array. It is negative for an array that does not begin
    /// at a line.
    pub base: i64,
    /// When, among all executions that were seen of the block.
    pub order: u64,
    /// How many barriers of all threads of the block lie before it, or a number that grows with them.
    pub epoch: u32,
}
