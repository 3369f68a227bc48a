//! Infinities, NaN, zeros, ties and the edges of ranges, against answers given by hand.

use crate::common::{self, Random, Sample, isas, rows, rows_mut, sum, sum_arg};
use tilewright_core::*;
use tilewright_cpu::{Options, multiply};

/// Calls `f` with every order of `items`.
fn permutations<T: Copy>(items: &[T], f: &mut impl FnMut(&[T])) {
    fn go<T: Copy>(items: &mut [T], fixed: usize, f: &mut impl FnMut(&[T])) {
        if fixed == items.len() {
            return f(items);
        }
        for i in fixed..items.len() {
            items.swap(fixed, i);
            go(items, fixed + 1, f);
            items.swap(fixed, i);
        }
    }
    go(&mut items.to_vec(), 0, f);
}

/// Whatever the order, terms that are NaN are absent and `best` wins.
fn absent_terms<S: Semiring<Elem: Sample, Out: Sample>>(
    absent: &[[f64; 2]],
    present: &[[f64; 2]],
    best: f64,
) {
    let element = S::Elem::nearest;
    let expected = S::Out::nearest(best).bits();
    let all = [absent, present].concat();
    permutations(&all, &mut |terms| {
        let [a, b] = [0, 1].map(|side| terms.iter().map(|t| element(t[side])).collect::<Vec<_>>());
        for isa in isas() {
            assert_eq!(sum::<S>(&a, &b, isa).bits(), expected, "{} on {isa}: {terms:?}", S::NAME);
            let (value, winner) = sum_arg::<S>(&a, &b, None, isa);
            assert_eq!(value.bits(), expected, "{} on {isa}: {terms:?}", S::NAME);
            let winner = winner.map(|k| terms[k as usize]);
            assert!(
                winner.is_some_and(|w| present.contains(&w)),
                "{} on {isa}: {terms:?} {winner:?}",
                S::NAME
            );
        }
    });
    // Nothing but absent terms is the identity, and nothing won.
    let [a, b] = [0, 1].map(|side| absent.iter().map(|t| element(t[side])).collect::<Vec<_>>());
    for isa in isas() {
        let nothing = S::finish(S::ZERO).bits();
        assert_eq!(sum::<S>(&a, &b, isa).bits(), nothing, "{} on {isa}", S::NAME);
        let (value, winner) = sum_arg::<S>(&a, &b, None, isa);
        assert_eq!((value.bits(), winner), (nothing, None), "{} on {isa}", S::NAME);
    }
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

macro_rules! on_floats {
    ($($name:ident: $semiring:ident on $($t:ty)*, absent $absent:expr, present $present:expr, best $best:expr;)*) => {$(
        #[test]
        fn $name() {
            $(absent_terms::<$semiring<$t>>(&$absent, &$present, $best);)*
        }
    )*};
}
on_floats! {
    min_plus_ignores_nan: MinPlus on f16 bf16 f32 f64,
        absent [[INF, -INF], [NAN, 1.0], [-2.0, NAN]], present [[2.0, 3.0], [6.0, 0.0]], best 5.0;
    max_plus_ignores_nan: MaxPlus on f16 bf16 f32 f64,
        absent [[INF, -INF], [NAN, 9.0], [20.0, NAN]], present [[2.0, 3.0], [-6.0, 0.0]], best 5.0;
    max_times_ignores_nan: MaxTimes on f32 f64,
        absent [[0.0, INF], [NAN, 9.0], [INF, 0.0]], present [[2.0, 3.0], [0.5, 1.0]], best 6.0;
    min_times_ignores_nan: MinTimes on f32 f64,
        absent [[0.0, INF], [NAN, 0.0], [0.5, NAN]], present [[2.0, 3.0], [INF, 7.0]], best 6.0;
    max_min_ignores_nan: MaxMin on f32 f64,
        absent [[NAN, 90.0], [90.0, NAN], [NAN, INF]], present [[2.0, 3.0], [-INF, 7.0]], best 2.0;
    min_max_ignores_nan: MinMax on f32 f64,
        absent [[NAN, -90.0], [-90.0, NAN], [NAN, -INF]], present [[2.0, 3.0], [INF, 7.0]], best 3.0;
}

/// Zero annihilates whatever it meets: alone, it leaves the identity.
#[test]
fn zero_annihilates() {
    fn all<S: Semiring<Elem: Sample, Out: Sample>>(zero: S::Elem, others: &[f64]) {
        for isa in isas() {
            for &x in others {
                let x = S::Elem::nearest(x);
                for (a, b) in [(zero, x), (x, zero)] {
                    let got = sum::<S>(&[a; 3], &[b; 3], isa).bits();
                    assert_eq!(got, S::finish(S::ZERO).bits(), "{} on {isa}: {a} {b}", S::NAME);
                    assert_eq!(sum_arg::<S>(&[a; 3], &[b; 3], None, isa).1, None);
                }
            }
        }
    }
    let any = [0.0, 1.0, -1.0, 1e30, -1e30, INF, -INF, NAN];
    let positive = [0.0, 1.0, 1e30, INF, NAN];
    all::<MinPlus<f32>>(f32::INFINITY, &any);
    all::<MinPlus<bf16>>(bf16::INFINITY, &any);
    all::<MaxPlus<f64>>(f64::NEG_INFINITY, &any);
    all::<MaxTimes<f32>>(0.0, &positive);
    all::<MinTimes<f64>>(f64::INFINITY, &positive);
    all::<MaxMin<f32>>(f32::NEG_INFINITY, &any);
    all::<MinMax<f64>>(f64::INFINITY, &any);
    all::<MaxMin<i32>>(i32::MIN, &any);
    all::<OrAnd>(false, &[0.0, 1.0]);
}

macro_rules! integer_ranges {
    ($($name:ident: $t:ty, $bits:literal;)*) => {$(
        /// An absent element stays absent whatever is added, and extreme finite sums stay finite.
        #[test]
        fn $name() {
            let edge: $t = (1 << $bits) - 1;
            for isa in isas() {
                for x in [-edge, -1, 0, 1, edge, <$t>::MAX] {
                    assert_eq!(sum::<MinPlus<$t>>(&[<$t>::MAX], &[x], isa), <$t>::MAX);
                    assert_eq!(sum::<MinPlus<$t>>(&[x, <$t>::MAX], &[<$t>::MAX, x], isa), <$t>::MAX);
                    assert_eq!(sum_arg::<MinPlus<$t>>(&[x], &[<$t>::MAX], None, isa), (<$t>::MAX, None));
                }
                for x in [-edge, -1, 0, 1, edge, <$t>::MIN] {
                    assert_eq!(sum::<MaxPlus<$t>>(&[<$t>::MIN], &[x], isa), <$t>::MIN);
                    assert_eq!(sum::<MaxPlus<$t>>(&[x, <$t>::MIN], &[<$t>::MIN, x], isa), <$t>::MIN);
                    assert_eq!(sum_arg::<MaxPlus<$t>>(&[x], &[<$t>::MIN], None, isa), (<$t>::MIN, None));
                }
                for x in [-edge, edge] {
                    assert_eq!(sum::<MinPlus<$t>>(&[x], &[x], isa), 2 * x);
                    assert_eq!(sum::<MaxPlus<$t>>(&[x], &[x], isa), 2 * x);
                    // The largest finite sum beats an absent one that is as small as can be.
                    let min = sum_arg::<MinPlus<$t>>(&[<$t>::MAX, x, <$t>::MAX], &[-edge, x, -edge], None, isa);
                    assert_eq!(min, (2 * x, Some(1)));
                    let max = sum_arg::<MaxPlus<$t>>(&[<$t>::MIN, x, <$t>::MIN], &[edge, x, edge], None, isa);
                    assert_eq!(max, (2 * x, Some(1)));
                }
                // An old element may hold anything.
                for old in [<$t>::MIN, <$t>::MIN + 1, -4, 4, <$t>::MAX - 1, <$t>::MAX] {
                    let (value, winner) = sum_arg::<MinPlus<$t>>(&[1, <$t>::MAX], &[2, 0], Some(old), isa);
                    assert_eq!((value, winner), (old.min(3), (3 < old).then_some(0)));
                    let absent = sum_arg::<MinPlus<$t>>(&[<$t>::MAX], &[-edge], Some(old), isa);
                    assert_eq!(absent, (old, None));
                    let absent = sum_arg::<MaxPlus<$t>>(&[<$t>::MIN], &[edge], Some(old), isa);
                    assert_eq!(absent, (old, None));
                }
            }
        }
    )*};
}
integer_ranges! {
    ranges_of_i16: i16, 12;
    ranges_of_i32: i32, 28;
    ranges_of_i64: i64, 59;
}

#[test]
fn plus_times_wraps() {
    for isa in isas() {
        let (min, max) = (i32::MIN, i32::MAX);
        assert_eq!(sum::<PlusTimes<i32>>(&[max, 1], &[1, 1], isa), min);
        assert_eq!(sum::<PlusTimes<i32>>(&[min], &[-1], isa), min);
        assert_eq!(sum::<PlusTimes<i32>>(&[max; 3], &[max; 3], isa), 3);
        assert_eq!(sum::<PlusTimes<i64>>(&[i64::MAX, 1], &[1, 1], isa), i64::MIN);
        assert_eq!(sum::<PlusTimes<i64>>(&[i64::MAX; 3], &[i64::MAX; 3], isa), 3);
        let (x, y) = (0x1234_5678_9abc_def1_i64, -0x0fed_cba9_8765_4321_i64);
        assert_eq!(sum::<PlusTimes<i64>>(&[x, y, x], &[y, y, x], isa), {
            x.wrapping_mul(y).wrapping_add(y.wrapping_mul(y)).wrapping_add(x.wrapping_mul(x))
        });
        for k in [1, 500, 5000] {
            assert_eq!(sum::<PlusTimes<i8>>(&vec![-128; k], &vec![-128; k], isa), 16384 * k as i32);
            assert_eq!(sum::<PlusTimes<i8>>(&vec![-128; k], &vec![127; k], isa), -16256 * k as i32);
        }
        // 2^17 products of 2^14 wrap to the most negative number.
        let long = vec![-128i8; 1 << 17];
        assert_eq!(sum::<PlusTimes<i8>>(&long, &long, isa), i32::MIN);
    }
}

/// Terms of halves are rounded each; the result is that of the definition in f64.
#[test]
fn halves_round_each_term() {
    fn all<T: Sample>(isa: tilewright_cpu::Isa, r: &mut Random)
    where
        MinPlus<T>: Semiring<Elem = T, Out = T>,
        MaxPlus<T>: Semiring<Elem = T, Out = T>,
    {
        for _ in 0..300 {
            let [a, b] = [0, 1].map(|_| [0; 4].map(|_| T::draw(r, common::Palette::Spread)));
            let terms: Vec<f64> =
                a.iter().zip(&b).map(|(a, b)| T::nearest(a.wide() + b.wide()).wide()).collect();
            let best = |better: fn(f64, f64) -> f64| terms.iter().copied().reduce(better).unwrap() + 0.0;
            assert_eq!(sum::<MinPlus<T>>(&a, &b, isa).wide(), best(f64::min), "{a:?} {b:?}");
            assert_eq!(sum::<MaxPlus<T>>(&a, &b, isa).wide(), best(f64::max), "{a:?} {b:?}");
            let (value, winner) = sum_arg::<MinPlus<T>>(&a, &b, None, isa);
            let first = terms.iter().position(|&t| t == value.wide()).map(|k| k as u32);
            assert_eq!((value.wide(), winner), (best(f64::min), first), "{a:?} {b:?}");
        }
    }
    let mut r = Random::new(5);
    for isa in isas() {
        all::<f16>(isa, &mut r);
        all::<bf16>(isa, &mut r);
        let big = f16::from_f32(60000.0);
        assert_eq!(sum::<MinPlus<f16>>(&[big], &[big], isa), f16::INFINITY);
        assert_eq!(sum_arg::<MinPlus<f16>>(&[big], &[big], None, isa), (f16::INFINITY, None));
        assert_eq!(sum::<MaxPlus<f16>>(&[-big], &[-big], isa), f16::NEG_INFINITY);
        assert_eq!(sum::<MaxPlus<f16>>(&[big], &[big], isa), f16::INFINITY);
        // A sum of halves is rounded once, at the end: 2048 + 1 + 1 is not lost.
        let one = f16::ONE;
        let [a, b] = [[f16::from_f32(2048.0), one, one], [one; 3]];
        assert_eq!(sum::<PlusTimes<f16>>(&a, &b, isa), f16::from_f32(2050.0));
        assert_eq!(sum::<PlusTimes<f16>>(&[big; 2], &[one; 2], isa), f16::INFINITY);
        assert_eq!(sum::<PlusTimes<f16>>(&[big, big, big], &[one, one, -one], isa), big);
    }
}

/// A result that is zero is `+0`, whichever zeros made it.
#[test]
fn zeros_are_positive() {
    fn all<S: Semiring<Elem: Sample, Out: Sample>>() {
        let zeros = [-0.0, 0.0].map(S::Elem::nearest);
        for isa in isas() {
            for [a, b, c, d] in [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0], [1, 1, 0, 0]] {
                let (x, y) = ([zeros[a], zeros[c]], [zeros[b], zeros[d]]);
                assert_eq!(sum::<S>(&x, &y, isa).bits(), 0, "{} on {isa}", S::NAME);
                assert_eq!(sum_arg::<S>(&x, &y, None, isa).0.bits(), 0, "{} on {isa}", S::NAME);
                let old = S::Out::nearest(-0.0);
                let (value, winner) = sum_arg::<S>(&x, &y, Some(old), isa);
                assert_eq!((value.bits(), winner), (0, None), "{} on {isa}", S::NAME);
            }
        }
    }
    all::<MinPlus<f16>>();
    all::<MinPlus<bf16>>();
    all::<MinPlus<f32>>();
    all::<MaxPlus<f32>>();
    all::<MaxPlus<f64>>();
    all::<MaxTimes<f32>>();
    all::<MinTimes<f64>>();
    all::<MaxMin<f32>>();
    all::<MinMax<f64>>();
}

