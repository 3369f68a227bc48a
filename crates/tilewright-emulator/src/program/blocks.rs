//! Basic blocks of a function.

use super::instruction::{Flow, Guard, Inst, Op, Place};

/// A reconvergence point that no code has: the lanes meet again when the function returns, or never.
pub const NO_RECONVERGENCE: u32 = u32::MAX;

/// Instructions that run from the first to the last without a jump.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// First instruction.
    pub start: usize,
    /// Behind the last.
    pub end: usize,
    /// Blocks that may follow.
    pub successors: Vec<u32>,
}

/// Cuts `code` into blocks. `labels[l]` is the instruction that label `l` stands before; jumps name labels.
/// Targets of indexed jumps are in `tables`.
pub fn cut(code: &[Inst], labels: &[usize], tables: &dyn Fn(u32) -> Vec<u32>) -> Vec<Block> {
    let mut leader = vec![false; code.len() + 1];
    leader[0] = true;
    for &label in labels {
        leader[label.min(code.len())] = true;
    }
    for (index, inst) in code.iter().enumerate() {
        if inst.op.flow().is_some() {
            leader[index + 1] = true;
        }
    }
    let starts: Vec<usize> = (0..code.len()).filter(|&index| leader[index]).collect();
    let block_at = |index: usize| starts.partition_point(|&start| start <= index).saturating_sub(1) as u32;
    let target = |label: u32| labels.get(label as usize).copied().unwrap_or(code.len());
    let mut blocks = Vec::with_capacity(starts.len());
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(code.len());
        let last = &code[end - 1];
        let mut successors = Vec::new();
        let mut jump = |label: u32| {
            if target(label) < code.len() {
                successors.push(block_at(target(label)));
            }
        };
        let flow = last.op.flow();
        match flow {
            Some(Flow::Jump) => jump(last.aux),
            Some(Flow::JumpIndexed) => tables(last.aux).into_iter().for_each(jump),
            Some(Flow::Call | Flow::End | Flow::Refusal) | None => {}
        }
        let falls_through = last.guard != Guard::NONE || matches!(flow, Some(Flow::Call) | None);
        if falls_through && end < code.len() {
            successors.push(number as u32 + 1);
        }
        blocks.push(Block { start, end, successors });
    }
    blocks
}

/// The marker at the start of block `number` of `length` instructions; the length is in the place of the destination.
pub fn enter(number: u32, length: u32) -> Inst {
    Inst {
        op: Op::Enter,
        aux: number,
        dst: Place(length as i32),
        a: Place::NONE,
        b: Place::NONE,
        c: Place::NONE,
        guard: Guard::NONE,
    }
}
