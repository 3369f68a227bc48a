//! What is watched while a kernel runs: the addresses of one block, and which sectors are touched at all.

use super::lines::{AccessIds, place};
use crate::{
    array::Array,
    bound::Touched,
    model::{Operation, Patterns, Space},
    recorder::{Recorder, Sample},
    timeline::Timeline,
};
use std::collections::{HashMap, HashSet};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};
use tilewright_arch::memory::{WARP_SIZE, global::SECTOR_BYTES};
use tilewright_emulator::{AccessKind, ObservedAccess, ObservedEvent};

/// Blocks run at the same time: what all of them write to is atomic or locked.
pub struct Observer {
    buffers: Vec<Buffer>,
    /// Sectors outside of the buffers: variables of the module.
    elsewhere: Mutex<HashSet<u64>>,
    /// Of the first block, which runs on one thread at a time.
    seen: Mutex<Seen>,
}

/// An array in device memory.
struct Buffer {
    name: String,
    start: u64,
    bytes: u64,
    /// A bit for each sector, set when it is loaded or updated.
    loaded: Vec<AtomicU64>,
    /// The same when it is stored or updated.
    stored: Vec<AtomicU64>,
    /// The same when it is updated.
    updated: Vec<AtomicU64>,
    /// The same for loads of the first block.
    loaded_by_first: Vec<AtomicU64>,
}

impl Buffer {
    fn bits(&self) -> [&Vec<AtomicU64>; 4] {
        [&self.loaded, &self.stored, &self.updated, &self.loaded_by_first]
    }
}

/// The accesses of one block.
#[derive(Default)]
pub struct Seen {
    recorder: Recorder,
    /// Numbers for the recorder, in the order of appearance.
    numbers: HashMap<(u32, AccessKind), usize>,
    /// Of each access the array or variable; `None` where there are several.
    names: HashMap<(u32, AccessKind), Option<String>>,
    pub timeline: Timeline,
    /// Of each load from device memory, by its line of the PTX.
    news: HashMap<u32, News>,
}

/// When a load brings sectors that its block has not loaded before.
#[derive(Default)]
struct News {
    /// How often each warp has executed it.
    executions: HashMap<u32, u32>,
    /// The rounds in which it did, for any warp.
    rounds: HashSet<u32>,
}

impl News {
    /// The part of its rounds.
    fn part(&self) -> f64 {
        let rounds = self.executions.values().max().copied().unwrap_or(0);
        self.rounds.len() as f64 / f64::from(rounds.max(1))
    }
}