/// The smallest k wins a tie, in whichever block it is; an old element wins against all that equal it.
#[test]
fn ties() {
    fn all<S: Semiring<Elem: Sample, Out: Sample>>(good: f64, bad: f64) {
        let (good, bad) = (S::Elem::nearest(good), S::Elem::nearest(bad));
        let one = S::ONE;
        for isa in isas() {
            for first in [0, 1, 7, 255, 256, 511, 512, 1023, 1024, 1500] {
                let mut a = vec![bad; 2100];
                for k in [first, first + 1, 1600, 2099] {
                    a[k] = good;
                }
                let b = vec![one; a.len()];
                let (value, winner) = sum_arg::<S>(&a, &b, None, isa);
                let what = format!("{} on {isa}", S::NAME);
                assert_eq!((value.wide(), winner), (good.wide(), Some(first as u32)), "{what}");
                let (value, winner) = sum_arg::<S>(&a, &b, Some(S::Out::nearest(good.wide())), isa);
                assert_eq!((value.wide(), winner), (good.wide(), None), "{what}");
                let (value, winner) = sum_arg::<S>(&a, &b, Some(S::Out::nearest(bad.wide())), isa);
                assert_eq!((value.wide(), winner), (good.wide(), Some(first as u32)), "{what}");
            }
        }
    }
    all::<MinPlus<f16>>(1.0, 2.0);
    all::<MinPlus<f32>>(1.0, 2.0);
    all::<MaxPlus<f64>>(2.0, 1.0);
    all::<MinPlus<i16>>(1.0, 2.0);
    all::<MaxPlus<i32>>(2.0, 1.0);
    all::<MinPlus<i64>>(1.0, 2.0);
    all::<MaxTimes<f32>>(2.0, 1.0);
    all::<MinTimes<f64>>(1.0, 2.0);
    all::<MaxMin<i32>>(2.0, 1.0);
    all::<MinMax<f32>>(1.0, 2.0);
    all::<OrAnd>(1.0, 0.0);
}

