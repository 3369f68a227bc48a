//! What the warps of a block share.

use std::{collections::HashMap, rc::Rc};

use super::{
    cluster::Cluster, contests::Contests, in_flight::InFlight, tile::Tile, undefined::UndefinedShared,
};
use crate::check::{Entry, Known, Order, SharedShadow, Side};
use crate::memory::SharedMemory;
use crate::program::address;

/// A barrier that threads wait at.
#[derive(Clone, Debug, Default)]
pub struct Barrier {
    /// Lanes that have arrived, by warp.
    pub arrived: Vec<u32>,
    /// Lanes of them that wait.
    pub waiting: Vec<u32>,
    /// Arrivals of warps that have arrived once more since.
    pub again: u32,
    /// Threads that are expected; `None`: all of the block.
    pub expected: Option<u32>,
    /// Arrived threads with a true predicate.
    pub count: u32,
    /// The instruction that arrived last.
    pub pc: u32,
    /// Warps of which only some lanes came to an aligned barrier, so far.
    pub partial: Vec<PartialArrival>,
}

/// Some lanes of a warp at an aligned barrier. The others may still come: lanes can part before they meet again.
#[derive(Clone, Copy, Debug)]
pub struct PartialArrival {
    /// The warp.
    pub warp: u32,
    /// The instruction.
    pub pc: u32,
    /// Lanes that came.
    pub came: u32,
    /// Lanes that had not exited then.
    pub live: u32,
    /// Lanes that have gone around the barrier, and on.
    pub skipped: u32,
}

/// Warps of a warpgroup.
pub const WARPS: usize = 4;

/// Number of barriers that a block has.
pub const BARRIERS: usize = 16;

/// Shared memory, barriers and order of a block.
#[derive(Debug)]
pub struct Team {
    /// Linear number of the block.
    pub number: u32,
    /// Block index.
    pub index: [u32; 3],
    /// The rank in its cluster.
    pub rank: u32,
    /// What the blocks of the cluster share.
    pub cluster: Rc<Cluster>,
    /// The last phase of the cluster's barrier that this block knows the end of.
    pub cluster_phase: u32,
    /// Storage of shared variables.
    pub shared: SharedMemory,
    /// Barriers by number.
    pub barriers: Vec<Barrier>,
    /// Threads that have not exited.
    pub live: u32,
    /// Threads of the block.
    pub threads: u32,
    /// What happens before what.
    pub order: Order,
    /// What this block knows of others.
    pub known: Known,
    /// Warps that meet in the loops of atomics.
    pub contests: Contests,
    /// What has no value in shared memory, and where such comes from.
    pub undefined: UndefinedShared,
    /// Tensor maps that the block has changed, and whether it has acquired them since.
    pub maps: HashMap<u64, bool>,
    /// What matrix instructions read that nobody has waited for, by warpgroup.
    pub products: Vec<InFlight>,
    /// What copies of tensors have filled.
    pub tiles: Vec<Tile>,
    /// Accesses to shared memory, if races are looked for.
    pub shadow: Option<SharedShadow>,
}

impl Team {
    /// An address of the own block without its rank, others as they are.
    pub fn own(&self, at: u64) -> u64 {
        match address::rank_of(at) {
            Some(rank) if rank == self.rank => address::without_rank(at),
            _ => at,
        }
    }

    /// An address with its rank.
    pub fn ranked(&self, at: u64) -> u64 {
        if address::rank_of(at).is_some() { at } else { address::by_rank(at, self.rank) }
    }

    /// Lanes of a warp at an instruction, as a side of a finding.
    pub fn side(&self, warp: u32, pc: u32, lanes: u32) -> Side {
        Side { pc: Some(pc), block: self.number, warp, lanes }
    }

    /// An earlier access of the block, as a side of a finding.
    pub fn earlier(&self, entry: Entry) -> Side {
        Side { pc: entry.pc(), block: self.number, warp: entry.warp(), lanes: entry.lanes }
    }

    /// The operands of the warpgroup that a warp belongs to.
    pub fn products_of(&mut self, warp: u32) -> &mut InFlight {
        let group = warp as usize / WARPS;
        if self.products.len() <= group {
            self.products.resize_with(group + 1, InFlight::default);
        }
        &mut self.products[group]
    }

    /// Lanes have exited.
    pub fn exited(&mut self, mask: u32) {
        self.live -= mask.count_ones();
        self.cluster.exited(mask.count_ones());
    }

    /// Threads arrive at the barrier of the cluster. Returns the phase that they wait for the end of.
    pub fn arrive_at_cluster(&mut self, threads: u32, publish: &mut dyn FnMut(u64, u32, &Known)) -> u32 {
        self.order.now += 1;
        self.known.fenced = Some(self.order.now);
        publish(self.cluster.place(), self.order.now, &self.known);
        self.cluster.arrive(threads)
    }

    /// Whether a phase of the barrier is over. The first thread that sees it lets its block know what others have done before.
    pub fn is_over_in_cluster(&mut self, phase: u32, learn: &mut dyn FnMut(u64, &mut Known)) -> bool {
        let now = self.cluster.phase();
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
        cluster.take_written(*rank, |offset, bytes| {
            shadow.written_elsewhere(order, offset, bytes);
            undefined.forget();
        });
    }
}
