//! Copies and fills, between and on any two of host and devices. All of them are done when they are asked for.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use tilewright_emulator::{Context as Emulated, DevicePointer};

use crate::abi::{Address, Copy2d, Copy3d, Handle, MEMORY_ARRAY, MEMORY_DEVICE, MEMORY_HOST, MEMORY_UNIFIED};
use crate::call::{Call, take};
use crate::code::Code;
use crate::context::Context;
use crate::device::{self, Device};
use crate::memory::code_of;
use crate::{host, stream};

/// One side of a copy.
#[derive(Clone)]
enum Place {
    /// Memory of this process.
    Host(usize),
    /// Memory of a device.
    Device(Arc<Device>, Address),
}

impl Place {
    /// What a device pointer points to: memory of a device, or of the host that devices reach. So many bytes must be there.
    fn of_device(address: Address, bytes: u64) -> Result<Self, Code> {
        let Some(number) = Emulated::device_of(address) else {
            let (start, count) = host::range(address).ok_or(Code::INVALID_VALUE)?;
            let fits = address.checked_add(bytes).is_some_and(|end| end <= start + count);
            return if fits { Ok(Self::Host(address as usize)) } else { Err(Code::INVALID_VALUE) };
        };
        let device = device::of(number.into()).map_err(|_| Code::INVALID_VALUE)?;
        if bytes > 0 {
            let pointer = DevicePointer::from_address(address);
            device.memory().emulated.bytes(pointer, bytes).map_err(|error| code_of(&error))?;
        }
        Ok(Self::Device(device, address))
    }

    fn of_host(address: usize, bytes: u64) -> Result<Self, Code> {
        if address == 0 && bytes > 0 { Err(Code::INVALID_VALUE) } else { Ok(Self::Host(address)) }
    }

    /// What a pointer points to that may be either.
    fn of_any(address: Address, bytes: u64) -> Result<Self, Code> {
        match Emulated::device_of(address) {
            Some(_) => Self::of_device(address, bytes),
            None => Self::of_host(address as usize, bytes),
        }
    }

    fn offset(&self, bytes: usize) -> Self {
        match self {
            Self::Host(address) => Self::Host(address.wrapping_add(bytes)),
            Self::Device(device, address) => Self::Device(device.clone(), address.wrapping_add(bytes as u64)),
        }
    }
}

/// Copies `bytes` bytes.
///
/// # Safety
/// Memory of this process must be valid for so many.
unsafe fn copy(to: &Place, from: &Place, bytes: usize) -> Call {
    if bytes == 0 {
        return Ok(());
    }
    let count = bytes as u64;
    match (to, from) {
        (Place::Host(to), Place::Host(from)) => {
            let to: *mut u8 = std::ptr::with_exposed_provenance_mut(*to);
            // SAFETY: the caller's promise; they may overlap.
            unsafe { to.copy_from(std::ptr::with_exposed_provenance(*from), bytes) };
        }
        (Place::Device(device, to), Place::Host(from)) => {
            let mut memory = device.memory();
            let to = memory.emulated.bytes_mut(DevicePointer::from_address(*to), count);
            let to = to.map_err(|error| code_of(&error))?;
            // SAFETY: the caller's promise; memory of the emulator is the emulator's alone.
            unsafe {
                to.as_mut_ptr().copy_from_nonoverlapping(std::ptr::with_exposed_provenance(*from), bytes);
            }
        }
        (Place::Host(to), Place::Device(device, from)) => {
            let mut memory = device.memory();
            let from = memory.emulated.bytes(DevicePointer::from_address(*from), count);
            let from = from.map_err(|error| code_of(&error))?;
            let to: *mut u8 = std::ptr::with_exposed_provenance_mut(*to);
            // SAFETY: as above.
            unsafe { to.copy_from_nonoverlapping(from.as_ptr(), bytes) };
        }
        (Place::Device(target, to), Place::Device(source, from)) => {
            // By way of a buffer: they may overlap, and two devices are never locked at once.
            let between = {
                let mut memory = source.memory();
                let from = memory.emulated.bytes(DevicePointer::from_address(*from), count);
                from.map_err(|error| code_of(&error))?.to_vec()
            };
            let mut memory = target.memory();
            let to = memory.emulated.bytes_mut(DevicePointer::from_address(*to), count);
            to.map_err(|error| code_of(&error))?.copy_from_slice(&between);
        }
    }
    Ok(())
}

/// `cuMemcpyHtoD`.
pub(crate) unsafe fn to_device(to: Address, from: *const c_void, bytes: usize) -> Call {
    Context::current()?;
    let to = Place::of_device(to, bytes as u64)?;
    let from = Place::of_host(from.expose_provenance(), bytes as u64)?;
    // SAFETY: the caller's promise.
    unsafe { copy(&to, &from, bytes) }
}

