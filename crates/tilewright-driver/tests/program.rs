//! What a program does when all goes well.
#![allow(clippy::undocumented_unsafe_blocks, reason = "calls of C functions as a program makes them")]

use crate::rig::{OK, Rig, allocate, entry, fill, function, is, launch, launch_in, load, ok, read, write};
use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use tilewright_driver::{Code, Launched, Watcher, api::*, observe, types};

#[test]
fn memory_lives_across_launches_of_several_modules() {
    let _rig = Rig::new();
    let double = entry(
        "double",
        ".param .u64 p",
        "ld.param.u64 %rd1, [p]; mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n\
         ld.global.u32 %r1, [%rd3]; shl.b32 %r1, %r1, 1; st.global.u32 [%rd3], %r1;",
    );
    let (first, second) = (load(&fill()), load(&double));
    let array = allocate(128);
    ok(launch(function(first, "fill"), 1, 32, &[array, 21]));
    ok(launch(function(second, "double"), 1, 32, &[array]));
    assert_eq!(read(array, 32), [42; 32]);
    ok(unsafe { cuModuleUnload(first) });
    ok(launch(function(second, "double"), 1, 8, &[array]));
    assert_eq!(read(array, 9), [84, 84, 84, 84, 84, 84, 84, 84, 42]);
}

#[test]
fn fresh_memory_is_not_zero() {
    let _rig = Rig::new();
    assert_eq!(read(allocate(16), 4), [u32::MAX; 4]);
}

#[test]
fn variables_of_modules_are_apart_and_can_be_set() {
    let _rig = Rig::new();
    let module = |value: u32| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .u32 shift = {value};\n\
             .visible .const .u32 scale[2];\n\
             .visible .entry look(.param .u64 p) {{\n.reg .u64 %rd<4>; .reg .u32 %r<4>;\n\
             ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [shift]; ld.const.u32 %r2, [scale+4];\n\
             add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1; ret;\n}}\n"
        )
    };
    let modules = [10, 20].map(|value| load(&module(value)));
    let out = allocate(4);
    for (module, scale) in modules.into_iter().zip([5, 7]) {
        let (mut address, mut bytes) = (0, 0);
        ok(unsafe { cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"scale".as_ptr()) });
        assert_eq!(bytes, 8);
        write(address, &[0, scale]);
    }
    for (module, sum) in modules.into_iter().zip([15, 27]) {
        ok(launch(function(module, "look"), 1, 1, &[out]));
        assert_eq!(read(out, 1), [sum]);
    }
    let missing =
        unsafe { cuModuleGetGlobal_v2(ptr::null_mut(), ptr::null_mut(), modules[0], c"none".as_ptr()) };
    is(missing, Code::NOT_FOUND);
}

#[test]
fn rows_are_copied_with_their_pitch() {
    let _rig = Rig::new();
    let (mut array, mut pitch) = (0, 0);
    ok(unsafe { cuMemAllocPitch_v2(&mut array, &mut pitch, 12, 3, 4) });
    assert_eq!(pitch, 512);
    let source: Vec<u32> = (0..15).collect();
    // SAFETY: a plain C structure, for which all zeros is a value.
    let mut copy: types::Copy2d = unsafe { std::mem::zeroed() };
    (copy.src_type, copy.src_host, copy.src_pitch) = (types::MEMORY_HOST, source.as_ptr().cast(), 20);
    (copy.dst_type, copy.dst_device, copy.dst_pitch) = (types::MEMORY_DEVICE, array, pitch);
    (copy.src_x, copy.width, copy.height) = (4, 12, 3);
    ok(unsafe { cuMemcpy2D_v2(&copy) });
    assert_eq!(read(array, 4), [1, 2, 3, u32::MAX]);
    assert_eq!(read(array + 2 * 512, 3), [11, 12, 13]);
    ok(unsafe { cuMemsetD2D32_v2(array + 4, pitch, 7, 2, 3) });
    assert_eq!(read(array + 512, 3), [6, 7, 7]);
    // A row that does not fit its pitch, and one row more than there are.
    copy.dst_pitch = 8;
    is(unsafe { cuMemcpy2D_v2(&copy) }, Code::INVALID_VALUE);
    (copy.dst_pitch, copy.height) = (pitch, 4);
    is(unsafe { cuMemcpy2D_v2(&copy) }, Code::INVALID_VALUE);
}

#[test]
fn memory_is_filled_by_elements() {
    let _rig = Rig::new();
    let array = allocate(16);
    ok(unsafe { cuMemsetD8_v2(array, 0x11, 16) });
    ok(unsafe { cuMemsetD16_v2(array + 4, 0x2233, 2) });
    ok(unsafe { cuMemsetD32_v2(array + 8, 0x4455_6677, 1) });
    assert_eq!(read(array, 4), [0x1111_1111, 0x2233_2233, 0x4455_6677, 0x1111_1111]);
    is(unsafe { cuMemsetD32_v2(array + 2, 0, 1) }, Code::INVALID_VALUE);
}

