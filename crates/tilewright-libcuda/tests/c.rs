//! A program in C on the driver's functions, linked with this library; and the library's list of functions.
#![cfg(target_os = "linux")]

use crate::library;
use std::process::Command;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
typedef int CUresult; typedef int CUdevice; typedef void *CUcontext, *CUmodule, *CUfunction, *CUstream;
typedef unsigned long long CUdeviceptr;
CUresult cuInit(unsigned); CUresult cuDeviceGet(CUdevice *, int); CUresult cuDeviceGetName(char *, int, CUdevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice); CUresult cuCtxSetCurrent(CUcontext); CUresult cuCtxSynchronize(void);
CUresult cuModuleLoadData(CUmodule *, const void *); CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t); CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
CUresult cuGetProcAddress_v2(const char *, void **, int, unsigned long long, int *);
CUresult cuGetErrorName(CUresult, const char **);
#define TRY(call) do { CUresult code = (call); if (code) { const char *name = "?"; cuGetErrorName(code, &name); \
    fprintf(stderr, "%s: %s\n", #call, name); return 3; } } while (0)
static const char *ptx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry squares(.param .u64 p) {\n.reg .u64 %rd<4>; .reg .u32 %r<4>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, %r1;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r2; ret;\n}\n"
    ".visible .entry endless(.param .u64 p) {\nagain: bra again;\n}\n";
int main(int count, char **arguments) {
    CUdevice device; CUcontext context; CUmodule module; CUfunction squares; CUdeviceptr memory; char name[64];
    unsigned threads = count > 1 ? 33 : 32, result[32]; int endless = count > 2;
    TRY(cuInit(0)); TRY(cuDeviceGet(&device, 0)); TRY(cuDeviceGetName(name, 64, device));
    TRY(cuDevicePrimaryCtxRetain(&context, device)); TRY(cuCtxSetCurrent(context));
    TRY(cuModuleLoadData(&module, ptx)); TRY(cuModuleGetFunction(&squares, module, endless ? "endless" : "squares"));
    TRY(cuMemAlloc_v2(&memory, sizeof result));
    void *values[] = { &memory };
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
    int status = -1;
    TRY(cuGetProcAddress_v2("cuLaunchKernel", (void **)&launch, 13000, 0, &status));
    if (status != 0) return 4;
    TRY(launch(squares, 1, 1, 1, threads, 1, 1, 0, 0, values, 0));
    TRY(cuCtxSynchronize()); TRY(cuMemcpyDtoH_v2(result, memory, sizeof result));
    printf("%s: %u\n", name, result[31]);
    return 0;
}
"#;

#[test]
fn a_program_in_c_runs_on_the_library() {
    let place = library::Place::new();
    let (source, program) = (place.path().join("squares.c"), place.path().join("squares"));
    std::fs::write(&source, PROGRAM).expect("written");
    let compiled = Command::new("cc")
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(place.path())
        .arg("-lcuda")
        .output();
    let Ok(compiled) = compiled else { return eprintln!("skipped: there is no C compiler") };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = |arguments: &[&str]| {
        let mut program = Command::new(&program);
        program.args(arguments).env("TILEWRIGHT_EMULATOR_MAX_SECONDS", "2");
        let output = place.on(&mut program).output().expect("it starts");
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, err) = run(&[]);
    assert_eq!((code, out.as_str()), (Some(0), "H200 SXM (Tilewright emulator): 961\n"), "{err}");
    // One thread too many.
    let (code, _, err) = run(&["wrong"]);
    assert_eq!(code, Some(3));
    assert!(
        err.contains("out of bounds in squares")
            && err.contains("cuCtxSynchronize(): CUDA_ERROR_ILLEGAL_ADDRESS"),
        "{err}"
    );
    // After a second it says that it still runs, and at the limit where it was.
    let (code, _, err) = run(&["an", "endless", "loop"]);
    assert_eq!(code, Some(3));
    for part in
        ["endless has run for 1 s", "is still running here", "cuCtxSynchronize(): CUDA_ERROR_LAUNCH_TIMEOUT"]
    {
        assert!(err.contains(part), "{part}: {err}");
    }
}

#[test]
fn every_function_of_the_list_is_exported() {
    // SAFETY: the library's own start sets settings, and nothing else.
    let library = unsafe { libloading::Library::new(library::built()) }.expect("it loads");
    for name in [
        "cuInit",
        "cuLaunchKernel",
        "cuMemAlloc_v2",
        "cuGraphLaunch",
        "cuIpcGetMemHandle",
        "cuGetExportTable",
        "tilewright_emulated_driver",
    ] {
        // SAFETY: only the address is looked at.
        assert!(unsafe { library.get::<unsafe extern "C" fn()>(name) }.is_ok(), "{name}");
    }
}
