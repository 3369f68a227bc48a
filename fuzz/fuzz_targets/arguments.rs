#![no_main]

use std::{path::PathBuf, sync::OnceLock};
use tilewright_arch::{ComputeCapability, Limits};
use tilewright_explain::{Case, Gpu, Request};

/// A kernel with a pointer, a number, a struct, a vector and a float.
const KERNEL: &str = ".version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 table[16];
.visible .entry kernel(.param .u64 p, .param .u32 n, .param .align 8 .b8 v[32], .param .align 16 .b8 w[16], .param .f32 x)
{ ret; }
";

fn kernel() -> &'static PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("tilewright-fuzz-{}.ptx", std::process::id()));
        std::fs::write(&path, KERNEL).expect("the temporary directory can be written");
        path
    })
}

// Arguments, a line each, are bound or refused; none takes memory out of proportion.
libfuzzer_sys::fuzz_target!(|text: &str| {
    let limits = Limits::of(ComputeCapability::new(8, 0)).expect("it is known");
    let gpu = Gpu { name: "8.0".into(), limits, device: None };
    let load = |name: &str| {
        let source = std::io::Error::from(std::io::ErrorKind::NotFound);
        Err(tilewright_core::ErrorKind::Io { path: name.into(), source }.into())
    };
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    let arguments = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let request = Request { block: Some([1; 3]), arguments, ..Request::new(gpu, &load) };
    let _ = Case::of_file(kernel(), &request);
});
