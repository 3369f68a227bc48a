//! Integers that lie close together are computed in 16 bits, with the same bits as a result.

use crate::common::{
    Form, Palette, Placed, Random, Sample, config, form, isas, on, rows, rows_mut, written_form,
};
use proptest::prelude::*;
use tilewright_core::{
    BatchMut, BatchRef, Layout, MaxPlus, MinPlus, Problem, Semiring, Update, reference, semiring::Number,
};
use tilewright_cpu::{Isa, Options, multiply, multiply_arg, multiply_batch, plan};

/// An integer type under min-plus or max-plus.
trait Subject: Semiring<Elem: Sample + Number + Ord, Out = <Self as Semiring>::Elem> {
    /// The largest magnitude of a finite element.
    const LARGEST: i64;
    const ABSENT: Self::Elem;
    fn of(x: i64) -> Self::Elem;
    fn wide(x: Self::Elem) -> i64;
}

macro_rules! subjects {
    ($($semiring:ident $t:ident $largest:expr, $absent:ident;)*) => {$(
        impl Subject for $semiring<$t> {
            const LARGEST: i64 = $largest - 1;
            const ABSENT: $t = $t::$absent;
            fn of(x: i64) -> $t { x.try_into().unwrap() }
            fn wide(x: $t) -> i64 { x.into() }
        }
    )*};
}
subjects! {
    MinPlus i16 1 << 12, MAX;
    MinPlus i32 1 << 28, MAX;
    MinPlus i64 1 << 59, MAX;
    MaxPlus i16 1 << 12, MIN;
    MaxPlus i32 1 << 28, MIN;
    MaxPlus i64 1 << 59, MIN;
}

/// Elements of an operand.
#[derive(Clone, Copy, Debug)]
struct Values {
    /// Where the window lies, from the lowest place (0) to the highest (8).
    place: u8,
    /// The distance between its ends.
    span: i64,
    /// One element in so many is absent; 0 for none, 1 for all.
    absent_in: usize,
}

impl Values {
    fn draw<S: Subject>(self, r: &mut Random) -> S::Elem {
        if self.absent_in > 0 && r.below(self.absent_in) == 0 {
            return S::ABSENT;
        }
        let span = self.span.min(2 * S::LARGEST);
        let least = -S::LARGEST + (2 * S::LARGEST - span) / 8 * i64::from(self.place);
        let inside = r.below(span as usize + 1) as i64;
        S::of(least + r.pick(&[0, span, inside, inside]))
    }
}

fn values() -> impl Strategy<Value = Values> {
    let spans =
        vec![0, 1, 1000, 8190, 16_383, 16_384, 32_766, 32_767, 32_768, 65_533, 65_534, 65_535, 1 << 20];
    (0..9u8, prop::sample::select(spans), prop::sample::select(vec![0, 0, 0, 50, 3, 1]))
        .prop_map(|(place, span, absent_in)| Values { place, span, absent_in })
}

#[derive(Clone, Copy, Debug)]
struct Case {
    shape: (usize, usize, usize),
    values: [Values; 2],
    forms: [Form; 3],
    accumulate: bool,
    isa: Isa,
    threads: usize,
    seed: u64,
}

/// Any product with as many terms as it takes; some have several blocks, and some are shared among threads.
fn cases() -> impl Strategy<Value = Case> {
    let shape = prop_oneof![
        20 => (30..60usize, 30..140usize, 30..100usize),
        2 => (32..36usize, 32..40usize, 1000..2200usize),
        1 => (50..71usize, 120..141usize, 400..601usize),
    ];
    let how = (any::<bool>(), prop::sample::select(isas()), 1..5usize, any::<u64>());
    (shape, [values(), values()], (form(), form(), written_form()), how).prop_map(
        |(shape, values, (a, b, c), (accumulate, isa, threads, seed))| Case {
            shape,
            values,
            forms: [a, b, c],
            accumulate,
            isa,
            threads,
            seed,
        },
    )
}

