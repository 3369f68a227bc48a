//! Surfaces: loads, stores, and their extents.

use super::{Lowerer, Lowering, other_form, texture::AXES, unsupported};
use crate::parse::ast::Operand;
use crate::program::{grammar::Split, instruction::*};
use crate::ptx_isa::{Modifier, Type};

impl<'a> Lowerer<'a, '_> {
    /// `suld.b.2d.v2.b32.trap {r, g}, [surface, {x, y}];`
    pub fn surface_load(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let [to, of] = operands else { return other_form() };
        self.surface(split, SurfaceKind::Load, of, to)
    }

    /// `sust.b.2d.b32.clamp [surface, {x, y}], {r};`
    pub fn surface_store(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let [of, from] = operands else { return other_form() };
        self.surface(split, SurfaceKind::Store, of, from)
    }

    fn surface(
        &mut self,
        split: &Split<'a>,
        kind: SurfaceKind,
        of: &Operand<'a>,
        values: &Operand<'a>,
    ) -> Lowering<()> {
        const SHAPES: &[(Modifier, (u32, Layered))] = &[
            (Modifier::D1, (1, Layered::No)),
            (Modifier::D2, (2, Layered::No)),
            (Modifier::D3, (3, Layered::No)),
            (Modifier::A1d, (1, Layered::Yes)),
            (Modifier::A2d, (2, Layered::Yes)),
        ];
        const OUTSIDE: &[(Modifier, Outside)] = &[
            (Modifier::Trap, Outside::Trap),
            (Modifier::Clamp, Outside::Clamp),
            (Modifier::Zero, Outside::Zero),
        ];
        let (Some((dims, layered)), Some(ty)) = (split.modifiers.pick(SHAPES), split.ty(0)) else {
            return unsupported("this shape of surface is not supported");
        };
        if !matches!(ty, Type::B8 | Type::B16 | Type::B32 | Type::B64) {
            return unsupported("elements of surfaces have 8, 16, 32 or 64 bits");
        }
        let Operand::Address(parts) = of else {
            return other_form();
        };
        let (Some(Operand::Name(handle)), Some(last)) = (parts.first(), parts.last()) else {
            return other_form();
        };
        let surface = self.texture_handle(handle)?;
        let coords = self.coordinates(last, dims, layered, Type::S32)?;
        let (mut slots, mut destinations) = (Vec::new(), Vec::new());
        for part in self.parts(values) {
            match kind {
                SurfaceKind::Store => slots.push(Some(self.source(part, ty)?)),
                _ => {
                    let destination = self.destination(part, ty)?;
                    slots.push(destination.as_ref().map(|destination| destination.slot));
                    destinations.push(destination);
                }
            }
        }
        self.sites.surfaces.push(SurfaceSite {
            kind,
            surface,
            layered,
            coords,
            outside: split.modifiers.pick(OUTSIDE).unwrap_or(Outside::Trap),
            bytes: ty.bytes(),
            values: slots,
            counter: 0,
        });
        let op = if kind == SurfaceKind::Store { Rare::SurfaceStore } else { Rare::SurfaceLoad };
        self.push(op, self.sites.surfaces.len() as u32 - 1);
        destinations.iter().for_each(|destination| self.deliver(destination.as_ref()));
        Ok(())
    }

    /// `suq.width.b32 d, [surface];`
    pub fn surface_query(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let [to, of] = operands else { return other_form() };
        let Some(axis) = split.modifiers.pick(AXES) else {
            return unsupported("of a surface, its width, height, depth and layers can be asked for");
        };
        let Operand::Address(parts) = of else { return other_form() };
        let [Operand::Name(handle)] = parts[..] else { return other_form() };
        let surface = self.texture_handle(handle)?;
        let destination = self.destination(to, Type::B32)?;
        self.sites.surfaces.push(SurfaceSite {
            kind: SurfaceKind::Extent(axis),
            surface,
            layered: Layered::No,
            coords: Vec::new(),
            outside: Outside::Trap,
            bytes: 4,
            values: vec![destination.as_ref().map(|destination| destination.slot)],
            counter: 0,
        });
        self.push(Rare::SurfaceLoad, self.sites.surfaces.len() as u32 - 1);
        self.deliver(destination.as_ref());
        Ok(())
    }
}
