//! Signalling NaN, of which processors make different things, are dropped as quiet ones are.

use tilewright_core::{
    Element, MatMut, MatRef, Matrix, MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, Semiring, Update,
    reference,
};
use tilewright_cpu::{Isa, Options, multiply, multiply_arg};

type Run<'a, S, T> = &'a dyn Fn(MatMut<'_, T>, MatMut<'_, u32>, MatRef<'_, T>, MatRef<'_, T>, &Update<S>);

/// The results of `run` for every update, on matrices made of `values`.
fn results<S: Semiring<Elem = T, Out = T>, T: Element>(values: [T; 5], run: Run<'_, S, T>) -> Vec<(T, u32)> {
    let (m, n, k) = (13, 37, 6);
    let matrix = |rows, cols, seed: usize| {
        Matrix::from_fn(rows, cols, |i, j| values[(i * i + 3 * j + i * j + seed) % 5]).unwrap()
    };
    let (a, b) = (matrix(m, k, 0), matrix(k, n, 1));
    let mut all = Vec::new();
    for update in [Update::Replace, Update::Accumulate] {
        let mut c = matrix(m, n, 2);
        let mut arg = Matrix::filled(m, n, 0).unwrap();
        run(c.as_mut(), arg.as_mut(), a.as_ref(), b.as_ref(), &update);
        for i in 0..m {
            all.extend((0..n).map(|j| (c.as_ref().get(i, j).unwrap(), arg.as_ref().get(i, j).unwrap())));
        }
    }
    all
}

fn check<S: Semiring<Elem = T, Out = T>, T: Element + PartialEq>(quiet: T, signalling: T, numbers: [T; 4]) {
    let [w, x, y, z] = numbers;
    let same = |run: Run<'_, S, T>, expected: &[(T, u32)], what: &str| {
        assert!(results::<S, T>([w, signalling, x, y, z], run) == expected, "{} {what}", S::NAME);
    };
    let plain: Run<'_, S, T> = &|c, _, a, b, u| reference::multiply(c, a, b, u).unwrap();
    let plain_expected = results([w, quiet, x, y, z], plain);
    let winners: Run<'_, S, T> = &|c, arg, a, b, u| reference::multiply_arg(c, arg, a, b, u).unwrap();
    let winners_expected = results([w, quiet, x, y, z], winners);
    same(plain, &plain_expected, "by definition");
    same(winners, &winners_expected, "by definition, with winners");
    for &isa in Isa::ALL.iter().filter(|isa| isa.is_supported()) {
        let options = Options { isa: Some(isa), ..Options::default() };
        same(
            &|c, _, a, b, u| _ = multiply(c, a, b, u, &options).unwrap(),
            &plain_expected,
            &format!("on {isa}"),
        );
        same(
            &|c, arg, a, b, u| _ = multiply_arg(c, arg, a, b, u, &options).unwrap(),
            &winners_expected,
            &format!("on {isa}, with winners"),
        );
    }
}

macro_rules! check {
    ($t:ident, $signalling:expr) => {
        let (signalling, numbers) = ($t::from_bits($signalling), [0.5, 2.0, 0.0, $t::INFINITY]);
        check::<MinPlus<$t>, $t>($t::NAN, signalling, numbers);
        check::<MaxPlus<$t>, $t>($t::NAN, signalling, numbers);
        check::<MaxTimes<$t>, $t>($t::NAN, signalling, numbers);
        check::<MinTimes<$t>, $t>($t::NAN, signalling, numbers);
        check::<MaxMin<$t>, $t>($t::NAN, signalling, numbers);
        check::<MinMax<$t>, $t>($t::NAN, signalling, numbers);
    };
}

#[test]
fn like_quiet_nan() {
    check!(f32, 0x7f80_0001);
    check!(f64, 0x7ff0_0000_0000_0001);
}
