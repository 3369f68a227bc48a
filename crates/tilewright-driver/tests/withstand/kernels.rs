//! Kernels that fail.
#![allow(clippy::undocumented_unsafe_blocks, reason = "calls of C functions as a program makes them")]

use super::{kinds, works};
use crate::rig::{Rig, allocate, entry, function, is, launch, load, ok};
use std::ptr;
use std::time::Duration;
use tilewright_driver::{Code, Failure, Watcher, api::*, failure, name_memory, observe};
use tilewright_emulator::{FindingKind, LaunchError, LaunchOptions};

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
fn an_instruction_that_is_not_supported_is_no_fault_of_the_context() {
    let _rig = Rig::new();
    let ptx = entry("strange", ".param .u64 p", "frobnicate.u32 %r1, %r2;");
    is(launch(function(load(&ptx), "strange"), 1, 1, &[0]), Code::NOT_SUPPORTED);
    works();
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
