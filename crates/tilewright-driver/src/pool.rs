//! Memory in the order of streams. Work is done when it is asked for, so that it is memory as any other; pools keep nothing.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use crate::abi::{Address, Handle, Ordinal};
use crate::call::{Call, initialised, put, take};
use crate::code::Code;
use crate::context::Context;
use crate::{device, memory, objects, stream};

/// A pool of a device.
#[derive(Debug)]
pub(crate) struct Pool {
    ordinal: Ordinal,
}

/// The one pool that each device has from the beginning.
fn default_of(ordinal: Ordinal) -> Result<Handle, Code> {
    initialised()?;
    device::of(ordinal)?;
    let pools = objects::all::<Pool>().into_iter().filter(|(_, pool)| pool.ordinal == ordinal);
    Ok(pools.map(|(handle, _)| handle).min().unwrap_or_else(|| {
        let handle = objects::new_handle();
        objects::insert(handle, Arc::new(Pool { ordinal }));
        handle
    }))
}

impl objects::Kind for Pool {
    fn owner(&self) -> Option<Handle> {
        None
    }
}

/// `cuDeviceGetDefaultMemPool` and `cuDeviceGetMemPool`.
pub(crate) unsafe fn get(out: *mut Handle, ordinal: Ordinal) -> Call {
    let handle = default_of(ordinal)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, handle) }
}

/// `cuDeviceSetMemPool`.
pub(crate) fn set(ordinal: Ordinal, pool: Handle) -> Call {
    device::of(ordinal)?;
    objects::get::<Pool>(pool).map(drop)
}

/// `cuMemPoolCreate`: of what it is given, the device counts, which is the last of four numbers.
pub(crate) unsafe fn create(out: *mut Handle, properties: *const c_void) -> Call {
    initialised()?;
    // SAFETY: the caller's promise: a structure of which this is the beginning.
    let [_, _, _, ordinal] = unsafe { take(properties.cast::<[c_int; 4]>()) }?;
    device::of(ordinal)?;
    let handle = objects::new_handle();
    objects::insert(handle, Arc::new(Pool { ordinal }));
    // SAFETY: the caller's promise.
    unsafe { put(out, handle) }
}

/// `cuMemPoolDestroy`.
pub(crate) fn destroy(pool: Handle) -> Call {
    objects::remove::<Pool>(pool).map(drop)
}

/// `cuMemPoolTrimTo`.
pub(crate) fn trim(pool: Handle, _keep: usize) -> Call {
    objects::get::<Pool>(pool).map(drop)
}

/// `cuMemPoolGetAttribute`: three switches, then sizes, all of them zero as nothing is kept.
pub(crate) unsafe fn get_attribute(pool: Handle, which: c_int, out: *mut c_void) -> Call {
    objects::get::<Pool>(pool)?;
    // SAFETY: the caller's promise: there is room for what the attribute is.
    unsafe {
        match which {
            1..=3 => put(out.cast::<c_int>(), 1),
            4..=8 => put(out.cast::<u64>(), 0),
            _ => Err(Code::INVALID_VALUE),
        }
    }
}

/// `cuMemPoolSetAttribute`.
pub(crate) fn set_attribute(pool: Handle, which: c_int, value: *const c_void) -> Call {
    objects::get::<Pool>(pool)?;
    if (1..=8).contains(&which) && !value.is_null() { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

/// `cuMemAllocAsync`.
pub(crate) unsafe fn allocate(out: *mut Address, bytes: usize, order: Handle) -> Call {
    let context = stream::context(order)?;
    if out.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let address = context.device.memory().allocate(context.id, bytes as u64)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, address) }
}

/// `cuMemAllocFromPoolAsync`.
pub(crate) unsafe fn allocate_from(out: *mut Address, bytes: usize, pool: Handle, order: Handle) -> Call {
    objects::get::<Pool>(pool)?;
    // SAFETY: the caller's promise.
    unsafe { allocate(out, bytes, order) }
}

/// `cuMemFreeAsync`.
pub(crate) fn free(address: Address, order: Handle) -> Call {
    stream::check(order)?;
    Context::current()?;
    memory::free(address)
}
