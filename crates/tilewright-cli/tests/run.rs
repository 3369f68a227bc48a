//! Programs that know nothing of Tilewright, on the emulated driver.
#![cfg(target_os = "linux")]
use crate::support::{Desk, Run};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A C program on the driver's functions: `squares THREADS` fills an array of 32, more than 32 threads run out of it; `squares exit` ends with code 7,
/// `squares runtime LIBRARY` with code 8 if NVIDIA's runtime library fails, or as it asks the driver where there is none.
const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef int CUresult; typedef void *CUcontext, *CUmodule, *CUfunction, *CUstream; typedef unsigned long long CUdeviceptr;
CUresult cuInit(unsigned); CUresult cuDevicePrimaryCtxRetain(CUcontext *, int); CUresult cuCtxSetCurrent(CUcontext); CUresult cuCtxSynchronize(void);
CUresult cuModuleLoadData(CUmodule *, const void *); CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t); CUresult cuGetExportTable(const void **, const void *);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
static const char *ptx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry squares(.param .u64 p) {\n.reg .u64 %rd<4>; .reg .u32 %r<4>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, %r1;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
    "st.global.u32 [%rd3], %r2; ret;\n}\n"
    ".visible .entry endless() {\nagain: bra again;\n}\n";
int main(int count, char **arguments) {
    CUcontext context; CUmodule module; CUfunction function; CUdeviceptr memory;
    puts("the program's own output");
    if (!strcmp(arguments[1], "exit")) return 7;
    if (!strcmp(arguments[1], "runtime")) {
        const void *table; char id[16] = "not documented";
        if (count < 3) return cuGetExportTable(&table, id) ? 8 : 0;
        void *runtime = dlopen(arguments[2], RTLD_NOW);
        if (!runtime) return 1;
        int (*allocate)(void **, size_t) = (int (*)(void **, size_t))dlsym(runtime, "cudaMalloc");
        void *place; return allocate(&place, 64) ? 8 : 0;
    }
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)) return 3;
    int endless = !strcmp(arguments[1], "endless");
    if (cuModuleLoadData(&module, ptx) || cuModuleGetFunction(&function, module, endless ? "endless" : "squares")) return 4;
    if (cuMemAlloc_v2(&memory, 128)) return 5;
    void *values[] = { &memory };
    for (int time = 0; time < 3; time++)
        if (cuLaunchKernel(function, 1, 1, 1, endless ? 32 : atoi(arguments[1]), 1, 1, 0, 0, values, 0)) return 6;
    return cuCtxSynchronize() ? 9 : 0;
}
"#;

/// The emulated library, built beside the command: `None`, and a line, where it is not.
fn library() -> Option<PathBuf> {
    let directory = PathBuf::from(env!("CARGO_BIN_EXE_tilewright"));
    let places =
        ["", "deps"].map(|place| directory.parent().unwrap().join(place).join("libtilewright_libcuda.so"));
    // That of the last build: cargo puts it beside the command when it builds, and only into deps when it tests.
    let modified = |path: &PathBuf| path.metadata().and_then(|metadata| metadata.modified()).ok();
    let found = places.into_iter().filter(|path| path.is_file()).max_by_key(modified);
    if found.is_none() {
        eprintln!("skipped: the library is not built; cargo build -p tilewright-libcuda");
    }
    found
}

/// The command, with that library.
fn on_library(desk: &Desk, line: &str) -> Run {
    Run::of(desk.command(line).env("TILEWRIGHT_LIBCUDA_PATH", library().unwrap()).output().unwrap())
}

/// The program, compiled.
fn compiled(desk: &Desk) -> Option<()> {
    let library = library()?;
    desk.put("squares.c", PROGRAM);
    std::os::unix::fs::symlink(library, desk.file("libcuda.so")).unwrap();
    let mut compiler = Command::new("cc");
    let output = compiler
        .args(["squares.c", "-o", "squares", "-L.", "-lcuda", "-ldl"])
        .current_dir(desk.path())
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no C compiler");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

#[test]
fn a_program_runs_and_its_kernels_are_listed() {
    let desk = Desk::new();
    if compiled(&desk).is_none() {
        return;
    }
    let run = on_library(&desk, "run --gpu a6000 -- ./squares 32");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "the program's own output\n"), "{}", run.err);
    let row = run.err.lines().find(|line| line.starts_with("squares")).unwrap();
    let cells: Vec<_> = row.split_whitespace().collect();
    assert_eq!(cells[..3], ["squares", "3", "0"], "{row}");
    let run = on_library(&desk, "run --gpu a6000 --format json -- ./squares 32");
    assert!(run.err.contains("the program's own output"), "{}", run.err);
    let json: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let kernel = &json["kernels"][0];
    assert_eq!((&json["schema"], &json["exit_code"]), (&1.into(), &0.into()));
    assert_eq!((&kernel["gpu"], &kernel["launches"]), (&"RTX A6000".into(), &3.into()));
    assert_eq!(kernel["counters"]["global_store"]["sectors"], 12);
}