impl Observer {
    /// `addresses` are those of the arrays.
    pub fn new(addresses: impl Iterator<Item = u64>, arrays: &[Array]) -> Self {
        let buffer = |(start, array): (u64, &Array)| {
            let bytes = array.bytes.len() as u64;
            let words = bytes.div_ceil(u64::from(SECTOR_BYTES)).div_ceil(64);
            Buffer {
                name: array.name.clone(),
                start,
                bytes,
                loaded: clear(words),
                stored: clear(words),
                updated: clear(words),
                loaded_by_first: clear(words),
            }
        };
        Self {
            buffers: addresses.zip(arrays).map(buffer).collect(),
            elsewhere: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    /// What the first block did, and the number of sectors that blocks touched.
    pub fn finish(self) -> (Seen, Touched) {
        let mut touched = Touched::default();
        for buffer in &self.buffers {
            for word in 0..buffer.loaded.len() {
                let [loaded, stored, updated, first] = buffer.bits().map(|bits| bits[word].load(Relaxed));
                touched.once += u64::from((loaded | stored).count_ones());
                touched.loaded += u64::from(loaded.count_ones());
                touched.stored += u64::from(stored.count_ones());
                touched.by_first_block += u64::from(first.count_ones());
                touched.updated_lines += u64::from(lines_of(updated));
            }
        }
        let elsewhere = self.elsewhere.into_inner().unwrap_or_else(PoisonError::into_inner);
        touched.once += elsewhere.len() as u64;
        (self.seen.into_inner().unwrap_or_else(PoisonError::into_inner), touched)
    }

    fn buffer_of(&self, address: u64) -> Option<usize> {
        self.buffers.iter().position(|b| address.wrapping_sub(b.start) < b.bytes.max(1))
    }

    /// Whether it loads what the first block has not loaded before.
    fn touch(&self, access: &ObservedAccess<'_>, operation: Operation) -> bool {
        let loaded: fn(&Buffer) -> &[AtomicU64] = |buffer| &buffer.loaded;
        let stored: fn(&Buffer) -> &[AtomicU64] = |buffer| &buffer.stored;
        let updated: fn(&Buffer) -> &[AtomicU64] = |buffer| &buffer.updated;
        let of_first: fn(&Buffer) -> &[AtomicU64] = |buffer| &buffer.loaded_by_first;
        let is_load_of_first = access.block == [0; 3] && operation == Operation::Load;
        let sector_bytes = u64::from(SECTOR_BYTES);
        let (mut previous, mut is_new) = (u64::MAX, false);
        for (lane, &address) in access.addresses.iter().enumerate() {
            if access.active & (1 << lane) == 0 {
                continue;
            }
            let last = address.saturating_add(u64::from(access.bytes.saturating_sub(1)));
            for sector in address / sector_bytes..=last / sector_bytes {
                if sector != previous {
                    previous = sector;
                    if operation != Operation::Store {
                        self.touch_sector(sector * sector_bytes, loaded);
                    }
                    if operation != Operation::Load {
                        self.touch_sector(sector * sector_bytes, stored);
                    }
                    if operation == Operation::Atomic {
                        self.touch_sector(sector * sector_bytes, updated);
                    }
                    if is_load_of_first {
                        is_new |= self.touch_sector(sector * sector_bytes, of_first);
                    }
                }
            }
        }
        is_new
    }

    /// Whether nothing did so before.
    fn touch_sector(&self, address: u64, bits: fn(&Buffer) -> &[AtomicU64]) -> bool {
        match self.buffer_of(address) {
            Some(index) => {
                let buffer = &self.buffers[index];
                let sector = (address - buffer.start) / u64::from(SECTOR_BYTES);
                let (word, bit) = (&bits(buffer)[(sector / 64) as usize], 1 << (sector % 64));
                // Most sectors are touched many times; reading is cheaper than writing.
                word.load(Relaxed) & bit == 0 && word.fetch_or(bit, Relaxed) & bit == 0
            }
            None => self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).insert(address),
        }
    }
}

/// Lines that have a sector of these.
fn lines_of(sectors: u64) -> u32 {
    let pairs = sectors | sectors >> 1;
    ((pairs | pairs >> 2) & 0x1111_1111_1111_1111).count_ones()
}

fn clear(words: u64) -> Vec<AtomicU64> {
    (0..words).map(|_| AtomicU64::new(0)).collect()
}

impl tilewright_emulator::Observer for Observer {
    fn access(&self, access: &ObservedAccess<'_>) {
        let Some((space, operation)) = place(access.kind) else { return };
        let is_new = space == Space::Global && self.touch(access, operation);
        if access.block != [0; 3] || access.active == 0 {
            return;
        }
        let first = (0..WARP_SIZE).find(|lane| access.active & (1 << lane) != 0).unwrap_or(0);
        let buffer = if space == Space::Global { self.buffer_of(access.addresses[first]) } else { None };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if space == Space::Global && operation == Operation::Load {
            seen.note(access, is_new);
        }
        let next = seen.numbers.len();
        let number = *seen.numbers.entry((access.ptx_line, access.kind)).or_insert(next);
        seen.recorder.record(&Sample {
            access: number,
            warp: access.warp,
            space,
            operation,
            active: access.active,
            addresses: access.addresses,
            bytes: access.bytes,
            buffer: buffer.map(|index| index as u32),
            start: buffer.map_or(access.start, |index| self.buffers[index].start),
            epoch: access.epoch,
        });
        let name = buffer.map_or(access.variable, |index| &self.buffers[index].name);
        seen.remember_name((access.ptx_line, access.kind), name);
    }

    fn event(&self, event: &ObservedEvent<'_>) {
        if event.block == [0; 3] {
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).timeline.record(event);
        }
    }

    fn restart(&self) {
        for bits in self.buffers.iter().flat_map(Buffer::bits) {
            bits.iter().for_each(|word| word.store(0, Relaxed));
        }
        self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).clear();
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Seen::default();
    }
}

impl Seen {
    fn note(&mut self, load: &ObservedAccess<'_>, is_new: bool) {
        let news = self.news.entry(load.ptx_line).or_default();
        let round = news.executions.entry(load.warp).or_default();
        *round += 1;
        if is_new {
            news.rounds.insert(*round);
        }
    }

    /// The part of its rounds in which a load brings what its block has not loaded before, by its line of the PTX.
    pub fn news(&self) -> HashMap<u32, f64> {
        self.news.iter().map(|(&line, news)| (line, news.part())).collect()
    }

    fn remember_name(&mut self, access: (u32, AccessKind), name: &str) {
        match self.names.get_mut(&access) {
            None => drop(self.names.insert(access, Some(name.to_owned()).filter(|name| !name.is_empty()))),
            Some(known) if known.as_deref() == Some(name) => {}
            Some(known) => *known = None,
        }
    }

    /// The array or variable that each access goes to, where it is one, under the numbers of the explanation.
    pub fn names(&self, ids: &AccessIds) -> HashMap<usize, String> {
        let named = |(access, name): (_, &Option<String>)| Some((*ids.get(access)?, name.clone()?));
        self.names.iter().filter_map(named).collect()
    }

    /// The patterns, under the numbers that the accesses have in the explanation.
    pub fn patterns(self, ids: &AccessIds) -> Vec<Patterns> {
        let ids: HashMap<usize, usize> =
            self.numbers.iter().filter_map(|(key, &number)| Some((number, *ids.get(key)?))).collect();
        let renumbered = |mut patterns: Patterns| {
            patterns.access = *ids.get(&patterns.access)?;
            Some(patterns)
        };
        let mut patterns: Vec<Patterns> = self.recorder.finish().into_iter().filter_map(renumbered).collect();
        patterns.sort_by_key(|patterns| patterns.access);
        patterns
    }
}
