//! Batches: as one by one.

use crate::common::{self, Random, Sample, admitted, isas, on};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tilewright_core::*;
use tilewright_cpu::{Options, multiply, multiply_batch};

/// Strides of A, B and C in the batch; 0 repeats the first matrix.
fn agrees<S: Semiring<Elem: Sample, Out: Sample>>(
    count: usize,
    [m, n, k]: [usize; 3],
    [sa, sb, sc]: [usize; 3],
) {
    let mut r = Random::new(1);
    let mut draw = |len: usize| -> Vec<S::Elem> {
        (0..len).map(|_| admitted::<S>(&mut r, common::Palette::Whole)).collect()
    };
    let (a, b) = (draw(sa * count + m * k), draw(sb * count + k * n));
    let [la, lb, lc] = [Layout::row_major(m, k), Layout::col_major(k, n), Layout::row_major(m, n)];
    for isa in isas() {
        for update in [Update::Replace, Update::<S>::Accumulate] {
            let mut c = vec![S::Out::nearest(1.0); sc * count + m * n];
            let mut expected = c.clone();
            for i in 0..count {
                let to = MatMut::with_origin(&mut expected, lc, i * sc).unwrap();
                let x = MatRef::with_origin(&a, la, i * sa).unwrap();
                let y = MatRef::with_origin(&b, lb, i * sb).unwrap();
                multiply::<S>(to, x, y, &update, &on(isa)).unwrap();
            }
            let mut to = BatchMut::new(&mut c, lc, count, sc as isize).unwrap();
            let x = BatchRef::new(&a, la, count, sa as isize).unwrap();
            let y = BatchRef::new(&b, lb, count, sb as isize).unwrap();
            multiply_batch::<S>(&mut to, x, y, &update, &on(isa)).unwrap();
            let same = c.iter().zip(&expected).all(|(x, y)| x.bits() == y.bits());
            assert!(same, "{} on {isa}: {count} of {m}x{n}x{k}", S::NAME);
        }
    }
}

#[test]
fn as_one_by_one() {
    for count in [0, 1, 2, 7] {
        for shape in [[1, 1, 1], [3, 5, 4], [13, 33, 20]] {
            let [m, n, k] = shape;
            for (sa, sb) in [(m * k, k * n), (0, k * n), (m * k, 0), (0, 0), (m * k + 3, k * n + 1)] {
                agrees::<PlusTimes<f32>>(count, shape, [sa, sb, m * n]);
                agrees::<MinPlus<i32>>(count, shape, [sa, sb, m * n + 2]);
                agrees::<MaxPlus<f16>>(count, shape, [sa, sb, m * n]);
                agrees::<MaxTimes<f32>>(count, shape, [sa, sb, m * n + 1]);
                agrees::<LogPlus<f32>>(count, shape, [sa, sb, m * n]);
            }
        }
    }
}

#[test]
fn matrices_without_elements_or_terms() {
    for shape in [[0, 4, 3], [4, 0, 3], [4, 3, 0], [0, 0, 0]] {
        let [m, n, k] = shape;
        agrees::<MinPlus<f32>>(3, shape, [m * k, k * n, m * n]);
    }
}

/// Many small products share the threads, few large ones occupy them one after another.
#[test]
fn batches_on_threads() {
    for (count, size) in [(60, 40), (2, 180)] {
        let (mut r, area) = (Random::new(2), size * size);
        let a: Vec<i32> = (0..count * area).map(|_| r.bits() as i32).collect();
        let layout = Layout::row_major(size, size);
        let items = BatchRef::new(&a, layout, count, area as isize).unwrap();
        let run = |threads, progress: &(dyn Fn(u64) + Sync)| {
            let mut c = vec![7; count * area];
            let mut to = BatchMut::new(&mut c, layout, count, area as isize).unwrap();
            let options = Options { threads, progress: Some(progress), ..Options::default() };
            let b = BatchRef::repeat(items.get(0).unwrap(), count);
            let report = multiply_batch::<PlusTimes<i32>>(&mut to, items, b, &Update::Accumulate, &options);
            (c, report.unwrap().unwrap().threads)
        };
        let terms = AtomicU64::new(0);
        let (expected, _) = run(1, &|_| ());
        let (c, threads) = run(3, &|t| _ = terms.fetch_add(t, Relaxed));
        assert!(c == expected && (2..=3).contains(&threads), "{count} of {size}: {threads} threads");
        assert_eq!(terms.into_inner(), (count * size * area) as u64);
    }
}

/// Nothing is written unless every matrix of the batch is valid.
#[test]
fn errors_leave_c_alone() {
    let layout = Layout::row_major(2, 2);
    let (a, b) = ([1.0f32; 12], [1.0f32; 12]);
    let mut negative = a;
    negative[11] = -1.0;
    let mut c = [5.0f32; 12];
    let batch = |data, count| BatchRef::new(data, layout, count, 4).unwrap();
    let refused = |c: &mut [f32], a, b| {
        let mut c = BatchMut::new(c, layout, 3, 4).unwrap();
        let error = multiply_batch::<MaxTimes<f32>>(&mut c, a, b, &Update::Replace, &Options::default());
        error.unwrap_err()
    };
    assert_eq!(refused(&mut c, batch(&a, 2), batch(&b, 3)).code(), "batch-mismatch");
    assert_eq!(refused(&mut c, batch(&a, 3), batch(&b, 2)).code(), "batch-mismatch");
    assert_eq!(refused(&mut c, batch(&a, 0), batch(&b, 0)).code(), "batch-mismatch");
    let wide = BatchRef::new(&b, Layout::row_major(2, 1), 3, 4).unwrap();
    assert_eq!(refused(&mut c, batch(&a, 3), wide).code(), "result-mismatch");
    let tall = BatchRef::new(&b, Layout::row_major(1, 2), 3, 4).unwrap();
    assert_eq!(refused(&mut c, batch(&a, 3), tall).code(), "inner-mismatch");
    assert_eq!(refused(&mut c, batch(&negative, 3), batch(&b, 3)).code(), "outside-domain");
    assert_eq!(c, [5.0; 12]);
}

#[test]
fn an_empty_batch_is_done_at_once() {
    let mut c = BatchMut::<f32>::new(&mut [], Layout::row_major(2, 2), 0, 4).unwrap();
    let none = BatchRef::new(&[], Layout::row_major(2, 2), 0, 4).unwrap();
    let report = multiply_batch::<MinPlus<f32>>(&mut c, none, none, &Update::Replace, &Options::default());
    assert!(report.unwrap().is_none());
}