/// `cuMemcpyDtoH`.
pub(crate) unsafe fn to_host(to: *mut c_void, from: Address, bytes: usize) -> Call {
    Context::current()?;
    let from = Place::of_device(from, bytes as u64)?;
    let to = Place::of_host(to.expose_provenance(), bytes as u64)?;
    // SAFETY: the caller's promise.
    unsafe { copy(&to, &from, bytes) }
}

/// `cuMemcpyDtoD`.
pub(crate) unsafe fn on_device(to: Address, from: Address, bytes: usize) -> Call {
    Context::current()?;
    let (to, from) = (Place::of_device(to, bytes as u64)?, Place::of_device(from, bytes as u64)?);
    // SAFETY: memory that the driver knows has so many bytes.
    unsafe { copy(&to, &from, bytes) }
}

/// `cuMemcpy`.
pub(crate) unsafe fn anywhere(to: Address, from: Address, bytes: usize) -> Call {
    Context::current()?;
    let (to, from) = (Place::of_any(to, bytes as u64)?, Place::of_any(from, bytes as u64)?);
    // SAFETY: the caller's promise.
    unsafe { copy(&to, &from, bytes) }
}

/// `cuMemcpyHtoDAsync`.
pub(crate) unsafe fn to_device_async(to: Address, from: *const c_void, bytes: usize, order: Handle) -> Call {
    stream::check(order)?;
    // SAFETY: the caller's promise.
    unsafe { to_device(to, from, bytes) }
}

/// `cuMemcpyDtoHAsync`.
pub(crate) unsafe fn to_host_async(to: *mut c_void, from: Address, bytes: usize, order: Handle) -> Call {
    stream::check(order)?;
    // SAFETY: the caller's promise.
    unsafe { to_host(to, from, bytes) }
}

/// `cuMemcpyDtoDAsync`.
pub(crate) unsafe fn on_device_async(to: Address, from: Address, bytes: usize, order: Handle) -> Call {
    stream::check(order)?;
    // SAFETY: the caller's promise.
    unsafe { on_device(to, from, bytes) }
}

/// `cuMemcpyAsync`.
pub(crate) unsafe fn anywhere_async(to: Address, from: Address, bytes: usize, order: Handle) -> Call {
    stream::check(order)?;
    // SAFETY: the caller's promise.
    unsafe { anywhere(to, from, bytes) }
}

/// One side of a copy of rows.
struct Rows {
    kind: c_int,
    host: usize,
    device: Address,
    pitch: usize,
    /// Rows of a slice.
    height: usize,
    /// Where it begins: bytes, rows and slices.
    start: [usize; 3],
}

impl Rows {
    /// The first byte, when it has the extent of the copy.
    fn place(&self, [width, height, depth]: [usize; 3]) -> Result<(Place, usize, usize), Code> {
        let [x, y, z] = self.start;
        let is_single = height <= 1 && depth <= 1;
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let rows = if self.height == 0 { height } else { self.height };
        let fits = x.checked_add(width).is_some_and(|end| is_single || end <= pitch);
        if !fits || depth > 1 && y.saturating_add(height) > rows {
            return Err(Code::INVALID_VALUE);
        }
        let at = |x: usize, y: usize, z: usize| {
            z.checked_mul(rows)?.checked_add(y)?.checked_mul(pitch)?.checked_add(x)
        };
        let start = at(x, y, z).ok_or(Code::INVALID_VALUE)?;
        let end = at(x + width, y + height.saturating_sub(1), z + depth.saturating_sub(1));
        let bytes = (end.ok_or(Code::INVALID_VALUE)? - start) as u64;
        let begin = |address: u64| address.checked_add(start as u64).ok_or(Code::INVALID_VALUE);
        let place = match self.kind {
            MEMORY_HOST if self.host == 0 => return Err(Code::INVALID_VALUE),
            MEMORY_HOST => Place::of_host(begin(self.host as u64)? as usize, bytes)?,
            MEMORY_DEVICE => Place::of_device(begin(self.device)?, bytes)?,
            MEMORY_UNIFIED => Place::of_any(begin(self.device)?, bytes)?,
            MEMORY_ARRAY => return Err(Code::NOT_SUPPORTED),
            _ => return Err(Code::INVALID_VALUE),
        };
        Ok((place, pitch, rows))
    }
}

