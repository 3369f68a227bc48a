//! The driver. Every function here exists since CUDA 11.8, so that the table is whole or the library is not a driver. Newer
//! ones are optional.

use cudarc::driver::sys;
use std::ffi::{c_char, c_int, c_uint, c_void};
use tilewright_kernels::{Swizzle, TensorElement};

/// `CUresult`; 0 is success.
pub(crate) type Code = c_int;
pub(crate) type Device = sys::CUdevice;
pub(crate) type Context = sys::CUcontext;
pub(crate) type Stream = sys::CUstream;
pub(crate) type Event = sys::CUevent;
pub(crate) type Module = sys::CUmodule;
pub(crate) type Function = sys::CUfunction;
/// A device address.
pub(crate) type Address = sys::CUdeviceptr;
pub(crate) type Texture = sys::CUtexObject;
pub(crate) type Pool = sys::CUmemoryPool;
pub(crate) type Copy2d = sys::CUDA_MEMCPY2D;
pub(crate) type ResourceDescription = sys::CUDA_RESOURCE_DESC;
pub(crate) type TextureDescription = sys::CUDA_TEXTURE_DESC;
pub(crate) type LaunchConfig = sys::CUlaunchConfig;
pub(crate) type LaunchAttribute = sys::CUlaunchAttribute;

pub(crate) const OUT_OF_MEMORY: Code = sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY as Code;
pub(crate) const NOT_READY: Code = sys::CUresult::CUDA_ERROR_NOT_READY as Code;
pub(crate) const NO_DEVICE: Code = sys::CUresult::CUDA_ERROR_NO_DEVICE as Code;
pub(crate) const EVENT_WITHOUT_TIME: c_uint = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as c_uint;
/// Of an address: the number of its device.
pub(crate) const POINTER_DEVICE_ORDINAL: c_int =
    sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL as c_int;
/// Of an address: where its memory is.
pub(crate) const POINTER_MEMORY_TYPE: c_int =
    sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE as c_int;
/// Of a pool: the bytes that it keeps when nobody uses them.
pub(crate) const POOL_KEEPS: c_int = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD as c_int;
pub(crate) const STREAM_NON_BLOCKING: c_uint = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as c_uint;
pub(crate) const HOST_ALLOCATION_PORTABLE: c_uint = sys::CU_MEMHOSTALLOC_PORTABLE;
pub(crate) const HOST: sys::CUmemorytype = sys::CUmemorytype::CU_MEMORYTYPE_HOST;
pub(crate) const DEVICE: sys::CUmemorytype = sys::CUmemorytype::CU_MEMORYTYPE_DEVICE;
pub(crate) const JIT_ERROR_LOG: c_uint = sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER as c_uint;
pub(crate) const JIT_ERROR_LOG_SIZE: c_uint = sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES as c_uint;

/// What a device is asked for.
pub(crate) mod device_attribute {
    use super::sys::CUdevice_attribute as Attribute;
    use std::ffi::c_int;

    pub(crate) const CAPABILITY_MAJOR: c_int =
        Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as c_int;
    pub(crate) const CAPABILITY_MINOR: c_int =
        Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as c_int;
    pub(crate) const MEMORY_POOLS: c_int = Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED as c_int;
    pub(crate) const MULTIPROCESSORS: c_int = Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT as c_int;
    pub(crate) const CLOCK_KHZ: c_int = Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE as c_int;
    pub(crate) const MEMORY_CLOCK_KHZ: c_int = Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE as c_int;
    pub(crate) const MEMORY_BUS_BITS: c_int = Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH as c_int;
    pub(crate) const L2_BYTES: c_int = Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE as c_int;
    pub(crate) const SHARED_PER_MULTIPROCESSOR: c_int =
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR as c_int;
    pub(crate) const SHARED_PER_BLOCK: c_int =
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK as c_int;
    pub(crate) const SHARED_PER_BLOCK_OPT_IN: c_int =
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN as c_int;
    pub(crate) const RESERVED_SHARED: c_int =
        Attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK as c_int;
    pub(crate) const REGISTERS_PER_MULTIPROCESSOR: c_int =
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR as c_int;
    pub(crate) const THREADS_PER_MULTIPROCESSOR: c_int =
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR as c_int;
    pub(crate) const BLOCKS_PER_MULTIPROCESSOR: c_int =
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR as c_int;
}

/// What a compiled kernel is asked for.
pub(crate) mod function_attribute {
    use super::sys::CUfunction_attribute as Attribute;
    use std::ffi::c_int;

    pub(crate) const MAX_THREADS: c_int = Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK as c_int;
    pub(crate) const STATIC_SHARED: c_int = Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES as c_int;
    pub(crate) const CONSTANT: c_int = Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES as c_int;
    pub(crate) const LOCAL: c_int = Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES as c_int;
    pub(crate) const REGISTERS: c_int = Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS as c_int;
    pub(crate) const DYNAMIC_SHARED: c_int =
        Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as c_int;
    pub(crate) const ANY_CLUSTER: c_int =
        Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED as c_int;
}

