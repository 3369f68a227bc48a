//! The basic blocks of a function.

use super::function::Body;
use crate::parse::ast::Statement;
use crate::program::grammar::{Lowering, Split};

/// The statements of a block; it begins behind its label.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    pub start: usize,
    pub end: usize,
    pub label: Option<&'a str>,
}

/// Cuts a function into basic blocks.
pub fn cut<'a>(body: &Body<'_, 'a>) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    let mut open = Block { start: 0, end: 0, label: None };
    for (index, (statement, split)) in body.statements.iter().zip(body.splits).enumerate() {
        let (ends_at, next) = match (statement, split) {
            (Statement::Label(name), _) => (index, Some(*name)),
            (_, Some(split)) if jumps(split) => (index + 1, None),
            _ => continue,
        };
        blocks.push(Block { end: ends_at, ..open });
        open = Block { start: index + 1, end: index + 1, label: next };
    }
    blocks.push(Block { end: body.statements.len(), ..open });
    blocks
}

fn jumps(split: &Split<'_>) -> bool {
    use Lowering::*;
    matches!(split.lowering(), Branch | BranchIndexed | Return | Exit | Trap)
}
