//! Asynchronous copies (`cp.async`): what was read is written to shared memory when its group is waited for.

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

/// The copies of a warp in flight.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    open: Vec<Copy>,
    groups: Vec<std::collections::VecDeque<Vec<Copy>>>,
}

impl Copies {
    /// A copy is issued.
    pub fn issue(&mut self, copy: Copy) {
        self.open.push(copy);
    }

    /// The lanes of `mask` close their group.
    pub fn commit(&mut self, mask: u32) {
        self.groups.resize_with(32, Default::default);
        for lane in crate::memory::lanes(mask) {
            let (group, rest) = self.open.drain(..).partition(|copy| usize::from(copy.lane) == lane);
            self.open = rest;
            self.groups[lane].push_back(group);
        }
    }

    /// The lanes of `mask` wait until at most `keep` groups are in flight; `None`: for everything, committed or not.
    pub fn wait(&mut self, mask: u32, keep: Option<u32>) -> Vec<Copy> {
        self.groups.resize_with(32, Default::default);
        let mut done = Vec::new();
        for lane in crate::memory::lanes(mask) {
            while self.groups[lane].len() > keep.unwrap_or(0) as usize {
                done.extend(self.groups[lane].pop_front().into_iter().flatten());
            }
        }
        if keep.is_none() {
            let (waited, rest) = self.open.drain(..).partition(|copy| mask >> copy.lane & 1 == 1);
            self.open = rest;
            done.extend::<Vec<Copy>>(waited);
        }
        done
    }
}
