//! NVIDIA's libraries as they are measured against: every order of A, B and C, every algorithm, with and without a workspace.

use crate::common::{available, expected, gpu, matrix};
use tilewright_core::{Element, Layout, MatRef, Matrix, PlusTimes, Semiring};
use tilewright_cuda::{Cublas, CublasElement, CublasLt, CublasMath, Engine};

const SIZES: [[usize; 3]; 4] = [[1, 1, 1], [3, 5, 7], [64, 48, 100], [257, 130, 515]];

/// Both libraries on matrices of whole numbers, so that every sum is exact.
fn every_order<S>(engine: &Engine, make: fn(i64) -> S::Elem)
where
    S: Semiring<Out = <S as Semiring>::Elem>,
    S::Elem: CublasElement + PartialEq,
{
    let orders = [Layout::row_major, Layout::col_major];
    for math in [CublasMath::Default, CublasMath::Pedantic] {
        let Some(mut cublas) = available(Cublas::open(engine, math)) else { return };
        let Some(cublaslt) = available(CublasLt::open(engine, math)) else { return };
        assert_eq!(cublas.version().expect("a version") / 10_000, cublaslt.version() / 10_000);
        for [m, n, k] in SIZES {
            for (of_a, of_b, of_c) in
                (0..8).map(|bits| (orders[bits & 1], orders[bits >> 1 & 1], orders[bits >> 2]))
            {
                let (a, b) = (stored(m, k, 1, of_a, make), stored(k, n, 2, of_b, make));
                let (a, b) = (view(&a, of_a(m, k)), view(&b, of_b(k, n)));
                let wanted = expected::<S>(a, b);
                let (a, b) = (engine.upload(a).expect("uploads"), engine.upload(b).expect("uploads"));
                let empty = || engine.zeros::<S::Elem>(of_c(m, n)).expect("fits");
                let check = |c: &tilewright_cuda::DeviceMatrix<S::Elem>, by: &str| {
                    let found = c.to_matrix().expect("downloads");
                    assert!(found.as_slice() == wanted, "{m} x {n} x {k} by {by}");
                };
                let mut c = empty();
                cublas.product(&a, &b, &mut c).expect("multiplies");
                check(&c, "cuBLAS");
                cublas.set_workspace(1 << 20).expect("fits");
                assert_eq!(cublas.workspace(), Some(1 << 20));
                let mut c = empty();
                cublas.product(&a, &b, &mut c).expect("multiplies");
                check(&c, "cuBLAS with a workspace");
                for workspace in [0, 32 << 20] {
                    let product = cublaslt.prepare([&a, &b], &empty(), 32, workspace).expect("prepared");
                    for algorithm in 0..product.algorithms() {
                        assert!(product.workspace(algorithm).is_some_and(|bytes| bytes <= workspace));
                        let mut c = empty();
                        product.run(algorithm, &a, &b, &mut c).expect("multiplies");
                        check(&c, &format!("cuBLASLt, algorithm {algorithm}"));
                    }
                }
            }
        }
    }
}

/// The elements of a matrix with this layout, in their order in memory.
fn stored<T: Element>(
    rows: usize,
    cols: usize,
    salt: usize,
    layout: fn(usize, usize) -> Layout,
    make: fn(i64) -> T,
) -> Matrix<T> {
    let by_rows = layout(rows, cols).col_stride == 1;
    if by_rows { matrix(rows, cols, salt, make) } else { matrix(cols, rows, salt, make) }
}

fn view<T: Element>(stored: &Matrix<T>, layout: Layout) -> MatRef<'_, T> {
    MatRef::new(stored.as_slice(), layout).expect("it has room")
}

#[test]
fn both_libraries_compute_every_order() {
    let Some(engine) = gpu() else { return };
    every_order::<PlusTimes<f32>>(&engine, |x| x as f32);
    every_order::<PlusTimes<f64>>(&engine, |x| x as f64);
}
