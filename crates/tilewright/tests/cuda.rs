//! Products on a GPU against the definition. Without one the tests say so; `TILEWRIGHT_REQUIRE_GPU=1` makes that a failure.
#![allow(clippy::unwrap_used)]

use tilewright::{
    Backend, Error, Layout, MatMut, MatRef, MinPlus, NO_ARG, Options, PlusTimes, Product, Semiring, Update,
    reference,
};

fn has_gpu() -> bool {
    match Backend::Cuda.resolve() {
        Ok(_) => true,
        Err(error) if std::env::var_os("TILEWRIGHT_REQUIRE_GPU").is_none_or(|value| value == "0") => {
            assert!(error.is_unavailable() && error.hint().is_some(), "{error}");
            eprintln!("skipped: {error}");
            false
        }
        Err(error) => panic!("TILEWRIGHT_REQUIRE_GPU is set, and {error}"),
    }
}

/// Small whole numbers, exact in every type.
fn numbers<T>(count: usize, salt: usize, make: fn(i64) -> T) -> Vec<T> {
    (0..count).map(|i| make(((i * 31 + salt * 17) % 23) as i64 - 7)).collect()
}

/// Layouts of every kind for a matrix of this shape, each with the index of element (0, 0).
fn layouts(rows: usize, cols: usize) -> Vec<(Layout, usize)> {
    let (r, c) = (rows as isize, cols as isize);
    vec![
        (Layout::row_major(rows, cols), 0),
        (Layout::col_major(rows, cols), 0),
        (Layout::strided(rows, cols, -c, 1), rows.saturating_sub(1) * cols),
        (Layout::strided(rows, cols, c + 3, 1), 5),
        (Layout::strided(rows, cols, 1, -(r + 2)), (rows + 2) * cols.saturating_sub(1)),
        (Layout::strided(rows, cols, 3 * c, 3), 1),
    ]
}

/// What makes elements of A and B, and of C, from a number.
type Makers<E, O> = (fn(i64) -> E, fn(i64) -> O);

/// One product by both, with guards around C.
fn compare<S: Semiring<Elem: Copy, Out: Copy + PartialEq + std::fmt::Debug>>(
    (m, n, k): (usize, usize, usize),
    which: [usize; 3],
    update: &Update<S>,
    (elem, out): Makers<S::Elem, S::Out>,
) -> Result<(), Error> {
    let [(la, oa), (lb, ob), (lc, oc)] =
        [layouts(m, k)[which[0]], layouts(k, n)[which[1]], layouts(m, n)[which[2]]];
    let room = |rows: usize, cols: usize| 4 * (rows + 4) * (cols + 4);
    let (a, b) = (numbers(room(m, k), 1, elem), numbers(room(k, n), 2, elem));
    let (a, b) = (MatRef::with_origin(&a, la, oa)?, MatRef::with_origin(&b, lb, ob)?);
    let mut found = numbers(room(m, n), 3, out);
    let mut wanted = found.clone();
    reference::multiply::<S>(MatMut::with_origin(&mut wanted, lc, oc)?, a, b, update)?;
    let options = Options { backend: Backend::Cuda, ..Options::default() };
    let product = Product::<S>::new(a, b)?.options(options);
    let report = product.run(MatMut::with_origin(&mut found, lc, oc)?, None, update)?;
    assert_eq!(report.backend, Backend::Cuda);
    assert!(report.seconds > 0.0 && report.transfer_seconds > 0.0 && report.prepare_seconds >= 0.0);
    assert!(found == wanted, "{} {m} x {n} x {k}, layouts {which:?}, by {}", S::NAME, report.kernel);
    Ok(())
}

const SIZES: [(usize, usize, usize); 8] = [
    (1, 1, 1),
    (3, 5, 7),
    (32, 32, 32),
    (33, 31, 65),
    (128, 128, 64),
    (129, 127, 130),
    (1, 300, 40),
    (200, 1, 33),
];

