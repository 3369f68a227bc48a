//! What happens before what in a block.
//!
//! One thread of this process executes a block, so that a single counter stamps every access; synchronisation advances it. An access is
//! ordered before the present one if its stamp is older than a synchronisation that both threads took part in.

use std::{collections::HashMap, sync::Arc};

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
    /// What threads have learnt through atomics, by learner.
    learnt: HashMap<u32, Learnt>,
    /// By warp: how often a lane has learnt something, and how often it had when all lanes were told of it.
    news: Vec<u32>,
    told: Vec<u32>,
    /// What threads have published, by address.
    published: HashMap<u64, Published>,
    /// Threads that have executed a fence, and the stamp of it.
    fences: HashMap<u32, u32>,
    /// Threads that have executed a fence between proxies, and the stamp of it.
    proxy_fences: HashMap<u32, u32>,
    /// Threads that have executed a fence behind the initialisation of mbarriers, and the stamp of it.
    init_fences: HashMap<u32, u32>,
}

/// What is ordered before something: accesses older than a stamp.
#[derive(Clone, Debug, Default)]
struct Clock {
    /// Of all lanes of a warp, by warp.
    warps: Vec<u32>,
    /// Of single threads, by their number in the block.
    threads: Vec<u32>,
}

/// `stamps[index]` becomes at least `stamp`.
fn raise(stamps: &mut Vec<u32>, index: usize, stamp: u32) {
    if stamps.len() <= index {
        stamps.resize(index + 1, 0);
    }
    stamps[index] = stamps[index].max(stamp);
}

/// Every stamp becomes at least that of `more`, as far as this is older than `limit`.
fn raise_all(stamps: &mut Vec<u32>, more: &[u32], limit: u32) {
    if stamps.len() < more.len() {
        stamps.resize(more.len(), 0);
    }
    stamps.iter_mut().zip(more).for_each(|(stamp, &more)| *stamp = more.min(limit).max(*stamp));
}

impl Clock {
    /// Whether the access of a thread at `stamp` is.
    fn has(&self, warp: u32, thread: u32, stamp: u32) -> bool {
        self.warps.get(warp as usize).is_some_and(|&known| stamp < known)
            || self.threads.get(thread as usize).is_some_and(|&known| stamp < known)
    }

    fn add_warp(&mut self, warp: usize, stamp: u32) {
        raise(&mut self.warps, warp, stamp);
    }

    fn add_thread(&mut self, thread: u32, stamp: u32) {
        raise(&mut self.threads, thread as usize, stamp);
    }

    /// Adds what `other` has, as far as it is older than `limit`.
    fn join(&mut self, other: &Clock, limit: u32) {
        raise_all(&mut self.warps, &other.warps, limit);
        raise_all(&mut self.threads, &other.threads, limit);
    }
}

/// What a thread has learnt: all that these clocks have.
///
/// Threads that poll one address share its clock. Of a thousand that wait for a lock, each learns of every release.
#[derive(Debug, Default)]
struct Learnt {
    /// The latest by address: what has been published there only grows.
    latest: Vec<(u64, Arc<Clock>)>,
    /// What was learnt at addresses that are no longer among these.
    older: Clock,
}

impl Learnt {
    /// Addresses whose clocks are kept apart.
    const LATEST: usize = 8;

    fn add(&mut self, address: u64, clock: &Arc<Clock>) {
        if let Some((_, known)) = self.latest.iter_mut().find(|(known, _)| *known == address) {
            *known = Arc::clone(clock);
            return;
        }
        if self.latest.len() == Self::LATEST {
            let (_, oldest) = self.latest.remove(0);
            self.older.join(&oldest, u32::MAX);
        }
        self.latest.push((address, Arc::clone(clock)));
    }

    fn clocks(&self) -> impl Iterator<Item = &Clock> {
        self.latest.iter().map(|(_, clock)| &**clock).chain([&self.older])
    }
}

