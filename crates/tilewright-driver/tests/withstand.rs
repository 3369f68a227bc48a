//! What goes wrong gives the code that CUDA documents, and the process goes on.
#![allow(clippy::undocumented_unsafe_blocks, reason = "calls of C functions as a program makes them")]

use crate::rig::{Rig, allocate, entry, fill, function, is, launch, launch_in, load, ok, read, try_load};
use std::ffi::{CString, c_char, c_void};
use std::ptr;
use std::time::Duration;
use tilewright_driver::{Code, Failure, Watcher, api::*, failure, name_memory, observe};
use tilewright_emulator::{FindingKind, LaunchError, LaunchOptions};

/// A device on which everything works.
#[track_caller]
fn works() {
    let array = allocate(128);
    ok(launch(function(load(&fill()), "fill"), 1, 32, &[array, 3]));
    assert_eq!(read(array, 32), [3; 32]);
    ok(unsafe { cuMemFree_v2(array) });
}

/// Launches a kernel that fails: its launch succeeds, as the device has not come to it yet; every later call of the context fails. Another
/// context of the device works.
#[track_caller]
fn fails(ptx: &str, grid: u32, block: u32, bytes: usize, code: Code) -> Failure {
    let rig = Rig::new();
    let name = ptx.split_once(".entry ").and_then(|(_, rest)| rest.split_once('(')).expect("an entry").0;
    let array = allocate(bytes);
    let kernel = function(load(ptx), name);
    ok(launch(kernel, grid, block, &[array]));
    let found = failure(rig.context).expect("a failure");
    assert_eq!((found.kernel.as_str(), found.code), (name, code));
    unsafe {
        is(cuCtxSynchronize(), code);
        is(cuStreamSynchronize(0), code);
        is(cuMemAlloc_v2(&mut 0, 16), code);
        is(cuMemFree_v2(array), code);
        is(cuEventCreate(&mut 0, 0), code);
        let mut word = 0_u32;
        is(cuMemcpyDtoH_v2((&raw mut word).cast(), array, 4), code);
        is(cuModuleLoadData(&mut 0, ptr::null()), code);
    }
    is(launch(kernel, 1, 1, &[array]), code);
    let mut other = 0;
    ok(unsafe { cuCtxCreate_v2(&mut other, 0, rig.ordinal) });
    works();
    ok(unsafe { cuCtxDestroy_v2(other) });
    // The context that failed can be left and destroyed.
    let mut current = 0;
    ok(unsafe { cuCtxGetCurrent(&mut current) });
    assert_eq!(current, rig.context);
    ok(unsafe { cuCtxDestroy_v2(rig.context) });
    (*found).clone()
}

fn kinds(failure: &Failure) -> Vec<FindingKind> {
    failure.findings.iter().map(|finding| finding.kind).collect()
}

const ADDRESS: &str = "ld.param.u64 %rd1, [p]; mov.u32 %r2, %tid.x;\n\
    mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n";

#[test]
fn an_access_out_of_bounds() {
    let found = fails(
        &entry("outside", ".param .u64 p", &format!("{ADDRESS} st.global.u32 [%rd3+128], %r2;")),
        1,
        32,
        128,
        Code::ILLEGAL_ADDRESS,
    );
    assert_eq!(kinds(&found), [FindingKind::OutOfBounds]);
    assert!(found.to_string().contains("0 bytes behind the end"), "{found}");
}

#[test]
fn memory_with_a_name_is_called_by_it() {
    let rig = Rig::new();
    let array = allocate(128);
    name_memory(array, "weights");
    let kernel = entry("outside", ".param .u64 p", &format!("{ADDRESS} st.global.u32 [%rd3+128], %r2;"));
    ok(launch(function(load(&kernel), "outside"), 1, 32, &[array]));
    let found = failure(rig.context).expect("a failure").to_string();
    assert!(found.contains("behind the end of `weights`"), "{found}");
}