#[test]
fn every_size_and_layout_agrees_with_the_definition() {
    if !has_gpu() {
        return;
    }
    for size in SIZES {
        for which in [
            [0, 0, 0],
            [1, 0, 0],
            [0, 1, 0],
            [1, 1, 1],
            [2, 3, 0],
            [3, 2, 3],
            [4, 5, 1],
            [5, 4, 5],
            [0, 0, 2],
        ] {
            compare::<PlusTimes<f32>>(size, which, &Update::Replace, (|x| x as f32, |x| x as f32)).unwrap();
            compare::<MinPlus<f32>>(size, which, &Update::Replace, (|x| x as f32, |x| x as f32)).unwrap();
        }
        compare::<PlusTimes<i32>>(size, [0, 0, 0], &Update::Replace, (|x| x as i32, |x| x as i32)).unwrap();
    }
}

#[test]
fn the_old_c_takes_part_as_it_should() {
    if !has_gpu() {
        return;
    }
    let floats: Makers<f32, f32> = (|x| x as f32, |x| x as f32);
    for size in [(3, 5, 7), (128, 64, 32), (65, 67, 0)] {
        for which in [[0, 0, 0], [1, 0, 3], [0, 2, 5]] {
            compare::<PlusTimes<f32>>(size, which, &Update::Accumulate, floats).unwrap();
            compare::<MinPlus<f32>>(size, which, &Update::Accumulate, floats).unwrap();
            compare::<PlusTimes<f32>>(size, which, &Update::scale(2.0, 0.5), floats).unwrap();
            compare::<PlusTimes<f32>>(size, which, &Update::scale(-1.0, 0.0), floats).unwrap();
        }
    }
    // With beta = 0 the old C is not read.
    let a = MatRef::new(&[1.0_f32, 2.0, 3.0, 4.0], Layout::row_major(2, 2)).unwrap();
    let mut c = [f32::NAN; 4];
    let view = MatMut::new(&mut c, Layout::row_major(2, 2)).unwrap();
    Product::<PlusTimes<f32>>::new(a, a).unwrap().backend(Backend::Cuda).scale_into(1.5, 0.0, view).unwrap();
    assert_eq!(c, [10.5, 15.0, 22.5, 33.0]);
}

#[test]
fn what_a_gpu_does_not_do_is_refused_and_c_stays() {
    if !has_gpu() {
        return;
    }
    let a = MatRef::new(&[1.0_f32; 4], Layout::row_major(2, 2)).unwrap();
    let product = Product::<MinPlus<f32>>::new(a, a).unwrap();
    let error = product.backend(Backend::Cuda).compute_with_arg().unwrap_err();
    assert_eq!((error.code(), error.hint().is_some()), ("unsupported", true));
    // Left to itself, the product goes where it can be done.
    let (_, arg) = product.compute_with_arg().unwrap();
    assert!(arg.as_slice().iter().all(|&k| k != NO_ARG));
    assert_eq!(
        Product::<Own>::new(a, a).unwrap().backend(Backend::Cuda).compute().unwrap_err().code(),
        "unsupported"
    );
}

/// A semiring that no kernel knows.
#[derive(Clone, Copy)]
struct Own;

impl Semiring for Own {
    type Elem = f32;
    type Acc = f32;
    type Out = f32;
    const NAME: &'static str = "own";
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    fn add(x: f32, y: f32) -> f32 {
        x.max(y)
    }
    fn mul_add(acc: f32, a: f32, b: f32) -> f32 {
        Self::add(acc, a * b)
    }
    fn finish(acc: f32) -> f32 {
        acc
    }
    fn resume(out: f32) -> f32 {
        out
    }
}

#[test]
fn without_a_gpu_the_backend_says_so_and_c_stays() {
    if Backend::Cuda.resolve().is_ok() {
        return;
    }
    let a = MatRef::new(&[1.0_f32; 4], Layout::row_major(2, 2)).unwrap();
    let mut c = [7.0_f32; 4];
    let view = MatMut::new(&mut c, Layout::row_major(2, 2)).unwrap();
    let error =
        Product::<MinPlus<f32>>::new(a, a).unwrap().backend(Backend::Cuda).write_to(view).unwrap_err();
    assert!(error.is_unavailable() && error.hint().is_some());
    assert_eq!(c, [7.0; 4]);
}
