//! What fits on a multiprocessor. Registers are an estimate, as PTX does not say them.

use std::ffi::{c_int, c_uint};

use tilewright_arch::clusters::max_active_clusters;
use tilewright_arch::{BlockSize, ClusterLimit, ConfigurationError, LaunchConfig as ArchLaunch, Occupancy};

use crate::abi::{BlockToShared, Handle, LaunchConfig};
use crate::call::{Call, put, take};
use crate::code::Code;
use crate::context::Context;
use crate::launch::Attributes;
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

/// Most blocks of a kernel's clusters.
fn largest_cluster(function: &Function) -> u32 {
    let limits = &function.module.context.device.gpu.limits.max_cluster_size;
    match function.cluster_limit() {
        ClusterLimit::Portable => limits.portable,
        ClusterLimit::NonPortable => limits.non_portable,
    }
}

/// `cuOccupancyMaxActiveClusters`: an upper bound, since which multiprocessors are together differs from chip to chip.
pub(crate) unsafe fn active_clusters(out: *mut c_int, handle: Handle, config: *const LaunchConfig) -> Call {
    // SAFETY: the caller's promise.
    let (function, config, cluster) = unsafe { cluster(handle, config)? };
    let device = &function.module.context.device;
    let size = cluster.unwrap_or([1; 3]).iter().fold(1u32, |all, &extent| all.saturating_mul(extent));
    if size == 0 || size > largest_cluster(&function) {
        return Err(Code::INVALID_CLUSTER_SIZE);
    }
    let threads = config.block.iter().fold(1u32, |all, &extent| all.saturating_mul(extent));
    let blocks = resident(&function, threads, config.shared as usize)?;
    let sms = device.gpu.multiprocessors;
    let clusters = max_active_clusters(blocks, size, sms, sms.div_ceil(SMS_OF_GPC), SMS_OF_GPC);
    // SAFETY: the caller's promise.
    unsafe { put(out, clusters as c_int) }
}

/// `cuOccupancyMaxPotentialClusterSize`: what the kernel may have, if one such block fits on a multiprocessor.
pub(crate) unsafe fn potential_cluster(out: *mut c_int, handle: Handle, config: *const LaunchConfig) -> Call {
    // SAFETY: the caller's promise.
    let (function, config, _) = unsafe { cluster(handle, config)? };
    let threads = config.block.iter().fold(1u32, |all, &extent| all.saturating_mul(extent));
    let blocks = resident(&function, threads, config.shared as usize)?;
    let size = if blocks == 0 { 0 } else { largest_cluster(&function) };
    // SAFETY: the caller's promise.
    unsafe { put(out, size as c_int) }
}

/// Most multiprocessors that a part of a Hopper GPU (GPC) has.
const SMS_OF_GPC: u32 = 18;

/// A kernel, its configuration, and the blocks of its clusters.
unsafe fn cluster(handle: Handle, config: *const LaunchConfig) -> Result<Clustered, Code> {
    Context::current()?;
    let function = objects::get::<Function>(handle)?;
    // SAFETY: the caller's promise.
    let config = unsafe { take(config)? };
    if !function.module.context.device.gpu.has_clusters() {
        return Err(Code::NOT_SUPPORTED);
    }
    // SAFETY: as above.
    let attributes = unsafe { Attributes::of(&config)? };
    Ok((function, config, attributes.cluster))
}

type Clustered = (std::sync::Arc<Function>, LaunchConfig, Option<[u32; 3]>);

/// The flag that asks for a partitioned cache changes nothing.
pub(crate) fn check_flags(flags: c_uint) -> Call {
    if flags > 1 { Err(Code::INVALID_VALUE) } else { Ok(()) }
}
