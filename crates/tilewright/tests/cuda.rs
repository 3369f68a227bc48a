//! Products on a GPU against the definition. Without one the tests say so; `TILEWRIGHT_REQUIRE_GPU=1` makes that a failure.
#![allow(clippy::unwrap_used)]

mod support;

use support::{Makers, Own};
use tilewright::{
    Backend, Error, Layout, MatMut, MatRef, MinPlus, NO_ARG, PlusTimes, Product, Report, Semiring, Update,
};

/// One product by both.
fn compare<S: Semiring<Elem: Copy, Out: Copy + PartialEq + std::fmt::Debug>>(
    size: (usize, usize, usize),
    which: [usize; 3],
    update: &Update<S>,
    makers: Makers<S::Elem, S::Out>,
) -> Result<Report, Error> {
    support::compare::<S>(Backend::Cuda, size, which, update, makers)
}

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
