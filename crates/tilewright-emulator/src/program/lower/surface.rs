//! Surfaces: loads, stores, and their extents.

use super::{Lowerer, Lowering, texture::AXES, unsupported};
use crate::parse::ast::Operand;
use crate::program::{instruction::*, opcode::Split};
use crate::ptx_isa::{Modifier, Type};

impl<'a> Lowerer<'a, '_> {
    /// `suld.b.2d.v2.b32.trap {r, g}, [surface, {x, y}];`, `sust.b.2d.b32.clamp [surface, {x, y}], {r};` and `suq.width.b32 d, [surface];`
    pub fn surface(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
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
        let (kind, of, values) = match (split.base, operands) {
            ("suq", [to, of]) => return self.surface_query(split, to, of),
            ("suld", [to, of]) => (SurfaceKind::Load, of, to),
            ("sust", [of, from]) => (SurfaceKind::Store, of, from),
            _ => return unsupported("a surface and a value are expected"),
        };
        let (Some((dims, layered)), Some(ty)) = (split.modifiers.pick(SHAPES), split.ty(0)) else {
            return unsupported("this shape of surface is not supported");
        };
        if !matches!(ty, Type::B8 | Type::B16 | Type::B32 | Type::B64) {
            return unsupported("elements of surfaces have 8, 16, 32 or 64 bits");
        }
        let Operand::Address(parts) = of else {
            return unsupported("a surface and its coordinates are expected");
        };
        let (Some(Operand::Name(handle)), Some(last)) = (parts.first(), parts.last()) else {
            return unsupported("a surface and its coordinates are expected");
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

    fn surface_query(&mut self, split: &Split<'a>, to: &Operand<'a>, of: &Operand<'a>) -> Lowering<()> {
        let Some(axis) = split.modifiers.pick(AXES) else {
            return unsupported("of a surface, its width, height, depth and layers can be asked for");
        };
        let Operand::Address(parts) = of else { return unsupported("a surface is expected") };
        let [Operand::Name(handle)] = parts[..] else { return unsupported("a surface is expected") };
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
