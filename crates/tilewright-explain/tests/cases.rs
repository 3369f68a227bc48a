//! Kernels from files and from the catalogue, run and explained.

use crate::plain;
use std::path::Path;
use tilewright_arch::{ComputeCapability, KernelResources};
use tilewright_core::{Error, ErrorKind};
use tilewright_explain::*;

pub fn request(arguments: &[(&str, &str)]) -> Request<'static> {
    plain::request(Gpu::named("a6000").unwrap(), arguments)
}

const REVERSE: &[(&str, &str)] = &[("input", "f32[256]:range"), ("output", "f32[256]"), ("factor", "0.5")];

fn reverse(request: &Request<'_>) -> Result<Case, Error> {
    Case::of_file(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reverse.ptx")), request)
}

#[test]
fn a_file_of_ptx() {
    let request = Request { block: Some([256, 1, 1]), ..request(REVERSE) };
    let explained = reverse(&request).unwrap().explain(&request.gpu).unwrap();
    let e = &explained.explanation;
    assert_eq!((e.entry.as_str(), e.grid, e.block), ("reverse", [1; 3], [256, 1, 1]));

    let output: Vec<f32> = explained.arrays[1]
        .bytes
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    let expected: Vec<f32> = (0..256).rev().map(|i| 0.5 * (32 * (i % 8)) as f32).collect();
    assert_eq!(output, expected);

    // Eight lines of 128 bytes, a sector of each, for every warp.
    let t = &e.totals;
    assert_eq!((t.global_load.requests, t.global_load.sectors, t.global_load.bytes_requested), (8, 64, 1024));
    assert_eq!((t.global_store.requests, t.global_store.sectors), (8, 32));
    assert_eq!((t.shared_store.requests, t.shared_store.wavefronts, t.shared_store.conflicts()), (8, 16, 8));
    assert_eq!((t.shared_load.wavefronts, t.shared_load.ideal_wavefronts), (16, 8));
    assert_eq!((t.barriers, t.flops, t.warp_instructions), (8, 256, 8 * 19));
    assert_eq!(t.instruction_mix["mul.f32"], 8);
    // 8 sectors of the input and 32 of the output are touched at all.
    assert_eq!(t.arithmetic_intensity.compulsory, Some(256.0 / (40.0 * 32.0)));

    // Without line information the PTX is the source.
    let load = e.lines.iter().find(|line| line.text.starts_with("ld.global")).unwrap();
    assert_eq!(load.line, 21);
    assert_eq!(load.accesses[0].instruction, "ld.global.f32");
    let kinds: Vec<FindingKind> = e.findings.iter().map(|f| f.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == FindingKind::BankConflict).count(), 2, "{kinds:?}");
    assert!(kinds.contains(&FindingKind::Uncoalesced) && !e.has_errors(), "{kinds:?}");

    let patterns = &explained.recording.patterns[load.accesses[0].id];
    assert_eq!(patterns.access, load.accesses[0].id);
    assert_eq!((patterns.shapes.len(), patterns.shapes[0].count, patterns.executions.len()), (1, 8, 8));
    assert_eq!(patterns.shapes[0].offsets[..9], [0, 128, 256, 384, 512, 640, 768, 896, 0]);
    let last = patterns.executions[7];
    assert_eq!((last.warp, last.round, last.shape, last.buffer, last.base), (7, 0, 0, Some(0), 0));
    assert_eq!(load.accesses[0].buffer.as_deref(), Some("input"));
    let shared = e.accesses().find(|a| a.instruction == "ld.shared.f32").unwrap();
    let patterns = &explained.recording.patterns[shared.id];
    assert_eq!(patterns.shapes[0].wavefronts.iter().max(), Some(&1));
    assert_eq!((patterns.executions[1].buffer, patterns.executions[1].base), (None, 256));
}