#[test]
fn kernels_reach_pinned_managed_and_registered_memory() {
    let _rig = Rig::new();
    let fill = function(load(&fill()), "fill");
    let mut pinned: *mut c_void = ptr::null_mut();
    ok(unsafe { cuMemHostAlloc(&mut pinned, 128, 0) });
    let mut managed = 0;
    ok(unsafe { cuMemAllocManaged(&mut managed, 128, 1) });
    let mut own = vec![0_u32; 32];
    ok(unsafe { cuMemHostRegister_v2(own.as_mut_ptr().cast(), 128, 0) });
    for address in [pinned.expose_provenance() as u64, managed, own.as_mut_ptr().expose_provenance() as u64] {
        ok(launch(fill, 1, 32, &[address, 9]));
        let values: *const u32 = ptr::with_exposed_provenance(address as usize);
        assert_eq!(unsafe { std::slice::from_raw_parts(values, 32) }, [9; 32]);
        let mut kind = 0_i32;
        ok(unsafe { cuPointerGetAttribute((&raw mut kind).cast(), 2, address) });
        assert_eq!(kind == 2, address == managed);
    }
    is(unsafe { cuMemHostRegister_v2(own.as_mut_ptr().cast(), 4, 0) }, Code::HOST_MEMORY_ALREADY_REGISTERED);
    ok(unsafe { cuMemHostUnregister(own.as_mut_ptr().cast()) });
    is(unsafe { cuMemHostUnregister(own.as_mut_ptr().cast()) }, Code::HOST_MEMORY_NOT_REGISTERED);
    ok(unsafe { cuMemFreeHost(pinned) });
    ok(unsafe { cuMemFree_v2(managed) });
    is(unsafe { cuMemFreeHost(pinned) }, Code::INVALID_VALUE);
}

#[test]
fn events_take_the_order_of_their_records() {
    let _rig = Rig::new();
    let (mut stream, mut start, mut end) = (0, 0, 0);
    unsafe {
        ok(cuStreamCreate(&mut stream, 1));
        ok(cuEventCreate(&mut start, 0));
        ok(cuEventCreate(&mut end, 0));
        ok(cuEventRecord(start, stream));
        let array = allocate(128);
        ok(launch_in(stream, function(load(&fill()), "fill"), 1, 32, &[array, 1]));
        ok(cuEventRecord(end, stream));
        ok(cuStreamWaitEvent(0, end, 0));
        ok(cuEventSynchronize(end));
        ok(cuEventQuery(end));
        let mut milliseconds = -1.0;
        ok(cuEventElapsedTime(&mut milliseconds, start, end));
        assert!(milliseconds > 0.0 && milliseconds < 60_000.0, "{milliseconds}");
        ok(cuEventDestroy_v2(start));
        ok(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn a_function_of_the_host_takes_its_turn() {
    let _rig = Rig::new();
    unsafe extern "C" fn add(data: *mut c_void) {
        // SAFETY: the test passes a number.
        unsafe { *data.cast::<u32>() += 1 };
    }
    let (mut stream, mut calls) = (0, 0_u32);
    ok(unsafe { cuStreamCreate(&mut stream, 0) });
    ok(unsafe { cuLaunchHostFunc(stream, Some(add), (&raw mut calls).cast()) });
    ok(unsafe { cuStreamSynchronize(stream) });
    assert_eq!(calls, 1);
}

#[test]
fn attributes_and_occupancy_come_from_the_tables() {
    let rig = Rig::of("a6000");
    let get = |which| {
        let mut value = -1;
        ok(unsafe { cuDeviceGetAttribute(&mut value, which, rig.ordinal) });
        value
    };
    assert_eq!([get(75), get(76), get(16), get(10), get(39)], [8, 6, 84, 32, 1536]);
    let mut name = [0 as c_char; 64];
    ok(unsafe { cuDeviceGetName(name.as_mut_ptr(), 64, rig.ordinal) });
    // SAFETY: the driver ends the text.
    assert!(unsafe { CStr::from_ptr(name.as_ptr()) }.to_str().expect("text").contains("A6000"));
    let fill = function(load(&fill()), "fill");
    let attribute = |which| {
        let mut value = -1;
        ok(unsafe { cuFuncGetAttribute(&mut value, which, fill) });
        value
    };
    assert_eq!([attribute(0), attribute(1), attribute(8)], [1024, 0, 48 << 10]);
    assert!(attribute(4) >= 8);
    let (mut blocks, mut grid, mut block) = (0, 0, 0);
    ok(unsafe { cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, fill, 512, 0) });
    assert_eq!(blocks, 3);
    ok(unsafe { cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, fill, None, 0, 0) });
    assert_eq!((grid, block), (168, 768));
    let mut bytes = 0;
    ok(unsafe { cuOccupancyAvailableDynamicSMemPerBlock(&mut bytes, fill, 2, 512) });
    assert!(bytes >= 48 << 10, "{bytes}");
}

#[test]
fn arguments_may_come_in_one_piece() {
    let _rig = Rig::new();
    let fill = function(load(&fill()), "fill");
    let array = allocate(128);
    let mut buffer = [0_u8; 12];
    buffer[..8].copy_from_slice(&array.to_le_bytes());
    buffer[8..].copy_from_slice(&5_u32.to_le_bytes());
    let launch = |mut bytes: usize| {
        let mut extra: [*mut c_void; 5] = [
            ptr::without_provenance_mut(1),
            buffer.as_ptr().cast_mut().cast(),
            ptr::without_provenance_mut(2),
            (&raw mut bytes).cast(),
            ptr::null_mut(),
        ];
        unsafe { cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, 0, ptr::null_mut(), extra.as_mut_ptr()) }
    };
    ok(launch(12));
    assert_eq!(read(array, 1), [5]);
    is(launch(8), Code::INVALID_VALUE);
    is(launch(100), Code::INVALID_VALUE);
}

