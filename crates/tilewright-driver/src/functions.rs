//! The functions, by their C names. This list is all that says which there are.

mod lookup;

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::abi::*;
use crate::call::{Pointer, guard, initialised};
use crate::launch::Extent;
use crate::missing::MISSING;
use crate::module::{JitOptions, kernel};
use crate::peer::Side;
use crate::tensor_map::{Pixels, Tensor};
use crate::{
    context, copy, event, host, init, launch, link, memory, module, occupancy, peer, pool, primary, stream,
    tensor_map, texture,
};
use tilewright_arch::{Blocks, GridLaunch};

/// Applies a macro to all functions: `name(argument: type, ...) = what it does;`.
#[macro_export]
#[doc(hidden)]
macro_rules! for_each_function {
    ($apply:ident) => {
        $apply! {
            // The driver and its devices.
            cuInit(flags: c_uint) = init::initialise(flags);
            cuDriverGetVersion(out: *mut c_int) = init::version(out);
            cuGetErrorName(code: c_int, out: *mut *const c_char) = init::error_name(code, out);
            cuGetErrorString(code: c_int, out: *mut *const c_char) = init::error_text(code, out);
            cuGetProcAddress(name: *const c_char, out: *mut *const c_void, version: c_int, flags: u64) = lookup::address(name, out, version, flags, std::ptr::null_mut());
            cuGetProcAddress_v2(name: *const c_char, out: *mut *const c_void, version: c_int, flags: u64, status: *mut c_int) = lookup::address(name, out, version, flags, status);
            cuDeviceGetCount(out: *mut c_int) = init::device_count(out);
            cuDeviceGet(out: *mut Ordinal, ordinal: c_int) = init::device(out, ordinal);
            cuDeviceGetName(out: *mut c_char, room: c_int, device: Ordinal) = init::device_name(out, room, device);
            cuDeviceGetAttribute(out: *mut c_int, which: c_int, device: Ordinal) = init::device_attribute(out, which, device);
            cuDeviceGetPCIBusId(out: *mut c_char, room: c_int, device: Ordinal) = init::bus_id(out, room, device);
            cuDeviceGetByPCIBusId(out: *mut Ordinal, name: *const c_char) = init::by_bus_id(out, name);
            cuDeviceTotalMem_v2(out: *mut usize, device: Ordinal) = init::total_memory(out, device);
            cuDeviceGetUuid(out: *mut Uuid, device: Ordinal) = init::uuid(out, device);
            cuDeviceGetUuid_v2(out: *mut Uuid, device: Ordinal) = init::uuid(out, device);
            cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: Ordinal) = init::capability(major, minor, device);
            cuDeviceCanAccessPeer(out: *mut c_int, device: Ordinal, peer: Ordinal) = peer::can_access(out, device, peer);
            cuDeviceGetP2PAttribute(out: *mut c_int, _which: c_int, device: Ordinal, peer: Ordinal) = peer::can_access(out, device, peer);
            cuGetExportTable(out: *mut *const c_void, _table: *const Uuid) = init::export_table(out);
            cuProfilerStart() = initialised();
            cuProfilerStop() = initialised();

            // Contexts.
            cuDevicePrimaryCtxRetain(out: *mut Handle, device: Ordinal) = primary::retain(out, device);
            cuDevicePrimaryCtxRelease(device: Ordinal) = primary::release(device);
            cuDevicePrimaryCtxRelease_v2(device: Ordinal) = primary::release(device);
            cuDevicePrimaryCtxReset(device: Ordinal) = primary::reset(device);
            cuDevicePrimaryCtxReset_v2(device: Ordinal) = primary::reset(device);
            cuDevicePrimaryCtxSetFlags(device: Ordinal, flags: c_uint) = primary::set_flags(device, flags);
            cuDevicePrimaryCtxSetFlags_v2(device: Ordinal, flags: c_uint) = primary::set_flags(device, flags);
            cuDevicePrimaryCtxGetState(device: Ordinal, flags: *mut c_uint, active: *mut c_int) = primary::state(device, flags, active);
            cuCtxCreate_v2(out: *mut Handle, flags: c_uint, device: Ordinal) = context::create(out, flags, device);
            cuCtxCreate_v3(out: *mut Handle, _affinities: *mut c_void, _count: c_int, flags: c_uint, device: Ordinal) = context::create(out, flags, device);
            cuCtxCreate_v4(out: *mut Handle, _parameters: *mut c_void, flags: c_uint, device: Ordinal) = context::create(out, flags, device);
            cuCtxDestroy_v2(context: Handle) = context::destroy(context);
            cuCtxDetach(context: Handle) = context::destroy(context);
            cuCtxPushCurrent_v2(context: Handle) = context::push_current(context);
            cuCtxPopCurrent_v2(out: *mut Handle) = context::pop_current(out);
            cuCtxSetCurrent(context: Handle) = context::set_current(context);
            cuCtxGetCurrent(out: *mut Handle) = context::get_current(out);
            cuCtxGetDevice(out: *mut Ordinal) = context::get_device(out);
            cuCtxGetId(context: Handle, out: *mut u64) = context::get_id(context, out);
            cuCtxGetApiVersion(context: Handle, out: *mut c_uint) = context::get_api_version(context, out);
            cuCtxGetFlags(out: *mut c_uint) = context::get_flags(out);
            cuCtxSetFlags(flags: c_uint) = context::set_flags(flags);
            cuCtxSynchronize() = context::synchronize();
            cuCtxGetLimit(out: *mut usize, which: c_int) = context::get_limit(out, which);
            cuCtxSetLimit(which: c_int, value: usize) = context::set_limit(which, value);
            cuCtxGetCacheConfig(out: *mut c_int) = context::get_cache_config(out);
            cuCtxSetCacheConfig(config: c_int) = context::set_cache_config(config);
            cuCtxGetSharedMemConfig(out: *mut c_int) = context::get_shared_config(out);
            cuCtxSetSharedMemConfig(_config: c_int) = context::nothing();
            cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) = context::get_priority_range(least, greatest);
            cuCtxResetPersistingL2Cache() = context::nothing();
            cuCtxEnablePeerAccess(peer: Handle, flags: c_uint) = peer::enable_access(peer, flags);
            cuCtxDisablePeerAccess(peer: Handle) = peer::disable_access(peer);

            // Memory.
            cuMemGetInfo_v2(free: *mut usize, total: *mut usize) = memory::get_info(free, total);
            cuMemAlloc_v2(out: *mut Address, bytes: usize) = memory::allocate(out, bytes);
            cuMemAllocPitch_v2(out: *mut Address, pitch: *mut usize, width: usize, height: usize, element: c_uint) = memory::allocate_pitch(out, pitch, width, height, element);
            cuMemFree_v2(address: Address) = context::synchronize().and_then(|()| memory::free(address));
            cuMemGetAddressRange_v2(start: *mut Address, bytes: *mut usize, address: Address) = memory::get_range(start, bytes, address);
            cuPointerGetAttribute(out: *mut c_void, which: c_int, address: Address) = memory::pointer_attribute(out.cast(), which, address);
            cuPointerGetAttributes(count: c_uint, which: *const c_int, out: *const *mut c_void, address: Address) = memory::pointer_attributes(count, which, out.cast(), address);
            cuMemHostAlloc(out: *mut *mut c_void, bytes: usize, flags: c_uint) = host::allocate_pinned(out, bytes, flags);
            cuMemAllocHost_v2(out: *mut *mut c_void, bytes: usize) = host::allocate_pinned(out, bytes, 0);
            cuMemFreeHost(pointer: *mut c_void) = host::free_pinned(pointer);
            cuMemHostGetDevicePointer_v2(out: *mut Address, pointer: *mut c_void, flags: c_uint) = host::device_pointer(out, pointer, flags);
            cuMemHostGetFlags(out: *mut c_uint, pointer: *mut c_void) = host::get_flags(out, pointer);
            cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: c_uint) = host::register(pointer, bytes, flags);
            cuMemHostUnregister(pointer: *mut c_void) = host::unregister(pointer);
            cuMemAllocManaged(out: *mut Address, bytes: usize, flags: c_uint) = host::allocate_managed(out, bytes, flags);
            cuMemAdvise(address: Address, bytes: usize, _advice: c_int, _device: Ordinal) = memory::advise(address, bytes);
            cuMemPrefetchAsync(address: Address, bytes: usize, _device: Ordinal, stream: Handle) = stream::check(stream).and_then(|()| memory::advise(address, bytes));
            // A location has eight bytes and is passed as one number.
            cuMemAdvise_v2(address: Address, bytes: usize, _advice: c_int, _location: u64) = memory::advise(address, bytes);
            cuMemPrefetchAsync_v2(address: Address, bytes: usize, _location: u64, _flags: c_uint, stream: Handle) = stream::check(stream).and_then(|()| memory::advise(address, bytes));

            // Copies.
            cuMemcpy(to: Address, from: Address, bytes: usize) = context::synchronize().and_then(|()| copy::anywhere(to, from, bytes));
            cuMemcpyAsync(to: Address, from: Address, bytes: usize, stream: Handle) = copy::anywhere_async(to, from, bytes, stream);
            cuMemcpyPeer(to: Address, to_context: Handle, from: Address, from_context: Handle, bytes: usize) = context::synchronize().and_then(|()| peer::copy(Side { address: to, context: to_context }, Side { address: from, context: from_context }, bytes));
            cuMemcpyPeerAsync(to: Address, to_context: Handle, from: Address, from_context: Handle, bytes: usize, stream: Handle) = peer::copy_async(Side { address: to, context: to_context }, Side { address: from, context: from_context }, bytes, stream);
            cuMemcpyHtoD_v2(to: Address, from: *const c_void, bytes: usize) = context::synchronize().and_then(|()| copy::to_device(to, from, bytes));
            cuMemcpyHtoDAsync_v2(to: Address, from: *const c_void, bytes: usize, stream: Handle) = copy::to_device_async(to, from, bytes, stream);
            cuMemcpyDtoH_v2(to: *mut c_void, from: Address, bytes: usize) = context::synchronize().and_then(|()| copy::to_host(to, from, bytes));
            cuMemcpyDtoHAsync_v2(to: *mut c_void, from: Address, bytes: usize, stream: Handle) = copy::to_host_async(to, from, bytes, stream);
            cuMemcpyDtoD_v2(to: Address, from: Address, bytes: usize) = context::synchronize().and_then(|()| copy::on_device(to, from, bytes));
            cuMemcpyDtoDAsync_v2(to: Address, from: Address, bytes: usize, stream: Handle) = copy::on_device_async(to, from, bytes, stream);
            cuMemcpy2D_v2(rows: *const Copy2d) = context::synchronize().and_then(|()| copy::rows(rows));
            cuMemcpy2DUnaligned_v2(rows: *const Copy2d) = context::synchronize().and_then(|()| copy::rows(rows));
            cuMemcpy2DAsync_v2(rows: *const Copy2d, stream: Handle) = copy::rows_async(rows, stream);
            cuMemcpy3D_v2(slices: *const Copy3d) = context::synchronize().and_then(|()| copy::slices(slices));
            cuMemcpy3DAsync_v2(slices: *const Copy3d, stream: Handle) = copy::slices_async(slices, stream);
            cuMemsetD8_v2(to: Address, value: u8, count: usize) = copy::fill(to, value.to_ne_bytes(), count);
            cuMemsetD16_v2(to: Address, value: u16, count: usize) = copy::fill(to, value.to_ne_bytes(), count);
            cuMemsetD32_v2(to: Address, value: c_uint, count: usize) = copy::fill(to, value.to_ne_bytes(), count);
            cuMemsetD8Async(to: Address, value: u8, count: usize, stream: Handle) = copy::fill_async(to, value.to_ne_bytes(), count, stream);
            cuMemsetD16Async(to: Address, value: u16, count: usize, stream: Handle) = copy::fill_async(to, value.to_ne_bytes(), count, stream);
            cuMemsetD32Async(to: Address, value: c_uint, count: usize, stream: Handle) = copy::fill_async(to, value.to_ne_bytes(), count, stream);
            cuMemsetD2D8_v2(to: Address, pitch: usize, value: u8, width: usize, height: usize) = copy::fill_rows(to, pitch, value.to_ne_bytes(), width, height);
            cuMemsetD2D16_v2(to: Address, pitch: usize, value: u16, width: usize, height: usize) = copy::fill_rows(to, pitch, value.to_ne_bytes(), width, height);
            cuMemsetD2D32_v2(to: Address, pitch: usize, value: c_uint, width: usize, height: usize) = copy::fill_rows(to, pitch, value.to_ne_bytes(), width, height);
            cuMemsetD2D8Async(to: Address, pitch: usize, value: u8, width: usize, height: usize, stream: Handle) = copy::fill_rows_async(to, pitch, value.to_ne_bytes(), width, height, stream);
            cuMemsetD2D16Async(to: Address, pitch: usize, value: u16, width: usize, height: usize, stream: Handle) = copy::fill_rows_async(to, pitch, value.to_ne_bytes(), width, height, stream);
            cuMemsetD2D32Async(to: Address, pitch: usize, value: c_uint, width: usize, height: usize, stream: Handle) = copy::fill_rows_async(to, pitch, value.to_ne_bytes(), width, height, stream);

            // Memory in the order of streams.
            cuMemAllocAsync(out: *mut Address, bytes: usize, stream: Handle) = pool::allocate(out, bytes, stream);
            cuMemAllocFromPoolAsync(out: *mut Address, bytes: usize, pool: Handle, stream: Handle) = pool::allocate_from(out, bytes, pool, stream);
            cuMemFreeAsync(address: Address, stream: Handle) = pool::free(address, stream);
            cuDeviceGetDefaultMemPool(out: *mut Handle, device: Ordinal) = pool::get(out, device);
            cuDeviceGetMemPool(out: *mut Handle, device: Ordinal) = pool::get(out, device);
            cuDeviceSetMemPool(device: Ordinal, pool: Handle) = pool::set(device, pool);
            cuMemPoolCreate(out: *mut Handle, properties: *const c_void) = pool::create(out, properties);
            cuMemPoolDestroy(pool: Handle) = pool::destroy(pool);
            cuMemPoolTrimTo(pool: Handle, keep: usize) = pool::trim(pool, keep);
            cuMemPoolGetAttribute(pool: Handle, which: c_int, out: *mut c_void) = pool::get_attribute(pool, which, out);
            cuMemPoolSetAttribute(pool: Handle, which: c_int, value: *const c_void) = pool::set_attribute(pool, which, value);

            // Streams and events.
            cuStreamCreate(out: *mut Handle, flags: c_uint) = stream::create(out, flags);
            cuStreamCreateWithPriority(out: *mut Handle, flags: c_uint, priority: c_int) = stream::create_with_priority(out, flags, priority);
            cuStreamDestroy_v2(stream: Handle) = stream::destroy(stream);
            cuStreamSynchronize(stream: Handle) = stream::synchronize(stream);
            cuStreamQuery(stream: Handle) = stream::query(stream);
            cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) = event::wait(stream, event, flags);
            cuStreamGetCtx(stream: Handle, out: *mut Handle) = stream::get_context(stream, out);
            cuStreamGetDevice(stream: Handle, out: *mut Ordinal) = stream::get_device(stream, out);
            cuStreamGetId(stream: Handle, out: *mut u64) = stream::get_id(stream, out);
            cuStreamGetFlags(stream: Handle, out: *mut c_uint) = stream::get_flags(stream, out);
            cuStreamGetPriority(stream: Handle, out: *mut c_int) = stream::get_priority(stream, out);
            cuStreamIsCapturing(stream: Handle, out: *mut c_int) = stream::is_capturing(stream, out);
            cuStreamAttachMemAsync(stream: Handle, address: Address, _bytes: usize, _flags: c_uint) = stream::attach_memory(stream, address);
            cuStreamAddCallback(stream: Handle, callback: StreamCallback, data: *mut c_void, _flags: c_uint) = stream::add_callback(stream, callback, data);
            cuLaunchHostFunc(stream: Handle, function: HostFunction, data: *mut c_void) = stream::launch_host_function(stream, function, data);
            cuEventCreate(out: *mut Handle, flags: c_uint) = event::create(out, flags);
            cuEventDestroy_v2(event: Handle) = event::destroy(event);
            cuEventRecord(event: Handle, stream: Handle) = event::record(event, stream);
            cuEventRecordWithFlags(event: Handle, stream: Handle, _flags: c_uint) = event::record(event, stream);
            cuEventQuery(event: Handle) = event::query(event);
            cuEventSynchronize(event: Handle) = event::synchronize(event);
            cuEventElapsedTime(out: *mut f32, start: Handle, end: Handle) = event::elapsed(out, start, end);
            cuEventElapsedTime_v2(out: *mut f32, start: Handle, end: Handle) = event::elapsed(out, start, end);

            // Modules and what is in them.
            cuModuleLoad(out: *mut Handle, path: *const c_char) = module::load_file(out, path);
            cuModuleLoadData(out: *mut Handle, image: *const c_void) = module::load(out, image, JitOptions::NONE);
            cuModuleLoadFatBinary(out: *mut Handle, image: *const c_void) = module::load(out, image, JitOptions::NONE);
            cuModuleLoadDataEx(out: *mut Handle, image: *const c_void, count: c_uint, options: *mut c_uint, values: *mut *mut c_void) = module::load(out, image, JitOptions { count, options, values });
            cuModuleUnload(module: Handle) = module::unload(module);
            cuModuleGetFunction(out: *mut Handle, module: Handle, name: *const c_char) = module::get_function(out, module, name);
            cuModuleGetFunctionCount(out: *mut c_uint, module: Handle) = module::function_count(out, module);
            cuModuleGetGlobal_v2(address: *mut Address, bytes: *mut usize, module: Handle, name: *const c_char) = module::get_global(address, bytes, module, name);
            cuModuleGetLoadingMode(out: *mut c_int) = module::loading_mode(out);
            cuLibraryLoadData(out: *mut Handle, image: *const c_void, options: *mut c_uint, values: *mut *mut c_void, count: c_uint, _library_options: *mut c_uint, _library_values: *mut *mut c_void, _library_count: c_uint) = module::load(out, image, JitOptions { count, options, values });
            cuLibraryLoadFromFile(out: *mut Handle, path: *const c_char, _options: *mut c_uint, _values: *mut *mut c_void, _count: c_uint, _library_options: *mut c_uint, _library_values: *mut *mut c_void, _library_count: c_uint) = module::load_file(out, path);
            cuLibraryUnload(library: Handle) = module::unload(library);
            cuLibraryGetModule(out: *mut Handle, library: Handle) = module::same_module(out, library);
            cuLibraryGetKernel(out: *mut Handle, library: Handle, name: *const c_char) = module::get_function(out, library, name);
            cuLibraryGetKernelCount(out: *mut c_uint, library: Handle) = module::function_count(out, library);
            cuLibraryGetGlobal(address: *mut Address, bytes: *mut usize, library: Handle, name: *const c_char) = module::get_global(address, bytes, library, name);
            cuKernelGetFunction(out: *mut Handle, kernel: Handle) = kernel::same_function(out, kernel);
            cuKernelGetAttribute(out: *mut c_int, which: c_int, kernel: Handle, _device: Ordinal) = kernel::get_attribute(out, which, kernel);
            cuKernelSetAttribute(which: c_int, value: c_int, kernel: Handle, _device: Ordinal) = kernel::set_attribute(kernel, which, value);
            cuKernelGetParamInfo(kernel: Handle, index: usize, offset: *mut usize, bytes: *mut usize) = kernel::parameter(kernel, index, offset, bytes);
            cuFuncGetAttribute(out: *mut c_int, which: c_int, function: Handle) = kernel::get_attribute(out, which, function);
            cuFuncSetAttribute(function: Handle, which: c_int, value: c_int) = kernel::set_attribute(function, which, value);
            cuFuncSetBlockShape(function: Handle, x: c_int, y: c_int, z: c_int) = kernel::set_block_shape(function, [x, y, z]);
            cuFuncSetCacheConfig(function: Handle, config: c_int) = kernel::set_config(function, config);
            cuFuncSetSharedMemConfig(function: Handle, config: c_int) = kernel::set_config(function, config);
            cuFuncGetModule(out: *mut Handle, function: Handle) = kernel::get_module(out, function);
            cuFuncGetName(out: *mut *const c_char, function: Handle) = kernel::get_name(out, function);
            cuKernelGetName(out: *mut *const c_char, kernel: Handle) = kernel::get_name(out, kernel);
            cuFuncGetParamInfo(function: Handle, index: usize, offset: *mut usize, bytes: *mut usize) = kernel::parameter(function, index, offset, bytes);
            cuFuncIsLoaded(out: *mut c_int, function: Handle) = kernel::is_loaded(out, function);
            cuFuncLoad(function: Handle) = kernel::check_function(function);
            cuLinkCreate_v2(_count: c_uint, _options: *mut c_uint, _values: *mut *mut c_void, out: *mut Handle) = link::create(out);
            cuLinkAddData_v2(link: Handle, kind: c_int, data: *mut c_void, bytes: usize, _name: *const c_char, _count: c_uint, _options: *mut c_uint, _values: *mut *mut c_void) = link::add_data(link, kind, data, bytes);
            cuLinkAddFile_v2(link: Handle, kind: c_int, path: *const c_char, _count: c_uint, _options: *mut c_uint, _values: *mut *mut c_void) = link::add_file(link, kind, path);
            cuLinkComplete(link: Handle, out: *mut *mut c_void, bytes: *mut usize) = link::complete(link, out.cast(), bytes);
            cuLinkDestroy(link: Handle) = link::destroy(link);

            // Textures.
            cuTexObjectCreate(out: *mut u64, resource: *const ResourceDescription, texture: *const TextureDescription, view: *const c_void) = texture::create(out, resource, texture, view);
            cuTexObjectDestroy(texture: u64) = texture::destroy(texture);

            // Tensor maps.
            cuTensorMapEncodeTiled(out: *mut c_void, element: c_int, rank: c_uint, address: *mut c_void, extents: *const u64, strides: *const u64, boxes: *const u32, steps: *const u32, interleave: c_int, swizzle: c_int, promotion: c_int, fill: c_int) = tensor_map::encode_tiled(out, &Tensor { element, rank, address, extents, strides, steps, interleave, swizzle, promotion, fill }, boxes);
            cuTensorMapEncodeIm2col(out: *mut c_void, element: c_int, rank: c_uint, address: *mut c_void, extents: *const u64, strides: *const u64, lower: *const c_int, upper: *const c_int, channels: c_uint, pixels: c_uint, steps: *const u32, interleave: c_int, swizzle: c_int, promotion: c_int, fill: c_int) = tensor_map::encode_im2col(out, &Tensor { element, rank, address, extents, strides, steps, interleave, swizzle, promotion, fill }, &Pixels { lower, upper, channels, pixels });
            cuTensorMapReplaceAddress(map: *mut c_void, address: *mut c_void) = tensor_map::replace_address(map, address);

            // Occupancy.
            cuOccupancyMaxActiveBlocksPerMultiprocessor(out: *mut c_int, function: Handle, threads: c_int, dynamic: usize) = occupancy::max_active_blocks(out, function, threads, dynamic);
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out: *mut c_int, function: Handle, threads: c_int, dynamic: usize, flags: c_uint) = occupancy::check_flags(flags).and_then(|()| occupancy::max_active_blocks(out, function, threads, dynamic));
            cuOccupancyMaxPotentialBlockSize(grid: *mut c_int, block: *mut c_int, function: Handle, dynamic_of: BlockToShared, dynamic: usize, most: c_int) = occupancy::max_potential_block_size(grid, block, function, dynamic_of, dynamic, most);
            cuOccupancyMaxPotentialBlockSizeWithFlags(grid: *mut c_int, block: *mut c_int, function: Handle, dynamic_of: BlockToShared, dynamic: usize, most: c_int, flags: c_uint) = occupancy::check_flags(flags).and_then(|()| occupancy::max_potential_block_size(grid, block, function, dynamic_of, dynamic, most));
            cuOccupancyAvailableDynamicSMemPerBlock(out: *mut usize, function: Handle, blocks: c_int, threads: c_int) = occupancy::available_shared(out, function, blocks, threads);
            cuOccupancyMaxActiveClusters(out: *mut c_int, function: Handle, config: *const LaunchConfig) = occupancy::active_clusters(out, function, config);
            cuOccupancyMaxPotentialClusterSize(out: *mut c_int, function: Handle, config: *const LaunchConfig) = occupancy::potential_cluster(out, function, config);

            // Launches.
            cuLaunchKernel(function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, stream: Handle, arguments: *mut *mut c_void, extra: *mut *mut c_void) = launch::launch(function, Extent { shape: GridLaunch { dynamic_shared_memory: shared, blocks: Blocks::Independent, ..GridLaunch::new([gx, gy, gz], [bx, by, bz]) }, stream }, arguments.cast(), extra.cast());
            cuLaunchCooperativeKernel(function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, stream: Handle, arguments: *mut *mut c_void) = launch::launch(function, Extent { shape: GridLaunch { dynamic_shared_memory: shared, blocks: Blocks::Cooperative, ..GridLaunch::new([gx, gy, gz], [bx, by, bz]) }, stream }, arguments.cast(), std::ptr::null());
            cuLaunchKernelEx(config: *const LaunchConfig, function: Handle, arguments: *mut *mut c_void, extra: *mut *mut c_void) = launch::launch_ex(config, function, arguments.cast(), extra.cast());
        }
    };
}

