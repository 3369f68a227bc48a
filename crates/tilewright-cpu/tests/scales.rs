//! Scales of 8-bit floats: as the definition, bit for bit, where sums are exact.

use crate::common::isas;
use proptest::prelude::*;
use tilewright_core::{semiring::Arithmetic, semiring::RoundTo, *};
use tilewright_cpu::{Options, multiply, multiply_arg, multiply_batch, plan};

#[derive(Clone, Debug)]
struct Case {
    size: [usize; 3],
    by_columns: [bool; 4],
    scales: [Option<Granularity>; 2],
    factors: [i8; 2],
    has_bias: bool,
    threads: usize,
    seed: usize,
}

fn cases() -> impl Strategy<Value = Case> {
    let granularity = || proptest::option::of(proptest::sample::select(&Granularity::ALL[..]));
    let size = [0..300usize, 0..140usize, 0..400usize];
    let parts = (size, any::<[bool; 4]>(), [granularity(), granularity()]);
    (parts, [-2..3i8, -1..3i8], any::<bool>(), 1..3usize, 0..1000usize).prop_map(
        |((size, by_columns, scales), factors, has_bias, threads, seed)| Case {
            size,
            by_columns,
            scales,
            factors,
            has_bias,
            threads,
            seed,
        },
    )
}

fn matrix<T: Element>([rows, cols]: [usize; 2], by_columns: bool, of: impl Fn(usize) -> f64) -> Matrix<T> {
    let layout = if by_columns { Layout::col_major(rows, cols) } else { Layout::row_major(rows, cols) };
    let element = |i| T::from_value(Value::Float(of(i)), Extremes::Refuse).unwrap();
    Matrix::from_vec((0..rows * cols).map(element).collect(), layout).unwrap()
}

fn agrees<T: Arithmetic<Acc = f32>, O: Element>(case: &Case)
where
    f32: RoundTo<O>,
{
    let ([m, n, k], seed) = (case.size, case.seed);
    let whole = |x: usize| move |i: usize| ((i * 31 + seed * x) % 7) as f64 - 3.0;
    let power = |x: usize| move |i: usize| 2f64.powi(((i * 5 + seed + x) % 4) as i32 - 2);
    let [a_by, b_by, c_by, scales_by] = case.by_columns;
    let (a, b) = (matrix::<T>([m, k], a_by, whole(1)), matrix::<T>([k, n], b_by, whole(2)));
    let old = matrix::<O>([m, n], false, whole(3));
    let mut wanted = old.clone();
    let bias = matrix::<O>([1, n], false, whole(4));
    let of_a = case.scales[0].map(|one| matrix::<f32>(one.shape(m, k), scales_by, power(0)));
    let of_b = case.scales[1].map(|one| matrix::<f32>(one.shape(n, k), scales_by, power(1)));
    let scales = Scales {
        a: of_a.as_ref().map(|x| x.as_ref().into()),
        b: of_b.as_ref().map(|x| x.as_ref().t().into()),
    };
    let epilogue =
        Epilogue { bias: case.has_bias.then(|| bias.as_ref().into()), activation: Activation::Relu };
    let [alpha, beta] = case.factors.map(f32::from);
    let update = Update::<PlusTimes<T, O>>::scale(alpha, beta);
    let (a, b) = (a.as_ref(), b.as_ref());
    reference::multiply_scaled(wanted.as_mut(), a, b, &update, epilogue, scales).unwrap();
    for isa in isas() {
        let options =
            Options { isa: Some(isa), threads: case.threads, epilogue, scales, ..Options::default() };
        let mut c = matrix::<O>([m, n], c_by, |_| 0.0);
        c.as_mut().fill_with(|i, j| old[(i, j)]);
        multiply(c.as_mut(), a, b, &update, &options).unwrap();
        assert!(c == wanted, "{case:?} {isa:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn products_with_scales_are_those_of_the_definition(case in cases()) {
        agrees::<E4m3, f32>(&case);
        agrees::<E5m2, bf16>(&case);
    }
}

#[test]
fn rows_beyond_those_of_one_turn_have_their_scales() {
    for scales in [Granularity::Row, Granularity::RowBlock, Granularity::Block].map(Some) {
        let by_columns = [false, true, false, false];
        let (factors, has_bias, threads, seed) = ([1, 0], false, 2, 7);
        let size = [400, 700, 260];
        agrees::<E4m3, f16>(&Case {
            size,
            by_columns,
            scales: [scales; 2],
            factors,
            has_bias,
            threads,
            seed,
        });
    }
}

#[test]
fn scales_are_for_one_product_of_8_bit_floats() {
    let one = [1.0f32];
    let scales = Scales { a: Some(MatRef::row(&one).into()), b: None };
    let options = Options { scales, ..Options::default() };
    let floats = Matrix::filled(2, 2, 1.0f32).unwrap();
    let mut c = Matrix::filled(2, 2, 9.0f32).unwrap();
    let x = floats.as_ref();
    let refused = multiply::<PlusTimes<f32>>(c.as_mut(), x, x, &Update::Replace, &options).unwrap_err();
    assert!(refused.to_string().contains("scales of A with plus-times"), "{refused}");
    let mut arg = Matrix::filled(2, 2, 0u32).unwrap();
    let update = Update::<MinPlus<f32>>::Replace;
    assert!(multiply_arg(c.as_mut(), arg.as_mut(), x, x, &update, &options).is_err());
    let bytes = [E4m3::ONE; 8];
    let l = Layout::row_major(2, 2);
    let a = BatchRef::new(&bytes, l, 2, 4).unwrap();
    let mut several = [0.0f32; 8];
    let mut batch = BatchMut::new(&mut several, l, 2, 4).unwrap();
    let update = Update::<PlusTimes<E4m3>>::Replace;
    assert_eq!(multiply_batch(&mut batch, a, a, &update, &options).unwrap_err().code(), "unsupported");
    let problem = Problem::new(l, l, l).unwrap();
    let three = Matrix::filled(1, 3, 1.0f32).unwrap();
    let wrong = Options { scales: Scales { a: Some(three.as_ref().into()), b: None }, ..options };
    assert_eq!(plan(&problem, &update, &wrong).unwrap_err().code(), "result-mismatch");
    assert_eq!(c.as_slice(), [9.0; 4]);
}
