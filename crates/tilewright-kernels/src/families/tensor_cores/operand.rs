//! How operands lie in memory, and what has to be copied before it is read 16 bytes at a time: by the tensor memory accelerator (TMA), or by threads.

use super::element::{Element, ROW_BYTES};
use crate::{
    argument::{Argument, Buffer},
    tensor::{Swizzle, Tensor, TensorElement},
};
use tilewright_core::Layout;

/// Rows are read that begin at multiples of so many bytes.
pub(crate) const ALIGNMENT: u64 = 16;
/// Bytes of a line of the second-level cache.
const LINE: u64 = 128;
/// Rows that a warp writes at a time.
const SLAB_ROWS: u32 = 16;

/// An operand: a row for each row of A, or each column of B, and a column for each term.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub layout: Layout,
    /// What divides the address of its first element, in bytes.
    pub alignment: u64,
    /// Elements from one product of the batch to the next.
    pub batch: isize,
    pub buffer: Buffer,
    /// Bytes of an element.
    pub bytes: u64,
}

/// An operand as TMA reads it: lines of neighbours, each a pitch after the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lines {
    /// Whether neighbours are terms of one row, instead of rows at one term.
    pub by_terms: bool,
    pub buffer: Buffer,
    /// Neighbours in a line, and lines.
    pub length: u64,
    pub count: u64,
    /// Bytes from one line to the next, and from one product of the batch to the next; 0 where all use the same.
    pub pitch: u64,
    pub batch: u64,
}

/// A copy of an operand whose lines TMA cannot read where they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Copied {
    /// What is copied: a line of the copy for each row.
    pub from: Layout,
    pub batch: isize,
    /// Whether neighbours of what is copied are rows, and become terms.
    pub turns: bool,
    /// Pieces of 16 bytes in a line.
    pub pieces: u64,
    /// Products that have an operand of their own.
    pub products: u64,
}

impl Copied {
    pub fn bytes(&self) -> u64 {
        let line = self.pieces.saturating_mul(ALIGNMENT);
        line.saturating_mul(self.from.rows as u64).saturating_mul(self.products)
    }
}

impl Operand {
    /// As it is; `None` where it has to be copied: lines across are of use only where `across`.
    pub fn lines(&self, products: usize, across: bool) -> Option<Lines> {
        let Layout { rows, cols, row_stride, col_stride } = self.layout;
        let bytes = |stride: isize| u64::try_from(stride).ok()?.checked_mul(self.bytes);
        let batch = bytes(self.batch).filter(|bytes| bytes.is_multiple_of(ALIGNMENT))?;
        if !self.alignment.is_multiple_of(ALIGNMENT) {
            return None;
        }
        let is_line = |stride: isize, length: usize| stride == 1 || length == 1;
        let pitch = |stride: isize, lines: usize, length: usize| match lines {
            // The only line.
            0 | 1 => Some((length as u64 * self.bytes).next_multiple_of(ALIGNMENT)),
            _ => bytes(stride)
                .filter(|&bytes| bytes >= length as u64 * self.bytes && bytes.is_multiple_of(ALIGNMENT)),
        };
        let lines = |by_terms, pitch, length: usize, count: usize| Lines {
            by_terms,
            buffer: self.buffer,
            length: length as u64,
            count: count as u64,
            pitch,
            batch: if products > 1 { batch } else { 0 },
        };
        let by_terms = is_line(col_stride, cols).then(|| pitch(row_stride, rows, cols)).flatten();
        if let Some(pitch) = by_terms {
            return Some(lines(true, pitch, cols, rows));
        }
        let found = (across && is_line(row_stride, rows)).then(|| pitch(col_stride, cols, rows)).flatten();
        found.map(|pitch| lines(false, pitch, rows, cols))
    }

    /// A copy in this workspace, with lines along the neighbours that there are, or along terms where not `across`.
    pub fn copied(&self, products: usize, across: bool, workspace: usize) -> (Lines, Copied) {
        let has_terms = self.layout.row_stride != 1 || self.layout.col_stride == 1;
        let by_terms = has_terms || !across;
        let from = if by_terms { self.layout } else { self.layout.t() };
        let products = if self.batch == 0 { 1 } else { products as u64 };
        // Rows of a box are lines of the cache, but where a copy would be much larger.
        let unit = if from.cols as u64 * self.bytes >= 2 * LINE { LINE } else { ALIGNMENT };
        let pitch = (from.cols as u64 * self.bytes).next_multiple_of(unit);
        let lines = Lines {
            by_terms,
            buffer: Buffer::Workspace(workspace),
            length: from.cols as u64,
            count: from.rows as u64,
            pitch,
            batch: if products > 1 { pitch * from.rows as u64 } else { 0 },
        };
        (
            lines,
            Copied {
                from,
                batch: self.batch,
                turns: !has_terms && !across,
                pieces: pitch / ALIGNMENT,
                products,
            },
        )
    }
}

impl Lines {
    /// Whether rows of boxes are lines of the cache, of which each is read once.
    pub fn are_aligned(&self) -> bool {
        self.pitch.is_multiple_of(LINE) && self.batch.is_multiple_of(LINE)
    }

    /// The tensor whose boxes hold the rows of a tile, `side` of them for a box by terms, and `terms` of a box across.
    pub fn tensor(&self, element: &Element, products: usize, side: u32, terms: u32) -> Argument {
        let tile = [element.terms(), if self.by_terms { side } else { terms }, 1];
        tensor(self, element.map, products, tile)
    }
}

/// C as TMA writes it, 128 bytes of a warp's rows at a time; `None` where TMA cannot. It writes whole pieces of 16 bytes, also where a row ends inside one: what is
/// behind the row would be overwritten.
pub(crate) fn result(c: &Operand, element: TensorElement, products: usize) -> Option<Argument> {
    let lines = c.lines(products, false)?;
    if !(lines.length * u64::from(element.bytes())).is_multiple_of(ALIGNMENT) {
        return None;
    }
    // Products that would share C are no batch.
    let cols = ROW_BYTES / element.bytes();
    (products == 1 || lines.batch > 0).then(|| tensor(&lines, element, products, [cols, SLAB_ROWS, 1]))
}

fn tensor(lines: &Lines, element: TensorElement, products: usize, tile: [u32; 3]) -> Argument {
    let batched = lines.batch > 0;
    let whole = lines.pitch.saturating_mul(lines.count).max(ALIGNMENT);
    Argument::Tensor(Box::new(Tensor {
        memory: lines.buffer,
        element,
        extents: vec![lines.length, lines.count, if batched { products as u64 } else { 1 }],
        strides: vec![lines.pitch, if batched { lines.batch } else { whole }],
        tile: tile.to_vec(),
        swizzle: Swizzle::B128,
    }))
}
