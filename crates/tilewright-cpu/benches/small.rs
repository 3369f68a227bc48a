//! Times small products, alone and in batches: nanoseconds a product, the least of many repetitions.
//!
//! `small [SECONDS] [PART OF A NAME]` measures each case for so long; 0.3 without. Other programs are compared by running both in turns.
//! A repetition takes less than a millisecond where it can, so that some are not interrupted, however busy the machine is.

use std::{
    env,
    hint::black_box,
    time::{Duration, Instant},
};
use tilewright_core::{BatchMut, BatchRef, Layout, LogPlus, MatMut, MatRef, MaxPlus, Semiring, Update};
use tilewright_cpu::{Options, multiply, multiply_batch};

/// Elements that no two programs draw differently.
fn drawn(count: usize, mut seed: u32) -> Vec<f32> {
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 24) as f32
    };
    (0..count).map(|_| next() * 8.0 - 8.0).collect()
}

/// The least time of `run`, which computes `count` products, in nanoseconds a product.
fn least(seconds: f64, count: usize, mut run: impl FnMut()) -> f64 {
    let begun = Instant::now();
    let mut best = Duration::MAX;
    while begun.elapsed().as_secs_f64() < seconds {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed());
    }
    best.as_nanos() as f64 / count as f64
}

/// `count` products of `m x k` and `k x n` matrices in one call.
fn batch<S: Semiring<Elem = f32, Out = f32>>(
    seconds: f64,
    threads: usize,
    count: usize,
    [m, n, k]: [usize; 3],
) -> f64 {
    let [la, lb, lc] = [Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n)];
    let (a, b, mut c) = (drawn(count * m * k, 1), drawn(count * k * n, 2), vec![0f32; count * m * n]);
    let options = Options { threads, ..Options::default() };
    let [x, y] = [(&a, la, m * k), (&b, lb, k * n)]
        .map(|(data, layout, next)| BatchRef::new(data, layout, count, next as isize).expect("a batch"));
    least(seconds, count, || {
        let mut to = BatchMut::new(&mut c, lc, count, (m * n) as isize).expect("a batch");
        multiply_batch::<S>(&mut to, x, y, &Update::Replace, &options).expect("products");
        black_box(&mut to);
    })
}

/// How many products of so many results are computed in a repetition.
fn repeated(results: usize) -> usize {
    (1usize << 15).div_ceil(results.max(1)).clamp(4, 2048)
}

/// One product a call.
fn calls<S: Semiring<Elem = f32, Out = f32>>(seconds: f64, [m, n, k]: [usize; 3]) -> f64 {
    let calls = repeated(m * n);
    let (a, b, mut c) = (drawn(m * k, 1), drawn(k * n, 2), vec![0f32; m * n]);
    let options = Options { threads: 1, ..Options::default() };
    let x = MatRef::new(&a, Layout::row_major(m, k)).expect("a matrix");
    let y = MatRef::new(&b, Layout::row_major(k, n)).expect("a matrix");
    least(seconds, calls, || {
        for _ in 0..calls {
            let to = MatMut::new(&mut c, Layout::row_major(m, n)).expect("a matrix");
            multiply::<S>(to, black_box(x), black_box(y), &Update::Replace, &options).expect("a product");
        }
    })
}

fn main() {
    let words: Vec<_> = env::args().skip(1).filter(|word| word != "--bench").collect();
    let seconds = words.first().and_then(|word| word.parse().ok()).unwrap_or(0.3);
    let part = words.get(1).map_or("", String::as_str);
    let report = |name: String, measure: &dyn Fn() -> f64| {
        if name.contains(part) {
            println!("{name}\t{:.1}", measure());
        }
    };
    for size in [8, 16, 32, 64] {
        report(format!("max-plus call {size}"), &|| calls::<MaxPlus<f32>>(seconds, [size; 3]));
        let counts = [(repeated(size * size), 1), (2048, 1), (2048, 0)];
        for (count, threads) in counts {
            let name = format!("max-plus batch {count} x {size} threads {threads}");
            report(name, &|| batch::<MaxPlus<f32>>(seconds, threads, count, [size; 3]));
        }
    }
    for size in [2, 4, 8, 16, 32, 64, 128, 256, 512] {
        report(format!("log-plus call {size}"), &|| calls::<LogPlus<f32>>(seconds, [size; 3]));
        let count = repeated(size * size);
        for (count, threads) in [(count, 1), (16 * count, 0)] {
            let name = format!("log-plus batch {count} x {size} threads {threads}");
            report(name, &|| batch::<LogPlus<f32>>(seconds, threads, count, [size; 3]));
        }
    }
    for [m, n, k] in [[1, 64, 64], [64, 1, 64], [1000, 16, 16], [16, 1000, 16], [1000, 1000, 8]] {
        let name = format!("log-plus call {m}x{n}x{k}");
        report(name, &|| calls::<LogPlus<f32>>(seconds, [m, n, k]));
    }
}