#[test]
fn an_array_that_is_too_short_is_an_error_of_the_kernel() {
    let arguments = [REVERSE[0], ("output", "f32[255]"), REVERSE[2]];
    let request = Request { block: Some([256, 1, 1]), ..request(&arguments) };
    let explained = reverse(&request).unwrap().explain(&request.gpu).unwrap();
    let finding = &explained.explanation.findings[0];
    assert_eq!((finding.severity, finding.kind.name()), (Severity::Error, "out-of-bounds"));
    assert_eq!(finding.participants[0].threads, [[0, 0, 0]]);
    assert_eq!(finding.participants[0].location.as_ref().unwrap().ptx_line, Some(31));
}

#[test]
fn a_launch_that_the_gpu_does_not_take_is_an_error_and_is_not_executed() {
    let with =
        |bytes| Request { block: Some([256, 1, 1]), dynamic_shared_memory: Some(bytes), ..request(REVERSE) };
    let explain = |bytes| reverse(&with(bytes)).unwrap().explain(&with(bytes).gpu);
    let most = with(0).gpu.limits.shared_memory_per_block_optin;
    // The kernel has 2048 bytes of its own.
    let refused = explain(most - 2047).unwrap();
    let [finding] = &refused.explanation.findings[..] else { panic!("{:?}", refused.explanation.findings) };
    assert_eq!((finding.severity, finding.kind.name()), (Severity::Error, "cannot-launch"));
    assert!(finding.message.contains(&format!("takes {} bytes of shared memory", most + 1)), "{finding:?}");
    assert!(finding.fix.contains(&format!("use at most {most} bytes")), "{finding:?}");
    assert!(!refused.is_clean && refused.explanation.totals.warp_instructions == 0);
    assert_eq!(
        explain(most - 2048)
            .unwrap()
            .explanation
            .findings
            .iter()
            .filter(|f| f.kind == FindingKind::CannotLaunch)
            .count(),
        0
    );
    // More registers than a block may have, and a kernel that the assembler refuses.
    let mut case = reverse(&with(0)).unwrap();
    case.launches[0].shape.block = [1024, 1, 1];
    case.launches[0].resources = Some(KernelResources { registers_per_thread: 103, ..Default::default() });
    let heavy = case.clone().explain(&with(0).gpu).unwrap();
    let finding = &heavy.explanation.findings[0];
    assert!(
        finding.message.contains("1024 threads with 103 registers")
            && finding.fix.contains("__launch_bounds__(1024)"),
        "{finding:?}"
    );
    case.launches[0].assembler_refusal = Some("ptxas error: too much".into());
    let refused = case.explain(&with(0).gpu).unwrap();
    let finding = &refused.explanation.findings[0];
    assert_eq!(finding.kind, FindingKind::DoesNotCompile);
    assert!(finding.message.contains("ptxas error: too much"), "{finding:?}");
}

#[test]
fn what_is_missing_is_named() {
    let error = |request: Request<'_>| reverse(&request).unwrap_err().to_string();
    assert!(error(request(REVERSE)).contains("threads of a block"));
    let missing = Request { block: Some([32, 1, 1]), ..request(&REVERSE[..2]) };
    assert!(error(missing).contains("factor is missing"));
    let other = Request { entry: Some("forward".into()), ..request(REVERSE) };
    assert!(error(other).contains("no such kernel"));
}

/// `None` for a program that needs a compiler, where there is none: the catalogue has the PTX of usual constants only.
fn catalogue(name: &str, arguments: &[(&str, &str)]) -> Option<Explained> {
    let request = request(arguments);
    let case = Case::of_kernel(tilewright_kernels::find(name).unwrap(), &request);
    match case {
        Err(error) if error.is_unavailable() => None,
        case => Some(case.unwrap().explain(&request.gpu).unwrap()),
    }
}

