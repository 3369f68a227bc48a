//! Which term won: ties go to the first, whatever the group, the block and the tile that it is in.

use crate::common::{Case, Form, Join, Palette, Subject, check, isas};
use tilewright_core::*;
use tilewright_cpu::{Isa, Options, multiply_arg};

/// Every length of one side up to 40, beside a few of the others.
fn every_edge<S: Subject>() {
    for (isa, side) in isas().into_iter().flat_map(|isa| (1..=40).map(move |side| (isa, side))) {
        for (m, n, k) in [(side, 7, 9), (5, side, 33), (3, 17, side), (side, side, side)] {
            let forms = [Form::PLAIN, Form::SPREAD, Form::BY_COLUMNS, Form::REVERSED];
            let form = |i: usize| forms[(side + i) % 4];
            let join = [Join::Replace, Join::Accumulate][side % 2];
            let palette = [Palette::Few, Palette::Wild, Palette::Spread][side % 3];
            let case = Case { a: form(1), b: form(2), c: form(3), join, palette, ..Case::new(isa, m, n, k) };
            check::<S>(&Case { arg: Some(form(0)), ..case });
        }
    }
}

/// Where all elements are alike, the first term wins, if any does.
fn alike<S: Semiring<Elem: Element, Out: Element>>(element: S::Elem) {
    for (isa, k) in isas().into_iter().flat_map(|isa| [1, 31, 32, 33, 700, 5000].map(|k| (isa, k))) {
        let (m, n) = (9, 35);
        let (a, b) = (vec![element; m * k], vec![element; k * n]);
        let (mut c, mut arg) = (vec![S::finish(S::ZERO); m * n], vec![7; m * n]);
        let wins = S::mul_add(S::ZERO, element, element) != S::ZERO;
        winners::<S>((m, n, k), isa, 1, &a, &b, &mut c, &mut arg);
        let expected = if wins { 0 } else { NO_ARG };
        assert!(arg.iter().all(|&winner| winner == expected), "{} of {element:?}, {k}: {arg:?}", S::NAME);
    }
}

fn winners<S: Semiring>(
    (m, n, k): (usize, usize, usize),
    isa: Isa,
    threads: usize,
    a: &[S::Elem],
    b: &[S::Elem],
    c: &mut [S::Out],
    arg: &mut [u32],
) {
    let options = Options { isa: Some(isa), threads, ..Options::default() };
    let (a, b) =
        (MatRef::new(a, Layout::row_major(m, k)).unwrap(), MatRef::new(b, Layout::row_major(k, n)).unwrap());
    let of_c = Layout::row_major(m, n);
    let (c, arg) = (MatMut::new(c, of_c).unwrap(), MatMut::new(arg, of_c).unwrap());
    multiply_arg::<S>(c, arg, a, b, &Update::Replace, &options).unwrap();
}

macro_rules! selective {
    ($($name:ident: $s:ty, $($element:expr),*;)*) => {
        $(#[test]
        fn $name() {
            every_edge::<$s>();
            $(alike::<$s>($element);)*
        })*
    };
}
selective! {
    min_plus_f16: MinPlus<f16>, f16::ONE, f16::INFINITY, f16::NEG_INFINITY, f16::NAN, f16::MAX;
    max_plus_f16: MaxPlus<f16>, f16::ONE, f16::NEG_ZERO, f16::MIN_POSITIVE_SUBNORMAL;
    min_plus_bf16: MinPlus<bf16>, bf16::ONE, bf16::INFINITY, bf16::MAX, bf16::MIN;
    max_plus_bf16: MaxPlus<bf16>, bf16::ONE, bf16::NEG_ZERO, bf16::MAX;
    min_plus_f32: MinPlus<f32>, 1.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN;
    max_plus_f64: MaxPlus<f64>, 1.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN;
    min_plus_i16: MinPlus<i16>, 1, 0, i16::MAX, -4095;
    max_plus_i32: MaxPlus<i32>, 1, 0, i32::MIN;
    min_plus_i64: MinPlus<i64>, 1, 0, i64::MAX;
    max_times_f32: MaxTimes<f32>, 1.0, 0.0, -0.0, f32::INFINITY, f32::NAN;
    min_times_f64: MinTimes<f64>, 1.0, 0.0, f64::INFINITY, f64::NAN;
    max_min_f32: MaxMin<f32>, 1.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN;
    max_min_i32: MaxMin<i32>, 1, i32::MAX, i32::MIN;
    max_min_u8: MaxMin<u8>, 1, 0, 255;
    min_max_f64: MinMax<f64>, 1.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN;
    min_max_u8: MinMax<u8>, 1, 0, 255;
    or_and: OrAnd, true, false;
}

/// The first winner of several blocks of terms, of which later ones are as good; and zeros of both signs are equal.
#[test]
fn earlier_terms_win() {
    let (m, n, k) = (14, 40, 2500);
    for isa in isas() {
        for winner in [0, 31, 32, 255, 256, 1100, 2499] {
            let a = vec![0.0_f32; m * k];
            let mut b = vec![1.0_f32; k * n];
            b[winner * n..(winner + 1) * n].fill(0.0);
            b[2499 * n..].fill(-0.0);
            let (mut c, mut arg) = (vec![7.0; m * n], vec![7; m * n]);
            winners::<MinPlus<f32>>((m, n, k), isa, 1, &a, &b, &mut c, &mut arg);
            assert!(arg.iter().all(|&x| x == winner as u32), "{winner}: {arg:?}");
            assert!(c.iter().all(|x| x.to_bits() == 0));
        }
    }
}

/// Bits and winners do not depend on the number of threads.
#[test]
fn threads_agree() {
    let (m, n, k) = (150, 130, 90);
    let element = |i: usize| (i * 7919 % 61) as f32;
    let (a, b) =
        ((0..m * k).map(element).collect::<Vec<_>>(), (5..5 + k * n).map(element).collect::<Vec<_>>());
    let results = [1, 2, 5].map(|threads| {
        let (mut c, mut arg) = (vec![0.0; m * n], vec![7; m * n]);
        winners::<MaxPlus<f32>>((m, n, k), isas()[0], threads, &a, &b, &mut c, &mut arg);
        (c, arg)
    });
    assert!(results.iter().all(|result| *result == results[0]));
}
