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
