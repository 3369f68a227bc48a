use super::*;
use crate::{Activation, DynMatrix, Epilogue, Extremes, Joining, Matrix, Options, Scales};

fn random(rows: usize, cols: usize, dtype: DType) -> DynMatrix {
    let mut state = (rows * 31 + cols) as u64;
    let m = Matrix::from_fn(rows, cols, |_, _| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if dtype.is_float() { (state >> 40) as f64 / 1e6 - 8.0 } else { (state >> 60) as f64 }
    });
    DynMatrix::from(m.unwrap()).as_ref().convert(dtype, Extremes::Refuse).unwrap()
}

fn corrupted(c: &DynMatrix, row: usize, col: usize, change: f64) -> DynMatrix {
    let c = c.as_ref();
    let wide = Matrix::from_fn(c.layout().rows, c.layout().cols, |i, j| {
        let x = match c.get(i, j).unwrap() {
            Value::Float(x) => x,
            Value::Int(x) => x as f64,
            other => panic!("{other:?}"),
        };
        if (i, j) == (row, col) { x + change } else { x }
    });
    DynMatrix::from(wide.unwrap()).as_ref().convert(c.dtype(), Extremes::Refuse).unwrap()
}

#[test]
fn one_wrong_element_fails_in_every_arithmetic() {
    let cases = [
        (SemiringId::PlusTimes, DType::F16, 40.0),
        (SemiringId::PlusTimes, DType::Bf16, 200.0),
        (SemiringId::PlusTimes, DType::F32, 1e-1),
        (SemiringId::PlusTimes, DType::F64, 1e-8),
        (SemiringId::PlusTimes, DType::I32, 1.0),
        (SemiringId::MinPlus, DType::F32, 1e-3),
        (SemiringId::MaxPlus, DType::I16, -1.0),
        (SemiringId::LogPlus, DType::F32, 3e-5),
        (SemiringId::LogPlus, DType::F64, -6e-14),
    ];
    for (semiring, dtype, change) in cases {
        let (a, b) = (random(20, 150, dtype), random(150, 17, dtype));
        let p = DynProduct::new(semiring, a.as_ref(), b.as_ref()).unwrap();
        let c = p.compute().unwrap().c;
        let right = p.verify(c.as_ref(), None).unwrap();
        assert!(right.passed && right.max_error <= right.bound, "{semiring} {dtype}: {right:?}");
        let wrong = p.verify(corrupted(&c, 19, 16, change).as_ref(), None).unwrap();
        assert!(!wrong.passed && wrong.max_error > wrong.bound, "{semiring} {dtype}: {wrong:?}");
        let mismatch = wrong.mismatch.unwrap();
        assert_eq!((mismatch.matrix, mismatch.row, mismatch.col), ("C", 19, 16));
    }
}

#[test]
fn errors_of_the_size_of_the_bound_are_told_from_rounding() {
    // All terms are positive: the result is as large as what the bound is measured by.
    let a: DynMatrix = Matrix::filled(2, 1000, 1.5f32).unwrap().into();
    let p = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), a.as_ref().t()).unwrap();
    let c = p.compute().unwrap().c;
    let bound = p.verify(c.as_ref(), None).unwrap().bound;
    assert!((5.9e-5..6.1e-5).contains(&bound), "{bound}");
    assert!(p.verify(corrupted(&c, 1, 1, 0.5 * bound * 2250.0).as_ref(), None).unwrap().passed);
    assert!(!p.verify(corrupted(&c, 1, 1, 1.5 * bound * 2250.0).as_ref(), None).unwrap().passed);
}

#[test]
fn a_wrong_arg_fails_although_c_is_right() {
    let (a, b) = (random(6, 8, DType::F32), random(8, 5, DType::F32));
    let p = DynProduct::new(SemiringId::MinPlus, a.as_ref(), b.as_ref()).unwrap();
    let outcome = p.compute_with_arg().unwrap();
    let mut arg = outcome.arg.unwrap();
    assert!(p.verify(outcome.c.as_ref(), Some(arg.as_ref())).unwrap().passed);
    *arg.as_mut().get_mut(3, 2).unwrap() ^= 1;
    let wrong = p.verify(outcome.c.as_ref(), Some(arg.as_ref())).unwrap();
    assert!(!wrong.passed);
    assert_eq!(wrong.mismatch.unwrap().matrix, "the arg result");
}

