//! The recording as the page carries it: a loop is one row, however often it turns.

use serde::Serialize;
use std::collections::HashMap;
use tilewright_explain::{Buffer, Patterns, Recording, Shape};

/// A line of four sectors, a row of all banks.
const LINE_BYTES: i64 = 128;

#[derive(Serialize)]
pub struct Packed<'a> {
    buffers: &'a [Buffer],
    block: [u32; 3],
    patterns: Vec<PackedPatterns>,
}

#[derive(Serialize)]
struct PackedPatterns {
    access: usize,
    shapes: Vec<PackedShape>,
    runs: Vec<Run>,
    left_out: u64,
}

/// Offsets from the lowest address.
#[derive(Serialize)]
struct PackedShape {
    active: u32,
    offsets: Vec<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    wavefronts: Vec<u32>,
    count: u64,
}

/// Executions by a warp that differ by the same steps: warp, round, shape, buffer, base, how many, steps of the round and of the base, and
/// where in a line of 128 bytes the array begins.
#[derive(Clone, Copy, Serialize)]
struct Run(u32, u32, usize, Option<u32>, i64, u32, i64, i64, i64);

impl<'a> Packed<'a> {
    pub fn new(recording: &'a Recording) -> Self {
        Self {
            buffers: &recording.buffers,
            block: recording.block,
            patterns: recording.patterns.iter().map(pack).collect(),
        }
    }
}

fn pack(patterns: &Patterns) -> PackedPatterns {
    let mut shapes: Vec<PackedShape> = Vec::new();
    let mut known: HashMap<(u32, Vec<u64>, Vec<u32>), usize> = HashMap::new();
    // Shapes that differ by where in a line they begin are one here.
    let moved: Vec<(usize, u64)> = patterns
        .shapes
        .iter()
        .map(|shape| {
            let lowest = shape.offsets.iter().copied().min().unwrap_or(0);
            (place(shape, lowest, &mut shapes, &mut known), lowest)
        })
        .collect();
    let mut runs: Vec<Run> = Vec::new();
    for execution in &patterns.executions {
        let (shape, lowest) = moved[execution.shape as usize];
        let phase = (-execution.base).rem_euclid(LINE_BYTES);
        let next = Run(
            execution.warp,
            execution.round,
            shape,
            execution.buffer,
            execution.base + lowest as i64,
            1,
            0,
            0,
            phase,
        );
        let is_taken = runs.last_mut().is_some_and(|run| run.takes(&next));
        if !is_taken {
            runs.push(next);
        }
    }
    PackedPatterns { access: patterns.access, shapes, runs, left_out: patterns.left_out }
}

fn place(
    shape: &Shape,
    lowest: u64,
    shapes: &mut Vec<PackedShape>,
    known: &mut HashMap<(u32, Vec<u64>, Vec<u32>), usize>,
) -> usize {
    let offsets: Vec<u64> = shape.offsets.iter().map(|offset| offset - lowest).collect();
    let key = (shape.active, offsets.clone(), shape.wavefronts.clone());
    let index = *known.entry(key).or_insert_with(|| {
        let wavefronts = shape.wavefronts.clone();
        shapes.push(PackedShape { active: shape.active, offsets, wavefronts, count: 0 });
        shapes.len() - 1
    });
    shapes[index].count += shape.count;
    index
}

impl Run {
    /// Whether the next execution is one more of this run, which then has it.
    fn takes(&mut self, next: &Self) -> bool {
        let Self(warp, round, shape, buffer, base, count, round_step, base_step, phase) = *self;
        if (warp, shape, buffer, phase) != (next.0, next.2, next.3, next.8) {
            return false;
        }
        let done = i64::from(count);
        if count == 1 {
            (self.6, self.7) = (i64::from(next.1) - i64::from(round), next.4 - base);
        } else if (i64::from(next.1), next.4)
            != (i64::from(round) + done * round_step, base + done * base_step)
        {
            return false;
        }
        self.5 += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_explain::Execution;

    fn execution(round: u32, shape: u32, base: i64) -> Execution {
        Execution { warp: 0, round, shape, buffer: Some(0), base, order: 0, epoch: 0 }
    }

    #[test]
    fn a_loop_is_one_row_though_it_begins_anywhere_in_a_line() {
        // Two lanes, 256 bytes apart; each turn goes on by 64 bytes, and so begins at 0 or 64 of a line.
        let shape =
            |first: u64| Shape { active: 3, offsets: vec![first, first + 256], wavefronts: vec![], count: 2 };
        let patterns = Patterns {
            access: 7,
            shapes: vec![shape(0), shape(64)],
            executions: vec![
                execution(0, 0, 0),
                execution(1, 1, 0),
                execution(2, 0, 128),
                execution(3, 1, 128),
            ],
            left_out: 0,
        };
        let packed = pack(&patterns);
        assert_eq!((packed.shapes.len(), packed.shapes[0].count), (1, 4));
        assert_eq!(packed.shapes[0].offsets, [0, 256]);
        let runs: Vec<_> = packed.runs.iter().map(|r| (r.1, r.4, r.5, r.6, r.7)).collect();
        assert_eq!(runs, [(0, 0, 4, 1, 64)]);
    }
}
