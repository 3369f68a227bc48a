//! Recording the addresses of one block while it runs.

use crate::model::{Execution, Operation, Patterns, Shape, Space};
use std::collections::{BTreeMap, HashMap, HashSet, hash_map::Entry};
use tilewright_arch::memory::{LaneAddresses, WARP_SIZE, shared};

/// Executions of one access that are kept for each warp: enough to see a loop, and little enough for a page.
pub const MOST_EXECUTIONS_PER_WARP: usize = 512;
/// Distinct shapes that are kept for each access.
pub const MOST_SHAPES: usize = 4096;
/// The unit that bases are rounded down to: a line of four sectors, a row of all banks.
const LINE_BYTES: u64 = 128;
const WORD_BYTES: u64 = 4;

/// A memory instruction as one warp executes it.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Which access of the kernel.
    pub access: usize,
    /// Which warp of the block.
    pub warp: u32,
    /// The memory.
    pub space: Space,
    /// Read or written.
    pub operation: Operation,
    /// Bit `n` is lane `n`.
    pub active: u32,
    /// The address of each lane.
    pub addresses: &'a LaneAddresses,
    /// Bytes that one lane moves.
    pub bytes: u32,
    /// For global memory: which buffer.
    pub buffer: Option<u32>,
    /// The address at which the buffer begins, or the array in other memory.
    pub start: u64,
    /// Grows with every barrier of all threads of the block.
    pub epoch: u32,
}

/// Collects the accesses of one block. Warps may come in any order, each in the order of its program.
///
/// ```
/// use tilewright_explain::{Operation, Recorder, Sample, Space};
///
/// let mut recorder = Recorder::default();
/// for step in 0..3 {
///     let addresses = std::array::from_fn(|lane| 0x1000 + 128 * step + 4 * lane as u64);
///     let sample = Sample {
///         access: 0, warp: 0, space: Space::Global, operation: Operation::Load, active: u32::MAX,
///         addresses: &addresses, bytes: 4, buffer: Some(0), start: 0x1000, epoch: 0,
///     };
///     recorder.record(&sample);
/// }
/// let patterns = recorder.finish();
/// // One shape, three times, a line further each time round the loop.
/// assert_eq!((patterns[0].shapes.len(), patterns[0].shapes[0].count), (1, 3));
/// assert_eq!(patterns[0].executions.iter().map(|e| (e.round, e.base)).collect::<Vec<_>>(), [(0, 0), (1, 128), (2, 256)]);
/// ```
#[derive(Debug, Default)]
pub struct Recorder {
    accesses: BTreeMap<usize, AccessRecord>,
    warps: HashMap<u32, Rounds>,
    /// Executions so far.
    seen: u64,
}

#[derive(Debug, Default)]
struct AccessRecord {
    is_local: bool,
    patterns: Patterns,
    known: HashMap<ShapeKey, u32>,
    kept: HashMap<u32, usize>,
}

/// Active lanes, their offsets, and the bytes of each.
type ShapeKey = (u32, Vec<u64>, u32);

/// Where a warp is in its loop: a turn ends when an access comes again.
#[derive(Debug, Default)]
struct Rounds {
    round: u32,
    seen: HashSet<usize>,
}

impl Rounds {
    fn of(&mut self, access: usize) -> u32 {
        if !self.seen.insert(access) {
            self.round += 1;
            self.seen.clear();
            self.seen.insert(access);
        }
        self.round
    }
}

