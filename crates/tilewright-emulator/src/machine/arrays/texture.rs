//! Textures over emulated arrays.

use std::collections::HashMap;

use super::{
    sampler::{AddressMode, Filter, Sampler, filter_weight, whole},
    texels::Texels,
};
use crate::machine::lanes::frame::Frame;
use crate::memory::GlobalMemory;
use crate::program::instruction::{Layered, TextureKind, TextureRef, TextureSite};

/// How the texels of a texture are addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureShape {
    /// One dimension.
    D1,
    /// Two dimensions.
    D2,
    /// Three dimensions.
    D3,
    /// Layers of one dimension.
    D1Layered,
    /// Layers of two dimensions.
    D2Layered,
    /// The six faces of a cube.
    Cube,
    /// Several cubes.
    CubeLayered,
}

impl TextureShape {
    /// In words, behind "a texture that is".
    pub fn name(self) -> &'static str {
        match self {
            Self::D1 => "one-dimensional",
            Self::D2 => "two-dimensional",
            Self::D3 => "three-dimensional",
            Self::D1Layered => "one-dimensional with layers",
            Self::D2Layered => "two-dimensional with layers",
            Self::Cube => "a cube",
            Self::CubeLayered => "several cubes",
        }
    }

    /// The function that reads it.
    pub fn read_by(self) -> &'static str {
        match self {
            Self::D1 => "tex1D or tex1Dfetch",
            Self::D2 => "tex2D",
            Self::D3 => "tex3D",
            Self::D1Layered => "tex1DLayered",
            Self::D2Layered => "tex2DLayered",
            Self::Cube => "texCubemap",
            Self::CubeLayered => "texCubemapLayered",
        }
    }
}

/// An array that textures read; the first index is the fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texture {
    /// How its texels are addressed.
    pub shape: TextureShape,
    /// Width, height and depth, layers or faces; 1 where there is none.
    pub extent: [usize; 3],
    /// Channels of a texel, 1 to 4.
    pub channels: usize,
    /// The texels' bits, or where they lie.
    pub texels: Texels,
    /// How coordinates choose among them.
    pub sampler: Sampler,
}

impl Texture {
    /// A texture of one f32 channel with point filter, of as many dimensions as have an extent.
    pub fn new(extent: [usize; 3], values: &[f32]) -> Self {
        let shape = match extent {
            [_, 1, 1] => TextureShape::D1,
            [_, _, 1] => TextureShape::D2,
            _ => TextureShape::D3,
        };
        Self {
            shape,
            extent,
            channels: 1,
            texels: Texels::Words(values.iter().map(|value| value.to_bits()).collect()),
            sampler: Sampler::default(),
        }
    }

    /// A channel of the texel at integer coordinates.
    pub fn texel(&self, memory: &GlobalMemory, at: [i64; 3], modes: [AddressMode; 3], channel: usize) -> u32 {
        if channel >= self.channels {
            return 0;
        }
        let mut index = [0usize; 3];
        for axis in 0..3 {
            let Some(inside) = modes[axis].index(at[axis], self.extent[axis]) else { return 0 };
            index[axis] = inside;
        }
        let [x, y, z] = index;
        let row = z * self.extent[1] + y;
        match self.texels {
            Texels::Words(ref words) => {
                let texel = row * self.extent[0] + x;
                words.get(texel * self.channels + channel).copied().unwrap_or(0)
            }
            Texels::Memory { address, pitch, format, read } => {
                let column = ((x * self.channels + channel) * format.bytes()) as u64;
                let at = address.wrapping_add(row as u64 * pitch).wrapping_add(column);
                format.widen(memory.bits(at, format.bytes() as u32).unwrap_or(0), read)
            }
        }
    }

    /// A channel at floating-point coordinates.
    pub fn sample(&self, memory: &GlobalMemory, at: [f32; 3], dims: usize, channel: usize) -> u32 {
        let at = self.sampler.texels(at, self.extent, dims);
        self.between(memory, at, dims, self.sampler.modes(dims), channel)
    }

