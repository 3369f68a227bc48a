use super::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tilewright_core::{Layout, MinPlus, PlusTimes};

pub(super) fn matrix(rows: usize, cols: usize) -> Matrix<f32> {
    Matrix::from_fn(rows, cols, |i, j| ((i * 7 + j * 3) % 11) as f32 - 4.0).unwrap()
}

#[test]
fn backends_agree() {
    let (a, b) = (matrix(13, 7), matrix(7, 9));
    let product = Product::<MinPlus<f32>>::new(a.as_ref(), b.as_ref()).unwrap();
    let (c, arg) = product.compute_with_arg().unwrap();
    let (rc, rarg) = product.backend(Backend::Reference).compute_with_arg().unwrap();
    assert_eq!(c.as_ref(), rc.as_ref());
    assert_eq!(arg.as_ref(), rarg.as_ref());
}

#[test]
fn shapes_are_refused_before_and_at_the_result() {
    let (a, b) = (matrix(2, 3), matrix(2, 3));
    assert_eq!(Product::<MinPlus<f32>>::new(a.as_ref(), b.as_ref()).unwrap_err().code(), "inner-mismatch");
    let product = Product::<MinPlus<f32>>::new(a.as_ref(), b.as_ref().t()).unwrap();
    let mut c = matrix(3, 2);
    assert_eq!(product.write_to(c.as_mut()).unwrap_err().code(), "result-mismatch");
}

#[test]
fn beta_zero_does_not_read_c() {
    let a = matrix(2, 2);
    let mut c = Matrix::filled(2, 2, f32::NAN).unwrap();
    let product = Product::<PlusTimes<f32>>::new(a.as_ref(), a.as_ref()).unwrap();
    product.scale_into(2.0, 0.0, c.as_mut()).unwrap();
    assert!(c.as_slice().iter().all(|x| x.is_finite()));
}

#[test]
fn an_empty_sum_is_the_zero_and_a_plus_has_no_arg() {
    let a = MatRef::<f32>::new(&[], Layout::row_major(2, 0)).unwrap();
    let c = Product::<MinPlus<f32>>::new(a, a.t()).unwrap().compute().unwrap();
    assert_eq!(c.as_slice(), [f32::INFINITY; 4]);
    let refused = Product::<PlusTimes<f32>>::new(a, a.t()).unwrap().compute_with_arg();
    assert_eq!(refused.unwrap_err().code(), "unsupported");
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
        acc.max(a * b)
    }
    fn finish(acc: f32) -> f32 {
        acc
    }
    fn resume(out: f32) -> f32 {
        out
    }
}

#[test]
fn a_backend_that_cannot_do_it_leaves_c_alone() {
    let a = matrix(2, 2);
    let mut c = matrix(2, 2);
    let product = Product::<Own>::new(a.as_ref(), a.as_ref()).unwrap().backend(Backend::Emulator);
    let code = if cfg!(feature = "emulator") { "unsupported" } else { "unavailable" };
    assert_eq!(product.write_to(c.as_mut()).unwrap_err().code(), code);
    assert_eq!(c.as_ref(), a.as_ref());
}

/// Ends products of every backend, and tells how many terms were finished.
fn cancelled_after_the_first_block(backend: Backend) -> (Option<&'static str>, u64) {
    let a = matrix(700, 600);
    let (stop, done) = (Cancel::new(), AtomicU64::new(0));
    let progress = |terms| {
        done.fetch_add(terms, Relaxed);
        stop.cancel();
    };
    let options = Options { backend, threads: 2, progress: Some(&progress), ..Options::default() };
    let product = Product::<MinPlus<f32>>::new(&a, a.as_ref().t()).unwrap().options(options).cancel(&stop);
    let code = product.compute().err().map(|error| error.code());
    (code, done.load(Relaxed))
}

#[test]
fn a_cancelled_product_ends_early_and_says_so() {
    let all = 700 * 700 * 600;
    let emulator = cfg!(feature = "emulator").then_some(Backend::Emulator);
    for backend in [Backend::Cpu, Backend::Reference, Backend::Auto].into_iter().chain(emulator) {
        let (code, done) = cancelled_after_the_first_block(backend);
        assert_eq!(code, Some("cancelled"), "{backend}");
        assert!(
            backend == Backend::Cpu || backend == Backend::Auto || done < all,
            "{backend}: {done} of {all}"
        );
    }
}

#[test]
fn a_product_that_is_cancelled_before_it_begins_leaves_c_alone() {
    let (a, stop) = (matrix(5, 5), Cancel::new());
    stop.cancel();
    for backend in [Backend::Cpu, Backend::Reference] {
        let mut c = matrix(5, 5);
        let product = Product::<MinPlus<f32>>::new(&a, &a).unwrap().backend(backend).cancel(&stop);
        assert_eq!(product.write_to(&mut c).unwrap_err().code(), "cancelled");
        assert_eq!(c, a);
    }
}

#[test]
fn parts_of_the_definition_are_the_whole() {
    let (a, b) = (matrix(40, 1100), matrix(1100, 1000));
    let whole = {
        let mut c = Matrix::filled(40, 1000, 0.0).unwrap();
        reference::multiply::<MinPlus<f32>>(c.as_mut(), a.as_ref(), b.as_ref(), &Update::Replace).unwrap();
        c
    };
    let done = AtomicU64::new(0);
    let progress = |terms| {
        done.fetch_add(terms, Relaxed);
    };
    let options = Options { backend: Backend::Reference, progress: Some(&progress), ..Options::default() };
    let product = Product::<MinPlus<f32>>::new(&a, &b).unwrap().options(options);
    assert_eq!(product.compute().unwrap(), whole);
    assert_eq!(done.load(Relaxed), 40 * 1100 * 1000);
    assert_eq!(product.compute_with_arg().unwrap().0, whole);
}
