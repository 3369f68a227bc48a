//! Every remainder around every edge: of tiles, of the unrolled loop, of blocks, of matrices without elements.

use crate::common::{self, Case, Form, Join, Palette, Subject, check, isas};
use tilewright_core::*;
use tilewright_cpu::{Isa, Options, multiply, multiply_arg};

/// More rows than the tallest tile and more columns than twice the widest vector of bytes.
const MAX_M: usize = 13;
const MAX_N: usize = 129;

/// Every shape up to one more than any tile, into C by rows, by columns, with gaps and reversed.
fn every_tile<S: Subject>(arg: Option<Form>) {
    for isa in isas() {
        for m in 1..=MAX_M {
            for n in 1..=MAX_N {
                let forms = [Form::PLAIN, Form::SPREAD, Form::BY_COLUMNS, Form::REVERSED];
                let c = forms[(m + n) % 4];
                let join = [Join::Replace, Join::Accumulate][n / 2 % 2];
                check::<S>(&Case { c, arg, join, ..Case::new(isa, m, n, 5) });
            }
        }
    }
}

macro_rules! every_tile {
    ($($name:ident: $semiring:ty, $arg:expr;)*) => {
        mod every_tile {
            use super::*;
            $(#[test]
            fn $name() {
                super::every_tile::<$semiring>($arg);
            })*
        }
    };
}
every_tile! {
    plus_times_f16: PlusTimes<f16>, None;
    plus_times_bf16_giving_f32: PlusTimes<bf16, f32>, None;
    plus_times_e4m3: PlusTimes<E4m3>, None;
    plus_times_e5m2_giving_f16: PlusTimes<E5m2, f16>, None;
    plus_times_f32: PlusTimes<f32>, None;
    plus_times_f64: PlusTimes<f64>, None;
    plus_times_i8: PlusTimes<i8>, None;
    plus_times_u8: PlusTimes<u8>, None;
    max_min_u8: MaxMin<u8>, None;
    min_plus_i16: MinPlus<i16>, None;
    max_plus_f32: MaxPlus<f32>, None;
    max_min_f32: MaxMin<f32>, None;
    min_max_f32: MinMax<f32>, None;
    max_min_f64: MaxMin<f64>, None;
    or_and: OrAnd, None;
    log_plus_f32: LogPlus<f32>, None;
    log_plus_f64: LogPlus<f64>, None;
    min_plus_f32_arg: MinPlus<f32>, Some(Form::SPREAD);
    max_plus_i64_arg: MaxPlus<i64>, Some(Form::PLAIN);
    min_plus_i16_arg: MinPlus<i16>, Some(Form::BY_COLUMNS);
    min_max_u8_arg: MinMax<u8>, Some(Form::SPREAD);
    or_and_arg: OrAnd, Some(Form::PLAIN);
}

/// Operands too large to be read in place and small enough to be packed by the first rows of tiles: every remainder of
/// columns, and several blocks of terms.
fn packed_on_the_way<S: Subject>() {
    let shapes = (0..40).map(|n| (25 + n % 7, 90 + n, 131)).chain([(30, 200, 600), (40, 70, 1500)]);
    for (isa, (m, n, k)) in shapes.flat_map(|shape| isas().into_iter().map(move |isa| (isa, shape))) {
        let c = [Form::PLAIN, Form::SPREAD][n % 2];
        let join = [Join::Replace, Join::Accumulate][n / 2 % 2];
        check::<S>(&Case { c, join, ..Case::new(isa, m, n, k) });
    }
}

#[test]
fn first_rows_pack_b() {
    packed_on_the_way::<PlusTimes<f32>>();
    packed_on_the_way::<PlusTimes<f64>>();
}

/// Lengths around multiples of the unrolled loop and of every block of terms in use.
fn every_length<S: Subject>(arg: bool) {
    let blocks = [128, 170, 205, 256, 342, 512, 1024, 2048, 4096];
    let lengths = (0..20).chain(blocks.iter().flat_map(|k| k - 2..k + 3));
    for (isa, k) in lengths.flat_map(|k| isas().into_iter().map(move |isa| (isa, k))) {
        for (a, b) in [(Form::PLAIN, Form::PLAIN), (Form::BY_COLUMNS, Form::BY_COLUMNS)] {
            let join = [Join::Replace, Join::Accumulate][k % 2];
            let case = Case { a, b, join, ..Case::new(isa, 3, 18, k) };
            check::<S>(&Case { arg: arg.then_some(Form::PLAIN), ..case });
            // Ties in every block, and winners in the last one.
            check::<S>(&Case { arg: arg.then_some(Form::PLAIN), palette: Palette::Few, ..case });
            check::<S>(&Case { arg: arg.then_some(Form::PLAIN), palette: Palette::Spread, ..case });
        }
    }
}

