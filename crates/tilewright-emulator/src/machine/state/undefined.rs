//! The shadows of a warp's registers and local memory, and of a block's shared memory.

use std::collections::HashMap;

use super::source::Sources;
use crate::machine::lanes::frame::Frame;
use crate::memory::lanes;
use crate::program::{
    Line,
    instruction::{Place, Slot},
};

/// Undefined bits of one row, and the number of the source of each lane's.
#[derive(Clone, Copy, Debug)]
pub struct Bits {
    /// By lane.
    pub bits: [u64; 32],
    /// By lane.
    pub sources: [u16; 32],
}

impl Bits {
    /// None.
    pub const NONE: Self = Self { bits: [0; 32], sources: [0; 32] };

    /// The lanes of `mask` that have some.
    pub fn lanes(&self, mask: u32) -> u32 {
        lanes(mask).filter(|&lane| self.bits[lane] != 0).fold(0, |mask, lane| mask | 1 << lane)
    }

    /// Adds some to a lane's.
    pub fn add(&mut self, lane: usize, bits: u64, source: u16) {
        if bits != 0 {
            self.bits[lane] |= bits;
            self.sources[lane] = source;
        }
    }
}

/// Undefined bits of a byte of memory, and their source.
type Bytes<K> = HashMap<K, (u8, u16)>;

/// What has no value in the registers and the local memory of a warp.
#[derive(Debug)]
pub struct Undefined {
    /// As the registers of the warp: a set bit is undefined.
    registers: Vec<Line>,
    /// As the constants of the program, all of which are defined.
    constants: Vec<Line>,
    /// By the byte where a row begins: the sources of its lanes.
    sources: HashMap<u32, [u16; 32]>,
    /// Lanes whose carry flag is undefined, and their source.
    pub carry: Bits,
    /// By lane and address.
    local: Bytes<(u8, u64)>,
}

impl Undefined {
    /// Nothing, for registers and constants of so many lines.
    pub fn new(registers: usize, constants: usize) -> Self {
        Self {
            registers: vec![Line::ZERO; registers],
            constants: vec![Line::ZERO; constants],
            sources: HashMap::new(),
            carry: Bits::NONE,
            local: HashMap::new(),
        }
    }

    /// The warp has taken more registers.
    pub fn grow(&mut self, registers: usize) {
        if self.registers.len() < registers {
            self.registers.resize(registers, Line::ZERO);
        }
    }

    /// Whether everything has a value.
    pub fn is_none(&self) -> bool {
        let zero = |line: &Line| line.0.iter().fold(0, |sum, word| sum | word) == 0;
        self.local.is_empty() && self.carry.lanes(u32::MAX) == 0 && self.registers.iter().all(zero)
    }

    /// The shadow of the frame at byte `offset`.
    pub fn frame(&mut self, offset: u32) -> Frame {
        // SAFETY: the shadow is as large as the registers, and so reaches as far as the frame does; so do the constants.
        unsafe { Frame::new(&mut self.registers, offset, &self.constants) }
    }

    /// The undefined bits of a row of the frame at `offset`.
    pub fn row(&mut self, offset: u32, slot: Slot) -> Bits {
        let bits = self.frame(offset).row(slot);
        Bits { bits, sources: self.sources_of(offset, slot.place) }
    }

    fn sources_of(&self, offset: u32, place: Place) -> [u16; 32] {
        let at = u32::try_from(place.0).ok().map(|place| offset + place);
        at.and_then(|at| self.sources.get(&at)).copied().unwrap_or([0; 32])
    }

    /// Replaces those of the lanes of `mask`.
    pub fn set(&mut self, offset: u32, slot: Slot, bits: &Bits, mask: u32) {
        self.frame(offset).set_row(slot, &bits.bits, mask);
        self.note(offset, slot.place, bits, mask);
    }

    /// Adds to those of the lanes of `mask`.
    pub fn add(&mut self, offset: u32, slot: Slot, bits: &Bits, mask: u32) {
        let mut sum = self.row(offset, slot);
        lanes(mask).for_each(|lane| sum.add(lane, bits.bits[lane], bits.sources[lane]));
        self.set(offset, slot, &sum, mask);
    }

    /// The lanes of `mask` have a value.
    pub fn clear(&mut self, offset: u32, slot: Slot, mask: u32) {
        self.frame(offset).fill(slot, 0, mask);
    }

    /// Says where the undefined bits of a row come from.
    pub fn note(&mut self, offset: u32, place: Place, bits: &Bits, mask: u32) {
        let some = lanes(mask).filter(|&lane| bits.sources[lane] != 0 && bits.bits[lane] != 0);
        let mut some = some.peekable();
        if some.peek().is_none() {
            return;
        }
        let Ok(place) = u32::try_from(place.0) else { return };
        let row = self.sources.entry(offset + place).or_insert([0; 32]);
        some.for_each(|lane| row[lane] = bits.sources[lane]);
    }

    /// A lane's local memory.
    pub fn local(&self, lane: usize, at: u64, bytes: u32) -> (u64, u16) {
        if self.local.is_empty() {
            (0, 0)
        } else {
            gathered(&self.local, bytes, |byte| (lane as u8, at + byte))
        }
    }

    /// A lane stores to local memory.
    pub fn set_local(&mut self, lane: usize, at: u64, bytes: u32, bits: u64, source: u16) {
        scatter(&mut self.local, bytes, bits, source, |byte| (lane as u8, at + byte));
    }
}

/// What has no value in the shared memory of a block, and where all of it in the block comes from.
#[derive(Debug, Default)]
pub struct UndefinedShared {
    bytes: Bytes<u64>,
    /// By number.
    pub sources: Sources,
}

impl UndefinedShared {
    /// Whether no thread has stored what has no value.
    pub fn is_none(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The undefined bits at `at`, and their source.
    pub fn at(&self, at: u64, bytes: u32) -> (u64, u16) {
        if self.is_none() { (0, 0) } else { gathered(&self.bytes, bytes, |byte| at + byte) }
    }

    /// A store to `at`.
    pub fn set(&mut self, at: u64, bytes: u32, bits: u64, source: u16) {
        scatter(&mut self.bytes, bytes, bits, source, |byte| at + byte);
    }

    /// Nobody knows any more.
    pub fn forget(&mut self) {
        self.bytes.clear();
    }
}

fn gathered<K: Eq + std::hash::Hash>(map: &Bytes<K>, bytes: u32, key: impl Fn(u64) -> K) -> (u64, u16) {
    (0..u64::from(bytes)).fold((0, 0), |(bits, source), byte| match map.get(&key(byte)) {
        Some(&(more, from)) => (bits | u64::from(more) << (8 * byte), from),
        None => (bits, source),
    })
}

fn scatter<K: Eq + std::hash::Hash>(
    map: &mut Bytes<K>,
    bytes: u32,
    bits: u64,
    source: u16,
    key: impl Fn(u64) -> K,
) {
    for byte in 0..u64::from(bytes) {
        match (bits >> (8 * byte)) as u8 {
            0 if map.is_empty() => {}
            0 => {
                map.remove(&key(byte));
            }
            some => {
                map.insert(key(byte), (some, source));
            }
        }
    }
}