/// Whether sums of distances fit 16 bits, "absent" and the sum without terms included.
fn fits<S: Subject>(operands: [&Placed<S::Elem>; 2]) -> bool {
    let (mut sum, mut absent) = (0, false);
    for x in operands {
        let (rows, cols) = (x.layout.rows, x.layout.cols);
        let all = || (0..rows).flat_map(|i| (0..cols).map(move |j| x.at(i, j)));
        let finite = || all().filter(|&x| x != S::ABSENT).map(S::wide);
        sum += finite().max().unwrap_or(0) - finite().min().unwrap_or(0);
        absent |= all().any(|x| x == S::ABSENT);
    }
    if absent { sum < 32_767 } else { sum < 65_535 }
}

/// The engine agrees with the definition in all memory of C, and takes 16 bits exactly where they suffice and few terms do
/// not.
fn check<S: Subject>(case: &Case) {
    let Case { shape: (m, n, k), values, forms, accumulate, isa, threads, seed } = *case;
    let mut r = Random::new(seed);
    let poison = S::Elem::POISON;
    let a = Placed::new(m, k, forms[0], poison).filled(|| values[0].draw::<S>(&mut r));
    let b = Placed::new(k, n, forms[1], poison).filled(|| values[1].draw::<S>(&mut r));
    // The old C may hold anything.
    let mut c = Placed::new(m, n, forms[2], poison).filled(|| S::Elem::draw(&mut r, Palette::Wild));
    let mut expected = c.clone();
    let update = if accumulate { Update::Accumulate } else { Update::Replace };
    let options = Options { threads, isa: Some(isa), ..Options::default() };
    let report = multiply::<S>(c.view_mut(), a.view(), b.view(), &update, &options).unwrap();
    reference::multiply::<S>(expected.view_mut(), a.view(), b.view(), &update).unwrap();
    let pays = m.min(n).min(k) >= 32 && !report.kernel.pruned;
    assert_eq!(report.kernel.narrow, pays && fits::<S>([&a, &b]), "{}", report.kernel);
    let wrong = (0..c.data.len()).find(|&i| c.data[i] != expected.data[i]);
    assert!(wrong.is_none(), "memory {wrong:?} of C, {}", report.kernel);
}

macro_rules! properties {
    ($($name:ident: $semiring:ty;)*) => {
        proptest! {
            #![proptest_config(config())]
            $(#[test]
            fn $name(case in cases()) {
                check::<$semiring>(&case);
            })*
        }
    };
}
properties! {
    min_plus_i16: MinPlus<i16>;
    min_plus_i32: MinPlus<i32>;
    min_plus_i64: MinPlus<i64>;
    max_plus_i16: MaxPlus<i16>;
    max_plus_i32: MaxPlus<i32>;
    max_plus_i64: MaxPlus<i64>;
}

/// The last windows that fit, and the first that do not, at both ends of the admitted range.
#[test]
fn windows_at_the_edge() {
    let edges = [(0, 32_767, 32_767), (0, 32_767, 32_768), (7, 16_383, 16_383), (7, 16_383, 16_384)];
    for isa in isas() {
        for (absent_in, a, b) in edges {
            for place in [0, 4, 8] {
                let values = [a, b].map(|span| Values { place, span, absent_in });
                for (accumulate, seed) in [(false, 1), (true, 2)] {
                    let (shape, forms) = ((37, 70, 65), [Form::PLAIN; 3]);
                    let case = Case { shape, values, forms, accumulate, isa, threads: 1, seed };
                    check::<MinPlus<i32>>(&case);
                    check::<MaxPlus<i32>>(&case);
                    check::<MinPlus<i64>>(&case);
                    check::<MaxPlus<i64>>(&case);
                }
            }
        }
    }
}