impl Recorder {
    /// Takes an execution down; one without an active lane is none.
    pub fn record(&mut self, sample: &Sample<'_>) {
        let lanes = || (0..WARP_SIZE).filter(|lane| sample.active & (1 << lane) != 0);
        let places = places(sample);
        let sample = &Sample { addresses: &places, ..*sample };
        let Some(lowest) = lanes().map(|lane| sample.addresses[lane]).min() else { return };
        self.seen += 1;
        let order = self.seen;
        let round = self.warps.entry(sample.warp).or_default().of(sample.access);
        let base = lowest / LINE_BYTES * LINE_BYTES;
        let offsets: Vec<u64> = lanes().map(|lane| sample.addresses[lane] - base).collect();

        let record = self.accesses.entry(sample.access).or_default();
        record.patterns.access = sample.access;
        record.is_local = sample.space == Space::Local;
        let Some(shape) = record.shape(sample, offsets) else { return };
        let kept = record.kept.entry(sample.warp).or_default();
        if *kept == MOST_EXECUTIONS_PER_WARP {
            record.patterns.left_out += 1;
            return;
        }
        *kept += 1;
        let base = base.wrapping_sub(sample.start) as i64;
        record.patterns.executions.push(Execution {
            warp: sample.warp,
            round,
            shape,
            buffer: sample.buffer,
            base,
            order,
            epoch: sample.epoch,
        });
    }

    /// What was recorded, in the order of the accesses. Local memory begins at the lowest word that is accessed: its addresses are no place
    /// that a reader knows.
    pub fn finish(mut self) -> Vec<Patterns> {
        let local = || self.accesses.values().filter(|record| record.is_local);
        let bases =
            local().flat_map(|record| record.patterns.executions.iter().map(|execution| execution.base));
        let lowest = bases.min().unwrap_or(0);
        for record in self.accesses.values_mut().filter(|record| record.is_local) {
            record.patterns.executions.iter_mut().for_each(|execution| execution.base -= lowest);
        }
        let sorted = |record: AccessRecord| {
            let mut patterns = record.patterns;
            patterns.executions.sort_by_key(|execution| execution.warp);
            patterns
        };
        self.accesses.into_values().map(sorted).collect()
    }
}

impl AccessRecord {
    /// The index of the execution's shape; `None` when there are too many already.
    fn shape(&mut self, sample: &Sample<'_>, offsets: Vec<u64>) -> Option<u32> {
        let shapes = &mut self.patterns.shapes;
        match self.known.entry((sample.active, offsets, sample.bytes)) {
            Entry::Occupied(known) => {
                shapes[*known.get() as usize].count += 1;
                Some(*known.get())
            }
            Entry::Vacant(_) if shapes.len() == MOST_SHAPES => {
                self.patterns.left_out += 1;
                None
            }
            Entry::Vacant(new) => {
                let index = shapes.len() as u32;
                let offsets = new.key().1.clone();
                let wavefronts = wavefronts(sample);
                shapes.push(Shape { active: sample.active, offsets, wavefronts, count: 1 });
                new.insert(index);
                Some(index)
            }
        }
    }
}

/// Where the lanes' data lie. The hardware keeps word `k` of lane `i` of local memory at `128 k + 4 i`; what is wider than a word has no one
/// place there, and stays where the lane has it.
fn places(sample: &Sample<'_>) -> LaneAddresses {
    if sample.space != Space::Local || u64::from(sample.bytes) > WORD_BYTES {
        return *sample.addresses;
    }
    let place = |lane: usize| {
        let within = sample.addresses[lane] - sample.start;
        sample.start + within / WORD_BYTES * LINE_BYTES + WORD_BYTES * lane as u64 + within % WORD_BYTES
    };
    std::array::from_fn(|lane| if sample.active & (1 << lane) != 0 { place(lane) } else { 0 })
}

/// For each active lane of an access to shared or constant memory, the wavefront that serves it.
fn wavefronts(sample: &Sample<'_>) -> Vec<u32> {
    let schedule = match (sample.space, sample.operation) {
        (Space::Shared, Operation::Load) => shared::load_schedule,
        (Space::Shared, _) => shared::store_schedule,
        (Space::Constant, _) => one_address_each,
        _ => return Vec::new(),
    };
    schedule(sample.addresses, sample.active, sample.bytes).into_iter().flatten().collect()
}

