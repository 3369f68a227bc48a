//! Atomics and reductions.

use std::sync::{
    Mutex,
    atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst},
};

use crate::check::Mode;
use crate::machine::{
    lanes::{addresses::placed, frame::Frame},
    state::{step::Step, worker::Worker},
    watch::faults::Faults,
};
use crate::memory::{Addresses, lanes, read, write};
use crate::program::{
    address,
    instruction::{AtomicOp, AtomicSite, Slot, Space},
};
use crate::ptx_isa::Type;

impl Step<'_, '_> {
    /// `atom` and `red`. `false`: a lane was told a value, and none has changed memory, as where all find a lock taken.
    pub fn atomic(&mut self, index: u32) -> bool {
        let Self { frame, mask, .. } = *self;
        let site = &self.program().sites.atomics[index as usize];
        let memory = &site.memory;
        let (addresses, space) = placed(memory, frame, mask);
        self.count_atomic(index, &addresses, space);
        let mut faults = Faults::default();
        let bytes = memory.bytes * memory.elements;
        let mut checked = 0u32;
        let mut data = [std::ptr::null_mut(); 32];
        for lane in lanes(mask) {
            let at = addresses.at[lane];
            match self.lane_data(space, at, lane, bytes, bytes, Mode::Update) {
                Ok(found) => {
                    self.team.touch(space, at, self.side(1 << lane));
                    data[lane] = found;
                    checked |= 1 << lane;
                }
                Err(fault) => faults.add(lane, at, fault),
            }
        }
        self.report_faults(&faults, bytes, Mode::Update);
        if checked == 0 {
            return true;
        }
        // Before anybody can see the new values.
        let all = Addresses { mask: checked, ..addresses };
        self.order(memory, &all, space, Mode::Update);
        let swaps = site.op == AtomicOp::Cas;
        if !swaps {
            self.shadow_atomic(site, &all, space, Mode::Update);
        }
        let mut stored = 0u32;
        let mut has_changed = site.ty == Type::B128 || memory.values.iter().all(Option::is_none);
        for lane in lanes(checked) {
            let value = |slot: Option<Slot>| slot.map_or(0, |slot| frame.lane(slot, lane));
            let is_equal = if site.ty == Type::B128 {
                swap_wide(site, data[lane], frame, lane)
            } else {
                let mut is_equal = true;
                for (element, slots) in site.operands.iter().enumerate() {
                    let operands = slots.map(value);
                    // SAFETY: `lane_data` has checked all elements.
                    let data = unsafe { data[lane].add(element * memory.bytes as usize) };
                    let old = update(site, data, operands);
                    has_changed |= read(data, memory.bytes) != old;
                    is_equal &= old == operands[0] & u64::MAX >> (64 - 8 * memory.bytes);
                    if let Some(Some(dst)) = memory.values.get(element) {
                        frame.set_lane(*dst, lane, old);
                    }
                }
                is_equal
            };
            stored |= u32::from(is_equal) << lane;
        }
        if swaps {
            // A compare-and-swap that finds another value than it compares with is a load.
            for (mode, mask) in [(Mode::Update, stored), (Mode::Read, checked & !stored)] {
                let part = Addresses { mask, ..addresses };
                self.shadow_atomic(site, &part, space, mode);
            }
        }
        if space == Space::Global {
            self.learn_of_blocks(memory, &all);
        }
        has_changed
    }

    fn shadow_atomic(&mut self, site: &AtomicSite, addresses: &Addresses, space: Space, mode: Mode) {
        // Races are told per object: lanes of another object are looked at by themselves.
        let mut rest = addresses.mask;
        if space == Space::Shared {
            // Those by rank may be of another block.
            let is_own = |&lane: &usize| address::rank_of(addresses.at[lane]).is_none();
            rest = lanes(rest).filter(is_own).fold(0, |mask, lane| mask | 1 << lane);
        }
        while rest != 0 {
            let first = addresses.at[rest.trailing_zeros() as usize];
            let object = match space {
                Space::Shared => self.team.shared.object(&self.launch().shared, first),
                Space::Global => self.launch().memory.object(first),
                _ => None,
            };
            let Some(object) = object else { return };
            let mut group = *addresses;
            group.mask = lanes(rest)
                .filter(|&lane| addresses.at[lane].wrapping_sub(object.start) < object.bytes)
                .fold(0, |mask, lane| mask | 1 << lane);
            group.at =
                std::array::from_fn(|lane| if group.mask >> lane & 1 == 1 { group.at[lane] } else { first });
            rest &= !group.mask;
            if space == Space::Shared && self.team.shadow.is_some() {
                self.shadow_shared(&site.memory, &group, &object, mode);
            } else if space == Space::Global && self.worker.shadow.is_some() {
                self.shadow_global(&site.memory, &group, &object, mode);
            }
        }
    }

    fn count_atomic(&mut self, index: u32, addresses: &Addresses, space: Space) {
        let site = &self.program().sites.atomics[index as usize];
        if space == Space::Shared && site.loads.is_some() {
            for mode in [Mode::Read, Mode::Update] {
                self.worker.observe(&site.memory, addresses, space, mode);
            }
            self.worker.contend(index, self.warp.index, self.team, addresses);
            return;
        }
        self.worker.count(&site.memory, addresses, space, Mode::Update);
        let counter = site.memory.counter as usize;
        match space {
            Space::Shared => self.worker.count_serial(counter, addresses),
            Space::Global => self.worker.count_turns(counter, addresses),
            _ => {}
        }
    }
}

