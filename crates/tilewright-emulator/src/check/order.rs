//! What happens before what in a block.
//!
//! One thread of this process executes a block, so that a single counter stamps every access; synchronisation advances it. An access is
//! ordered before the present one if its stamp is older than a synchronisation that both threads took part in.

use std::collections::HashMap;

use super::entry::Entry;

/// The order of a block's accesses.
#[derive(Debug)]
pub struct Order {
    /// The stamp of present accesses.
    pub now: u32,
    /// Accesses older than this are ordered before everything: the last barrier of all threads.
    pub barrier: u32,
    /// By warp: accesses of its own lanes older than this are ordered: the last synchronisation of the whole warp.
    warps: Vec<u32>,
    /// `[a][b]`: accesses of warp `b` older than this are ordered before warp `a`: barriers of some warps.
    pairs: Option<Vec<Vec<u32>>>,
    /// By warp, `[a][b]`: the same for lanes: warp synchronisation of some lanes.
    lanes: HashMap<u32, Box<[[u32; 32]; 32]>>,
    /// What threads have learnt through atomics: (learner, teacher) and the stamp.
    learnt: HashMap<(u32, u32), u32>,
    /// What threads have published: by address, the publishers and stamps.
    published: HashMap<u64, Vec<(u32, u32)>>,
    /// Threads that have executed a fence, and the stamp of it.
    fences: HashMap<u32, u32>,
}

/// Linear number of a thread.
fn thread(warp: u32, lane: u32) -> u32 {
    warp * 32 + lane
}

impl Order {
    /// The order of a block with `warps` warps.
    pub fn new(warps: usize) -> Self {
        Self {
            now: 1,
            barrier: 1,
            warps: vec![1; warps],
            pairs: None,
            lanes: HashMap::new(),
            learnt: HashMap::new(),
            published: HashMap::new(),
            fences: HashMap::new(),
        }
    }

    /// All threads have met.
    pub fn all(&mut self) {
        self.now += 1;
        self.barrier = self.now;
    }

    /// All lanes of `warp` have met.
    pub fn whole_warp(&mut self, warp: u32) {
        self.now += 1;
        self.warps[warp as usize] = self.now;
    }

    /// The lanes of `mask` have met.
    pub fn some_lanes(&mut self, warp: u32, mask: u32) {
        self.now += 1;
        let known = self.lanes.entry(warp).or_insert_with(|| Box::new([[0; 32]; 32]));
        let mut union = [0; 32];
        for lane in crate::memory::lanes(mask) {
            for (sum, &stamp) in union.iter_mut().zip(&known[lane]) {
                *sum = stamp.max(*sum);
            }
        }
        for lane in crate::memory::lanes(mask) {
            union[lane] = self.now;
        }
        for lane in crate::memory::lanes(mask) {
            known[lane] = union;
        }
    }

    /// Some warps have met: `learners` waited for `teachers`.
    pub fn some_warps(&mut self, learners: &[u32], teachers: &[u32]) {
        self.now += 1;
        let count = self.warps.len();
        let pairs = self.pairs.get_or_insert_with(|| vec![vec![0; count]; count]);
        let mut union = vec![0; count];
        for &warp in teachers {
            for (sum, &stamp) in union.iter_mut().zip(&pairs[warp as usize]) {
                *sum = stamp.max(*sum);
            }
        }
        for &warp in teachers {
            union[warp as usize] = self.now;
        }
        for &warp in learners {
            for (stamp, &more) in pairs[warp as usize].iter_mut().zip(&union) {
                *stamp = more.max(*stamp);
            }
        }
    }

    /// The lanes of `mask` execute a fence: what they do with atomics from now on publishes what they did before.
    pub fn fence(&mut self, warp: u32, mask: u32) {
        self.now += 1;
        for lane in crate::memory::lanes(mask) {
            self.fences.insert(thread(warp, lane as u32), self.now);
        }
    }

    /// A thread publishes at `address`, if it has executed a fence or `releases` by itself.
    pub fn publish(&mut self, address: u64, warp: u32, lane: u32, releases: bool) {
        let me = thread(warp, lane);
        let stamp = if releases {
            self.now += 1;
            Some(self.now)
        } else {
            self.fences.get(&me).copied()
        };
        if let Some(stamp) = stamp {
            let publishers = self.published.entry(address).or_default();
            match publishers.iter_mut().find(|publisher| publisher.0 == me) {
                Some(publisher) => publisher.1 = stamp,
                None => publishers.push((me, stamp)),
            }
        }
    }

    /// A thread reads what others have published at `address`.
    pub fn learn(&mut self, address: u64, warp: u32, lane: u32) {
        let me = thread(warp, lane);
        for &(teacher, stamp) in self.published.get(&address).into_iter().flatten() {
            let known = self.learnt.entry((me, teacher)).or_default();
            *known = stamp.max(*known);
        }
    }

    /// Whether there can be something to learn.
    pub fn publishes(&self) -> bool {
        !self.fences.is_empty() || !self.published.is_empty()
    }

    /// The lanes of the access `entry` that nothing orders before what `lane` of `warp` does now. The own accesses of a thread are
    /// ordered.
    pub fn unordered(&self, entry: Entry, warp: u32, lane: u32) -> u32 {
        let stamp = entry.stamp();
        if entry.lanes == 0 || stamp < self.barrier {
            return 0;
        }
        let mut open = entry.lanes;
        if entry.warp() == warp {
            if stamp < self.warps[warp as usize] {
                return 0;
            }
            open &= !(1 << lane);
            if let Some(known) = self.lanes.get(&warp) {
                let known = &known[lane as usize];
                open &= !(0..32).fold(0, |mask, other| mask | u32::from(stamp < known[other]) << other);
            }
        } else if let Some(pairs) = &self.pairs
            && stamp < pairs[warp as usize][entry.warp() as usize]
        {
            return 0;
        }
        if self.learnt.is_empty() {
            return open;
        }
        let me = thread(warp, lane);
        crate::memory::lanes(open)
            .filter(|&other| {
                let teacher = thread(entry.warp(), other as u32);
                self.learnt.get(&(me, teacher)).is_none_or(|&known| stamp >= known)
            })
            .fold(0, |mask, other| mask | 1 << other)
    }
}