/// Constant memory serves one address at a time.
fn one_address_each(addresses: &LaneAddresses, active: u32, _: u32) -> [Option<u32>; WARP_SIZE] {
    let mut served = Vec::new();
    std::array::from_fn(|lane| {
        let address = addresses[lane];
        (active & (1 << lane) != 0).then(|| {
            served.iter().position(|&known| known == address).unwrap_or_else(|| {
                served.push(address);
                served.len() - 1
            }) as u32
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(access: usize, warp: u32, addresses: &LaneAddresses) -> Sample<'_> {
        let (space, operation) = (Space::Shared, Operation::Load);
        Sample {
            access,
            warp,
            space,
            operation,
            active: u32::MAX,
            addresses,
            bytes: 4,
            buffer: None,
            start: 0,
            epoch: 0,
        }
    }

    #[test]
    fn a_turn_of_the_loop_begins_where_an_access_comes_again() {
        let mut recorder = Recorder::default();
        for access in [0, 1, 0, 1, 2] {
            recorder.record(&sample(access, 0, &[0; 32]));
        }
        let rounds: Vec<Vec<u32>> =
            recorder.finish().iter().map(|p| p.executions.iter().map(|e| e.round).collect()).collect();
        assert_eq!(rounds, [vec![0, 1], vec![0, 1], vec![1]]);
    }

    #[test]
    fn shapes_keep_banks_and_wavefronts() {
        let mut recorder = Recorder::default();
        let column: LaneAddresses = std::array::from_fn(|lane| 0x420 + 128 * lane as u64);
        recorder.record(&sample(0, 0, &column));
        recorder.record(&sample(0, 1, &column.map(|address| address + 4096)));
        recorder.record(&sample(0, 1, &column.map(|address| address + 4)));
        let patterns = recorder.finish().remove(0);
        assert_eq!(patterns.shapes.iter().map(|s| s.count).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(patterns.shapes[0].offsets[..2], [0x20, 0x20 + 128]);
        assert_eq!(patterns.shapes[0].wavefronts, (0..32).collect::<Vec<u32>>());
        assert_eq!(patterns.executions[1].base, 0x1400);
    }

    #[test]
    fn a_word_of_local_memory_lies_beside_those_of_the_other_lanes() {
        let mut recorder = Recorder::default();
        // All lanes want the word 3 of theirs, and then each lane one of two.
        let (same, two) = ([12; 32], std::array::from_fn(|lane| 4 * (lane as u64 % 2)));
        for addresses in [&same, &two] {
            recorder.record(&Sample { space: Space::Local, ..sample(0, 0, addresses) });
        }
        let patterns = recorder.finish().remove(0);
        assert_eq!(patterns.shapes[0].offsets, (0..32).map(|lane| 4 * lane).collect::<Vec<u64>>());
        // From the lowest one.
        assert_eq!(patterns.executions.iter().map(|e| e.base).collect::<Vec<_>>(), [3 * 128, 0]);
        assert_eq!(patterns.shapes[1].offsets[..4], [0, 128 + 4, 8, 128 + 12]);
    }

    #[test]
    fn constant_memory_takes_a_pass_for_each_address() {
        let mut recorder = Recorder::default();
        let two = std::array::from_fn(|lane| 64 * (lane as u64 % 2));
        recorder.record(&Sample { space: Space::Constant, active: 0b1011, ..sample(0, 0, &two) });
        assert_eq!(recorder.finish()[0].shapes[0].wavefronts, [0, 1, 1]);
    }

    #[test]
    fn long_loops_are_cut_for_every_warp_alike_and_counted() {
        let mut recorder = Recorder::default();
        for warp in [3, 1] {
            for step in 0..MOST_EXECUTIONS_PER_WARP as u64 + 5 {
                recorder.record(&sample(0, warp, &[128 * step; 32]));
            }
        }
        let patterns = recorder.finish().remove(0);
        assert_eq!(patterns.left_out, 10);
        assert_eq!(patterns.executions.len(), 2 * MOST_EXECUTIONS_PER_WARP);
        assert_eq!((patterns.executions[0].warp, patterns.executions[MOST_EXECUTIONS_PER_WARP].warp), (1, 3));
        assert_eq!(patterns.shapes[0].count, 2 * (MOST_EXECUTIONS_PER_WARP as u64 + 5));
    }

    #[test]
    fn nobody_active_is_nothing_accessed() {
        let mut recorder = Recorder::default();
        recorder.record(&Sample { active: 0, ..sample(0, 0, &[0; 32]) });
        assert!(recorder.finish().is_empty());
    }
}