#[test]
fn the_rungs_of_the_ladder_have_the_numbers_that_courses_derive() {
    let Some(naive) = catalogue("naive", &[("M", "64"), ("N", "64"), ("K", "64")]) else { return };
    let e = naive.explanation;
    // A: every lane its own sector; B: one for all.
    assert_eq!(e.totals.global_load.sectors_per_request(), Some(16.5));
    assert_eq!(e.totals.global_store.efficiency(), Some(0.125));
    assert_eq!(e.totals.flops, 2 * 64 * 64 * 64 + 64 * 64);
    assert!(e.lines.iter().any(|l| l.file.ends_with("naive.cu") && l.text.contains("A[row * lda + k]")));
    assert!(!e.has_errors(), "{:?}", e.findings);
    let coalesced = catalogue("coalesced", &[("M", "64"), ("N", "64"), ("K", "64")]).unwrap().explanation;
    assert_eq!(coalesced.totals.global_load.sectors_per_request(), Some(2.5));

    let tiled = catalogue("shared-tile", &[("M", "64"), ("N", "64"), ("K", "64")]).unwrap();
    let t = &tiled.explanation.totals;
    assert_eq!((t.global_load.requests, t.shared_load.conflicts()), (2 * 4 * 32 * 2, 0));
    assert_eq!(t.barriers, 4 * 32 * 2 * 2);
    assert_eq!(t.occupancy.as_ref().unwrap().warps_per_sm, 32);
    // The loop over the tiles: two turns.
    let rounds = tiled.recording.patterns.iter().flat_map(|p| &p.executions).map(|x| x.round).max();
    assert!(rounds >= Some(1));
}

#[test]
fn recipes_with_a_preparation_and_exhibits() {
    let Some(tiled) = catalogue("register-tile", &[("M", "40"), ("N", "24"), ("K", "16")]) else { return };
    assert!(tiled.explanation.notes.iter().any(|note| note.contains("not counted")));
    assert!(!tiled.explanation.has_errors(), "{:?}", tiled.explanation.findings);
    if let Some(strided) = catalogue("shared-stride", &[("stride", "8")]) {
        assert_eq!(strided.explanation.totals.shared_load.wavefronts, 8);
    }
    for kernel in tilewright_kernels::kernels().iter().filter(|k| k.exhibit().is_some()) {
        let explained = catalogue(kernel.name, &[]).unwrap();
        assert!(!explained.explanation.has_errors(), "{}: {:?}", kernel.name, explained.explanation.findings);
    }
}

/// A program as people write them: headers of the host, a main function, kernels with similar names, and a template.
const PROGRAM: &str = r#"#include <cstdio>
#include <cstdint>
#include <vector>
#include "helper_that_is_not_there.h"
#define CHECK(call) do { cudaError_t e = call; if (e != cudaSuccess) printf("failed\n"); } while (0)

static std::vector<float> numbers(64);

template <class T>
__global__ void scale(T* values, T factor) { values[threadIdx.x] *= factor; }

__global__ void shift(int32_t* values, int32_t by) { values[threadIdx.x] += by * WIDTH; }
__global__ void shift_right(int* values, int by) { values[threadIdx.x] >>= by; }

void prepare(std::vector<float>& all) { for (auto& one : all) one = 1; }

int main() {
    float* on_device = nullptr;
    prepare(numbers);
    CHECK(cudaMalloc(&on_device, 64 * sizeof(float)));
    scale<<<1, 64>>>(on_device, 2.0f);
    return 0;
}
"#;

/// `None` without a compiler.
fn program(entry: &str, arguments: &[(&str, &str)]) -> Option<Result<Explained, Error>> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("program.cu");
    std::fs::write(&path, PROGRAM).unwrap();
    let options = CompilerOptions { define: vec!["WIDTH=3".into()], ..Default::default() };
    let request =
        Request { entry: Some(entry.into()), block: Some([64, 1, 1]), options, ..request(arguments) };
    match Case::of_file(&path, &request).and_then(|case| case.explain(&request.gpu)) {
        Err(error) if error.is_unavailable() && std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none() => {
            None
        }
        explained => Some(explained),
    }
}

