//! Asynchronous work in groups: those of a thread, in the order in which it closed them.

use std::collections::VecDeque;

use crate::memory::lanes;

/// The work of a lane.
#[derive(Clone, Debug)]
struct Lane<T> {
    open: Vec<T>,
    closed: VecDeque<Vec<T>>,
}

/// The work of a warp that nobody has waited for.
#[derive(Clone, Debug)]
pub struct Groups<T>(Vec<Lane<T>>);

impl<T> Default for Groups<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Groups<T> {
    fn lane(&mut self, lane: usize) -> &mut Lane<T> {
        self.0.resize_with(32, || Lane { open: Vec::new(), closed: VecDeque::new() });
        &mut self.0[lane]
    }

    /// Whether there is no work.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|lane| lane.open.is_empty() && lane.closed.iter().all(Vec::is_empty))
    }

    /// Work is issued.
    pub fn issue(&mut self, lane: usize, work: T) {
        self.lane(lane).open.push(work);
    }

    /// The lanes of `mask` close their group.
    pub fn commit(&mut self, mask: u32) {
        for lane in lanes(mask) {
            let lane = self.lane(lane);
            let group = std::mem::take(&mut lane.open);
            lane.closed.push_back(group);
        }
    }

    /// The lanes of `mask` wait until at most `keep` groups are left; `None`: for everything, in a group or not.
    pub fn wait(&mut self, mask: u32, keep: Option<u32>) -> Vec<T> {
        let mut done = Vec::new();
        for lane in lanes(mask) {
            let lane = self.lane(lane);
            while lane.closed.len() > keep.unwrap_or(0) as usize {
                done.extend(lane.closed.pop_front().into_iter().flatten());
            }
            if keep.is_none() {
                done.append(&mut lane.open);
            }
        }
        done
    }
}
