//! Memory of the device, and page-locked memory of the host.

use super::context::Allocation;
use super::pool::Kept;
use super::stream::Stream;
use crate::ffi::driver as ffi;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tilewright_core::{Element, Error, ErrorKind};

/// Bytes on the device. Everything that touches them runs in one stream, in whose order they are allocated and freed.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    stream: Arc<Stream>,
    address: ffi::Address,
    bytes: usize,
    owner: Owner,
}

// SAFETY: an address and the handle of a stream: the driver's functions may be called from any thread.
unsafe impl Send for DeviceMemory {}
// SAFETY: as above.
unsafe impl Sync for DeviceMemory {}

/// Who frees memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// This: a block of so many bytes, which is kept for later by the stream that it works in.
    This(usize),
    /// This as well: a block of the driver's pool, in the order of another stream.
    Pool(ffi::Stream),
    Another,
}

impl DeviceMemory {
    /// `bytes` bytes with arbitrary contents; `what` is what they are for.
    pub(crate) fn new(stream: &Arc<Stream>, what: &'static str, bytes: usize) -> Result<Self, Error> {
        // SAFETY: the stream is there as long as what is made.
        unsafe { Self::new_in(stream, stream.handle(), what, bytes) }
    }

    /// The same for work in another stream of the same context.
    ///
    /// # Safety
    /// The handle is that of such a stream, which is there until this is dropped; it is the first one's unless the driver has pools.
    pub(crate) unsafe fn new_in(
        stream: &Arc<Stream>,
        order: ffi::Stream,
        what: &'static str,
        bytes: usize,
    ) -> Result<Self, Error> {
        let context = &stream.context;
        let is_pooled = context.allocation == Allocation::Pooled;
        let owner = if is_pooled && !keeps(stream, order) { Owner::Pool(order) } else { Owner::This(bytes) };
        let mut address = 0;
        if bytes > 0 {
            let entered = context.enter()?;
            let kept = if matches!(owner, Owner::This(_)) { lock(&stream.kept).take(bytes) } else { None };
            if let Some((address, room)) = kept {
                return Ok(Self { stream: Arc::clone(stream), address, bytes, owner: Owner::This(room) });
            }
            // SAFETY: the pointer is valid for a write, and the stream is there by the caller's promise.
            let mut allocate = || unsafe {
                match is_pooled {
                    true => (entered.functions.cuMemAllocAsync)(&mut address, bytes, order),
                    false => (entered.functions.cuMemAlloc_v2)(&mut address, bytes),
                }
            };
            let mut code = allocate();
            if code == ffi::OUT_OF_MEMORY && stream.free_kept() {
                code = allocate();
            }
            match code {
                0 => {}
                ffi::OUT_OF_MEMORY => {
                    let (free, total) = context.memory()?;
                    let (device, bytes) = (context.info.name.clone(), bytes as u64);
                    return Err(ErrorKind::DeviceMemory { device, what, bytes, free, total }.into());
                }
                code => {
                    return Err(context.error(code, format!("allocating {bytes} bytes for {what}")));
                }
            }
        }
        Ok(Self { stream: Arc::clone(stream), address, bytes, owner })
    }

    /// Memory that somebody else has allocated, and frees.
    ///
    /// # Safety
    /// `bytes` bytes from the address on are memory that work in this stream can reach, as long as this lives and such work runs.
    pub(crate) unsafe fn foreign(stream: &Arc<Stream>, address: ffi::Address, bytes: usize) -> Self {
        Self { stream: Arc::clone(stream), address, bytes, owner: Owner::Another }
    }