#[test]
fn a_program_with_a_main_function() {
    let values = ("values", "f32[64]:range");
    let Some(scaled) = program("scale<float>", &[values, ("factor", "1.5")]) else {
        return eprintln!("skipped: there is no NVRTC");
    };
    let scaled = scaled.unwrap();
    assert!(scaled.arrays[0].numbers().map(Scalar::to_f64).eq((0..64).map(|i| 1.5 * f64::from(i))));
    let e = &scaled.explanation;
    assert!(!e.has_errors(), "{:?}", e.findings);
    assert_eq!((e.entry.as_str(), e.name.as_str()), ("_Z5scaleIfEvPT_S0_", "scale<float>"));
    assert!(
        e.lines.iter().any(|line| line.line == 10 && line.text.contains("values[threadIdx.x] *= factor"))
    );
    let note = "left out: headers that were not found: helper_that_is_not_there.h; code for the host, lines 7, 15, 17-23";
    assert!(e.notes.iter().any(|n| n == note), "{:?}", e.notes);
    // An exact name is meant, though another has it as a part; the macro is defined.
    let shifted = program("shift", &[("values", "i32[64]:range"), ("by", "7")]).unwrap().unwrap();
    assert_eq!(shifted.arrays[0].numbers().next(), Some(Scalar::Integer(21)));
    let error = |entry: &str| program(entry, &[values]).unwrap().unwrap_err();
    assert!(error("scale").to_string().contains("no such kernel"));
    assert!(error("scale").hint().unwrap().contains("scale<float>"));
    assert!(error("shif").hint().unwrap().contains("shift, shift_right"));
    assert!(error("scale<nothing>").to_string().contains("nothing"));
}

#[test]
fn ptx_has_the_names_of_its_source() {
    let directory = tempfile::tempdir().unwrap();
    let (source, ptx) = (directory.path().join("twice.cu"), directory.path().join("twice.ptx"));
    std::fs::write(&source, "__global__ void twice(float* data, int unused) { data[0] *= 2; }\n").unwrap();
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"/elsewhere/twice.cu\"\n\
        .visible .entry _Z5twicePfi(.param .u64 _Z5twicePfi_param_0, .param .u32 _Z5twicePfi_param_1)\n{\n\
        .reg .b64 %rd<3>; .reg .f32 %f<3>;\n.loc 1 1 1\nld.param.u64 %rd1, [_Z5twicePfi_param_0];\n\
        ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;\nst.global.f32 [%rd1], %f2;\nret;\n}\n";
    std::fs::write(&ptx, text).unwrap();
    let request = Request { block: Some([1, 1, 1]), ..request(&[("data", "f32[1]:21"), ("unused", "0")]) };
    let explained = Case::of_file(&ptx, &request).unwrap().explain(&request.gpu).unwrap();
    assert_eq!(explained.arrays[0].numbers().next(), Some(Scalar::Real(42.0)));
    assert_eq!((explained.arrays[0].name.as_str(), explained.explanation.name.as_str()), ("data", "twice"));
}

