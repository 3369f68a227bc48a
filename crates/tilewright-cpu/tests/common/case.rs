//! A random problem, computed by the engine and by the definition.

use super::{
    bound,
    placed::{Form, Placed, form, written_form},
    values::{Palette, Random, Sample, admitted},
};
use proptest::prelude::*;
use tilewright_core::{
    Element, LogPlus, OrAnd, PlusTimes, Semiring, Update, reference,
    semiring::{Arithmetic, Logarithm, Multiply, Number, Order, RoundTo, Selective},
};
use tilewright_cpu::{Dots, FORCE_ISA, Isa, Options, multiply, multiply_arg};

/// How the product meets the old C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Join {
    Replace,
    Accumulate,
    /// With alpha and beta; where there are none, as [`Join::Accumulate`].
    Scale(i8, i8),
}

/// All that a problem follows from.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Form,
    pub b: Form,
    pub c: Form,
    /// With an arg result, where ⊕ selects.
    pub arg: Option<Form>,
    pub join: Join,
    pub palette: Palette,
    pub isa: Isa,
    pub dots: Dots,
    pub threads: usize,
    pub seed: u64,
}

impl Case {
    /// A plain problem.
    pub fn new(isa: Isa, m: usize, n: usize, k: usize) -> Self {
        let [a, b, c] = [Form::PLAIN; 3];
        let (arg, join, palette) = (None, Join::Replace, Palette::Wild);
        let (dots, threads, seed) = (Dots::default(), 1, (m * 1000 + n * 10 + k) as u64);
        Self { m, n, k, a, b, c, arg, join, palette, isa, dots, threads, seed }
    }
}

/// A semiring under test.
pub trait Subject: Semiring<Elem: Sample, Out: Sample> {
    /// Whether sums may overflow on the way to a finite one: that depends on their order, for which there is no bound.
    const OVERFLOWS_ON_THE_WAY: bool = true;
    /// `alpha A B + beta C`, where that has a meaning.
    fn scale(_alpha: i8, _beta: i8) -> Option<Update<Self>> {
        None
    }
    /// Compares a result that need not agree bit for bit. The factors are alpha and beta.
    fn check_bound(case: &Case, factors: [i8; 2], computed: &Computed<Self>) {
        let Computed { a, b, before, expected, c } = computed;
        if matches!(case.palette, Palette::Few | Palette::Whole) {
            same_memory(c, expected, |x, y| x.bits() == y.bits() || x == y);
        }
        bound::check(factors.map(f64::from), a, b, before, c);
    }
}

/// A problem and its results.
pub struct Computed<S: Semiring> {
    a: Placed<S::Elem>,
    b: Placed<S::Elem>,
    before: Placed<S::Out>,
    /// By the definition.
    expected: Placed<S::Out>,
    c: Placed<S::Out>,
}

impl<T: Arithmetic<Acc: From<i8> + RoundTo<O>> + Sample, O: Sample> Subject for PlusTimes<T, O> {
    fn scale(alpha: i8, beta: i8) -> Option<Update<Self>> {
        Some(Update::scale(alpha.into(), beta.into()))
    }
}
impl<O: Order, M: Multiply<O, T>, T: Number + Sample> Subject for Selective<O, M, T> {}
impl Subject for OrAnd {}
impl<T: Logarithm + Sample> Subject for LogPlus<T> {
    const OVERFLOWS_ON_THE_WAY: bool = false;
    fn check_bound(_: &Case, [_, beta]: [i8; 2], Computed { a, b, before, c, .. }: &Computed<Self>) {
        bound::check_logarithms(beta != 0, a, b, before, c);
    }
}

/// The instruction sets to test: all that this processor has, or the one that the environment forces.
pub fn isas() -> Vec<Isa> {
    match std::env::var(FORCE_ISA) {
        Ok(forced) if !forced.is_empty() => vec![forced.parse().unwrap()],
        _ => Isa::ALL.iter().copied().filter(|isa| isa.is_supported()).collect(),
    }
}

/// 1,000 problems, or as many as `PROPTEST_CASES` says; nothing is written to the source tree.
pub fn config() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 1000;
    }
    config
}