#[test]
fn every_length_in_c() {
    every_length::<PlusTimes<f32>>(false);
    every_length::<PlusTimes<f16, f32>>(false);
    every_length::<PlusTimes<E5m2>>(false);
    every_length::<PlusTimes<i64>>(false);
    every_length::<MinPlus<i32>>(false);
    every_length::<MaxTimes<f64>>(false);
    every_length::<MaxMin<f32>>(false);
    every_length::<MinMax<f32>>(false);
    every_length::<MaxMin<u8>>(false);
    every_length::<OrAnd>(false);
}

#[test]
fn every_length_through_a_buffer() {
    every_length::<PlusTimes<bf16>>(false);
    every_length::<PlusTimes<E4m3, bf16>>(false);
    every_length::<MinPlus<f16>>(false);
    every_length::<LogPlus<f32>>(false);
    every_length::<LogPlus<f64>>(false);
}

#[test]
fn every_length_with_arg() {
    every_length::<MinPlus<f32>>(true);
    every_length::<MaxPlus<i16>>(true);
    every_length::<MaxMin<i32>>(true);
    every_length::<MinMax<f64>>(true);
    every_length::<OrAnd>(true);
}

/// Widths around the blocks of columns, whose size depends on the length of sums.
#[test]
fn every_block_of_columns() {
    let edges = [128, 256, 512, 655, 1024, 2048];
    for (isa, n) in
        edges.iter().flat_map(|n| n - 1..n + 2).flat_map(|n| isas().into_iter().map(move |i| (i, n)))
    {
        for k in [200, 257] {
            for join in [Join::Replace, Join::Accumulate] {
                let case = Case { join, ..Case::new(isa, 2, n, k) };
                check::<PlusTimes<f64>>(&case);
                check::<MinPlus<i16>>(&case);
                check::<OrAnd>(&case);
                check::<MaxPlus<f16>>(&case);
                check::<MinPlus<f64>>(&Case { arg: Some(Form::PLAIN), ..case });
            }
        }
    }
}

/// Where operands begin to be packed instead of being read in place.
#[test]
fn thresholds_of_packing() {
    for isa in isas() {
        for m in [1, 2, 7, 8, 9, 12, 13, 24, 25, 37] {
            for n in (63..67).chain(127..131).chain(255..259) {
                let case = Case::new(isa, m, n, 9);
                check::<PlusTimes<f32>>(&Case { join: Join::Accumulate, ..case });
                check::<PlusTimes<f32>>(&Case { a: Form::BY_COLUMNS, ..case });
                check::<PlusTimes<f64>>(&Case { b: Form::BY_COLUMNS, ..case });
                check::<PlusTimes<f64>>(&Case {
                    a: Form::REVERSED,
                    b: Form { gap: 3, ..Form::PLAIN },
                    ..case
                });
            }
        }
    }
}

/// Few rows and a large B. It is packed if its rows share sets of a cache that hold few of them, and in place otherwise. Floats are summed by
/// 32 terms either way, by instructions that multiply and add.
#[test]
fn few_rows_are_summed_by_32_terms() {
    let mut random = common::Random::new(11);
    let mut floats = |count| (0..count).map(|_| random.below(2001) as f32 / 7.0 - 143.0).collect::<Vec<_>>();
    for (m, n, k) in
        [(1, 1024, 150), (5, 2100, 70), (16, 2048, 150), (24, 1024, 33), (16, 701, 150), (24, 8, 5000)]
    {
        let (a, b) = (floats(m * k), floats(k * n));
        let sum = |i: usize, j: usize| {
            let terms: Vec<_> = (0..k).map(|p| (a[i * k + p], b[p * n + j])).collect();
            terms
                .chunks(32)
                .map(|terms| terms.iter().fold(0.0, |sum, (a, b)| a.mul_add(*b, sum)))
                .sum::<f32>()
        };
        let expected: Vec<_> = (0..m * n).map(|at| sum(at / n, at % n)).collect();
        for isa in isas().into_iter().filter(|&isa| isa != Isa::Portable) {
            let mut c = vec![0.0; m * n];
            let (to, from) = (common::rows_mut(&mut c, m, n), common::rows(&a, m, k));
            let options = common::on(isa);
            multiply::<PlusTimes<f32>>(to, from, common::rows(&b, k, n), &Update::Replace, &options).unwrap();
            assert!(c == expected, "{isa:?} {m}x{n}x{k}");
        }
    }
}

