//! Launches that are refused.
#![allow(clippy::undocumented_unsafe_blocks, reason = "calls of C functions as a program makes them")]

use super::works;
use crate::rig::{Rig, allocate, entry, fill, function, is, launch, load, ok};
use std::ffi::c_void;
use std::ptr;
use tilewright_driver::{Code, api::*, failure};

#[test]
fn wrong_arguments_and_extents() {
    let rig = Rig::new();
    let why = || failure(rig.context).expect("a failure").to_string();
    let fill = function(load(&fill()), "fill");
    let array = allocate(128);
    let launch_with = |grid: [u32; 3], block: [u32; 3], shared: u32, arguments: *mut *mut c_void| unsafe {
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        cuLaunchKernel(fill, gx, gy, gz, bx, by, bz, shared, 0, arguments, ptr::null_mut())
    };
    // Too few: the second is null.
    let mut arguments = [ptr::from_ref(&array).cast_mut().cast(), ptr::null_mut()];
    is(launch_with([1; 3], [1; 3], 0, arguments.as_mut_ptr()), Code::INVALID_VALUE);
    is(launch_with([1; 3], [1; 3], 0, ptr::null_mut()), Code::INVALID_VALUE);
    let value = 5_u64;
    arguments[1] = ptr::from_ref(&value).cast_mut().cast();
    for (grid, block) in [
        ([0, 1, 1], [1; 3]),
        ([1, 65536, 1], [1; 3]),
        ([1; 3], [1025, 1, 1]),
        ([1; 3], [1, 1, 65]),
        ([1; 3], [64, 64, 1]),
        ([1; 3], [0, 1, 1]),
        ([u32::MAX, 1, 1], [1; 3]),
    ] {
        is(launch_with(grid, block, 0, arguments.as_mut_ptr()), Code::INVALID_VALUE);
        let (what, [x, y, z]) = if block == [1; 3] { ("grid", grid) } else { ("block", block) };
        assert!(why().contains(&format!("a {what} of {x} x {y} x {z}")), "{}", why());
    }
    // More shared memory than is allowed, then than there is.
    is(launch_with([1; 3], [1; 3], 49 << 10, arguments.as_mut_ptr()), Code::INVALID_VALUE);
    assert!(
        why().contains("50176 bytes of dynamic shared memory")
            && why().contains("cudaFuncAttributeMaxDynamicSharedMemorySize, 50176"),
        "{}",
        why()
    );
    ok(unsafe { cuFuncSetAttribute(fill, 8, 227 << 10) });
    ok(launch_with([1; 3], [1; 3], 227 << 10, arguments.as_mut_ptr()));
    is(unsafe { cuFuncSetAttribute(fill, 8, (227 << 10) + 1) }, Code::INVALID_VALUE);
    is(unsafe { cuFuncSetAttribute(fill, 8, -1) }, Code::INVALID_VALUE);
    is(unsafe { cuFuncSetBlockShape(fill, 32, 1, 1) }, Code::SUCCESS);
    is(unsafe { cuFuncSetBlockShape(fill, 32, 0, 1) }, Code::INVALID_VALUE);
    is(unsafe { cuFuncSetBlockShape(rig.context, 32, 1, 1) }, Code::INVALID_HANDLE);
    works();
    ok(unsafe { cuCtxDetach(rig.context) });
    is(unsafe { cuCtxDetach(rig.context) }, Code::INVALID_CONTEXT);
}

#[test]
fn a_block_that_the_kernel_was_not_compiled_for() {
    let rig = Rig::new();
    let ptx = fill().replace(") {\n", ")\n.maxntid 64, 1, 1\n{\n");
    let fill = function(load(&ptx), "fill");
    let array = allocate(4 * 128);
    is(launch(fill, 1, 65, &[array, 1]), Code::INVALID_VALUE);
    assert!(failure(rig.context).expect("a failure").to_string().contains("launch bounds of 64"));
    ok(launch(fill, 1, 64, &[array, 1]));
}

#[test]
fn a_cooperative_launch_that_does_not_fit() {
    let rig = Rig::of("h200");
    let fill = function(load(&fill()), "fill");
    let array = allocate(4096);
    let (value, mut arguments) = (1_u32, [ptr::null_mut::<c_void>(); 2]);
    arguments[0] = ptr::from_ref(&array).cast_mut().cast();
    arguments[1] = ptr::from_ref(&value).cast_mut().cast();
    let mut launch = |grid| unsafe {
        cuLaunchCooperativeKernel(fill, grid, 1, 1, 1024, 1, 1, 0, 0, arguments.as_mut_ptr())
    };
    is(launch(132 * 2 + 1), Code::COOPERATIVE_LAUNCH_TOO_LARGE);
    assert!(
        failure(rig.context).expect("a failure").to_string().contains("on the GPU at once, which holds 264")
    );
    ok(launch(2));
}

/// The codes are those of an H100 with driver 580.
#[test]
fn a_block_with_more_registers_than_there_are() {
    let rig = Rig::of("h200");
    // 180 values that are alive at the same time.
    let loads: String = (0..180).map(|i| format!("ld.volatile.global.u32 %v{i}, [%rd3];\n")).collect();
    let stores: String = (0..180).map(|i| format!("st.volatile.global.u32 [%rd3], %v{i};\n")).collect();
    let body = format!(
        ".reg .u32 %v<180>;\nld.param.u64 %rd1, [p]; mov.u32 %r2, %tid.x;\n\
         mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n{loads}{stores}"
    );
    let ptx = entry("heavy", ".param .u64 p", &body);
    let heavy = function(load(&ptx), "heavy");
    let array = allocate(4096);
    is(launch(heavy, 1, 1024, &[array]), Code::LAUNCH_OUT_OF_RESOURCES);
    let why = failure(rig.context).expect("a failure").to_string();
    assert!(why.contains("registers") && why.contains("__launch_bounds__(1024)"), "{why}");
    ok(launch(heavy, 1, 256, &[array]));
    // Compiled for such blocks, it is held to what fits.
    let bound = ptx.replace(") {\n", ")\n.maxntid 1024, 1, 1\n{\n");
    ok(launch(function(load(&bound), "heavy"), 1, 1024, &[array]));
    ok(unsafe { cuCtxSynchronize() });
}

#[test]
fn clusters_that_the_device_or_the_kernel_does_not_take() {
    let _rig = Rig::of("h200");
    let ptx = entry("clustered", ".param .u64 p", "").replace(") {\n", ")\n.reqnctapercluster 2\n{\n");
    let clustered = function(load(&ptx), "clustered");
    is(launch(clustered, 3, 1, &[0]), Code::INVALID_CLUSTER_SIZE);
    ok(launch(clustered, 4, 1, &[0]));
}
