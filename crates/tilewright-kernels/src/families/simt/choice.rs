//! Choosing the tile, the split and what to pack.

use super::{
    arithmetic::{Arithmetic, arithmetics},
    cost::Candidate,
    division::{Division, MOST_PARTS, divisions},
    menu::{Tile, menu},
    operand::{Copy, Operand},
    work::Work,
};
use crate::{
    encoding::Encoding,
    kernel::launch::Rejected,
    pack,
    request::{Form, Request},
};
use std::cmp::Ordering;
use tilewright_arch::Gpu;

/// The best candidate, and why the best of every other tile is not it; `Err` when no tile can be used.
pub(crate) fn choose(
    request: &Request,
    work: &Work,
    operands: [Operand; 2],
) -> Result<(Candidate, Vec<Rejected>), Vec<Rejected>> {
    let mut rejected = Vec::new();
    let mut best: Vec<(Candidate, f64)> = Vec::new();
    for &tile in menu(request) {
        let reject = |reason: String| Rejected { candidate: tile.name(), reason };
        if request.tile.is_some_and(|asked| asked != tile.id()) {
            rejected.push(reject("another tile is asked for".into()));
            continue;
        }
        if tile.slices > 1 && !in_any_order(request) {
            rejected.push(reject("its slices take the terms of a sum in another order".into()));
            continue;
        }
        let mut candidates = of_tile(request, work, operands, tile);
        if candidates.is_empty() && request.pack.is_some() {
            rejected.push(reject("very large operands are not packed".into()));
            continue;
        }
        let work = |c: &Candidate| work.in_encoding(c.arithmetic.encoding);
        candidates.retain(|c| c.workspace(&work(c)) <= request.workspace.into());
        if candidates.is_empty() {
            rejected
                .push(reject(format!("it needs more than {} bytes of workspace", most_workspace(request))));
            continue;
        }
        let limit = request.gpu.limits.shared_memory_per_block_optin;
        let fitting = candidates.into_iter().filter(|c| shared_memory(c, request) <= limit);
        match fitting.map(|c| (c, c.cycles(&work(&c)))).min_by(faster) {
            Some(found) => best.push(found),
            None => rejected.push(reject(format!("it needs more than {limit} bytes of shared memory"))),
        }
    }
    let Some(&(chosen, _)) = best.iter().min_by(|x, y| faster(x, y)) else { return Err(rejected) };
    rejected.extend(best.iter().filter(|(c, _)| c.tile != chosen.tile).map(|(other, _)| not_faster(other)));
    Ok((chosen, rejected))
}

/// How much slower is an estimate, which nobody has measured.
pub(crate) fn not_faster(candidate: &Candidate) -> Rejected {
    Rejected { candidate: describe(candidate), reason: "not estimated to be faster".to_owned() }
}

/// Every candidate that can be used, the fastest by its estimate first.
pub(crate) fn ranked(request: &Request, work: &Work, operands: [Operand; 2]) -> Vec<Candidate> {
    let of = |&tile: &Tile| of_tile(request, work, operands, tile);
    let work = |c: &Candidate| work.in_encoding(c.arithmetic.encoding);
    let mut all: Vec<_> = menu(request)
        .iter()
        .flat_map(of)
        .filter(|c| c.workspace(&work(c)) <= request.workspace.into())
        .filter(|c| shared_memory(c, request) <= request.gpu.limits.shared_memory_per_block_optin)
        .map(|c| (c, c.cycles(&work(&c))))
        .collect();
    all.sort_by(faster);
    all.into_iter().map(|(candidate, _)| candidate).collect()
}

/// Only parts that are asked for cannot be done without.
fn most_workspace(request: &Request) -> u64 {
    request.workspace.min(MOST_PARTS)
}

fn faster(x: &(Candidate, f64), y: &(Candidate, f64)) -> Ordering {
    x.1.total_cmp(&y.1)
}

/// A candidate in words.
fn describe(c: &Candidate) -> String {
    let packed = match c.packed {
        [false, false] => "",
        [true, false] => ", A packed",
        [false, true] => ", B packed",
        [true, true] => ", A and B packed",
    };
    let parts = c.division.parts;
    let split = match c.division.whole {
        _ if parts == 1 => String::new(),
        0 => format!(", k in {parts} parts"),
        _ => format!(", k of the last tiles in {parts} parts"),
    };
    let words = c.arithmetic.name();
    let words = if words.is_empty() { String::new() } else { format!(", {words}") };
    format!("{}{words}{split}{packed}", c.tile.name())
}

/// Up to this many waves of blocks, a multiprocessor takes no more of them at a time than the model reckons with.
const FEW_WAVES: u32 = 4;