/// Where B becomes too large to be read in place, for few rows and for many.
#[test]
fn thresholds_of_large_operands() {
    for isa in isas() {
        for (n, k) in [(256, 128), (257, 128), (512, 256), (513, 257), (3072, 70), (256, 1024)] {
            for m in [3, 7, 9, 13, 24, 25, 37] {
                let case = Case { palette: Palette::Whole, ..Case::new(isa, m, n, k) };
                check::<PlusTimes<f32>>(&case);
                check::<PlusTimes<f64>>(&Case { join: Join::Accumulate, b: Form::REVERSED, ..case });
                let b = Form { reverse_rows: true, ..Form::PLAIN };
                check::<PlusTimes<f64>>(&Case { join: Join::Scale(3, -2), b, ..case });
                check::<MinPlus<f32>>(&Case { join: Join::Accumulate, ..case });
            }
        }
    }
}

/// One sum of no terms is the identity; accumulating none leaves C alone, scaling scales it.
#[test]
fn no_terms() {
    for isa in isas() {
        let options = common::on(isa);
        let (a, b) = (common::rows::<f32>(&[], 2, 0), common::rows::<f32>(&[], 0, 3));
        let run = |update: &Update<MinPlus<f32>>| {
            let mut c = [1.0, -0.0, f32::NAN, f32::INFINITY, -7.5, f32::NEG_INFINITY];
            let mut arg = [7; 6];
            multiply::<MinPlus<f32>>(common::rows_mut(&mut c, 2, 3), a, b, update, &options).unwrap();
            let mut again = c;
            let (to, to_arg) = (common::rows_mut(&mut again, 2, 3), common::rows_mut(&mut arg, 2, 3));
            multiply_arg::<MinPlus<f32>>(to, to_arg, a, b, update, &options).unwrap();
            assert_eq!(arg, [NO_ARG; 6]);
            assert_eq!(c.map(f32::to_bits), again.map(f32::to_bits));
            c.map(f32::to_bits)
        };
        let inf = f32::INFINITY;
        assert_eq!(run(&Update::Replace), [inf; 6].map(f32::to_bits));
        // NaN is absent, and zeros are positive.
        assert_eq!(run(&Update::Accumulate), [1.0, 0.0, inf, inf, -7.5, -inf].map(f32::to_bits));

        let mut c = [1.0, 2.0, 3.0, 4.0, -5.0, f32::INFINITY];
        let half = Update::scale(9.0, 0.5);
        multiply::<PlusTimes<f32>>(common::rows_mut(&mut c, 2, 3), a, b, &half, &options).unwrap();
        assert_eq!(c, [0.5, 1.0, 1.5, 2.0, -2.5, f32::INFINITY]);
        let nothing = Update::scale(9.0, 0.0);
        multiply::<PlusTimes<f32>>(common::rows_mut(&mut c, 2, 3), a, b, &nothing, &options).unwrap();
        assert_eq!(c, [0.0; 6]);
    }
}

/// Matrices without rows or without columns, however many of the other there are.
#[test]
fn no_elements() {
    for isa in isas() {
        let huge = isize::MAX as usize;
        for (m, n) in [(0, 0), (0, 5), (5, 0), (0, huge), (huge, 0)] {
            for k in [0, 3] {
                let options = Options { threads: 4, isa: Some(isa), ..Options::default() };
                let one = [1.0f32];
                let a = MatRef::new(&one, Layout::strided(m, k, 0, 0)).unwrap();
                let b = MatRef::new(&one, Layout::strided(k, n, 0, 0)).unwrap();
                let c = || MatMut::<f32>::new(&mut [], Layout::strided(m, n, 1, 1)).unwrap();
                let arg = || MatMut::<u32>::new(&mut [], Layout::strided(m, n, 1, 1)).unwrap();
                multiply::<PlusTimes<f32>>(c(), a, b, &Update::Replace, &options).unwrap();
                multiply::<MinPlus<f32>>(c(), a, b, &Update::Accumulate, &options).unwrap();
                multiply_arg::<MinPlus<f32>>(c(), arg(), a, b, &Update::Replace, &options).unwrap();
                multiply::<PlusTimes<f32>>(c(), a, b, &Update::scale(2.0, 3.0), &options).unwrap();
                reference::multiply::<MinPlus<f32>>(c(), a, b, &Update::Replace).unwrap();

                let halves = [f16::ONE];
                let a = MatRef::new(&halves, Layout::strided(m, k, 0, 0)).unwrap();
                let b = MatRef::new(&halves, Layout::strided(k, n, 0, 0)).unwrap();
                let c = MatMut::<f16>::new(&mut [], Layout::strided(m, n, 1, 1)).unwrap();
                multiply_arg::<MinPlus<f16>>(c, arg(), a, b, &Update::Replace, &options).unwrap();
            }
        }
    }
}

