//! The C types of the driver's functions, as `cuda.h` has them.
#![allow(missing_docs, reason = "the names are those of the C interface")]

use std::ffi::{c_int, c_uint, c_void};

/// A handle of an object: contexts, modules, functions, streams, events. To a program it is an opaque pointer.
pub type Handle = usize;
/// `CUdevice`.
pub type Ordinal = c_int;
/// `CUdeviceptr`.
pub type Address = u64;
/// `CUoccupancyB2DSize`.
pub type BlockToShared = Option<unsafe extern "C" fn(c_int) -> usize>;
/// `CUhostFn`.
pub type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;
/// `CUstreamCallback`.
pub type StreamCallback = Option<unsafe extern "C" fn(Handle, c_int, *mut c_void)>;

/// `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`; the null stream is the first of them.
pub const STREAM_LEGACY: Handle = 1;
pub const STREAM_PER_THREAD: Handle = 2;

pub const MEMORY_HOST: c_int = 1;
pub const MEMORY_DEVICE: c_int = 2;
pub const MEMORY_ARRAY: c_int = 3;
pub const MEMORY_UNIFIED: c_int = 4;

pub const RESOURCE_LINEAR: c_int = 2;
pub const RESOURCE_PITCH2D: c_int = 3;

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy2d {
    pub src_x: usize,
    pub src_y: usize,
    pub src_type: c_int,
    pub src_host: *const c_void,
    pub src_device: Address,
    pub src_array: Handle,
    pub src_pitch: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_type: c_int,
    pub dst_host: *mut c_void,
    pub dst_device: Address,
    pub dst_array: Handle,
    pub dst_pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy3d {
    pub src_x: usize,
    pub src_y: usize,
    pub src_z: usize,
    pub src_lod: usize,
    pub src_type: c_int,
    pub src_host: *const c_void,
    pub src_device: Address,
    pub src_array: Handle,
    pub reserved0: *mut c_void,
    pub src_pitch: usize,
    pub src_height: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_z: usize,
    pub dst_lod: usize,
    pub dst_type: c_int,
    pub dst_host: *mut c_void,
    pub dst_device: Address,
    pub dst_array: Handle,
    pub reserved1: *mut c_void,
    pub dst_pitch: usize,
    pub dst_height: usize,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// One slice.
impl From<Copy2d> for Copy3d {
    fn from(rows: Copy2d) -> Self {
        Self {
            src_x: rows.src_x,
            src_y: rows.src_y,
            src_z: 0,
            src_lod: 0,
            src_type: rows.src_type,
            src_host: rows.src_host,
            src_device: rows.src_device,
            src_array: rows.src_array,
            reserved0: std::ptr::null_mut(),
            src_pitch: rows.src_pitch,
            src_height: 0,
            dst_x: rows.dst_x,
            dst_y: rows.dst_y,
            dst_z: 0,
            dst_lod: 0,
            dst_type: rows.dst_type,
            dst_host: rows.dst_host,
            dst_device: rows.dst_device,
            dst_array: rows.dst_array,
            reserved1: std::ptr::null_mut(),
            dst_pitch: rows.dst_pitch,
            dst_height: 0,
            width: rows.width,
            height: rows.height,
            depth: 1,
        }
    }
}

/// `CUDA_RESOURCE_DESC` of linear and pitched memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ResourceDescription {
    pub kind: c_int,
    pub resource: Resource,
    pub flags: c_uint,
}

/// What it describes.
#[repr(C)]
#[derive(Clone, Copy)]
pub union Resource {
    pub linear: Linear,
    pub pitched: Pitched,
    pub reserved: [c_int; 32],
}

/// Memory that is fetched by index.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    pub address: Address,
    pub format: c_int,
    pub channels: c_uint,
    pub bytes: usize,
}

/// Rows of texels.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pitched {
    pub address: Address,
    pub format: c_int,
    pub channels: c_uint,
    pub width: usize,
    pub height: usize,
    pub pitch: usize,
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TextureDescription {
    pub address_mode: [c_int; 3],
    pub filter_mode: c_int,
    pub flags: c_uint,
    pub max_anisotropy: c_uint,
    pub mipmap_filter_mode: c_int,
    pub mipmap_level_bias: f32,
    pub min_mipmap_level_clamp: f32,
    pub max_mipmap_level_clamp: f32,
    pub border_color: [f32; 4],
    pub reserved: [c_int; 12],
}

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared: c_uint,
    pub stream: Handle,
    pub attributes: *const LaunchAttribute,
    pub attribute_count: c_uint,
}

/// `CUlaunchAttribute`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaunchAttribute {
    pub id: c_int,
    pub padding: [u8; 4],
    pub value: AttributeValue,
}

/// Its value: 64 bytes, the first of which are a number or three.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct AttributeValue {
    pub words: [c_uint; 16],
}

pub const ATTRIBUTE_COOPERATIVE: c_int = 2;
pub const ATTRIBUTE_CLUSTER: c_int = 4;

/// `CUuuid`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Uuid {
    pub bytes: [u8; 16],
}
