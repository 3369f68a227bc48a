//! `cp.async` and the wait for it.

use crate::check::{Actor, Mode, Strength};
use crate::machine::{
    lanes::addresses::gather,
    state::{copies::Copy, step::Step},
    watch::{faults::Faults, progress::Progress},
};
use crate::memory::{lanes, read, write};
use crate::program::instruction::Space;

impl Step<'_, '_> {
    /// `cp.async`: data are read now and arrive when their group is waited for.
    pub fn copy_async(&mut self, index: u32) {
        let Self { frame, mask, pc, .. } = *self;
        let site = &self.program().sites.copies[index as usize];
        let bytes = site.to.bytes;
        let mut reads = 0u32;
        let mut lengths = [bytes; 32];
        for lane in lanes(mask) {
            let ignored =
                site.ignore.is_some_and(|(slot, flip)| frame.lane(slot, lane) ^ u64::from(flip & 1) == 1);
            let length = match site.source_bytes {
                Some(slot) => (frame.lane(slot, lane) as u32).min(bytes),
                None => bytes,
            };
            lengths[lane] = if ignored { 0 } else { length };
            reads |= u32::from(lengths[lane] > 0) << lane;
        }
        let to = gather(&site.to, frame, mask);
        self.worker.count(&site.to, &to, Space::Shared, Mode::Write);
        let from = gather(&site.from, frame, if reads == 0 { mask } else { reads });
        if reads != 0 {
            self.worker.count(&site.from, &from, Space::Global, Mode::Read);
        }
        let (mut read_faults, mut write_faults) = (Faults::default(), Faults::default());
        for lane in lanes(mask) {
            let mut data = [0; 16];
            let length = lengths[lane];
            if length > 0 {
                match self.lane_data(Space::Global, from.at[lane], lane, length, bytes, Mode::Read) {
                    Ok(source) => {
                        for (byte, to) in data.iter_mut().take(length as usize).enumerate() {
                            // SAFETY: `lane_data` has checked `length` bytes.
                            *to = read(unsafe { source.add(byte) }, 1) as u8;
                        }
                    }
                    Err(fault) => read_faults.add(lane, from.at[lane], fault),
                }
            }
            match self.lane_data(Space::Shared, to.at[lane], lane, bytes, bytes, Mode::Write) {
                Ok(_) => {
                    let copy = Copy { lane: lane as u8, bytes: bytes as u8, to: to.at[lane], data, pc };
                    self.warp.copies.issue(lane, copy);
                    let (mode, plain) = (Mode::Write, Strength::Plain);
                    self.shadow_bytes(copy.to, lane, bytes, mode, plain, false);
                    self.shadow_copy(&copy, Progress::Issued);
                }
                Err(fault) => write_faults.add(lane, to.at[lane], fault),
            }
        }
        self.report_faults(&read_faults, bytes, Mode::Read);
        self.report_faults(&write_faults, bytes, Mode::Write);
    }

    /// `cp.async.wait_group`, `cp.async.wait_all`.
    pub fn wait_copies(&mut self, keep: u32) {
        let keep = (keep != u32::MAX).then_some(keep);
        for copy in self.warp.copies.wait(self.mask, keep) {
            let lane = usize::from(copy.lane);
            let bytes = u32::from(copy.bytes);
            let data = self.lane_data(Space::Shared, copy.to, lane, bytes, bytes, Mode::Write);
            let Ok(data) = data else { continue };
            for (byte, &value) in copy.data.iter().take(bytes as usize).enumerate() {
                // SAFETY: `lane_data` has checked the bytes.
                write(unsafe { data.add(byte) }, 1, value.into());
            }
            self.shadow_copy(&copy, Progress::Done);
        }
    }

    fn shadow_copy(&mut self, copy: &Copy, progress: Progress) {
        let actor = Actor { warp: self.warp.index, pc: copy.pc, strength: Strength::Plain };
        self.worker.shadow_progress(self.team, actor, copy.lane.into(), copy.to, copy.bytes.into(), progress);
    }
}
