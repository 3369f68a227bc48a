//! Products over the selective semirings whose ⊗ is no sum, and over halves, by few terms: they are pruned, and have the bits of the definition.

use crate::{
    common::isas,
    prune::{How, SHAPE, Subject, check, check_arg, random},
};
use tilewright_core::{
    Layout, MatMut, MatRef, MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, Semiring, Update, bf16, f16,
};
use tilewright_cpu::{Options, multiply};

/// Terms of products with winners. These are pruned where the terms of a panel fit into half of the second-level cache, whose size depends on the machine.
const TERMS_OF_WINNERS: usize = 500;

/// A product and its winners, of these elements; whether they were pruned.
fn both<S: Semiring<Elem: Subject, Out = <S as Semiring>::Elem>>(
    a: &[S::Elem],
    b: &[S::Elem],
    how: How,
) -> [bool; 2] {
    let (m, n, _) = SHAPE;
    let (of_a, of_b) = (&a[..m * TERMS_OF_WINNERS], &b[..TERMS_OF_WINNERS * n]);
    let winners = check_arg::<S>((m, n, TERMS_OF_WINNERS), of_a, of_b, how);
    let product = check::<S>(SHAPE, a, b, how);
    assert!(winners.kernel.arg);
    [product, winners].map(|report| report.kernel.pruned)
}

/// Random elements, one in `special_in` special, as `map` makes them.
fn operands<T: Subject>(special_in: usize, map: fn(T) -> T) -> [Vec<T>; 2] {
    let (m, n, k) = SHAPE;
    [(m * k, 3), (k * n, 4)]
        .map(|(count, seed)| random::<T>(count, special_in, seed).into_iter().map(map).collect())
}

/// Not below zero.
fn magnitude<T: Subject + PartialOrd>(x: T) -> T {
    if x < T::of(0.0) { x.negated() } else { x }
}

fn plain(isa: tilewright_cpu::Isa, threads: usize) -> How {
    How {
        by_columns: [false; 3],
        joins: false,
        options: Options { threads, isa: Some(isa), ..Options::default() },
    }
}

#[test]
fn random_elements_are_pruned() {
    for (isa, (special_in, threads)) in
        isas().into_iter().flat_map(|isa| [(0, 1), (50, 3)].map(|how| (isa, how)))
    {
        for by_columns in [[false; 3], [true, false, true]] {
            let how = How { by_columns, ..plain(isa, threads) };
            let [a, b] = operands::<f32>(special_in, magnitude);
            let mut pruned = vec![both::<MaxTimes<f32>>(&a, &b, how)];
            let [a, b] = operands::<f32>(special_in, |x| if x.is_infinite() { x } else { 1.0 + x.abs() });
            pruned.push(both::<MinTimes<f32>>(&a, &b, how));
            let [a, b] = operands::<f32>(special_in, |x| x);
            pruned.extend([both::<MaxMin<f32>>(&a, &b, how), both::<MinMax<f32>>(&a, &b, how)]);
            let [a, b] = operands::<f64>(special_in, |x| x);
            pruned.extend([both::<MaxMin<f64>>(&a, &b, how), both::<MinMax<f64>>(&a, &b, how)]);
            let [a, b] = operands::<i32>(special_in, |x| x.wrapping_mul(21));
            pruned.extend([both::<MaxMin<i32>>(&a, &b, how), both::<MinMax<i32>>(&a, &b, how)]);
            // Where there are special elements, a look may say that pruning does not pay. Results are compared all the same.
            let expected = special_in > 0 || pruned.iter().all(|pruned| *pruned == [true; 2]);
            assert!(expected, "{pruned:?} {how:?}, {special_in}");
        }
    }
}

/// Terms of halves are rounded: which of them won is found among all.
#[test]
fn halves_are_pruned() {
    for (isa, joins) in isas().into_iter().flat_map(|isa| [(isa, false), (isa, true)]) {
        let how = How { joins, ..plain(isa, 2) };
        let [a, b] = operands::<f16>(50, |x| x);
        assert_eq!(both::<MinPlus<f16>>(&a, &b, how), [true, false], "{how:?}");
        let [a, b] = operands::<f16>(50, f16::negated);
        assert_eq!(both::<MaxPlus<f16>>(&a, &b, how), [true, false], "{how:?}");
        let [a, b] = operands::<bf16>(50, |x| x);
        assert_eq!(both::<MinPlus<bf16>>(&a, &b, how), [true, false], "{how:?}");
        let [a, b] = operands::<bf16>(50, bf16::negated);
        assert_eq!(both::<MaxPlus<bf16>>(&a, &b, how), [true, false], "{how:?}");
    }
}

