//! `tilewright kernels`.

use crate::support::{Desk, keys};

#[test]
fn the_list_has_every_family() {
    let desk = Desk::new();
    let text = desk.ok("kernels");
    for part in ["ladder: ", "gallery: ", "  shared-tile ", "(plus-times f32, min-plus f32)"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let report = desk.json("kernels");
    let kernels = report["kernels"].as_array().unwrap();
    assert!(kernels.len() >= 32);
    for kernel in kernels {
        assert_eq!(keys(kernel), ["family", "name", "summary", "variants"]);
    }
}

#[test]
fn one_kernel_is_described() {
    let desk = Desk::new();
    let text = desk.ok("kernels shared-tile");
    for part in [
        "teaches       data reuse",
        "computes      plus-times.f32, min-plus.f32",
        "needs         M to be a multiple of 32",
        "for example   1024x1024x1024, plus-times on f32",
        "launch        shared_tile<<<(32, 32, 1), (32, 32, 1)>>>",
        "(pointer A, pointer B, pointer C, i32 M, i32 N, i32 K,",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let json = desk.json("kernels shared-tile");
    assert_eq!((&json["schema"], &json["family"]), (&1.into(), &"ladder".into()));
    assert_eq!(json["sample"]["launches"][0]["grid"], serde_json::json!([32, 32, 1]));
    assert!(json["preconditions"].as_array().unwrap().iter().any(|p| p == "K to be a multiple of 32"));

    let text = desk.ok("kernels copy-offset");
    assert!(text.contains("parameters    n = 4096: the number of elements, from 1 to 16777216"), "{text}");
    assert!(!text.contains("computes"), "{text}");
    assert_eq!(desk.json("kernels copy-offset")["parameters"][1]["name"], "offset");
}

#[test]
fn texts_are_printed_as_they_are() {
    let desk = Desk::new();
    let source = desk.ok("kernels naive --source");
    assert!(source.starts_with("// naive: ") && source.contains("__global__"), "{source}");
    assert_eq!(desk.json("kernels naive --source")["source"], source);
    assert_eq!(desk.run("kernels --source").code, Some(2));
    assert_eq!(desk.run("kernels naive --source --ptx").code, Some(2));
}

#[test]
fn an_unknown_kernel_is_refused_with_a_suggestion() {
    let run = Desk::new().run("kernels shared-tyle");
    assert_eq!(run.code, Some(2));
    assert!(
        run.err.contains("kernel 'shared-tyle'") && run.err.contains("hint: did you mean shared-tile"),
        "{}",
        run.err
    );
}