#[test]
fn a_misaligned_access() {
    let ptx = entry("crooked", ".param .u64 p", &format!("{ADDRESS} st.global.u32 [%rd3+2], %r2;"));
    let found = fails(&ptx, 1, 1, 128, Code::MISALIGNED_ADDRESS);
    assert_eq!(kinds(&found), [FindingKind::Misaligned]);
}

#[test]
fn a_kernel_with_a_race() {
    let ptx = entry(
        "race",
        ".param .u64 p",
        "ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; st.global.u32 [%rd1], %r1;",
    );
    let found = fails(&ptx, 2, 1, 4, Code::LAUNCH_FAILED);
    assert_eq!(kinds(&found), [FindingKind::BlockRace]);
}

#[test]
fn a_trap() {
    let found = fails(&entry("give_up", ".param .u64 p", "trap;"), 1, 1, 4, Code::LAUNCH_FAILED);
    assert!(matches!(found.error, Some(LaunchError::Trap { .. })), "{:?}", found.error);
}

#[test]
fn a_device_side_assertion() {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n\
        .extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n\
        .global .align 1 .b8 condition[6] = {110, 32, 62, 32, 48, 0};\n.global .align 1 .b8 file[5] = {107, 46, 99, 117, 0};\n\
        .visible .entry check(.param .u64 p) {\n.reg .u64 %rd<8>; .reg .u32 %r<4>;\n\
        .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;\n\
        mov.u64 %rd1, condition; cvta.global.u64 %rd2, %rd1; st.param.b64 [p0], %rd2;\n\
        mov.u64 %rd3, file; cvta.global.u64 %rd4, %rd3; st.param.b64 [p1], %rd4;\n\
        st.param.b32 [p2], 17; st.param.b64 [p3], %rd4; st.param.b64 [p4], 1;\n\
        call.uni __assertfail, (p0, p1, p2, p3, p4);\nret;\n}\n";
    let found = fails(ptx, 1, 1, 4, Code::ASSERT);
    let Some(LaunchError::Assertion { message, file, line }) = found.error else {
        panic!("{:?}", found.error)
    };
    assert_eq!((message.as_str(), file.as_str(), line), ("n > 0", "k.cu", 17));
}

#[test]
fn an_endless_loop() {
    let options = [
        LaunchOptions { step_limit: Some(100_000), ..LaunchOptions::default() },
        LaunchOptions { time_limit: Some(Duration::from_millis(50)), ..LaunchOptions::default() },
    ];
    let ptx = entry("endless", ".param .u64 p", "again:\nbra again;");
    for options in options {
        let watcher = Watcher { options: Some(&options), ..Watcher::default() };
        let found = observe(&watcher, || fails(&ptx, 1, 32, 4, Code::LAUNCH_TIMEOUT));
        let place = found.findings.first().expect("where it was");
        assert!(matches!(place.kind, FindingKind::StepLimit | FindingKind::TimeLimit));
        assert!(place.at.ptx_line > 0 && place.at.opcode.starts_with("bra"), "{place}");
    }
}

