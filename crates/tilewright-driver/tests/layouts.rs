//! The types of the C interface lie in memory as those that are generated from NVIDIA's header.
#![allow(clippy::undocumented_unsafe_blocks, reason = "calls of C functions as a program makes them")]

use cudarc::driver::sys;
use std::mem::{offset_of, size_of};
use tilewright_driver::types;

macro_rules! same {
    ($($own:ident = $theirs:ident { $($field:ident = $their_field:ident),* })*) => {$(
        assert_eq!(size_of::<types::$own>(), size_of::<sys::$theirs>(), stringify!($own));
        $(assert_eq!(offset_of!(types::$own, $field), offset_of!(sys::$theirs, $their_field), concat!(stringify!($own), ".", stringify!($field)));)*
    )*};
}

#[test]
fn structures_lie_alike() {
    same! {
        Copy2d = CUDA_MEMCPY2D {
            src_x = srcXInBytes, src_y = srcY, src_type = srcMemoryType, src_host = srcHost, src_device = srcDevice, src_array = srcArray,
            src_pitch = srcPitch, dst_x = dstXInBytes, dst_y = dstY, dst_type = dstMemoryType, dst_host = dstHost, dst_device = dstDevice,
            dst_array = dstArray, dst_pitch = dstPitch, width = WidthInBytes, height = Height
        }
        Copy3d = CUDA_MEMCPY3D {
            src_z = srcZ, src_type = srcMemoryType, src_host = srcHost, src_device = srcDevice, src_pitch = srcPitch, src_height = srcHeight,
            dst_x = dstXInBytes, dst_z = dstZ, dst_type = dstMemoryType, dst_host = dstHost, dst_device = dstDevice, dst_pitch = dstPitch,
            dst_height = dstHeight, width = WidthInBytes, height = Height, depth = Depth
        }
        ResourceDescription = CUDA_RESOURCE_DESC { kind = resType, resource = res, flags = flags }
        TextureDescription = CUDA_TEXTURE_DESC {
            address_mode = addressMode, filter_mode = filterMode, flags = flags, border_color = borderColor
        }
        LaunchConfig = CUlaunchConfig {
            grid = gridDimX, block = blockDimX, shared = sharedMemBytes, stream = hStream, attributes = attrs, attribute_count = numAttrs
        }
        LaunchAttribute = CUlaunchAttribute { id = id, value = value }
        Uuid = CUuuid {}
    }
    assert_eq!(align_of::<types::LaunchAttribute>(), align_of::<sys::CUlaunchAttribute>());
}

#[test]
fn numbers_are_those_of_the_header() {
    assert_eq!(types::MEMORY_UNIFIED, sys::CUmemorytype::CU_MEMORYTYPE_UNIFIED as i32);
    assert_eq!(types::RESOURCE_PITCH2D, sys::CUresourcetype::CU_RESOURCE_TYPE_PITCH2D as i32);
    assert_eq!(
        types::ATTRIBUTE_CLUSTER,
        sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION as i32
    );
    assert_eq!(
        types::ATTRIBUTE_COOPERATIVE,
        sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE as i32
    );
    let codes = [
        (tilewright_driver::Code::ILLEGAL_ADDRESS, sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
        (tilewright_driver::Code::LAUNCH_FAILED, sys::CUresult::CUDA_ERROR_LAUNCH_FAILED),
        (tilewright_driver::Code::NO_BINARY_FOR_GPU, sys::CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU),
        (tilewright_driver::Code::NOT_SUPPORTED, sys::CUresult::CUDA_ERROR_NOT_SUPPORTED),
    ];
    for (own, theirs) in codes {
        assert_eq!(own.0, theirs as i32, "{own}");
    }
}