macro_rules! define {
    ($($name:ident($($argument:ident: $type:ty),*) = $call:expr;)*) => {
        /// The functions as they are: what they do is documented in NVIDIA's "CUDA Driver API".
        #[allow(non_snake_case, missing_docs, unused_unsafe, clippy::missing_safety_doc, clippy::too_many_arguments)]
        pub mod api {
            use super::*;

            $(
                pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
                    // SAFETY: the caller's promise: arguments are what the C interface asks for.
                    guard(|| unsafe { $call })
                }
            )*
        }

        /// Their names and addresses.
        pub(crate) static FUNCTIONS: &[(&str, Pointer)] = &[$((stringify!($name), Pointer(api::$name as *const c_void)),)*];
    };
}

for_each_function! { define }

/// The function of this name, as a loader finds it in a library. One that CUDA 13.0 has and this crate has not returns
/// [`Code::NOT_SUPPORTED`](crate::Code::NOT_SUPPORTED); `None` for what CUDA has not.
///
/// It has the signature that NVIDIA's "CUDA Driver API" gives it.
pub fn function(name: &str) -> Option<*const c_void> {
    implemented(name).or_else(|| find(MISSING, name))
}

/// The function of this name, if it does something.
pub(crate) fn implemented(name: &str) -> Option<*const c_void> {
    find(FUNCTIONS, name)
}

