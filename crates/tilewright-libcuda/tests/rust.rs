//! A program in Rust on cudarc, which knows nothing of Tilewright, with this library as its driver.
#![cfg(target_os = "linux")]

use crate::library;
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg, result};
use cudarc::nvrtc::Ptx;
use std::process::Command;

/// Set in the process that runs the programs.
const CHILD: &str = "TILEWRIGHT_TEST_CUDARC";

const AXPY: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .entry axpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) {\n\
    .reg .u64 %rd<8>; .reg .u32 %r<8>; .reg .f32 %f<4>; .reg .pred %p<2>;\n\
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.f32 %f1, [a]; ld.param.u32 %r1, [n];\n\
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n\
    setp.ge.u32 %p1, %r5, %r1; @%p1 bra done;\n\
    mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n\
    ld.global.f32 %f2, [%rd4]; ld.global.f32 %f3, [%rd5]; fma.rn.f32 %f3, %f1, %f2, %f3; st.global.f32 [%rd5], %f3;\n\
    done: ret;\n}\n";

#[test]
fn cudarc_runs_on_the_library() {
    if std::env::var_os(CHILD).is_some() {
        return axpy();
    }
    let place = library::Place::new();
    let mut program = Command::new(std::env::current_exe().expect("this program"));
    program.args(["rust::cudarc_runs_on_the_library", "--exact", "--nocapture"]).env(CHILD, "1");
    let output =
        place.on(&mut program).env("TILEWRIGHT_EMULATED_GPUS", "a6000;h200").output().expect("it starts");
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("cuGraphCreate is not supported by the emulator"), "{text}");
    assert_eq!(text.matches("cuGraphCreate").count(), 1, "named once: {text}");
}

fn axpy() {
    assert_eq!(CudaContext::device_count().expect("counted"), 2);
    let context = CudaContext::new(0).expect("a context");
    assert!(context.name().expect("a name").contains("A6000"));
    assert_eq!(context.compute_capability().expect("known"), (8, 6));
    let stream = context.new_stream().expect("a stream");
    let module = context.load_module(Ptx::from_src(AXPY)).expect("loaded");
    let axpy = module.load_function("axpy").expect("found");
    let n = 1000_u32;
    let x = stream.clone_htod(&(0..n).map(|i| i as f32).collect::<Vec<_>>()).expect("copied");
    let mut y = stream.alloc_zeros::<f32>(n as usize).expect("allocated");
    let before =
        stream.record_event(Some(cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT)).expect("recorded");
    for _ in 0..2 {
        let mut launch = stream.launch_builder(&axpy);
        launch.arg(&x).arg(&mut y).arg(&1.5_f32).arg(&n);
        // SAFETY: the arguments are those of the kernel, and the arrays have n elements.
        unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }.expect("launched");
    }
    let after =
        stream.record_event(Some(cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT)).expect("recorded");
    assert!(before.elapsed_ms(&after).expect("timed") > 0.0);
    let result = stream.clone_dtoh(&y).expect("copied");
    assert!(result.iter().enumerate().all(|(i, &y)| y == 3.0 * i as f32));
    stream.synchronize().expect("done");
    assert!(axpy.occupancy_max_active_blocks_per_multiprocessor(256, 0, None).expect("known") > 0);
    let (free, total) = result::mem_get_info().expect("known");
    assert!(free < total);
    // What is not there says so, and the program goes on.
    let mut graph = std::ptr::null_mut();
    for _ in 0..2 {
        // SAFETY: the pointer is valid for a write.
        let code = unsafe { cudarc::driver::sys::cuGraphCreate(&mut graph, 0) };
        assert_eq!(code, cudarc::driver::sys::CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
}
