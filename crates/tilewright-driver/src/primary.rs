//! Primary contexts: one of each device, shared by all that create none.

use std::ffi::{c_int, c_uint};

use crate::abi::{Handle, Ordinal};
use crate::call::{Call, initialised, locked, put};
use crate::code::Code;
use crate::context::{Context, Kind};
use crate::{device, objects};

/// `cuDevicePrimaryCtxRetain`.
pub(crate) unsafe fn retain(out: *mut Handle, ordinal: Ordinal) -> Call {
    initialised()?;
    let device = device::of(ordinal)?;
    let mut primary = locked(&device.primary);
    let flags = primary.flags;
    let context =
        *primary.context.get_or_insert_with(|| Context::new(device.clone(), Kind::Primary, flags).id);
    // SAFETY: the caller's promise.
    unsafe { put(out, context) }?;
    primary.claims += 1;
    Ok(())
}

/// `cuDevicePrimaryCtxRelease`.
pub(crate) fn release(ordinal: Ordinal) -> Call {
    initialised()?;
    let device = device::of(ordinal)?;
    let mut primary = locked(&device.primary);
    primary.claims = primary.claims.checked_sub(1).ok_or(Code::INVALID_CONTEXT)?;
    let last = (primary.claims == 0).then(|| primary.context.take()).flatten();
    drop(primary);
    destroy_primary(last)
}

/// `cuDevicePrimaryCtxReset`.
pub(crate) fn reset(ordinal: Ordinal) -> Call {
    initialised()?;
    let device = device::of(ordinal)?;
    let context = locked(&device.primary).context.take();
    destroy_primary(context)
}

/// A primary context is there as long as its device has the handle.
fn destroy_primary(handle: Option<Handle>) -> Call {
    handle.map_or(Ok(()), |handle| objects::get::<Context>(handle).map(|context| context.destroy()))
}

/// `cuDevicePrimaryCtxSetFlags`.
pub(crate) fn set_flags(ordinal: Ordinal, flags: c_uint) -> Call {
    initialised()?;
    let device = device::of(ordinal)?;
    let mut primary = locked(&device.primary);
    primary.flags = flags;
    if let Some(context) = primary.context {
        objects::get::<Context>(context)?.set_flags(flags);
    }
    Ok(())
}

/// `cuDevicePrimaryCtxGetState`.
pub(crate) unsafe fn state(ordinal: Ordinal, flags: *mut c_uint, active: *mut c_int) -> Call {
    initialised()?;
    let device = device::of(ordinal)?;
    let primary = locked(&device.primary);
    // SAFETY: the caller's promise.
    unsafe {
        put(flags, primary.flags)?;
        put(active, primary.context.is_some().into())
    }
}