/// Where the rows of a copy lie: on the host or on the device, as `memory` says, `pitch` bytes apart.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub(crate) memory: sys::CUmemorytype,
    pub(crate) host: *mut c_void,
    pub(crate) device: Address,
    pub(crate) pitch: usize,
}

/// A copy of `height` rows of `width` bytes.
pub(crate) fn rows(from: Side, to: Side, width: usize, height: usize) -> Copy2d {
    Copy2d {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: from.memory,
        srcHost: from.host,
        srcDevice: from.device,
        srcArray: std::ptr::null_mut(),
        srcPitch: from.pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: to.memory,
        dstHost: to.host,
        dstDevice: to.device,
        dstArray: std::ptr::null_mut(),
        dstPitch: to.pitch,
        WidthInBytes: width,
        Height: height,
    }
}

/// A texture over `bytes` bytes of f32 at `address`, fetched by index.
pub(crate) fn linear_texture(address: Address, bytes: usize) -> (ResourceDescription, TextureDescription) {
    // SAFETY: both are plain C structures, for which all zeros is a value: no flags, wrapped addresses, nearest point.
    let (mut resource, texture): (ResourceDescription, TextureDescription) = unsafe { std::mem::zeroed() };
    resource.resType = sys::CUresourcetype::CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = address;
    resource.res.linear.format = sys::CUarray_format::CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = bytes;
    (resource, texture)
}

/// What a tensor map says of its elements, its boxes and its copies.
pub(crate) mod tensor_map {
    use super::{Swizzle, TensorElement, c_uint, sys};

    pub(crate) const NO_INTERLEAVE: c_uint =
        sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE as c_uint;
    /// Bytes that a copy brings into the second-level cache at once.
    pub(crate) const PROMOTE_128_BYTES: c_uint =
        sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B as c_uint;
    pub(crate) const PROMOTE_256_BYTES: c_uint =
        sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B as c_uint;
    pub(crate) const FILL_WITH_ZEROS: c_uint =
        sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE as c_uint;

    pub(crate) fn element(element: TensorElement) -> c_uint {
        use sys::CUtensorMapDataType as D;
        let number = match element {
            TensorElement::U8 => D::CU_TENSOR_MAP_DATA_TYPE_UINT8,
            TensorElement::F16 => D::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
            TensorElement::Bf16 => D::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            TensorElement::F32 => D::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            TensorElement::Tf32 => D::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
            TensorElement::F64 => D::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
            TensorElement::I32 => D::CU_TENSOR_MAP_DATA_TYPE_INT32,
        };
        number as c_uint
    }

    pub(crate) fn swizzle(swizzle: Swizzle) -> c_uint {
        use sys::CUtensorMapSwizzle as S;
        let number = match swizzle {
            Swizzle::None => S::CU_TENSOR_MAP_SWIZZLE_NONE,
            Swizzle::B32 => S::CU_TENSOR_MAP_SWIZZLE_32B,
            Swizzle::B64 => S::CU_TENSOR_MAP_SWIZZLE_64B,
            Swizzle::B128 => S::CU_TENSOR_MAP_SWIZZLE_128B,
        };
        number as c_uint
    }
}

/// Lets a kernel start before the one in front of it in its stream has ended.
pub(crate) fn early_start() -> LaunchAttribute {
    // SAFETY: a plain C structure, for which all zeros is a value.
    let mut attribute: LaunchAttribute = unsafe { std::mem::zeroed() };
    attribute.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    attribute
}

/// All blocks are resident at once, and may wait for each other.
pub(crate) fn cooperative() -> LaunchAttribute {
    // SAFETY: a plain C structure, for which all zeros is a value.
    let mut attribute: LaunchAttribute = unsafe { std::mem::zeroed() };
    attribute.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    attribute
}

/// The blocks of a cluster along x, y and z.
pub(crate) fn cluster(blocks: [u32; 3]) -> LaunchAttribute {
    // SAFETY: a plain C structure, for which all zeros is a value.
    let mut attribute: LaunchAttribute = unsafe { std::mem::zeroed() };
    attribute.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    let [x, y, z] = blocks;
    attribute.value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
    attribute
}