    /// Where it begins; 0 when it is empty.
    pub(crate) fn address(&self) -> ffi::Address {
        self.address
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// Says what findings call it, where kernels are executed in this process.
    #[cfg_attr(not(feature = "emulated"), expect(unused_variables, reason = "a GPU has no findings"))]
    pub(crate) fn name(&self, name: &str) {
        #[cfg(feature = "emulated")]
        if self.stream.context.is_emulated_here() {
            tilewright_driver::name_memory(self.address, name);
        }
    }

    /// Fills it with zero bytes.
    pub(crate) fn clear(&self) -> Result<(), Error> {
        if self.bytes == 0 {
            return Ok(());
        }
        let entered = self.stream.context.enter()?;
        // SAFETY: the range is this allocation.
        let code =
            unsafe { (entered.functions.cuMemsetD8Async)(self.address, 0, self.bytes, self.stream.handle()) };
        self.stream.context.check(code, || format!("clearing {} bytes", self.bytes))
    }

    /// Copies from the host to the beginning, and returns when the source has been read. Work in the stream from now on finds the bytes.
    ///
    /// # Safety
    /// `bytes` bytes from `source` on must be readable, and `bytes` at most the size of this memory.
    pub(crate) unsafe fn write_raw(&self, source: *const c_void, bytes: usize) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        let Self { stream, address, .. } = self;
        if !self.is_page_locked(source)? {
            // SAFETY: the caller's promise; this memory is freed behind the work in its stream.
            return unsafe { stream.copy_up(*address, source.cast(), bytes) };
        }
        let entered = stream.context.enter()?;
        // SAFETY: the caller's promise; the source is not needed after `synchronize`.
        let code =
            unsafe { (entered.functions.cuMemcpyHtoDAsync_v2)(*address, source, bytes, stream.handle()) };
        stream.context.check(code, || format!("copying {bytes} bytes to the device"))?;
        stream.synchronize()
    }

    /// Copies the beginning to the host, and waits.
    ///
    /// # Safety
    /// `bytes` bytes from `target` on must be writable, `bytes` at most the size of this memory, and the device's bytes valid
    /// for whatever type they are read as.
    pub(crate) unsafe fn read_raw(&self, target: *mut c_void, bytes: usize) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        let Self { stream, address, .. } = self;
        if !self.is_page_locked(target)? {
            // SAFETY: the caller's promise.
            return unsafe { stream.copy_down(target.cast(), *address, bytes) };
        }
        let entered = stream.context.enter()?;
        // SAFETY: as above.
        let code =
            unsafe { (entered.functions.cuMemcpyDtoHAsync_v2)(target, *address, bytes, stream.handle()) };
        stream.context.check(code, || format!("copying {bytes} bytes from the device"))?;
        stream.synchronize()
    }

    /// Whether the device copies from and to an address of the host at the full rate: that of page-locked memory.
    fn is_page_locked(&self, host: *const c_void) -> Result<bool, Error> {
        let (mut kind, entered) = (0_u32, self.stream.context.enter()?);
        // SAFETY: the pointer is valid for a write; an address that the driver does not know is an error, and means pageable memory.
        let code = unsafe {
            (entered.functions.cuPointerGetAttribute)(
                (&raw mut kind).cast(),
                ffi::POINTER_MEMORY_TYPE,
                host.addr() as ffi::Address,
            )
        };
        Ok(code == 0 && kind == ffi::HOST as u32)
    }

    /// Copies rows of `width` bytes that lie `pitch` bytes apart on the host and without gaps here, and waits.
    ///
    /// # Safety
    /// For [`Direction::ToDevice`] each row must be readable, for [`Direction::ToHost`] writable and the bytes valid; the rows
    /// must fit this memory.
    pub(crate) unsafe fn copy_rows(
        &self,
        direction: Direction,
        host: *mut c_void,
        (width, height, pitch): (usize, usize, usize),
    ) -> Result<(), Error> {
        let there = ffi::Side { memory: ffi::DEVICE, host, device: self.address, pitch: width };
        let here = ffi::Side { memory: ffi::HOST, device: 0, pitch, ..there };
        // SAFETY: the caller's promise.
        unsafe { self.copy_between(direction, [here, there], (width, height)) }
    }

    /// Copies lines of `width` bytes without gaps on the host, which begin `offset` bytes behind the beginning here and lie `pitch` bytes
    /// apart, and waits.
    ///
    /// # Safety
    /// As [`DeviceMemory::copy_rows`].
    pub(crate) unsafe fn copy_lines(
        &self,
        direction: Direction,
        host: *mut c_void,
        (offset, pitch): (usize, usize),
        (width, height): (usize, usize),
    ) -> Result<(), Error> {
        let device = self.address + offset as ffi::Address;
        let there = ffi::Side { memory: ffi::DEVICE, host, device, pitch };
        let here = ffi::Side { memory: ffi::HOST, device: 0, pitch: width, ..there };
        // SAFETY: the caller's promise.
        unsafe { self.copy_between(direction, [here, there], (width, height)) }
    }

    /// # Safety
    /// Rows of `width` bytes must be readable and writable on either side.
    unsafe fn copy_between(
        &self,
        direction: Direction,
        [here, there]: [ffi::Side; 2],
        (width, height): (usize, usize),
    ) -> Result<(), Error> {
        let copy = match direction {
            Direction::ToDevice => ffi::rows(here, there, width, height),
            Direction::ToHost => ffi::rows(there, here, width, height),
        };
        let entered = self.stream.context.enter()?;
        // SAFETY: the caller's promise; host memory is not needed after `synchronize`.
        let code = unsafe { (entered.functions.cuMemcpy2DAsync_v2)(&copy, self.stream.handle()) };
        self.stream.context.check(code, || format!("copying {height} rows of {width} bytes"))?;
        self.stream.synchronize()
    }
}

