//! Log-plus on sums of few terms, and small products that are computed where they lie.

use crate::common::{self, Case, Form, Join, Palette, Random, Sample, Subject, check, isas, rows, rows_mut};
use tilewright_core::{semiring::Logarithm, *};
use tilewright_cpu::{Options, multiply, multiply_batch};

const INF: f64 = f64::INFINITY;

/// Every number of terms up to beyond the few, and every layout of each matrix, against the bound of the error.
fn every_number_of_terms<T: Logarithm + Sample>()
where
    LogPlus<T>: Subject,
{
    let forms = [Form::PLAIN, Form::BY_COLUMNS, Form::SPREAD, Form::REVERSED];
    for (isa, k) in (1..=130).flat_map(|k| isas().into_iter().map(move |isa| (isa, k))) {
        let [a, b, c] = [k % 4, k / 2 % 4, k / 3 % 4].map(|form| forms[form]);
        let join = [Join::Replace, Join::Accumulate][k / 5 % 2];
        for palette in [Palette::Few, Palette::Spread, Palette::Wild] {
            let (m, n) = (1 + k % 29, 1 + k * 7 % 43);
            check::<LogPlus<T>>(&Case { a, b, c, join, palette, ..Case::new(isa, m, n, k) });
            check::<LogPlus<T>>(&Case { palette, ..Case::new(isa, 8, 16, k) });
        }
    }
}

#[test]
fn every_number_of_terms_in_f32() {
    every_number_of_terms::<f32>();
}

#[test]
fn every_number_of_terms_in_f64() {
    every_number_of_terms::<f64>();
}

/// Thin products, and those of several blocks of rows and columns.
#[test]
fn thin_and_wide() {
    for isa in isas() {
        for (m, n, k) in
            [(1, 300, 64), (300, 1, 64), (49, 2, 3), (2, 77, 2), (25, 4500, 8), (130, 9, 128), (5, 700, 128)]
        {
            for join in [Join::Replace, Join::Accumulate] {
                check::<LogPlus<f32>>(&Case { join, palette: Palette::Few, ..Case::new(isa, m, n, k) });
                check::<LogPlus<f64>>(&Case { join, palette: Palette::Spread, ..Case::new(isa, m, n, k) });
            }
        }
    }
}

/// Scaled by their largest factors, all terms vanish here: what is computed by `max`, `exp` and `log` alone gives `-inf`.
#[test]
fn terms_that_vanish_beside_their_factors() {
    for (isa, k) in
        [2, 3, 8, 16, 64, 128].into_iter().flat_map(|k| isas().into_iter().map(move |isa| (isa, k)))
    {
        let (mut a, mut b) = (vec![f32::NEG_INFINITY; k], vec![f32::NEG_INFINITY; k]);
        (a[0], a[1], b[0], b[1]) = (0.0, -150.0, -300.0, 0.0);
        assert_eq!(common::sum::<LogPlus<f32>>(&a, &b, isa), -150.0, "{isa} {k}");
    }
}

/// Absent rows and columns, alone and where they meet infinities and NaN; their neighbours are not touched by them.
#[test]
fn absent_rows_and_columns() {
    let (m, n, k) = (13, 21, 16);
    for isa in isas() {
        let mut r = Random::new(3);
        let mut a: Vec<f32> = (0..m * k).map(|_| -(r.below(30) as f32)).collect();
        let mut b: Vec<f32> = (0..k * n).map(|_| -(r.below(30) as f32)).collect();
        a[2 * k..3 * k].fill(f32::NEG_INFINITY);
        for p in 0..k {
            b[p * n + 5] = f32::NEG_INFINITY;
            // So far apart that no sum of this column can be trusted by its scale.
            b[p * n + 6] = -1000.0 * p as f32;
        }
        (a[4 * k + 1], a[6 * k + 3], b[7 * n + 9]) = (f32::INFINITY, f32::NAN, f32::INFINITY);
        let mut c = vec![7f32; m * n];
        let to = rows_mut(&mut c, m, n);
        multiply::<LogPlus<f32>>(to, rows(&a, m, k), rows(&b, k, n), &Update::Replace, &common::on(isa))
            .unwrap();
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let (found, terms) = (c[i * n + j], (0..k).map(|p| a[i * k + p] + b[p * n + j]));
            let expected = match (i, j) {
                _ if terms.clone().any(f32::is_nan) => f64::NAN,
                _ if terms.clone().any(|x| x == f32::INFINITY) => INF,
                (2, _) | (_, 5) => -INF,
                _ => {
                    let best = terms.clone().fold(f32::NEG_INFINITY, f32::max);
                    f64::from(best) + terms.map(|x| f64::from(x - best).exp()).sum::<f64>().ln()
                }
            };
            let same = f64::from(found) == expected || found.is_nan() && expected.is_nan();
            let near = (f64::from(found) - expected).abs() <= f32::error_bound(k, expected, false);
            assert!(same || near, "{isa} ({i}, {j}): {found}, not {expected}");
        }
    }
}