/// Headers of CUDA in kernels; each line is skipped where its header is not installed.
#[test]
fn headers_of_cuda_and_of_hosts() {
    let Ok(nvrtc) = tilewright_toolchain::Nvrtc::find() else {
        return eprintln!("skipped: there is no NVRTC");
    };
    let include = nvrtc.location().path.parent().unwrap().with_file_name("include");
    let has = |header: &str| include.join(header).is_file() || include.join("cccl").join(header).is_file();
    let directory = tempfile::tempdir().unwrap();
    for (header, headers, body) in [
        // nvcc includes <math.h> and <sys/types.h> unasked.
        ("", "<cstdio>", "uint two = 2; x[i] += -INFINITY < x[i] ? sqrtf(2 * two) : std::abs(x[i]);"),
        (
            "",
            "<cstdint> <climits> <cfloat> <cmath>",
            "x[i] += std::sqrt(4.0f) + float(uint64_t(INT_MAX) / FLT_MAX);",
        ),
        (
            "",
            "<cstdio> <stdio.h> <cassert> <iostream> <string>",
            "assert(n == 32); if (i == 0) printf(\"%d\\n\", n); x[i] += 2;",
        ),
        ("cuda_runtime.h", "<cuda_runtime.h> <device_launch_parameters.h>", "x[i] += min(2, n);"),
        (
            "cooperative_groups.h",
            "<cooperative_groups.h>",
            "auto block = cooperative_groups::this_thread_block(); block.sync(); x[i] += block.size() / 16;",
        ),
        (
            "cuda_fp16.h",
            "<cublas_v2.h>",
            "x[i] += __half2float(__hadd(__float2half(1.5f), __float2half(0.5f)));",
        ),
        (
            "mma.h",
            "<mma.h>",
            "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c; \
          nvcuda::wmma::fill_fragment(c, 2.0f); x[i] += c.x[0];",
        ),
        (
            "cuda/std/limits",
            "<cuda/std/limits> <limits> <type_traits> <algorithm>",
            "static_assert(std::is_same<int, int>::value); \
          x[i] += std::numeric_limits<float>::max() > 0 ? 2 : cuda::std::numeric_limits<float>::max();",
        ),
        (
            "cub/block/block_reduce.cuh",
            "<cub/cub.cuh>",
            "typedef cub::BlockReduce<float, 32> Reduce; __shared__ Reduce::TempStorage space; \
          float sum = Reduce(space).Sum(x[i]); x[i] += i == 0 ? sum / 248 : 2;",
        ),
    ] {
        if !header.is_empty() && !has(header) {
            eprintln!("skipped: {header} is not installed");
            continue;
        }
        let includes: String = headers.split_whitespace().map(|name| format!("#include {name}\n")).collect();
        let text = format!(
            "{includes}extern \"C\" __global__ void k(float* x, int n) {{ int i = threadIdx.x; {body} }}\nint main() {{ return 0; }}\n"
        );
        let path = directory.path().join("k.cu");
        std::fs::write(&path, text).unwrap();
        let request = Request { block: Some([32, 1, 1]), ..request(&[("x", "f32[32]:range"), ("n", "32")]) };
        let explained =
            Case::of_file(&path, &request).unwrap_or_else(|e| panic!("{headers}: {e}")).explain(&request.gpu);
        let explained = explained.unwrap_or_else(|e| panic!("{headers}: {e}"));
        assert!(explained.is_clean, "{headers}: {:?}", explained.explanation.findings);
        let found: Vec<f64> = explained.arrays[0].numbers().map(Scalar::to_f64).collect();
        let expected: Vec<f64> = (0..32).map(|i| f64::from(i) + 2.0).collect();
        assert_eq!(found, expected, "{headers}");
        // nvcc is not needed for any of them.
        let notes = &explained.explanation.notes;
        assert!(notes.iter().all(|note| !note.contains("nvcc")), "{headers}: {notes:?}");
    }
}

