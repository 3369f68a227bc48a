//! What happens before what between blocks.

use std::collections::HashMap;
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// What a block knows of other blocks.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// By address: how much of what was published there.
    positions: HashMap<u64, u32>,
    /// The stamp of the last fence that reaches other blocks: what is older is published by the next atomic.
    pub fenced: Option<u32>,
}

/// What blocks have published at one address, in order.
#[derive(Debug, Default)]
struct Log {
    position: u32,
    /// By block: stamp and position.
    entries: HashMap<u32, Vec<(u32, u32)>>,
    /// What the publishers themselves knew.
    inherited: HashMap<u64, u32>,
}

/// Order between blocks: a fence and then an atomic publish, an atomic or a strong load of the same place learns.
#[derive(Debug, Default)]
pub struct BlockOrder {
    any: AtomicBool,
    logs: Mutex<HashMap<u64, Log>>,
}

/// Waits for a lock.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic of another worker ends the launch anyway.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn raise(positions: &mut HashMap<u64, u32>, address: u64, position: u32) {
    let known = positions.entry(address).or_default();
    *known = position.max(*known);
}

impl BlockOrder {
    /// A block publishes at `address` what it did before its last fence.
    pub fn publish(&self, address: u64, block: u32, stamp: u32, known: &Known) {
        let mut logs = locked(&self.logs);
        let log = logs.entry(address).or_default();
        log.position += 1;
        log.entries.entry(block).or_default().push((stamp, log.position));
        for (&address, &position) in &known.positions {
            raise(&mut log.inherited, address, position);
        }
        self.any.store(true, Relaxed);
    }

    /// A block reads what was published at `address`.
    pub fn learn(&self, address: u64, known: &mut Known) {
        if !self.any.load(Relaxed) {
            return;
        }
        let logs = locked(&self.logs);
        if let Some(log) = logs.get(&address) {
            raise(&mut known.positions, address, log.position);
            for (&address, &position) in &log.inherited {
                raise(&mut known.positions, address, position);
            }
        }
    }

    /// Whether what `block` did at `stamp` is published, and known.
    pub fn before(&self, known: &Known, block: u32, stamp: u32) -> bool {
        if known.positions.is_empty() {
            return false;
        }
        let logs = locked(&self.logs);
        known.positions.iter().any(|(address, &position)| {
            let published = logs.get(address).and_then(|log| log.entries.get(&block));
            published.is_some_and(|entries| entries.iter().any(|&(s, p)| s > stamp && p <= position))
        })
    }
}