/// Bits of an element depend on its row and its column alone: not on its place in C, on threads, or on the batch.
#[test]
fn bits_depend_on_row_and_column_alone() {
    let (size, count) = (40, 60);
    for (isa, k) in [5, 16, 100].into_iter().flat_map(|k| isas().into_iter().map(move |isa| (isa, k))) {
        let mut r = Random::new(4);
        let mut draw =
            |len: usize| -> Vec<f32> { (0..len).map(|_| r.below(100_000) as f32 / -999.0).collect() };
        let (a, b) = (draw(count * size * k), draw(k * size));
        let (la, lb, lc) =
            (Layout::row_major(size, k), Layout::row_major(k, size), Layout::row_major(size, size));
        let all = |threads, count: usize| {
            let mut c = vec![0f32; count * size * size];
            let options = Options { threads, ..common::on(isa) };
            let mut to = BatchMut::new(&mut c, lc, count, (size * size) as isize).unwrap();
            let x = BatchRef::new(&a, la, count, (size * k) as isize).unwrap();
            let y = BatchRef::new(&b, lb, count, 0).unwrap();
            multiply_batch::<LogPlus<f32>>(&mut to, x, y, &Update::Replace, &options).unwrap();
            c.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        };
        let whole = all(1, count);
        assert_eq!(whole, all(3, count), "{isa} {k}");
        assert_eq!(whole[..2 * size * size], all(0, 2), "{isa} {k}");
        let (i, j, m, n) = (7, 5, 22, 30);
        let mut part = vec![0f32; m * n];
        let x = MatRef::new(&a, la).unwrap().window(i, 0, m, k).unwrap();
        let y = MatRef::new(&b, lb).unwrap().window(0, j, k, n).unwrap();
        multiply::<LogPlus<f32>>(rows_mut(&mut part, m, n), x, y, &Update::Replace, &common::on(isa))
            .unwrap();
        let same = (0..m * n).all(|at| part[at].to_bits() == whole[(i + at / n) * size + j + at % n]);
        assert!(same, "{isa} {k}");
    }
}

/// Products whose operands are read in place, up to where that ends, on every remainder of columns.
#[test]
fn in_place() {
    for (isa, n) in (1..=70).flat_map(|n| isas().into_iter().map(move |isa| (isa, n))) {
        for (m, k) in [(1, 64), (7, 33), (13, 1), (64, 16)] {
            let join = [Join::Replace, Join::Accumulate][n / 2 % 2];
            let case = Case { join, ..Case::new(isa, m, n, k) };
            check::<MaxPlus<f32>>(&case);
            check::<MinTimes<f64>>(&case);
            check::<PlusTimes<f32>>(&case);
            check::<MinPlus<f64>>(&Case {
                a: Form { gap: 3, ..Form::PLAIN },
                c: Form { gap: 5, ..Form::PLAIN },
                ..case
            });
        }
    }
    for isa in isas() {
        for shape in [[128, 64, 64], [129, 64, 64], [10, 256, 64], [10, 257, 128], [4, 30, 700]] {
            let [m, n, k] = shape;
            check::<MinPlus<f32>>(&Case::new(isa, m, n, k));
            check::<PlusTimes<f64>>(&Case { join: Join::Accumulate, ..Case::new(isa, m, n, k) });
        }
    }
}
