use super::*;
use tilewright_core::{Layout, MinPlus, PlusTimes};

fn matrix(rows: usize, cols: usize) -> Matrix<f32> {
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
    assert_eq!(product.write_to(c.as_mut()).unwrap_err().code(), "unsupported");
    assert_eq!(c.as_ref(), a.as_ref());
}

/// A GPU that was chosen for its speed, or asked for.
fn gpu(otherwise: Otherwise) -> Choice {
    Choice { backend: Backend::Cuda, why: "it is faster".into(), otherwise }
}

fn full() -> Error {
    ErrorKind::OutOfMemory { what: "the device", bytes: 1 }.into()
}

#[test]
fn where_the_gpu_fails_the_processor_computes_and_says_why() {
    let (a, b) = (matrix(13, 7), matrix(7, 9));
    let product = Product::<MinPlus<f32>>::new(a.as_ref(), b.as_ref()).unwrap();
    for update in [Update::Replace, Update::Accumulate] {
        let (mut c, mut wanted) = (matrix(13, 9), matrix(13, 9));
        product.backend(Backend::Reference).run(wanted.as_mut(), None, &update).unwrap();
        let fails = |_: MatMut<'_, f32>| Err(full().into());
        let report = product.or_here(&gpu(Otherwise::Here), c.as_mut(), &update, fails).unwrap();
        assert_eq!((report.backend, c.as_ref()), (Backend::Cpu, wanted.as_ref()));
        assert!(report.why.starts_with("it is faster; the processor computed it"), "{}", report.why);
        assert!(report.why.contains("the device"), "{}", report.why);
    }
}

#[test]
fn a_gpu_that_was_asked_for_fails_by_itself() {
    let a = matrix(4, 4);
    let product = Product::<MinPlus<f32>>::new(a.as_ref(), a.as_ref()).unwrap();
    let mut c = matrix(4, 4);
    let fails = |_: MatMut<'_, f32>| Err(full().into());
    let error = product.or_here(&gpu(Otherwise::Nowhere), c.as_mut(), &Update::Replace, fails).unwrap_err();
    assert_eq!((error.code(), c.as_ref()), ("out-of-memory", a.as_ref()));
}

#[test]
fn a_c_that_was_overwritten_is_computed_anew_only_where_it_is_not_read() {
    let a = matrix(4, 4);
    let product = Product::<MinPlus<f32>>::new(a.as_ref(), a.as_ref()).unwrap();
    let half_written = |mut c: MatMut<'_, f32>| {
        c.fill(f32::NAN);
        Err(Failure { error: full(), c: Target::Lost })
    };
    let mut c = matrix(4, 4);
    product.or_here(&gpu(Otherwise::Here), c.as_mut(), &Update::Replace, half_written).unwrap();
    assert_eq!(c.as_ref(), product.compute().unwrap().as_ref());
    let lost = product.or_here(&gpu(Otherwise::Here), c.as_mut(), &Update::Accumulate, half_written);
    assert_eq!(lost.unwrap_err().code(), "out-of-memory");
}

/// As on a machine whose GPU is chosen and cannot be opened. Where there is one, it computes.
#[test]
fn an_automatic_choice_never_fails_for_want_of_a_gpu() {
    let a = matrix(9, 9);
    let product = Product::<MinPlus<f32>>::new(a.as_ref(), a.as_ref()).unwrap();
    let (mut c, update) = (matrix(9, 9), Update::Replace);
    let present = |c: MatMut<'_, f32>| product.run_kernel(Device::Present, c, &update);
    let report = product.or_here(&gpu(Otherwise::Here), c.as_mut(), &update, present).unwrap();
    assert_eq!(c.as_ref(), product.backend(Backend::Reference).compute().unwrap().as_ref());
    assert_eq!(report.backend == Backend::Cpu, report.why.contains("the processor computed it"));
}
