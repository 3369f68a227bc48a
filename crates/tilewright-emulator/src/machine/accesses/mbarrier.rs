//! `mbarrier`: a barrier in a word of shared memory, which counts arrivals and bytes of asynchronous copies.
//!
//! PTX leaves open what the word holds. Here it is, from the lowest bit: arrivals that are missing (20 bits), arrivals of a phase (20), bytes that are
//! missing (21, signed), the parity of the phase, and a mark that it is initialised.

use crate::check::{FindingKind, Mode, Severity, Strength};
use crate::machine::{
    lanes::addresses::placed,
    state::{
        observer::EventKind,
        step::Step,
        transfer::Transfer,
        waiting::{Missing, Waiting},
    },
    watch::faults::Faults,
};
use crate::memory::{lanes, read, write};
use crate::program::{
    address,
    instruction::{MBARRIER_COUNT, MbarrierKind, MbarrierSite, Space},
};

/// What the word of an mbarrier says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    /// Arrivals that are missing in this phase.
    pending: u64,
    /// Arrivals of each phase.
    expected: u64,
    /// Bytes that are missing in this phase; fewer than none if they came before they were announced.
    bytes: i64,
    /// The parity of the phase.
    phase: bool,
}

const BYTES_SHIFT: u32 = 40;
const BYTES_BITS: u32 = 21;
const PHASE: u64 = 1 << 61;
const MARK: u64 = 0b10 << 62;

impl Word {
    fn new(count: u64) -> Self {
        Self { pending: count, expected: count, bytes: 0, phase: false }
    }

    /// `None` if it is not initialised.
    fn unpack(bits: u64) -> Option<Self> {
        let bytes = (bits << (64 - BYTES_SHIFT - BYTES_BITS)) as i64 >> (64 - BYTES_BITS);
        (bits >> 62 == MARK >> 62).then_some(Self {
            pending: bits & MBARRIER_COUNT,
            expected: bits >> 20 & MBARRIER_COUNT,
            bytes,
            phase: bits & PHASE != 0,
        })
    }

    fn pack(self) -> u64 {
        let bytes = self.bytes as u64 & ((1 << BYTES_BITS) - 1);
        let phase = if self.phase { PHASE } else { 0 };
        self.pending & MBARRIER_COUNT
            | (self.expected & MBARRIER_COUNT) << 20
            | bytes << BYTES_SHIFT
            | phase
            | MARK
    }

    /// Bytes are announced, or have come.
    fn announce(&mut self, bytes: i64) -> Result<(), Misuse> {
        self.bytes += bytes;
        if self.bytes.unsigned_abs() < 1 << (BYTES_BITS - 1) { Ok(()) } else { Err(Misuse::Bytes) }
    }

    fn missing(self) -> Missing {
        Missing { arrivals: self.pending, expected: self.expected, bytes: self.bytes }
    }

    /// Begins the next phase if nothing is missing in this one.
    fn complete(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase = !self.phase;
            self.pending = self.expected;
        }
    }

    /// Phases that have ended between this and what the word said before.
    fn phases_since(self, before: u64) -> u64 {
        Self::unpack(before).is_some_and(|before| before.phase != self.phase).into()
    }
}

/// What is wrong with the use of an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Misuse {
    NotInitialised,
    /// More arrivals than the phase misses.
    TooMany,
    /// A count that there is not.
    Count,
    /// More bytes announced, or come, than it counts.
    Bytes,
}