#[test]
fn factors_and_old_elements_take_part() {
    for dtype in [DType::F16, DType::F32, DType::F64, DType::I64] {
        let (a, b, c0) = (random(5, 6, dtype), random(6, 7, dtype), random(5, 7, dtype));
        let p = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), b.as_ref()).unwrap();
        let alpha = if dtype.is_float() { 0.1 } else { 3.0 };
        let scaled = p.update(Joining::<Value>::scale(alpha, -7.0), Some(c0.as_ref())).unwrap();
        let c = scaled.compute().unwrap().c;
        assert!(scaled.verify(c.as_ref(), None).unwrap().passed, "{dtype}");
        assert!(!p.verify(c.as_ref(), None).unwrap().passed, "{dtype}");
    }
}

/// What a product of operands with 10 bits after the point gives is right for tf32, and wrong in full.
#[test]
fn operands_may_be_rounded_where_that_is_asked_for() {
    let numbers = |seed: u32| -> Vec<f32> {
        (0..64 * 64_u32)
            .map(|i| (i.wrapping_mul(2_654_435_761).wrapping_add(seed) % 1000) as f32 / 999.0 + 0.1)
            .collect()
    };
    let rounded = |x: &[f32]| -> Vec<f32> {
        x.iter().map(|x| f32::from_bits((x.to_bits() + 0x1000) & !0x1fff)).collect()
    };
    let (a, b, l) = (numbers(1), numbers(7), Layout::row_major(64, 64));
    let of = |a: &[f32], b: &[f32]| {
        let [a, b] = [a, b].map(|x| MatRef::new(x, l).unwrap());
        DynProduct::new(SemiringId::PlusTimes, a, b).unwrap().compute().unwrap().c
    };
    let c = of(&rounded(&a), &rounded(&b));
    let (a, b) = (MatRef::new(&a, l).unwrap(), MatRef::new(&b, l).unwrap());
    let p = DynProduct::new(SemiringId::PlusTimes, a, b).unwrap();
    let tf32 = p.options(Options { math: Math::Tf32, ..Options::default() });
    assert!(!p.verify(c.as_ref(), None).unwrap().passed);
    assert!(tf32.verify(c.as_ref(), None).unwrap().passed);
    assert!(!tf32.verify(corrupted(&c, 3, 3, 0.1).as_ref(), None).unwrap().passed);
}

#[test]
fn infinities_and_overflow_are_judged_by_what_they_are() {
    let verify = |a: &[f32], b: &[f32], c: f32| {
        let l = Layout::row_major(1, a.len());
        let (a, b) = (MatRef::new(a, l).unwrap(), MatRef::new(b, l).unwrap().t());
        let p = DynProduct::new(SemiringId::PlusTimes, a, b).unwrap();
        let c = [c];
        p.verify(MatRef::new(&c, Layout::row_major(1, 1)).unwrap().into(), None).unwrap().passed
    };
    let inf = f32::INFINITY;
    assert!(verify(&[inf, 1.0], &[1.0, 1.0], inf));
    assert!(!verify(&[inf, 1.0], &[1.0, 1.0], -inf));
    assert!(!verify(&[inf, 1.0], &[1.0, 1.0], 2.0));
    assert!(verify(&[inf, inf], &[1.0, -1.0], f32::NAN));
    assert!(!verify(&[1.0, 1.0], &[1.0, 1.0], f32::NAN));
    assert!(!verify(&[1.0, 1.0], &[1.0, 1.0], inf));
    // 3e38 + 3e38 - 3e38 overflows in one order of summation and not in another.
    assert!(verify(&[3e38, 3e38, 3e38], &[1.0, 1.0, -1.0], inf));
    assert!(verify(&[3e38, 3e38, 3e38], &[1.0, 1.0, -1.0], 3e38));
    assert!(!verify(&[3e38, 3e38, 3e38], &[1.0, 1.0, -1.0], 2e38));
    // Underflow: 2^-150 rounds to 0 or to the smallest number.
    assert!(verify(&[3e-23], &[3e-23], 0.0));
}

#[test]
fn a_half_that_overflows_is_infinite() {
    let a: DynMatrix = Matrix::filled(1, 1, f16::from_f32(300.0)).unwrap().into();
    let p = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), a.as_ref()).unwrap();
    let c = p.compute().unwrap().c;
    assert_eq!(c.as_ref().get(0, 0), Some(Value::Float(f64::INFINITY)));
    assert!(p.verify(c.as_ref(), None).unwrap().passed);
}

