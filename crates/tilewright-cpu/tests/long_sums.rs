//! Sums that are split along k, because C is small.

use crate::common::{Case, Form, Join, Palette, Sample, Subject, check, isas, rows, rows_mut};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tilewright_core::*;
use tilewright_cpu::{Options, multiply, multiply_arg, plan};

/// Two and three parts, whatever holds C, beside the definition.
fn as_defined<S: Subject>() {
    let joins = [Join::Replace, Join::Accumulate, Join::Scale(2, -1)];
    let forms = [Form::PLAIN, Form::SPREAD, Form::BY_COLUMNS, Form::REVERSED];
    for (i, isa) in isas().into_iter().cycle().take(3).enumerate() {
        let (m, n, k) = [(9, 35, 16_390), (30, 7, 24_577), (1, 250, 16_385)][i];
        let palette = [Palette::Few, Palette::Wild, Palette::Spread][i];
        let form = |at: usize| forms[(at + i) % 4];
        let (a, b, c, join) = (form(0), form(1), form(2), joins[i]);
        let case = Case { a, b, c, join, palette, threads: i + 1, ..Case::new(isa, m, n, k) };
        check::<S>(&case);
        check::<S>(&Case { arg: Some(form(3)), join: joins[i % 2], ..case });
    }
}

macro_rules! as_defined {
    ($($name:ident: $($s:ty),*;)*) => {$(
        #[test]
        fn $name() {
            $(as_defined::<$s>();)*
        }
    )*};
}
as_defined! {
    floats_are_added: PlusTimes<f32>, PlusTimes<f64>, PlusTimes<f16, f16>;
    logarithms_are_added: LogPlus<f32>;
    integers_are_added: PlusTimes<i8>, PlusTimes<i16>, PlusTimes<i32>;
    sums_are_selected: MinPlus<f32>, MaxPlus<f16>, MinPlus<i16>, MaxPlus<i64>;
    products_and_bottlenecks_are_selected: MaxTimes<f32>, MaxMin<f32>, MinMax<f32>, MinMax<f64>, MaxMin<u8>, OrAnd;
}

const SHAPE: (usize, usize, usize) = (40, 33, 40_000);

fn operands<S: Semiring<Elem: Sample>>() -> [Vec<S::Elem>; 2] {
    let (m, n, k) = SHAPE;
    let element = |i: usize| S::Elem::nearest((i * 7919 % 1009) as f64 / 16.0 - 30.0);
    [(0..m * k).map(element).collect(), (5..5 + k * n).map(element).collect()]
}

/// The shape decides how sums are rounded, and not the number of threads.
fn threads_agree<S: Semiring<Elem: Sample, Out: Sample>>() {
    let ((m, n, k), [a, b]) = (SHAPE, operands::<S>());
    let results = [1, 2, 3, 9].map(|threads| {
        let (mut c, options) = (vec![S::finish(S::ZERO); m * n], Options { threads, ..Options::default() });
        let (a, b) = (rows(&a, m, k), rows(&b, k, n));
        let report = multiply::<S>(rows_mut(&mut c, m, n), a, b, &Update::Replace, &options).unwrap();
        let [a, b, layout] = [a.layout(), b.layout(), Layout::row_major(m, n)];
        let problem = Problem::new(a, b, layout).unwrap();
        let planned = plan::<S>(&problem, &Update::Replace, &options).unwrap();
        assert_eq!((report.threads, planned.parts_of_terms), (planned.threads, 4));
        c.iter().map(|x| x.bits()).collect::<Vec<_>>()
    });
    assert!(results.iter().all(|bits| *bits == results[0]), "{}", S::NAME);
}

#[test]
fn bits_do_not_depend_on_threads() {
    threads_agree::<PlusTimes<f32>>();
    threads_agree::<PlusTimes<f64>>();
    threads_agree::<PlusTimes<bf16, bf16>>();
    threads_agree::<LogPlus<f64>>();
}

/// Equal terms of all parts: the first one wins.
#[test]
fn the_smallest_term_wins() {
    let (m, n, k) = SHAPE;
    for first in [0, 9_999, 10_000, 25_000, k - 1] {
        let (a, mut b) = (vec![0.0_f32; m * k], vec![1.0; k * n]);
        b[first * n..].fill(-1.0);
        let (mut c, mut arg) = (vec![0.0; m * n], vec![7; m * n]);
        let (of_c, of_arg) = (rows_mut(&mut c, m, n), rows_mut(&mut arg, m, n));
        let (a, b, options) = (rows(&a, m, k), rows(&b, k, n), Options::default());
        multiply_arg::<MinPlus<f32>>(of_c, of_arg, a, b, &Update::Replace, &options).unwrap();
        assert!(arg.iter().all(|&winner| winner as usize == first), "{first}: {arg:?}");
    }
}

/// All terms are counted, and a wish to end is heard between the parts.
#[test]
fn progress_and_cancelling() {
    let ((m, n, k), [a, b]) = (SHAPE, operands::<PlusTimes<f32>>());
    let all = (m * n * k) as u64;
    for (threads, after) in [(1, 1), (3, all / 2), (2, u64::MAX)] {
        let (stop, done) = (Cancel::new(), AtomicU64::new(0));
        let progress = |terms| {
            if done.fetch_add(terms, Relaxed) + terms >= after {
                stop.cancel();
            }
        };
        let options =
            Options { threads, progress: Some(&progress), cancel: Some(&stop), ..Options::default() };
        let mut c = vec![0.0; m * n];
        let (c, a, b) = (rows_mut(&mut c, m, n), rows(&a, m, k), rows(&b, k, n));
        let code = multiply::<PlusTimes<f32>>(c, a, b, &Update::Replace, &options).map_err(|e| e.code());
        match after {
            u64::MAX => assert!(code.is_ok() && done.into_inner() == all),
            _ => assert!(code == Err("cancelled") && done.into_inner() < all),
        }
    }
}
