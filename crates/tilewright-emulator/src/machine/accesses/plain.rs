//! Loads and stores.

use super::moves::{Cells, fetch, spill};
use crate::check::{Actor, Mode, Strength};
use crate::count::Pattern;
use crate::machine::{
    lanes::{
        addresses::{gather, placed},
        frame::Frame,
    },
    state::{team::Team, warp::Warp, worker::Worker},
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

impl Worker<'_> {
    /// `ld` and `st`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    pub fn access(
        &mut self,
        mode: Mode,
        warp: &mut Warp,
        team: &mut Team,
        frame: Frame,
        index: u32,
        mask: u32,
        pc: u32,
    ) {
        let site = &self.program.sites.memories[index as usize];
        let pattern = &self.patterns[site.counter as usize];
        if let Some(first) = repeated(site, pattern, frame, mask)
            && let Some((object, at)) = self.known_object(site, pattern.space, team, first)
            && pattern.is_inside(at, &object, site.bytes * site.elements)
            && (mode == Mode::Read || object.writable)
            && (self.is_unwatched || self.is_quiet(site, warp, team, &object, at, mode, pc))
        {
            let pattern = &mut self.patterns[site.counter as usize];
            pattern.repeats += 1;
            // SAFETY: all lanes are inside the object, and aligned.
            unsafe {
                let data = object.data.add(at.wrapping_sub(object.start) as usize);
                let cells = Cells { data, relative: pattern.relative(), shape: pattern.shape, mask };
                transfer(mode, pattern.space, site, &cells, frame);
            }
            return;
        }
        self.access_anew(mode, warp, team, frame, index, mask, pc);
    }

    /// The object that an access at `first` can only mean, if all lanes share those of `space`; and the address there.
    #[inline(always)]
    fn known_object(
        &self,
        site: &MemorySite,
        space: Space,
        team: &mut Team,
        first: u64,
    ) -> Option<(Object, u64)> {
        match space {
            Space::Shared => {
                let window = if site.space == Space::Generic { address::SHARED_WINDOW } else { 0 };
                let at = first.wrapping_sub(window);
                Some((team.shared.object(&self.launch.shared, at)?, at))
            }
            Space::Global => Some((self.launch.memory.object(first)?, first)),
            _ => None,
        }
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    fn is_quiet(
        &mut self,
        site: &MemorySite,
        warp: &Warp,
        team: &mut Team,
        object: &Object,
        first: u64,
        mode: Mode,
        pc: u32,
    ) -> bool {
        let pattern = &mut self.patterns[site.counter as usize];
        let actor = Actor { warp: warp.index, pc, strength: Strength::Plain };
        is_quiet(
            self.host_isa,
            self.launch,
            &mut self.shadow,
            team,
            site,
            pattern,
            object,
            first,
            actor,
            mode,
        )
    }

    /// An access whose lanes do not lie as they did before.
    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    fn access_anew(
        &mut self,
        mode: Mode,
        warp: &mut Warp,
        team: &mut Team,
        frame: Frame,
        index: u32,
        mask: u32,
        pc: u32,
    ) {
        let site = &self.program.sites.memories[index as usize];
        let (addresses, space) = placed(site, frame, mask);
        self.count(site, &addresses, space, mode);
        let first = addresses.at[0];
        let object = match space {
            Space::Shared => team.shared.object(&self.launch.shared, first),
            Space::Global => self.launch.memory.object(first),
            _ => None,
        };
        let pattern = &self.patterns[site.counter as usize];
        let shape = pattern.shape;
        let object = object.filter(|object| {
            pattern.is_inside(first, object, site.bytes * site.elements)
                && (mode == Mode::Read || object.writable)
        });
        let Some(object) = object else {
            self.lane_by_lane(site, space, warp, team, &addresses, frame, pc, mode);
            return;
        };
        if !object.writable && self.is_unfilled(first) {
            self.report_unfilled(first, self.side(warp, team, pc, mask));
        }
        let quiet = self.is_unwatched || self.is_quiet(site, warp, team, &object, first, mode, pc);
        if !quiet {
            self.order(site, warp, team, &addresses, space, mode);
        }
        if !quiet && space == Space::Shared && team.shadow.is_some() {
            self.shadow_shared(site, warp, team, &addresses, &object, mode, frame, pc);
        }
        if !quiet && space == Space::Global && self.shadow.is_some() {
            if site.is_read_only {
                self.check_read_only(site, warp, team, &addresses, &object, pc);
            }
            self.shadow_global(site, warp, team, &addresses, &object, mode, frame, pc);
        }
        // SAFETY: all lanes are inside the object, and aligned.
        unsafe {
            let data = object.data.add((first - object.start) as usize);
            let relative = addresses.relative();
            transfer(mode, space, site, &Cells { data, relative: &relative, shape, mask }, frame);
        }
        if mode == Mode::Read && space == Space::Global {
            self.learn_of_blocks(site, team, &addresses);
        }
    }

    /// `ld.param` of an entry.
    #[inline(never)]
    pub fn load_param(
        &mut self,
        warp: &mut Warp,
        team: &mut Team,
        frame: Frame,
        index: u32,
        mask: u32,
        pc: u32,
    ) {
        let site = &self.program.sites.memories[index as usize];
        if site.base.is_some() {
            let addresses = gather(site, frame, mask);
            self.count(site, &addresses, Space::Param, Mode::Read);
            self.lane_by_lane(site, Space::Param, warp, team, &addresses, frame, pc, Mode::Read);
            return;
        }
        let count = &mut self.counts.accesses[site.counter as usize];
        count.requests += 1;
        count.lanes += u64::from(mask.count_ones());
        self.counts.spaces[site.counter as usize] |= 1 << Space::Param as u8;
        for (element, slot) in site.values.iter().enumerate() {
            let Some(slot) = slot else { continue };
            let start = site.offset as usize + element * site.bytes as usize;
            let mut bytes = [0; 8];
            for (byte, to) in bytes.iter_mut().take(site.bytes as usize).enumerate() {
                *to = self.launch.params.get(start + byte).copied().unwrap_or(0);
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
