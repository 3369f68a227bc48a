//! A thread of this process that executes blocks.

use std::collections::BTreeMap;
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};
use std::time::{Duration, Instant};

use super::{
    heap::Heap,
    observer::Observer,
    options::{LaunchError, Races, Schedule},
};
use crate::check::{
    BlockOrder, Collector, Event, FindingKind, GlobalShadow, GlobalView, Naming, Severity, Side, locked,
};
use crate::count::{Pattern, RawCounts};
use crate::machine::{
    arrays::{
        surface::Surface,
        texture::{Texture, Textures},
    },
    lanes::host_isa::HostIsa,
};
use crate::memory::{Budget, GlobalMemory, Object, SharedLayout, read, write};
use crate::program::{Function, Program};
use tilewright_arch::ComputeCapability;

/// What all workers of a launch see.
pub struct Launch<'a> {
    pub program: &'a Program,
    pub entry: &'a Function,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y and z.
    pub cluster: [u32; 3],
    /// Whether clusters were asked for.
    pub explicit_cluster: bool,
    /// The parameter block.
    pub params: Vec<u8>,
    pub shared: SharedLayout,
    pub dynamic_shared: u32,
    /// Where the blocks of a cooperative launch meet: 8 bytes of global memory, or null.
    pub grid_workspace: u64,
    pub memory: &'a GlobalMemory,
    pub textures: &'a Textures,
    /// Textures of this launch, by their handles.
    pub own_textures: &'a [(u64, Texture)],
    /// By their handles.
    pub surfaces: &'a [(u64, Surface)],
    pub heap: &'a Heap,
    pub races: Races,
    /// log2 of the bytes of a shadow granule.
    pub granule_shift: u32,
    pub shadow: Option<GlobalShadow>,
    pub blocks: BlockOrder,
    pub multiprocessors: u32,
    /// Of the GPU whose tensor cores add.
    pub capability: ComputeCapability,
    /// When bulk copies are done.
    pub schedule: Schedule,
    /// Blocks that one worker keeps at a time.
    pub resident: usize,
    pub watch: Watch<'a>,
    pub budget: Arc<Budget>,
    pub step_limit: Option<u64>,
    pub time_limit: Option<Duration>,
    pub began: Instant,
    /// Instructions executed by all workers.
    pub steps: AtomicU64,
    /// Set when the launch has failed.
    pub failed: AtomicBool,
    /// What memory of the host held before the launch, byte by byte, if several workers may have to begin again.
    pub before: Option<Mutex<BTreeMap<u64, u8>>>,
}

/// Who is told what a launch does while it runs, and may end it.
#[derive(Clone, Copy, Default)]
pub struct Watch<'a> {
    /// Is told of every access to global, shared, local and constant memory. That takes its time.
    pub observer: Option<&'a dyn Observer>,
    /// Is called after every block, possibly from several threads.
    pub block_done: Option<&'a (dyn Fn() + Sync)>,
    /// Is called from time to time with the number of steps just done, possibly from several threads.
    pub steps_done: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Ends the launch when it becomes true.
    pub stop: Option<&'a AtomicBool>,
}

impl Launch<'_> {
    /// Puts memory back to what it held before, once no worker runs any more.
    pub fn undo(&mut self) {
        let memory = self.memory;
        if let Some(shadow) = &mut self.shadow {
            shadow.undo(&|region| memory.data_of_slot(region));
        }
        if let Some(before) = self.before.take() {
            for (at, byte) in before.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
                if let Some(object) = memory.mapped(at) {
                    // SAFETY: the byte is inside of the mapped memory.
                    let data = unsafe { object.data.add((at - object.start) as usize) };
                    write(data, 1, byte.into());
                }
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.watch.stop.is_some_and(|stop| stop.load(Relaxed))
    }

    /// If the launch needs more memory than it may have.
    pub fn over_budget(&self) -> Option<LaunchError> {
        let (bytes, largest) = self.budget.overrun()?.clone();
        Some(LaunchError::MemoryLimit { bytes, largest, limit: self.budget.limit() })
    }

    /// Why the launch ends here, after so many steps; `is_done` if nothing is left to do.
    pub fn cut_off(&self, steps: u64, is_done: bool) -> Option<LaunchError> {
        if self.is_stopped() {
            return Some(LaunchError::Interrupted { steps });
        }
        if let Some(error) = self.over_budget() {
            return Some(error);
        }
        if let Some(limit) = self.step_limit.filter(|&limit| steps > limit) {
            return Some(LaunchError::StepLimit { limit });
        }
        let limit = self.time_limit.filter(|_| !is_done && self.is_late());
        limit.map(|limit| LaunchError::TimeLimit { limit })
    }

    fn is_late(&self) -> bool {
        self.time_limit.is_some_and(|limit| self.began.elapsed() >= limit)
    }
}