#[test]
fn threads_that_wait_for_ever() {
    let ptx = entry(
        "stuck",
        ".param .u64 p",
        "mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; @%p1 bra done; bar.sync 0, 64;\ndone:",
    );
    let _rig = Rig::new();
    let array = allocate(4);
    ok(launch(function(load(&ptx), "stuck"), 1, 96, &[array]));
    let code = unsafe { cuCtxSynchronize() };
    assert!([Code::LAUNCH_TIMEOUT.0, Code::LAUNCH_FAILED.0].contains(&code), "{code}");
}

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
fn freed_and_foreign_pointers() {
    let rig = Rig::new();
    let array = allocate(64);
    let mut words = [0_u32; 32];
    let (mut copy, target) =
        (|from, bytes| unsafe { cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), from, bytes) }, array);
    is(copy(target, 65), Code::INVALID_VALUE);
    is(copy(target - 4, 4), Code::INVALID_VALUE);
    ok(copy(target + 60, 4));
    ok(copy(target + 64, 0));
    is(unsafe { cuMemFree_v2(array + 16) }, Code::INVALID_VALUE);
    ok(unsafe { cuMemFree_v2(array) });
    is(unsafe { cuMemFree_v2(array) }, Code::INVALID_VALUE);
    ok(unsafe { cuMemFree_v2(0) });
    is(copy(array, 4), Code::INVALID_VALUE);
    let own = 7_u32;
    is(copy(ptr::from_ref(&own).expose_provenance() as u64, 4), Code::INVALID_VALUE);
    is(unsafe { cuMemcpyHtoD_v2(0, (&raw const own).cast(), 4) }, Code::INVALID_VALUE);
    let live = allocate(16);
    is(unsafe { cuMemcpyHtoD_v2(live, ptr::null(), 4) }, Code::INVALID_VALUE);
    is(unsafe { cuMemAlloc_v2(&mut 0, 0) }, Code::INVALID_VALUE);
    is(unsafe { cuMemAlloc_v2(ptr::null_mut(), 16) }, Code::INVALID_VALUE);
    works();
    // A kernel that is given a freed pointer.
    ok(launch(function(load(&fill()), "fill"), 1, 1, &[array, 1]));
    is(unsafe { cuCtxSynchronize() }, Code::ILLEGAL_ADDRESS);
    assert_eq!(kinds(&failure(rig.context).expect("a failure")), [FindingKind::OutOfBounds]);
}

#[test]
fn memory_exhausted() {
    let rig = Rig::of("h200");
    let (mut free, mut total) = (0, 0);
    ok(unsafe { cuMemGetInfo_v2(&mut free, &mut total) });
    assert!(free <= total && total == 141_000_000_000);
    for bytes in [total + 1, usize::MAX, 1 << 62] {
        is(unsafe { cuMemAlloc_v2(&mut 0, bytes) }, Code::OUT_OF_MEMORY);
    }
    // Little by little; what is not touched takes no memory of this process.
    let mut held = Vec::new();
    let code = loop {
        let mut address = 0;
        match unsafe { cuMemAlloc_v2(&mut address, 2 << 30) } {
            0 => held.push(address),
            code => break code,
        }
    };
    is(code, Code::OUT_OF_MEMORY);
    assert!(!held.is_empty() && held.len() <= 66, "{}", held.len());
    ok(unsafe { cuMemGetInfo_v2(&mut free, &mut total) });
    assert!(free < 141_000_000_000 - (held.len() << 31) + 1);
    ok(unsafe { cuMemFree_v2(held[0]) });
    works();
    ok(unsafe { cuCtxDestroy_v2(rig.context) });
    let mut other = 0;
    ok(unsafe { cuCtxCreate_v2(&mut other, 0, rig.ordinal) });
    ok(unsafe { cuMemGetInfo_v2(&mut free, &mut total) });
    assert_eq!(free, total, "a context takes its memory with it");
}

#[test]
fn a_stream_destroyed_with_work_in_it() {
    let _rig = Rig::new();
    let mut stream = 0;
    ok(unsafe { cuStreamCreate(&mut stream, 0) });
    let array = allocate(128);
    ok(launch_in(stream, function(load(&fill()), "fill"), 1, 32, &[array, 4]));
    ok(unsafe { cuStreamDestroy_v2(stream) });
    assert_eq!(read(array, 32), [4; 32], "the work is done all the same");
    is(unsafe { cuStreamSynchronize(stream) }, Code::INVALID_HANDLE);
    is(unsafe { cuStreamDestroy_v2(stream) }, Code::INVALID_HANDLE);
    is(launch_in(stream, function(load(&fill()), "fill"), 1, 32, &[array, 5]), Code::INVALID_HANDLE);
    is(unsafe { cuStreamDestroy_v2(0) }, Code::INVALID_HANDLE);
}

