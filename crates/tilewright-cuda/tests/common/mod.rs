//! What tests with a GPU share.
#![allow(dead_code)] // Each test program uses a part.

use std::path::PathBuf;
use tilewright_core::{Error, Layout, MatMut, MatRef, Matrix, Problem, Semiring, Update, reference};
use tilewright_cuda::{CubinCache, Engine};

/// The engine of the first GPU with a cache of its own, or a line that says why the test is skipped. With
/// `TILEWRIGHT_REQUIRE_GPU=1` a missing GPU is a failure.
pub fn gpu() -> Option<Engine> {
    available(Engine::with_cache(0, Some(shared_cache())))
}

/// Runs the tests of a module once more, in a process whose GPU is an emulated one. They pass there as on a GPU. The path is that of `module_path!`.
pub fn all_pass_on_the_emulator(module: &str) {
    const AGAIN: &str = "TILEWRIGHT_TEST_EMULATED";
    if std::env::var_os(AGAIN).is_some() {
        return;
    }
    let program = std::env::current_exe().expect("this program");
    let (_, module) = module.split_once("::").expect("a module of this program");
    let variables = [(AGAIN, "1"), ("TILEWRIGHT_CUDA_PATH", "emulator"), ("TILEWRIGHT_REQUIRE_GPU", "1")];
    let output = std::process::Command::new(program)
        .args([&format!("{module}::"), "--nocapture"])
        .envs(variables)
        .output()
        .expect("it starts");
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{text}");
    let passed = text.lines().filter(|line| line.starts_with("test ") && line.ends_with("ok")).count();
    eprintln!("{passed} tests pass on the emulator");
}

/// Whether kernels can be compiled here, or a line that says that a test needs it.
pub fn compiles() -> bool {
    match tilewright_cuda::Nvrtc::find() {
        Ok(_) => true,
        Err(error) if std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none_or(|value| value == "0") => {
            eprintln!("skipped: {error}");
            false
        }
        Err(error) => panic!("TILEWRIGHT_REQUIRE_NVRTC is set, and {error}"),
    }
}

/// Code of a program as the engine's driver takes it: machine code, or PTX for the emulator.
pub fn image(engine: &Engine, program: &tilewright_kernels::Program) -> Vec<u8> {
    use tilewright_cuda::{DriverKind, Nvrtc, Output, Source};
    let source = Source { name: program.file(), text: program.source(), headers: &program.headers() };
    let output = match engine.driver_kind() {
        DriverKind::Emulator => Output::Ptx,
        _ => Output::Cubin,
    };
    let nvrtc = Nvrtc::find().expect("the engine compiles");
    let options = tilewright_kernels::COMPILER_OPTIONS;
    let mut image =
        nvrtc.compile(&source, engine.gpu().architecture, output, options).expect("compiles").image;
    if output == Output::Ptx && image.last() != Some(&0) {
        image.push(0);
    }
    image
}

/// What was found, or a line that says why the test is skipped.
pub fn available<T>(found: Result<T, Error>) -> Option<T> {
    match found {
        Ok(found) => Some(found),
        Err(error) if std::env::var_os("TILEWRIGHT_REQUIRE_GPU").is_none_or(|value| value == "0") => {
            assert!(error.is_unavailable(), "{error}");
            assert!(error.hint().is_some(), "{error}");
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("TILEWRIGHT_REQUIRE_GPU is set, and {error}"),
    }
}

/// One cache for the tests of a process, so that each kernel is compiled once.
pub fn shared_cache() -> CubinCache {
    let directory = std::env::temp_dir().join(format!("tilewright-test-{}", std::process::id()));
    CubinCache::new(directory.join("cubins"), 64 << 20)
}

/// A directory that is removed at the end.
pub fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("temporary directory")
}

pub fn path(directory: &tempfile::TempDir) -> PathBuf {
    directory.path().join("cubins")
}

/// Small whole numbers: every sum and product of them is exact in every type, so that results are compared bit for bit.
pub fn number(row: usize, col: usize, salt: usize) -> i64 {
    let mixed = (row * 131 + col * 31 + salt * 17).wrapping_mul(2_654_435_761) >> 7;
    (mixed % 13) as i64 - 4
}

/// A matrix of such numbers.
pub fn matrix<T: Copy>(rows: usize, cols: usize, salt: usize, make: fn(i64) -> T) -> Matrix<T> {
    Matrix::from_fn(rows, cols, |i, j| make(number(i, j, salt))).expect("a small matrix")
}

/// The definition of the result.
pub fn expected<S: Semiring>(a: MatRef<'_, S::Elem>, b: MatRef<'_, S::Elem>) -> Vec<S::Out> {
    let layout = Layout::row_major(a.rows(), b.cols());
    let mut c = vec![S::finish(S::ZERO); layout.len().expect("small")];
    let view = MatMut::new(&mut c, layout).expect("fits");
    reference::multiply::<S>(view, a, b, &Update::Replace).expect("the shapes fit");
    c
}

/// A product of row-major matrices.
pub fn problem(m: usize, n: usize, k: usize) -> Problem {
    Problem::new(Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n))
        .expect("shapes fit")
}
