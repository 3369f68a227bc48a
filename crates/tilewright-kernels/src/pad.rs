//! Copies of operands in the order that a kernel reads them, filled up with the semiring's zero.

use crate::{
    launch::{Argument, ArgumentValue, Buffer, Launch},
    program::{Program, Source},
    request::Request,
};
use tilewright_core::Layout;

const PAD: Source = Source { file: "pad.cu", text: include_str!("../kernels/pad.cu") };
/// Rows and columns that a block copies.
pub(crate) const TILE: u32 = 64;
/// Tiles that the rows of a copy may have: the grid's limit along y.
pub(crate) const MOST_ROWS: u32 = 65_535;
const THREADS: u32 = 512;

/// Copies a matrix of any strides into a row-major workspace of `rows x cols`, where `cols` is a multiple of four.
pub(crate) fn pad(
    request: &Request,
    from: Buffer,
    l: Layout,
    workspace: usize,
    [rows, cols]: [u32; 2],
) -> Launch {
    let arguments = [
        ("source", ArgumentValue::Pointer(from)),
        ("copy", ArgumentValue::Pointer(Buffer::Workspace(workspace))),
        ("rows", ArgumentValue::I32(l.rows as i32)),
        ("cols", ArgumentValue::I32(l.cols as i32)),
        ("row_stride", ArgumentValue::I64(l.row_stride as i64)),
        ("col_stride", ArgumentValue::I64(l.col_stride as i64)),
        ("copy_rows", ArgumentValue::I32(rows as i32)),
        ("copy_cols", ArgumentValue::I32(cols as i32)),
    ];
    Launch {
        starts_early: request.starts_early(),
        ..Launch::new(
            Program::of(PAD, request.variant(), &[]),
            "pad",
            [cols.div_ceil(TILE), rows.div_ceil(TILE), 1],
            [THREADS, 1, 1],
            arguments.map(|(name, value)| Argument { name, value }).to_vec(),
        )
    }
}
