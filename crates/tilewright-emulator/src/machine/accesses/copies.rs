//! Asynchronous copies (`cp.async`): what was read is written to shared memory when its group is waited for.

use std::collections::VecDeque;

use crate::memory::lanes;

/// One lane's copy.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// The lane.
    pub lane: u8,
    /// Bytes.
    pub bytes: u8,
    /// Shared address.
    pub to: u64,
    /// The data, read when the copy was issued.
    pub data: [u8; 16],
    /// The instruction.
    pub pc: u32,
}

/// The copies of a lane in flight.
#[derive(Clone, Debug, Default)]
struct Lane {
    open: Vec<Copy>,
    groups: VecDeque<Vec<Copy>>,
}

/// The copies of a warp in flight: groups belong to the thread that closes them.
#[derive(Clone, Debug, Default)]
pub struct Copies(Vec<Lane>);

impl Copies {
    fn lane(&mut self, lane: usize) -> &mut Lane {
        self.0.resize_with(32, Lane::default);
        &mut self.0[lane]
    }

    /// A copy is issued.
    pub fn issue(&mut self, copy: Copy) {
        self.lane(copy.lane.into()).open.push(copy);
    }

    /// The lanes of `mask` close their group.
    pub fn commit(&mut self, mask: u32) {
        for lane in lanes(mask) {
            let lane = self.lane(lane);
            let group = std::mem::take(&mut lane.open);
            lane.groups.push_back(group);
        }
    }

    /// The lanes of `mask` wait until at most `keep` groups are in flight; `None`: for everything, in a group or not.
    pub fn wait(&mut self, mask: u32, keep: Option<u32>) -> Vec<Copy> {
        let mut done = Vec::new();
        for lane in lanes(mask) {
            let lane = self.lane(lane);
            while lane.groups.len() > keep.unwrap_or(0) as usize {
                done.extend(lane.groups.pop_front().into_iter().flatten());
            }
            if keep.is_none() {
                done.append(&mut lane.open);
            }
        }
        done
    }
}