#[test]
fn a_texture_reads_what_memory_holds_now() {
    let _rig = Rig::new();
    let fetch = entry(
        "fetch",
        ".param .u64 t, .param .u64 p",
        "ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [p]; mov.u32 %r1, %tid.x;\n\
         tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd1, {%r1}];\n\
         mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; st.global.f32 [%rd4], %f0;",
    );
    let fetch = function(load(&fetch), "fetch");
    let (source, target) = (allocate(16), allocate(32));
    // SAFETY: plain C structures, for which all zeros is a value.
    let (mut resource, texture): (types::ResourceDescription, types::TextureDescription) =
        unsafe { std::mem::zeroed() };
    resource.kind = types::RESOURCE_LINEAR;
    resource.resource.linear = types::Linear { address: source, format: 32, channels: 1, bytes: 16 };
    let mut handle = 0;
    ok(unsafe { cuTexObjectCreate(&mut handle, &resource, &texture, ptr::null()) });
    for salt in [1.0_f32, 10.0] {
        let values: Vec<u32> = (0..4).map(|i| (salt * i as f32).to_bits()).collect();
        write(source, &values);
        ok(launch(fetch, 1, 6, &[handle, target]));
        // What is behind the end reads zero.
        assert_eq!(read(target, 6), [&values[..], &[0, 0]].concat());
    }
    ok(unsafe { cuTexObjectDestroy(handle) });
    is(unsafe { cuTexObjectDestroy(handle) }, Code::INVALID_VALUE);
}

/// What Numba makes of `cuda.cg.this_grid().sync()`: every block sees what the others have stored before.
#[test]
fn a_grid_meets_by_the_library_that_a_link_is_given() {
    let _rig = Rig::new();
    let declarations = ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 a);\n\
        .extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 a, .param .b32 b);\n";
    let body = "ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x;\n\
        mad.lo.u32 %r4, %r1, %r3, %r2; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;\n\
        add.u32 %r5, %r4, 1; st.global.u32 [%rd3], %r5;\n\
        { .param .b32 scope; .param .b64 handle; .param .b32 flags; .param .b32 code;\n\
        st.param.b32 [scope], 1; call.uni (handle), cudaCGGetIntrinsicHandle, (scope);\n\
        st.param.b32 [flags], 0; call.uni (code), cudaCGSynchronize, (handle, flags); }\n\
        mov.u32 %r6, %nctaid.x; mul.lo.u32 %r6, %r6, %r3; sub.u32 %r6, %r6, %r4; sub.u32 %r6, %r6, 1;\n\
        mul.wide.u32 %rd4, %r6, 4; add.s64 %rd4, %rd1, %rd4; ld.global.u32 %r7, [%rd4];\n\
        mul.wide.u32 %rd5, %r3, 16; add.s64 %rd3, %rd3, %rd5; st.global.u32 [%rd3], %r7;";
    let ptx =
        entry("meet", ".param .u64 p", body).replacen(".visible", &format!("{declarations}.visible"), 1);
    let text = CString::new(ptx).expect("no zero");
    let library = *b"!<arch>\ncuda_device_runtime.o/";
    let (mut link, mut image, mut bytes, mut module) = (0, ptr::null_mut(), 0, 0);
    unsafe {
        ok(cuLinkCreate_v2(0, ptr::null_mut(), ptr::null_mut(), &mut link));
        for (kind, data) in [(1, text.as_bytes()), (4, library.as_slice())] {
            let at = data.as_ptr().cast_mut().cast();
            ok(cuLinkAddData_v2(
                link,
                kind,
                at,
                data.len(),
                ptr::null(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            ));
        }
        ok(cuLinkComplete(link, &mut image, &mut bytes));
        ok(cuModuleLoadDataEx(&mut module, image, 0, ptr::null_mut(), ptr::null_mut()));
    }
    let (meet, array) = (function(module, "meet"), allocate(4096));
    let mut arguments = [ptr::from_ref(&array).cast_mut().cast::<c_void>()];
    ok(unsafe { cuLaunchCooperativeKernel(meet, 4, 1, 1, 64, 1, 1, 0, 0, arguments.as_mut_ptr()) });
    let seen: Vec<u32> = read(array, 512);
    assert_eq!(seen[256..].to_vec(), (1..=256).rev().collect::<Vec<u32>>());
    // In another launch it is a fault.
    assert_ne!(launch(meet, 4, 64, &[array]) | unsafe { cuCtxSynchronize() }, 0);
}

