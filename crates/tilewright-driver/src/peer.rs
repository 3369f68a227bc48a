//! Devices among each other: copies between their contexts. Kernels reach the memory of their own device alone, and the driver says so.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use tilewright_emulator::Context as Emulated;

use crate::abi::{Address, Handle, Ordinal};
use crate::call::{Call, initialised, put};
use crate::code::Code;
use crate::context::Context;
use crate::{copy, device, objects, stream};

/// `cuDeviceCanAccessPeer` and `cuDeviceGetP2PAttribute`: by copies alone, as between GPUs without a link.
pub(crate) unsafe fn can_access(out: *mut c_int, ordinal: Ordinal, peer: Ordinal) -> Call {
    initialised()?;
    device::of(ordinal)?;
    device::of(peer)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, 0) }
}

/// `cuCtxEnablePeerAccess`.
pub(crate) fn enable_access(peer: Handle, flags: c_uint) -> Call {
    other(peer)?;
    Err(if flags == 0 { Code::PEER_ACCESS_UNSUPPORTED } else { Code::INVALID_VALUE })
}

/// `cuCtxDisablePeerAccess`.
pub(crate) fn disable_access(peer: Handle) -> Call {
    other(peer)?;
    Err(Code::PEER_ACCESS_NOT_ENABLED)
}

/// A context that is not this thread's.
fn other(peer: Handle) -> Result<Arc<Context>, Code> {
    let current = Context::current()?;
    let peer = named(peer)?;
    if peer.id == current.id { Err(Code::INVALID_CONTEXT) } else { Ok(peer) }
}

fn named(context: Handle) -> Result<Arc<Context>, Code> {
    let context = objects::get::<Context>(context).map_err(|_| Code::INVALID_CONTEXT)?;
    context.check()?;
    Ok(context)
}

/// One side of a copy: an address, and the context that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub address: Address,
    pub context: Handle,
}

impl Side {
    /// Whether the memory is that of the context's device. Memory of the host is everybody's.
    fn check(self) -> Call {
        let context = named(self.context)?;
        match Emulated::device_of(self.address) {
            Some(number) if number != context.device.ordinal => Err(Code::INVALID_VALUE),
            _ => Ok(()),
        }
    }
}

/// `cuMemcpyPeer`.
pub(crate) unsafe fn copy(to: Side, from: Side, bytes: usize) -> Call {
    to.check()?;
    from.check()?;
    // SAFETY: the caller's promise.
    unsafe { copy::on_device(to.address, from.address, bytes) }
}

/// `cuMemcpyPeerAsync`.
pub(crate) unsafe fn copy_async(to: Side, from: Side, bytes: usize, order: Handle) -> Call {
    stream::check(order)?;
    // SAFETY: the caller's promise.
    unsafe { copy(to, from, bytes) }
}
