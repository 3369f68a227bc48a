use super::*;
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