/// Which way a copy goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    ToDevice,
    ToHost,
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if self.address == 0 || self.owner == Owner::Another {
            return;
        }
        let context = &self.stream.context;
        let order = match self.owner {
            // Work in the stream may still use it: what comes later may have it, but nobody else before that has ended.
            Owner::This(room) if lock(&self.stream.kept).keep(self.address, room) => return,
            Owner::This(_) if context.allocation == Allocation::Immediate => {
                let _ = self.stream.synchronize();
                None
            }
            Owner::Pool(order) => Some(order),
            _ => Some(self.stream.handle()),
        };
        let Ok(entered) = context.enter() else { return };
        // SAFETY: allocated in `new_in`. Nothing uses it any more, or nothing that is behind it in the stream, which is there.
        unsafe {
            match order {
                Some(order) => (entered.functions.cuMemFreeAsync)(self.address, order),
                None => (entered.functions.cuMemFree_v2)(self.address),
            }
        };
    }
}

/// Whether a block for work in a stream is kept by it: a pool of the driver takes some microseconds to give and to take. Where kernels are executed here, a block ends where
/// it was said to end, and holds nothing before it is written.
fn keeps(stream: &Stream, order: ffi::Stream) -> bool {
    #[cfg(feature = "emulated")]
    if stream.context.is_emulated_here() {
        return false;
    }
    order == stream.handle()
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Page-locked memory of the host, which the device copies from and to at the full rate of the bus.
///
/// It reads and writes like a slice; give it to `MatRef::new` or `MatMut::new`.
#[derive(Debug)]
pub struct Pinned<T: Element> {
    stream: Arc<Stream>,
    data: NonNull<T>,
    length: usize,
}

// SAFETY: plain memory that belongs to this value alone.
unsafe impl<T: Element> Send for Pinned<T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for Pinned<T> {}

impl<T: Element> Pinned<T> {
    pub(crate) fn new(stream: &Arc<Stream>, length: usize) -> Result<Self, Error> {
        let mut data = ptr::null_mut();
        let bytes = length.checked_mul(size_of::<T>()).ok_or(too_large(length))?;
        if bytes == 0 {
            return Ok(Self { stream: Arc::clone(stream), data: NonNull::dangling(), length });
        }
        let entered = stream.context.enter()?;
        // SAFETY: the pointer is valid for a write.
        let code =
            unsafe { (entered.functions.cuMemHostAlloc)(&mut data, bytes, ffi::HOST_ALLOCATION_PORTABLE) };
        if code == ffi::OUT_OF_MEMORY {
            return Err(too_large(bytes).into());
        }
        stream.context.check(code, || format!("page-locking {bytes} bytes"))?;
        let data = NonNull::new(data.cast::<T>()).ok_or(too_large(bytes))?;
        // SAFETY: freshly allocated, large enough and aligned to a page; zero bytes are a value of every element type.
        unsafe { data.write_bytes(0, length) };
        Ok(Self { stream: Arc::clone(stream), data, length })
    }
}

fn too_large(bytes: usize) -> ErrorKind {
    ErrorKind::OutOfMemory { what: "page-locked memory", bytes: bytes as u64 }
}

impl<T: Element> std::ops::Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `length` initialised elements that live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.length) }
    }
}

impl<T: Element> std::ops::DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.length) }
    }
}

impl<T: Element> Drop for Pinned<T> {
    fn drop(&mut self) {
        if self.length == 0 {
            return;
        }
        if let Ok(entered) = self.stream.context.enter() {
            // SAFETY: allocated in `new`. Copies wait, so that none is under way.
            unsafe { (entered.functions.cuMemFreeHost)(self.data.as_ptr().cast()) };
        }
    }
}
