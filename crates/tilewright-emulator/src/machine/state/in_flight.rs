//! What matrix instructions of a warpgroup have read, until somebody waits for them.

use std::collections::VecDeque;

/// Sixteen bytes of an operand.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub at: u64,
    pub data: [u8; 16],
    /// The instruction.
    pub pc: u32,
}

/// The operands of a warpgroup's instructions, by group.
#[derive(Debug, Default)]
pub struct InFlight {
    open: Vec<Piece>,
    closed: VecDeque<Vec<Piece>>,
    /// Groups that have been closed, and those of them that are done.
    count: u32,
    done: u32,
}

impl InFlight {
    /// An instruction reads these pieces.
    pub fn issue(&mut self, pieces: Vec<Piece>) {
        self.open.extend(pieces);
    }

    /// Group `number` is closed, if it is not yet: returns that.
    pub fn close(&mut self, number: u32) -> bool {
        let is_open = self.count < number;
        if is_open {
            self.count = number;
            self.closed.push_back(std::mem::take(&mut self.open));
        }
        is_open
    }

    /// The next group is done, as long as not all of the first `target` are: what it has read.
    pub fn collect(&mut self, target: u32) -> Option<Vec<Piece>> {
        if self.done >= target {
            return None;
        }
        self.done += 1;
        self.closed.pop_front()
    }
}
