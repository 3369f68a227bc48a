//! The functions that allocate and free memory of devices, and tell what an address is.

use std::ffi::{c_int, c_uint};

use tilewright_emulator::{Context as Emulated, DevicePointer, MemoryError};

use crate::abi::{Address, Handle};
use crate::call::{Call, put};
use crate::code::Code;
use crate::context::Context;
use crate::device;
use crate::host;

/// Rows of pitched memory begin at multiples of this.
const PITCH: usize = 512;

/// The code of what can go wrong with memory that is there.
pub(crate) fn code_of(error: &MemoryError) -> Code {
    match error {
        MemoryError::TooLarge { .. } | MemoryError::Exhausted { .. } => Code::OUT_OF_MEMORY,
        _ => Code::INVALID_VALUE,
    }
}

/// What findings call the memory of a device that starts at `address`, from here on. Addresses of nothing have no name.
///
/// ```
/// // Nothing is there.
/// tilewright_driver::name_memory(0, "weights");
/// ```
pub fn name_memory(address: Address, name: &str) {
    let device = Emulated::device_of(address).and_then(|number| device::of(number.into()).ok());
    if let Some(device) = device {
        // The memory may have been freed by now.
        let _ = device.memory().emulated.rename(DevicePointer::from_address(address), name);
    }
}

/// `cuMemGetInfo`.
pub(crate) unsafe fn get_info(free: *mut usize, total: *mut usize) -> Call {
    let info = Context::current()?.device.memory().info();
    // SAFETY: the caller's promise.
    unsafe {
        put(free, info.0 as usize)?;
        put(total, info.1 as usize)
    }
}

/// `cuMemAlloc`.
pub(crate) unsafe fn allocate(out: *mut Address, bytes: usize) -> Call {
    let context = Context::current()?;
    if out.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let address = context.device.memory().allocate(context.id, bytes as u64)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, address) }
}

/// `cuMemAllocPitch`.
pub(crate) unsafe fn allocate_pitch(
    out: *mut Address,
    pitch: *mut usize,
    width: usize,
    height: usize,
    element: c_uint,
) -> Call {
    if !matches!(element, 4 | 8 | 16) || width == 0 || height == 0 || pitch.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let row = width.checked_next_multiple_of(PITCH).ok_or(Code::INVALID_VALUE)?;
    let bytes = row.checked_mul(height).ok_or(Code::OUT_OF_MEMORY)?;
    // SAFETY: the caller's promise.
    unsafe {
        allocate(out, bytes)?;
        put(pitch, row)
    }
}

/// `cuMemFree`. Null is nothing; memory of a kernel that runs is freed when it has ended.
pub(crate) fn free(address: Address) -> Call {
    Context::current()?;
    if address == 0 {
        return Ok(());
    }
    match Emulated::device_of(address) {
        Some(number) => device::of(number.into()).map_err(|_| Code::INVALID_VALUE)?.memory().free(address),
        // Managed memory has an address of the host.
        None => host::free_managed(address),
    }
}

/// `cuMemGetAddressRange`.
pub(crate) unsafe fn get_range(start: *mut Address, bytes: *mut usize, address: Address) -> Call {
    Context::current()?;
    let found = match Emulated::device_of(address) {
        Some(number) => {
            let device = device::of(number.into()).map_err(|_| Code::INVALID_VALUE)?;
            let memory = device.memory();
            let symbol = || {
                let (start, bytes) = memory.emulated.allocation(DevicePointer::from_address(address))?;
                Some((start.address(), bytes))
            };
            memory.allocation(address).map(|(_, start, bytes)| (start, bytes)).or_else(symbol)
        }
        None => host::range(address),
    };
    let (first, count) = found.ok_or(Code::NOT_FOUND)?;
    if !start.is_null() {
        // SAFETY: the caller's promise.
        unsafe { put(start, first) }?;
    }
    if !bytes.is_null() {
        // SAFETY: the caller's promise.
        unsafe { put(bytes, count as usize) }?;
    }
    Ok(())
}

