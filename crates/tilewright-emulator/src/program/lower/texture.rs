//! Texture reads.

use super::{Lowerer, Lowering, other_form, unsupported};
use crate::parse::ast::Operand;
use crate::program::{grammar::Split, instruction::*, layout::ModuleName};
use crate::ptx_isa::{Modifier, Type};

/// The extents that can be asked for.
pub const AXES: &[(Modifier, u32)] =
    &[(Modifier::Width, 0), (Modifier::Height, 1), (Modifier::Depth, 2), (Modifier::ArraySize, 2)];

impl<'a> Lowerer<'a, '_> {
    /// `tex.2d.v4.f32.f32 {r, g, b, a}, [texture, {x, y}];`
    pub fn sample(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let is_cube = split.has(Modifier::Cube) || split.has(Modifier::Acube);
        self.texture(split, if is_cube { TextureKind::Cube } else { TextureKind::Sample }, operands)
    }

    /// `tld4.r.2d.v4.f32.f32 {a, b, c, d}, [texture, {x, y}];`
    pub fn gather(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        // `.r`, `.b` and `.a` mean other things elsewhere.
        const CHANNELS: &[(Modifier, u32)] =
            &[(Modifier::Right, 0), (Modifier::Green, 1), (Modifier::MatrixB, 2), (Modifier::MatrixA, 3)];
        if ![Modifier::D2, Modifier::A2d].into_iter().any(|shape| split.has(shape)) {
            return unsupported("neighbours are gathered in two dimensions");
        }
        self.texture(split, TextureKind::Gather(split.modifiers.pick(CHANNELS).unwrap_or(0)), operands)
    }

    fn texture(&mut self, split: &Split<'a>, kind: TextureKind, operands: &[Operand<'a>]) -> Lowering<()> {
        const SHAPES: &[(Modifier, (u32, Layered))] = &[
            (Modifier::D1, (1, Layered::No)),
            (Modifier::D2, (2, Layered::No)),
            (Modifier::D3, (3, Layered::No)),
            (Modifier::A1d, (1, Layered::Yes)),
            (Modifier::A2d, (2, Layered::Yes)),
            (Modifier::Cube, (3, Layered::No)),
            (Modifier::Acube, (3, Layered::Yes)),
        ];
        let (Some((dims, layered)), Some(ty), Some(coord)) =
            (split.modifiers.pick(SHAPES), split.ty(0), split.ty(1))
        else {
            return unsupported("this shape of texture is not supported");
        };
        // A texture has one level here, which every level of detail leads to: `.level` and `.grad` have nothing to choose.
        if ty.bits() != 32 || ty == Type::F16x2 || !matches!(coord, Type::F32 | Type::S32) {
            return unsupported("these types of texels or coordinates are not supported");
        }
        // Behind the coordinates of `.level` stands the level, behind those of `.grad` two gradients.
        let known = match () {
            () if split.has(Modifier::Level) => 3,
            () if split.has(Modifier::Grad) => 4,
            () => 2,
        };
        if operands.len() > known {
            return unsupported("offsets and depths of texture reads are not supported");
        }
        let (Some(to), Some(Operand::Address(parts))) = (operands.first(), operands.get(1)) else {
            return other_form();
        };
        let (Some(Operand::Name(handle)), Some(last)) = (parts.first(), parts.last()) else {
            return other_form();
        };
        let texture = self.texture_handle(handle)?;
        let coords = self.coordinates(last, dims, layered, coord)?;
        let parts = self.parts(to);
        let mut destinations = Vec::with_capacity(parts.len());
        for part in parts {
            destinations.push(self.destination(part, ty)?);
        }
        let values = destinations.iter().map(|d| d.as_ref().map(|d| d.slot)).collect();
        self.sites.textures.push(TextureSite {
            kind,
            texture,
            dims,
            layered,
            coords,
            coord,
            values,
            counter: 0,
        });
        self.push(Rare::Texture, self.sites.textures.len() as u32 - 1);
        destinations.iter().for_each(|destination| self.deliver(destination.as_ref()));
        Ok(())
    }

    /// The coordinates of a texel or an element, behind its layer where there are layers.
    pub fn coordinates(
        &mut self,
        vector: &Operand<'a>,
        dims: u32,
        layered: Layered,
        ty: Type,
    ) -> Lowering<Vec<Slot>> {
        let wanted = dims as usize + usize::from(layered == Layered::Yes);
        let mut coords = Vec::with_capacity(wanted);
        // Vectors are padded to a power of two.
        for (index, part) in self.parts(vector).iter().take(wanted).enumerate() {
            let ty = if layered == Layered::Yes && index == 0 { Type::U32 } else { ty };
            coords.push(self.source(part, ty)?);
        }
        if coords.len() < wanted {
            return unsupported(format!("{wanted} coordinates are expected"));
        }
        Ok(coords)
    }

    pub fn texture_handle(&mut self, handle: &'a str) -> Lowering<TextureRef> {
        Ok(match self.module_name(handle) {
            Some(ModuleName::Address(address)) => TextureRef::Variable(address),
            _ => TextureRef::Handle(self.source(&Operand::Name(handle), Type::U64)?),
        })
    }

    /// `txq.width.b32 d, [texture];`
    pub fn texture_query(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let (Some(axis), [to, Operand::Address(parts), ..]) = (split.modifiers.pick(AXES), operands) else {
            return unsupported("of a texture, its width, height, depth and layers can be asked for");
        };
        let [Operand::Name(handle)] = parts[..] else { return other_form() };
        let texture = self.texture_handle(handle)?;
        let destination = self.destination(to, Type::B32)?;
        self.sites.textures.push(TextureSite {
            kind: TextureKind::Extent(axis),
            texture,
            dims: 0,
            layered: Layered::No,
            coords: Vec::new(),
            coord: Type::S32,
            values: vec![destination.as_ref().map(|d| d.slot)],
            counter: 0,
        });
        self.push(Rare::Texture, self.sites.textures.len() as u32 - 1);
        self.deliver(destination.as_ref());
        Ok(())
    }
}
