//! Progress, threads, and products inside of products.

use crate::common::{self, Random, Sample, admitted, isas, rows, rows_mut};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};
use tilewright_core::*;
use tilewright_cpu::{Isa, Options, multiply, multiply_arg, multiply_batch};

/// Panics when `work` takes so long that it must be a deadlock.
fn in_time(work: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let worker = thread::spawn(move || {
        work();
        done.send(()).unwrap();
    });
    match wait.recv_timeout(Duration::from_secs(120)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("deadlock"),
        _ => worker.join().unwrap(),
    }
}

fn drawn<S: Semiring<Elem: Sample>>(len: usize, seed: u64) -> Vec<S::Elem> {
    let mut r = Random::new(seed);
    (0..len).map(|_| admitted::<S>(&mut r, common::Palette::Whole)).collect()
}

/// A product large enough for four threads, and its right answer.
struct Large<S: Semiring> {
    a: Vec<S::Elem>,
    b: Vec<S::Elem>,
    expected: Vec<S::Out>,
}

const M: usize = 150;
const N: usize = 170;
const K: usize = 180;

impl<S: Semiring<Elem: Sample, Out: Sample>> Large<S> {
    fn new() -> Self {
        let (a, b) = (drawn::<S>(M * K, 1), drawn::<S>(K * N, 2));
        let mut expected = vec![S::Out::POISON; M * N];
        let to = rows_mut(&mut expected, M, N);
        reference::multiply::<S>(to, rows(&a, M, K), rows(&b, K, N), &Update::Replace).unwrap();
        Self { a, b, expected }
    }

    /// Multiplies and compares; returns the number of threads.
    fn run(&self, options: &Options<'_>) -> usize {
        let mut c = vec![S::Out::POISON; M * N];
        let (to, a, b) = (rows_mut(&mut c, M, N), rows(&self.a, M, K), rows(&self.b, K, N));
        let report = multiply::<S>(to, a, b, &Update::Replace, options).unwrap();
        assert!(c.iter().zip(&self.expected).all(|(x, y)| x.bits() == y.bits()), "{} {report:?}", S::NAME);
        report.threads
    }
}

/// Every term is counted once: into C, through a buffer, with winners, one by one, in batches.
#[test]
fn progress_counts_every_term() {
    fn all<S: Semiring<Elem: Sample, Out: Sample>>(isa: Isa) {
        let shapes = [(1, 1, 1), (13, 33, 70), (3, 700, 300), (5, 9, 4200), (M, N, K), (0, 4, 4), (4, 4, 0)];
        for (m, n, k) in shapes {
            for threads in [1, 3] {
                let count = AtomicU64::new(0);
                let progress = |terms| _ = count.fetch_add(terms, Relaxed);
                let options =
                    Options { isa: Some(isa), threads, progress: Some(&progress), ..Options::default() };
                let (a, b) = (drawn::<S>(m * k, 1), drawn::<S>(k * n, 2));
                let (a, b) = (rows(&a, m, k), rows(&b, k, n));
                let mut c = vec![S::Out::POISON; m * n];
                let terms = (m * n * k) as u64;
                let replace = Update::<S>::Replace;
                multiply(rows_mut(&mut c, m, n), a, b, &replace, &options).unwrap();
                assert_eq!(count.swap(0, Relaxed), terms, "{} on {isa}: {m}x{n}x{k}", S::NAME);
                if S::laws().selective_add {
                    let mut arg = vec![0; m * n];
                    let (to, to_arg) = (rows_mut(&mut c, m, n), rows_mut(&mut arg, m, n));
                    multiply_arg(to, to_arg, a, b, &replace, &options).unwrap();
                    assert_eq!(count.swap(0, Relaxed), terms, "{} on {isa}, arg: {m}x{n}x{k}", S::NAME);
                }
                let mut batch = BatchMut::new(&mut c, Layout::row_major(m, n), 1, 0).unwrap();
                let (a, b) = (BatchRef::repeat(a, 1), BatchRef::repeat(b, 1));
                multiply_batch(&mut batch, a, b, &replace, &options).unwrap();
                assert_eq!(count.swap(0, Relaxed), terms, "{} on {isa}, batch: {m}x{n}x{k}", S::NAME);
            }
        }
    }
    for isa in isas() {
        all::<PlusTimes<f32>>(isa);
        all::<PlusTimes<f16>>(isa);
        all::<MinPlus<i32>>(isa);
        all::<MaxPlus<bf16>>(isa);
        all::<OrAnd>(isa);
    }
}

