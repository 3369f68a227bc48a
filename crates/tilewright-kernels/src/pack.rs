//! Copies of operands in the order and type in which a kernel reads them, filled up with the semiring's zero.

use crate::{
    argument::{Argument, Buffer, NamedArgument},
    encoding::Encoding,
    kernel::launch::{Launch, Role},
    predicate::{Decided, Predicate},
    program::{Program, Source},
    request::Request,
    variant::Variant,
};
use tilewright_core::Layout;

const PACK: Source = Source { file: "pack.cu", text: include_str!("../kernels/pack.cu") };
/// Terms, and rows of A or columns of B, that a block copies at a time.
pub(crate) const TILE: u32 = 64;
/// More such tiles, or elements a term, are not counted.
const MOST: u64 = 1 << 30;
const THREADS: u32 = 256;

/// Blocks that share a multiprocessor: as many as there are registers for, by the bounds of `pack.cu`.
fn resident(encoding: Encoding) -> u32 {
    if encoding.columns() == 2 || encoding == Encoding::Near { 2 } else { 3 }
}

/// One operand of a product, as it is and as it is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub buffer: Buffer,
    /// Rows are the side (rows of A, columns of B), columns the terms.
    pub layout: Layout,
    /// Elements to the same operand of the next product.
    pub batch: isize,
    /// Where the copy goes; `None` for an operand that stays as it is.
    pub copy: Option<Copy>,
}

/// A copy: term by term, `side` elements each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub workspace: usize,
    /// In words; a multiple of [`TILE`].
    pub side: u32,
    /// Words to the copy of the next product; 0 where all have the same.
    pub batch: isize,
}

/// What the copies consist of, and whether elements are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub encoding: Encoding,
    /// The workspace that holds what each block found; `None` where nothing is looked for.
    pub found: Option<usize>,
    /// Whether it copies; always where nothing is decided.
    pub predicate: Option<(Predicate, Decided)>,
}

/// Words of a copy that [`fits`], `side` of them for each of `terms` (or groups of them that share a word). It holds whole tiles of these.
pub(crate) fn words_of(side: u32, terms: u32) -> u64 {
    u64::from(side) * u64::from(terms).next_multiple_of(TILE.into())
}

/// Bytes of such a copy.
pub(crate) fn bytes(variant: Variant, encoding: Encoding, side: u32, terms: u32) -> u64 {
    words_of(side, terms) * encoding.size(variant) as u64
}

/// Whether copies of `sides` elements a term, for so many products, are not too large.
pub(crate) fn fits(sides: u64, terms: u32, products: u64) -> bool {
    let tiles = sides.div_ceil(TILE.into()).saturating_mul(terms.div_ceil(TILE).into());
    sides <= MOST && tiles.saturating_mul(products) <= MOST
}

/// The blocks that copy: each of them says what it found.
pub(crate) fn blocks(request: &Request, operands: &[Operand; 2], encoding: Encoding) -> u32 {
    let terms = (operands[0].layout.cols as u32).div_ceil(TILE * encoding.terms());
    let tiles = |copy: Copy| {
        let products = if copy.batch == 0 { 1 } else { request.batch.count };
        u64::from(copy.side / TILE) * u64::from(terms) * products as u64
    };
    let tiles: u64 = operands.iter().filter_map(|o| o.copy).map(tiles).sum();
    tiles.min((resident(encoding) * request.gpu.multiprocessors).into()) as u32
}

/// Copies A, B or both.
pub(crate) fn pack(request: &Request, operands: [Operand; 2], style: Style) -> Launch {
    let [a, b] = operands;
    let i32 = |x: u32| Argument::i32(x as i32);
    let pointer = Argument::Pointer;
    // An operand that stays is neither read nor written.
    let to = |o: Operand| o.copy.map_or(o.buffer, |copy| Buffer::Workspace(copy.workspace));
    let side = |o: Operand| o.copy.map_or(0, |copy| copy.side);
    let batch = |o: Operand| o.copy.map_or(0, |copy| copy.batch as i64);
    let terms = a.layout.cols as u32;
    let (predicate, decided) = style.predicate.unzip();
    let workspace = |index: Option<usize>| pointer(index.map_or(a.buffer, Buffer::Workspace));
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
        ("a_row", Argument::i64(a.layout.row_stride as i64)),
        ("a_col", Argument::i64(a.layout.col_stride as i64)),
        ("b_row", Argument::i64(b.layout.col_stride as i64)),
        ("b_col", Argument::i64(b.layout.row_stride as i64)),
        ("a_batch", Argument::i64(a.batch as i64)),
        ("b_batch", Argument::i64(b.batch as i64)),
        ("packed_a_batch", Argument::i64(batch(a))),
        ("packed_b_batch", Argument::i64(batch(b))),
        ("batches", i32(request.batch.count as u32)),
        ("found", workspace(style.found)),
        ("decision", workspace(decided.map(|d| d.decision))),
        ("seen", workspace(decided.map(|d| d.seen))),
        ("scanners", i32(decided.map_or(0, |d| d.scanners))),
        ("earlier", i32(predicate.map_or(0, |predicate| predicate.earlier))),
        ("own", i32(predicate.map_or(0, |predicate| predicate.own))),
    ];
    let constants = [("LOOKS", u32::from(style.found.is_some())), ("TURN", u32::from(predicate.is_some()))];
    let mut program = Program::of(PACK, request.variant(), style.encoding, &constants);
    program.name += if style.found.is_some() { ".looks" } else { "" };
    program.name += if predicate.is_some() { ".predicated" } else { "" };
    Launch {
        role: Role::Pack,
        is_for_some: predicate.is_some_and(Predicate::is_for_some),
        starts_early: request.starts_early(),
        ..Launch::new(
            program,
            "pack",
            [blocks(request, &operands, style.encoding), 1, 1],
            [THREADS, 1, 1],
            arguments.map(|(name, value)| NamedArgument { name, value }).to_vec(),
        )
    }
}
