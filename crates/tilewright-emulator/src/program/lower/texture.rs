//! Texture reads, and what else there is for textures and surfaces.

use super::{Lowerer, Lowering, unsupported};
use crate::parse::ast::Operand;
use crate::program::{instruction::*, layout::ModuleName, opcode::Split};
use crate::ptx_isa::{Modifier, Type};

impl<'a> Lowerer<'a, '_> {
    /// `tex.2d.v4.f32.f32 {r, g, b, a}, [texture, {x, y}];`
    pub fn texture(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        const SHAPES: &[(Modifier, (u32, Layered))] = &[
            (Modifier::D1, (1, Layered::No)),
            (Modifier::D2, (2, Layered::No)),
            (Modifier::D3, (3, Layered::No)),
            (Modifier::A1d, (1, Layered::Yes)),
            (Modifier::A2d, (2, Layered::Yes)),
        ];
        match split.base {
            "tex" => {}
            "tld4" | "txq" => return unsupported("of texture instructions only `tex` is supported"),
            _ => return unsupported("surfaces are not supported"),
        }
        let (Some((dims, layered)), Some(ty), Some(coord)) =
            (split.modifiers.pick(SHAPES), split.ty(0), split.ty(1))
        else {
            return unsupported("this shape of texture is not supported");
        };
        if split.has(Modifier::Level) || split.has(Modifier::Grad) {
            return unsupported("mipmapped textures are not supported");
        }
        if ty.bits() != 32 || !matches!(coord, Type::F32 | Type::S32) {
            return unsupported("these types of texels or coordinates are not supported");
        }
        let (Some(to), Some(Operand::Address(parts))) = (operands.first(), operands.get(1)) else {
            return unsupported("a vector and an address are expected");
        };
        let (Some(Operand::Name(handle)), Some(last)) = (parts.first(), parts.last()) else {
            return unsupported("a texture and its coordinates are expected");
        };
        let texture = match self.module_name(handle) {
            Some(ModuleName::Address(address)) => TextureRef::Variable(address),
            _ => TextureRef::Handle(self.source(&Operand::Name(handle), Type::U64)?),
        };
        let wanted = dims as usize + usize::from(layered == Layered::Yes);
        let mut coords = Vec::with_capacity(wanted);
        // Vectors are padded to a power of two.
        for (index, part) in self.parts(last).iter().take(wanted).enumerate() {
            let ty = if layered == Layered::Yes && index == 0 { Type::U32 } else { coord };
            coords.push(self.source(part, ty)?);
        }
        if coords.len() < wanted {
            return unsupported(format!("{wanted} coordinates are expected"));
        }
        let parts = self.parts(to);
        let mut destinations = Vec::with_capacity(parts.len());
        for part in parts {
            destinations.push(self.destination(part, ty)?);
        }
        let values = destinations.iter().map(|d| d.as_ref().map(|d| d.slot)).collect();
        self.sites.textures.push(TextureSite { texture, dims, layered, coords, coord, values, counter: 0 });
        self.push(Rare::Texture, self.sites.textures.len() as u32 - 1);
        destinations.iter().for_each(|destination| self.deliver(destination.as_ref()));
        Ok(())
    }
}