    /// A channel at coordinates that count texels.
    pub fn between(
        &self,
        memory: &GlobalMemory,
        at: [f32; 3],
        dims: usize,
        modes: [AddressMode; 3],
        channel: usize,
    ) -> u32 {
        let mut low = at.map(whole);
        if self.sampler.filter == Filter::Point {
            return self.texel(memory, low, modes, channel);
        }
        let mut weight = [0f32; 3];
        for axis in 0..dims {
            // Texel centres lie at halves.
            let shifted = at[axis] - 0.5;
            low[axis] = whole(shifted);
            weight[axis] = filter_weight(shifted);
        }
        let mut sum = 0f32;
        for corner in 0..1usize << dims {
            let mut index = low;
            let mut share = 1f32;
            for axis in 0..dims {
                let high = corner >> axis & 1;
                index[axis] += high as i64;
                share *= if high == 1 { weight[axis] } else { 1.0 - weight[axis] };
            }
            if share != 0.0 {
                sum += share * f32::from_bits(self.texel(memory, index, modes, channel));
            }
        }
        sum.to_bits()
    }
}

impl Texture {
    /// A channel in the direction of a vector from the middle of a cube, whose faces are layers. At an edge the face ends: no texel of the next
    /// face is mixed in.
    pub fn cube(&self, memory: &GlobalMemory, [x, y, z]: [f32; 3], cube: i64, channel: usize) -> u32 {
        let (face, long, s, t) = match [x, y, z].map(f32::abs) {
            [ax, ay, az] if ax >= ay && ax >= az => {
                if x >= 0.0 {
                    (0, ax, -z, -y)
                } else {
                    (1, ax, z, -y)
                }
            }
            [_, ay, az] if ay >= az => {
                if y >= 0.0 {
                    (2, ay, x, z)
                } else {
                    (3, ay, x, -z)
                }
            }
            [_, _, az] => {
                if z >= 0.0 {
                    (4, az, x, -y)
                } else {
                    (5, az, -x, -y)
                }
            }
        };
        let place = |of: f32, extent: usize| (of / long + 1.0) / 2.0 * extent as f32;
        let layer = (6 * cube + face) as f32;
        let at = [place(s, self.extent[0]), place(t, self.extent[1]), layer];
        self.between(memory, at, 2, [AddressMode::Clamp; 3], channel)
    }

    /// One of the four texels that linear interpolation would mix, counted as `tld4` does: against the clock from the lower left.
    pub fn gathered(
        &self,
        memory: &GlobalMemory,
        at: [f32; 2],
        layer: i64,
        which: usize,
        channel: usize,
    ) -> u32 {
        const OFFSETS: [[i64; 2]; 4] = [[0, 1], [1, 1], [1, 0], [0, 0]];
        let [x, y, _] = self.sampler.texels([at[0], at[1], 0.0], self.extent, 2).map(|at| whole(at - 0.5));
        let [dx, dy] = OFFSETS[which % 4];
        self.texel(memory, [x + dx, y + dy, layer], self.sampler.modes(2), channel)
    }
}

impl Texture {
    /// Its shape, where an instruction is for textures of another.
    pub fn misread_by(&self, site: &TextureSite) -> Option<TextureShape> {
        site.shape().filter(|&wanted| wanted != self.shape).map(|_| self.shape)
    }
}

impl TextureSite {
    /// The shape of the textures that it reads; none where it asks for an extent.
    pub fn shape(&self) -> Option<TextureShape> {
        Some(match (self.kind, self.layered, self.dims) {
            (TextureKind::Extent(_), ..) => return None,
            (TextureKind::Cube, Layered::No, _) => TextureShape::Cube,
            (TextureKind::Cube, Layered::Yes, _) => TextureShape::CubeLayered,
            (_, Layered::Yes, 1) => TextureShape::D1Layered,
            (_, Layered::Yes, _) => TextureShape::D2Layered,
            (_, Layered::No, 1) => TextureShape::D1,
            (_, Layered::No, 2) => TextureShape::D2,
            (_, Layered::No, _) => TextureShape::D3,
        })
    }
}

/// The textures of a machine, by handle; variables by their address.
#[derive(Clone, Debug, Default)]
pub struct Textures(pub HashMap<u64, Texture>);

impl TextureRef {
    /// The handle that a lane has.
    pub fn of_lane(self, frame: Frame, lane: usize) -> u64 {
        match self {
            Self::Handle(slot) => frame.lane(slot, lane),
            Self::Variable(address) => address,
        }
    }
}
