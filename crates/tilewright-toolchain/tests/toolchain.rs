//! Compilation without a GPU. Where NVRTC or ptxas is missing the tests say so; `TILEWRIGHT_REQUIRE_NVRTC=1` makes that a failure.

use tilewright_core::Error;
use tilewright_toolchain::{
    Architecture, Cubin, DEFAULT_OPTIONS, Input, Nvrtc, Output, Ptxas, Source, kernel_resources, ptx,
};

const SOURCE: &str = include_str!("data/resources.cu");

/// The tool, or a line that says why the test is skipped.
fn have<T>(found: Result<T, Error>) -> Option<T> {
    match found {
        Ok(tool) => Some(tool),
        Err(error) if std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none() => {
            assert!(error.is_unavailable(), "{error}");
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn architecture(name: &str) -> Architecture {
    name.parse().expect("an architecture")
}

#[test]
fn every_architecture_of_the_compiler_gives_machine_code_with_known_resources() {
    let Some(nvrtc) = have(Nvrtc::find()) else { return };
    let source = Source { name: "resources.cu", text: SOURCE, headers: &[] };
    for number in nvrtc.architectures().expect("a list") {
        let target = architecture(&number.to_string());
        let compiled = nvrtc.compile(&source, target, Output::Cubin, DEFAULT_OPTIONS).expect("compiles");
        let cubin = Cubin::parse(&compiled.image).expect("a cubin").with_log(&compiled.log);
        assert_eq!(cubin.architecture, number);
        assert_eq!(cubin.kernels.len(), 5);
        for kernel in &cubin.kernels {
            // The compiler's own log is the reference.
            let (_, log) =
                compiled.log.split_once(&format!("entry function '{}'", kernel.name)).expect("in the log");
            let used = log.lines().find(|line| line.contains("Used")).expect("a line");
            assert!(
                used.contains(&format!("Used {} registers", kernel.registers)),
                "{target} {kernel:?} {used}"
            );
            assert!(
                used.contains(&format!("used {} barriers", kernel.barriers)),
                "{target} {kernel:?} {used}"
            );
            let shared = format!("{} bytes smem", kernel.static_shared_memory);
            assert_eq!(used.contains(&shared), kernel.name == "tile", "{target} {kernel:?} {used}");
            assert!(!used.contains("smem") || kernel.static_shared_memory == 4224);
            let stack = format!("{} bytes stack frame", kernel.local_memory);
            assert!(log.contains(&stack), "{target} {kernel:?}");
            let spills = kernel.spills.expect("the log has spills");
            assert_eq!(spills.stores > 0, kernel.name == "spill", "{target} {kernel:?}");
        }
    }
}

#[test]
fn ptx_comes_out_as_text_and_can_be_assembled() {
    let Some(nvrtc) = have(Nvrtc::find()) else { return };
    let source = Source { name: "resources.cu", text: SOURCE, headers: &[] };
    let ptx = nvrtc.compile(&source, architecture("sm_90a"), Output::Ptx, &["-lineinfo"]).expect("compiles");
    let text = String::from_utf8(ptx.image).expect("text");
    assert!(text.contains(".target sm_90a") && text.contains(".entry tile("), "{text}");
    let Some(_) = have(Ptxas::find()) else { return };
    let input = Input::Ptx { name: "resources.ptx", text: &text };
    let assembled = kernel_resources(input, architecture("sm_90a")).expect("assembles");
    let compiled = kernel_resources(Input::Source(source), architecture("sm_90a")).expect("compiles");
    assert_eq!(assembled, compiled);
}

#[test]
fn headers_in_memory_are_included() {
    let Some(nvrtc) = have(Nvrtc::find()) else { return };
    let text = "#include \"config.cuh\"\nextern \"C\" __global__ void set(int* x) { *x = VALUE; }";
    let headers =
        [("config.cuh", "#include \"deeper.cuh\"\n"), ("deeper.cuh", "constexpr int VALUE = 4711;\n")];
    let source = Source { name: "set.cu", text, headers: &headers };
    let ptx = nvrtc.compile(&source, architecture("80"), Output::Ptx, &[]).expect("compiles");
    assert!(String::from_utf8_lossy(&ptx.image).contains("4711"));
}

#[test]
fn refusals_carry_the_log_and_the_name() {
    let Some(nvrtc) = have(Nvrtc::find()) else { return };
    let compile = |text, target: &str, options: &[&str]| {
        let source = Source { name: "wrong.cu", text, headers: &[] };
        nvrtc.compile(&source, architecture(target), Output::Cubin, options).expect_err("refused")
    };
    let error = compile("__global__ void k() { undeclared = 1; }", "80", &[]);
    assert_eq!(error.code(), "compilation");
    assert!(error.to_string().contains("wrong.cu(1)") && error.to_string().contains("undeclared"), "{error}");
    let error = compile("#include <vector>\n", "80", &[]);
    assert!(error.hint().is_some(), "{error}");
    let error = compile("", "10", &[]);
    assert!(error.to_string().contains("sm_10") && error.hint().is_some(), "{error}");
    assert!(compile("", "80", &["--no-such-option"]).to_string().contains("no-such-option"));
    assert_eq!(compile("a\0b", "80", &[]).code(), "compilation");
}

#[test]
fn files_of_every_kind_are_read() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let of = |file: &str, target| kernel_resources(Input::File(&directory.join(file)), architecture(target));
    assert_eq!(of("resources.sm_90.cuda13.cubin", "9.0").expect("read").len(), 5);
    let error = of("resources.sm_90.cuda13.cubin", "8.6").expect_err("another architecture");
    assert!(error.to_string().contains("sm_90"), "{error}");
    assert_eq!(of("missing.cubin", "8.6").expect_err("missing").code(), "io");
    if have(Nvrtc::find()).is_some() {
        assert_eq!(of("resources.cu", "8.6").expect("compiles").len(), 5);
    }
}

#[test]
fn ptx_comes_from_sources_and_from_itself() {
    let directory = tempfile::tempdir().expect("a directory");
    let of = |file: &str, contents: &[u8]| {
        let path = directory.path().join(file);
        std::fs::write(&path, contents).expect("written");
        ptx(Input::File(&path), architecture("8.6"))
    };
    assert_eq!(of("k.ptx", b".version 8.0").expect("as it is"), ".version 8.0");
    let text = ".version 7.0";
    assert_eq!(ptx(Input::Ptx { name: "k", text }, architecture("8.6")).expect("as it is"), text);
    for (file, contents, words) in
        [("k.cubin", &b"x"[..], "PTX comes from .cu and .ptx files"), ("latin.ptx", &[0xe9], "not UTF-8")]
    {
        let error = of(file, contents).expect_err(words).to_string();
        assert!(error.contains(words) && error.contains(file), "{error}");
    }
    let missing = ptx(Input::File(&directory.path().join("missing.ptx")), architecture("8.6"));
    assert_eq!(missing.expect_err("missing").code(), "io");
    let error = kernel_resources(Input::File(&directory.path().join("k.txt")), architecture("8.6"));
    assert_eq!(error.expect_err("missing").code(), "io");
    if have(Nvrtc::find()).is_some() {
        std::fs::write(directory.path().join("two.h"), "#define TWO 2").expect("written");
        let made = of("k.cu", b"#include \"two.h\"\nextern \"C\" __global__ void k(int *p) { *p = TWO; }");
        assert!(made.expect("it finds the header beside it").contains(".entry k("));
    }
}

#[test]
fn ptx_that_is_wrong_is_refused_with_the_log() {
    let Some(ptxas) = have(Ptxas::find()) else { return };
    let error = ptxas.assemble("wrong.ptx", ".version 7.0\n.target sm_80\nnonsense", architecture("80"));
    let error = error.expect_err("nonsense");
    assert!(error.to_string().contains("wrong.ptx"), "{error}");
}