#[test]
fn two_threads_that_launch_and_copy_at_once() {
    let rig = Rig::new();
    let fill = function(load(&fill()), "fill");
    std::thread::scope(|scope| {
        for salt in 0..4 {
            let rig = &rig;
            scope.spawn(move || {
                rig.enter();
                let mut stream = 0;
                ok(unsafe { cuStreamCreate(&mut stream, 1) });
                for round in 0..50 {
                    let array = allocate(128);
                    let value = 100 * salt + round;
                    ok(launch_in(stream, fill, 2, 32, &[array, value.into()]));
                    assert_eq!(read(array, 32), [value; 32]);
                    ok(unsafe { cuMemFree_v2(array) });
                }
                ok(unsafe { cuStreamDestroy_v2(stream) });
            });
        }
    });
}

#[test]
fn a_module_unloaded_while_in_use() {
    let rig = Rig::new();
    let array = allocate(4 * 1024);
    for _ in 0..20 {
        let module = load(&fill());
        let fill = function(module, "fill");
        std::thread::scope(|scope| {
            let launches = scope.spawn(|| {
                rig.enter();
                loop {
                    match launch(fill, 4, 1024, &[array, 6]) {
                        0 => {}
                        code => break code,
                    }
                }
            });
            rig.enter();
            ok(unsafe { cuModuleUnload(module) });
            is(launches.join().expect("no panic"), Code::INVALID_HANDLE);
        });
        is(unsafe { cuModuleUnload(module) }, Code::INVALID_HANDLE);
        is(unsafe { cuModuleGetFunction(&mut 0, module, c"fill".as_ptr()) }, Code::INVALID_HANDLE);
    }
    works();
}

#[test]
fn an_event_never_recorded() {
    let _rig = Rig::new();
    let (mut event, mut other, mut silent) = (0, 0, 0);
    unsafe {
        ok(cuEventCreate(&mut event, 0));
        ok(cuEventCreate(&mut other, 0));
        ok(cuEventCreate(&mut silent, 2));
        ok(cuEventQuery(event));
        ok(cuEventSynchronize(event));
        ok(cuStreamWaitEvent(0, event, 0));
        is(cuEventElapsedTime(&mut 0.0, event, other), Code::INVALID_HANDLE);
        ok(cuEventRecord(event, 0));
        is(cuEventElapsedTime(&mut 0.0, event, other), Code::INVALID_HANDLE);
        ok(cuEventRecord(silent, 0));
        is(cuEventElapsedTime(&mut 0.0, event, silent), Code::INVALID_HANDLE);
        ok(cuEventDestroy_v2(event));
        is(cuEventRecord(event, 0), Code::INVALID_HANDLE);
        is(cuEventQuery(0x1234), Code::INVALID_HANDLE);
        is(cuEventCreate(&mut event, 64), Code::INVALID_VALUE);
    }
}

#[test]
fn modules_that_cannot_be_loaded() {
    let _rig = Rig::of("a100");
    let mut module = 0;
    let newer = fill().replace("sm_80", "sm_90");
    for (text, code) in [
        ("\u{7f}ELF machine code", Code::NO_BINARY_FOR_GPU),
        (newer.as_str(), Code::NO_BINARY_FOR_GPU),
        ("nonsense", Code::INVALID_IMAGE),
        ("", Code::INVALID_IMAGE),
        (".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k( {", Code::INVALID_PTX),
        (
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { mov.u32 %r1, 1; }",
            Code::INVALID_PTX,
        ),
    ] {
        is(try_load(text, &mut module), code);
    }
    is(unsafe { cuModuleLoadData(&mut module, ptr::null()) }, Code::INVALID_VALUE);
    is(unsafe { cuModuleLoad(&mut module, c"/nowhere/module.ptx".as_ptr()) }, Code::FILE_NOT_FOUND);
    // What is wrong is in the log, if there is one.
    let mut log = [0 as c_char; 512];
    let text = CString::new("\u{7f}ELF machine code").expect("no zero");
    let (mut options, mut values) =
        ([5, 6], [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(512)]);
    let code = unsafe {
        cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr())
    };
    is(code, Code::NO_BINARY_FOR_GPU);
    // SAFETY: the driver ends the text.
    let log = unsafe { std::ffi::CStr::from_ptr(log.as_ptr()) }.to_string_lossy();
    assert!(log.contains("-gencode arch=compute_80,code=compute_80"), "{log}");
    is(unsafe { cuModuleGetFunction(&mut 0, load(&fill()), c"none".as_ptr()) }, Code::NOT_FOUND);
    works();
}