/// What the look does not see, joined and not: rows and columns of zeros, of infinities and of both, which times each other are NaN, absent.
#[test]
fn surprises_do_no_harm() {
    let (m, n, k) = SHAPE;
    for (isa, joins) in isas().into_iter().flat_map(|isa| [(isa, false), (isa, true)]) {
        let how = How { joins, ..plain(isa, 2) };
        let [mut a, mut b] = operands::<f32>(0, magnitude);
        // Every thirteenth row is compared with the definition.
        for (i, x) in
            [(13, 0.0), (26, -0.0), (39, f32::INFINITY), (52, f32::NAN), (65, f32::MAX), (78, 1e-40)]
        {
            a[i * k..(i + 1) * k].fill(x);
        }
        for (p, x) in a[91 * k..92 * k].iter_mut().enumerate() {
            *x = [0.0, f32::INFINITY, 1.0, -0.0][p % 4];
        }
        for (j, x) in [(5, 0.0), (77, f32::INFINITY), (140, 1e-40), (200, f32::NAN)] {
            b.iter_mut().skip(j).step_by(n).for_each(|element| *element = x);
        }
        both::<MaxTimes<f32>>(&a, &b, how);
        both::<MinTimes<f32>>(&a, &b, how);
        both::<MaxMin<f32>>(&a, &b, how);
        both::<MinMax<f32>>(&a, &b, how);
    }
    // A square part, with the identity of ⊗ on its diagonal.
    for identity in [f32::INFINITY, f32::NEG_INFINITY] {
        let [mut a, mut b] = operands::<f32>(0, |x| x);
        (0..m.min(k)).for_each(|i| a[i * k + i] = identity);
        (0..n.min(k)).for_each(|i| b[i * n + i] = identity);
        let how = plain(isas()[0], 1);
        let pruned =
            if identity > 0.0 { both::<MaxMin<f32>>(&a, &b, how) } else { both::<MinMax<f32>>(&a, &b, how) };
        assert_eq!(pruned, [true; 2], "{identity} on the diagonal");
    }
}

/// Values that many elements have: the first term that wins is found, however many are as good.
#[test]
fn ties_are_kept() {
    let (m, n, k) = SHAPE;
    for (isa, distinct) in
        isas().into_iter().flat_map(|isa| [1, 2, 5, 40, 3000].map(|distinct| (isa, distinct)))
    {
        let mut r = crate::common::Random::new(distinct as u64);
        let mut whole = |count| (0..count).map(|_| r.below(distinct) as i32 - 1).collect::<Vec<_>>();
        let (a, b) = (whole(m * k), whole(k * n));
        let floats = [&a, &b].map(|x| x.iter().map(|&x| x.max(0) as f32).collect::<Vec<_>>());
        for threads in [1, 3] {
            let how = plain(isa, threads);
            both::<MaxMin<i32>>(&a, &b, how);
            both::<MinMax<i32>>(&a, &b, how);
            both::<MaxTimes<f32>>(&floats[0], &floats[1], how);
            both::<MinTimes<f32>>(&floats[0], &floats[1], how);
            both::<MaxMin<f32>>(&floats[0], &floats[1], how);
        }
    }
}

/// The argument for products needs elements that are not negative: others are refused before C is touched.
#[test]
fn negative_factors_are_refused() {
    let (m, n, k) = SHAPE;
    let [mut a, b] = operands::<f32>(0, magnitude);
    a[k + 7] = -1e-45;
    let mut c = vec![7.0_f32; m * n];
    let to = MatMut::new(&mut c, Layout::row_major(m, n)).unwrap();
    let [a, b] = [(&a, Layout::row_major(m, k)), (&b, Layout::row_major(k, n))]
        .map(|(x, layout)| MatRef::new(x, layout).unwrap());
    let error = multiply::<MaxTimes<f32>>(to, a, b, &Update::Replace, &Options::default()).unwrap_err();
    assert_eq!(error.code(), "outside-domain");
    assert!(c.iter().all(|&x| x == 7.0));
}
