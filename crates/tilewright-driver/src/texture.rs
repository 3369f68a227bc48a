//! Textures over device memory, as objects. Arrays, which textures of other kinds need, are not there.

use std::ffi::c_void;

use tilewright_emulator::{
    AddressMode, Coordinates, Filter, Sampler, TexelFormat, TexelRead, Texels, Texture, TextureShape,
};

use crate::abi::{RESOURCE_LINEAR, RESOURCE_PITCH2D, ResourceDescription, TextureDescription};
use crate::call::{Call, put, take};
use crate::code::Code;
use crate::context::Context;

/// `CU_TRSF_READ_AS_INTEGER` and `CU_TRSF_NORMALIZED_COORDINATES`.
const READ_AS_INTEGER: u32 = 1;
const NORMALIZED_COORDINATES: u32 = 2;

/// `CU_AD_FORMAT_HALF` and `CU_AD_FORMAT_FLOAT`.
const FORMAT_HALF: i32 = 16;
const FORMAT_FLOAT: i32 = 32;

/// `CUarray_format`.
fn format(number: i32) -> Result<TexelFormat, Code> {
    Ok(match number {
        1 => TexelFormat::U8,
        2 => TexelFormat::U16,
        3 | 10 | FORMAT_FLOAT => TexelFormat::Word,
        8 => TexelFormat::S8,
        9 => TexelFormat::S16,
        FORMAT_HALF => TexelFormat::F16,
        _ => return Err(Code::NOT_SUPPORTED),
    })
}

/// `CUaddress_mode`, `CUfilter_mode` and the flags.
fn sampler(texture: &TextureDescription) -> Result<Sampler, Code> {
    let mut address_modes = [AddressMode::Clamp; 3];
    for (mode, &number) in address_modes.iter_mut().zip(&texture.address_mode) {
        *mode = match number {
            0 => AddressMode::Wrap,
            1 => AddressMode::Clamp,
            2 => AddressMode::Mirror,
            3 => AddressMode::Border,
            _ => return Err(Code::INVALID_VALUE),
        };
    }
    let filter = if texture.filter_mode == 1 { Filter::Linear } else { Filter::Point };
    // Outside of a border are zeros here.
    if address_modes.contains(&AddressMode::Border) && texture.border_color != [0.0; 4] {
        return Err(Code::NOT_SUPPORTED);
    }
    let coordinates = match texture.flags & NORMALIZED_COORDINATES {
        0 => Coordinates::Texels,
        _ => Coordinates::Normalized,
    };
    Ok(Sampler { address_modes, filter, coordinates })
}

/// `cuTexObjectCreate`.
pub(crate) unsafe fn create(
    out: *mut u64,
    resource: *const ResourceDescription,
    texture: *const TextureDescription,
    view: *const c_void,
) -> Call {
    let context = Context::current()?;
    // SAFETY: the caller's promise.
    let (resource, texture) = unsafe { (take(resource)?, take(texture)?) };
    if !view.is_null() {
        return Err(Code::NOT_SUPPORTED);
    }
    // SAFETY: plain numbers, which both kinds have; the kind says which.
    let (address, channels, number, extent, pitch) = unsafe {
        match resource.kind {
            RESOURCE_LINEAR => {
                let linear = resource.resource.linear;
                let texel = linear.channels as usize * format(linear.format)?.bytes();
                let count = linear.bytes.checked_div(texel).ok_or(Code::INVALID_VALUE)?;
                (linear.address, linear.channels, linear.format, [count, 1, 1], linear.bytes)
            }
            RESOURCE_PITCH2D => {
                let rows = resource.resource.pitched;
                (rows.address, rows.channels, rows.format, [rows.width, rows.height, 1], rows.pitch)
            }
            _ => return Err(Code::NOT_SUPPORTED),
        }
    };
    if !matches!(channels, 1 | 2 | 4) || extent[..2].contains(&0) || out.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let format = format(number)?;
    let is_linear = resource.kind == RESOURCE_LINEAR;
    let as_it_is =
        texture.flags & READ_AS_INTEGER != 0 || matches!(format, TexelFormat::Word | TexelFormat::F16);
    let read = if as_it_is { TexelRead::AsItIs } else { TexelRead::Normalized };
    let made = Texture {
        shape: if is_linear { TextureShape::D1 } else { TextureShape::D2 },
        extent,
        channels: channels as usize,
        texels: Texels::Memory { address, pitch: pitch as u64, format, read },
        sampler: if is_linear { Sampler::default() } else { sampler(&texture)? },
    };
    let is_interpolated = made.sampler.filter == Filter::Linear;
    if is_interpolated && as_it_is && !matches!(number, FORMAT_HALF | FORMAT_FLOAT) {
        // Integers are not interpolated.
        return Err(Code::INVALID_VALUE);
    }
    let handle = context.device.memory().emulated.texture(made);
    // SAFETY: the caller's promise.
    unsafe { put(out, handle) }
}

/// `cuTexObjectDestroy`.
pub(crate) fn destroy(handle: u64) -> Call {
    let context = Context::current()?;
    if context.device.memory().emulated.remove_texture(handle) { Ok(()) } else { Err(Code::INVALID_VALUE) }
}
