//! Lanes that meet and exchange values: `bar.warp.sync`, `shfl`, `vote`, `match`, `redux`, `elect`.
//!
//! Lanes of a warp that name different members, as tiles and labelled partitions do, are groups that know nothing of each other.

use crate::check::{FindingKind, Severity};
use crate::machine::{
    accesses::atomics,
    lanes::frame::Frame,
    state::{
        step::Step,
        warp::{Path, State, Warp},
    },
};
use crate::memory::lanes;
use crate::program::instruction::{
    AtomicOp, Inst, Op, ShuffleMode, Slot, VoteMode, WarpMode, WarpSite, Width,
};

/// Lanes that name the same members.
#[derive(Clone, Copy)]
struct Group {
    lanes: u32,
    members: u32,
}

impl Group {
    /// The lanes of `mask` that name the same members as the first of them.
    fn first(frame: Frame, slot: Slot, mask: u32) -> Self {
        // SAFETY: masks are a row of 32-bit values.
        let masks = unsafe { &*frame.source::<[u32; 32]>(slot.place) };
        let members = masks[mask.trailing_zeros() as usize & 31];
        let same =
            masks.iter().enumerate().fold(0, |same, (lane, &m)| same | u32::from(m == members) << lane);
        Self { lanes: same & mask, members }
    }

    /// Who has to be there.
    fn required(self, warp: &Warp) -> u32 {
        (self.members | self.lanes) & warp.live
    }
}

impl Step<'_, '_> {
    /// Executes a warp instruction if all its members are here, and returns whether the path can go on.
    pub fn members(&mut self, inst: &Inst, path: &mut Path) -> bool {
        if self.mask != path.mask {
            // Lanes that the guard takes out go on by themselves.
            self.warp.paths.push(Path { mask: path.mask & !self.mask, pc: path.pc + 1, ..*path });
            path.mask = self.mask;
        }
        let Some(slot) = self.members_slot(inst) else {
            self.exchange(inst);
            return true;
        };
        let first = Group::first(self.frame, slot, self.mask);
        if first.lanes != self.mask {
            return self.groups(inst, slot, path);
        }
        self.group(inst, first, path)
    }

    /// Lanes that name different members: each group is alone with its instruction. Groups that are complete go on together; each of the
    /// others comes to the instruction again, on a path of its own.
    fn groups(&mut self, inst: &Inst, slot: Slot, path: &mut Path) -> bool {
        let (mut complete, mut rest) = (0, path.mask);
        while rest != 0 {
            let group = Group::first(self.frame, slot, rest);
            rest &= !group.lanes;
            self.check_disagreement(path, group);
            if group.required(self.warp) == group.lanes {
                self.group(inst, group, path);
                complete |= group.lanes;
            } else {
                self.warp.paths.push(Path { mask: group.lanes, ..*path });
            }
        }
        if complete != 0 {
            path.mask = complete;
            return true;
        }
        // The last of them is the path that the caller puts back.
        if let Some(last) = self.warp.paths.pop() {
            *path = last;
        }
        false
    }

    /// Lanes that name the same members execute the instruction, if all members are here. Returns whether they can go on.
    fn group(&mut self, inst: &Inst, group: Group, path: &mut Path) -> bool {
        let Group { lanes: mask, members } = group;
        if mask & !members != 0 {
            self.report(FindingKind::WarpMask, Severity::Error, mask & !members, || {
                (
                    format!("executes a warp instruction whose mask {members:#010x} does not name it"),
                    "compute the mask with __ballot_sync before the branch, or use the full mask".into(),
                )
            });
        }
        let required = group.required(self.warp);
        if required & !mask == 0 {
            self.of(mask).exchange(inst);
            self.meet(mask, required);
            return true;
        }
        let waits = |other: &Path| other.state == State::Members { members };
        let waiting = self.warp.paths.iter().filter(|other| waits(other));
        let here = waiting.fold(mask, |sum, other| sum | other.mask);
        if required & !here != 0 {
            path.state = State::Members { members };
            return false;
        }
        self.exchange_together(inst, path, members);
        self.meet(here, required);
        true
    }

