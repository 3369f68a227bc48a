//! A program in Python on Numba, whose kernels are PTX. It is skipped where Python has no Numba; `TILEWRIGHT_TEST_PYTHON` names the interpreter.
#![cfg(target_os = "linux")]

mod library;

use std::path::PathBuf;
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

/// Why Numba cannot be used, and otherwise where NVIDIA's Python packages are, which it compiles with.
const PROBE: &str = r#"
import importlib.util, sys
if importlib.util.find_spec("numba") is None:
    sys.exit("it has no Numba")
if importlib.util.find_spec("numba_cuda") is not None:
    sys.exit("numba-cuda makes machine code by itself")
nvidia = importlib.util.find_spec("nvidia")
print(list(nvidia.submodule_search_locations)[0] if nvidia else "")
"#;

#[test]
fn numba_runs_on_the_library() {
    let python = std::env::var_os("TILEWRIGHT_TEST_PYTHON").unwrap_or_else(|| "python3".into());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let Ok(probe) = Command::new(&python).args(["-c", PROBE]).output() else {
        return eprintln!("skipped: there is no Python");
    };
    if !probe.status.success() {
        return eprintln!("skipped: {}: {}", python.to_string_lossy(), text(&probe.stderr));
    }
    let place = library::Place::new();
    let mut program = Command::new(&python);
    program.args(["-c", PROGRAM]).env("NUMBA_CUDA_DRIVER", place.path().join("libcuda.so.1"));
    // Numba looks for a toolkit; the packages have its parts under other names.
    let packages = PathBuf::from(text(&probe.stdout));
    program.env("CUDA_HOME", packages.join("cuda_nvcc"));
    for (part, name) in [
        ("cuda_nvcc/nvvm/lib64/libnvvm.so", "libnvvm.so"),
        ("cuda_runtime/lib/libcudart.so.12", "libcudart.so"),
    ] {
        std::os::unix::fs::symlink(packages.join(part), place.path().join(name)).expect("a link");
    }
    let output = place.on(&mut program).output().expect("it starts");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    if err.contains("NvvmSupportError") {
        return eprintln!(
            "skipped: Numba needs the packages nvidia-cuda-nvcc-cu12 and nvidia-cuda-runtime-cu12 to compile"
        );
    }
    assert!(output.status.success(), "{err}");
    assert!(out.starts_with("total 4032.0") && out.contains("H200"), "{out}{err}");
}