/// Copies a box of bytes, of `width`, `height` rows and `depth` slices. Everything is checked before anything is written.
///
/// # Safety
/// Memory of this process must be valid for it.
unsafe fn copy_rows(to: &Rows, from: &Rows, extent: [usize; 3]) -> Call {
    Context::current()?;
    if extent.contains(&0) {
        return Ok(());
    }
    let (to, to_pitch, to_rows) = to.place(extent)?;
    let (from, from_pitch, from_rows) = from.place(extent)?;
    let [width, height, depth] = extent;
    if depth == 1 && to_pitch == width && from_pitch == width {
        // SAFETY: the caller's promise.
        return unsafe { copy(&to, &from, width * height) };
    }
    for slice in 0..depth {
        for row in 0..height {
            let to = to.offset((slice * to_rows + row) * to_pitch);
            let from = from.offset((slice * from_rows + row) * from_pitch);
            // SAFETY: the caller's promise.
            unsafe { copy(&to, &from, width) }?;
        }
    }
    Ok(())
}

/// Copies what a description says.
///
/// # Safety
/// As for [`copy_rows`].
unsafe fn copy_box(c: &Copy3d) -> Call {
    let from = Rows {
        kind: c.src_type,
        host: c.src_host.expose_provenance(),
        device: c.src_device,
        pitch: c.src_pitch,
        height: c.src_height,
        start: [c.src_x, c.src_y, c.src_z],
    };
    let to = Rows {
        kind: c.dst_type,
        host: c.dst_host.expose_provenance(),
        device: c.dst_device,
        pitch: c.dst_pitch,
        height: c.dst_height,
        start: [c.dst_x, c.dst_y, c.dst_z],
    };
    // SAFETY: the caller's promise.
    unsafe { copy_rows(&to, &from, [c.width, c.height, c.depth]) }
}

/// `cuMemcpy2D`.
pub(crate) unsafe fn rows(copy: *const Copy2d) -> Call {
    // SAFETY: the caller's promise.
    unsafe { copy_box(&take(copy)?.into()) }
}

/// `cuMemcpy2DAsync`.
pub(crate) unsafe fn rows_async(copy: *const Copy2d, order: Handle) -> Call {
    stream::check(order)?;
    // SAFETY: the caller's promise.
    unsafe { rows(copy) }
}

/// `cuMemcpy3D`.
pub(crate) unsafe fn slices(copy: *const Copy3d) -> Call {
    // SAFETY: the caller's promise.
    unsafe { copy_box(&take(copy)?) }
}

/// `cuMemcpy3DAsync`.
pub(crate) unsafe fn slices_async(copy: *const Copy3d, order: Handle) -> Call {
    stream::check(order)?;
    // SAFETY: the caller's promise.
    unsafe { slices(copy) }
}

/// `cuMemsetD8`, `D16` and `D32`: `count` elements.
pub(crate) fn fill<const BYTES: usize>(address: Address, value: [u8; BYTES], count: usize) -> Call {
    fill_rows(address, 0, value, count, 1)
}

/// `cuMemsetD2D8` and its like: `height` rows of `width` elements that begin `pitch` bytes apart.
pub(crate) fn fill_rows<const BYTES: usize>(
    address: Address,
    pitch: usize,
    value: [u8; BYTES],
    width: usize,
    height: usize,
) -> Call {
    Context::current()?;
    let row = width.checked_mul(BYTES).ok_or(Code::INVALID_VALUE)?;
    if !address.is_multiple_of(BYTES as u64) || height > 1 && pitch < row {
        return Err(Code::INVALID_VALUE);
    }
    if row == 0 || height == 0 {
        return Ok(());
    }
    let span = pitch.checked_mul(height - 1).and_then(|before| before.checked_add(row));
    let place = Place::of_device(address, span.ok_or(Code::INVALID_VALUE)? as u64)?;
    let bytes = value.repeat(width.min(PATTERN));
    for line in 0..height {
        for part in (0..row).step_by(bytes.len()) {
            let source = Place::Host(bytes.as_ptr().expose_provenance());
            let to = place.offset(line * pitch + part);
            // SAFETY: the pattern has so many bytes.
            unsafe { copy(&to, &source, bytes.len().min(row - part)) }?;
        }
    }
    Ok(())
}

/// Elements that are written at once.
const PATTERN: usize = 1 << 20;

/// [`fill`] in the order of a stream.
pub(crate) fn fill_async<const BYTES: usize>(
    address: Address,
    value: [u8; BYTES],
    count: usize,
    order: Handle,
) -> Call {
    stream::check(order)?;
    fill(address, value, count)
}

/// [`fill_rows`] in the order of a stream.
pub(crate) fn fill_rows_async<const BYTES: usize>(
    address: Address,
    pitch: usize,
    value: [u8; BYTES],
    width: usize,
    height: usize,
    order: Handle,
) -> Call {
    stream::check(order)?;
    fill_rows(address, pitch, value, width, height)
}
