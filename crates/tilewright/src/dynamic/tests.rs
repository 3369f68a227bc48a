use super::*;
use crate::{Backend, DType, Extremes};

fn matrix(dtype: DType, rows: usize, cols: usize) -> DynMatrix {
    let m = Matrix::from_fn(rows, cols, |i, j| ((i * 5 + j * 3) % 7) as i64).unwrap();
    let m = if dtype == DType::Bool {
        DynMatrix::from(Matrix::from_fn(rows, cols, |i, j| ((i * 5 + j * 3) % 7 < 2) as i64).unwrap())
    } else {
        m.into()
    };
    m.as_ref().convert(dtype, Extremes::Refuse).unwrap()
}

#[test]
fn every_semiring_on_every_type_agrees_with_the_reference() {
    for &semiring in SemiringId::ALL {
        for &dtype in semiring.dtypes() {
            for &out in DType::ALL.iter().filter(|&&out| semiring.gives(dtype, out)) {
                agrees_with_the_reference(semiring, dtype, out);
            }
        }
    }
}

fn agrees_with_the_reference(semiring: SemiringId, dtype: DType, out: DType) {
    let (a, b, c0) = (matrix(dtype, 9, 6), matrix(dtype, 6, 5), matrix(out, 9, 5));
    let product = DynProduct::new(semiring, a.as_ref(), b.as_ref()).unwrap().giving(out).unwrap();
    let accumulate = product.update(Joining::Accumulate, Some(c0.as_ref())).unwrap();
    for p in [product, accumulate] {
        let outcome = p.compute().unwrap();
        assert_eq!(outcome.c.dtype(), out);
        assert!(outcome.arg.is_none());
        let v = p.verify(outcome.c.as_ref(), None).unwrap();
        assert!(v.passed && v.rows_checked == 9, "{semiring} {dtype}: {v:?}");
        if semiring.is_selective() {
            let with_arg = p.compute_with_arg().unwrap();
            let arg = with_arg.arg.as_ref().map(Matrix::as_ref);
            assert!(p.verify(with_arg.c.as_ref(), arg).unwrap().passed);
        }
    }
}

#[test]
fn a_result_has_the_type_of_the_c_that_it_is_written_to() {
    // 301 ones: a number that bf16 has not.
    let (a, b) = (vec![crate::bf16::ONE; 2 * 301], vec![crate::bf16::ONE; 301]);
    let a = MatRef::new(&a, Layout::row_major(2, 301)).unwrap();
    let product = DynProduct::new(SemiringId::PlusTimes, a, MatRef::column(&b)).unwrap();
    for backend in [Backend::Cpu, Backend::Reference] {
        let product = product.options(Options { backend, ..Options::default() });
        for (dtype, wanted) in [(DType::F32, 301.0), (DType::Bf16, 300.0)] {
            let mut c = DynMatrix::zeros(dtype, 2, 1).unwrap();
            product.write_to(c.as_mut(), None).unwrap();
            assert_eq!(c.as_ref().get(1, 0), Some(Value::Float(wanted)), "{backend} {dtype}");
            assert!(product.verify(c.as_ref(), None).unwrap().passed);
            assert_eq!(product.giving(dtype).unwrap().compute().unwrap().c.dtype(), dtype);
        }
        let mut c = DynMatrix::zeros(DType::F64, 2, 1).unwrap();
        let error = product.write_to(c.as_mut(), None).unwrap_err();
        assert_eq!(
            (error.code(), product.giving(DType::F64).unwrap_err().code()),
            ("dtype-mismatch", "unsupported")
        );
    }
    // A wrong sum of f32 is found, though bf16 would hide it.
    let mut wrong = DynMatrix::from(Matrix::filled(2, 1, 301.5f32).unwrap());
    assert!(!product.verify(wrong.as_ref(), None).unwrap().passed);
    let product = product.giving(DType::F32).unwrap();
    let product = product.update(Joining::Accumulate, None).unwrap();
    product.write_to(wrong.as_mut(), None).unwrap();
    assert_eq!(wrong.as_ref().get(0, 0), Some(Value::Float(602.5)));
}

