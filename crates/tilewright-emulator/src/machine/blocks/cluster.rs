//! Blocks that run together: a cluster, whose blocks reach each other's shared memory and meet at a barrier.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::{
    block::{Block, Progress},
    team::Team,
    worker::{Launch, Worker},
};
use crate::check::{Known, Order};
use crate::memory::{Object, SharedLayout};
use crate::program::{Program, address};

/// Steps of a block before the next one of its cluster has its turn.
const TURN: i64 = 1 << 12;

/// What the blocks of a cluster share.
#[derive(Debug, Default)]
pub struct Cluster {
    /// The number of its first block.
    number: u32,
    /// Threads that have not exited.
    live: Cell<u32>,
    /// Threads that have come to the barrier.
    arrived: Cell<u32>,
    /// How often all have come.
    phase: Cell<u32>,
    /// The storage of each block's shared memory, by rank. It stays where it is as long as a block of the cluster runs.
    storage: RefCell<Vec<*mut u8>>,
    /// Bytes of shared memory that another block has written: the rank of whose they are, the offset into the storage, and how many.
    written: RefCell<Vec<(u32, u32, u32)>>,
}

impl Cluster {
    /// Blocks of the cluster.
    pub fn size(&self) -> u32 {
        self.storage.borrow().len() as u32
    }

    /// Threads have exited: the barrier does not wait for them.
    pub fn exited(&self, threads: u32) {
        self.live.set(self.live.get().saturating_sub(threads));
        self.complete();
    }

    fn complete(&self) {
        let arrived = self.arrived.get();
        if arrived > 0 && arrived >= self.live.get() {
            self.arrived.set(0);
            self.phase.set(self.phase.get().wrapping_add(1));
        }
    }

    /// Where the blocks of a cluster publish what they did before its barrier: no address of memory.
    fn place(&self) -> u64 {
        u64::MAX - u64::from(self.number)
    }

    /// Where what was done before an arrival is published, for an mbarrier at an address by rank: no address of memory.
    pub fn place_of(&self, at: u64) -> u64 {
        1 << 63 | u64::from(self.number) << 32 | at & u64::from(u32::MAX)
    }

    /// The shared memory that an address of another block, or of the own one by its rank, leads to; and the rank.
    pub fn object(&self, layout: &SharedLayout, at: u64) -> Option<(u32, Object)> {
        let rank = address::rank_of(at)?;
        let (offset, bytes) = layout.place(at)?;
        let data = *self.storage.borrow().get(rank as usize)?;
        let start = at & !address::CLUSTER_OFFSET;
        // SAFETY: all blocks of a cluster have the same layout, which keeps every variable inside the storage.
        let data = unsafe { data.add(offset as usize) };
        Some((rank, Object { start, bytes: bytes.into(), data, writable: true }))
    }

    /// Notes that `bytes` bytes were written `offset` bytes into the storage of a block.
    pub fn note_written(&self, rank: u32, layout: &SharedLayout, at: u64, bytes: u32) {
        let Some((offset, _)) = layout.place(at) else { return };
        let inside = (at & address::CLUSTER_OFFSET) as u32;
        self.written.borrow_mut().push((rank, offset + inside, bytes));
    }
}

impl Team {
    /// Threads arrive at the barrier of the cluster. Returns the phase that they wait for the end of.
    pub fn arrive_at_cluster(&mut self, threads: u32, publish: &mut dyn FnMut(u64, u32, &Known)) -> u32 {
        self.order.now += 1;
        self.known.fenced = Some(self.order.now);
        publish(self.cluster.place(), self.order.now, &self.known);
        let phase = self.cluster.phase.get();
        self.cluster.arrived.set(self.cluster.arrived.get() + threads);
        self.cluster.complete();
        phase
    }

    /// Whether a phase of the barrier is over. The first thread that sees it lets its block know what others have done before.
    pub fn is_over_in_cluster(&mut self, phase: u32, learn: &mut dyn FnMut(u64, &mut Known)) -> bool {
        let now = self.cluster.phase.get();
        if now == phase {
            return false;
        }
        if self.cluster_phase != now {
            self.cluster_phase = now;
            self.order.all();
            learn(self.cluster.place(), &mut self.known);
        }
        true
    }

    /// Takes note of what other blocks have written to its shared memory.
    pub fn take_written(&mut self) {
        let Self { cluster, shadow: Some(shadow), undefined, order, rank, .. } = self else { return };
        let order: &Order = order;
        cluster.written.borrow_mut().retain(|&(of, offset, bytes)| {
            if of == *rank {
                shadow.written_elsewhere(order, offset, bytes);
                undefined.forget();
            }
            of != *rank
        });
    }
}

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
        let shared = Rc::new(Cluster {
            number: linear(first),
            live: Cell::new(threads * x * y * z),
            ..Cluster::default()
        });
        let block = |rank: u32| {
            let inner = split(rank, launch.cluster);
            let index = std::array::from_fn(|axis| first[axis] + inner[axis]);
            let mut block = Block::new(launch, index, linear(index), rank, shared.clone());
            shared.storage.borrow_mut().push(block.team.shared.data());
            block
        };
        let blocks: Vec<Block> = (0..x * y * z).map(block).collect();
        Self { done: vec![false; blocks.len()], blocks }
    }

    /// Executes for at most `turn` instructions, roughly.
    pub fn run(&mut self, worker: &mut Worker<'_>, turn: i64) -> Progress {
        if let [block] = &mut self.blocks[..] {
            return block.run(worker, turn);
        }
        let end = worker.steps.saturating_add(turn);
        loop {
            for (block, done) in self.blocks.iter_mut().zip(&mut self.done).filter(|(_, done)| !**done) {
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
        }
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