/// What has been published at an address.
#[derive(Debug, Default)]
struct Published {
    clock: Arc<Clock>,
    /// Grows with everything that is added.
    version: u32,
    /// The version that a thread has learnt last.
    seen: HashMap<u32, u32>,
}

/// Linear number of a thread.
fn thread(warp: u32, lane: u32) -> u32 {
    warp * 32 + lane
}

/// The threads of a warp.
fn lanes_of(warp: u32) -> impl Iterator<Item = u32> {
    (0..32).map(move |lane| thread(warp, lane))
}

/// Whether each lane of an access has executed one of these fences since.
fn fenced(fences: &[&HashMap<u32, u32>], entry: Entry) -> bool {
    crate::memory::lanes(entry.lanes).all(|lane| {
        let thread = thread(entry.warp(), lane as u32);
        fences.iter().any(|fences| fences.get(&thread).is_some_and(|&fence| entry.stamp() < fence))
    })
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
            news: vec![0; warps],
            told: vec![0; warps],
            published: HashMap::new(),
            fences: HashMap::new(),
            proxy_fences: HashMap::new(),
            init_fences: HashMap::new(),
        }
    }

    /// All threads have met.
    pub fn all(&mut self) {
        self.now += 1;
        self.barrier = self.now;
        // All that anybody knows is older.
        self.learnt.clear();
        self.published.clear();
        self.fences.clear();
    }

    /// All lanes of `warp` have met.
    pub fn whole_warp(&mut self, warp: u32) {
        self.now += 1;
        self.warps[warp as usize] = self.now;
        if self.news[warp as usize] != self.told[warp as usize] {
            self.share(lanes_of(warp), lanes_of(warp));
            self.told[warp as usize] = self.news[warp as usize];
        }
    }

    /// Threads that meet tell each other what they have learnt.
    fn share(&mut self, teachers: impl Iterator<Item = u32>, learners: impl Iterator<Item = u32>) {
        let mut all = Clock::default();
        for learnt in teachers.filter_map(|teacher| self.learnt.get(&teacher)) {
            learnt.clocks().for_each(|clock| all.join(clock, u32::MAX));
        }
        if !all.warps.is_empty() || !all.threads.is_empty() {
            learners.for_each(|learner| self.learnt.entry(learner).or_default().older.join(&all, u32::MAX));
        }
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
        if self.news[warp as usize] != self.told[warp as usize] {
            let threads = || crate::memory::lanes(mask).map(|lane| thread(warp, lane as u32));
            self.share(threads(), threads());
        }
    }

    /// All lanes of some warps have met.
    pub fn group(&mut self, warps: &[u32]) {
        warps.iter().for_each(|&warp| self.whole_warp(warp));
        self.some_warps(warps, warps);
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
        if self.learnt.is_empty() {
            return;
        }
        // Of a warp whose lanes know the same, one speaks.
        let speakers: Vec<u32> = teachers
            .iter()
            .flat_map(|&warp| {
                let is_told = self.news[warp as usize] == self.told[warp as usize];
                lanes_of(warp).take(if is_told { 1 } else { 32 })
            })
            .collect();
        self.share(speakers.into_iter(), learners.iter().flat_map(|&warp| lanes_of(warp)));
    }

    /// The lanes of `mask` execute a fence: what they do with atomics from now on publishes what they did before.
    pub fn fence(&mut self, warp: u32, mask: u32) {
        self.now += 1;
        for lane in crate::memory::lanes(mask) {
            self.fences.insert(thread(warp, lane as u32), self.now);
        }
    }

    /// The lanes of `mask` let the asynchronous proxy see what they have written.
    pub fn proxy_fence(&mut self, warp: u32, mask: u32) {
        self.now += 1;
        for lane in crate::memory::lanes(mask) {
            self.proxy_fences.insert(thread(warp, lane as u32), self.now);
        }
    }

    /// The lanes of `mask` let the asynchronous proxy see the mbarriers that they have initialised.
    pub fn init_fence(&mut self, warp: u32, mask: u32) {
        self.now += 1;
        for lane in crate::memory::lanes(mask) {
            self.init_fences.insert(thread(warp, lane as u32), self.now);
        }
    }

    /// Whether the lanes of a store have let the asynchronous proxy see it.
    pub fn has_proxy_fence(&self, entry: Entry) -> bool {
        fenced(&[&self.proxy_fences], entry)
    }

    /// Whether a thread of a warp has executed a fence between proxies behind a store that is ordered before it.
    pub fn is_fenced_by_reader(&self, entry: Entry, warp: u32) -> bool {
        let fence = (0..32).filter_map(|lane| self.proxy_fences.get(&thread(warp, lane))).max();
        fence.is_some_and(|&fence| entry.stamp() < fence)
    }

    /// Whether the lanes that have initialised an mbarrier have let the asynchronous proxy see it.
    pub fn has_init_fence(&self, entry: Entry) -> bool {
        fenced(&[&self.proxy_fences, &self.init_fences], entry)
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
        let Some(stamp) = stamp else { return };
        // What was ordered before the thread is ordered before whoever learns of it.
        let mut clock = Clock::default();
        clock.add_thread(me, stamp);
        clock.add_warp(warp as usize, self.warps[warp as usize].min(stamp));
        if let Some(known) = self.lanes.get(&warp) {
            let known = known[lane as usize].iter().enumerate();
            known.for_each(|(other, &known)| clock.add_thread(thread(warp, other as u32), known.min(stamp)));
        }
        if let Some(pairs) = &self.pairs {
            let known = pairs[warp as usize].iter().enumerate();
            known.for_each(|(other, &known)| clock.add_warp(other, known.min(stamp)));
        }
        if let Some(learnt) = self.learnt.get(&me) {
            learnt.clocks().for_each(|known| clock.join(known, stamp));
        }
        let published = self.published.entry(address).or_default();
        Arc::make_mut(&mut published.clock).join(&clock, u32::MAX);
        published.version += 1;
    }

    /// A thread reads what others have published at `address`.
    pub fn learn(&mut self, address: u64, warp: u32, lane: u32) {
        let me = thread(warp, lane);
        let Some(published) = self.published.get_mut(&address) else { return };
        // Who polls mostly finds nothing new.
        if published.seen.insert(me, published.version) != Some(published.version) {
            self.news[warp as usize] += 1;
            self.learnt.entry(me).or_default().add(address, &published.clock);
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
        let Some(learnt) = self.learnt.get(&thread(warp, lane)) else { return open };
        crate::memory::lanes(open)
            .filter(|&other| {
                let other = thread(entry.warp(), other as u32);
                !learnt.clocks().any(|clock| clock.has(entry.warp(), other, stamp))
            })
            .fold(0, |mask, other| mask | 1 << other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Entry, Strength, entry::Moment};

    #[test]
    fn order_goes_on_from_thread_to_thread() {
        let mut order = Order::new(3);
        let access = |order: &Order, warp: u32, lane: u32| Entry {
            moment: Moment::new(order.now, warp, 0, Strength::Plain),
            lanes: 1 << lane,
        };
        // Lane 5 of warp 0 writes, its warp meets, and lane 0 tells warp 1, which tells warp 2.
        let written = access(&order, 0, 5);
        order.whole_warp(0);
        order.publish(100, 0, 0, true);
        order.learn(100, 1, 7);
        assert_eq!(order.unordered(written, 1, 7), 0);
        assert_eq!(order.unordered(written, 1, 8), 1 << 5);
        order.publish(200, 1, 7, true);
        order.learn(200, 2, 3);
        assert_eq!(order.unordered(written, 2, 3), 0);
        // What comes later was not told.
        order.now += 1;
        let later = access(&order, 0, 5);
        order.learn(200, 2, 3);
        assert_eq!(order.unordered(later, 2, 3), 1 << 5);
    }
}