#[test]
fn results_of_another_shape_or_type_are_errors() {
    let (a, b) = (random(5, 6, DType::I32), random(6, 7, DType::I32));
    let p = DynProduct::new(SemiringId::MinPlus, a.as_ref(), b.as_ref()).unwrap();
    assert_eq!(p.verify(a.as_ref(), None).unwrap_err().code(), "result-mismatch");
    assert_eq!(p.verify(random(5, 7, DType::I64).as_ref(), None).unwrap_err().code(), "dtype-mismatch");
}

#[test]
fn empty_products_pass() {
    for (m, n, k) in [(0, 3, 2), (3, 0, 2), (3, 2, 0), (0, 0, 0)] {
        for semiring in [SemiringId::PlusTimes, SemiringId::MinPlus] {
            let (a, b) = (random(m, k, DType::F32), random(k, n, DType::F32));
            let p = DynProduct::new(semiring, a.as_ref(), b.as_ref()).unwrap();
            let c = p.compute().unwrap().c;
            assert!(p.verify(c.as_ref(), None).unwrap().passed);
        }
    }
}

#[test]
fn an_epilogue_takes_part_and_is_not_forgiven() {
    for dtype in [DType::F16, DType::Bf16, DType::F32, DType::F64] {
        let (a, b, bias) = (random(9, 8, dtype), random(8, 5, dtype), random(1, 5, dtype));
        let plain = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), b.as_ref()).unwrap();
        for activation in Activation::ALL {
            let epilogue = Epilogue { bias: Some(bias.as_ref()), activation };
            let p = plain.epilogue(epilogue).unwrap();
            let c = p.compute().unwrap().c;
            let v = p.verify(c.as_ref(), None).unwrap();
            assert!(v.passed, "{dtype} {activation}: {v:?}");
            assert!(!p.verify(corrupted(&c, 2, 3, 40.0).as_ref(), None).unwrap().passed, "{dtype}");
            assert!(
                !p.verify(plain.compute().unwrap().c.as_ref(), None).unwrap().passed,
                "{dtype} {activation}"
            );
        }
    }
}

#[test]
fn scales_take_part_and_are_not_forgiven() {
    let (a, b) = (random(20, 300, DType::E4m3), random(300, 9, DType::E4m3));
    let scale = |rows: usize, cols: usize, seed: usize| {
        Matrix::from_fn(rows, cols, |i, j| 0.3 + ((i * 7 + j * 3 + seed) % 11) as f32).unwrap()
    };
    let plain = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), b.as_ref()).unwrap();
    for ((m, ka), (kb, n)) in [((1, 1), (1, 9)), ((20, 1), (3, 9)), ((20, 3), (3, 1)), ((1, 3), (1, 1))] {
        let (of_a, of_b) = (scale(m, ka, 1), scale(kb, n, 5));
        let scales = Scales { a: Some(of_a.as_ref().into()), b: Some(of_b.as_ref().into()) };
        for output in [DType::F32, DType::Bf16] {
            let p = plain.giving(output).unwrap().scales(scales).unwrap();
            let c = p.compute().unwrap().c;
            let v = p.verify(c.as_ref(), None).unwrap();
            assert!(v.passed && v.rows_checked == 20, "{m} {ka} {kb} {n}: {v:?}");
            assert!(!p.verify(corrupted(&c, 2, 3, 1e6).as_ref(), None).unwrap().passed);
            let without = plain.giving(output).unwrap().compute().unwrap().c;
            assert!(!p.verify(without.as_ref(), None).unwrap().passed);
        }
    }
}

#[test]
fn scales_that_are_no_finite_numbers_let_nothing_pass() {
    let (a, b) = (random(3, 300, DType::E4m3), random(300, 4, DType::E4m3));
    let plain = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), b.as_ref()).unwrap();
    for scale in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let of_a = Matrix::from_fn(3, 3, |i, t| if (i, t) == (1, 2) { scale } else { 0.5 }).unwrap();
        let p = plain.scales(Scales { a: Some(of_a.as_ref().into()), b: None }).unwrap();
        let c = p.compute().unwrap().c;
        let v = p.verify(c.as_ref(), None).unwrap();
        assert!(v.passed, "{scale}: {v:?}");
        let wrong = Matrix::from_fn(3, 4, |i, j| match c.as_ref().get(i, j) {
            Some(Value::Float(x)) if (i, j) != (1, 2) => x as f32,
            _ => 7.0,
        });
        let wrong = DynMatrix::from(wrong.unwrap());
        let v = p.verify(wrong.as_ref(), None).unwrap();
        assert!(!v.passed && v.max_error == f64::INFINITY, "{scale}: {v:?}");
    }
}