/// An element outside the semiring is refused by name, wherever it is and however it lies; C is untouched.
#[test]
fn refusals_name_the_element() {
    fn all<S: Semiring<Elem: Sample, Out: Sample>>(good: f64, bad: S::Elem) {
        let (good, [m, k, n]) = (S::Elem::nearest(good), [4, 5, 3]);
        let forms =
            [common::Form::PLAIN, common::Form::BY_COLUMNS, common::Form::SPREAD, common::Form::REVERSED];
        for (which, of_c, of_ab) in forms
            .iter()
            .flat_map(|c| forms.iter().flat_map(move |ab| ["A", "B"].map(|which| (which, *c, *ab))))
        {
            let (rows, cols) = if which == "A" { (m, k) } else { (k, n) };
            for (row, col) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
                // The poison around the elements is none of the check's business.
                let mut a = common::Placed::new(m, k, of_ab, bad).filled(|| good);
                let mut b = common::Placed::new(k, n, of_ab, bad).filled(|| good);
                let operand = if which == "A" { &mut a } else { &mut b };
                let index = operand.index(row, col);
                operand.data[index] = bad;
                let mut c = common::Placed::new(m, n, of_c, S::Out::POISON);
                let mut arg = common::Placed::new(m, n, of_c, 7u32);
                let (replace, options) = (Update::<S>::Replace, Options::default());
                let error = multiply(c.view_mut(), a.view(), b.view(), &replace, &options).unwrap_err();
                let ErrorKind::OutsideDomain { operand, row: r, col: c_, value, .. } = error.kind() else {
                    panic!("{error}");
                };
                assert_eq!((*operand, *r, *c_, value), (which, row, col, &bad.to_string()));
                assert_eq!(error.code(), "outside-domain");
                let (to, to_arg) = (c.view_mut(), arg.view_mut());
                let error = tilewright_cpu::multiply_arg(to, to_arg, a.view(), b.view(), &replace, &options);
                assert_eq!(error.unwrap_err().code(), "outside-domain");
                assert!(c.data.iter().all(|x| x.bits() == S::Out::POISON.bits()));
                assert!(arg.data.iter().all(|&x| x == 7));
            }
        }
    }
    all::<MinPlus<i16>>(0.0, 1 << 12);
    all::<MinPlus<i32>>(0.0, -(1 << 28));
    all::<MinPlus<i32>>(0.0, i32::MIN);
    all::<MaxPlus<i32>>(0.0, i32::MAX);
    all::<MaxPlus<i64>>(0.0, 1 << 59);
    all::<MaxTimes<f32>>(0.0, -1.0);
    all::<MinTimes<f64>>(0.0, f64::NEG_INFINITY);
}

