//! Accesses lane by lane, with every check.

use crate::check::Mode;
use crate::machine::{
    state::step::Step,
    watch::faults::{Fault, Faults},
};
use crate::memory::{Addresses, Object, lanes, read, write};
use crate::program::{
    address,
    instruction::{MemorySite, Space},
};

impl Step<'_, '_> {
    /// Any access, lane by lane, with every check.
    #[cold]
    #[inline(never)]
    pub fn lane_by_lane(&mut self, site: &MemorySite, space: Space, addresses: &Addresses, mode: Mode) {
        let frame = self.frame;
        let mut faults = Faults::default();
        // Where a lane reads constant memory that nobody has filled, and which lanes do.
        let mut unfilled: Option<(u64, u32)> = None;
        let size = site.bytes * site.elements;
        for lane in lanes(addresses.mask) {
            let at = addresses.at[lane];
            let data = match self.lane_data(space, at, lane, size, size, mode) {
                Ok(data) => {
                    self.team.touch(space, at, self.side(1 << lane));
                    Some(data)
                }
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
                    if let Some(data) = data
                        && self.note_unwritten(space, slot, lane, at, data, site.bytes)
                    {
                        unfilled.get_or_insert((at, 0)).1 |= 1 << lane;
                    }
                    let value = data.map_or(0, |data| read(data, site.bytes));
                    frame.set_lane(slot, lane, value);
                } else if let Some(data) = data {
                    write(data, site.bytes, frame.lane(slot, lane));
                }
            }
        }
        self.report_faults(&faults, size, mode);
        if let Some((at, lanes)) = unfilled {
            self.worker.report_unfilled(at, self.side(lanes));
        }
    }

    /// The data of one lane's access, or why there is none.
    pub fn lane_data(
        &mut self,
        space: Space,
        at: u64,
        lane: usize,
        bytes: u32,
        align: u32,
        mode: Mode,
    ) -> Result<*mut u8, Fault> {
        let aligned = at.is_multiple_of(u64::from(align));
        let object = match space {
            Space::Shared => match self.team.cluster.object(&self.launch().shared, at) {
                Some((rank, _)) if self.team.cluster.has_exited(rank) => return Err(Fault::Exited),
                Some((rank, object)) => {
                    if mode != Mode::Read {
                        self.team.cluster.note_written(rank, &self.launch().shared, at, bytes);
                        if rank == self.team.rank {
                            self.team.take_written();
                        }
                    }
                    object
                }
                None => match self.team.shared.object(&self.launch().shared, at) {
                    Some(object) => object,
                    None => return Err(Fault::NoObject { space }),
                },
            },
            Space::Local => match self.program().locals.find(at) {
                Some(place) => self.warp.local.object(self.program(), lane, &place, &self.launch().budget),
                None => return Err(Fault::NoObject { space }),
            },
            Space::Param => {
                let params = &self.launch().params;
                let data = params.as_ptr().cast_mut();
                Object { start: 0, bytes: params.len() as u64, data, writable: false }
            }
            Space::Generic => {
                let start = address::window(at);
                let space = match start {
                    address::SHARED_WINDOW => Space::Shared,
                    address::LOCAL_WINDOW => Space::Local,
                    address::PARAM_WINDOW => Space::Param,
                    _ => Space::Global,
                };
                return self.lane_data(space, at - start, lane, bytes, align, mode);
            }
            Space::Global | Space::Const | Space::Texture => {
                let (memory, heap) = (self.launch().memory, self.launch().heap);
                let object = memory.object(at).or_else(|| heap.object(at)).or_else(|| memory.mapped(at));
                object.ok_or(Fault::NoObject { space: Space::Global })?
            }
        };
        let offset = at.wrapping_sub(object.start);
        let limit = object.bytes.checked_sub(bytes.into());
        if limit.is_none_or(|limit| offset > limit) {
            return Err(Fault::Outside { space, offset: offset as i64, bytes: object.bytes });
        }
        // SAFETY: the offset is inside the object.
        let data = unsafe { object.data.add(offset as usize) };
        if !aligned {
            if mode != Mode::Read && space == Space::Local {
                // What is read there later follows from this fault, and is none of its own.
                self.warp.local.write(lane, data, bytes);
            }
            return Err(Fault::Misaligned { space, offset });
        }
        if mode != Mode::Read && !object.writable {
            return Err(Fault::ReadOnly { space });
        }
        if mode != Mode::Read {
            match space {
                Space::Local => self.warp.local.write(lane, data, bytes),
                Space::Global => self.worker.keep(at, &object, bytes),
                _ => {}
            }
        }
        Ok(data)
    }
}