fn find(functions: &[(&str, Pointer)], name: &str) -> Option<*const c_void> {
    functions.iter().find(|(known, _)| *known == name).map(|(_, pointer)| pointer.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_is_there_once() {
        let mut names: Vec<_> = FUNCTIONS.iter().chain(MISSING).map(|(name, _)| *name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(function("cuInit").is_some() && function("cuInit_v9").is_none());
    }

    /// What cudarc 0.19 calls, without graphs, captures and memory of other interfaces.
    const CALLED_BY_CUDARC: &str = "
        cuCtxCreate_v3 cuCtxCreate_v4 cuCtxDestroy_v2 cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetLimit
        cuCtxGetStreamPriorityRange cuCtxSetCacheConfig cuCtxSetCurrent cuCtxSetFlags cuCtxSetLimit cuCtxSynchronize
        cuDeviceGet cuDeviceGetAttribute cuDeviceGetCount cuDeviceGetDefaultMemPool cuDeviceGetMemPool
        cuDeviceGetName cuDeviceGetUuid cuDeviceGetUuid_v2 cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxRetain
        cuDeviceSetMemPool cuDeviceTotalMem_v2 cuEventCreate cuEventDestroy_v2 cuEventElapsedTime
        cuEventElapsedTime_v2 cuEventQuery cuEventRecord cuEventSynchronize cuFuncGetAttribute cuFuncSetAttribute
        cuFuncSetCacheConfig cuGetErrorName cuGetErrorString cuInit cuLaunchCooperativeKernel cuLaunchHostFunc
        cuLaunchKernel cuMemAdvise_v2 cuMemAllocAsync cuMemAllocFromPoolAsync cuMemAllocManaged cuMemAlloc_v2
        cuMemFreeAsync cuMemFreeHost cuMemFree_v2 cuMemGetInfo_v2 cuMemHostAlloc cuMemPoolCreate cuMemPoolDestroy
        cuMemPoolGetAttribute cuMemPoolSetAttribute cuMemPoolTrimTo cuMemPrefetchAsync_v2 cuMemcpyDtoDAsync_v2
        cuMemcpyDtoD_v2 cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2 cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemcpyPeerAsync
        cuMemsetD8Async cuMemsetD8_v2 cuModuleGetFunction cuModuleGetGlobal_v2 cuModuleLoad cuModuleLoadData
        cuModuleUnload cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxActiveBlocksPerMultiprocessor
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxActiveClusters
        cuOccupancyMaxPotentialBlockSize cuOccupancyMaxPotentialBlockSizeWithFlags
        cuOccupancyMaxPotentialClusterSize cuProfilerStart cuProfilerStop cuStreamAttachMemAsync cuStreamCreate
        cuStreamCreateWithPriority cuStreamDestroy_v2 cuStreamIsCapturing cuStreamSynchronize cuStreamWaitEvent
    ";

    /// The rest of it.
    const NOT_SUPPORTED: &str = "
        cuDestroyExternalMemory cuExternalMemoryGetMappedBuffer cuGraphDestroy cuGraphExecDestroy
        cuGraphInstantiateWithFlags cuGraphLaunch cuGraphUpload cuImportExternalMemory cuStreamBeginCapture_v2
        cuStreamEndCapture
    ";

    #[test]
    fn what_cudarc_calls_is_there_and_the_rest_says_that_it_is_not() {
        for name in CALLED_BY_CUDARC.split_whitespace() {
            assert!(implemented(name).is_some(), "{name}");
        }
        for name in NOT_SUPPORTED.split_whitespace() {
            assert!(implemented(name).is_none() && function(name).is_some(), "{name}");
        }
        // SAFETY: it takes nothing that is looked at.
        assert_eq!(unsafe { crate::missing_api::cuGraphLaunch() }, crate::Code::NOT_SUPPORTED.0);
    }
}
