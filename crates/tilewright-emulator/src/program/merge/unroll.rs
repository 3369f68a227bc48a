//! Loops that become straight code.

use std::collections::HashMap;

use super::{
    cut::Block,
    function::{Body, Definitions},
    trace::{Comparison, Trace},
    value::{ALL_ZEROS, Atom, Origin, Value},
};
use crate::parse::ast::{Guard, Operand, Statement};
use crate::program::grammar::Lowering;
use crate::ptx_isa::Modifier;

/// Most code of a loop that is unrolled as a whole, where a load counts twice.
///
/// `ptxas` 13.0 was given loops of 2 to 32 iterations of 1 to 16 loads and as many multiply-adds as it would still unroll: `n` iterations
/// of size `s` are unrolled up to `n (s - saved(n))` = 360 to 390, a loop of the catalogue with 400.
const MOST_CODE: u32 = 400;

/// What an iteration is taken to save when its loop is unrolled, if that is not more than half of it.
fn saved(iterations: u32) -> u32 {
    (2 * iterations).saturating_sub(8).min(12)
}

/// Most code of a loop that is unrolled in part, with one instruction for each iteration. The same loops: 102 iterations of 3, 51 of 6, 16
/// of 19, 8 of 36.
const MOST_CODE_IN_PART: u32 = 306;

/// Loops of which fewer iterations have room stay as they are.
const LEAST_ROOM: u32 = 4;

/// Most iterations that are tried out.
const MOST_ITERATIONS: u32 = 4096;

/// What each register that counts adds per iteration.
pub fn steps<'a>(trace: &Trace<'a>, block: usize) -> HashMap<&'a str, u32> {
    let step = |(&name, value): (&&'a str, &Value<'a>)| {
        let start = Atom { name, origin: Origin::Entry(block) };
        (value.terms[..] == [(start, 1)]).then_some((name, value.constant))
    };
    trace.written.iter().filter_map(step).collect()
}

/// Trailing zeros of what the base of `address` moves by in `iterations`, which its alignment cannot be more than.
pub fn zeros_of_steps(steps: &HashMap<&str, u32>, address: &Value<'_>, iterations: u32) -> u32 {
    let moves = address.terms.iter().filter_map(|(atom, factor)| {
        let step = steps.get(atom.name)?;
        Some(factor.wrapping_mul(step.wrapping_mul(iterations)).trailing_zeros())
    });
    moves.min().unwrap_or(ALL_ZEROS)
}

/// How far `address` has moved in `iteration`, and whether the rest of it is the same in all.
pub fn moved(
    trace: &Trace<'_>,
    steps: &HashMap<&str, u32>,
    address: &Value<'_>,
    iteration: u32,
) -> (u32, bool) {
    let mut moved = 0u32;
    let mut is_known = true;
    for (atom, factor) in &address.terms {
        match (steps.get(atom.name), trace.written.contains_key(atom.name)) {
            (Some(step), _) => moved = moved.wrapping_add(factor.wrapping_mul(step.wrapping_mul(iteration))),
            (None, is_written) => is_known &= !is_written,
        }
    }
    (moved, is_known)
}

/// Iterations that become straight code, and whether those are all; 1 for a block that is no such loop.
pub fn unrolled<'a>(
    body: &Body<'_, 'a>,
    block: Block<'a>,
    number: usize,
    trace: &Trace<'a>,
    definitions: &Definitions<'a>,
) -> Unrolled {
    let mut statements = body.statements[block.start..block.end].iter();
    let stays = statements.any(|statement| matches!(statement, Statement::NoUnroll));
    let known = || {
        let guard = repeats_while(body, block)?;
        let comparison = trace.comparisons.get(guard.predicate)?;
        let steps = steps(trace, number);
        let all = count(comparison, guard.when, number, &steps, definitions)?;
        Some((all, trace.size.saturating_sub(steps.len() as u32)))
    };
    let Some((all, size)) = known().filter(|_| !stays) else { return Unrolled::NONE };
    let each = size.saturating_add(trace.loads).saturating_sub(saved(all)).max(size.div_ceil(2));
    if all.saturating_mul(each) <= MOST_CODE {
        return Unrolled { iterations: all, is_whole: true };
    }
    let room = MOST_CODE_IN_PART / (size + 1);
    if room < LEAST_ROOM {
        return Unrolled::NONE;
    }
    let iterations = (1..=room.min(all)).rev().find(|part| all % part == 0).unwrap_or(1);
    Unrolled { iterations, is_whole: false }
}

/// What becomes of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unrolled {
    /// Iterations that become straight code.
    pub iterations: u32,
    /// Whether those are all, so that no loop is left.
    pub is_whole: bool,
}

impl Unrolled {
    /// Not a loop, or one that stays.
    pub const NONE: Self = Self { iterations: 1, is_whole: false };
}

/// The condition under which a block follows itself.
fn repeats_while<'a>(body: &Body<'_, 'a>, block: Block<'a>) -> Option<Guard<'a>> {
    let last = (block.start..block.end).next_back()?;
    let (Statement::Instruction(inst), Some(split)) = (&body.statements[last], &body.splits[last]) else {
        return None;
    };
    let target = match inst.operands[..] {
        [Operand::Name(target)] if split.lowering() == Lowering::Branch => target,
        _ => return None,
    };
    inst.guard.filter(|_| block.label == Some(target))
}

/// How often a loop runs whose counter begins with a known number and is compared with one.
fn count(
    comparison: &Comparison<'_>,
    when: bool,
    block: usize,
    steps: &HashMap<&str, u32>,
    definitions: &Definitions<'_>,
) -> Option<u32> {
    let limit = comparison.right.number()?;
    let [(Atom { name, origin }, 1)] = comparison.left.terms[..] else { return None };
    let step = *steps.get(name).filter(|_| origin == Origin::Entry(block))?;
    let mut starts = definitions.of(name, Some(block)).map(|definition| definition.number);
    let start = starts.next()??;
    if starts.any(|other| other != Some(start)) {
        return None;
    }
    let mut counter = start.wrapping_add(comparison.left.constant);
    for iterations in 1..=MOST_ITERATIONS {
        if holds(comparison, counter, limit)? != when {
            return Some(iterations);
        }
        counter = counter.wrapping_add(step);
    }
    None
}

fn holds(comparison: &Comparison<'_>, left: u32, right: u32) -> Option<bool> {
    let order = if comparison.is_signed { (left as i32).cmp(&(right as i32)) } else { left.cmp(&right) };
    Some(match comparison.how? {
        Modifier::Ne => order.is_ne(),
        Modifier::Lt => order.is_lt(),
        Modifier::Le => order.is_le(),
        Modifier::Gt => order.is_gt(),
        Modifier::Ge => order.is_ge(),
        _ => return None,
    })
}