/// A member of the host's library in a type that kernels use is too much for NVRTC.
#[test]
fn nvcc_compiles_what_nvrtc_does_not_understand() {
    let has_host_compiler = std::process::Command::new("g++").arg("--version").output().is_ok();
    if tilewright_toolchain::Nvcc::find().is_err() || !has_host_compiler {
        return eprintln!("skipped: needs nvcc and g++");
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("named.cu");
    let text = "#include <string>
        struct Named { std::string name; __device__ static float two() { return 2; } };
        template <class T> __global__ void k(T* x) { x[0] *= Named::two() * FACTOR; }
        int main() { return Named{}.name.empty(); }";
    std::fs::write(&path, text).unwrap();
    let request = Request {
        entry: Some("k<double>".into()),
        block: Some([1, 1, 1]),
        options: CompilerOptions { define: vec!["FACTOR=3".into()], ..Default::default() },
        ..request(&[("x", "f64[1]:7")])
    };
    let explained = Case::of_file(&path, &request).unwrap().explain(&request.gpu).unwrap();
    assert_eq!(explained.arrays[0].numbers().next(), Some(Scalar::Real(42.0)));
    let notes = &explained.explanation.notes;
    assert!(notes.iter().any(|note| note.contains("compiled by nvcc")), "{notes:?}");
    assert!(
        explained.explanation.lines.iter().any(|line| line.line == 3),
        "{:?}",
        explained.explanation.lines
    );
}

/// What each block of a launch says of its cluster: `%cluster_nctarank` and `%cluster_ctarank`.
#[test]
fn clusters_are_those_of_the_launch_or_of_the_kernel() {
    let directory = tempfile::tempdir().unwrap();
    let explain = |directives: &str, cluster: Option<[u32; 3]>, cc: ComputeCapability| {
        let path = directory.path().join("ranks.ptx");
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry ranks(.param .u64 out)\n{directives}{{\n\
            .reg .b64 %a<3>; .reg .b32 %r<5>;\nld.param.u64 %a1, [out];\nmov.u32 %r1, %ctaid.x;\n\
            mul.wide.u32 %a2, %r1, 8;\nadd.u64 %a2, %a1, %a2;\nmov.u32 %r2, %cluster_nctarank;\n\
            mov.u32 %r3, %cluster_ctarank;\nst.global.v2.u32 [%a2], {{%r2, %r3}};\nret;\n}}\n"
        );
        std::fs::write(&path, text).unwrap();
        let gpu = Gpu::of(cc).unwrap();
        let request = Request {
            grid: Some([4, 1, 1]),
            block: Some([1, 1, 1]),
            cluster,
            ..plain::request(gpu, &[("out", "i32[4,2]")])
        };
        let explained = Case::of_file(&path, &request).unwrap().explain(&gpu)?;
        if let Some(error) =
            explained.explanation.findings.iter().find(|finding| finding.kind == FindingKind::CannotLaunch)
        {
            return Err(ErrorKind::Unsupported {
                what: "this launch".into(),
                why: error.message.clone(),
                hint: error.fix.clone().into(),
            }
            .into());
        }
        let numbers: Vec<_> = explained.arrays[0].numbers().collect();
        Ok::<_, Error>((explained.explanation.cluster, numbers))
    };
    let hopper = ComputeCapability::new(9, 0);
    let found = |numbers: [i64; 8]| numbers.map(|number| Scalar::Integer(number.into())).to_vec();
    let pairs = found([2, 0, 2, 1, 2, 0, 2, 1]);
    assert_eq!(explain("", None, hopper).unwrap(), (None, found([1, 0, 1, 0, 1, 0, 1, 0])));
    assert_eq!(explain("", Some([2, 1, 1]), hopper).unwrap(), (Some([2, 1, 1]), pairs.clone()));
    assert_eq!(explain(".reqnctapercluster 2, 1, 1\n", None, hopper).unwrap(), (Some([2, 1, 1]), pairs));
    let whole = found([4, 0, 4, 1, 4, 2, 4, 3]);
    assert_eq!(explain("", Some([4, 1, 1]), hopper).unwrap(), (Some([4, 1, 1]), whole));
    for (directives, cluster, cc, words) in [
        ("", [3, 1, 1], hopper, "no multiple"),
        (".reqnctapercluster 2, 1, 1\n", [4, 1, 1], hopper, "compiled for clusters of"),
        ("", [2, 1, 1], ComputeCapability::new(8, 0), "need compute capability 9.0"),
        ("", [0, 1, 1], hopper, "cluster"),
        ("", [32, 1, 1], hopper, "exceeds the limit of 16"),
    ] {
        let error = explain(directives, Some(cluster), cc).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// All that a kernel needs and is not executed is said, whether it is reached or not.
#[test]
fn what_is_not_executed_is_listed_before_it_is_reached() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tensor.ptx");
    let text = ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry tensor(.param .u32 n)\n{\n\
        .reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .f32 %f<2>; .reg .pred %p<2>;\nld.param.u32 %r1, [n];\n\
        setp.eq.u32 %p1, %r1, 0;\n@%p1 ret;\ntcgen05.wait::ld.sync.aligned;\n\
        multimem.st.weak.global.f32 [%rd1], %f1;\nret;\n}\n";
    std::fs::write(&path, text).unwrap();
    let explain = |n: &str| {
        let request =
            Request { block: Some([32, 1, 1]), ..plain::request(Gpu::named("b200").unwrap(), &[("n", n)]) };
        Case::of_file(&path, &request).unwrap().explain(&request.gpu)
    };
    let notes = explain("0").unwrap().explanation.notes;
    let error = explain("1").unwrap_err().to_string();
    let note = notes.iter().find(|note| note.contains("does not execute")).unwrap();
    assert!(error.contains(note), "{error}");
    for part in
        ["`tcgen05.wait::ld.sync.aligned` (PTX line 10)", "`multimem.st.weak.global.f32` (PTX line 11)"]
    {
        assert!(note.contains(part), "{note}");
    }
}
