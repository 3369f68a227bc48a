//! The two executions that meet, found again in a recording.

use crate::model::{Access, Execution, Patterns};
use std::collections::HashMap;
use tilewright_arch::memory::WARP_SIZE;

/// An access of a race.
pub struct Side<'a> {
    pub access: &'a Access,
    pub patterns: &'a Patterns,
}

/// Two executions by two threads that touch the same bytes, with nothing between them.
pub struct Meeting {
    /// Bytes from the start of the array.
    pub address: i64,
    /// Warp and lane of each side.
    pub threads: [(u32, u32); 2],
    /// Which of its executions it is, from 1.
    pub iterations: [u64; 2],
    /// How many the thread has.
    pub executions: [u64; 2],
}

/// Bytes that are looked at as one.
const GRANULE: i64 = 4;

/// One lane of an execution.
#[derive(Clone, Copy)]
struct Touch {
    order: u64,
    epoch: u32,
    thread: (u32, u32),
    address: i64,
}

/// The first meeting of the later access, `sides[0]`, with the earlier one: between the threads that are wanted, or between any. In a warp
/// barriers are passed without being seen, so that `in_step` leaves them out of account.
pub fn meeting(sides: &[Side<'_>; 2], wanted: &[&Vec<(u32, u32)>; 2], in_step: bool) -> Option<Meeting> {
    let mut earlier: HashMap<i64, Vec<Touch>> = HashMap::new();
    for touch in touches(&sides[1]) {
        let last = (touch.address + i64::from(sides[1].access.bytes_per_lane) - 1) / GRANULE;
        for granule in touch.address / GRANULE..=last {
            earlier.entry(granule).or_default().push(touch);
        }
    }
    let mut later: Vec<Touch> = touches(&sides[0]).collect();
    later.sort_by_key(|touch| touch.order);
    let meets = |is_wanted: &dyn Fn(usize, (u32, u32)) -> bool| {
        later.iter().filter(|touch| is_wanted(0, touch.thread)).find_map(|&touch| {
            let others = earlier.get(&(touch.address / GRANULE))?.iter();
            let unordered = others.filter(|other| {
                other.thread != touch.thread
                    && other.order < touch.order
                    && is_wanted(1, other.thread)
                    && (in_step && other.thread.0 == touch.thread.0 || !in_step && other.epoch == touch.epoch)
            });
            unordered.max_by_key(|other| other.order).map(|&other| (touch, other))
        })
    };
    let named = |side: usize, thread| wanted[side].contains(&thread);
    let (touch, other) = meets(&named).or_else(|| meets(&|_, _| true))?;
    let counted = |side: usize, touch: Touch| {
        let orders: Vec<u64> = touches(&sides[side])
            .filter(|other| other.thread == touch.thread)
            .map(|other| other.order)
            .collect();
        (1 + orders.iter().filter(|&&order| order < touch.order).count() as u64, orders.len() as u64)
    };
    let ((first, of_first), (second, of_second)) = (counted(0, touch), counted(1, other));
    Some(Meeting {
        address: touch.address,
        threads: [touch.thread, other.thread],
        iterations: [first, second],
        executions: [of_first, of_second],
    })
}

/// Every lane of every execution.
fn touches<'a>(side: &Side<'a>) -> impl Iterator<Item = Touch> + use<'a> {
    let patterns = side.patterns;
    patterns.executions.iter().flat_map(move |execution: &Execution| {
        let shape = &patterns.shapes[execution.shape as usize];
        let lanes = (0..WARP_SIZE as u32).filter(|lane| shape.active & (1 << lane) != 0);
        lanes.zip(&shape.offsets).map(|(lane, &offset)| Touch {
            order: execution.order,
            epoch: execution.epoch,
            thread: (execution.warp, lane),
            address: execution.base + offset as i64,
        })
    })
}