#[test]
fn factors_work_on_every_number_and_nothing_else() {
    for &dtype in SemiringId::PlusTimes.dtypes() {
        let (a, b) = (matrix(dtype, 3, 4), matrix(dtype, 4, 5));
        let out = SemiringId::PlusTimes.output(dtype).unwrap();
        let c0 = matrix(out, 3, 5);
        let p = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), b.as_ref()).unwrap();
        let plain = p.compute().unwrap();
        let p = p.update(Joining::<Value>::scale(2.0, -3.0), Some(c0.as_ref())).unwrap();
        let scaled = p.compute().unwrap();
        assert!(p.verify(scaled.c.as_ref(), None).unwrap().passed, "{dtype}");
        let number = |m: &DynMatrix| m.as_ref().get(2, 4).unwrap().to_f64();
        assert_eq!(number(&scaled.c), 2.0 * number(&plain.c) - 3.0 * number(&c0));
    }
    let a = matrix(DType::F32, 2, 2);
    let p = DynProduct::new(SemiringId::MinPlus, a.as_ref(), a.as_ref()).unwrap();
    let refused = p.update(Joining::<Value>::scale(2.0, 0.0), None);
    assert_eq!(refused.unwrap_err().code(), "unsupported");
}

#[test]
fn factors_that_do_not_fit_are_refused() {
    let refused = |dtype, alpha| {
        let a = matrix(dtype, 2, 2);
        let p = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), a.as_ref()).unwrap();
        p.update(Joining::<Value>::scale(alpha, 0.0), None).is_err()
    };
    assert!(refused(DType::I32, 0.5) && refused(DType::I32, 1e10) && refused(DType::I32, f64::INFINITY));
    assert!(!refused(DType::I64, 1e10) && !refused(DType::I8, -1.0));
    assert!(refused(DType::F32, 1e300) && refused(DType::F64, f64::NAN));
    assert!(!refused(DType::F32, 0.1) && !refused(DType::F64, 1e300));
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let code = |r: Result<DynProduct<'_>, Error>| r.unwrap_err().code();
    let (f, g, i) = (matrix(DType::F32, 2, 3), matrix(DType::F64, 3, 2), matrix(DType::I16, 3, 3));
    assert_eq!(code(DynProduct::new(SemiringId::MinPlus, f.as_ref(), g.as_ref())), "dtype-mismatch");
    assert_eq!(code(DynProduct::new(SemiringId::MinPlus, f.as_ref(), f.as_ref())), "inner-mismatch");
    assert_eq!(code(DynProduct::new(SemiringId::MaxTimes, i.as_ref(), i.as_ref())), "unsupported");
    let p = DynProduct::new(SemiringId::MinPlus, f.as_ref(), f.as_ref().t()).unwrap();
    assert_eq!(code(p.update(Joining::Accumulate, Some(g.as_ref()))), "dtype-mismatch");
    assert_eq!(code(p.update(Joining::Accumulate, Some(f.as_ref()))), "result-mismatch");
}

#[test]
fn progress_adds_up_on_the_reference() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let done = AtomicU64::new(0);
    let count = |n| {
        done.fetch_add(n, Ordering::Relaxed);
    };
    let a = matrix(DType::I32, 3, 3);
    let options = Options { backend: Backend::Reference, progress: Some(&count), ..Options::default() };
    let p = DynProduct::new(SemiringId::MinPlus, a.as_ref(), a.as_ref()).unwrap().options(options);
    assert_eq!(p.compute().unwrap().report.kernel.to_string(), "reference");
    assert_eq!(done.load(Ordering::Relaxed), 27);
}

#[test]
fn results_are_written_where_they_belong_or_not_at_all() {
    let (a, b) = (matrix(DType::I8, 3, 4), matrix(DType::I8, 4, 2));
    let product = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), b.as_ref()).unwrap();
    let plain = product.compute().unwrap().c;
    // By columns, and joined with what is there.
    let mut data = [5i32; 6];
    let c = MatMut::new(&mut data, Layout::col_major(3, 2)).unwrap();
    let joined = product.update(Joining::<Value>::scale(1.0, 2.0), None).unwrap();
    joined.write_to(c.into(), None).unwrap();
    for (i, j) in [(0, 0), (2, 1)] {
        assert_eq!(f64::from(data[j * 3 + i]), plain.as_ref().get(i, j).unwrap().to_f64() + 10.0);
    }
    // The sums of bytes are no bytes, and there is nothing to join.
    let mut bytes = [7i8; 6];
    let c = MatMut::new(&mut bytes, Layout::row_major(3, 2)).unwrap();
    assert_eq!(product.write_to(c.into(), None).unwrap_err().code(), "dtype-mismatch");
    assert_eq!(bytes, [7; 6]);
    assert_eq!(joined.compute().unwrap_err().code(), "unsupported");
}
