//! Loads and stores.

use super::{
    frame::Frame,
    team::Team,
    warp::Warp,
    worker::{Worker, window},
};
use crate::check::{Actor, Mode, Side, Strength};
use crate::memory::{Addresses, Atomic, Cost, Object, Plain, Shape, Words, each_lane, lanes};
use crate::program::{
    address,
    instruction::{MemorySite, Order, Slot, Space, Width},
};

/// The addresses of a site; lanes that sit out get that of the first active lane.
#[inline(always)]
pub fn gather(site: &MemorySite, frame: Frame, mask: u32) -> Addresses {
    let mut at = match site.base {
        Some(slot) => frame.row(slot),
        None => [0; 32],
    };
    for address in &mut at {
        *address = address.wrapping_add(site.offset as u64);
    }
    // Shared addresses in 32-bit registers wrap at 32 bits.
    if matches!(site.base, Some(Slot { width: Width::Word, .. })) {
        at.iter_mut().for_each(|address| *address &= u64::from(u32::MAX));
    }
    if mask != u32::MAX {
        let first = at[mask.trailing_zeros() as usize & 31];
        for (lane, address) in at.iter_mut().enumerate() {
            *address = if mask >> lane & 1 == 1 { *address } else { first };
        }
    }
    Addresses { at, mask }
}

/// Whether every lane's `bytes` lie in `object`, aligned to `align`.
#[inline(always)]
pub fn all_inside(addresses: &Addresses, object: &Object, bytes: u32, align: u32) -> bool {
    let Some(limit) = object.bytes.checked_sub(bytes.into()) else { return false };
    let mut outside = 0;
    let mut low = 0;
    for &at in &addresses.at {
        outside |= u64::from(at.wrapping_sub(object.start) > limit);
        low |= at;
    }
    outside == 0 && low & u64::from(align - 1) == 0
}

#[inline(always)]
unsafe fn fetch<W: Words, const BYTES: u32>(
    data: *mut u8,
    offsets: &[u64; 32],
    shape: Shape,
    mask: u32,
    frame: Frame,
    to: Slot,
) {
    // SAFETY: the caller has checked that all offsets are inside and aligned.
    unsafe {
        if shape == Shape::Uniform {
            frame.fill(to, W::read::<BYTES>(data.add(offsets[0] as usize)), mask);
        } else if shape == Shape::Consecutive && to.width == Width::Word && BYTES == 4 {
            let from = data.add(offsets[0] as usize);
            let target = frame.target::<u32>(to.place);
            for lane in 0..32 {
                *target.add(lane) = W::read::<BYTES>(from.add(4 * lane)) as u32;
            }
        } else {
            let values = each_lane(offsets, |offset| W::read::<BYTES>(data.add(offset as usize)));
            frame.set_row(to, &values, mask);
        }
    }
}

#[inline(always)]
unsafe fn spill<W: Words, const BYTES: u32>(
    data: *mut u8,
    offsets: &[u64; 32],
    mask: u32,
    frame: Frame,
    from: Slot,
) {
    let values = frame.row(from);
    for lane in lanes(mask) {
        // SAFETY: the caller has checked that all offsets are inside and aligned.
        unsafe { W::write::<BYTES>(data.add(offsets[lane] as usize), values[lane]) };
    }
}

/// Moves the elements of a load.
#[inline(always)]
unsafe fn fetch_all<W: Words>(
    site: &MemorySite,
    data: *mut u8,
    offsets: &[u64; 32],
    shape: Shape,
    mask: u32,
    frame: Frame,
) {
    // Vectors are consecutive as a whole, their elements are not.
    let shape = if site.elements > 1 && shape == Shape::Consecutive { Shape::Scattered } else { shape };
    for (element, to) in site.values.iter().enumerate() {
        let Some(to) = *to else { continue };
        // SAFETY: the caller has checked the whole vector.
        unsafe {
            let data = data.add(element * site.bytes as usize);
            match site.bytes {
                4 => fetch::<W, 4>(data, offsets, shape, mask, frame, to),
                8 => fetch::<W, 8>(data, offsets, shape, mask, frame, to),
                2 => fetch::<W, 2>(data, offsets, shape, mask, frame, to),
                _ => fetch::<W, 1>(data, offsets, shape, mask, frame, to),
            }
        }
    }
}

