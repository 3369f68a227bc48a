//! All operands of an instruction, wherever its site keeps them.

use super::{
    instruction::{CallTarget, Inst, MemorySite, Op, Place, Slot, TextureRef, WarpSite},
    sites::Sites,
};

/// What an instruction does with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Reads.
    Use,
    /// Writes.
    Define,
    /// Names a row that has a fixed place.
    Row,
}

/// Whether an instruction may write its result over a source that dies in it: lane by lane, it reads before it writes.
pub fn may_overwrite_sources(op: Op) -> bool {
    use Op::*;
    !matches!(
        op,
        Carry
            | Pack
            | Unpack
            | ReadRows
            | WriteRows
            | Load
            | Store
            | Atomic
            | LoadParam
            | CopyAsync
            | LoadMatrix
            | StoreMatrix
            | Mma
            | WmmaLoad
            | WmmaStore
            | Texture
            | Barrier
            | Shuffle
            | Vote
            | Match
            | Redux
            | Elect
            | IsSpace
            | Call
    )
}

/// Calls `see` with every operand of `inst`, sources first.
pub fn visit(inst: &mut Inst, sites: &mut Sites, see: &mut dyn FnMut(&mut Place, Role)) {
    let index = inst.aux as usize;
    if inst.guard.place != Place::NONE {
        see(&mut inst.guard.place, Role::Use);
    }
    for place in [&mut inst.a, &mut inst.b, &mut inst.c] {
        if *place != Place::NONE {
            see(place, Role::Use);
        }
    }
    match inst.op {
        Op::Scalar => {
            let site = &mut sites.scalars[index];
            site.src.iter_mut().for_each(|slot| one(slot, Role::Use, see));
            site.dst.iter_mut().for_each(|slot| one(slot, Role::Define, see));
        }
        Op::Carry => {
            let site = &mut sites.carries[index];
            site.src.iter_mut().for_each(|slot| one(slot, Role::Use, see));
            one(&mut site.dst, Role::Define, see);
        }
        Op::Pack | Op::Unpack => {
            let (whole, part) =
                if inst.op == Op::Pack { (Role::Define, Role::Use) } else { (Role::Use, Role::Define) };
            let site = &mut sites.packs[index];
            if whole == Role::Use {
                see(&mut site.whole.place, whole);
            }
            site.parts.iter_mut().for_each(|slot| one(slot, part, see));
            if whole == Role::Define {
                see(&mut site.whole.place, whole);
            }
        }
        Op::ReadRows | Op::WriteRows => {
            let site = &mut sites.rows[index];
            see(&mut site.first, Role::Row);
            let role = if inst.op == Op::ReadRows { Role::Define } else { Role::Use };
            see(&mut site.value.place, role);
        }
        Op::Load | Op::LoadParam => memory(&mut sites.memories[index], Role::Define, see),
        Op::Store => memory(&mut sites.memories[index], Role::Use, see),
        Op::Atomic => {
            let site = &mut sites.atomics[index];
            site.operands.iter_mut().for_each(|slot| one(slot, Role::Use, see));
            memory(&mut site.memory, Role::Define, see);
        }
        Op::CopyAsync => {
            let site = &mut sites.copies[index];
            one(&mut site.source_bytes, Role::Use, see);
            if let Some((slot, _)) = &mut site.ignore {
                see(&mut slot.place, Role::Use);
            }
            memory(&mut site.to, Role::Use, see);
            memory(&mut site.from, Role::Use, see);
        }
        Op::LoadMatrix => memory(&mut sites.matrices[index].memory, Role::Define, see),
        Op::StoreMatrix => memory(&mut sites.matrices[index].memory, Role::Use, see),
        Op::Mma => {
            let site = &mut sites.mmas[index];
            for slot in site.a.iter_mut().chain(&mut site.b).chain(&mut site.c) {
                see(&mut slot.place, Role::Use);
            }
            site.d.iter_mut().for_each(|slot| see(&mut slot.place, Role::Define));
        }
        Op::WmmaLoad | Op::WmmaStore => {
            let site = &mut sites.wmmas[index];
            one(&mut site.stride, Role::Use, see);
            let role = if inst.op == Op::WmmaLoad { Role::Define } else { Role::Use };
            memory(&mut site.memory, role, see);
        }
        Op::Texture => {
            let site = &mut sites.textures[index];
            if let TextureRef::Handle(slot) = &mut site.texture {
                see(&mut slot.place, Role::Use);
            }
            site.coords.iter_mut().for_each(|slot| see(&mut slot.place, Role::Use));
            site.values.iter_mut().for_each(|slot| one(slot, Role::Define, see));
        }
        Op::Barrier => {
            let site = &mut sites.barriers[index];
            one(&mut site.id, Role::Use, see);
            one(&mut site.threads, Role::Use, see);
            if let Some((slot, _)) = &mut site.predicate {
                see(&mut slot.place, Role::Use);
            }
            one(&mut site.dst, Role::Define, see);
        }
        Op::Shuffle | Op::Vote | Op::Match | Op::Redux | Op::Elect => warp(&mut sites.warps[index], see),
        Op::Call => {
            let site = &mut sites.calls[index];
            if let CallTarget::Indirect(slot) = &mut site.target {
                see(&mut slot.place, Role::Use);
            }
            for (place, _) in site.arguments.iter_mut().chain(&mut site.results) {
                see(place, Role::Row);
            }
        }
        Op::IsSpace => {
            let site = &mut sites.spaces[index];
            see(&mut site.address.place, Role::Use);
            see(&mut site.dst.place, Role::Define);
        }
        _ => {}
    }
    if inst.dst != Place::NONE {
        see(&mut inst.dst, Role::Define);
    }
}

fn one(slot: &mut Option<Slot>, role: Role, see: &mut dyn FnMut(&mut Place, Role)) {
    if let Some(slot) = slot {
        see(&mut slot.place, role);
    }
}

fn memory(site: &mut MemorySite, values: Role, see: &mut dyn FnMut(&mut Place, Role)) {
    one(&mut site.base, Role::Use, see);
    site.values.iter_mut().for_each(|slot| one(slot, values, see));
}

fn warp(site: &mut WarpSite, see: &mut dyn FnMut(&mut Place, Role)) {
    see(&mut site.value.place, Role::Use);
    for slot in [&mut site.lane, &mut site.clamp, &mut site.members] {
        one(slot, Role::Use, see);
    }
    one(&mut site.valid, Role::Define, see);
    one(&mut site.dst, Role::Define, see);
}