/// Scaling by zero does not read C, and by anything else does.
#[test]
fn scaling() {
    for isa in isas() {
        let (a, b) = ([2.0f32, 3.0], [5.0f32, 7.0]);
        let run = |alpha, beta, old| {
            let mut c = [old];
            let update = Update::<PlusTimes<f32>>::scale(alpha, beta);
            multiply(rows_mut(&mut c, 1, 1), rows(&a, 1, 2), rows(&b, 2, 1), &update, &common::on(isa))
                .unwrap();
            c[0]
        };
        assert_eq!(run(1.0, 0.0, f32::NAN), 31.0);
        assert_eq!(run(2.0, 0.0, f32::INFINITY), 62.0);
        assert_eq!(run(2.0, -0.0, f32::NAN), 62.0);
        assert_eq!(run(0.0, 3.0, 2.0), 6.0);
        assert_eq!(run(0.0, 0.0, f32::NAN), 0.0);
        assert_eq!(run(-1.0, 0.5, 4.0), -29.0);
        assert!(run(1.0, 1.0, f32::NAN).is_nan());
        assert!(run(1.0, f32::NAN, 1.0).is_nan());
        let mut c = [7i32];
        let update = Update::<PlusTimes<i8>>::scale(i32::MAX, -2);
        let (a, b) = ([-128i8], [2i8]);
        multiply(rows_mut(&mut c, 1, 1), rows(&a, 1, 1), rows(&b, 1, 1), &update, &common::on(isa)).unwrap();
        assert_eq!(c[0], i32::MAX.wrapping_mul(-256).wrapping_sub(14));
    }
}