/// Any problem. Mostly small; some cross the edges of every block and some are shared among threads.
pub fn case() -> impl Strategy<Value = Case> {
    let shape = prop_oneof![
        24 => (0..10usize, 0..10usize, 0..10usize),
        18 => (0..30usize, 0..140usize, 0..30usize),
        4 => (1..120usize, 1..4usize, 0..40usize),
        4 => (1..3usize, 1..10usize, 0..4300usize),
        3 => (1..3usize, 1..2200usize, 200..300usize),
        2 => (0..71usize, 0..141usize, 0..601usize),
        1 => (50..71usize, 120..141usize, 400..601usize),
    ];
    let join = prop_oneof![
        Just(Join::Replace),
        Just(Join::Accumulate),
        (-2..4i8, -2..4i8).prop_map(|(alpha, beta)| Join::Scale(alpha, beta)),
    ];
    let palettes = [Palette::Few, Palette::Whole, Palette::Spread, Palette::Wild];
    let arg = prop::option::of(written_form());
    let isa = prop::sample::select(isas());
    let dots = prop::sample::select(vec![Dots::Plain, Dots::Vnni, Dots::Amx, Dots::Amx]);
    let how = (arg, join, prop::sample::select(palettes.to_vec()), (isa, dots), 1..5usize);
    (shape, form(), form(), written_form(), how, any::<u64>()).prop_map(
        |((m, n, k), a, b, c, (arg, join, palette, (isa, dots), threads), seed)| Case {
            m,
            n,
            k,
            a,
            b,
            c,
            arg,
            join,
            palette,
            isa,
            dots,
            threads,
            seed,
        },
    )
}

/// Computes a problem twice and compares all memory of C and of the arg result, guard bands included.
///
/// Exact sums must agree bit for bit, others within the error bound and, on small whole numbers, exactly.
pub fn check<S: Subject>(case: &Case) {
    let Case { m, n, k, palette, .. } = *case;
    let mut r = Random::new(case.seed);
    let exact = S::laws().exact_add;
    let large_are_left_out = !exact && S::OVERFLOWS_ON_THE_WAY;
    let draw = |r: &mut Random| {
        let x = admitted::<S>(r, palette);
        if large_are_left_out && x.wide().is_finite() && x.wide().abs() > 1e4 { S::ONE } else { x }
    };
    let a = Placed::new(m, k, case.a, S::Elem::POISON).filled(|| draw(&mut r));
    let b = Placed::new(k, n, case.b, S::Elem::POISON).filled(|| draw(&mut r));

    let (update, factors) = match case.join {
        Join::Replace => (Update::Replace, [1, 0]),
        Join::Accumulate => (Update::Accumulate, [1, 1]),
        Join::Scale(alpha, beta) => match S::scale(alpha, beta) {
            Some(update) => (update, [alpha, beta]),
            None => (Update::Accumulate, [1, 1]),
        },
    };
    let mut c = Placed::new(m, n, case.c, S::Out::POISON);
    if update.reads_c() {
        // Not only what the semiring admits.
        c = c.filled(|| {
            let x = S::Out::draw(&mut r, palette);
            if large_are_left_out && x.wide().is_finite() && x.wide().abs() > 1e4 {
                S::Out::nearest(1.0)
            } else {
                x
            }
        });
    }
    let (before, mut expected) = (c.clone(), c.clone());
    let options =
        Options { threads: case.threads, isa: Some(case.isa), dots: case.dots, ..Options::default() };

    match case.arg {
        Some(form) if S::laws().selective_add => {
            let mut arg = Placed::new(m, n, form, 0xdead_beef_u32);
            let mut expected_arg = arg.clone();
            let report =
                multiply_arg::<S>(c.view_mut(), arg.view_mut(), a.view(), b.view(), &update, &options)
                    .unwrap();
            let (to, to_arg) = (expected.view_mut(), expected_arg.view_mut());
            reference::multiply_arg::<S>(to, to_arg, a.view(), b.view(), &update).unwrap();
            let wrong = (0..arg.data.len()).find(|&i| arg.data[i] != expected_arg.data[i]);
            assert!(wrong.is_none(), "arg at {wrong:?} {report:?}");
        }
        _ => {
            multiply::<S>(c.view_mut(), a.view(), b.view(), &update, &options).unwrap();
            reference::multiply::<S>(expected.view_mut(), a.view(), b.view(), &update).unwrap();
        }
    }

    if exact {
        return same_memory(&c, &expected, |x, y| x.bits() == y.bits());
    }
    let computed = Computed::<S> { a, b, before, expected, c };
    S::check_bound(case, factors, &computed);
    let Computed { before, c, .. } = computed;
    let mut outside = before.clone();
    for i in 0..m {
        for j in 0..n {
            let index = c.index(i, j);
            outside.data[index] = c.data[index];
        }
    }
    same_memory(&c, &outside, |x, y| x.bits() == y.bits());
}

fn same_memory<T: Element>(c: &Placed<T>, expected: &Placed<T>, same: impl Fn(T, T) -> bool) {
    let pairs = c.data.iter().zip(&expected.data);
    if let Some((at, (got, wanted))) = pairs.enumerate().find(|(_, (x, y))| !same(**x, **y)) {
        let place = (0..c.layout.rows)
            .flat_map(|i| (0..c.layout.cols).map(move |j| (i, j)))
            .find(|&(i, j)| c.index(i, j) == at);
        panic!("{got} instead of {wanted} at {place:?} (memory {at}, origin {})", c.origin);
    }
}