#[test]
fn threads_are_at_most_as_many_as_allowed() {
    let problem = Large::<PlusTimes<i32>>::new();
    for isa in isas() {
        for threads in 1..=7 {
            let used = problem.run(&Options { threads, isa: Some(isa), ..Options::default() });
            assert!((1..=threads).contains(&used), "{used} of {threads}");
            assert!(threads == 1 || used > 1, "{threads} threads, and one used");
        }
    }
}

/// A progress callback may multiply: its product and the one around it are right.
#[test]
fn a_product_inside_of_a_product() {
    in_time(|| {
        let (outer, inner) = (Large::<MinPlus<f32>>::new(), Large::<PlusTimes<i8>>::new());
        for isa in isas() {
            for threads in [1, 4] {
                let calls = AtomicUsize::new(0);
                let inside = Options { threads, isa: Some(isa), ..Options::default() };
                let progress = |_| {
                    calls.fetch_add(1, Relaxed);
                    inner.run(&inside);
                };
                outer.run(&Options { progress: Some(&progress), ..inside });
                assert!(calls.into_inner() > 0);
            }
        }
    });
}

#[test]
fn products_inside_of_a_thread_pool() {
    in_time(|| {
        let (floats, bytes) = (Large::<PlusTimes<f32>>::new(), Large::<OrAnd>::new());
        for workers in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().unwrap();
            pool.scope(|scope| {
                for i in 0..6 {
                    let (floats, bytes) = (&floats, &bytes);
                    scope.spawn(move |_| {
                        let options = Options { threads: i, ..Options::default() };
                        if i % 2 == 0 {
                            floats.run(&options)
                        } else {
                            bytes.run(&options)
                        };
                    });
                }
            });
        }
    });
}

#[test]
fn products_side_by_side() {
    in_time(|| {
        let (floats, halves) = (Large::<MaxPlus<f64>>::new(), Large::<MinPlus<f16>>::new());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..10).for_each(|_| _ = floats.run(&Options::default())));
                scope.spawn(|| {
                    (0..10).for_each(|i| _ = halves.run(&Options { threads: i, ..Options::default() }))
                });
            }
        });
    });
}

/// A callback that panics takes its product down, and nothing else.
#[test]
fn after_a_panic() {
    in_time(|| {
        let problem = Large::<PlusTimes<f64>>::new();
        for threads in [1, 4] {
            let progress = |_| std::panic::resume_unwind(Box::new("enough"));
            let options = Options { threads, ..Options::default() };
            let interrupted = Options { progress: Some(&progress), ..options };
            assert!(catch_unwind(AssertUnwindSafe(|| problem.run(&interrupted))).is_err());
            problem.run(&options);
        }
    });
}

/// Threads pack B once for all regions that they take, and never meet the B of another product.
#[test]
fn threads_give_the_bits_of_one() {
    // Sizes whose B is packed on the way, beforehand, and in blocks; the same sizes follow each other with other elements.
    let random = |count: usize, salt: usize| -> Vec<f32> {
        (0..count).map(|i| ((i * 7919 + salt * 104_729) % 10_007) as f32 / 5000.0 - 1.0).collect()
    };
    for (salt, (m, n, k)) in
        [(128, 128, 128), (130, 97, 200), (300, 256, 256), (600, 40, 700), (90, 1500, 130)]
            .into_iter()
            .flat_map(|shape| [shape; 3])
            .enumerate()
    {
        let (a, b) = (random(m * k, salt), random(k * n, salt + 1));
        let [one, several] = [1, 4].map(|threads| {
            let mut c = vec![0.5; m * n];
            let options = Options { threads, ..Options::default() };
            let [a, b] = [(&a, m, k), (&b, k, n)]
                .map(|(data, rows, cols)| MatRef::new(data, Layout::row_major(rows, cols)).unwrap());
            let view = MatMut::new(&mut c, Layout::row_major(m, n)).unwrap();
            multiply::<PlusTimes<f32>>(view, a, b, &Update::scale(0.7, 1.3), &options).unwrap();
            let mut best = vec![0.5; m * n];
            let view = MatMut::new(&mut best, Layout::row_major(m, n)).unwrap();
            multiply::<MinPlus<f32>>(view, a, b, &Update::Replace, &options).unwrap();
            let mut plain = vec![0.5; m * n];
            let view = MatMut::new(&mut plain, Layout::row_major(m, n)).unwrap();
            multiply::<PlusTimes<f32>>(view, a, b, &Update::Replace, &options).unwrap();
            [c, best, plain].concat().into_iter().map(f32::to_bits).collect::<Vec<_>>()
        });
        assert!(one == several, "{m} x {n} x {k}");
    }
}
