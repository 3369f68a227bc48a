//! One remembered access: which lanes, when, and which instruction.

/// Accesses with larger program counters are remembered without theirs.
pub const PC_LIMIT: u32 = (1 << 20) - 1;

/// How an access takes part in races. PTX calls two that do not race morally strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Races with everything.
    Plain,
    /// A volatile access of shared memory: no race with an atomic. With its like it stands for code that counts on lanes in step.
    Volatile,
    /// Does not race with its like in the same block: its scope ends there.
    Block,
    /// Does not race with its like.
    Atomic,
}

impl Strength {
    const ALL: [Self; 4] = [Self::Plain, Self::Volatile, Self::Block, Self::Atomic];

    /// Whether it is one of an atomic or a strong access.
    pub fn is_strong(self) -> bool {
        matches!(self, Self::Block | Self::Atomic)
    }

    /// Whether two accesses, which are in one block or not, do not race whatever their order.
    pub fn agrees(self, other: Self, same_block: bool) -> bool {
        use Strength::{Atomic, Block, Plain, Volatile};
        match (self, other) {
            (Plain, _) | (_, Plain) | (Volatile, Volatile) => false,
            (Atomic, Atomic) => true,
            (Volatile | Block | Atomic, Volatile | Block | Atomic) => same_block,
        }
    }
}

/// When, by which warp and with which instruction: stamp (32 bits), warp (5), strength (2 bits, on either side of the next), stale (1), width (4),
/// program counter (20). The width is that of an access to global memory, and zero elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment(pub u64);

const STALE: u64 = 1 << 25;
const WARP: u64 = 31 << 27;
const WIDTH_SHIFT: u32 = 20;

impl Moment {
    /// Packs the parts.
    pub fn new(stamp: u32, warp: u32, pc: u32, strength: Strength) -> Self {
        let (high, low) = (strength as u64 >> 1, strength as u64 & 1);
        let warp = u64::from(warp & 31);
        Self(u64::from(stamp) << 32 | warp << 27 | high << 26 | low << 24 | u64::from(pc.min(PC_LIMIT)))
    }

    /// An asynchronous copy that is on its way: it stores at any time from now on.
    pub fn pending(warp: u32, pc: u32) -> Self {
        Self::new(u32::MAX, warp, pc, Strength::Plain)
    }

    /// The same load, now that somebody has replaced the value.
    #[inline(always)]
    pub fn stale(self) -> Self {
        Self(self.0 | STALE)
    }

    /// The same, of an access of `1 << width` granules by each lane.
    #[inline(always)]
    pub fn with_width(self, width: u32) -> Self {
        Self(self.0 | u64::from(width & 15) << WIDTH_SHIFT)
    }

    /// log2 of the granules of each lane.
    #[inline(always)]
    pub fn width(self) -> u32 {
        (self.0 >> WIDTH_SHIFT) as u32 & 15
    }

    /// Whether the warp is that of `other`.
    #[inline(always)]
    pub fn is_by(self, other: Self) -> bool {
        (self.0 ^ other.0) & WARP == 0
    }
}

/// An access. No lanes: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// When and what.
    pub moment: Moment,
    /// Lanes of the warp.
    pub lanes: u32,
}

impl Entry {
    /// When.
    pub fn stamp(self) -> u32 {
        (self.moment.0 >> 32) as u32
    }

    /// Which warp.
    pub fn warp(self) -> u32 {
        (self.moment.0 >> 27) as u32 & 31
    }

    /// How it takes part in races.
    pub fn strength(self) -> Strength {
        Strength::ALL[(self.moment.0 >> 25 & 2 | self.moment.0 >> 24 & 1) as usize]
    }

    /// The instruction, unless it lies too far behind.
    pub fn pc(self) -> Option<u32> {
        let pc = self.moment.0 as u32 & PC_LIMIT;
        (pc < PC_LIMIT).then_some(pc)
    }

    /// The same load, now that somebody has replaced the value.
    pub fn stale(self) -> Self {
        Self { moment: self.moment.stale(), ..self }
    }

    /// Whether somebody has replaced the value since.
    pub fn is_stale(self) -> bool {
        self.moment.0 & STALE != 0
    }

    /// Whether a store by the reader of this load loses a change that somebody else has made. Without order the other store may always
    /// have come in between; if both are strong, as flags and locks are, it must really have.
    pub fn loses(self, both_strong: bool) -> bool {
        !both_strong || self.is_stale()
    }

    /// Whether `lane` of `warp` is part of it.
    pub fn has(self, warp: u32, lane: u32) -> bool {
        self.warp() == warp && self.lanes >> lane & 1 == 1
    }
}
