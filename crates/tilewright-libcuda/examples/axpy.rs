//! `y = 1.5 x + y` on a GPU by cudarc. It knows nothing of an emulator; without a GPU it runs by
//!
//! ```text
//! tilewright run -- target/debug/examples/axpy 1000
//! ```
//!
//! The arrays have 1000 elements. With a larger argument the kernel runs out of them.

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

const ELEMENTS: usize = 1000;

const KERNEL: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .entry axpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) {\n\
    .reg .u64 %rd<8>; .reg .u32 %r<8>; .reg .f32 %f<4>; .reg .pred %p<2>;\n\
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.f32 %f1, [a]; ld.param.u32 %r1, [n];\n\
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n\
    setp.ge.u32 %p1, %r5, %r1; @%p1 bra done;\n\
    mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n\
    ld.global.f32 %f2, [%rd4]; ld.global.f32 %f3, [%rd5];\n\
    fma.rn.f32 %f3, %f1, %f2, %f3;\n\
    st.global.f32 [%rd5], %f3;\n\
    done: ret;\n}\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n: u32 =
        std::env::args().nth(1).ok_or("axpy N: how many elements the kernel is to compute")?.parse()?;
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let axpy = context.load_module(Ptx::from_src(KERNEL))?.load_function("axpy")?;
    let x: Vec<f32> = (0..ELEMENTS).map(|i| i as f32).collect();
    let x = stream.clone_htod(&x)?;
    let mut y = stream.alloc_zeros::<f32>(ELEMENTS)?;
    let mut launch = stream.launch_builder(&axpy);
    launch.arg(&x).arg(&mut y).arg(&1.5_f32).arg(&n);
    // SAFETY: the arguments are those of the kernel. That there are as many elements is the user's promise.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n))? };
    let y = stream.clone_dtoh(&y)?;
    println!("{}: y ends with {}", context.name()?, y[ELEMENTS - 1]);
    Ok(())
}
