//! What fits on a multiprocessor. Registers are an estimate, as PTX does not say them.

use std::ffi::{c_int, c_uint};

use tilewright_arch::{BlockSize, ConfigurationError, LaunchConfig as ArchLaunch, Occupancy};

use crate::abi::{BlockToShared, Handle, LaunchConfig};
use crate::call::{Call, put, take};
use crate::code::Code;
use crate::context::Context;
use crate::module::Function;
use crate::objects;

fn code_of(_: ConfigurationError) -> Code {
    Code::INVALID_VALUE
}

fn positive(number: c_int) -> Result<u32, Code> {
    u32::try_from(number).ok().filter(|&number| number > 0).ok_or(Code::INVALID_VALUE)
}

/// Blocks of a kernel that a multiprocessor holds at once.
fn resident(function: &Function, threads: u32, dynamic: usize) -> Result<u32, Code> {
    let limits = &function.module.context.device.gpu.limits;
    let dynamic = u32::try_from(dynamic).map_err(|_| Code::INVALID_VALUE)?;
    let config = ArchLaunch { dynamic_shared_memory: dynamic, ..ArchLaunch::threads(threads) };
    if threads > function.max_threads() || dynamic > function.max_dynamic_shared() {
        return Ok(0);
    }
    Occupancy::of(limits, &function.resources(), &config).map(|found| found.blocks_per_sm).map_err(code_of)
}

/// `cuOccupancyMaxActiveBlocksPerMultiprocessor`.
pub(crate) unsafe fn max_active_blocks(
    out: *mut c_int,
    handle: Handle,
    threads: c_int,
    dynamic: usize,
) -> Call {
    Context::current()?;
    let blocks = resident(&*objects::get::<Function>(handle)?, positive(threads)?, dynamic)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, blocks as c_int) }
}

/// `cuOccupancyMaxPotentialBlockSize`.
pub(crate) unsafe fn max_potential_block_size(
    grid: *mut c_int,
    block: *mut c_int,
    handle: Handle,
    dynamic_of: BlockToShared,
    dynamic: usize,
    most: c_int,
) -> Call {
    Context::current()?;
    let function = objects::get::<Function>(handle)?;
    let device = &function.module.context.device;
    let most = u32::try_from(most).map_err(|_| Code::INVALID_VALUE)?;
    let most = if most == 0 { u32::MAX } else { most };
    let bytes = |threads: u32| {
        let bytes = match dynamic_of {
            // SAFETY: the caller's promise: a function of the block size.
            Some(function) => unsafe { function(threads as c_int) },
            None => dynamic,
        };
        u32::try_from(bytes).unwrap_or(u32::MAX)
    };
    let launch = ArchLaunch::threads(1);
    let best = BlockSize::best_with(&device.gpu.limits, &function.resources(), &launch, bytes, most);
    let best = best.map_err(code_of)?.ok_or(Code::INVALID_VALUE)?;
    // SAFETY: the caller's promise.
    unsafe {
        put(grid, best.min_grid_size(device.gpu.multiprocessors) as c_int)?;
        put(block, best.threads as c_int)
    }
}

/// `cuOccupancyAvailableDynamicSMemPerBlock`.
pub(crate) unsafe fn available_shared(
    out: *mut usize,
    handle: Handle,
    blocks: c_int,
    threads: c_int,
) -> Call {
    Context::current()?;
    let function = objects::get::<Function>(handle)?;
    let limits = &function.module.context.device.gpu.limits;
    let config = ArchLaunch::threads(positive(threads)?);
    let found =
        Occupancy::available_dynamic_shared_memory(limits, &function.resources(), &config, positive(blocks)?);
    let bytes = found.map_err(code_of)?.ok_or(Code::INVALID_VALUE)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, bytes as usize) }
}

/// `cuOccupancyMaxActiveClusters` and `cuOccupancyMaxPotentialClusterSize`: clusters are not executed.
pub(crate) unsafe fn clusters(out: *mut c_int, handle: Handle, config: *const LaunchConfig) -> Call {
    Context::current()?;
    objects::get::<Function>(handle)?;
    // SAFETY: the caller's promise.
    unsafe { take(config) }?;
    if out.is_null() { Err(Code::INVALID_VALUE) } else { Err(Code::NOT_SUPPORTED) }
}

/// The flag that asks for a partitioned cache changes nothing.
pub(crate) fn check_flags(flags: c_uint) -> Call {
    if flags > 1 { Err(Code::INVALID_VALUE) } else { Ok(()) }
}