/// Every remainder of rows, columns and terms.
#[test]
fn every_remainder() {
    let values =
        [Values { place: 3, span: 9000, absent_in: 5 }, Values { place: 7, span: 7000, absent_in: 0 }];
    for isa in isas() {
        for size in 0..40 {
            for forms in [[Form::PLAIN; 3], [Form::BY_COLUMNS; 3], [Form::SPREAD; 3]] {
                let shape = (32 + size % 26, 32 + size, 32 + size % 7);
                let case =
                    Case { shape, values, forms, accumulate: false, isa, threads: 1, seed: size as u64 };
                check::<MinPlus<i32>>(&case);
                check::<MaxPlus<i64>>(&case);
                check::<MinPlus<i16>>(&case);
            }
        }
    }
}

/// Small products and arg results are not narrowed; the plan tells what may be.
#[test]
fn the_plan_tells() {
    let ones = vec![1; 64 * 64];
    let (mut c, mut arg) = (vec![0; 64 * 64], vec![0; 64 * 64]);
    let options = on(Isa::best());
    for (m, n, k) in [(64, 64, 64), (32, 32, 32), (31, 64, 64), (64, 31, 64), (64, 64, 31)] {
        let (a, b) = (rows(&ones[..m * k], m, k), rows(&ones[..k * n], k, n));
        let problem = Problem::new(a.layout(), b.layout(), Layout::row_major(m, n)).unwrap();
        let planned = plan::<MinPlus<i32>>(&problem, &Update::Replace, &options).unwrap();
        let to = rows_mut(&mut c[..m * n], m, n);
        let done = multiply::<MinPlus<i32>>(to, a, b, &Update::Replace, &options).unwrap();
        let narrows = m.min(n).min(k) >= 32;
        assert_eq!((planned.narrows, done.kernel.narrow), (narrows, narrows));
        assert_eq!(done.kernel.to_string().ends_with("narrowed to 16 bits"), narrows);
        let (to, arg) = (rows_mut(&mut c[..m * n], m, n), rows_mut(&mut arg[..m * n], m, n));
        let done = multiply_arg::<MinPlus<i32>>(to, arg, a, b, &Update::Replace, &options).unwrap();
        assert!(!done.kernel.narrow);
    }
}

/// Each product of a batch has codes of its own, and elements outside the domain are refused before C is touched.
#[test]
fn batches_and_refusals() {
    let square = Layout::row_major(40, 40);
    fn view(x: &[i32]) -> BatchRef<'_, i32> {
        BatchRef::new(x, Layout::row_major(40, 40), 3, 1600).unwrap()
    }
    let scales = [1, 1000, 3];
    let a: Vec<i32> = (0..3 * 1600).map(|i| (i % 1600) as i32 * scales[i / 1600]).collect();
    let mut c = vec![0; 3 * 1600];
    let multiply = |c: &mut [i32], b: &[i32]| {
        let mut c = BatchMut::new(c, square, 3, 1600).unwrap();
        multiply_batch::<MaxPlus<i32>>(&mut c, view(&a), view(b), &Update::Replace, &Options::default())
    };
    multiply(&mut c, &a).unwrap();
    for (a, c) in a.chunks(1600).zip(c.chunks(1600)) {
        let (a, mut expected) = (rows(a, 40, 40), vec![0; 1600]);
        reference::multiply::<MaxPlus<i32>>(rows_mut(&mut expected, 40, 40), a, a, &Update::Replace).unwrap();
        assert_eq!(c, expected);
    }
    for outside in [i32::MAX, 1 << 28, -(1 << 28)] {
        let mut b = a.clone();
        b[2 * 1600 + 41] = outside;
        c.fill(77);
        let error = multiply(&mut c, &b).unwrap_err();
        assert_eq!(error.code(), "outside-domain");
        assert!(error.to_string().contains(&outside.to_string()), "{error}");
        assert!(c.iter().all(|&x| x == 77));
    }
}
