//! Accesses lane by lane, with every check.

use crate::check::{Mode, Side};
use crate::machine::{
    lanes::frame::Frame,
    state::{team::Team, warp::Warp, worker::Worker},
    watch::{
        faults::{Fault, Faults},
        unwritten::Unwritten,
    },
};
use crate::memory::{Addresses, Object, lanes, read, write};
use crate::program::{
    address,
    instruction::{MemorySite, Space},
};

impl Worker<'_> {
    /// Any access, lane by lane, with every check.
    #[cold]
    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    pub fn lane_by_lane(
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
        let (mut faults, mut unwritten) = (Faults::default(), Unwritten::default());
        let size = site.bytes * site.elements;
        for lane in lanes(addresses.mask) {
            let at = addresses.at[lane];
            let data = match self.lane_data(space, warp, team, at, lane, size, size, mode) {
                Ok(data) => {
                    team.touch(space, at, self.side(warp, team, pc, 1 << lane));
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
                    if let Some(data) = data {
                        let bytes = site.bytes;
                        self.note_unwritten(
                            &mut unwritten,
                            space,
                            warp,
                            team,
                            frame,
                            slot,
                            lane,
                            at,
                            data,
                            bytes,
                            pc,
                        );
                    }
                    let value = data.map_or(0, |data| read(data, site.bytes));
                    frame.set_lane(slot, lane, value);
                } else if let Some(data) = data {
                    write(data, site.bytes, frame.lane(slot, lane));
                }
            }
        }
        let side = Side { pc: Some(pc), block: team.number, warp: warp.index, lanes: 0 };
        self.report_faults(&faults, side, size, mode);
        self.report_unwritten(&unwritten, side);
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
    ) -> Result<*mut u8, Fault> {
        let aligned = at.is_multiple_of(u64::from(align));
        let object = match space {
            Space::Shared => match team.cluster.object(&self.launch.shared, at) {
                Some((rank, _)) if team.cluster.has_exited(rank) => return Err(Fault::Exited),
                Some((rank, object)) => {
                    if mode != Mode::Read {
                        team.cluster.note_written(rank, &self.launch.shared, at, bytes);
                        if rank == team.rank {
                            team.take_written();
                        }
                    }
                    object
                }
                None => match team.shared.object(&self.launch.shared, at) {
                    Some(object) => object,
                    None => return Err(Fault::NoObject { space }),
                },
            },
            Space::Local => match self.program.locals.find(at) {
                Some(place) => warp.local.object(self.program, lane, &place, &self.launch.budget),
                None => return Err(Fault::NoObject { space }),
            },
            Space::Param => {
                let params = &self.launch.params;
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
                return self.lane_data(space, warp, team, at - start, lane, bytes, align, mode);
            }
            Space::Global | Space::Const | Space::Texture => {
                let (memory, heap) = (self.launch.memory, self.launch.heap);
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
                warp.local.write(lane, data, bytes);
            }
            return Err(Fault::Misaligned { space, offset });
        }
        if mode != Mode::Read && !object.writable {
            return Err(Fault::ReadOnly { space });
        }
        if mode != Mode::Read {
            match space {
                Space::Local => warp.local.write(lane, data, bytes),
                Space::Global => self.keep(at, &object, bytes),
                _ => {}
            }
        }
        Ok(data)
    }
}