    /// Reports lanes of `group` if their mask names others that are at this instruction too, and have another mask.
    fn check_disagreement(&mut self, path: &Path, group: Group) {
        let others = group.members & path.mask & !group.lanes;
        if others != 0 {
            self.report(FindingKind::WarpMask, Severity::Error, group.lanes, || {
                (
                    format!("names lanes {others:#010x} of its warp, which execute it with another mask"),
                    "give all lanes that a mask names the same mask".into(),
                )
            });
        }
    }

    fn members_slot(&self, inst: &Inst) -> Option<Slot> {
        if inst.op == Op::WarpSync {
            return Some(Slot { place: inst.a, width: Width::Word });
        }
        self.program().sites.warps[inst.aux as usize].members
    }

    /// The last of several paths has come: those at one instruction exchange values, and all go on.
    fn exchange_together(&mut self, inst: &Inst, path: &mut Path, members: u32) {
        let waits = |other: &Path| other.state == State::Members { members };
        let is_here = |other: &Path, path: &Path| (other.pc, other.frame) == (path.pc, path.frame);
        let mine = *path;
        let together = self
            .warp
            .paths
            .iter()
            .filter(|other| waits(other) && is_here(other, &mine))
            .fold(path.mask, |sum, other| sum | other.mask);
        self.of(together).exchange(inst);
        // Paths at other instructions exchange among themselves.
        let mut groups: Vec<Path> = Vec::new();
        for other in self.warp.paths.iter().filter(|other| waits(other) && !is_here(other, &mine)) {
            match groups.iter_mut().find(|group| is_here(group, other)) {
                Some(group) => group.mask |= other.mask,
                None => groups.push(*other),
            }
        }
        for group in groups {
            let inst = &self.program().code[group.pc as usize];
            Step::of_path(self.worker, self.warp, self.team, &group).exchange(inst);
        }
        // Paths that are now at one place with one way ahead are one path again.
        self.warp.paths.retain_mut(|other| {
            if !waits(other) {
                return true;
            }
            if is_here(other, &mine) && other.join == path.join && other.level == path.level {
                path.mask |= other.mask;
                return false;
            }
            other.state = State::Ready;
            other.pc += 1;
            true
        });
    }

    /// The exchange itself.
    fn exchange(&mut self, inst: &Inst) {
        if inst.op == Op::WarpSync {
            return;
        }
        let Self { frame, mask, .. } = *self;
        let site = &self.program().sites.warps[inst.aux as usize];
        let values = frame.row(site.value);
        if self.warp.undefined.is_some() && !matches!(site.mode, WarpMode::Shuffle(_)) {
            self.exchange_undefined(site);
        }
        match &site.mode {
            WarpMode::Shuffle(mode) => {
                let (from, valid) = partners(site, *mode, frame);
                let absent = lanes(mask)
                    .filter(|&lane| valid >> lane & 1 == 1 && mask >> from[lane] & 1 == 0)
                    .fold(0u32, |sum, lane| sum | 1 << lane);
                if absent != 0 || self.warp.undefined.is_some() {
                    self.shuffle_undefined(site, &from, absent);
                }
                set(frame, site.dst, &from.map(|from| values[from as usize]), mask);
                if let Some(slot) = site.valid {
                    frame.set_predicate(slot.place, valid, mask);
                }
            }
            WarpMode::Vote(mode) => vote(site, *mode, frame, mask),
            WarpMode::MatchAny => {
                let mut results = [0u64; 32];
                for lane in lanes(mask) {
                    let equal = lanes(mask).filter(|&other| values[other] == values[lane]);
                    results[lane] = u64::from(equal.fold(0u32, |sum, other| sum | 1 << other));
                }
                set(frame, site.dst, &results, mask);
            }
            WarpMode::MatchAll => {
                let first = values[mask.trailing_zeros() as usize & 31];
                let equal = lanes(mask).all(|lane| values[lane] == first);
                set(frame, site.dst, &[if equal { mask.into() } else { 0 }; 32], mask);
                if let Some(valid) = site.valid {
                    frame.set_predicate(valid.place, if equal { mask } else { 0 }, mask);
                }
            }
            WarpMode::Elect => {
                let leader = mask.trailing_zeros() & 31;
                set(frame, site.dst, &[leader.into(); 32], mask);
                if let Some(elected) = site.valid {
                    frame.set_predicate(elected.place, 1 << leader, mask);
                }
            }
            WarpMode::Reduce(op, ty) => {
                let fold = |a: u64, b: u64| atomics::integer(*op, a, b, 0, ty.bits(), ty.is_signed());
                let start = if *op == AtomicOp::Add { Some(0) } else { None };
                let sum = lanes(mask).map(|lane| values[lane]).reduce(fold).or(start).unwrap_or(0);
                set(frame, site.dst, &[sum; 32], mask);
            }
            WarpMode::ReduceFloat(eval, bits) => {
                let fold = |a: u64, b: u64| eval.lane([a, b, 0, 0, 0]);
                let values = lanes(mask).map(|lane| values[lane] & u64::from(*bits));
                set(frame, site.dst, &[values.reduce(fold).unwrap_or(0); 32], mask);
            }
            WarpMode::Transpose => set(frame, site.dst, &transposed(&values), mask),
        }
    }