/// `cuMemAdvise` and `cuMemPrefetchAsync`: managed memory is where it is.
pub(crate) fn advise(address: Address, bytes: usize) -> Call {
    Context::current()?;
    let (start, count) = host::range(address).ok_or(Code::INVALID_VALUE)?;
    let end = address.checked_add(bytes as u64).ok_or(Code::INVALID_VALUE)?;
    if end <= start + count { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

/// `CUpointer_attribute`.
mod attribute {
    use std::ffi::c_int;

    pub const CONTEXT: c_int = 1;
    pub const MEMORY_TYPE: c_int = 2;
    pub const DEVICE_POINTER: c_int = 3;
    pub const HOST_POINTER: c_int = 4;
    pub const SYNC_MEMOPS: c_int = 6;
    pub const BUFFER_ID: c_int = 7;
    pub const IS_MANAGED: c_int = 8;
    pub const DEVICE_ORDINAL: c_int = 9;
    pub const RANGE_START: c_int = 11;
    pub const RANGE_SIZE: c_int = 12;
    pub const MAPPED: c_int = 13;
}

/// What is known of an address.
struct Known {
    context: Handle,
    ordinal: c_int,
    start: Address,
    bytes: u64,
    memory_type: c_int,
    host: Option<Address>,
    is_managed: bool,
}

fn known(address: Address) -> Option<Known> {
    if let Some(number) = Emulated::device_of(address) {
        let device = device::of(number.into()).ok()?;
        let memory = device.memory();
        let symbol = || {
            let (start, bytes) = memory.emulated.allocation(DevicePointer::from_address(address))?;
            Some((0, start.address(), bytes))
        };
        let (context, start, bytes) = memory.allocation(address).or_else(symbol)?;
        let (memory_type, host, is_managed) = (crate::abi::MEMORY_DEVICE, None, false);
        return Some(Known { context, ordinal: number.into(), start, bytes, memory_type, host, is_managed });
    }
    let (context, start, bytes, is_managed) = host::known(address)?;
    let memory_type = if is_managed { crate::abi::MEMORY_DEVICE } else { crate::abi::MEMORY_HOST };
    Some(Known { context, ordinal: 0, start, bytes, memory_type, host: Some(address), is_managed })
}

/// `cuPointerGetAttribute`.
pub(crate) unsafe fn pointer_attribute(out: *mut u8, which: c_int, address: Address) -> Call {
    Context::current()?;
    let known = known(address).ok_or(Code::INVALID_VALUE)?;
    // SAFETY: the caller's promise: there is room for what the attribute is.
    unsafe {
        match which {
            attribute::CONTEXT => put(out.cast(), known.context),
            attribute::MEMORY_TYPE => put(out.cast(), known.memory_type),
            attribute::DEVICE_POINTER => put(out.cast(), address),
            attribute::HOST_POINTER => put(out.cast(), known.host.ok_or(Code::INVALID_VALUE)?),
            attribute::SYNC_MEMOPS => put(out.cast(), c_uint::from(false)),
            attribute::BUFFER_ID => put(out.cast(), known.start),
            attribute::IS_MANAGED => put(out.cast(), c_uint::from(known.is_managed)),
            attribute::DEVICE_ORDINAL => put(out.cast(), known.ordinal),
            attribute::RANGE_START => put(out.cast(), known.start),
            attribute::RANGE_SIZE => put(out.cast(), known.bytes as usize),
            attribute::MAPPED => put(out.cast(), c_uint::from(true)),
            _ => Err(Code::INVALID_VALUE),
        }
    }
}

/// `cuPointerGetAttributes`: what is not known of an address is zero.
pub(crate) unsafe fn pointer_attributes(
    count: c_uint,
    which: *const c_int,
    out: *const *mut u8,
    address: Address,
) -> Call {
    Context::current()?;
    if which.is_null() || out.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    for index in 0..count as usize {
        // SAFETY: the caller's promise: there are `count` of both.
        let (which, out) = unsafe { (which.add(index).read_unaligned(), out.add(index).read_unaligned()) };
        // SAFETY: as above.
        if unsafe { pointer_attribute(out, which, address) }.is_err() && !out.is_null() {
            let bytes = match which {
                attribute::MEMORY_TYPE
                | attribute::IS_MANAGED
                | attribute::DEVICE_ORDINAL
                | attribute::SYNC_MEMOPS => 4,
                _ => 8,
            };
            // SAFETY: there is room for what the attribute is.
            unsafe { out.write_bytes(0, bytes) };
        }
    }
    Ok(())
}
