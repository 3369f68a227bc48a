//! A program in Python on Numba, whose kernels are PTX. It is skipped where Python has no Numba; `TILEWRIGHT_TEST_PYTHON` names the interpreter.

mod library;

use std::process::Command;

const PROGRAM: &str = r#"
import numpy as np
from numba import cuda

@cuda.jit
def scale(x, a):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= a

@cuda.jit
def total(x, out):
    tile = cuda.shared.array(64, dtype=np.float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if i < step:
            tile[i] += tile[i + step]
        cuda.syncthreads()
        step //= 2
    if i == 0:
        out[0] = tile[0]

x = np.arange(64, dtype=np.float32)
on_device = cuda.to_device(x)
scale[2, 32](on_device, np.float32(2.0))
assert (on_device.copy_to_host() == 2 * x).all()
out = cuda.device_array(1, dtype=np.float32)
total[1, 64](on_device, out)
print("total", out.copy_to_host()[0], cuda.get_current_device().name)
"#;

#[test]
fn numba_runs_on_the_library() {
    let python = std::env::var_os("TILEWRIGHT_TEST_PYTHON").unwrap_or_else(|| "python3".into());
    let has_numba = Command::new(&python).args(["-c", "import numba.cuda"]).output();
    if has_numba.is_ok_and(|output| !output.status.success()) {
        return eprintln!("skipped: {} has no Numba", python.to_string_lossy());
    }
    let place = library::Place::new();
    let mut program = Command::new(&python);
    program.args(["-c", PROGRAM]).env("NUMBA_CUDA_DRIVER", place.path().join("libcuda.so.1"));
    let Ok(output) = place.on(&mut program).output() else { return eprintln!("skipped: there is no Python") };
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    if err.contains("libNVVM") || err.contains("NvvmSupportError") || err.contains("nvvm") {
        return eprintln!("skipped: Numba finds no NVVM to compile with");
    }
    assert!(output.status.success(), "{err}");
    assert!(out.starts_with("total 4032.0") && out.contains("H200"), "{out}{err}");
}