/// Bytes of shared memory: the stages, each with a tile of A and of B; in the end what all slices but one have.
///
/// A block may have more than it has a use for, so that others are kept away. Blocks of a grid that leaves room on the
/// multiprocessors are handed out unevenly: 128 of them took 1.7 times as long as one on an H100, two or three to a
/// multiprocessor while others idled.
pub(crate) fn shared_memory(c: &Candidate, request: &Request) -> u32 {
    let tile = c.tile;
    let used = needed_memory(&tile, c.copies, request, c.arithmetic.encoding);
    let Gpu { limits, multiprocessors, .. } = request.gpu;
    let blocks = u64::from(c.division.blocks()) * request.batch.count as u64;
    let share = blocks.div_ceil(multiprocessors.into()).max(1);
    let is_spread = blocks > 1 && share < c.resident.into();
    // Blocks of many waves spread by themselves.
    let is_capped = tile.capped && c.division.blocks() <= FEW_WAVES * c.resident * multiprocessors;
    if !is_spread && !is_capped {
        return used;
    }
    let resident = c.resident.min(share as u32);
    // A multiprocessor has little more than one block may have.
    used.max((limits.shared_memory_per_block_optin / (resident + 1) + 1).next_multiple_of(128))
}

/// Whether sums may be computed in any order of their terms.
fn in_any_order(request: &Request) -> bool {
    request.own.is_none_or(|own| own.any_order())
}

/// Every candidate of a tile.
fn of_tile(request: &Request, work: &Work, operands: [Operand; 2], tile: Tile) -> Vec<Candidate> {
    let of = |arithmetic| candidates(request, work, operands, tile, arithmetic);
    arithmetics(request).into_iter().flat_map(of).collect()
}

/// Bytes of shared memory that a block has a use for.
fn needed_memory(tile: &Tile, copies: [Copy; 2], request: &Request, encoding: Encoding) -> u32 {
    let variant = request.variant();
    // Rows are padded by one vector where threads write along k: see `PITCH` in the kernel.
    let pad = |copy: Copy| if copy.is_along_k() { Tile::vector(variant) } else { 0 };
    let pitches = tile.block[0] + pad(copies[0]) + tile.block[1] + pad(copies[1]);
    let stages = tile.stages * tile.k * pitches;
    let parts = (tile.slices - 1) * tile.block[0] * tile.block[1];
    stages.max(parts) * encoding.size(variant) as u32
}

/// Every division and packing that makes sense with a tile and a way to compute terms.
fn candidates(
    request: &Request,
    work: &Work,
    operands: [Operand; 2],
    tile: Tile,
    arithmetic: Arithmetic,
) -> Vec<Candidate> {
    let encoding = arithmetic.encoding;
    let work = &work.in_encoding(encoding);
    if request.form == Form::Plain {
        let copies = match work.variant.is_computed_as_it_is() {
            true => [Copy::AlongK, Copy::AlongSide],
            false => [Copy::WidenAlongK, Copy::WidenAlongSide],
        };
        let division = Division::whole(work, &tile);
        let resident = resident(&tile, copies, request, encoding);
        return vec![Candidate { tile, arithmetic, division, copies, packed: [false, false], resident }];
    }
    let direct = operands.map(|o| o.copy(work.variant, arithmetic.encoding));
    // Packing is for operands that cannot be copied in vectors or without guards as they are.
    let fits = pack::fits(u64::from(work.m) + u64::from(work.n), work.k, work.batch as u64);
    let whole = |i: usize| [work.m, work.n][i].is_multiple_of(tile.block[i]) && work.k.is_multiple_of(tile.k);
    let must = arithmetic.needs_packing() || (arithmetic.crowded && fits && request.pack.is_none());
    let pays = |i: usize| must || request.pack.is_some() || direct[i] != Copy::Vectors || !whole(i);
    let packable = |i: usize| fits && pays(i);
    let is_asked = |packed: [bool; 2]| request.pack.is_none_or(|asked| asked == packed);
    let mut all = Vec::new();
    for packed in [[false, false], [true, false], [false, true], [true, true]] {
        let is_possible = |i: usize| if packed[i] { packable(i) } else { !must };
        if is_asked(packed) && (0..2).all(is_possible) {
            let copies = [0, 1].map(|i| if packed[i] { Copy::Vectors } else { direct[i] });
            let resident = resident(&tile, copies, request, encoding);
            // One thread tracks all terms of a result.
            let divisions = match request.arg {
                true => vec![Division::whole(work, &tile)],
                false => {
                    let splits = if in_any_order(request) { request.splits } else { Some(1) };
                    divisions(work, &tile, resident, splits)
                }
            };
            all.extend(divisions.into_iter().map(|division| Candidate {
                tile,
                arithmetic,
                division,
                copies,
                packed,
                resident,
            }));
        }
    }
    all
}

/// Blocks that share a multiprocessor; at least one, since tiles without room are sorted out afterwards.
fn resident(tile: &Tile, copies: [Copy; 2], request: &Request, encoding: Encoding) -> u32 {
    tile.resident_on(&request.gpu, needed_memory(tile, copies, request, encoding)).max(1)
}
