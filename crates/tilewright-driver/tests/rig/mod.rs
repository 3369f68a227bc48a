//! A program's side of the driver: a device of its own for each test, and modules to load.
#![allow(dead_code, clippy::undocumented_unsafe_blocks)] // Each test program uses a part.

use std::ffi::{CString, c_void};
use std::ptr;

use tilewright_driver::{Code, Handle, add_device, api::*, remove_device};

pub const OK: i32 = 0;

/// A device with a context that is current in this thread.
pub struct Rig {
    pub ordinal: i32,
    pub context: Handle,
}

impl Rig {
    pub fn new() -> Self {
        Self::of("h200")
    }

    pub fn of(gpu: &str) -> Self {
        let gpu = tilewright_arch::Gpu::named(gpu).expect("a known GPU");
        let ordinal = add_device(gpu).expect("a device") as i32;
        let mut rig = Self { ordinal, context: 0 };
        unsafe {
            ok(cuInit(0));
            ok(cuCtxCreate_v2(&mut rig.context, 0, ordinal));
        }
        rig
    }

    /// Makes the context current in this thread.
    pub fn enter(&self) {
        ok(unsafe { cuCtxSetCurrent(self.context) });
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        remove_device(self.ordinal as usize);
    }
}

#[track_caller]
pub fn ok(code: i32) {
    is(code, Code::SUCCESS);
}

#[track_caller]
pub fn is(code: i32, expected: Code) {
    assert_eq!(Code(code).to_string(), expected.to_string());
}

/// A module of one entry with the parameters and the body that are given.
pub fn entry(name: &str, parameters: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry {name}({parameters}) {{\n\
         .reg .u64 %rd<8>; .reg .u32 %r<8>; .reg .f32 %f<4>; .reg .pred %p<4>;\n{body}\nret;\n}}\n"
    )
}

/// Stores its second argument at element `tid.x` of the first.
pub fn fill() -> String {
    entry(
        "fill",
        ".param .u64 p, .param .u32 v",
        "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v]; mov.u32 %r2, %tid.x;\n\
         mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;",
    )
}

pub fn load(ptx: &str) -> Handle {
    let mut module = 0;
    ok(try_load(ptx, &mut module));
    module
}

pub fn try_load(ptx: &str, module: &mut Handle) -> i32 {
    let text = CString::new(ptx).expect("no zero");
    unsafe { cuModuleLoadData(module, text.as_ptr().cast()) }
}

pub fn function(module: Handle, name: &str) -> Handle {
    let (mut function, name) = (0, CString::new(name).expect("no zero"));
    ok(unsafe { cuModuleGetFunction(&mut function, module, name.as_ptr()) });
    function
}

pub fn allocate(bytes: usize) -> u64 {
    let mut address = 0;
    ok(unsafe { cuMemAlloc_v2(&mut address, bytes) });
    address
}

pub fn read(address: u64, count: usize) -> Vec<u32> {
    let mut values = vec![0_u32; count];
    ok(unsafe { cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), address, 4 * count) });
    values
}

pub fn write(address: u64, values: &[u32]) {
    ok(unsafe { cuMemcpyHtoD_v2(address, values.as_ptr().cast(), 4 * values.len()) });
}

/// Launches with arguments of eight bytes, of which a narrow parameter takes the first.
pub fn launch(function: Handle, grid: u32, block: u32, arguments: &[u64]) -> i32 {
    launch_in(0, function, grid, block, arguments)
}

pub fn launch_in(stream: Handle, function: Handle, grid: u32, block: u32, arguments: &[u64]) -> i32 {
    let mut pointers: Vec<*mut c_void> =
        arguments.iter().map(|argument| ptr::from_ref(argument).cast_mut().cast()).collect();
    unsafe {
        cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, pointers.as_mut_ptr(), ptr::null_mut())
    }
}
