//! Which neighbours become one access.

use std::collections::{HashMap, HashSet};

use super::value::Atom;
use crate::program::instruction::Part;

/// Bytes of the widest access.
const WIDEST: u32 = 16;
/// Elements of the widest access.
const MOST_ELEMENTS: u32 = 4;

/// One access of a block, or of an iteration of an unrolled loop.
#[derive(Clone, Debug)]
pub struct Member<'a> {
    pub statement: usize,
    pub key: Key<'a>,
    /// From the base that all members share.
    pub offset: i32,
    /// Elements of a vector, 1 for others.
    pub elements: u32,
    /// Trailing zero bits that the base is known to have.
    pub zeros: u32,
}

/// What two accesses must have in common to become one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key<'a> {
    pub is_store: bool,
    /// Counts what no access of this kind may be moved across.
    pub epoch: u32,
    /// The base address, without its constant.
    pub base: Vec<(Atom<'a>, u32)>,
    /// The iteration, where the base changes from one to the next in a way that nobody can tell.
    pub iteration: Option<u32>,
    /// Bytes of an element.
    pub element: u32,
}

impl Member<'_> {
    fn bytes(&self) -> u32 {
        self.key.element * self.elements
    }
}

/// What becomes of each access: the statement, and the accesses that are issued in its place.
pub fn merged(members: &[Member<'_>]) -> Vec<(usize, Part)> {
    let mut groups: HashMap<&Key<'_>, Vec<&Member<'_>>> = HashMap::new();
    for member in members {
        groups.entry(&member.key).or_default().push(member);
    }
    groups.into_values().flat_map(one_group).collect()
}

/// Members of one group, in the order of execution. Each takes the widest place that it fits into with enough others.
fn one_group(mut left: Vec<&Member<'_>>) -> Vec<(usize, Part)> {
    let Some(first) = left.first() else { return Vec::new() };
    let (element, is_store) = (first.key.element, first.key.is_store);
    let zeros = left.iter().map(|member| member.zeros).min().unwrap_or(0);
    let mut parts = Vec::new();
    for elements in [MOST_ELEMENTS, MOST_ELEMENTS / 2] {
        let bytes = element * elements;
        if bytes > WIDEST || bytes.trailing_zeros() > zeros {
            continue;
        }
        let place = |member: &Member<'_>| {
            let start = member.offset.div_euclid(bytes as i32);
            let last = member.offset.wrapping_add((member.bytes() - 1) as i32);
            let end = last.div_euclid(bytes as i32);
            (start == end && member.bytes() < bytes).then_some(start)
        };
        let mut covered: HashMap<i32, u32> = HashMap::new();
        for member in &left {
            if let Some(start) = place(member) {
                let within = member.offset.rem_euclid(bytes as i32) as u32 / element;
                *covered.entry(start).or_default() |= ((1 << member.elements) - 1) << within;
            }
        }
        // A load may fetch one word that nobody wants; a store has no value for it.
        let wanted = if elements == MOST_ELEMENTS && !is_store { elements - 1 } else { elements };
        let is_full = |start: i32| covered.get(&start).is_some_and(|found| found.count_ones() >= wanted);
        let mut led = HashSet::new();
        left.retain(|member| {
            let Some(start) = place(member).filter(|&start| is_full(start)) else { return true };
            if led.insert(start) {
                let below = member.offset - start * bytes as i32;
                parts.push((member.statement, Part { bytes, below: below as u32, times: 1 }));
            }
            false
        });
    }
    let mut seen = HashSet::new();
    for member in left {
        // A second load of the same word reads nothing new.
        if seen.insert((member.offset, member.elements)) || is_store {
            parts.push((member.statement, Part { bytes: member.bytes(), below: 0, times: 1 }));
        }
    }
    parts
}
