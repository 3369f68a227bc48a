//! Programs that know nothing of Tilewright, on the emulated driver.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod support;

use std::{path::PathBuf, process::Command};
use support::{Desk, Run};

/// A C program on the driver's functions: `squares THREADS` fills an array of 32, more than 32 threads run out of it; `squares exit` ends with code 7.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef int CUresult; typedef void *CUcontext, *CUmodule, *CUfunction, *CUstream; typedef unsigned long long CUdeviceptr;
CUresult cuInit(unsigned); CUresult cuDevicePrimaryCtxRetain(CUcontext *, int); CUresult cuCtxSetCurrent(CUcontext); CUresult cuCtxSynchronize(void);
CUresult cuModuleLoadData(CUmodule *, const void *); CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
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
    let output =
        compiler.args(["squares.c", "-o", "squares", "-L.", "-lcuda"]).current_dir(desk.path()).output();
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
    assert!(run.code == Some(4) && run.err.contains("tilewright-libcuda"), "{}", run.err);
}
