//! All operands of an instruction, wherever its site keeps them. Sites are taken apart field by field, so that none is forgotten.

use super::{instruction::*, sites::Sites};

/// Whether an instruction may write its result over a source that dies in it: lane by lane, it reads before it writes.
pub fn may_overwrite_sources(op: Op) -> bool {
    match op.class() {
        Class::Plain | Class::Local | Class::Scalar => true,
        Class::Flow(flow) => flow != Flow::Call,
        Class::Carry | Class::Pack(_) | Class::Rows(_) | Class::Mma | Class::Wgmma | Class::Access(_) => {
            false
        }
        Class::Map | Class::Space | Class::Barrier | Class::Mbarrier | Class::Warp => false,
    }
}

/// Calls `see` with every operand of `inst`, sources first.
pub fn visit(inst: &mut Inst, sites: &mut Sites, see: &mut dyn FnMut(&mut Place, Role)) {
    let Inst { op, aux, dst, a, b, c, guard } = inst;
    let index = *aux as usize;
    for place in [&mut guard.place, a, b, c] {
        if *place != Place::NONE {
            see(place, Role::Use);
        }
    }
    match op.class() {
        Class::Plain | Class::Local => {}
        Class::Scalar => {
            let ScalarSite { eval: _, second_bit: _, dst, src, flip: _, mask: _ } = &mut sites.scalars[index];
            all(src.iter_mut().flatten(), Role::Use, see);
            all(dst.iter_mut().flatten(), Role::Define, see);
        }
        Class::Carry => {
            let CarrySite { sum: _, carry_in: _, carry_out: _, bits: _, signed: _, dst, src } =
                &mut sites.carries[index];
            all(src.iter_mut().flatten(), Role::Use, see);
            all(dst, Role::Define, see);
        }
        Class::Pack(role) => {
            let PackSite { whole, parts, bits: _ } = &mut sites.packs[index];
            match role {
                Role::Define => {
                    see(&mut whole.place, Role::Use);
                    all(parts.iter_mut().flatten(), role, see);
                }
                Role::Use | Role::Row => {
                    all(parts.iter_mut().flatten(), role, see);
                    see(&mut whole.place, Role::Define);
                }
            }
        }
        Class::Rows(role) => {
            let RowsSite { first, offset: _, bytes: _, value } = &mut sites.rows[index];
            see(first, Role::Row);
            see(&mut value.place, role);
        }
        Class::Mma => {
            let MmaSite { op: _, d, a, b, c } = &mut sites.mmas[index];
            all(a.iter_mut().chain(b).chain(c), Role::Use, see);
            all(d, Role::Define, see);
        }
        Class::Wgmma => {
            let WgmmaSite { op: _, a, b, c, d, accumulates, negates: _, majors: _, counter: _, misuses: _ } =
                &mut sites.wgmmas[index];
            match a {
                WgmmaFactor::Shared(descriptor) => see(&mut descriptor.place, Role::Use),
                WgmmaFactor::Registers(slots) => all(slots, Role::Use, see),
            }
            all([b, &mut accumulates.0], Role::Use, see);
            all(c, Role::Use, see);
            all(d, Role::Define, see);
        }
        Class::Map => {
            let MapSite { map, kind } = &mut sites.maps[index];
            match kind {
                MapKind::Replace { field: _, dimension: _, value } => see(&mut value.place, Role::Use),
                MapKind::Copy { from } => memory(from, Role::Use, see),
                MapKind::Acquire => {}
            }
            memory(map, Role::Use, see);
        }
        Class::Access(access) => visit_access(access, index, sites, see),
        Class::Space => {
            let SpaceSite { space: _, of_cluster: _, address, dst } = &mut sites.spaces[index];
            see(&mut address.place, Role::Use);
            see(&mut dst.place, Role::Define);
        }
        Class::Barrier => {
            let BarrierSite { id, number: _, threads, kind: _, aligned: _, dst, predicate } =
                &mut sites.barriers[index];
            all(id, Role::Use, see);
            all(threads, Role::Use, see);
            all(predicate.as_mut().map(|(slot, _)| slot), Role::Use, see);
            all(dst, Role::Define, see);
        }
        Class::Mbarrier => {
            let MbarrierSite { memory: site, kind: _, operand, orders: _ } = &mut sites.mbarriers[index];
            all(operand, Role::Use, see);
            memory(site, Role::Define, see);
        }
        Class::Warp => {
            let WarpSite { dst, valid, value, flip: _, lane, clamp, members, mode: _ } =
                &mut sites.warps[index];
            see(&mut value.place, Role::Use);
            [lane, clamp, members].into_iter().for_each(|slot| all(slot, Role::Use, see));
            [valid, dst].into_iter().for_each(|slot| all(slot, Role::Define, see));
        }
        Class::Flow(Flow::Call) => {
            let CallSite { target, arguments, results } = &mut sites.calls[index];
            match target {
                CallTarget::Indirect(slot) => see(&mut slot.place, Role::Use),
                CallTarget::Function(_) | CallTarget::System(_) => {}
            }
            arguments.iter_mut().chain(results).for_each(|(place, _)| see(place, Role::Row));
        }
        Class::Flow(Flow::Jump | Flow::JumpIndexed | Flow::End | Flow::Refusal) => {}
    }
    if *dst != Place::NONE {
        see(dst, Role::Define);
    }
}

