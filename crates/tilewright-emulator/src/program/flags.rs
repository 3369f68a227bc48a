//! Loads whose values do nothing but decide branches: flags, and what is polled.

use std::collections::HashMap;

use super::{
    function::Function,
    image::Program,
    instruction::{Class, Inst, Op, Order, Place, Rare, Role, Space, Width},
    places::visit,
    sites::Sites,
};

/// How many instructions may lie between a load and the comparison.
const STEPS: u32 = 3;

/// Finds the flags among the loads and atomics of a function whose registers are virtual.
pub fn mark(code: &mut [Inst], sites: &mut Sites) {
    let mut users: HashMap<Place, Vec<usize>> = HashMap::new();
    for (at, inst) in code.iter_mut().enumerate() {
        visit(inst, sites, &mut |place, role| {
            if role != Role::Define && place.0 >= 0 {
                users.entry(*place).or_default().push(at);
            }
        });
    }
    for inst in &*code {
        let index = inst.aux as usize;
        let site = match inst.op {
            Op::Load | Op::Rare(Rare::Poll) => &sites.memories[index],
            Op::Rare(Rare::Atomic) => &sites.atomics[index].memory,
            _ => continue,
        };
        let [Some(slot)] = site.values[..] else { continue };
        let is_flag = users.contains_key(&slot.place) && only_decides(slot.place, code, sites, &users, STEPS);
        match inst.op {
            Op::Load | Op::Rare(Rare::Poll) => sites.memories[index].is_flag = is_flag,
            _ => sites.atomics[index].memory.is_flag = is_flag,
        }
    }
}

fn only_decides(
    register: Place,
    code: &[Inst],
    sites: &Sites,
    users: &HashMap<Place, Vec<usize>>,
    steps: u32,
) -> bool {
    use Op::*;
    users.get(&register).into_iter().flatten().all(|&at| {
        let inst = &code[at];
        let then = |place: Place| steps > 0 && only_decides(place, code, sites, users, steps - 1);
        match (inst.op, inst.op.class()) {
            (SetpS32(_) | SetpU32(_) | SetpS64(_) | SetpU64(_) | SetpF32(_) | SetpF64(_), _) => true,
            (Mov32 | Mov64 | And32 | And64 | Low8 | Low16 | LowS8 | LowS16 | Truncate, _) => then(inst.dst),
            (ExtendS32 | ExtendU32 | ShrU32 | ShrU64, _) => then(inst.dst),
            (_, Class::Scalar) => sites.scalars[inst.aux as usize]
                .dst
                .iter()
                .flatten()
                .all(|dst| dst.width == Width::Predicate || then(dst.place)),
            _ => false,
        }
    })
}

impl Program {
    /// Whether the instruction at `pc` is a plain load whose value does nothing but decide.
    pub(crate) fn loads_flag(&self, pc: u32) -> bool {
        let inst = &self.code[pc as usize];
        matches!(inst.op, Op::Load | Op::Rare(Rare::Poll)) && self.sites.memories[inst.aux as usize].is_flag
    }

    /// Whether the instruction at `pc` loads in a loop that does nothing but wait for what it loads.
    pub(crate) fn polls(&self, pc: u32) -> bool {
        if !self.loads_flag(pc) {
            return false;
        }
        let block_of = |pc: u32| self.blocks.partition_point(|block| block.end <= pc);
        let home = block_of(pc);
        let (mut seen, mut next) = (vec![home], vec![home]);
        while let Some(block) = next.pop() {
            let range = self.blocks[block].start as usize..self.blocks[block].end as usize;
            let code = &self.code[range];
            let acts =
                |inst: &Inst| matches!(inst.op, Op::Store | Op::Barrier | Op::Call | Op::Rare(Rare::Atomic));
            if code.iter().any(acts) {
                continue;
            }
            let Some(last) = code.last() else { continue };
            let jump = (last.op == Op::Branch).then_some(last.aux);
            let goes_on = !matches!(last.op, Op::Exit | Op::Return | Op::Trap)
                && (last.op != Op::Branch || last.guard.place != Place::NONE);
            let behind = goes_on.then_some(self.blocks[block].end);
            for target in jump.into_iter().chain(behind).filter(|&pc| (pc as usize) < self.code.len()) {
                let target = block_of(target);
                if target == home {
                    return true;
                }
                if !seen.contains(&target) {
                    seen.push(target);
                    next.push(target);
                }
            }
        }
        false
    }

    /// Whether the threads of a block wait for each other at a flag in shared memory.
    pub(crate) fn signals_in_a_block(&self, entry: &Function) -> bool {
        self.waits_in(Space::Shared, entry)
    }

    /// Whether the blocks of an entry wait for each other at a flag in global memory.
    pub(crate) fn turns_between_blocks(&self, entry: &Function) -> bool {
        self.waits_in(Space::Global, entry)
    }

    fn waits_in(&self, space: Space, entry: &Function) -> bool {
        self.pcs(entry).any(|pc| {
            self.polls(pc) && {
                let site = &self.sites.memories[self.code[pc as usize].aux as usize];
                site.order != Order::Weak && (site.space == space || site.space == Space::Generic)
            }
        })
    }

    /// Whether the blocks of an entry wait for each other, or ask who is last: a strong load or an atomic of global memory decides where a thread
    /// goes on.
    pub(crate) fn signals_between_blocks(&self, entry: &Function) -> bool {
        self.pcs(entry).any(|pc| {
            let inst = &self.code[pc as usize];
            let site = match inst.op {
                Op::Load | Op::Rare(Rare::Poll) => &self.sites.memories[inst.aux as usize],
                Op::Rare(Rare::Atomic) => &self.sites.atomics[inst.aux as usize].memory,
                _ => return false,
            };
            site.is_flag && site.order != Order::Weak && matches!(site.space, Space::Global | Space::Generic)
        })
    }

    /// All instructions that an entry may reach.
    fn pcs(&self, entry: &Function) -> impl Iterator<Item = u32> {
        let reached = self.reached(entry).into_iter();
        let ranges: Vec<_> =
            reached.map(|function| function.start.unwrap_or(function.end)..function.end).collect();
        ranges.into_iter().flatten()
    }
}
