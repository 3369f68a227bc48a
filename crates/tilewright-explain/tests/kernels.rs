//! Kernels as other people write them. Each needs NVRTC, and CUDA's headers where it includes some; without them it is skipped, and says so.

use crate::plain;
use std::path::Path;
use tilewright_arch::ComputeCapability;
use tilewright_core::Error;
use tilewright_explain::*;

fn gpu() -> Gpu {
    Gpu { name: "a GPU", ..Gpu::of(ComputeCapability::new(9, 0)).unwrap() }
}

/// What comes of a kernel; `None` where it cannot be compiled here.
fn explain(
    file: &str,
    entry: Option<&str>,
    block: [u32; 3],
    arguments: &[(&str, &str)],
) -> Option<Result<Explained, Error>> {
    if let Err(missing) = tilewright_toolchain::Nvrtc::find() {
        assert!(std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none(), "{missing}");
        eprintln!("skipped: there is no NVRTC");
        return None;
    }
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels")).join(file);
    let mut request = plain::request(gpu(), arguments);
    (request.block, request.entry) = (Some(block), entry.map(str::to_owned));
    let explained = Case::of_file(&path, &request).and_then(|case| case.explain(&gpu()));
    match explained {
        Err(error) if error.hint().is_some_and(|hint| hint.contains("headers that were not found")) => {
            eprintln!("skipped: CUDA's headers are not installed: {error}");
            None
        }
        explained => Some(explained),
    }
}

fn kinds(explained: &Explained) -> Vec<&str> {
    explained.explanation.findings.iter().map(|finding| finding.kind.name()).collect()
}

#[test]
fn a_texture_of_two_dimensions_is_read_by_rows() {
    let arguments = [("t", "texture:f32[8,8]:range"), ("out", "f32[64]")];
    let Some(explained) = explain("texture_2d.cu", None, [8, 8, 1], &arguments) else { return };
    let explained = explained.unwrap();
    let found: Vec<f64> = explained.arrays[1].numbers().map(Scalar::to_f64).collect();
    assert_eq!(found, (0..64).map(f64::from).collect::<Vec<_>>());
    // One row is no texture of two dimensions.
    let row = [("t", "texture:f32[64]:range"), ("out", "f32[64]")];
    let wrong = explain("texture_2d.cu", None, [8, 8, 1], &row).unwrap().unwrap();
    assert_eq!(kinds(&wrong)[0], "texture-shape");
}

#[test]
fn a_contiguous_tile_wastes_nothing() {
    let arguments = [("a", "f16[256]:random"), ("b", "f16[256]:random"), ("c", "f32[256]")];
    let Some(explained) = explain("wmma_contiguous.cu", None, [32, 1, 1], &arguments) else { return };
    let explained = explained.unwrap();
    let loads = explained.explanation.totals.global_load;
    assert_eq!((loads.requests, loads.sectors, loads.ideal_sectors), (2, 32, 32));
    let kinds = kinds(&explained);
    assert!(!kinds.contains(&"uncoalesced") && !kinds.contains(&"misaligned-sectors"), "{kinds:?}");
}

#[test]
fn members_of_instances_of_templates_are_known() {
    let view = "{ptr=f32[2,3]:ones, layout={h=2, w=3}}";
    for (entry, factor) in [("twice", 2.0), ("thrice", 3.0)] {
        let Some(explained) = explain("struct_template.cu", Some(entry), [3, 2, 1], &[("v", view)]) else {
            return;
        };
        let explained = explained.unwrap();
        assert!(explained.arrays[0].numbers().all(|number| number == Scalar::Real(factor)));
    }
}

#[test]
fn what_printf_takes_is_no_array_of_the_kernel() {
    let Some(explained) = explain("printf_local.cu", None, [32, 1, 1], &[("n", "4")]) else { return };
    let explained = explained.unwrap();
    assert!(explained.explanation.printed.starts_with("0 of 4"));
    assert!(!kinds(&explained).contains(&"local-memory"), "{:?}", kinds(&explained));
}

#[test]
fn misaligned_accesses_name_arrays_and_nothing_follows_from_them() {
    let local = [("x", "float2[128]:range"), ("y", "float2[32]"), ("which", "0")];
    let Some(explained) = explain("local_align.cu", None, [32, 1, 1], &local) else { return };
    let explained = explained.unwrap();
    let wrong: Vec<&str> =
        kinds(&explained).into_iter().filter(|kind| kind.starts_with("uninitialised")).collect();
    assert!(kinds(&explained).contains(&"misaligned") && wrong.is_empty(), "{:?}", kinds(&explained));

    let rows = [("x", "f32[2,90]:random"), ("y", "f32[2,90]"), ("d", "90")];
    let mut request = plain::request(gpu(), &rows);
    (request.block, request.grid, request.dynamic_shared_memory) =
        (Some([64, 1, 1]), Some([2, 1, 1]), Some(1024));
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/misaligned_vec.cu"));
    let explained = Case::of_file(path, &request).unwrap().explain(&gpu()).unwrap();
    let messages: Vec<&str> = explained.explanation.findings.iter().map(|f| f.message.as_str()).collect();
    assert!(messages.iter().any(|message| message.contains("of `x`")), "{messages:?}");
}

#[test]
fn an_instance_has_the_spelling_of_every_compiler() {
    let arguments = [("x", "f32[96]:ones"), ("y", "f32[32]")];
    for entry in [
        "sum<3>",
        "sum<3u>",
        "sum<(unsigned int)3>",
        "void sum<3u>(float const*, float*)",
        "_Z3sumILj3EEvPKfPf",
    ] {
        let Some(explained) = explain("entry_spelling.cu", Some(entry), [32, 1, 1], &arguments) else {
            return;
        };
        let explained = explained.unwrap_or_else(|error| panic!("{entry}: {error}"));
        assert!(explained.arrays[1].numbers().all(|number| number == Scalar::Real(3.0)), "{entry}");
    }
}

#[test]
fn kernels_that_launch_kernels_are_refused_by_name() {
    let Some(explained) = explain("dynamic_parallel.cu", Some("parent"), [32, 1, 1], &[("x", "i32[32]")])
    else {
        return;
    };
    let error = explained.unwrap_err().to_string();
    assert!(error.contains("dynamic parallelism"), "{error}");
}
