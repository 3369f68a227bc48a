//! The blocks of a cluster, which run together.

use std::rc::Rc;

use super::block::{Block, Progress};
use crate::machine::state::{
    cluster::Cluster,
    worker::{Launch, Worker},
};
use crate::program::Program;

/// Steps of a block before the next one of its cluster has its turn.
const TURN: i64 = 1 << 12;

/// The blocks of a cluster; a block by itself is one, too.
#[derive(Debug)]
pub struct Group {
    blocks: Vec<Block>,
    done: Vec<bool>,
}

impl Group {
    /// Cluster `number` of a launch.
    pub fn new(launch: &Launch<'_>, number: u32) -> Self {
        let clusters: [u32; 3] = std::array::from_fn(|axis| launch.grid[axis] / launch.cluster[axis].max(1));
        let [x, y, z] = launch.cluster;
        let at = split(number, clusters);
        let linear = |index: [u32; 3]| (index[2] * launch.grid[1] + index[1]) * launch.grid[0] + index[0];
        let first: [u32; 3] = std::array::from_fn(|axis| at[axis] * launch.cluster[axis]);
        let threads = launch.block.iter().product::<u32>();
        let shared = Rc::new(Cluster::new(linear(first), threads * x * y * z));
        let block = |rank: u32| {
            let inner = split(rank, launch.cluster);
            let index = std::array::from_fn(|axis| first[axis] + inner[axis]);
            let mut block = Block::new(launch, index, linear(index), rank, shared.clone());
            shared.add(block.team.shared.data());
            block
        };
        let blocks: Vec<Block> = (0..x * y * z).map(block).collect();
        Self { done: vec![false; blocks.len()], blocks }
    }

    /// Executes for at most `turn` instructions, roughly.
    pub fn run(&mut self, worker: &mut Worker<'_>, turn: i64) -> Progress {
        if let [block] = &mut self.blocks[..] {
            let progress = block.run(worker, turn);
            return if progress == Progress::More { self.unless_stuck(worker) } else { progress };
        }
        let end = worker.steps.saturating_add(turn);
        loop {
            for (block, done) in self.blocks.iter_mut().zip(&mut self.done).filter(|(_, done)| !**done) {
                worker.check_incoming(&mut block.team);
                block.team.take_written();
                match block.run(worker, TURN) {
                    Progress::Done => *done = true,
                    Progress::More => {}
                    Progress::Failed => return Progress::Failed,
                }
            }
            if self.done.iter().all(|&done| done) {
                return Progress::Done;
            }
            if worker.steps >= end || worker.is_to_stop() {
                return Progress::More;
            }
            if self.unless_stuck(worker) == Progress::Done {
                return Progress::Done;
            }
        }
    }

    /// Done, and reported, if all threads that are left wait for each other.
    fn unless_stuck(&mut self, worker: &mut Worker<'_>) -> Progress {
        let left = self.blocks.iter_mut().zip(&self.done).filter(|(_, done)| !**done);
        let mut left: Vec<&mut Block> = left.map(|(block, _)| block).collect();
        let waits = left.iter().all(|block| block.only_waits());
        if !waits || left.iter_mut().any(|block| block.unblock(worker.program)) {
            return Progress::More;
        }
        left.into_iter().for_each(|block| block.deadlock(worker));
        Progress::Done
    }

    /// Blocks of the group.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Bytes that levels of recursion behind the first have taken.
    pub fn deep_bytes(&self, program: &Program) -> u64 {
        self.blocks.iter().map(|block| block.deep_bytes(program)).sum()
    }
}

/// Linear number to index.
fn split(number: u32, extent: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = extent.map(|extent| extent.max(1));
    [number % x, number / x % y, number / x / y]
}
