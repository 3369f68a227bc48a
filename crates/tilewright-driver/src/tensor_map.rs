//! Tensor maps for the Tensor Memory Accelerator (TMA).

use std::ffi::{c_int, c_uint, c_void};

use tilewright_emulator::tensor_map::{
    BYTES, ElementType, Fill, Im2col, Interleave, RANK, Swizzle, TensorMap,
};

use crate::call::{Call, initialised, put, take};
use crate::code::Code;

/// Maps lie at multiples of this.
const ALIGN: usize = 64;

/// What both kinds of maps have.
pub(crate) struct Tensor {
    pub element: c_int,
    pub rank: c_uint,
    pub address: *mut c_void,
    pub extents: *const u64,
    pub strides: *const u64,
    pub steps: *const u32,
    pub interleave: c_int,
    pub swizzle: c_int,
    pub promotion: c_int,
    pub fill: c_int,
}

/// The box of a copy in im2col mode.
pub(crate) struct Pixels {
    pub lower: *const c_int,
    pub upper: *const c_int,
    pub channels: u32,
    pub pixels: u32,
}

/// `cuTensorMapEncodeTiled`.
///
/// # Safety
/// Arrays must have as many elements as the rank says, and `out` must have room for a map.
pub(crate) unsafe fn encode_tiled(out: *mut c_void, tensor: &Tensor, boxes: *const u32) -> Call {
    // SAFETY: the caller's promise.
    let mut map = unsafe { map(tensor)? };
    // SAFETY: as above.
    map.boxes = unsafe { array(boxes, map.rank, 0)? };
    // SAFETY: as above.
    unsafe { write(out, &map) }
}

/// `cuTensorMapEncodeIm2col`.
///
/// # Safety
/// As for [`encode_tiled`].
pub(crate) unsafe fn encode_im2col(out: *mut c_void, tensor: &Tensor, pixels: &Pixels) -> Call {
    // SAFETY: the caller's promise.
    let mut map = unsafe { map(tensor)? };
    let axes = map.rank.checked_sub(2).filter(|axes| (1..=3).contains(axes)).ok_or(Code::INVALID_VALUE)?;
    // SAFETY: the corners have an element for each axis of pixels.
    let corner = |corner| unsafe { array(corner, axes, 0) };
    map.im2col = Some(Im2col {
        lower: corner(pixels.lower)?,
        upper: corner(pixels.upper)?,
        channels: pixels.channels,
        pixels: pixels.pixels,
    });
    // SAFETY: the caller's promise.
    unsafe { write(out, &map) }
}

/// `cuTensorMapReplaceAddress`.
///
/// # Safety
/// `out` must be a map.
pub(crate) unsafe fn replace_address(out: *mut c_void, address: *mut c_void) -> Call {
    initialised()?;
    // SAFETY: the caller's promise.
    let bytes = unsafe { take(out.cast::<[u8; BYTES]>().cast_const())? };
    let map = TensorMap::decode(&bytes).ok_or(Code::INVALID_VALUE)?;
    // SAFETY: the caller's promise.
    unsafe { write(out, &TensorMap { address: address as u64, ..map }) }
}

unsafe fn map(tensor: &Tensor) -> Result<TensorMap, Code> {
    initialised()?;
    let rank = tensor.rank as usize;
    if !(1..=RANK).contains(&rank) || !(0..=3).contains(&tensor.promotion) {
        return Err(Code::INVALID_VALUE);
    }
    // CUDA asks for the array even where it reads nothing of it.
    if tensor.strides.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let number = |value: c_int| usize::try_from(value).map_err(|_| Code::INVALID_VALUE);
    Ok(TensorMap {
        element: ElementType::from_number(tensor.element as u32).ok_or(Code::INVALID_VALUE)?,
        rank,
        address: tensor.address as u64,
        // SAFETY: the caller's promise.
        extents: unsafe { array(tensor.extents, rank, 1)? },
        // SAFETY: as above; a tensor of one dimension has no strides.
        strides: unsafe { array(tensor.strides, rank - 1, 0)? },
        boxes: [0; RANK],
        // SAFETY: as above.
        steps: unsafe { array(tensor.steps, rank, 1)? },
        interleave: Interleave::from_number(number(tensor.interleave)?).ok_or(Code::INVALID_VALUE)?,
        swizzle: Swizzle::from_number(number(tensor.swizzle)?).ok_or(Code::INVALID_VALUE)?,
        fill: Fill::from_number(number(tensor.fill)?).ok_or(Code::INVALID_VALUE)?,
        im2col: None,
    })
}

/// The first `count` elements of an array, and `rest` behind them.
unsafe fn array<T: Copy, const N: usize>(from: *const T, count: usize, rest: T) -> Result<[T; N], Code> {
    let mut all = [rest; N];
    for (index, to) in all.iter_mut().enumerate().take(count) {
        // SAFETY: the caller's promise.
        *to = unsafe { take(from.wrapping_add(index))? };
    }
    Ok(all)
}

unsafe fn write(out: *mut c_void, map: &TensorMap) -> Call {
    if !(out as usize).is_multiple_of(ALIGN) || map.check().is_err() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    unsafe { put(out.cast(), map.encode()) }
}