/// Moves the elements of a store.
#[inline(always)]
unsafe fn spill_all<W: Words>(
    site: &MemorySite,
    data: *mut u8,
    offsets: &[u64; 32],
    mask: u32,
    frame: Frame,
) {
    for (element, from) in site.values.iter().enumerate() {
        let Some(from) = *from else { continue };
        // SAFETY: the caller has checked the whole vector.
        unsafe {
            let data = data.add(element * site.bytes as usize);
            match site.bytes {
                4 => spill::<W, 4>(data, offsets, mask, frame, from),
                8 => spill::<W, 8>(data, offsets, mask, frame, from),
                2 => spill::<W, 2>(data, offsets, mask, frame, from),
                _ => spill::<W, 1>(data, offsets, mask, frame, from),
            }
        }
    }
}

/// The space that generic addresses mean, if it is one for all active lanes; and the addresses in it.
#[inline(always)]
pub fn resolve(space: Space, addresses: &mut Addresses) -> Space {
    if space != Space::Generic {
        return space;
    }
    if addresses.at.iter().all(|&at| at >> address::REGION_SHIFT != 0) {
        return Space::Global;
    }
    resolve_window(addresses)
}

#[cold]
fn resolve_window(addresses: &mut Addresses) -> Space {
    let first = window(addresses.at[0]);
    if addresses.at.iter().any(|&at| window(at) != first) {
        return Space::Generic;
    }
    let space = match first {
        address::SHARED_WINDOW => Space::Shared,
        address::LOCAL_WINDOW => Space::Local,
        address::PARAM_WINDOW => Space::Param,
        _ => return Space::Global,
    };
    addresses.at.iter_mut().for_each(|at| *at -= first);
    space
}

