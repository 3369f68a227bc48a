//! One remembered access: who, when, and which instruction, in 64 bits.

/// Accesses with larger program counters are remembered without theirs.
pub const PC_LIMIT: u32 = (1 << 20) - 1;

/// An access: stamp (32 bits), warp (5), lane (5), several lanes (1), atomic (1), program counter (20). Zero: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry(pub u64);

/// How an access takes part in races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Races with everything.
    Plain,
    /// Does not race with its like.
    Atomic,
}

impl Entry {
    /// Position of the lane.
    pub const LANE: u32 = 22;
    /// Position of the bit for several lanes, below the lane and the warp.
    pub const SEVERAL: u32 = 21;

    /// An access by one lane.
    pub fn new(stamp: u32, warp: u32, lane: u32, pc: u32, strength: Strength) -> Self {
        let atomic = u64::from(strength == Strength::Atomic);
        Self(
            u64::from(stamp) << 32
                | u64::from(warp & 31) << 27
                | u64::from(lane & 31) << Self::LANE
                | atomic << 20
                | u64::from(pc.min(PC_LIMIT)),
        )
    }

    /// The same access by several lanes of the warp.
    pub fn by_several(self) -> Self {
        Self(self.0 | 1 << Self::SEVERAL)
    }

    /// When.
    pub fn stamp(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Which warp.
    pub fn warp(self) -> u32 {
        (self.0 >> 27) as u32 & 31
    }

    /// Which lane, if it was one.
    pub fn lane(self) -> Option<u32> {
        (self.0 >> Self::SEVERAL & 1 == 0).then_some((self.0 >> Self::LANE) as u32 & 31)
    }

    /// Whether it was an atomic.
    pub fn is_atomic(self) -> bool {
        self.0 >> 20 & 1 == 1
    }

    /// The instruction, unless it lies too far behind.
    pub fn pc(self) -> Option<u32> {
        let pc = self.0 as u32 & PC_LIMIT;
        (pc < PC_LIMIT).then_some(pc)
    }

    /// Whether there is an access at all.
    pub fn exists(self) -> bool {
        self.0 != 0
    }

    /// Whether both are by the same single thread.
    pub fn same_thread(self, warp: u32, lane: u32) -> bool {
        self.exists() && self.warp() == warp && self.lane() == Some(lane)
    }
}