#[test]
fn a_link_hands_its_module_through() {
    let _rig = Rig::new();
    let (text, mut link, mut image, mut bytes) =
        (CString::new(fill()).expect("no zero"), 0, ptr::null_mut(), 0);
    unsafe {
        ok(cuLinkCreate_v2(0, ptr::null_mut(), ptr::null_mut(), &mut link));
        let data = text.as_ptr().cast_mut().cast();
        let length = text.as_bytes().len();
        ok(cuLinkAddData_v2(link, 1, data, length, ptr::null(), 0, ptr::null_mut(), ptr::null_mut()));
        ok(cuLinkComplete(link, &mut image, &mut bytes));
        let mut module = 0;
        ok(cuModuleLoadDataEx(&mut module, image, 0, ptr::null_mut(), ptr::null_mut()));
        function(module, "fill");
        ok(cuLinkDestroy(link));
        is(cuLinkDestroy(link), Code::INVALID_HANDLE);
    }
}

#[test]
fn several_devices_have_addresses_of_their_own_and_copies_between_them() {
    let (one, other) = (Rig::of("a100"), Rig::of("h200"));
    one.enter();
    let first = allocate(16);
    write(first, &[1, 2, 3, 4]);
    other.enter();
    let second = allocate(16);
    assert_ne!(first, second);
    ok(unsafe { cuMemcpyPeer(second, other.context, first, one.context, 16) });
    assert_eq!(read(second, 4), [1, 2, 3, 4]);
    for (address, ordinal) in [(first, one.ordinal), (second, other.ordinal)] {
        let mut found = -1;
        ok(unsafe { cuPointerGetAttribute((&raw mut found).cast(), 9, address + 5) });
        assert_eq!(found, ordinal);
    }
}

#[test]
fn who_watches_is_told_of_each_launch() {
    let _rig = Rig::new();
    let fill = function(load(&fill()), "fill");
    let array = allocate(128);
    let (launches, stores) = (Cell::new(0), Cell::new(0));
    let launched = |launched: &Launched<'_>| {
        assert_eq!((launched.kernel, launched.code), ("fill", Code::SUCCESS));
        launches.set(launches.get() + 1);
        let report = launched.outcome.as_ref().expect("it ran");
        stores.set(stores.get() + report.counters.global_store.sectors);
    };
    let watcher = Watcher { launched: Some(&launched), ..Watcher::default() };
    observe(&watcher, || (0..3).for_each(|_| ok(launch(fill, 2, 32, &[array, 1]))));
    ok(launch(fill, 1, 32, &[array, 1]));
    // Both blocks store the same: a note, not an error.
    assert_eq!((launches.get(), stores.get()), (3, 24));
}

#[test]
fn errors_have_names_and_texts() {
    let (mut name, mut text) = (ptr::null(), ptr::null());
    assert_eq!(unsafe { cuGetErrorName(2, &mut name) }, OK);
    assert_eq!(unsafe { cuGetErrorString(2, &mut text) }, OK);
    // SAFETY: texts that never go.
    let (name, text) = unsafe { (CStr::from_ptr(name), CStr::from_ptr(text)) };
    assert_eq!((name, text), (c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"));
    let mut nothing = name.as_ptr();
    is(unsafe { cuGetErrorName(4711, &mut nothing) }, Code::INVALID_VALUE);
    assert!(nothing.is_null());
    let mut version: c_int = 0;
    assert_eq!(unsafe { cuDriverGetVersion(&mut version) }, OK);
    assert_eq!(version, 13_000);
}
