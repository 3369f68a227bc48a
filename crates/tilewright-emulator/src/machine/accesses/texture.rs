//! Reads of textures.

use crate::check::{FindingKind, Severity, Side};
use crate::machine::{
    arrays::texture::{Texture, TextureShape},
    state::{step::Step, worker::Worker},
};
use crate::memory::lanes;
use crate::program::instruction::{Layered, Space, TextureKind, TextureRef};
use crate::ptx_isa::Type;

impl<'a> Worker<'a> {
    /// The texture that a handle stands for.
    fn texture_of(&self, handle: u64) -> Option<&'a Texture> {
        let launch = self.launch;
        let own = launch.own_textures.iter().find(|(bound, _)| *bound == handle).map(|(_, texture)| texture);
        own.or_else(|| launch.textures.0.get(&handle))
    }

    /// Counts an access that goes the way of textures.
    pub fn count_texels(&mut self, counter: u32, mask: u32) {
        let count = &mut self.counts.accesses[counter as usize];
        count.requests += 1;
        count.lanes += u64::from(mask.count_ones());
        self.counts.spaces[counter as usize] |= 1 << Space::Texture as u8;
    }

    /// Reports an access of a texture or a surface that nothing is bound to: what is done, to what, and what makes such a handle.
    pub fn report_unbound(
        &mut self,
        (verb, what, maker): (&str, &str, &str),
        of: TextureRef,
        handle: u64,
        side: Side,
    ) {
        let memory = self.launch.memory;
        self.report(FindingKind::UnboundTexture, Severity::Error, side, || {
            let name = match of {
                TextureRef::Handle(_) => format!("the {what} object {handle:#x}"),
                TextureRef::Variable(at) => {
                    format!("`{}`", memory.name(at).map_or_else(|| format!("a {what}"), str::to_owned))
                }
            };
            (
                format!("{verb} {name}, to which no {what} is bound"),
                format!("make the {what} before the launch, and pass the handle that {maker} gives"),
            )
        });
    }
}

impl Step<'_, '_> {
    /// `tex`.
    pub fn texture(&mut self, index: u32) {
        let Self { frame, mask, .. } = *self;
        let mut unbound: Option<(u64, u32)> = None;
        let mut misread: Option<(TextureShape, u32)> = None;
        let site = &self.program().sites.textures[index as usize];
        self.worker.count_texels(site.counter, mask);
        for lane in lanes(mask) {
            let handle = site.texture.of_lane(frame, lane);
            let Some(texture) = self.worker.texture_of(handle) else {
                site.values.iter().flatten().for_each(|&slot| frame.set_lane(slot, lane, 0));
                unbound.get_or_insert((handle, 0)).1 |= 1 << lane;
                continue;
            };
            if let Some(shape) = texture.misread_by(site) {
                misread.get_or_insert((shape, 0)).1 |= 1 << lane;
            }
            if let TextureKind::Extent(axis) = site.kind {
                let extent = texture.extent[axis as usize] as u64;
                site.values.iter().flatten().for_each(|&slot| frame.set_lane(slot, lane, extent));
                continue;
            }
            let bits: Vec<u32> = site.coords.iter().map(|&slot| frame.lane(slot, lane) as u32).collect();
            let (layer, coords) = match site.layered {
                Layered::Yes => (bits[0] as i64, &bits[1..]),
                Layered::No => (0, &bits[..]),
            };
            for (channel, slot) in site.values.iter().enumerate() {
                let Some(slot) = *slot else { continue };
                let memory = self.launch().memory;
                let value = if let TextureKind::Gather(component) = site.kind {
                    let at = [coords[0], coords[1]].map(f32::from_bits);
                    texture.gathered(memory, at, layer, channel, component as usize)
                } else if site.kind == TextureKind::Cube {
                    let direction = [coords[0], coords[1], coords[2]].map(f32::from_bits);
                    texture.cube(memory, direction, layer, channel)
                } else if site.coord == Type::S32 {
                    let mut at = [0, 0, layer];
                    at.iter_mut().zip(coords).for_each(|(at, &bits)| *at = i64::from(bits as i32));
                    texture.texel(memory, at, texture.sampler.modes_of_indices(site.dims as usize), channel)
                } else {
                    let mut at = [0.0, 0.0, layer as f32];
                    at.iter_mut().zip(coords).for_each(|(at, &bits)| *at = f32::from_bits(bits));
                    texture.sample(memory, at, site.dims as usize, channel)
                };
                frame.set_lane(slot, lane, value.into());
            }
        }
        if let Some((handle, lanes)) = unbound {
            let side = self.side(lanes);
            self.worker.report_unbound(
                ("reads", "texture", "cudaCreateTextureObject"),
                site.texture,
                handle,
                side,
            );
        }
        if let Some((shape, lanes)) = misread {
            self.report(FindingKind::TextureShape, Severity::Error, lanes, || {
                let wanted = site.shape().map_or("", TextureShape::name);
                (
                    format!("reads a texture that is {} as if it were {wanted}", shape.name()),
                    format!("read it with {}, or make the texture {wanted}", shape.read_by()),
                )
            });
        }
    }
}
