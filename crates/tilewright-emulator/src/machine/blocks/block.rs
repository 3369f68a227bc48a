//! A block that a worker has taken.

use std::rc::Rc;

use crate::check::{Known, Order, SharedShadow};
use crate::machine::{
    state::{
        cluster::Cluster,
        contests::Contests,
        options::Races,
        team::{BARRIERS, Barrier, Team},
        warp::Warp,
        worker::Launch,
    },
    watch::definedness::begin_undefined,
};
use crate::memory::SharedMemory;
use crate::program::Program;

/// A resident block.
#[derive(Debug)]
pub struct Block {
    pub warps: Vec<Warp>,
    pub team: Team,
}

/// How far a block has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All threads have exited, or wait for ever.
    Done,
    /// It has used up its turn.
    More,
    /// The launch has failed.
    Failed,
}

impl Block {
    /// Block `number` of a launch, which has this rank in its cluster.
    pub fn new(launch: &Launch<'_>, index: [u32; 3], number: u32, rank: u32, cluster: Rc<Cluster>) -> Self {
        let threads = launch.block.iter().product::<u32>();
        let entry = launch.entry;
        let start = entry.start.unwrap_or(0);
        let mut warps = (0..threads.div_ceil(32))
            .map(|warp| {
                let mask = u32::MAX >> (32 - (threads - 32 * warp).min(32));
                Warp::new(warp, mask, start, entry.frame_offset, launch.program.frame_bytes)
            })
            .collect::<Vec<_>>();
        let order = Order::new(warps.len());
        let shadow = (launch.races != Races::Ignore)
            .then(|| SharedShadow::new(launch.shared.bytes, launch.granule_shift));
        let mut team = Team {
            number,
            index,
            rank,
            cluster,
            cluster_phase: 0,
            shared: SharedMemory::new(launch.shared.bytes),
            barriers: vec![Barrier::default(); BARRIERS],
            live: threads,
            threads,
            order,
            known: Known::default(),
            contests: Contests::new(warps.len()),
            undefined: Default::default(),
            products: Vec::new(),
            tiles: Vec::new(),
            maps: Default::default(),
            shadow,
        };
        for warp in &mut warps {
            begin_undefined(launch.program, entry, warp, &mut team, entry.frame_offset, warp.initial);
        }
        Self { warps, team }
    }

    /// Bytes that levels of recursion behind the first have taken.
    pub fn deep_bytes(&self, program: &Program) -> u64 {
        self.warps.iter().map(|warp| warp.deep_bytes(program)).sum()
    }
}
