//! Where bits without a value come from.

use std::collections::HashMap;

use crate::check::{FindingKind, Severity, Side};
use crate::memory::lanes;

/// What has given bits without a value.
#[derive(Clone, Debug)]
pub enum What {
    /// A load of memory that nothing has written: the array, whether it is shared, its bytes, those of an element, and the offset by lane.
    Memory { name: String, shared: bool, array_bytes: u64, bytes: u32, offsets: Box<[u64; 32]> },
    /// A shuffle that reads a lane which takes no part.
    Lane,
    /// A register that is read before anything is written to it.
    Register,
}

/// An instruction that has given bits without a value.
#[derive(Clone, Debug)]
pub struct Source {
    /// What it did.
    pub what: What,
    /// The instruction, as soon as it is known; the block, the warp, and all lanes that it gave such bits.
    pub side: Side,
}

impl Source {
    /// The kind of finding, once it decides something.
    pub fn kind(&self) -> FindingKind {
        match self.what {
            What::Memory { shared: true, .. } => FindingKind::UninitialisedShared,
            What::Memory { .. } => FindingKind::UninitialisedLocal,
            What::Lane => FindingKind::InactiveLane,
            What::Register => FindingKind::UninitialisedRegister,
        }
    }

    /// How bad that is: what a shuffle gives is often what the lane itself has.
    pub fn severity(&self) -> Severity {
        if matches!(self.what, What::Lane) { Severity::Warning } else { Severity::Error }
    }

    /// What happened, seen by the first of `mask`, and what to do.
    pub fn sentences(&self, mask: u32) -> (String, &'static str) {
        match &self.what {
            What::Memory { name, shared: true, array_bytes, bytes, offsets } => {
                let offset = offsets[mask.trailing_zeros() as usize & 31];
                (
                    format!(
                        "reads {}, which no thread has written",
                        element(name, *array_bytes, offset, *bytes)
                    ),
                    "write the element first, and put a barrier between the store and the load",
                )
            }
            What::Memory { name, offsets, .. } => (
                format!(
                    "reads byte {} of `{name}` (local memory), which the thread has not written",
                    offsets[mask.trailing_zeros() as usize & 31]
                ),
                "give the array's elements values before they are read, such as with `= {}`",
            ),
            What::Lane => (
                "reads the value of a lane that does not execute the shuffle: it is undefined".into(),
                "let all lanes that are read execute the shuffle, those beyond the data with a neutral value",
            ),
            What::Register => (
                "uses a variable to which the thread has not given a value".into(),
                "give the variable a value where it is declared, such as with `= 0`",
            ),
        }
    }
}

/// What lies `offset` bytes into an array whose elements have `bytes` bytes, as the source would write it. Arrays of several dimensions
/// have one here, as in PTX.
pub fn element(name: &str, array_bytes: u64, offset: u64, bytes: u32) -> String {
    let bytes = u64::from(bytes.max(1));
    match offset % bytes {
        0 if bytes == array_bytes => format!("`{name}`"),
        0 => format!("`{name}[{}]`", offset / bytes),
        _ => format!("byte {offset} of `{name}`"),
    }
}

/// The sources that a block knows, by number; 0 is none.
#[derive(Debug, Default)]
pub struct Sources {
    all: Vec<Source>,
    known: HashMap<(FindingKind, Option<u32>, u32), u16>,
}

impl Sources {
    /// The number of a source. One instruction of a warp is one source, whose last execution counts for each lane.
    pub fn number(&mut self, source: Source) -> u16 {
        let key = (source.kind(), source.side.pc, source.side.warp);
        // Registers have no instruction yet.
        if let Some(&number) = self.known.get(&key).filter(|_| source.side.pc.is_some()) {
            let before = &mut self.all[usize::from(number) - 1];
            before.side.lanes |= source.side.lanes;
            if let (What::Memory { offsets, .. }, What::Memory { offsets: new, .. }) =
                (&mut before.what, &source.what)
            {
                lanes(source.side.lanes).for_each(|lane| offsets[lane] = new[lane]);
            }
            return number;
        }
        // Where there are too many to count, the last stands for all others.
        if self.all.len() == usize::from(u16::MAX) {
            return u16::MAX;
        }
        self.all.push(source);
        let number = self.all.len() as u16;
        self.known.insert(key, number);
        number
    }

    /// The source with this number.
    pub fn get(&self, number: u16) -> Option<&Source> {
        self.all.get(usize::from(number).checked_sub(1)?)
    }

    /// Instruction `pc` uses what this source has given: where nothing is known of a register but that it has no value, that is its place.
    pub fn used(&mut self, number: u16, pc: u32) {
        if let Some(source) = usize::from(number).checked_sub(1).and_then(|index| self.all.get_mut(index))
            && matches!(source.what, What::Register)
        {
            source.side.pc.get_or_insert(pc);
        }
    }
}