impl Worker<'_> {
    /// Counts one execution of an access and returns the shape of its addresses.
    #[inline(always)]
    pub fn count(&mut self, site: &MemorySite, addresses: &Addresses, space: Space, store: Mode) -> Shape {
        let size = site.bytes * site.elements;
        let index = site.counter as usize;
        let pattern = &mut self.patterns[index];
        let cost = match (space, store) {
            (Space::Shared, Mode::Read) => Cost::SharedLoad,
            (Space::Shared, _) => Cost::SharedStore,
            _ => Cost::Sectors,
        };
        pattern.follow(addresses, size, cost);
        let lanes = u64::from(addresses.mask.count_ones());
        let count = &mut self.counts.accesses[index];
        count.requests += 1;
        count.lanes += lanes;
        count.bytes += lanes * u64::from(size);
        if space == Space::Shared {
            count.wavefronts += u64::from(pattern.cost);
            count.ideal_wavefronts += u64::from(pattern.ideal);
        } else {
            count.sectors += u64::from(pattern.cost);
            count.ideal_sectors += u64::from(pattern.ideal);
        }
        self.counts.spaces[index] |= 1 << space as u8;
        let shape = pattern.shape;
        if self.launch.observer.is_some() {
            self.observe(site, addresses, space, store);
        }
        shape
    }

    /// `ld`.
    #[inline(always)]
    pub fn load(&mut self, warp: &mut Warp, team: &mut Team, frame: Frame, index: u32, mask: u32, pc: u32) {
        let site = &self.program.sites.memories[index as usize];
        let mut addresses = gather(site, frame, mask);
        let size = site.bytes * site.elements;
        match resolve(site.space, &mut addresses) {
            Space::Shared => {
                if let Some(object) = team.shared.object(&self.launch.shared, addresses.at[0])
                    && all_inside(&addresses, &object, size, size)
                {
                    let shape = self.count(site, &addresses, Space::Shared, Mode::Read);
                    let offsets = each_lane(&addresses.at, |at| at - object.start);
                    if team.shadow.is_some() {
                        self.shadow_shared(
                            site,
                            warp,
                            team,
                            &addresses,
                            &object,
                            shape,
                            Mode::Read,
                            frame,
                            pc,
                        );
                    }
                    // SAFETY: all lanes are inside the object.
                    unsafe { fetch_all::<Plain>(site, object.data, &offsets, shape, mask, frame) };
                    return;
                }
                self.slow(site, Space::Shared, warp, team, &addresses, frame, pc, Mode::Read);
            }
            Space::Global => {
                if let Some(object) = self.launch.memory.object(addresses.at[0])
                    && all_inside(&addresses, &object, size, size)
                {
                    let shape = self.count(site, &addresses, Space::Global, Mode::Read);
                    let offsets = each_lane(&addresses.at, |at| at - object.start);
                    if self.launch.shadow.is_some() {
                        self.shadow_global(site, warp, team, &addresses, &object, Mode::Read, frame, pc);
                    }
                    // SAFETY: all lanes are inside the object.
                    unsafe { fetch_all::<Atomic>(site, object.data, &offsets, shape, mask, frame) };
                    return;
                }
                self.slow(site, Space::Global, warp, team, &addresses, frame, pc, Mode::Read);
            }
            space => self.slow(site, space, warp, team, &addresses, frame, pc, Mode::Read),
        }
    }

    /// `st`.
    #[inline(always)]
    pub fn store(&mut self, warp: &mut Warp, team: &mut Team, frame: Frame, index: u32, mask: u32, pc: u32) {
        let site = &self.program.sites.memories[index as usize];
        let mut addresses = gather(site, frame, mask);
        let size = site.bytes * site.elements;
        match resolve(site.space, &mut addresses) {
            Space::Shared => {
                if let Some(object) = team.shared.object(&self.launch.shared, addresses.at[0])
                    && all_inside(&addresses, &object, size, size)
                {
                    let shape = self.count(site, &addresses, Space::Shared, Mode::Write);
                    let offsets = each_lane(&addresses.at, |at| at - object.start);
                    if team.shadow.is_some() {
                        self.shadow_shared(
                            site,
                            warp,
                            team,
                            &addresses,
                            &object,
                            shape,
                            Mode::Write,
                            frame,
                            pc,
                        );
                    }
                    // SAFETY: all lanes are inside the object.
                    unsafe { spill_all::<Plain>(site, object.data, &offsets, mask, frame) };
                    return;
                }
                self.slow(site, Space::Shared, warp, team, &addresses, frame, pc, Mode::Write);
            }
            Space::Global => {
                let memory = self.launch.memory;
                if let Some(object) = memory.object(addresses.at[0])
                    && all_inside(&addresses, &object, size, size)
                    && memory
                        .region(addresses.at[0])
                        .is_some_and(|r| r.access == crate::memory::Access::ReadWrite)
                {
                    self.count(site, &addresses, Space::Global, Mode::Write);
                    let offsets = each_lane(&addresses.at, |at| at - object.start);
                    if self.launch.shadow.is_some() {
                        self.shadow_global(site, warp, team, &addresses, &object, Mode::Write, frame, pc);
                    }
                    // SAFETY: all lanes are inside the object.
                    unsafe { spill_all::<Atomic>(site, object.data, &offsets, mask, frame) };
                    return;
                }
                self.slow(site, Space::Global, warp, team, &addresses, frame, pc, Mode::Write);
            }
            space => self.slow(site, space, warp, team, &addresses, frame, pc, Mode::Write),
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
            self.slow(site, Space::Param, warp, team, &addresses, frame, pc, Mode::Read);
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

    /// Any access, lane by lane, with every check.
    #[cold]
    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    fn slow(
        &mut self,
        site: &MemorySite,
        space: Space,
        warp: &mut Warp,
        team: &mut Team,
        addresses: &Addresses,
        frame: Frame,
        pc: u32,
        mode: Mode,
    ) {
        self.count_slow(site, space, addresses, mode);
        let mut faults = super::faults::Faults::default();
        let size = site.bytes * site.elements;
        for lane in lanes(addresses.mask) {
            let at = addresses.at[lane];
            let data = match self.lane_data(space, warp, team, at, lane, size, size, mode) {
                Ok(data) => Some(data),
                Err(fault) => {
                    faults.add(lane, at, fault);
                    None
                }
            };
            for (element, slot) in site.values.iter().enumerate() {
                let Some(slot) = *slot else { continue };
                // SAFETY: `lane_data` has checked the whole vector.
                let data = data.map(|data| unsafe { data.add(element * site.bytes as usize) });
                if mode == Mode::Read {
                    let value = data.map_or(0, |data| read(data, site.bytes));
                    frame.set_lane(slot, lane, value);
                } else if let Some(data) = data {
                    write(data, site.bytes, frame.lane(slot, lane));
                }
            }
        }
        let side = Side { pc: Some(pc), block: team.number, warp: warp.index, lanes: 0 };
        self.report_faults(&faults, side, size, mode);
    }

    /// The data of one lane's access, or why there is none.
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    pub fn lane_data(
        &mut self,
        space: Space,
        warp: &mut Warp,
        team: &mut Team,
        at: u64,
        lane: usize,
        bytes: u32,
        align: u32,
        mode: Mode,
    ) -> Result<*mut u8, super::faults::Fault> {
        use super::faults::Fault;
        let aligned = at.is_multiple_of(u64::from(align));
        let (object, writable) = match space {
            Space::Shared => match team.shared.object(&self.launch.shared, at) {
                Some(object) => (object, true),
                None => return Err(Fault::NoObject { space }),
            },
            Space::Local => (warp.local_object(lane, self.local_bytes(at)?), true),
            Space::Param => {
                let params = &self.launch.params;
                let data = params.as_ptr().cast_mut();
                (Object { start: 0, bytes: params.len() as u64, data }, false)
            }
            Space::Generic => {
                let start = window(at);
                let space = match start {
                    address::SHARED_WINDOW => Space::Shared,
                    address::LOCAL_WINDOW => Space::Local,
                    address::PARAM_WINDOW => Space::Param,
                    _ => Space::Global,
                };
                return self.lane_data(space, warp, team, at - start, lane, bytes, align, mode);
            }
            Space::Global | Space::Const | Space::Texture => match self.launch.memory.object(at) {
                Some(object) => {
                    let access = self.launch.memory.region(at).map(|region| region.access);
                    (object, access == Some(crate::memory::Access::ReadWrite))
                }
                None => match self.launch.heap.object(at) {
                    Some(object) => (object, true),
                    None => return Err(Fault::NoObject { space: Space::Global }),
                },
            },
        };
        let offset = at.wrapping_sub(object.start);
        let limit = object.bytes.checked_sub(bytes.into());
        if limit.is_none_or(|limit| offset > limit) {
            return Err(Fault::Outside { space, offset: offset as i64, bytes: object.bytes });
        }
        if !aligned {
            return Err(Fault::Misaligned);
        }
        if mode != Mode::Read && !writable {
            return Err(Fault::ReadOnly { space });
        }
        // SAFETY: the offset is inside the object.
        Ok(unsafe { object.data.add(offset as usize) })
    }

    /// How much local memory a thread needs so that `at` is inside.
    fn local_bytes(&self, at: u64) -> Result<usize, super::faults::Fault> {
        let level = u64::from(self.program.local_bytes.max(16));
        let bytes = (at / level + 1).saturating_mul(level);
        if self.program.local_bytes == 0 || bytes > super::calls::LOCAL_LIMIT {
            return Err(super::faults::Fault::Outside {
                space: Space::Local,
                offset: at as i64,
                bytes: self.program.local_bytes.into(),
            });
        }
        Ok(bytes as usize)
    }

    /// Counts an access that is not on the fast path.
    fn count_slow(&mut self, site: &MemorySite, space: Space, addresses: &Addresses, mode: Mode) {
        // What `count` counts, it tells the observer itself.
        if self.launch.observer.is_some() && matches!(space, Space::Local | Space::Const | Space::Param) {
            self.observe(site, addresses, space, mode);
        }
        match space {
            Space::Local => {
                let sectors = local_sectors(addresses, site.bytes * site.elements);
                let count = &mut self.counts.accesses[site.counter as usize];
                let lanes = u64::from(addresses.mask.count_ones());
                count.requests += 1;
                count.lanes += lanes;
                count.bytes += lanes * u64::from(site.bytes * site.elements);
                count.sectors += u64::from(sectors);
                let bytes = site.bytes * site.elements;
                count.ideal_sectors +=
                    u64::from(tilewright_arch::memory::global::ideal_sectors(addresses.mask, bytes));
                self.counts.spaces[site.counter as usize] |= 1 << Space::Local as u8;
            }
            Space::Const | Space::Param => {
                // The constant cache serves one address at a time.
                let mut distinct: Vec<u64> = lanes(addresses.mask).map(|lane| addresses.at[lane]).collect();
                distinct.sort_unstable();
                distinct.dedup();
                let count = &mut self.counts.accesses[site.counter as usize];
                let lanes = u64::from(addresses.mask.count_ones());
                count.requests += 1;
                count.lanes += lanes;
                count.bytes += lanes * u64::from(site.bytes * site.elements);
                count.wavefronts += distinct.len() as u64;
                count.ideal_wavefronts += 1;
                self.counts.spaces[site.counter as usize] |= 1 << space as u8;
            }
            space => {
                self.count(site, addresses, space, mode);
            }
        }
    }

    /// How an access takes part in races.
    pub fn actor(&self, site: &MemorySite, warp: &Warp, pc: u32, space: Space) -> Actor {
        let strong = match site.order {
            Order::Weak => false,
            // Volatile is no substitute for a barrier between lanes.
            Order::Volatile => space == Space::Global,
            Order::Strong => true,
        };
        let strength = if strong { Strength::Atomic } else { Strength::Plain };
        Actor { warp: warp.index, pc, strength }
    }
}

/// Sectors of a local access: the hardware keeps word `k` of lane `i` at `128 k + 4 i`.
fn local_sectors(addresses: &Addresses, bytes: u32) -> u32 {
    let mut sectors = Vec::with_capacity(128);
    for lane in lanes(addresses.mask) {
        let at = addresses.at[lane];
        for word in at / 4..(at + u64::from(bytes)).div_ceil(4) {
            sectors.push((word * 128 + 4 * lane as u64) / 32);
        }
    }
    sectors.sort_unstable();
    sectors.dedup();
    sectors.len() as u32
}

/// Reads 1, 2, 4 or 8 bytes.
pub fn read(data: *mut u8, bytes: u32) -> u64 {
    // SAFETY: callers get pointers from `lane_data`, which has checked bounds and alignment.
    unsafe {
        match bytes {
            1 => Atomic::read::<1>(data),
            2 => Atomic::read::<2>(data),
            4 => Atomic::read::<4>(data),
            _ => Atomic::read::<8>(data),
        }
    }
}

/// Writes 1, 2, 4 or 8 bytes.
pub fn write(data: *mut u8, bytes: u32, value: u64) {
    // SAFETY: as for `read`.
    unsafe {
        match bytes {
            1 => Atomic::write::<1>(data, value),
            2 => Atomic::write::<2>(data, value),
            4 => Atomic::write::<4>(data, value),
            _ => Atomic::write::<8>(data, value),
        }
    }
}
