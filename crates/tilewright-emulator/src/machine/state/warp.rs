//! A warp: its registers, and the paths that its lanes are on.

use super::{
    copies::Copy, groups::Groups, local::LocalMemory, transfer::Transfer, undefined::Undefined,
    waiting::Waits,
};
use crate::program::{Line, NO_RECONVERGENCE};

/// Lanes that execute together.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Next instruction.
    pub pc: u32,
    /// Which lanes.
    pub mask: u32,
    /// Where they will meet others, an index into the joins of the warp.
    pub join: Option<u32>,
    /// Byte offset of the frame.
    pub frame: u32,
    /// Level of recursion.
    pub level: u32,
    /// Whether they can go on.
    pub state: State,
    /// Whether they execute what is for all lanes of a warp by themselves: the others cannot come.
    pub alone: bool,
}

impl Path {
    /// Lanes that execute a function, whose frame is at byte `frame`, and meet no others.
    pub fn new(pc: u32, mask: u32, frame: u32) -> Self {
        Self { pc, mask, join: None, frame, level: 0, state: State::Ready, alone: false }
    }
}

/// What a path waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Ready,
    /// Barrier `id` of the block; the instruction is site `site`.
    Barrier { id: u8, site: u32 },
    /// The other lanes of `members`, at a warp instruction.
    Members { members: u32 },
    /// The other warps of its warpgroup, at a matrix instruction.
    Warpgroup,
    /// The other lanes of its warp, at an instruction that all execute together.
    Aligned,
}

/// Where lanes that parted meet again.
#[derive(Clone, Copy, Debug)]
pub struct Join {
    /// Where they go on.
    pub pc: u32,
    /// Who is expected.
    pub expected: u32,
    /// Who is there.
    pub arrived: u32,
    /// The join around this one.
    pub parent: Option<u32>,
    /// Frame and level to go on with.
    pub frame: u32,
    /// Level of recursion.
    pub level: u32,
    /// What made it.
    pub kind: JoinKind,
}

impl Join {
    /// Those who are there go on together.
    fn path(&self) -> Path {
        Path {
            pc: self.pc,
            mask: self.arrived,
            join: self.parent,
            frame: self.frame,
            level: self.level,
            state: State::Ready,
            alone: false,
        }
    }
}

/// What made a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// A branch that lanes left in both directions.
    Branch,
    /// A call: the lanes meet when they return.
    Call,
}

/// A warp of a resident block.
#[derive(Debug)]
pub struct Warp {
    /// Number in the block.
    pub index: u32,
    /// Lanes that exist and have not exited.
    pub live: u32,
    /// Lanes that exist.
    pub initial: u32,
    /// Registers of all frames.
    pub registers: Vec<Line>,
    /// Local memory.
    pub local: LocalMemory,
    /// Carry flags.
    pub carry: u32,
    /// By lane: the phase of the cluster's barrier in which it has arrived last.
    pub cluster_phases: [u32; 32],
    /// The executing path, when it has stopped, and all others.
    pub paths: Vec<Path>,
    joins: Vec<Join>,
    free: Vec<u32>,
    /// What has no value; none while all that the warp holds has one.
    pub undefined: Option<Box<Undefined>>,
    /// The last load of what others may store: its place, lanes, and a digest of what it found.
    pub polled: Option<(u32, u32, u64)>,
    /// Lanes that look at mbarriers in vain.
    pub waiting: Waits,
    /// Asynchronous copies that are not waited for, by group.
    pub copies: Groups<Copy>,
    /// Bulk copies that belong to a group.
    pub bulk: Groups<Transfer>,
    /// Registers of each lane as `setmaxnreg` has set them last, and where.
    pub own_registers: Option<(u32, u32)>,
    /// Groups of matrix instructions that it has closed.
    pub products: u32,
}