/// Sums of exponentials: as NumPy's `logaddexp`, also where all scaled terms vanish.
#[test]
fn sums_of_exponentials() {
    fn close<T: Sample>(a: &[f64], b: &[f64], expected: f64)
    where
        LogPlus<T>: Semiring<Elem = T, Out = T>,
    {
        let [a, b] = [a, b].map(|terms| terms.iter().map(|&x| T::nearest(x)).collect::<Vec<_>>());
        for isa in isas() {
            let found = sum::<LogPlus<T>>(&a, &b, isa).wide();
            let expected = T::nearest(expected).wide();
            let same = found == expected || found.is_nan() && expected.is_nan();
            let tolerance = T::SUM_EPSILON * (8.0 + expected.abs());
            assert!(
                same || (found - expected).abs() <= tolerance,
                "{isa} {a:?} {b:?}: {found}, not {expected}"
            );
        }
    }
    fn all<T: Sample>(largest: f64)
    where
        LogPlus<T>: Semiring<Elem = T, Out = T>,
    {
        let close = close::<T>;
        close(&[0.0, 0.0], &[0.0, 0.0], 2f64.ln());
        close(&[1.0, 2.0, -INF], &[3.0, -INF, 7.0], 4.0);
        close(&[], &[], -INF);
        // Where A is present B is absent.
        close(&[-INF, 0.0, -INF], &[0.0, -INF, 5.0], -INF);
        close(&[-INF, -INF], &[-INF, 900.0], -INF);
        // The largest factors meet factors that vanish beside them.
        close(&[0.0, -800.0], &[-800.0, 0.0], -800.0 + 2f64.ln());
        close(&[0.0, -900.0, -INF], &[-1000.0, 0.0, 3.0], -900.0);
        close(&[500.0, -900.0, 0.0], &[-1000.0, 300.0, -520.0], -500.0 + (-20f64).exp());
        // What rounding loses of such terms is more than their weights tell apart.
        close(&[-5e17, -5e17 - 4096.0], &[-5e17 - 8192.0, -5e17], -1e18 - 4096.0);
        // Their sum is beyond the type, as no term is.
        close(&[largest, -largest], &[-largest, largest], 2f64.ln());
        close(&[largest, 0.0], &[largest, 0.0], INF);
        close(&[-largest, -largest], &[-largest, -largest], -INF);
        for (x, y, expected) in [(INF, 0.0, INF), (INF, INF, INF), (INF, -INF, NAN), (-INF, -INF, -INF)] {
            close(&[x], &[y], expected);
            close(&[x, 1.0], &[y, 1.0], if expected == -INF { 2.0 } else { expected });
            close(&[y, -900.0], &[x, 900.0], if expected == -INF { 0.0 } else { expected });
        }
        close(&[NAN, 1.0], &[-INF, 1.0], NAN);
        close(&[0.0, 1.0], &[0.0, NAN], NAN);
    }
    all::<f32>(f64::from(f32::MAX));
    all::<f64>(f64::MAX);
}

