//! Loads and stores.

use super::moves::{Cells, fetch, spill};
use crate::check::Mode;
use crate::count::Pattern;
use crate::machine::{
    lanes::{
        addresses::{gather, placed},
        frame::Frame,
    },
    state::{step::Step, team::Team, worker::Launch},
    watch::quiet::is_quiet,
};
use crate::memory::{Atomic, Object, Plain};
use crate::program::{
    address,
    instruction::{MemorySite, Slot, Space, Width},
};

/// The address of the first active lane, if the lanes lie to each other as `pattern` says.
#[inline(always)]
fn repeated(site: &MemorySite, pattern: &Pattern, frame: Frame, mask: u32) -> Option<u64> {
    let offset = site.offset as u64;
    // SAFETY: places are rows of the width that the operand has.
    unsafe {
        match site.base {
            Some(Slot { place, width: Width::Double }) => {
                pattern.matches(&*frame.source(place), offset, mask)
            }
            Some(Slot { place, width: Width::Word }) => {
                pattern.matches32(&*frame.source(place), offset, mask)
            }
            Some(Slot { width: Width::Predicate, .. }) => None,
            None => pattern.matches(&[0; 32], offset, mask),
        }
    }
}

/// The object that an access at `first` can only mean, if all lanes share those of `space`; and the address there.
#[inline(always)]
fn known_object(
    launch: &Launch<'_>,
    team: &mut Team,
    site: &MemorySite,
    space: Space,
    first: u64,
) -> Option<(Object, u64)> {
    match space {
        Space::Shared => {
            let window = if site.space == Space::Generic { address::SHARED_WINDOW } else { 0 };
            let at = first.wrapping_sub(window);
            Some((team.shared.object(&launch.shared, at)?, at))
        }
        Space::Global => Some((launch.memory.object(first)?, first)),
        _ => None,
    }
}

impl Step<'_, '_> {
    /// `ld` and `st`. It takes itself by value, so that the short way through it need not be in memory.
    #[inline(always)]
    pub fn access(mut self, mode: Mode, index: u32) {
        let Self { frame, mask, .. } = self;
        let site = &self.program().sites.memories[index as usize];
        let pattern = &self.worker.patterns[site.counter as usize];
        if let Some(first) = repeated(site, pattern, frame, mask)
            && let Some((object, at)) = known_object(self.launch(), self.team, site, pattern.space, first)
            && pattern.is_inside(at, &object, site.bytes * site.elements)
            && (mode == Mode::Read || object.writable)
            && (self.worker.is_unwatched
                || is_quiet(self.worker.host_isa, self.lend(), site, &object, at, mode))
        {
            let pattern = &mut self.worker.patterns[site.counter as usize];
            pattern.repeats += 1;
            // SAFETY: all lanes are inside the object, and aligned.
            unsafe {
                let data = object.data.add(at.wrapping_sub(object.start) as usize);
                let cells = Cells { data, relative: pattern.relative(), shape: pattern.shape, mask };
                transfer(mode, pattern.space, site, &cells, frame);
            }
            return;
        }
        self.access_anew(mode, index);
    }

    /// An access whose lanes do not lie as they did before.
    #[inline(never)]
    fn access_anew(mut self, mode: Mode, index: u32) {
        let Self { frame, mask, .. } = self;
        let site = &self.program().sites.memories[index as usize];
        let (addresses, space) = placed(site, frame, mask);
        self.worker.count(site, &addresses, space, mode);
        let first = addresses.at[0];
        let object = match space {
            Space::Shared => self.team.shared.object(&self.launch().shared, first),
            Space::Global => self.launch().memory.object(first),
            _ => None,
        };
        let pattern = &self.worker.patterns[site.counter as usize];
        let shape = pattern.shape;
        let object = object.filter(|object| {
            pattern.is_inside(first, object, site.bytes * site.elements)
                && (mode == Mode::Read || object.writable)
        });
        let Some(object) = object else {
            self.lane_by_lane(site, space, &addresses, mode);
            return;
        };
        if !object.writable && self.worker.is_unfilled(first) {
            self.worker.report_unfilled(first, self.side(mask));
        }
        let quiet = self.worker.is_unwatched
            || is_quiet(self.worker.host_isa, self.lend(), site, &object, first, mode);
        if !quiet {
            self.order(site, &addresses, space, mode);
        }
        if !quiet && space == Space::Shared && self.team.shadow.is_some() {
            self.shadow_shared(site, &addresses, &object, mode);
        }
        if !quiet && space == Space::Global && self.worker.shadow.is_some() {
            if site.is_read_only {
                self.check_read_only(site, &addresses, &object);
            }
            self.shadow_global(site, &addresses, &object, mode);
        }
        // SAFETY: all lanes are inside the object, and aligned.
        unsafe {
            let data = object.data.add((first - object.start) as usize);
            let relative = addresses.relative();
            transfer(mode, space, site, &Cells { data, relative: &relative, shape, mask }, frame);
        }
        if mode == Mode::Read && space == Space::Global {
            self.learn_of_blocks(site, &addresses);
        }
    }

    /// `ld.param` of an entry.
    #[inline(never)]
    pub fn load_param(&mut self, index: u32) {
        let Self { frame, mask, .. } = *self;
        let site = &self.program().sites.memories[index as usize];
        if site.base.is_some() {
            let addresses = gather(site, frame, mask);
            self.worker.count(site, &addresses, Space::Param, Mode::Read);
            self.lane_by_lane(site, Space::Param, &addresses, Mode::Read);
            return;
        }
        let count = &mut self.worker.counts.accesses[site.counter as usize];
        count.requests += 1;
        count.lanes += u64::from(mask.count_ones());
        self.worker.counts.spaces[site.counter as usize] |= 1 << Space::Param as u8;
        for (element, slot) in site.values.iter().enumerate() {
            let Some(slot) = slot else { continue };
            let start = site.offset as usize + element * site.bytes as usize;
            let mut bytes = [0; 8];
            for (byte, to) in bytes.iter_mut().take(site.bytes as usize).enumerate() {
                *to = self.launch().params.get(start + byte).copied().unwrap_or(0);
            }
            frame.fill(*slot, u64::from_le_bytes(bytes), mask);
        }
    }
}

/// Moves the data of an access.
///
/// # Safety
/// The cells must be inside an object of `space`, aligned, and writable if they are written.
#[inline(always)]
unsafe fn transfer(mode: Mode, space: Space, site: &MemorySite, cells: &Cells<'_>, frame: Frame) {
    // SAFETY: the caller promises it.
    unsafe {
        match (mode, space) {
            (Mode::Read, Space::Shared) => fetch::<Plain>(site, cells, frame),
            (Mode::Read, _) => fetch::<Atomic>(site, cells, frame),
            (_, Space::Shared) => spill::<Plain>(site, cells, frame),
            (_, _) => spill::<Atomic>(site, cells, frame),
        }
    }
}
