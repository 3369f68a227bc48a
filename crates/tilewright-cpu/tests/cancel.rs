//! A product that is cancelled ends within a block, on whatever thread, and never claims to be complete.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tilewright_core::{BatchMut, BatchRef, Cancel, Layout, Matrix, MinPlus, PlusTimes, Semiring, Update};
use tilewright_cpu::{Isa, Options, multiply, multiply_arg, multiply_batch};

fn numbers(rows: usize, cols: usize) -> Matrix<f32> {
    Matrix::from_fn(rows, cols, |i, j| ((i * 31 + j * 17) % 101) as f32).expect("numbers")
}

/// Cancels when `after` terms are finished; gives the code of the error and the terms that were finished.
fn cancelled<S: Semiring<Elem = f32, Out = f32>>(
    a: &Matrix<f32>,
    after: u64,
    options: Options<'_>,
    arg: bool,
) -> (&'static str, u64) {
    let (stop, done) = (Cancel::new(), AtomicU64::new(0));
    let progress = |terms| {
        if done.fetch_add(terms, Relaxed) + terms >= after {
            stop.cancel();
        }
    };
    let options = Options { progress: Some(&progress), cancel: Some(&stop), ..options };
    let mut c = Matrix::filled(a.rows(), a.rows(), 0.0f32).expect("C");
    let mut winners = Matrix::filled(a.rows(), a.rows(), 0u32).expect("winners");
    let (c, a, b) = (c.as_mut(), a.as_ref(), a.as_ref().t());
    let result = match arg {
        true => multiply_arg::<S>(c, winners.as_mut(), a, b, &Update::Replace, &options),
        false => multiply::<S>(c, a, b, &Update::Replace, &options),
    };
    (result.expect_err("a cancelled product").code(), done.into_inner())
}

#[test]
fn products_end_before_their_end() {
    let a = numbers(1500, 1400);
    let all = 1500 * 1500 * 1400;
    for threads in [1, 2, 7] {
        let options = Options { threads, ..Options::default() };
        for arg in [false, true] {
            let (code, done) = cancelled::<MinPlus<f32>>(&a, 1, options, arg);
            assert!(code == "cancelled" && done < all, "{threads} threads: {code}, {done} of {all}");
        }
        let (code, done) = cancelled::<PlusTimes<f32>>(&a, 1, options, false);
        assert!(code == "cancelled" && done < all, "{threads} threads: {code}, {done} of {all}");
    }
}

#[test]
fn every_path_looks_at_the_wish() {
    let a = numbers(90, 80);
    for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_supported()) {
        for arg in [false, true] {
            for after in [1, 90 * 90 * 80] {
                let options = Options { threads: 3, isa: Some(isa), ..Options::default() };
                assert_eq!(
                    cancelled::<MinPlus<f32>>(&a, after, options, arg).0,
                    "cancelled",
                    "{isa} {after}"
                );
            }
        }
    }
}

#[test]
fn a_batch_ends_like_a_product() {
    let (stop, a) = (Cancel::new(), numbers(64, 64));
    stop.cancel();
    let mut c = vec![0.0; 64 * 64 * 3];
    let mut c = BatchMut::new(&mut c, Layout::row_major(64, 64), 3, 64 * 64).unwrap();
    let b = BatchRef::repeat(a.as_ref(), 3);
    let options = Options { cancel: Some(&stop), ..Options::default() };
    let error = multiply_batch::<MinPlus<f32>>(&mut c, b, b, &Update::Replace, &options).unwrap_err();
    assert_eq!(error.code(), "cancelled");
}
