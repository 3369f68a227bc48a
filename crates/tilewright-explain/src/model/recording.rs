//! Which addresses the lanes of warps access, each distinct pattern once.

use serde::{Serialize, Serializer, ser::SerializeTuple};

/// What the pictures of a report are drawn from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recording {
    /// The source files.
    pub sources: Vec<SourceText>,
    /// Arrays in global memory.
    pub buffers: Vec<Buffer>,
    /// The block whose executions are recorded.
    pub block: [u32; 3],
    /// A row for each access of the kernel that was executed.
    pub patterns: Vec<Patterns>,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    /// For each active lane, in shared memory: the wavefront that serves it. Empty elsewhere.
    pub wavefronts: Vec<u32>,
    /// How many executions of the recorded block have it.
    pub count: u64,
}

/// One execution by one warp. Serialises to `[warp, round, shape, buffer, base]`.
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
}

impl Serialize for Execution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_tuple(5)?;
        row.serialize_element(&self.warp)?;
        row.serialize_element(&self.round)?;
        row.serialize_element(&self.shape)?;
        row.serialize_element(&self.buffer)?;
        row.serialize_element(&self.base)?;
        row.end()
    }
}