    /// The lanes of `mask` have met, which are all of `required`.
    fn meet(&mut self, mask: u32, required: u32) {
        if required == self.warp.live {
            self.team.order.whole_warp(self.warp.index);
        } else {
            self.team.order.some_lanes(self.warp.index, mask);
        }
    }
}

/// The transpose of an 8 x 8 matrix of which each lane holds two elements of 16 bits, neighbours in a row.
fn transposed(values: &[u64; 32]) -> [u64; 32] {
    let element = |row: usize, column: usize| values[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
    std::array::from_fn(|lane| {
        let (row, column) = (lane / 4, 2 * (lane % 4));
        element(column, row) | element(column + 1, row) << 16
    })
}

fn set(frame: Frame, slot: Option<Slot>, values: &[u64; 32], mask: u32) {
    if let Some(slot) = slot {
        frame.set_row(slot, values, mask);
    }
}

/// By lane: from which lane its value comes, and whether that is one that the operands name; otherwise it is its own.
fn partners(site: &WarpSite, mode: ShuffleMode, frame: Frame) -> ([u32; 32], u32) {
    let row = |slot: Option<Slot>| slot.map_or([0; 32], |slot| frame.row(slot));
    let (offsets, clamps) = (row(site.lane), row(site.clamp));
    let mut valid = 0u32;
    let partners = std::array::from_fn(|lane| {
        let (offset, clamp) = (offsets[lane] as u32 & 31, clamps[lane] as u32);
        let segment = clamp >> 8 & 31;
        let me = lane as u32;
        let highest = me & segment | clamp & 31 & !segment;
        let (from, inside) = match mode {
            ShuffleMode::Up => (me.wrapping_sub(offset), me as i32 - offset as i32 >= highest as i32),
            ShuffleMode::Down => (me + offset, me + offset <= highest),
            ShuffleMode::Butterfly => (me ^ offset, (me ^ offset) <= highest),
            ShuffleMode::Index => {
                let from = me & segment | offset & !segment;
                (from, from <= highest)
            }
        };
        valid |= u32::from(inside) << lane;
        if inside { from & 31 } else { me }
    });
    (partners, valid)
}

fn vote(site: &WarpSite, mode: VoteMode, frame: Frame, mask: u32) {
    let votes = (frame.predicate(site.value.place) ^ site.flip) & mask;
    let yes = |condition: bool| if condition { u32::MAX } else { 0 };
    let Some(dst) = site.dst else { return };
    match mode {
        VoteMode::Ballot => frame.fill(dst, votes.into(), mask),
        VoteMode::All => frame.set_predicate(dst.place, yes(votes == mask), mask),
        VoteMode::Any => frame.set_predicate(dst.place, yes(votes != 0), mask),
        VoteMode::Uniform => frame.set_predicate(dst.place, yes(votes == 0 || votes == mask), mask),
    }
}
