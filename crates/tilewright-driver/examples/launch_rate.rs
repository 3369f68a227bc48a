//! How long a launch of an empty kernel takes through the driver: `cargo run --release -p tilewright-driver --example launch_rate`.

use std::error::Error;
use std::ffi::c_void;
use std::ptr;
use std::time::Instant;
use tilewright_driver::{Code, add_device, api::*};

const EMPTY: &std::ffi::CStr =
    c".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry empty() { ret; }\n";
const LAUNCHES: u32 = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let check = |code| if code == 0 { Ok(()) } else { Err(Code(code)) };
    let ordinal = add_device(tilewright_arch::Gpu::default())? as i32;
    let (mut context, mut module, mut function) = (0, 0, 0);
    // SAFETY: pointers to variables of these types, and texts that end with a zero.
    unsafe {
        check(cuInit(0))?;
        check(cuCtxCreate_v2(&mut context, 0, ordinal))?;
        check(cuModuleLoadData(&mut module, EMPTY.as_ptr().cast::<c_void>()))?;
        check(cuModuleGetFunction(&mut function, module, c"empty".as_ptr()))?;
    }
    for round in 0..3 {
        let began = Instant::now();
        for _ in 0..LAUNCHES {
            // SAFETY: the kernel has no parameters.
            check(unsafe {
                cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, ptr::null_mut(), ptr::null_mut())
            })?;
        }
        let microseconds = began.elapsed().as_secs_f64() * 1e6 / f64::from(LAUNCHES);
        println!("round {round}: {microseconds:.2} us for a launch of an empty kernel");
    }
    Ok(())
}
