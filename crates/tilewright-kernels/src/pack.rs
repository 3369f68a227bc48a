//! Copies of operands in the order and type in which a kernel reads them, filled up with the semiring's zero.

use crate::{
    kernel::Variant,
    launch::{Argument, ArgumentValue, Buffer, Launch, Role},
    program::{Program, Source},
    request::Request,
    words::Words,
};
use tilewright_core::Layout;

const PACK: Source = Source { file: "pack.cu", text: include_str!("../kernels/pack.cu") };
/// Terms, and rows of A or columns of B, that a block copies at a time.
pub(crate) const TILE: u32 = 64;
/// More such tiles, or elements a term, are not counted.
const MOST: u64 = 1 << 30;
const THREADS: u32 = 256;
/// Blocks that share a multiprocessor.
const RESIDENT: u32 = 3;

/// One operand of a product, as it is and as it is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub buffer: Buffer,
    /// Rows are the side (rows of A, columns of B), columns the terms.
    pub layout: Layout,
    /// Where the copy goes; `None` for an operand that stays as it is.
    pub copy: Option<Copy>,
}

/// A copy: term by term, `side` elements each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub workspace: usize,
    /// In words; a multiple of [`TILE`].
    pub side: u32,
}

/// What the copies consist of, and whether elements are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub words: Words,
    /// The workspace that holds what each block found; `None` where nothing is looked for.
    pub found: Option<usize>,
}

/// Bytes of a copy that [`fits`], of `side` words for each of `terms` (or groups of them that share a word). It holds whole tiles of these.
pub(crate) fn bytes(variant: Variant, words: Words, side: u32, terms: u32) -> u64 {
    let size = words.size(variant) as u64;
    u64::from(side) * u64::from(terms).next_multiple_of(TILE.into()) * size
}

/// Whether copies of `sides` elements a term are not too large.
pub(crate) fn fits(sides: u64, terms: u32) -> bool {
    let tiles = sides.div_ceil(TILE.into()).saturating_mul(terms.div_ceil(TILE).into());
    sides <= MOST && tiles <= MOST
}

/// The blocks that copy: each of them says what it found.
pub(crate) fn blocks(request: &Request, operands: &[Operand; 2], words: Words) -> u32 {
    let sides: u32 = operands.iter().filter_map(|o| o.copy).map(|copy| copy.side).sum();
    let terms = operands[0].layout.cols as u32;
    let tiles = sides / TILE * terms.div_ceil(TILE * words.terms());
    tiles.min(RESIDENT * request.target.multiprocessors)
}

/// Copies A, B or both.
pub(crate) fn pack(request: &Request, operands: [Operand; 2], style: Style) -> Launch {
    let [a, b] = operands;
    let i32 = |x: u32| ArgumentValue::I32(x as i32);
    let pointer = ArgumentValue::Pointer;
    // An operand that stays is neither read nor written.
    let to = |o: Operand| o.copy.map_or(o.buffer, |copy| Buffer::Workspace(copy.workspace));
    let side = |o: Operand| o.copy.map_or(0, |copy| copy.side);
    let terms = a.layout.cols as u32;
    let arguments = [
        ("A", pointer(a.buffer)),
        ("B", pointer(b.buffer)),
        ("packed_a", pointer(to(a))),
        ("packed_b", pointer(to(b))),
        ("M", i32(a.layout.rows as u32)),
        ("N", i32(b.layout.rows as u32)),
        ("K", i32(terms)),
        ("pitch_a", i32(side(a))),
        ("pitch_b", i32(side(b))),
        ("a_row", ArgumentValue::I64(a.layout.row_stride as i64)),
        ("a_col", ArgumentValue::I64(a.layout.col_stride as i64)),
        ("b_row", ArgumentValue::I64(b.layout.col_stride as i64)),
        ("b_col", ArgumentValue::I64(b.layout.row_stride as i64)),
        ("found", pointer(style.found.map_or(a.buffer, Buffer::Workspace))),
    ];
    let looks = [("LOOKS", u32::from(style.found.is_some()))];
    let mut program = Program::of(PACK, request.variant(), style.words, &looks);
    program.name += if style.found.is_some() { ".looks" } else { "" };
    Launch {
        role: Role::Pack,
        starts_early: request.starts_early(),
        ..Launch::new(
            program,
            "pack",
            [blocks(request, &operands, style.words), 1, 1],
            [THREADS, 1, 1],
            arguments.map(|(name, value)| Argument { name, value }).to_vec(),
        )
    }
}