#[test]
fn a_program_with_a_fault_is_told_where() {
    let desk = Desk::new();
    if compiled(&desk).is_none() {
        return;
    }
    let run = on_library(&desk, "run --report page.html -- ./squares 33");
    assert_eq!(run.code, Some(1), "{}", run.err);
    for part in ["access out of bounds", "PTX line 8", "fix:", "1 error was found in the program's kernels"] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    let page = desk.get("page.html");
    assert!(page.contains("access out of bounds") && page.contains("<h1>./squares</h1>"), "{page}");
}

#[test]
fn an_endless_program_comes_to_the_limit() {
    let desk = Desk::new();
    if compiled(&desk).is_none() {
        return;
    }
    let run = on_library(&desk, "run --max-steps 100000 -- ./squares endless");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(
        run.err.contains("is still running here") && run.err.contains("CUDA_ERROR_LAUNCH_TIMEOUT"),
        "{}",
        run.err
    );
}

#[test]
fn the_code_of_the_program_is_that_of_the_command() {
    let desk = Desk::new();
    if compiled(&desk).is_none() {
        return;
    }
    let run = on_library(&desk, "run -- ./squares exit");
    assert_eq!(run.code, Some(7), "{}", run.err);
    assert!(run.err.contains("no kernel was launched") && !run.err.contains("error"), "{}", run.err);
}

/// A program in Rust on cudarc, an example of the library's crate: `None`, and a line, where it is not built.
fn axpy() -> Option<PathBuf> {
    library()?;
    let program = Path::new(env!("CARGO_BIN_EXE_tilewright")).parent().unwrap().join("examples/axpy");
    if !program.is_file() {
        eprintln!("skipped: the example is not built; cargo build -p tilewright-libcuda --example axpy");
        return None;
    }
    Some(program)
}

#[test]
fn a_program_in_rust_on_cudarc() {
    let desk = Desk::new();
    let Some(program) = axpy() else { return };
    let run = on_library(&desk, &format!("run --gpu a6000 -- {} 1000", program.display()));
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("A6000") && run.out.ends_with("y ends with 1498.5\n"), "{}", run.out);
    let row = run.err.lines().find(|line| line.starts_with("axpy")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>()[1..3], ["1", "0"], "{row}");
    // One element behind the end of both arrays: cudarc gets the driver's code, the user the place.
    let run = on_library(&desk, &format!("run --gpu a6000 -- {} 1001", program.display()));
    assert_eq!(run.code, Some(1), "{}", run.err);
    for part in ["DriverError(CUDA_ERROR_ILLEGAL_ADDRESS", "thread (1000, 0, 0)", "3 errors were found"] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
}

/// Scales an array of 64 elements by as many threads as it is told, and adds them up, its blocks in the same launch.
const PYTHON: &str = r#"
import sys
import numpy as np
from numba import cuda

@cuda.jit(lineinfo=True)
def scale(x, n, a):
    i = cuda.grid(1)
    if i < n:
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

@cuda.jit
def meet(x, out):
    i = cuda.grid(1)
    x[i] += 1
    cuda.cg.this_grid().sync()
    if i == 0:
        for j in range(x.size):
            out[0] += x[j]

