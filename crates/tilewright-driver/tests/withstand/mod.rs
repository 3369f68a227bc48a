//! What goes wrong gives the code that CUDA documents, and the process goes on.
#![allow(clippy::undocumented_unsafe_blocks, reason = "calls of C functions as a program makes them")]

mod kernels;
mod launches;

use crate::rig::{Rig, allocate, fill, function, is, launch, launch_in, load, ok, read, try_load};
use std::ffi::{CString, c_char, c_void};
use std::ptr;
use tilewright_driver::{Code, Failure, api::*, failure};
use tilewright_emulator::FindingKind;

/// A device on which everything works.
#[track_caller]
fn works() {
    let array = allocate(128);
    ok(launch(function(load(&fill()), "fill"), 1, 32, &[array, 3]));
    assert_eq!(read(array, 32), [3; 32]);
    ok(unsafe { cuMemFree_v2(array) });
}

fn kinds(failure: &Failure) -> Vec<FindingKind> {
    failure.findings.iter().map(|finding| finding.kind).collect()
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