impl Step<'_, '_> {
    /// An instruction on an mbarrier. Returns whether a lane waits for others.
    pub fn mbarrier(&mut self, index: u32) -> bool {
        let Self { frame, mask, pc, .. } = *self;
        let site = &self.program().sites.mbarriers[index as usize];
        if let MbarrierKind::Copies { .. } = site.kind {
            // They arrive together with their data.
            self.wait_copies(u32::MAX);
        }
        let (addresses, space) = placed(&site.memory, frame, mask);
        let mode = match site.kind {
            MbarrierKind::Wait { .. } => Mode::Read,
            MbarrierKind::Init | MbarrierKind::Invalidate => Mode::Write,
            _ => Mode::Update,
        };
        let (mut faults, mut missing, mut misused) = (Faults::default(), None, None);
        for lane in lanes(mask) {
            let at = addresses.at[lane];
            let data = match self.lane_data(space, at, lane, 8, 8, mode) {
                Ok(data) => data,
                Err(fault) => {
                    faults.add(lane, at, fault);
                    continue;
                }
            };
            let operand = site.operand.map(|slot| frame.lane(slot, lane));
            let mut stepped = step(site, read(data, 8), operand);
            if space == Space::Shared {
                self.team.touch(space, at, self.side(1 << lane));
                let strength = if mode == Mode::Write { Strength::Plain } else { Strength::Atomic };
                let is_same = stepped.as_ref().is_ok_and(|step| step.word == read(data, 8));
                self.shadow_bytes(at, lane, 8, mode, strength, is_same);
            }
            if matches!(stepped, Ok(Outcome { passed: false, .. })) && self.finish_loads(at) {
                stepped = step(site, read(data, 8), operand);
            }
            match stepped {
                Ok(Outcome { word, result, passed }) => {
                    if space == Space::Shared {
                        let change = (read(data, 8), word);
                        self.count_use((site.kind, passed), at, change);
                    }
                    write(data, 8, word);
                    missing =
                        if passed { missing } else { Word::unpack(word).map(|word| (at, word.missing())) };
                    if let Some(Some(dst)) = site.memory.values.first() {
                        frame.set_lane(*dst, lane, result);
                    }
                    if site.orders && mode == Mode::Update {
                        self.release_at(at, lane);
                    } else if site.orders && mode == Mode::Read && passed {
                        self.acquire_at(at, lane);
                    }
                    if mode == Mode::Read && passed && space == Space::Shared {
                        self.team.note_passed(self.warp.index, at);
                    }
                }
                Err(misuse) => {
                    let (_, lanes) = misused.get_or_insert((misuse, 0u32));
                    *lanes |= 1 << lane;
                }
            }
        }
        self.report_faults(&faults, 8, mode);
        if let Some((misuse, lanes)) = misused {
            self.report_misuse(misuse, lanes);
        }
        match missing {
            Some((at, missing)) => {
                let event = self.team.cluster.events.get();
                if self.warp.waiting.keep(Waiting { pc, lanes: mask, at, missing, event }) {
                    self.worker.tell(EventKind::Waits, self.team, self.warp.index, Some(at));
                }
            }
            None => {
                self.warp.waiting.stop(mask);
                self.team.cluster.happened();
            }
        }
        missing.is_some()
    }

    /// Counts what a lane has done at an mbarrier, whose word has changed.
    fn count_use(&mut self, (kind, passed): (MbarrierKind, bool), at: u64, (before, after): (u64, u64)) {
        let pc = self.pc;
        let done = self.worker.counts.mbarriers.at(address::without_rank(at), pc);
        let event = match kind {
            MbarrierKind::Wait { .. } if passed => {
                done.waits += 1;
                EventKind::Passes
            }
            MbarrierKind::Wait { .. } => {
                done.looks += 1;
                return;
            }
            MbarrierKind::Init | MbarrierKind::Invalidate => return,
            _ => {
                done.arrivals += 1;
                EventKind::Arrives
            }
        };
        let ended = Word::unpack(after).map_or(0, |word| word.phases_since(before));
        self.tell_use(event, ended, self.warp.index, at);
    }

    /// Tells of what was done at an mbarrier, and of the phases that have ended by it.
    fn tell_use(&mut self, event: EventKind, ended: u64, warp: u32, at: u64) {
        let pc = self.pc;
        self.worker.tell(event, self.team, warp, Some(at));
        if ended > 0 {
            self.worker.counts.mbarriers.at(address::without_rank(at), pc).phases += ended;
            self.worker.tell(EventKind::Ends, self.team, warp, Some(at));
        }
    }

    /// A bulk copy has come: its bytes are no longer missing.
    pub fn complete_bytes(&mut self, at: u64, transfer: &Transfer, bytes: u64) {
        let (lane, pc) = (usize::from(transfer.lane), transfer.pc);
        match self.lane_data(Space::Shared, at, lane, 8, 8, Mode::Update) {
            Ok(data) => match Word::unpack(read(data, 8)) {
                Some(mut word) => {
                    if let Err(misuse) = word.announce(-(bytes as i64)) {
                        self.report_misuse(misuse, 1 << lane);
                    }
                    word.complete();
                    let done = self.worker.counts.mbarriers.at(address::without_rank(at), pc);
                    done.copies += 1;
                    done.bytes += bytes;
                    let ended = word.phases_since(read(data, 8));
                    self.tell_use(EventKind::Lands, ended, transfer.warp, at);
                    write(data, 8, word.pack());
                    self.team.cluster.happened();
                    if transfer.block == self.team.number {
                        self.team.order.publish(at, transfer.warp, lane as u32, true);
                    }
                }
                None => self.report_misuse(Misuse::NotInitialised, 1 << lane),
            },
            Err(fault) => {
                let mut faults = Faults::default();
                faults.add(lane, at, fault);
                self.report_faults(&faults, 8, Mode::Update);
            }
        }
    }