n = int(sys.argv[1])
x = np.arange(64, dtype=np.float32)
on_device = cuda.to_device(x)
scale[(n + 31) // 32, 32](on_device, n, np.float32(2.0))
assert (on_device.copy_to_host() == 2 * x).all()
out = cuda.device_array(1, dtype=np.float32)
total[1, 64](on_device, out)
met = cuda.to_device(np.zeros(1, dtype=np.float32))
meet[2, 32](on_device, met)
assert met.copy_to_host()[0] == out.copy_to_host()[0] + 64
print("total", out.copy_to_host()[0], cuda.get_current_device().name)
"#;

/// Why Numba cannot be used, and otherwise where NVIDIA's Python packages are that it compiles with.
const PROBE: &str = r#"
import importlib.util, os, sys
if importlib.util.find_spec("numba") is None:
    sys.exit("it has no Numba")
if importlib.util.find_spec("numba_cuda") is not None:
    sys.exit("this is numba-cuda, which has its compiler by itself")
nvidia = importlib.util.find_spec("nvidia")
place = list(nvidia.submodule_search_locations)[0] if nvidia else ""
if not os.path.exists(os.path.join(place, "cuda_nvcc/nvvm/lib64/libnvvm.so")):
    sys.exit("Numba needs the packages nvidia-cuda-nvcc-cu12 and nvidia-cuda-runtime-cu12 to compile")
print(place)
"#;

/// What is needed of it, at versions that are known to work.
const PACKAGES: [&str; 3] =
    ["numba==0.68.1", "nvidia-cuda-nvcc-cu12==12.9.86", "nvidia-cuda-runtime-cu12==12.9.79"];

/// Python with Numba, and where NVIDIA's packages are: that of `TILEWRIGHT_TEST_PYTHON`, of target/numba, or the system's. With
/// `TILEWRIGHT_REQUIRE_NUMBA` it is installed into target/numba; otherwise `None`, and a line, where there is none.
fn numba() -> Option<(PathBuf, PathBuf)> {
    library()?;
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/numba");
    let is_required = std::env::var_os("TILEWRIGHT_REQUIRE_NUMBA").is_some();
    if is_required && !own.exists() {
        let run = |program: &Path, arguments: &[&str]| {
            let status = Command::new(program).args(arguments).status().expect("Python");
            assert!(status.success(), "{arguments:?}");
        };
        run(Path::new("python3"), &["-m", "venv", own.to_str().unwrap()]);
        let [a, b, c] = PACKAGES;
        run(&own.join("bin/pip"), &["install", "-q", a, b, c]);
    }
    let named = std::env::var_os("TILEWRIGHT_TEST_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| match own.join("bin/python") {
        python if python.exists() => python,
        _ => "python3".into(),
    });
    let why = match Command::new(&python).args(["-c", PROBE]).output() {
        Ok(probe) if probe.status.success() => {
            return Some((python, String::from_utf8_lossy(&probe.stdout).trim().into()));
        }
        Ok(probe) => String::from_utf8_lossy(&probe.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    assert!(!is_required, "{}: {why}", python.display());
    eprintln!("skipped: {}: {why}", python.display());
    None
}

#[test]
fn a_program_in_python_on_numba() {
    let desk = Desk::new();
    let Some((python, packages)) = numba() else { return };
    desk.put("program.py", PYTHON);
    // Numba looks for a toolkit; the packages have its parts under other names.
    for (part, name) in [
        ("cuda_nvcc/nvvm/lib64/libnvvm.so", "libnvvm.so"),
        ("cuda_runtime/lib/libcudart.so.12", "libcudart.so"),
        ("cuda_nvcc/nvvm", "nvvm"),
        ("cuda_runtime/lib", "lib64"),
    ] {
        std::os::unix::fs::symlink(packages.join(part), desk.file(name)).unwrap();
    }
    let run = |threads: u32| {
        let mut command = desk.command(&format!("run -- {} program.py {threads}", python.display()));
        command.env("TILEWRIGHT_LIBCUDA_PATH", library().unwrap());
        command.env("CUDA_HOME", desk.path()).env("LD_LIBRARY_PATH", desk.path());
        Run::of(command.output().unwrap())
    };
    let right = run(64);
    assert_eq!(right.code, Some(0), "{}", right.err);
    assert!(right.out.starts_with("total 4032.0") && right.out.contains("H200"), "{}", right.out);
    for kernel in ["scale ", "total ", "meet "] {
        assert!(right.err.lines().any(|line| line.starts_with(kernel)), "{kernel}: {}", right.err);
    }
    // The line of Python is named.
    let wrong = run(65);
    assert_eq!(wrong.code, Some(1), "{}", wrong.err);
    assert!(wrong.err.contains("access out of bounds in scale: reads 4 bytes"), "{}", wrong.err);
    assert!(wrong.err.contains("program.py:10, PTX line"), "{}", wrong.err);
}

/// NVIDIA's runtime library, where the compiler's Python packages are.
fn runtime_library() -> Option<PathBuf> {
    let packages = PathBuf::from(std::env::var_os("VIRTUAL_ENV")?).join("lib");
    let inside = |directory: PathBuf| std::fs::read_dir(directory).into_iter().flatten().flatten();
    let python = inside(packages).map(|entry| entry.path().join("site-packages/nvidia/cu13/lib"));
    let is_it = |path: &PathBuf| path.to_string_lossy().contains("/libcudart.so.");
    python.flat_map(inside).map(|entry| entry.path()).find(is_it)
}

#[test]
fn a_program_on_the_runtime_library_is_told_why_it_fails() {
    let desk = Desk::new();
    if compiled(&desk).is_none() {
        return;
    }
    let runtime = runtime_library().map_or(String::new(), |path| path.display().to_string());
    let run = on_library(&desk, &format!("run -- ./squares runtime {runtime}"));
    assert_eq!(run.code, Some(8), "{}", run.err);
    let words =
        "this program uses NVIDIA's runtime library (libcudart), which works with NVIDIA's driver alone";
    assert_eq!(run.err.matches(words).count(), 1, "{}", run.err);
    // A program that goes on without is told nothing.
    let run = on_library(&desk, "run -- ./squares 32");
    assert!(!run.err.contains("runtime library"), "{}", run.err);
}

#[test]
fn what_cannot_be_run_is_refused() {
    let desk = Desk::new();
    assert_eq!(desk.run("run").code, Some(2));
    if library().is_none() {
        return;
    }
    let run = on_library(&desk, "run --gpu a600 -- true");
    assert!(run.code == Some(2) && run.err.contains("A6000"), "{}", run.err);
    let run = on_library(&desk, "run -- ./nothing-of-this-name");
    assert!(run.code == Some(3) && run.err.contains("nothing-of-this-name"), "{}", run.err);
    let missing = desk.command("run -- true").env("TILEWRIGHT_LIBCUDA_PATH", "/nowhere").output().unwrap();
    let run = Run::of(missing);
    assert!(run.code == Some(4) && run.err.contains("embed-libcuda"), "{}", run.err);
}