tilewright_toolchain::functions! {
    /// The functions of libcuda that are used here.
    Functions {
        cuInit: fn(c_uint) -> Code;
        cuDriverGetVersion: fn(*mut c_int) -> Code;
        cuGetErrorName: fn(Code, *mut *const c_char) -> Code;
        cuGetErrorString: fn(Code, *mut *const c_char) -> Code;
        cuDeviceGetCount: fn(*mut c_int) -> Code;
        cuDeviceGet: fn(*mut Device, c_int) -> Code;
        cuDeviceGetName: fn(*mut c_char, c_int, Device) -> Code;
        cuDeviceGetAttribute: fn(*mut c_int, c_int, Device) -> Code;
        cuDeviceGetPCIBusId: fn(*mut c_char, c_int, Device) -> Code;
        cuDeviceTotalMem_v2: fn(*mut usize, Device) -> Code;
        cuDevicePrimaryCtxRetain: fn(*mut Context, Device) -> Code;
        cuDevicePrimaryCtxRelease_v2: fn(Device) -> Code;
        cuCtxPushCurrent_v2: fn(Context) -> Code;
        cuCtxPopCurrent_v2: fn(*mut Context) -> Code;
        cuCtxSynchronize: fn() -> Code;
        cuMemGetInfo_v2: fn(*mut usize, *mut usize) -> Code;
        cuMemAlloc_v2: fn(*mut Address, usize) -> Code;
        cuMemFree_v2: fn(Address) -> Code;
        cuPointerGetAttribute: fn(*mut c_void, c_int, Address) -> Code;
        cuMemHostAlloc: fn(*mut *mut c_void, usize, c_uint) -> Code;
        cuMemFreeHost: fn(*mut c_void) -> Code;
        cuMemcpyHtoDAsync_v2: fn(Address, *const c_void, usize, Stream) -> Code;
        cuMemcpyPeerAsync: fn(Address, Context, Address, Context, usize, Stream) -> Code;
        cuMemAllocAsync: fn(*mut Address, usize, Stream) -> Code;
        cuMemFreeAsync: fn(Address, Stream) -> Code;
        cuDeviceGetDefaultMemPool: fn(*mut Pool, Device) -> Code;
        cuMemPoolGetAttribute: fn(Pool, c_int, *mut c_void) -> Code;
        cuMemPoolSetAttribute: fn(Pool, c_int, *const c_void) -> Code;
        cuMemcpyDtoHAsync_v2: fn(*mut c_void, Address, usize, Stream) -> Code;
        cuMemcpy2DAsync_v2: fn(*const Copy2d, Stream) -> Code;
        cuMemsetD8Async: fn(Address, u8, usize, Stream) -> Code;
        cuStreamCreateWithPriority: fn(*mut Stream, c_uint, c_int) -> Code;
        cuStreamSynchronize: fn(Stream) -> Code;
        cuStreamQuery: fn(Stream) -> Code;
        cuStreamIsCapturing: fn(Stream, *mut c_uint) -> Code;
        cuStreamWaitEvent: fn(Stream, Event, c_uint) -> Code;
        cuStreamDestroy_v2: fn(Stream) -> Code;
        cuEventCreate: fn(*mut Event, c_uint) -> Code;
        cuEventRecord: fn(Event, Stream) -> Code;
        cuEventQuery: fn(Event) -> Code;
        cuEventSynchronize: fn(Event) -> Code;
        cuEventElapsedTime: fn(*mut f32, Event, Event) -> Code;
        cuEventDestroy_v2: fn(Event) -> Code;
        cuModuleLoadDataEx: fn(*mut Module, *const c_void, c_uint, *mut c_uint, *mut *mut c_void) -> Code;
        cuModuleUnload: fn(Module) -> Code;
        cuModuleGetFunction: fn(*mut Function, Module, *const c_char) -> Code;
        cuModuleGetGlobal_v2: fn(*mut Address, *mut usize, Module, *const c_char) -> Code;
        cuFuncGetAttribute: fn(*mut c_int, c_int, Function) -> Code;
        cuFuncSetAttribute: fn(Function, c_int, c_int) -> Code;
        cuOccupancyMaxActiveBlocksPerMultiprocessor: fn(*mut c_int, Function, c_int, usize) -> Code;
        cuOccupancyMaxPotentialBlockSize: fn(*mut c_int, *mut c_int, Function, BlockToShared, usize, c_int) -> Code;
        cuOccupancyAvailableDynamicSMemPerBlock: fn(*mut usize, Function, c_int, c_int) -> Code;
        cuTexObjectCreate: fn(*mut Texture, *const ResourceDescription, *const TextureDescription, *const c_void) -> Code;
        cuTexObjectDestroy: fn(Texture) -> Code;
        cuLaunchKernelEx: fn(*const LaunchConfig, Function, *mut *mut c_void, *mut *mut c_void) -> Code;
    }
    optional {
        // Since CUDA 12.0: map; type, rank and address; extents, strides, box and element strides; interleave, swizzle, promotion and fill.
        cuTensorMapEncodeTiled: fn(*mut c_void, c_uint, c_uint, *mut c_void, *const u64, *const u64, *const u32, *const u32, c_uint, c_uint, c_uint, c_uint) -> Code;
    }
}

/// Dynamic shared memory as a function of the block size; none when it does not depend on it.
pub(crate) type BlockToShared = sys::CUoccupancyB2DSize;