impl Worker<'_> {
    /// Lanes of a global atomic that meet in an address take turns.
    fn count_turns(&mut self, counter: usize, addresses: &Addresses) {
        let sectors = tilewright_arch::memory::global::atomic_sectors(&addresses.at, addresses.mask);
        let counted = self.patterns[counter].once.sectors;
        self.counts.accesses[counter].sectors += u64::from(sectors).saturating_sub(counted);
    }

    /// Lanes of a shared atomic that meet in a bank take turns, those of one word too.
    fn count_serial(&mut self, counter: usize, addresses: &Addresses) {
        let pattern = &self.patterns[counter];
        let mut banks = [0u32; 32];
        for lane in lanes(addresses.mask) {
            banks[(addresses.at[lane] / 4 % 32) as usize] += 1;
        }
        let turns = banks.into_iter().max().unwrap_or(0);
        let count = &mut self.counts.accesses[counter];
        count.wavefronts += u64::from(turns).saturating_sub(pattern.once.wavefronts);
    }
}

/// Exchanges 128 bits, or compares and swaps them; returns whether the old ones are those of the first operand. Accesses of this width come one
/// after another; narrower ones of other threads may come between.
fn swap_wide(site: &AtomicSite, data: *mut u8, frame: Frame, lane: usize) -> bool {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // SAFETY: `lane_data` has checked both halves.
    let halves = [data, unsafe { data.add(8) }];
    let old = halves.map(|half| read(half, 8));
    let operand =
        |which: usize| [0, 1].map(|half| site.operands[half][which].map_or(0, |slot| frame.lane(slot, lane)));
    let is_equal = old == operand(0);
    let new = match site.op {
        AtomicOp::Cas if is_equal => operand(1),
        AtomicOp::Cas => old,
        _ => operand(0),
    };
    for ((half, new), (dst, old)) in halves.into_iter().zip(new).zip(site.memory.values.iter().zip(old)) {
        write(half, 8, new);
        if let Some(dst) = dst {
            frame.set_lane(*dst, lane, old);
        }
    }
    is_equal
}

/// Performs one lane's operation and returns the old value.
fn update(site: &AtomicSite, data: *mut u8, operands: [u64; 2]) -> u64 {
    // SAFETY: `lane_data` has checked bounds and alignment.
    unsafe { exchange(data, site.memory.bytes, |old| next(site, old, operands)) }
}

/// Replaces a value of 2, 4 or 8 bytes by what `change` makes of it, at once for all threads, and returns it.
///
/// # Safety
/// `data` points to so many bytes of memory of a launch, aligned to them.
pub unsafe fn exchange(data: *mut u8, bytes: u32, change: impl Fn(u64) -> u64) -> u64 {
    // SAFETY: as the caller says; emulated memory is accessed through atomics alone while a kernel runs, and shared memory by one thread of
    // this process.
    unsafe {
        match bytes {
            2 => {
                let cell = AtomicU16::from_ptr(data.cast());
                let change = |old: u16| Some(change(old.into()) as u16);
                cell.fetch_update(SeqCst, SeqCst, change).unwrap_or_else(|old| old).into()
            }
            4 => {
                let cell = AtomicU32::from_ptr(data.cast());
                let change = |old: u32| Some(change(old.into()) as u32);
                cell.fetch_update(SeqCst, SeqCst, change).unwrap_or_else(|old| old).into()
            }
            _ => {
                let cell = AtomicU64::from_ptr(data.cast());
                cell.fetch_update(SeqCst, SeqCst, |old| Some(change(old))).unwrap_or_else(|old| old)
            }
        }
    }
}

/// The new value.
fn next(site: &AtomicSite, old: u64, [a, b]: [u64; 2]) -> u64 {
    if let Some(eval) = &site.eval {
        return eval.lane([old, a, 0, 0, 0]);
    }
    integer(site.op, old, a, b, site.ty.bits(), site.ty.is_signed())
}

/// An integer operation of `bits` bits; `b` is the second operand of compare-and-swap.
pub fn integer(op: AtomicOp, old: u64, a: u64, b: u64, bits: u32, signed: bool) -> u64 {
    let shift = 64 - bits;
    let extend = |value: u64| ((value << shift) as i64) >> shift;
    let ones = u64::MAX >> shift;
    let result = match op {
        AtomicOp::Add => old.wrapping_add(a),
        AtomicOp::And => old & a,
        AtomicOp::Or => old | a,
        AtomicOp::Xor => old ^ a,
        AtomicOp::Exch => a,
        AtomicOp::Cas => {
            if old == a & ones {
                b
            } else {
                old
            }
        }
        AtomicOp::Min if signed => extend(old).min(extend(a)) as u64,
        AtomicOp::Max if signed => extend(old).max(extend(a)) as u64,
        AtomicOp::Min => old.min(a),
        AtomicOp::Max => old.max(a),
        AtomicOp::Inc => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Dec => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
    };
    result & ones
}
