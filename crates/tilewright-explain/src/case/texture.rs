//! Textures over arrays, as arguments: `texture(linear,normalized,wrap):f32[64,64]:random`.

use crate::array::{Array, ElementType, Number, split};
use tilewright_emulator::{
    AddressMode, Coordinates, Filter, Sampler, TexelFormat, TexelRead, Texels, Texture, TextureShape,
};

/// A texture over an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureOver {
    /// What the kernel is given.
    pub handle: u64,
    /// The array, by its place.
    pub array: usize,
    /// How its texels are addressed.
    pub shape: TextureShape,
    /// How coordinates choose among them.
    pub sampler: Sampler,
    /// What the kernel gets for integers of 8 and 16 bits.
    pub read: TexelRead,
}

impl TextureOver {
    /// An array that is fetched by index.
    pub fn by_index(handle: u64, array: usize) -> Self {
        let (shape, sampler, read) = (TextureShape::D1, Sampler::default(), TexelRead::AsItIs);
        Self { handle, array, shape, sampler, read }
    }

    /// The texture of the emulator, for an array of this type and shape at `address`.
    pub fn at(&self, address: u64, element: ElementType, shape: &[usize]) -> Texture {
        let format = format(element.number()).unwrap_or_default();
        // The last extent is the fastest, and goes along x; layers lie along z, whatever there is between.
        let mut extent = [1; 3];
        extent.iter_mut().zip(shape.iter().rev()).for_each(|(extent, &of)| *extent = of);
        if self.shape == TextureShape::D1Layered {
            extent = [extent[0], 1, extent[1]];
        }
        let pitch = (extent[0] * element.size()) as u64;
        Texture {
            shape: self.shape,
            extent,
            channels: element.lanes(),
            texels: Texels::Memory { address, pitch, format, read: self.read },
            sampler: self.sampler,
        }
    }
}

/// What stands before the array: how it is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    modes: [Option<AddressMode>; 3],
    filter: Filter,
    coordinates: Coordinates,
    read: TexelRead,
    is_layered: bool,
    is_cube: bool,
}

/// The words, for a hint.
const WORDS: &str = "clamp, border, wrap and mirror (up to three: x, y, z), point or linear, normalized, float, layered, cube";

impl Reading {
    /// The reading and the text of the array of `texture:ARRAY` or `texture(WORD,...):ARRAY`; `None` for another text.
    pub fn of(text: &str) -> Option<Result<(Self, &str), String>> {
        let rest = text.strip_prefix("texture")?;
        if let Some(array) = rest.strip_prefix(':') {
            return Some(Ok((Self::default(), array)));
        }
        let (words, array) = rest.strip_prefix('(')?.split_once("):")?;
        Some(Self::words(words).map(|reading| (reading, array)))
    }

    fn words(words: &str) -> Result<Self, String> {
        let mut reading = Self::default();
        for word in split(words).into_iter().map(str::trim) {
            match word {
                "clamp" => reading.outside(AddressMode::Clamp)?,
                "border" => reading.outside(AddressMode::Border)?,
                "wrap" => reading.outside(AddressMode::Wrap)?,
                "mirror" => reading.outside(AddressMode::Mirror)?,
                "point" => reading.filter = Filter::Point,
                "linear" => reading.filter = Filter::Linear,
                "normalized" => reading.coordinates = Coordinates::Normalized,
                "float" => reading.read = TexelRead::Normalized,
                "layered" => reading.is_layered = true,
                "cube" => reading.is_cube = true,
                _ => return Err(format!("'{word}' says nothing of a texture; there are {WORDS}")),
            }
        }
        Ok(reading)
    }

    fn outside(&mut self, mode: AddressMode) -> Result<(), String> {
        let free = self.modes.iter_mut().find(|mode| mode.is_none());
        *free.ok_or("a texture has three address modes at most: x, y, z")? = Some(mode);
        Ok(())
    }

    /// The texture over an array, or why there is none.
    pub fn over(self, array: &Array, handle: u64, place: usize) -> Result<TextureOver, String> {
        let (number, lanes) = (array.element.number(), array.element.lanes());
        if format(number).is_none() || lanes == 3 {
            return Err(format!(
                "texels are 1, 2 or 4 integers of 8, 16 or 32 bits, f16 or f32, and not {}",
                array.element
            ));
        }
        let is_small = !number.is_float() && number.size() < 4;
        if self.read == TexelRead::Normalized && !is_small {
            return Err(format!("float is for integers of 8 and 16 bits, and not for {}", array.element));
        }
        if self.filter == Filter::Linear && !number.is_float() && self.read == TexelRead::AsItIs {
            return Err(match is_small {
                true => "linear is for texels that are read as floats: add float".into(),
                false => format!("linear is for floats, and not for {}", array.element),
            });
        }
        // One word is for all axes.
        let modes = self.modes.map(|mode| mode.or(self.modes[0]).unwrap_or_default());
        let repeats = |mode: &AddressMode| matches!(mode, AddressMode::Wrap | AddressMode::Mirror);
        if modes.iter().any(repeats) && self.coordinates == Coordinates::Texels {
            return Err("wrap and mirror are for coordinates from 0 to 1: add normalized".into());
        }
        let sampler = Sampler { address_modes: modes, filter: self.filter, coordinates: self.coordinates };
        Ok(TextureOver { handle, array: place, shape: self.shape(&array.shape)?, sampler, read: self.read })
    }

    fn shape(&self, extents: &[usize]) -> Result<TextureShape, String> {
        if extents.contains(&0) {
            return Err("a texture has at least one texel".into());
        }
        Ok(match (extents, self.is_cube, self.is_layered) {
            ([_], false, false) => TextureShape::D1,
            ([_, _], false, false) => TextureShape::D2,
            ([_, _, _], false, false) => TextureShape::D3,
            ([_, _], false, true) => TextureShape::D1Layered,
            ([_, _, _], false, true) => TextureShape::D2Layered,
            ([6, height, width], true, false) if height == width => TextureShape::Cube,
            ([faces, height, width], true, true) if height == width && faces % 6 == 0 => {
                TextureShape::CubeLayered
            }
            (_, true, false) => return Err("a cube is an array [6, n, n]".into()),
            (_, true, true) => return Err("layers of cubes are an array [6 * layers, n, n]".into()),
            (_, false, true) => {
                return Err("a texture with layers is over [layers, width] or [layers, height, width]".into());
            }
            _ => return Err("a texture has one to three dimensions".into()),
        })
    }
}

/// How channels of this type are read; none where textures have none such.
fn format(number: Number) -> Option<TexelFormat> {
    Some(match number {
        Number::F32 | Number::I32 | Number::U32 => TexelFormat::Word,
        Number::F16 => TexelFormat::F16,
        Number::I8 => TexelFormat::S8,
        Number::U8 => TexelFormat::U8,
        Number::I16 => TexelFormat::S16,
        Number::U16 => TexelFormat::U16,
        Number::Bf16
        | Number::E4m3
        | Number::E5m2
        | Number::F64
        | Number::I64
        | Number::U64
        | Number::Bool => return None,
    })
}
