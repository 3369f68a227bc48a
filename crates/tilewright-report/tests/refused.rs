//! A launch that the GPU does not take.

use crate::plain;
use std::path::Path;
use tilewright_explain::{Case, Gpu, Request};
use tilewright_report::{Tone, html, verdict};

#[test]
fn it_is_said_first() {
    let arguments = [("input", "f32[256]:range"), ("output", "f32[256]"), ("factor", "0.5")];
    let gpu = Gpu::named("a6000").unwrap();
    let request = Request {
        block: Some([256, 1, 1]),
        dynamic_shared_memory: Some(gpu.limits.shared_memory_per_block_optin),
        ..plain::request(gpu, &arguments)
    };
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tilewright-explain/tests/reverse.ptx");
    let refused = Case::of_file(Path::new(file), &request).unwrap().explain(&gpu).unwrap();
    let verdict = verdict(&refused.explanation);
    assert_eq!(verdict.tone, Tone::Error);
    assert!(verdict.headline.contains("cannot launch"), "{verdict:?}");
    let page = html::page(&[html::Exhibit {
        explanation: &refused.explanation,
        recording: &refused.recording,
        curves: Some(refused.curves),
    }]);
    assert!(page.unwrap().contains("cannot launch"));
}