/// Shapes that do not fit are refused before anything happens.
#[test]
fn mismatched_shapes() {
    let data = [1.0f32; 12];
    let x = |rows, cols| common::rows(&data[..rows * cols], rows, cols);
    let mut c = [7.0f32; 12];
    let mut arg = [7; 12];
    let options = Options::default();
    let refused = |r: Result<_, Error>| r.err().unwrap().code();
    let replace = Update::<MinPlus<f32>>::Replace;
    fn two_by_two<T>(data: &mut [T]) -> MatMut<'_, T> {
        common::rows_mut(&mut data[..4], 2, 2)
    }
    assert_eq!(refused(multiply(two_by_two(&mut c), x(2, 3), x(2, 2), &replace, &options)), "inner-mismatch");
    assert_eq!(
        refused(multiply(two_by_two(&mut c), x(2, 3), x(3, 3), &replace, &options)),
        "result-mismatch"
    );
    assert_eq!(
        refused(multiply(two_by_two(&mut c), x(3, 3), x(3, 2), &replace, &options)),
        "result-mismatch"
    );
    let arg3x2 = common::rows_mut(&mut arg[..6], 3, 2);
    let wrong_arg = multiply_arg(two_by_two(&mut c), arg3x2, x(2, 3), x(3, 2), &replace, &options);
    assert_eq!(refused(wrong_arg), "result-mismatch");

    let sums = Update::<PlusTimes<f32>>::Replace;
    let no_winner = multiply_arg(two_by_two(&mut c), two_by_two(&mut arg), x(2, 3), x(3, 2), &sums, &options);
    assert_eq!(refused(no_winner), "unsupported");
    let long = Layout::strided(2, u32::MAX as usize, 0, 0);
    let (a, b) = (MatRef::new(&data, long).unwrap(), MatRef::new(&data, long.t()).unwrap());
    assert_eq!(
        refused(multiply_arg(two_by_two(&mut c), two_by_two(&mut arg), a, b, &replace, &options)),
        "unsupported"
    );
    assert_eq!((c, arg), ([7.0; 12], [7; 12]));
}

#[test]
fn more_rows_than_are_buffered() {
    for isa in isas() {
        for m in [4095, 4096, 4097, 9000] {
            check::<PlusTimes<f16>>(&Case { join: Join::Accumulate, ..Case::new(isa, m, 3, 4) });
            check::<MinPlus<i32>>(&Case { join: Join::Accumulate, ..Case::new(isa, m, 3, 4) });
            check::<MinPlus<f32>>(&Case { arg: Some(Form::PLAIN), ..Case::new(isa, m, 3, 4) });
        }
    }
}

/// Several blocks of columns, and of terms, that packed rows of A meet.
#[test]
fn packed_rows_meet_several_blocks() {
    for isa in isas() {
        let (m, n, k) = (14, 1100, 1100);
        let a = Form::BY_COLUMNS;
        check::<PlusTimes<f32>>(&Case { a, join: Join::Accumulate, ..Case::new(isa, m, n, k) });
        check::<MinTimes<f64>>(&Case { a, c: Form::BY_COLUMNS, ..Case::new(isa, m, n, k) });
        check::<PlusTimes<i32>>(&Case { join: Join::Accumulate, threads: 3, ..Case::new(isa, m, n, k) });
        check::<MaxPlus<i32>>(&Case { arg: Some(Form::PLAIN), ..Case::new(isa, m, n, k) });
    }
}
