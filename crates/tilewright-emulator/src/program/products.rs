//! Registers that `wgmma` uses while a warp goes on: whether the code keeps away from them, and fences what it has written to them.
//!
//! Both are told by the code alone, as ptxas tells them: along every way through the blocks, what may be true. A copy of a register
//! counts as the register: compilers copy where loops begin again, and ptxas makes one of both.

use std::collections::BTreeMap;

use super::{
    blocks::Block,
    instruction::{Guard, Inst, Op, Rare, RegisterMisuse, Role, WgmmaFactor},
    places::visit,
    sites::Sites,
};

/// A misuse that was found: the site of the `wgmma`, the instruction beside it, and what is wrong.
pub struct Found {
    pub site: u32,
    /// Its index in the code.
    pub with: usize,
    pub misuse: RegisterMisuse,
}

/// The instruction at the very beginning stands for a missing first fence.
const START: usize = usize::MAX;

/// What may be true before an instruction, by register.
#[derive(Clone, Default, PartialEq)]
struct State {
    /// Registers of a `wgmma` that nobody has waited for.
    in_flight: BTreeMap<i32, Flight>,
    /// Registers that were written since the last fence, and where.
    unfenced: BTreeMap<i32, usize>,
    /// Whether there may have been no fence at all.
    is_first: bool,
}

#[derive(Clone, Copy, PartialEq)]
struct Flight {
    site: u32,
    /// Groups that were closed behind it; none while its own is open.
    age: Option<u32>,
    /// Whether it is written, and not only read.
    is_result: bool,
}

/// Groups that may be open at once: more than anybody has.
const OLDEST: u32 = 64;

/// The misuses of a function whose registers are virtual.
pub fn misuses(code: &mut [Inst], sites: &mut Sites, blocks: &[Block]) -> Vec<Found> {
    if !code.iter().any(|inst| inst.op == Op::Rare(Rare::Wgmma)) {
        return Vec::new();
    }
    let mut before: Vec<Option<State>> = vec![None; blocks.len()];
    before[0] = Some(State { is_first: true, ..State::default() });
    let mut open = vec![0];
    while let Some(number) = open.pop() {
        let Some(mut state) = before[number].clone() else { continue };
        state.through(&blocks[number], code, sites, &mut |_| {});
        for &next in &blocks[number].successors {
            let next = next as usize;
            let joined = state.joined(before[next].as_ref());
            if before[next].as_ref() != Some(&joined) {
                before[next] = Some(joined);
                open.push(next);
            }
        }
    }
    let mut found = Vec::new();
    for (block, state) in blocks.iter().zip(before) {
        let Some(mut state) = state else { continue };
        state.through(block, code, sites, &mut |one| found.push(one));
    }
    found
}

impl State {
    /// What may be true where two ways meet.
    fn joined(&self, other: Option<&State>) -> State {
        let Some(other) = other else { return self.clone() };
        let mut joined = other.clone();
        joined.is_first |= self.is_first;
        for (&register, &flight) in &self.in_flight {
            let known = joined.in_flight.entry(register).or_insert(flight);
            // The younger one is waited for later.
            if flight.age.map_or(0, |age| age + 1) < known.age.map_or(0, |age| age + 1) {
                *known = flight;
            }
        }
        for (&register, &at) in &self.unfenced {
            joined.unfenced.entry(register).or_insert(at);
        }
        joined
    }

    /// Behind a block.
    fn through(&mut self, block: &Block, code: &mut [Inst], sites: &mut Sites, found: &mut dyn FnMut(Found)) {
        for (index, inst) in code[block.start..block.end].iter_mut().enumerate() {
            self.step(block.start + index, inst, sites, found);
        }
    }

    fn step(&mut self, at: usize, inst: &mut Inst, sites: &mut Sites, found: &mut dyn FnMut(Found)) {
        match inst.op {
            Op::Rare(Rare::Wgmma) => self.wgmma(inst.aux, sites, found),
            Op::Rare(Rare::WgmmaFence) => {
                self.unfenced.clear();
                self.is_first = false;
            }
            Op::Rare(Rare::WgmmaCommit) => {
                for flight in self.in_flight.values_mut() {
                    flight.age = Some(flight.age.map_or(0, |age| (age + 1).min(OLDEST)));
                }
            }
            Op::Rare(Rare::WgmmaWait) => {
                let keep = inst.aux;
                self.in_flight.retain(|_, flight| flight.age.is_none_or(|age| age < keep));
            }
            Op::Mov32 | Op::Mov64 if inst.guard == Guard::NONE && self.is_copy(inst) => {
                let (from, to) = (inst.a.0, inst.dst.0);
                match self.in_flight.get(&from).copied() {
                    Some(flight) => self.in_flight.insert(to, flight),
                    None => self.in_flight.remove(&to),
                };
                match self.unfenced.get(&from).copied() {
                    Some(written) => self.unfenced.insert(to, written),
                    None => self.unfenced.remove(&to),
                };
            }
            _ => {
                let mut touched = Vec::new();
                visit(inst, sites, &mut |place, role| touched.push((place.0, role)));
                for (register, role) in touched {
                    self.touch(at, register, role, found);
                }
            }
        }
    }

    /// Whether a move only gives a register of a product another name.
    fn is_copy(&self, inst: &Inst) -> bool {
        inst.a.0 >= 0 && (self.in_flight.contains_key(&inst.a.0) || !self.in_flight.contains_key(&inst.dst.0))
    }

    fn touch(&mut self, at: usize, register: i32, role: Role, found: &mut dyn FnMut(Found)) {
        if register < 0 {
            return;
        }
        if let Some(&Flight { site, is_result, .. }) = self.in_flight.get(&register)
            && (is_result || role == Role::Define)
        {
            self.in_flight.remove(&register);
            found(Found { site, with: at, misuse: RegisterMisuse::Touched });
        }
        if role == Role::Define {
            self.unfenced.insert(register, at);
        }
    }

    fn wgmma(&mut self, site: u32, sites: &Sites, found: &mut dyn FnMut(Found)) {
        let wgmma = &sites.wgmmas[site as usize];
        let of_a = match &wgmma.a {
            WgmmaFactor::Registers(slots) => slots.as_slice(),
            WgmmaFactor::Shared(_) => &[],
        };
        let mut unfenced = if self.is_first { Some(START) } else { None };
        for (slot, is_result) in
            of_a.iter().map(|slot| (slot, false)).chain(wgmma.d.iter().map(|slot| (slot, true)))
        {
            unfenced = unfenced.or(self.unfenced.remove(&slot.place.0));
            self.in_flight.insert(slot.place.0, Flight { site, age: None, is_result });
        }
        for slot in &wgmma.c {
            unfenced = unfenced.or(self.unfenced.remove(&slot.place.0));
        }
        if let Some(with) = unfenced {
            found(Found { site, with, misuse: RegisterMisuse::Unfenced });
        }
    }
}
