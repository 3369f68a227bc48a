//! Kernels from files and from the catalogue, run and explained.
#![allow(clippy::unwrap_used)]

mod plain;

use std::path::Path;
use tilewright_arch::{ComputeCapability, Device, Limits};
use tilewright_core::Error;
use tilewright_explain::*;

fn request(arguments: &[(&str, &str)]) -> Request<'static> {
    let device = Device::find("a6000").unwrap();
    let limits = Limits::of(ComputeCapability::new(8, 6)).unwrap();
    plain::request(Gpu { name: device.name.into(), limits, device: Some(device) }, arguments)
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
    let kinds: Vec<&str> = e.findings.iter().map(|f| f.kind.as_str()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "bank-conflict").count(), 2, "{kinds:?}");
    assert!(kinds.contains(&"uncoalesced") && !e.has_errors(), "{kinds:?}");

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
    assert_eq!((finding.severity, finding.kind.as_str()), (Severity::Error, "out-of-bounds"));
    assert_eq!(finding.participants[0].threads, [[0, 0, 0]]);
    assert_eq!(finding.participants[0].location.as_ref().unwrap().ptx_line, Some(31));
}

#[test]
fn a_block_that_the_gpu_has_no_room_for_is_refused() {
    let with =
        |bytes| Request { block: Some([256, 1, 1]), dynamic_shared_memory: Some(bytes), ..request(REVERSE) };
    let explain = |bytes| reverse(&with(bytes)).unwrap().explain(&with(bytes).gpu);
    let most = with(0).gpu.limits.shared_memory_per_block_optin;
    // The kernel has 2048 bytes of its own.
    let error = explain(most - 2047).unwrap_err().to_string();
    assert!(error.contains(&format!("needs {} bytes", most + 1)) && error.contains("dynamic"), "{error}");
    assert!(explain(most - 2048).is_ok());
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
