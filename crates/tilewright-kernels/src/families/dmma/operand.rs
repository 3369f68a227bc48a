//! How operands lie in memory, and what has to be copied before the tensor memory accelerator (TMA) reads it.

use super::menu::{ELEMENT, TILE_K};
use crate::{
    argument::{Argument, Buffer},
    tensor::{Swizzle, Tensor, TensorElement},
};
use tilewright_core::Layout;

/// TMA reads lines that begin at multiples of so many bytes.
pub(super) const ALIGNMENT: u64 = 16;
/// Bytes of a line of the second-level cache.
const CACHE_LINE: u64 = 128;
const BYTES: u64 = ELEMENT as u64;

/// An operand: a row for each row of A, or each column of B, and a column for each term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub layout: Layout,
    /// What divides the address of its first element, in bytes.
    pub alignment: u64,
    /// Elements from one product of the batch to the next.
    pub batch: isize,
    pub buffer: Buffer,
}

/// An operand as TMA reads it: lines of neighbours, each a pitch after the one before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Copied {
    /// What is copied: a line of the copy for each row.
    pub from: Layout,
    pub batch: isize,
    /// Pairs of elements in a line.
    pub pairs: u64,
    /// Products that have an operand of their own.
    pub products: u64,
}

impl Copied {
    pub fn bytes(&self) -> u64 {
        let line = self.pairs.saturating_mul(ALIGNMENT);
        line.saturating_mul(self.from.rows as u64).saturating_mul(self.products)
    }
}

impl Operand {
    /// As it is; `None` where it has to be copied.
    pub fn lines(&self, products: usize) -> Option<Lines> {
        let Layout { rows, cols, row_stride, col_stride } = self.layout;
        let aligned = |stride: isize| bytes(stride).filter(|bytes| bytes.is_multiple_of(ALIGNMENT));
        let batch = aligned(self.batch)?;
        if !self.alignment.is_multiple_of(ALIGNMENT) {
            return None;
        }
        let is_line = |stride: isize, length: usize| stride == 1 || length == 1;
        let pitch = |stride: isize, lines: usize, length: usize| match lines {
            // The only line.
            0 | 1 => Some((length as u64 * BYTES).next_multiple_of(ALIGNMENT)),
            _ => aligned(stride).filter(|&bytes| bytes >= length as u64 * BYTES),
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
        let across = is_line(row_stride, rows).then(|| pitch(col_stride, cols, rows)).flatten();
        across.map(|pitch| lines(false, pitch, rows, cols))
    }

    /// A copy in this workspace, with lines along the neighbours that there are.
    pub fn copied(&self, products: usize, workspace: usize) -> (Lines, Copied) {
        let by_terms = self.layout.row_stride != 1 || self.layout.col_stride == 1;
        let from = if by_terms { self.layout } else { self.layout.t() };
        let products = if self.batch == 0 { 1 } else { products as u64 };
        // Rows of a box are lines of the cache, but where a copy would be much larger.
        let length = (from.cols as u64).saturating_mul(BYTES);
        let unit = if length >= 2 * CACHE_LINE { CACHE_LINE } else { ALIGNMENT };
        let pitch = length.next_multiple_of(unit);
        let lines = Lines {
            by_terms,
            buffer: Buffer::Workspace(workspace),
            length: from.cols as u64,
            count: from.rows as u64,
            pitch,
            batch: if products > 1 { pitch.saturating_mul(from.rows as u64) } else { 0 },
        };
        (lines, Copied { from, batch: self.batch, pairs: pitch / ALIGNMENT, products })
    }
}

impl Lines {
    /// The tensor whose boxes hold lines of a tile with so many rows.
    pub fn tensor(&self, products: usize, side: u32) -> Argument {
        let batched = self.batch > 0;
        let whole = self.pitch.saturating_mul(self.count).max(ALIGNMENT);
        Argument::Tensor(Box::new(Tensor {
            memory: self.buffer,
            element: TensorElement::F64,
            extents: vec![self.length, self.count, if batched { products as u64 } else { 1 }],
            strides: vec![self.pitch, if batched { self.batch } else { whole }],
            tile: vec![TILE_K, if self.by_terms { side } else { TILE_K }, 1],
            swizzle: Swizzle::B128,
        }))
    }
}

/// Bytes of a stride that is not negative.
fn bytes(stride: isize) -> Option<u64> {
    u64::try_from(stride).ok()?.checked_mul(BYTES)
}