    /// A lane's arrival publishes what it did before: to its block, or to the block whose mbarrier it is.
    fn release_at(&mut self, at: u64, lane: usize) {
        let rank = address::rank_of(at);
        if rank.is_none_or(|rank| rank == self.team.rank) {
            self.team.order.publish(address::without_rank(at), self.warp.index, lane as u32, true);
        }
        if rank.is_some() {
            self.team.order.now += 1;
            self.team.known.fenced = Some(self.team.order.now);
            let place = self.team.cluster.place_of(at);
            self.launch().blocks.publish(place, self.team.number, self.team.order.now, &self.team.known);
        }
    }

    /// A lane that has waited knows what those did before that have arrived.
    fn acquire_at(&mut self, at: u64, lane: usize) {
        self.team.order.learn(at, self.warp.index, lane as u32);
        let place = self.team.cluster.place_of(address::by_rank(at, self.team.rank));
        self.launch().blocks.learn(place, &mut self.team.known);
    }

    fn report_misuse(&mut self, misuse: Misuse, lanes: u32) {
        self.report(FindingKind::InvalidMbarrier, Severity::Error, lanes, || {
            let (message, fix) = match misuse {
                Misuse::NotInitialised => (
                    "uses an mbarrier that is not initialised",
                    "initialise it in one thread, with mbarrier.init, and put __syncthreads() behind that",
                ),
                Misuse::TooMany => (
                    "arrives more often than the mbarrier expects in a phase",
                    "initialise it with as many arrivals as come in a phase, and wait for the phase before the next arrival",
                ),
                Misuse::Bytes => (
                    "announces more bytes than an mbarrier counts, 2^20 - 1, or has more come than were announced",
                    "announce with expect_tx what all copies of a phase bring together, once in the phase",
                ),
                Misuse::Count => (
                    "gives an mbarrier a count that is not between 1 and 2^20 - 1",
                    "count the arrivals of a phase",
                ),
            };
            (message.into(), fix.into())
        });
    }
}

/// The parity that waits for the phase which a word is in; `None` if it is no mbarrier.
pub fn parity_of(bits: u64) -> Option<u32> {
    Word::unpack(bits).map(|word| word.phase.into())
}

/// What an instruction does to the word, what it returns, and whether the thread can go on.
struct Outcome {
    word: u64,
    result: u64,
    passed: bool,
}

fn step(site: &MbarrierSite, bits: u64, operand: Option<u64>) -> Result<Outcome, Misuse> {
    let count = operand.unwrap_or(1);
    if site.kind == MbarrierKind::Init {
        let fits = (1..=MBARRIER_COUNT).contains(&count);
        return if fits {
            Ok(Outcome { word: Word::new(count).pack(), result: 0, passed: true })
        } else {
            Err(Misuse::Count)
        };
    }
    let mut word = Word::unpack(bits).ok_or(Misuse::NotInitialised)?;
    let arrive = |word: &mut Word, count: u64| {
        word.pending = word.pending.checked_sub(count).ok_or(Misuse::TooMany)?;
        Ok(())
    };
    let (mut result, mut passed) = (bits, true);
    match site.kind {
        MbarrierKind::Init => {}
        MbarrierKind::Invalidate => return Ok(Outcome { word: 0, result, passed }),
        MbarrierKind::Arrive { drops, completes, expects } => {
            // With `expect_tx` the operand is the bytes, and one arrival is meant.
            let arrivals = if expects { 1 } else { count };
            word.announce(if expects { count as i64 } else { 0 })?;
            arrive(&mut word, arrivals)?;
            word.expected -= if drops { arrivals.min(word.expected) } else { 0 };
            if completes {
                word.complete();
            }
        }
        MbarrierKind::Copies { counts: false } => {}
        MbarrierKind::Copies { counts: true } => {
            arrive(&mut word, 1)?;
            word.complete();
        }
        MbarrierKind::Expect => word.announce(count as i64)?,
        MbarrierKind::Complete => {
            word.announce(-(count as i64))?;
            word.complete();
        }
        MbarrierKind::Wait { parity } => {
            let awaited = if parity { count & 1 == 1 } else { count & PHASE != 0 };
            passed = word.phase != awaited;
            result = passed.into();
        }
    }
    Ok(Outcome { word: word.pack(), result, passed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_what_they_say() {
        for word in [
            Word::new(1),
            Word { pending: 0, expected: MBARRIER_COUNT, bytes: -1, phase: true },
            Word { pending: 7, expected: 9, bytes: (1 << 20) - 1, phase: false },
        ] {
            assert_eq!(Word::unpack(word.pack()), Some(word));
        }
        assert_eq!(Word::unpack(0), None);
    }
}
