//! Bias and activation: as the definition, bit for bit, where sums are exact.

use crate::common::{Palette, Random, Sample, admitted, config, isas, on};
use proptest::prelude::*;
use tilewright_core::*;
use tilewright_cpu::{Options, Sums, multiply, multiply_arg, multiply_batch, plan};

/// Where columns lie beside each other, and where rows do; with gaps, and the order of rows reversed.
const FORMS: usize = 4;

fn layout(form: usize, rows: usize, cols: usize) -> Layout {
    let (r, c) = (rows as isize, cols as isize);
    match form {
        0 => Layout::row_major(rows, cols),
        1 => Layout::col_major(rows, cols),
        2 => Layout::strided(rows, cols, 2 * c + 3, 2),
        _ => Layout::strided(rows, cols, 1, r + 5),
    }
}

/// Whole numbers of a few digits.
fn draw<T: Sample, S: Semiring<Elem = T>>(seed: u64, len: usize) -> Vec<T> {
    let mut random = Random::new(seed);
    (0..len).map(|_| admitted::<S>(&mut random, Palette::Whole)).collect()
}

#[derive(Clone, Debug)]
struct Case {
    size: [usize; 3],
    forms: [usize; 3],
    count: usize,
    threads: usize,
    factors: [i8; 2],
    has_bias: bool,
    is_column: bool,
    activation: Activation,
    seed: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    let size = [0..40usize, 0..40usize, 0..30usize];
    let parts = (size, [0..FORMS, 0..FORMS, 0..FORMS], 1..4usize, 1..3usize, [-2..3i8, -1..3i8]);
    let epilogue =
        (any::<bool>(), any::<bool>(), proptest::sample::select(&Activation::ALL[..]), any::<u64>());
    (parts, epilogue).prop_map(
        |((size, forms, count, threads, factors), (has_bias, is_column, activation, seed))| Case {
            size,
            forms,
            count,
            threads,
            factors,
            has_bias,
            is_column,
            activation,
            seed,
        },
    )
}

fn agrees<T>(case: &Case)
where
    T: semiring::Arithmetic<Acc: Sample + semiring::RoundTo<T>, Out = T> + Sample,
{
    let [m, n, k] = case.size;
    let room = |l: Layout| l.span().unwrap().map_or(0, |(_, high)| high as usize + 1);
    let [la, lb, lc] = [(case.forms[0], m, k), (case.forms[1], k, n), (case.forms[2], m, n)]
        .map(|(form, rows, cols)| layout(form, rows, cols));
    let [sa, sb, sc] = [la, lb, lc].map(room);
    let all = |seed: u64, len: usize| draw::<T, PlusTimes<T>>(case.seed ^ seed, len.max(1));
    let (a, b, c0) = (all(1, sa * case.count), all(2, sb * case.count), all(3, sc * case.count));
    let bias = &all(4, n)[..n];
    let [alpha, beta] = case.factors.map(|x| Sample::nearest(f64::from(x)));
    let update = Update::<PlusTimes<T>>::scale(alpha, beta);
    let view = if case.is_column { MatRef::column(bias) } else { MatRef::row(bias) };
    let epilogue = Epilogue { bias: case.has_bias.then(|| view.into()), activation: case.activation };

    let mut wanted = c0.clone();
    for i in 0..case.count {
        let to = MatMut::with_origin(&mut wanted, lc, i * sc).unwrap();
        let x = MatRef::with_origin(&a, la, i * sa).unwrap();
        let y = MatRef::with_origin(&b, lb, i * sb).unwrap();
        reference::multiply_with::<PlusTimes<T>>(to, x, y, &update, epilogue).unwrap();
    }
    for isa in isas() {
        let options = Options { epilogue, threads: case.threads, ..on(isa) };
        let mut c = c0.clone();
        let mut to = BatchMut::new(&mut c, lc, case.count, sc as isize).unwrap();
        let x = BatchRef::new(&a, la, case.count, sa as isize).unwrap();
        let y = BatchRef::new(&b, lb, case.count, sb as isize).unwrap();
        multiply_batch::<PlusTimes<T>>(&mut to, x, y, &update, &options).unwrap();
        let differs = c.iter().zip(&wanted).position(|(x, y)| x.bits() != y.bits());
        assert_eq!(differs, None, "{isa}: {case:?}");
    }
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn as_the_definition_f16(case in cases()) {
        agrees::<f16>(&case);
    }
    #[test]
    fn as_the_definition_bf16(case in cases()) {
        agrees::<bf16>(&case);
    }
    #[test]
    fn as_the_definition_f32(case in cases()) {
        agrees::<f32>(&case);
    }
    #[test]
    fn as_the_definition_f64(case in cases()) {
        agrees::<f64>(&case);
    }
}

/// Several blocks of terms, of columns and regions of threads.
#[test]
fn large_products_are_finished_once() {
    let size = [150, 700, 5000];
    let (has_bias, is_column, activation) = (true, false, Activation::Relu);
    for (forms, factors) in [([0, 0, 0], [1, 0]), ([0, 1, 1], [2, 1])] {
        let (count, threads, seed) = (1, 2, 7);
        let case = Case { size, forms, count, threads, factors, has_bias, is_column, activation, seed };
        agrees::<f32>(&case);
    }
}

#[test]
fn what_makes_no_sense_is_refused_before_the_first_write() {
    let l = Layout::row_major(2, 2);
    let (a, short) = ([1.0f32; 4], [1.0f32]);
    let a = MatRef::new(&a, l).unwrap();
    let with = |epilogue| Options { epilogue, ..Options::default() };
    let relu = with(Epilogue { bias: None, activation: Activation::Relu });
    let mut c = [7.0f32; 4];
    let mut arg = [0; 4];
    let mut to = MatMut::new(&mut c, l).unwrap();
    let bias = with(Epilogue { bias: Some(MatRef::row(&short).into()), activation: Activation::None });
    let error = multiply::<PlusTimes<f32>>(to.reborrow(), a, a, &Update::Replace, &bias).unwrap_err();
    assert_eq!(error.code(), "result-mismatch");
    let error = multiply::<MaxPlus<f32>>(to.reborrow(), a, a, &Update::Replace, &relu).unwrap_err();
    assert!(error.to_string().contains("relu after max-plus"), "{error}");
    let winners = MatMut::new(&mut arg, l).unwrap();
    let error = multiply_arg::<MaxPlus<f32>>(to, winners, a, a, &Update::Replace, &relu).unwrap_err();
    assert!(error.to_string().contains("relu with an arg result"), "{error}");
    assert_eq!((c, arg), ([7.0; 4], [0; 4]));
}

#[test]
fn the_plan_says_that_sums_are_buffered() {
    let l = Layout::row_major(64, 64);
    let problem = Problem::new(l, l, l).unwrap();
    let sums = |activation| {
        let options = Options { epilogue: Epilogue { bias: None, activation }, ..Options::default() };
        plan::<PlusTimes<f32>>(&problem, &Update::Replace, &options).unwrap().sums
    };
    assert_eq!((sums(Activation::None), sums(Activation::Gelu)), (Sums::InC, Sums::Buffered));
}