#[test]
fn an_instruction_that_is_not_supported_is_no_fault_of_the_context() {
    let _rig = Rig::new();
    let ptx = entry("strange", ".param .u64 p", "frobnicate.u32 %r1, %r2;");
    is(launch(function(load(&ptx), "strange"), 1, 1, &[0]), Code::NOT_SUPPORTED);
    works();
}

#[test]
fn contexts_that_are_gone_or_were_never_there() {
    let rig = Rig::new();
    let mut popped = 0;
    unsafe {
        ok(cuCtxPopCurrent_v2(&mut popped));
        assert_eq!(popped, rig.context);
        is(cuMemAlloc_v2(&mut 0, 16), Code::INVALID_CONTEXT);
        is(cuCtxPopCurrent_v2(&mut popped), Code::INVALID_CONTEXT);
        is(cuCtxPushCurrent_v2(0x1234), Code::INVALID_CONTEXT);
        ok(cuCtxPushCurrent_v2(rig.context));
        let (context, mut stream) = (rig.context, 0);
        ok(cuStreamCreate(&mut stream, 0));
        // Another thread destroys it.
        std::thread::spawn(move || ok(cuCtxDestroy_v2(context))).join().expect("no panic");
        is(cuMemAlloc_v2(&mut 0, 16), Code::CONTEXT_IS_DESTROYED);
        is(cuCtxSynchronize(), Code::CONTEXT_IS_DESTROYED);
        is(cuCtxSetCurrent(context), Code::INVALID_CONTEXT);
        is(cuCtxDestroy_v2(context), Code::INVALID_CONTEXT);
        ok(cuCtxSetCurrent(0));
        let mut primary = 0;
        ok(cuDevicePrimaryCtxRetain(&mut primary, rig.ordinal));
        ok(cuCtxSetCurrent(primary));
        is(cuStreamSynchronize(stream), Code::INVALID_HANDLE);
        works();
        ok(cuDevicePrimaryCtxRelease_v2(rig.ordinal));
        is(cuCtxSynchronize(), Code::CONTEXT_IS_DESTROYED);
        is(cuDevicePrimaryCtxRelease_v2(rig.ordinal), Code::INVALID_CONTEXT);
        is(cuDevicePrimaryCtxRetain(&mut primary, 127), Code::INVALID_DEVICE);
    }
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

#[test]
fn a_host_that_ends_a_launch_can_go_on() {
    let rig = Rig::new();
    let stop = std::sync::atomic::AtomicBool::new(true);
    let mut watcher = Watcher::default();
    watcher.watch.stop = Some(&stop);
    let endless = function(load(&entry("endless", ".param .u64 p", "again:\nbra again;")), "endless");
    observe(&watcher, || is(launch(endless, 1, 32, &[0]), Code::LAUNCH_TIMEOUT));
    let found = failure(rig.context).expect("a failure");
    assert!(matches!(found.error, Some(LaunchError::Interrupted { .. })), "{:?}", found.error);
    ok(unsafe { cuCtxSynchronize() });
    works();
}
