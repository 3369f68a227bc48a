//! Memory of the host that the driver has allocated or knows: page-locked, managed, and registered. Kernels reach it at the host's
//! addresses; it lives in this process, so that managed memory never moves.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Mutex;

use memmap2::MmapMut;

use crate::abi::{Address, Handle};
use crate::call::{Call, locked, put};
use crate::code::Code;
use crate::context::Context;
use crate::device;

/// What is known of some memory of the host.
#[derive(Debug)]
struct HostMemory {
    bytes: usize,
    kind: Kind,
    context: Handle,
    flags: c_uint,
    /// The memory itself, unless the program has it.
    _own: Option<MmapMut>,
}

/// Where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pinned,
    Managed,
    Registered,
}

impl Kind {
    /// What findings call it.
    fn name(self) -> &'static str {
        match self {
            Self::Pinned => "page-locked memory of the host",
            Self::Managed => "managed memory",
            Self::Registered => "registered memory of the host",
        }
    }
}

static HOST: Mutex<BTreeMap<usize, HostMemory>> = Mutex::new(BTreeMap::new());

/// Shows memory to the kernels of every device.
fn map(address: usize, bytes: usize, kind: Kind) {
    for device in (0..device::count()).filter_map(|ordinal| device::of(ordinal as c_int).ok()) {
        // SAFETY: it is unmapped before it is given back; of registered memory the program has promised that. Its address is exposed.
        unsafe { device.memory().emulated.map(kind.name(), address as u64, bytes as u64) };
    }
}

fn unmap(address: usize) {
    for device in (0..device::count()).filter_map(|ordinal| device::of(ordinal as c_int).ok()) {
        device.memory().emulated.unmap(address as u64);
    }
}

fn allocate(context: &Context, bytes: usize, kind: Kind, flags: c_uint) -> Result<usize, Code> {
    if bytes == 0 {
        return Err(Code::INVALID_VALUE);
    }
    let mut own = MmapMut::map_anon(bytes).map_err(|_| Code::OUT_OF_MEMORY)?;
    let address = own.as_mut_ptr().expose_provenance();
    map(address, bytes, kind);
    let memory = HostMemory { bytes, kind, context: context.id, flags, _own: Some(own) };
    locked(&HOST).insert(address, memory);
    Ok(address)
}

fn free(address: usize, kind: Kind) -> Call {
    if locked(&HOST).get(&address).is_none_or(|memory| memory.kind != kind) {
        return Err(Code::INVALID_VALUE);
    }
    // Waits for kernels that may use it.
    unmap(address);
    locked(&HOST).remove(&address);
    Ok(())
}

/// The start and the bytes of known memory that holds an address.
pub(crate) fn range(address: Address) -> Option<(Address, u64)> {
    known(address).map(|(_, start, bytes, _)| (start, bytes))
}

/// The context, the start, the bytes, and whether it is managed, of known memory that holds an address.
pub(crate) fn known(address: Address) -> Option<(Handle, Address, u64, bool)> {
    let host = locked(&HOST);
    let (&start, memory) = host.range(..=address as usize).next_back()?;
    let is_inside = address as usize - start < memory.bytes;
    is_inside.then_some((memory.context, start as u64, memory.bytes as u64, memory.kind == Kind::Managed))
}

/// `cuMemFree` of managed memory.
pub(crate) fn free_managed(address: Address) -> Call {
    free(address as usize, Kind::Managed)
}

/// `cuMemHostAlloc`.
pub(crate) unsafe fn allocate_pinned(out: *mut *mut c_void, bytes: usize, flags: c_uint) -> Call {
    let context = Context::current()?;
    if out.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let address = allocate(&context, bytes, Kind::Pinned, flags)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, std::ptr::with_exposed_provenance_mut(address)) }
}

/// `cuMemFreeHost`.
pub(crate) fn free_pinned(pointer: *mut c_void) -> Call {
    Context::current()?;
    free(pointer.addr(), Kind::Pinned)
}

/// `cuMemAllocManaged`.
pub(crate) unsafe fn allocate_managed(out: *mut Address, bytes: usize, flags: c_uint) -> Call {
    let context = Context::current()?;
    // Attached to all streams, or to the host until it is attached to one.
    if out.is_null() || !matches!(flags, 1 | 2) {
        return Err(Code::INVALID_VALUE);
    }
    let address = allocate(&context, bytes, Kind::Managed, flags)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, address as u64) }
}

/// `cuMemHostGetDevicePointer`.
pub(crate) unsafe fn device_pointer(out: *mut Address, pointer: *mut c_void, flags: c_uint) -> Call {
    Context::current()?;
    if flags != 0 || range(pointer.addr() as u64).is_none() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    unsafe { put(out, pointer.addr() as u64) }
}

/// `cuMemHostGetFlags`.
pub(crate) unsafe fn get_flags(out: *mut c_uint, pointer: *mut c_void) -> Call {
    Context::current()?;
    let flags = locked(&HOST).get(&pointer.addr()).map(|memory| memory.flags).ok_or(Code::INVALID_VALUE)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, flags) }
}

/// `cuMemHostRegister`.
pub(crate) fn register(pointer: *mut c_void, bytes: usize, flags: c_uint) -> Call {
    let context = Context::current()?;
    let address = pointer.expose_provenance();
    let end = address.checked_add(bytes).filter(|_| address != 0 && bytes > 0).ok_or(Code::INVALID_VALUE)?;
    let mut host = locked(&HOST);
    let before = host.range(..end).next_back().is_some_and(|(&start, memory)| start + memory.bytes > address);
    if before {
        return Err(Code::HOST_MEMORY_ALREADY_REGISTERED);
    }
    let kind = Kind::Registered;
    host.insert(address, HostMemory { bytes, kind, context: context.id, flags, _own: None });
    drop(host);
    map(address, bytes, kind);
    Ok(())
}

/// `cuMemHostUnregister`.
pub(crate) fn unregister(pointer: *mut c_void) -> Call {
    Context::current()?;
    free(pointer.addr(), Kind::Registered).map_err(|_| Code::HOST_MEMORY_NOT_REGISTERED)
}
