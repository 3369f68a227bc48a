//! Accesses that obviously conflict with no other.

use crate::check::{GlobalAccess, Mode, Present, Strength};
use crate::machine::{lanes::host_isa::for_each_host_isa, state::step::Step};
use crate::memory::Object;
use crate::program::instruction::{MemorySite, Order, Space};

for_each_host_isa! {
    /// Remembers an access whose lanes lie as its pattern says, from `first` on in `object`, if it obviously conflicts with no
    /// other. `false`: that is to be looked at lane by lane.
    pub fn is_quiet(step: Step<'_, '_>, site: &MemorySite, object: &Object, first: u64, mode: Mode) -> bool = look_for_quiet
}

#[inline(always)]
fn look_for_quiet(step: Step<'_, '_>, site: &MemorySite, object: &Object, first: u64, mode: Mode) -> bool {
    let (launch, actor) = (step.launch(), step.actor(Strength::Plain));
    let Step { worker, team, .. } = step;
    if site.order != Order::Weak || launch.watch.observer.is_some() {
        return false;
    }
    let pattern = &mut worker.patterns[site.counter as usize];
    let space = pattern.space;
    let footprint = pattern.footprint(site.bytes * site.elements, launch.granule_shift);
    let offset = first.wrapping_sub(object.start);
    if space == Space::Shared {
        let start = object.data as usize - team.shared.data() as usize;
        let Some(shadow) = &mut team.shadow else { return true };
        return shadow.is_quiet(&team.order, actor, mode, footprint, start as u32 + offset as u32);
    }
    let Some(shadow) = &mut worker.shadow else { return true };
    let present =
        Present { block: team.number, order: &team.order, known: &team.known, blocks: &launch.blocks };
    let region = launch.memory.slot(object.start);
    if site.is_read_only && !shadow.is_unwritten_page(region, offset) {
        return false;
    }
    shadow.is_quiet(GlobalAccess { present, actor, mode, region }, footprint, offset)
}
