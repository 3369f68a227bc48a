//! What an optimising assembler makes of accesses to shared memory.
//!
//! `ptxas -O0` issues every access as PTX has it. From `-O1` on it makes one access of 8 or 16 bytes of neighbours, which changes what
//! the hardware counts. No document says when. These rules were found by assembling some 150 small kernels with `ptxas` 13.0 for `sm_90`
//! and reading the machine code; the catalogue's kernels, measured on an H200, agree with them (`scripts/nsight/results`):
//!
//! 1. Members lie in one basic block, read or write elements of the same size (2, 4 or 8 bytes), and have one base address but for a
//!    constant. `.volatile` accesses and those of a guarded instruction stay alone, and so do 1-byte elements and 16-bit integers that
//!    are widened when they are loaded.
//! 2. Loads do not move across a store to shared memory, whatever its address, nor across a barrier, a fence, an atomic on shared
//!    memory or a call. Stores to one base do not move across those, a load, or a store to another base.
//! 3. A place is 4 elements wide, at most 16 bytes, and then 2. It must be aligned: the base (without the constant) needs as many
//!    trailing zero bits as the operations that made it show. An address that changes in a loop has those that its start and its
//!    step have in common. Shared variables have the addresses that they get; dynamic memory comes last, aligned to 16.
//! 4. A place of 4 is taken if stores fill it, or loads all but one element. A place of 2 must be full.
//! 5. A loop of one basic block with a known number of iterations is unrolled first, as a whole or in part, if that makes little code
//!    (see [`unroll`]).
//!
//! Accesses of global memory stay as they are: the alignment of a pointer is not known to the assembler. Loops of several blocks, and
//! those whose number of iterations is not known, are taken as they stand.

mod cut;
mod function;
mod group;
mod trace;
mod unroll;
mod value;

use std::collections::HashMap;

use self::{
    cut::{Block, cut},
    function::{Body, Definitions},
    group::{Key, Member},
    trace::{Before, Event, Trace},
    unroll::Unrolled,
    value::{ALL_ZEROS, Value},
};
use super::{
    grammar::{Lowering, Split},
    instruction::{Issue, Part},
    layout::Layout,
};
use crate::parse::ast::Statement;
use crate::ptx_isa::Modifier;

/// Most passes over a function until its alignments are known; there is no prediction for a function that needs more.
const MOST_PASSES: usize = 40;

/// Shared memory, of this block or of the cluster.
const SHARED: [Modifier; 3] = [Modifier::Shared, Modifier::SharedCta, Modifier::SharedCluster];

/// What is issued in place of statements of a function: of those alone for which it is something else.
pub fn issues<'a>(
    statements: &[Statement<'a>],
    splits: &[Option<Split<'a>>],
    layout: &Layout,
) -> HashMap<usize, Issue> {
    if !may_merge(splits) {
        return HashMap::new();
    }
    let body = Body::new(statements, splits, layout);
    let blocks = cut(&body);
    let Some((values, definitions)) = known_values(&body, &blocks) else { return HashMap::new() };
    let mut issues = HashMap::new();
    for (number, &block) in blocks.iter().enumerate() {
        let before = Before { block: number, values: &values, definitions: &definitions, is_unrolled: false };
        let trace = Trace::new(&body, block.start, block.end, before);
        let unrolled = unroll::unrolled(&body, block, number, &trace, &definitions);
        let before = Before { is_unrolled: unrolled != Unrolled::NONE, ..before };
        let trace = Trace::new(&body, block.start, block.end, before);
        collect(&members(&trace, number, unrolled), unrolled.iterations, &mut issues);
    }
    issues
}

/// Whether there is an access of shared memory at all.
fn may_merge(splits: &[Option<Split<'_>>]) -> bool {
    splits.iter().flatten().any(|split| {
        matches!(split.lowering(), Lowering::Load | Lowering::Store)
            && SHARED.into_iter().any(|space| split.has(space))
    })
}

/// Values of the registers with one definition, and what is known of the others: walks through all blocks until nothing new comes up.
fn known_values<'a>(
    body: &Body<'_, 'a>,
    blocks: &[Block<'a>],
) -> Option<(HashMap<&'a str, Value<'a>>, Definitions<'a>)> {
    let mut definitions = Definitions::default();
    for _ in 0..MOST_PASSES {
        let mut found = Definitions::default();
        let mut values = HashMap::new();
        for (number, block) in blocks.iter().enumerate() {
            let before =
                Before { block: number, values: &values, definitions: &definitions, is_unrolled: false };
            let trace = Trace::new(body, block.start, block.end, before);
            for (name, value) in trace.written {
                found.insert(name, number, &value);
                if body.is_single(name) {
                    values.insert(name, value);
                }
            }
        }
        if found == definitions {
            return Some((values, definitions));
        }
        definitions = found;
    }
    None
}

/// The accesses of a block, or of the iterations of a loop that become one.
fn members<'a>(trace: &Trace<'a>, block: usize, unrolled: Unrolled) -> Vec<Member<'a>> {
    let steps = unroll::steps(trace, block);
    let mut members: Vec<Member<'a>> = Vec::new();
    let (mut load_epoch, mut store_epoch) = (0, 0);
    let mut last_base = None;
    for iteration in 0..unrolled.iterations {
        for Event { reads, writes, access } in &trace.events {
            store_epoch += u32::from(*reads);
            load_epoch += u32::from(*writes);
            let base = access.as_ref().map(|access| &access.address.terms);
            if *writes && base != last_base {
                store_epoch += 1;
                last_base = base;
            }
            let Some(access) = access else { continue };
            let stays = unrolled == Unrolled::NONE || unrolled.is_whole;
            let of_steps = if stays {
                ALL_ZEROS
            } else {
                unroll::zeros_of_steps(&steps, &access.address, unrolled.iterations)
            };
            let (moved, is_known) = unroll::moved(trace, &steps, &access.address, iteration);
            members.push(Member {
                statement: access.statement,
                key: Key {
                    is_store: access.is_store,
                    epoch: if access.is_store { store_epoch } else { load_epoch },
                    base: access.address.terms.clone(),
                    iteration: (!is_known).then_some(iteration),
                    element: access.element,
                },
                offset: access.address.constant.wrapping_add(moved) as i32,
                elements: access.elements,
                zeros: access.address.zeros.min(of_steps),
            });
        }
    }
    members
}

/// Adds what becomes of the accesses of a block.
fn collect(members: &[Member<'_>], iterations: u32, issues: &mut HashMap<usize, Issue>) {
    let mut parts: HashMap<usize, Vec<Part>> = HashMap::new();
    for (statement, part) in group::merged(members) {
        let of_statement = parts.entry(statement).or_default();
        match of_statement.iter_mut().find(|known| (known.bytes, known.below) == (part.bytes, part.below)) {
            Some(known) => known.times += part.times,
            None => of_statement.push(part),
        }
    }
    let widths: HashMap<usize, u32> =
        members.iter().map(|member| (member.statement, member.key.element * member.elements)).collect();
    for (statement, bytes) in widths {
        let parts = parts.remove(&statement).unwrap_or_default();
        if parts != [Part { bytes, below: 0, times: iterations }] {
            issues.insert(statement, Issue { parts, executions: iterations });
        }
    }
}
