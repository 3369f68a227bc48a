//! How coordinates choose among the texels of a texture.

/// What is read outside of a texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressMode {
    /// The nearest texel (`cudaAddressModeClamp`).
    #[default]
    Clamp,
    /// Zero (`cudaAddressModeBorder`).
    Border,
    /// The texture again and again (`cudaAddressModeWrap`). For normalised coordinates; others are clamped.
    Wrap,
    /// The same, every second time turned around (`cudaAddressModeMirror`). For normalised coordinates; others are clamped.
    Mirror,
}

impl AddressMode {
    /// The index of a texel along an axis of `extent` texels; none where the border is.
    pub fn index(self, at: i64, extent: usize) -> Option<usize> {
        let extent = extent.max(1) as i64;
        let inside = match self {
            Self::Border if !(0..extent).contains(&at) => return None,
            Self::Border | Self::Clamp => at.clamp(0, extent - 1),
            Self::Wrap => at.rem_euclid(extent),
            Self::Mirror => {
                let forth = at.rem_euclid(2 * extent);
                forth.min(2 * extent - 1 - forth)
            }
        };
        Some(inside as usize)
    }

    /// A normalised coordinate, brought into the texture where the mode repeats it.
    fn repeated(self, at: f32) -> f32 {
        let part = at - at.floor();
        match self {
            Self::Wrap => part,
            Self::Mirror if at.floor() % 2.0 != 0.0 => 1.0 - part,
            Self::Mirror => part,
            Self::Clamp | Self::Border => at,
        }
    }
}

/// How a texel is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// The texel at the coordinates (`cudaFilterModePoint`).
    #[default]
    Point,
    /// Interpolation of the neighbours, with the 8-bit weights of the hardware (`cudaFilterModeLinear`). For texels that are read as floats.
    Linear,
}

/// What coordinates count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// Texels.
    #[default]
    Texels,
    /// The part of the texture, from 0 to 1.
    Normalized,
}

/// How coordinates choose among the texels of a texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampler {
    /// Outside of the texture, along x, y and z. Layers are clamped.
    pub address_modes: [AddressMode; 3],
    /// Between texels.
    pub filter: Filter,
    /// What coordinates count.
    pub coordinates: Coordinates,
}

impl Sampler {
    /// What is read outside, for floating-point coordinates along `dims` axes.
    pub fn modes(&self, dims: usize) -> [AddressMode; 3] {
        let mut modes = [AddressMode::Clamp; 3];
        for (mode, &asked) in modes.iter_mut().zip(&self.address_modes).take(dims) {
            let repeats = matches!(asked, AddressMode::Wrap | AddressMode::Mirror);
            if !repeats || self.coordinates == Coordinates::Normalized {
                *mode = asked;
            }
        }
        modes
    }

    /// What is read outside, for integer coordinates. Those of one dimension are of `tex1Dfetch`, which reads zeros there.
    pub fn modes_of_indices(&self, dims: usize) -> [AddressMode; 3] {
        match dims {
            1 => [AddressMode::Border, AddressMode::Clamp, AddressMode::Clamp],
            _ => self.modes(dims),
        }
    }

    /// Coordinates that count texels.
    pub fn texels(&self, mut at: [f32; 3], extent: [usize; 3], dims: usize) -> [f32; 3] {
        if self.coordinates == Coordinates::Normalized {
            for axis in 0..dims {
                at[axis] = self.address_modes[axis].repeated(at[axis]) * extent[axis] as f32;
            }
        }
        at
    }
}

/// The largest integer that is no larger; far outside of any texture it is no matter which.
pub(super) fn whole(at: f32) -> i64 {
    const FAR: f32 = (1u64 << 40) as f32;
    at.floor().clamp(-FAR, FAR) as i64
}

/// The weight of the right neighbour, with the hardware's 8 bits of fraction.
pub(super) fn filter_weight(shifted: f32) -> f32 {
    let part = ((shifted - shifted.floor()) * 256.0).round() / 256.0;
    if part.is_finite() { part } else { 0.0 }
}