fn visit_access(access: Access, index: usize, sites: &mut Sites, see: &mut dyn FnMut(&mut Place, Role)) {
    match access {
        Access::Plain(role) => memory(&mut sites.memories[index], role, see),
        Access::Atomic => {
            let AtomicSite { memory: site, op: _, ty: _, operands, eval: _, loads: _ } =
                &mut sites.atomics[index];
            all(operands.iter_mut().flatten().flatten(), Role::Use, see);
            memory(site, Role::Define, see);
        }
        Access::Copy => {
            let CopySite { to, from, source_bytes, ignore } = &mut sites.copies[index];
            all(source_bytes, Role::Use, see);
            all(ignore.as_mut().map(|(slot, _)| slot), Role::Use, see);
            memory(to, Role::Use, see);
            memory(from, Role::Use, see);
        }
        Access::Bulk(_) => {
            let BulkSite { direction: _, shared, far, extent, barrier, reduction: _, blocks } =
                &mut sites.bulks[index];
            match extent {
                Extent::Bytes(size) => see(&mut size.place, Role::Use),
                Extent::Box { coordinates, offsets, im2col: _ } => {
                    all(coordinates.iter_mut().chain(offsets), Role::Use, see);
                }
            }
            all(blocks, Role::Use, see);
            [Some(shared), Some(far), barrier.as_mut()]
                .into_iter()
                .flatten()
                .for_each(|site| memory(site, Role::Use, see));
        }
        Access::Matrices(role) => {
            let MatrixRowsSite { memory: site, transpose: _ } = &mut sites.matrices[index];
            memory(site, role, see);
        }
        Access::Fragment(role) => {
            let WmmaSite { op: _, fragment: _, major: _, stride, ty: _, memory: site } =
                &mut sites.wmmas[index];
            all(stride, Role::Use, see);
            memory(site, role, see);
        }
        Access::Texture => {
            let TextureSite { kind: _, texture, dims: _, layered: _, coords, coord: _, values, counter: _ } =
                &mut sites.textures[index];
            handle(texture, see);
            all(coords, Role::Use, see);
            all(values.iter_mut().flatten(), Role::Define, see);
        }
        Access::Surface(role) => {
            let SurfaceSite {
                kind: _,
                surface,
                layered: _,
                coords,
                outside: _,
                bytes: _,
                values,
                counter: _,
            } = &mut sites.surfaces[index];
            handle(surface, see);
            all(coords, Role::Use, see);
            all(values.iter_mut().flatten(), role, see);
        }
    }
}

fn handle(of: &mut TextureRef, see: &mut dyn FnMut(&mut Place, Role)) {
    match of {
        TextureRef::Handle(slot) => see(&mut slot.place, Role::Use),
        TextureRef::Variable(_) => {}
    }
}

fn memory(site: &mut MemorySite, role: Role, see: &mut dyn FnMut(&mut Place, Role)) {
    let MemorySite {
        space: _,
        bytes: _,
        elements: _,
        order: _,
        scope: _,
        is_flag: _,
        releases: _,
        base,
        offset: _,
        values,
        counter: _,
        issue: _,
        is_read_only: _,
    } = site;
    all(base, Role::Use, see);
    all(values.iter_mut().flatten(), role, see);
}

fn all<'a>(slots: impl IntoIterator<Item = &'a mut Slot>, role: Role, see: &mut dyn FnMut(&mut Place, Role)) {
    slots.into_iter().for_each(|slot| see(&mut slot.place, role));
}
