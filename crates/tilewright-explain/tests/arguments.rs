//! What is passed to parameters: numbers, structs, tensor maps, surfaces.

use crate::{cases::request, plain};
use std::path::Path;
use tilewright_explain::*;

/// A struct with an address, a vector, a table in constant memory, rows by their addresses, a half number and a size.
const ARGUMENTS: &str = "#include <cuda_fp16.h>
struct Params { float scale; int n; const float* data; float2 origin; };
__constant__ float table[4];
__device__ int offset = 1;
__global__ void k(double* out, Params p, float4 v, float** rows, __half h, size_t n) {
    int i = threadIdx.x;
    if (i < p.n) out[i] = p.scale * p.data[i] + p.origin.y + v.w + rows[1][i] + table[i] + float(h) + offset + double(n);
}";

#[test]
fn arguments_of_every_kind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("k.cu");
    std::fs::write(&path, ARGUMENTS).unwrap();
    let arguments = [
        ("M", "2"),
        ("out", "f64[M,2]"),
        ("p", "{scale=0.5, n=2*M, data=f32[M*2]:range, origin={0,100}}"),
        ("v", "{0,0,0,1000}"),
        ("rows", "[f32[1], shared]"),
        ("shared", "f32[4]:10000"),
        ("h", "0.25"),
        ("n", "M*50000"),
        ("table", "f32[4]:random(7,7)"),
        ("offset", "1000000"),
    ];
    let request = Request { block: Some([32, 1, 1]), ..request(&arguments) };
    let case = match Case::of_file(&path, &request) {
        // Without NVRTC, or without the headers of CUDA.
        Err(error)
            if error.is_unavailable() || error.hint().is_some_and(|hint| hint.contains("cuda_fp16.h")) =>
        {
            return eprintln!("skipped: {error}");
        }
        case => case.unwrap(),
    };
    let explained = case.explain(&request.gpu).unwrap();
    assert!(explained.is_clean, "{:?}", explained.explanation.findings);
    let found: Vec<f64> = explained.arrays[0].numbers().map(Scalar::to_f64).collect();
    let expected: Vec<f64> = (0..4).map(|i| 0.5 * f64::from(i) + 1_111_107.25).collect();
    assert_eq!(found, expected);
    // Arrays behind addresses have names, too.
    let names: Vec<&str> = explained.arrays.iter().map(|array| array.name.as_str()).collect();
    assert_eq!(names, ["out", "p.data", "rows", "rows[0]", "shared", "table", "offset"]);
}

/// A product by TMA and `wgmma`, whose matrices are behind tensor maps.
#[test]
fn tensor_maps_are_arguments() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tilewright-emulator/tests/hopper/product.ptx");
    let gpu = Gpu::named("h100").unwrap();
    let arguments = [
        ("0", "tensormap(box=[128,64],swizzle=128):bf16[K,K]:ones"),
        ("1", "tensormap(box=[128,64],swizzle=128):bf16[K,K]:ones"),
        ("2", "tensormap(box=[64,32]):f32[K,K]"),
        ("3", "K"),
        ("K", "256"),
    ];
    let request = Request {
        grid: Some([2, 2, 1]),
        block: Some([384, 1, 1]),
        dynamic_shared_memory: Some(3 * 32768 + 65536),
        ..plain::request(gpu, &arguments)
    };
    let explained = Case::of_file(&path, &request).unwrap().explain(&gpu).unwrap();
    assert!(explained.is_clean, "{:?}", explained.explanation.findings);
    assert!(explained.arrays[2].numbers().all(|number| number == Scalar::Real(256.0)));
    assert_eq!(explained.explanation.totals.roofline.map(|roofline| roofline.rate), Some("tensor_bf16"));
    let full =
        explained.explanation.totals.mbarriers.iter().find(|barrier| barrier.name == "full[0]").unwrap();
    // Of 4 blocks each has 4 steps and 3 stages.
    assert_eq!((full.phases, full.uses.iter().map(|one| one.bytes).sum::<u64>()), (4 * 2, 4 * 2 * 32768));
    let timeline = &explained.recording.timeline;
    let happens = |kind: EventKind, name: &str| {
        let is_at = |barrier: Option<usize>| barrier.is_some_and(|barrier| timeline.name(barrier) == name);
        timeline.events.iter().any(|event| event.kind == kind && is_at(event.barrier))
    };
    assert!(happens(EventKind::Copies, "full[2]") && happens(EventKind::Waits, "empty[0]"));
    assert!(timeline.events.iter().any(|event| event.kind == EventKind::Multiplies));
    // Operands of wgmma are read from shared memory without conflicts.
    let is_product = |access: &&Access| access.instruction.starts_with("wgmma");
    let banks = explained.explanation.accesses().filter(is_product).filter_map(|access| access.banks());
    let (wavefronts, ideal) =
        banks.fold((0, 0), |sum, banks| (sum.0 + banks.wavefronts, sum.1 + banks.ideal_wavefronts));
    assert_eq!((wavefronts, ideal), (4 * 2 * 16 * (64 + 128) * 32 / 128, wavefronts));
}

/// A kernel that doubles the elements of a surface, and a launch that runs out of it.
#[test]
fn surfaces_over_arrays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("twice.ptx");
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry twice(.param .u64 image)\n{\n\
        .reg .b64 %a<2>; .reg .b32 %r<5>;\nld.param.u64 %a1, [image];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\n\
        shl.b32 %r3, %r1, 2;\nsuld.b.2d.b32.trap {%r4}, [%a1, {%r3, %r2}];\nshl.b32 %r4, %r4, 1;\n\
        sust.b.2d.b32.trap [%a1, {%r3, %r2}], {%r4};\nret;\n}\n";
    std::fs::write(&path, text).unwrap();
    let explain = |block: [u32; 3], image: &str| {
        let request = Request { block: Some(block), ..request(&[("image", image)]) };
        Case::of_file(&path, &request)?.explain(&request.gpu)
    };
    let explained = explain([3, 2, 1], "surface:i32[2,3]:range").unwrap();
    assert!(!explained.explanation.has_errors(), "{:?}", explained.explanation.findings);
    let accesses: Vec<_> =
        explained.explanation.accesses().map(|access| (access.space, access.operation)).collect();
    assert_eq!(accesses, [(Space::Texture, Operation::Load), (Space::Texture, Operation::Store)]);
    let numbers: Vec<_> = explained.arrays[0].numbers().collect();
    assert_eq!(numbers, [0, 2, 4, 6, 8, 10].map(Scalar::Integer));
    let outside = explain([4, 2, 1], "surface:i32[2,3]:range").unwrap();
    assert_eq!(outside.explanation.findings[0].kind, FindingKind::OutOfBounds);
    for image in ["surface:i32[2,2,2,2]", "surface:i32[0]"] {
        assert!(explain([1; 3], image).unwrap_err().to_string().contains("one to three dimensions"));
    }
}
