//! Textures over device memory, as objects. Arrays, which textures of other kinds need, are not there.

use std::ffi::c_void;

use tilewright_emulator::{AddressMode, Coordinates, Filter, TexelFormat, TexelRead, Texels, Texture};

use crate::abi::{RESOURCE_LINEAR, RESOURCE_PITCH2D, ResourceDescription, TextureDescription};
use crate::call::{Call, put, take};
use crate::code::Code;
use crate::context::Context;

/// `CU_TRSF_READ_AS_INTEGER` and `CU_TRSF_NORMALIZED_COORDINATES`.
const READ_AS_INTEGER: u32 = 1;
const NORMALIZED_COORDINATES: u32 = 2;

/// `CUarray_format`.
fn format(number: i32) -> Result<TexelFormat, Code> {
    Ok(match number {
        1 => TexelFormat::U8,
        2 => TexelFormat::U16,
        3 | 10 | 32 => TexelFormat::Word,
        8 => TexelFormat::S8,
        9 => TexelFormat::S16,
        16 => TexelFormat::F16,
        _ => return Err(Code::NOT_SUPPORTED),
    })
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
        extent,
        channels: channels as usize,
        texels: Texels::Memory { address, pitch: pitch as u64, format, read },
        // Memory that is fetched by index reads zero outside; elsewhere 3 is the border, and what repeats is taken to the edge.
        address_mode: match is_linear || texture.address_mode[0] == 3 {
            true => AddressMode::Border,
            false => AddressMode::Clamp,
        },
        filter: if texture.filter_mode == 1 && !is_linear { Filter::Linear } else { Filter::Point },
        coordinates: match texture.flags & NORMALIZED_COORDINATES {
            0 => Coordinates::Texels,
            _ => Coordinates::Normalized,
        },
    };
    if !is_linear && matches!(texture.address_mode[0], 0 | 2) && made.coordinates == Coordinates::Normalized {
        // Wrapped and mirrored coordinates.
        return Err(Code::NOT_SUPPORTED);
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