/// NaN and infinities change their own rows and columns alone, and threads change nothing.
#[test]
fn sums_of_exponentials_of_whole_matrices() {
    let (m, n, k) = (150, 200, 300);
    let mut r = Random::new(5);
    let draw = |scale: f64| move |r: &mut Random| (r.below(20_001) as f64 / 1e4 - 1.0) * scale;
    for scale in [1.0, 60.0, 3000.0] {
        let next = draw(scale);
        let a: Vec<f32> = (0..m * k).map(|_| next(&mut r) as f32).collect();
        let mut b: Vec<f32> = (0..k * n).map(|_| next(&mut r) as f32).collect();
        (b[7], b[n + 9], b[2 * n + 11]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
        let compute = |threads| {
            let mut c = vec![0f32; m * n];
            let options = Options { threads, ..Options::default() };
            let (a, b) = (rows(&a, m, k), rows(&b, k, n));
            multiply::<LogPlus<f32>>(rows_mut(&mut c, m, n), a, b, &Update::Replace, &options).unwrap();
            c
        };
        let (one, three) = (compute(1), compute(3));
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let terms = (0..k).map(|p| f64::from(a[i * k + p]) + f64::from(b[p * n + j]));
            let best = terms.clone().fold(-INF, f64::max);
            let exact = match j {
                7 => NAN,
                9 => INF,
                _ => best + terms.map(|t| (t - best).exp()).sum::<f64>().ln(),
            };
            let bound = <f32 as semiring::Logarithm>::error_bound(k, exact, false);
            for found in [one[i * n + j], three[i * n + j]] {
                let found = f64::from(found);
                let same = found == exact || found.is_nan() && exact.is_nan();
                assert!(same || (found - exact).abs() <= bound, "{scale} ({i}, {j}): {found}, not {exact}");
            }
        }
    }
}