impl Warp {
    /// A warp with lanes `mask` at `start`.
    pub fn new(index: u32, mask: u32, start: u32, frame: u32, register_bytes: u32) -> Self {
        Self {
            index,
            live: mask,
            initial: mask,
            registers: vec![Line::ZERO; register_bytes.div_ceil(64) as usize],
            local: Default::default(),
            carry: 0,
            undefined: None,
            cluster_phases: [0; 32],
            paths: vec![Path::new(start, mask, frame)],
            joins: Vec::new(),
            free: Vec::new(),
            polled: None,
            waiting: Waits::default(),
            copies: Groups::default(),
            bulk: Groups::default(),
            products: 0,
            own_registers: None,
        }
    }

    /// The join with this number.
    pub fn join(&self, index: u32) -> &Join {
        &self.joins[index as usize]
    }

    /// Adds a join.
    pub fn add_join(&mut self, join: Join) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.joins[index as usize] = join;
                index
            }
            None => {
                self.joins.push(join);
                self.joins.len() as u32 - 1
            }
        }
    }

    /// The program counter at which a path with this join has to look around.
    pub fn meeting_pc(&self, join: Option<u32>) -> u32 {
        match join.map(|index| self.join(index)) {
            Some(Join { kind: JoinKind::Branch, pc, .. }) => *pc,
            _ => NO_RECONVERGENCE,
        }
    }

    /// Lanes of `mask` reach join `index`. If they were the last, the path that goes on is returned.
    pub fn arrive(&mut self, index: u32, mask: u32) -> Option<Path> {
        let join = &mut self.joins[index as usize];
        join.arrived |= mask;
        self.completed(index)
    }

    fn completed(&mut self, index: u32) -> Option<Path> {
        let join = self.joins[index as usize];
        if join.arrived != join.expected {
            return None;
        }
        self.free.push(index);
        (join.arrived != 0).then(|| join.path())
    }

    /// The innermost call join around `join`; the joins of branches inside it no longer wait for `mask`.
    pub fn returning(&mut self, join: Option<u32>, mask: u32) -> Option<u32> {
        let mut at = join;
        while let Some(index) = at {
            let join = &mut self.joins[index as usize];
            if join.kind == JoinKind::Call {
                return Some(index);
            }
            join.expected &= !mask;
            at = join.parent;
            self.resume_if_complete(index);
        }
        None
    }

    /// Lanes exit: no join waits for them any more.
    pub fn exit(&mut self, join: Option<u32>, mask: u32) {
        self.live &= !mask;
        let mut at = join;
        while let Some(index) = at {
            let join = &mut self.joins[index as usize];
            join.expected &= !mask;
            at = join.parent;
            self.resume_if_complete(index);
        }
    }

    fn resume_if_complete(&mut self, index: u32) {
        if let Some(path) = self.completed(index) {
            self.paths.push(path);
        }
    }

    /// The Volta rule: lanes that wait at a join go on without the lanes that are missing. Returns them.
    pub fn release_joins(&mut self) -> Vec<Path> {
        let mut waiting: Vec<Option<u32>> = self.paths.iter().map(|path| path.join).collect();
        let mut released = Vec::new();
        while let Some(at) = waiting.pop() {
            let Some(index) = at else { continue };
            let join = &mut self.joins[index as usize];
            waiting.push(join.parent);
            if join.arrived == 0 || join.arrived == join.expected {
                continue;
            }
            released.push(join.path());
            join.expected &= !join.arrived;
            join.arrived = 0;
        }
        self.paths.extend(&released);
        released
    }

    /// All lanes as one path, if `path` is the last of those that have come to its instruction.
    #[cold]
    #[inline(never)]
    pub fn gather(&mut self, path: Path) -> Option<Path> {
        let is_here = |other: &Path| {
            let place = |path: &Path| (path.pc, path.frame, path.join, path.level);
            other.state == State::Aligned && place(other) == place(&path)
        };
        let mask =
            self.paths.iter().filter(|other| is_here(other)).fold(path.mask, |mask, other| mask | other.mask);
        if mask != self.live {
            return None;
        }
        self.paths.retain(|other| !is_here(other));
        Some(Path { mask, ..path })
    }

    /// Takes a path that can go on, the youngest first.
    pub fn take_ready(&mut self) -> Option<Path> {
        let index = self.paths.iter().rposition(|path| path.state == State::Ready)?;
        Some(self.paths.remove(index))
    }
}