/// A warp whose turn it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Executing {
    /// The number of the block.
    pub block: u32,
    /// The warp in it.
    pub warp: u32,
    /// The stamp of the last barrier of all threads before this turn.
    pub epoch: u32,
}

/// A worker.
pub struct Worker<'a> {
    pub launch: &'a Launch<'a>,
    pub program: &'a Program,
    pub host_isa: HostIsa,
    /// Whether nobody looks at single accesses.
    pub is_unwatched: bool,
    pub counts: RawCounts,
    /// The last pattern of each access.
    pub patterns: Vec<Pattern>,
    /// The shadow of global memory, if races there are looked for.
    pub shadow: Option<GlobalView<'a>>,
    pub findings: Collector,
    /// Text that the kernel has printed, with the number of the block.
    pub printed: Vec<(u32, String)>,
    /// Who executes.
    pub executing: Executing,
    pub steps: i64,
    /// Those of them that have been told.
    told: i64,
    /// Draws of a random schedule.
    pub drawn: u64,
    pub error: Option<LaunchError>,
}

/// Steps between two looks at the clock: a fraction of a second where every step is an access to memory.
const INTERVAL: i64 = 1 << 16;

impl<'a> Worker<'a> {
    /// Keeps what `bytes` bytes at `at` in `object` held before the launch, which writes them now.
    pub fn keep(&mut self, at: u64, object: &Object, bytes: u32) {
        if self.launch.memory.region(at).is_some() {
            if let Some(shadow) = &mut self.shadow {
                shadow.keep(self.launch.memory.slot(at), object, at.wrapping_sub(object.start), bytes);
            }
        } else if let Some(before) = &self.launch.before
            && self.launch.memory.mapped(at).is_some()
        {
            let mut before = locked(before);
            for at in at..at + u64::from(bytes) {
                // SAFETY: the access is inside of the object.
                let data = unsafe { object.data.add((at - object.start) as usize) };
                before.entry(at).or_insert_with(|| read(data, 1) as u8);
            }
        }
    }

    pub fn new(launch: &'a Launch<'a>, host_isa: HostIsa) -> Self {
        let program = launch.program;
        Self {
            launch,
            program,
            host_isa,
            is_unwatched: launch.races == Races::Ignore && launch.watch.observer.is_none(),
            counts: RawCounts::new(program.blocks.len(), program.code.len(), program.accesses.len()),
            patterns: vec![Pattern::default(); program.accesses.len()],
            shadow: launch.shadow.as_ref().map(GlobalShadow::view),
            findings: Collector::default(),
            printed: Vec::new(),
            executing: Executing::default(),
            steps: 0,
            told: 0,
            drawn: 0,
            error: None,
        }
    }

    /// Adds the steps since the last time to those of the launch, of which it returns the number, and tells who watches.
    pub fn tell_steps(&mut self) -> u64 {
        let steps = (self.steps - self.told) as u64;
        self.told = self.steps;
        if let Some(steps_done) = self.launch.watch.steps_done.filter(|_| steps > 0) {
            steps_done(steps);
        }
        self.launch.steps.fetch_add(steps, Relaxed) + steps
    }

    /// Whether a block is to stop amid its turn, though it has not come to its end.
    pub fn is_to_stop(&mut self) -> bool {
        let launch = self.launch;
        if self.steps - self.told >= INTERVAL {
            self.tell_steps();
            if launch.is_late() || launch.budget.overrun().is_some() {
                return true;
            }
        }
        launch.failed.load(Relaxed) || launch.is_stopped()
    }

    pub fn naming(&self) -> Naming<'a> {
        Naming {
            program: self.program,
            kernel: &self.launch.entry.name,
            grid: self.launch.grid,
            block: self.launch.block,
        }
    }

    /// Reports something about one instruction.
    pub fn report(
        &mut self,
        kind: FindingKind,
        severity: Severity,
        at: Side,
        sentences: impl FnOnce() -> (String, String),
    ) {
        let naming = self.naming();
        self.findings.report(naming, (kind, at.pc, None), || {
            let (message, fix) = sentences();
            Event { kind, severity, at, with: None, message, fix, race: None }
        });
    }
}
