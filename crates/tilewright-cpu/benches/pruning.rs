//! Times products over the semirings that are pruned, on several kinds of elements, one thread: milliseconds a product, the least of many.
//!
//! `pruning [SECONDS] [PART OF A NAME] [SIZE,SIZE...]` measures each case for so long; 0.5 without, at 1024. Other programs are compared by running both
//! in turns.

use core::any::type_name;
use std::{env, hint::black_box, time::Instant};
use tilewright_core::{
    Layout, MatMut, MatRef, MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, Semiring, Update, bf16, f16,
};
use tilewright_cpu::{Options, Report, multiply, multiply_arg};

/// Numbers that no two programs draw differently, between 0 and 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// An element from 0 to 1, from random numbers and its place in a row: column and how many there are.
type Kind = fn(&mut Random, usize, usize) -> f64;

/// Kinds of elements.
const KINDS: [(&str, Kind); 6] = [
    ("uniform", |r, _, _| r.next()),
    // The magnitude of a sum of twelve is nearly that of a normal number.
    ("normal", |r, _, _| ((0..12).map(|_| r.next()).sum::<f64>() - 6.0).abs() / 6.0),
    ("constant", |_, _, _| 0.5),
    ("sorted", |_, p, k| (p + 1) as f64 / k as f64),
    ("reversed", |_, p, k| 1.0 - p as f64 / k as f64),
    ("four values", |r, _, _| (r.next() * 4.0).floor() / 4.0),
];

/// An element type.
trait Subject: Copy + Send + Sync + 'static {
    fn of(x: f64) -> Self;
}
macro_rules! subjects {
    ($($t:ident: |$x:ident| $of:expr;)*) => {$(impl Subject for $t { fn of($x: f64) -> Self { $of } })*};
}
subjects! {
    f16: |x| Self::from_f64(x);
    bf16: |x| Self::from_f64(x);
    f32: |x| x as Self;
    f64: |x| x;
    i32: |x| (x * 1e8) as Self;
}

/// The least time of a product, in milliseconds, and what computed it.
fn least<T: Subject, S: Semiring<Elem = T, Out = T>>(
    seconds: f64,
    n: usize,
    kind: Kind,
    winners: bool,
) -> (f64, Report) {
    let mut random = Random(1);
    let mut drawn = || (0..n * n).map(|i| T::of(kind(&mut random, i % n, n))).collect::<Vec<_>>();
    // Both have their terms side by side, so that what is sorted is so along the terms.
    let (a, b, mut c, mut arg) = (drawn(), drawn(), drawn(), vec![0_u32; n * n]);
    let x = MatRef::new(&a, Layout::row_major(n, n)).expect("a matrix");
    let y = MatRef::new(&b, Layout::col_major(n, n)).expect("a matrix");
    let options = Options { threads: 1, ..Options::default() };
    let (begun, mut best, mut rounds) = (Instant::now(), f64::INFINITY, 0);
    loop {
        let start = Instant::now();
        let to = MatMut::new(&mut c, Layout::row_major(n, n)).expect("a matrix");
        let (x, y) = (black_box(x), black_box(y));
        let report = if winners {
            let arg = MatMut::new(&mut arg, Layout::row_major(n, n)).expect("a matrix");
            multiply_arg::<S>(to, arg, x, y, &Update::Replace, &options)
        } else {
            multiply::<S>(to, x, y, &Update::Replace, &options)
        }
        .expect("a product");
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
        rounds += 1;
        if rounds > 2 && begun.elapsed().as_secs_f64() > seconds {
            return (best, report);
        }
    }
}

fn main() {
    let words: Vec<_> = env::args().skip(1).filter(|word| word != "--bench").collect();
    let seconds = words.first().and_then(|word| word.parse().ok()).unwrap_or(0.5);
    let part = words.get(1).map_or("", String::as_str);
    let sizes = words.get(2).map_or("1024", String::as_str);
    type Measure = fn(f64, usize, Kind, bool) -> (f64, Report);
    macro_rules! cases {
        ($($s:ident<$t:ident>,)*) => { [$((<$s<$t> as Semiring>::NAME, type_name::<$t>(), least::<$t, $s<$t>> as Measure)),*] };
    }
    let cases = cases![
        MaxTimes<f32>,
        MaxTimes<f64>,
        MinTimes<f32>,
        MaxMin<f32>,
        MaxMin<f64>,
        MaxMin<i32>,
        MinMax<f32>,
        MinMax<i32>,
        MinPlus<f32>,
        MaxPlus<f32>,
        MinPlus<f16>,
        MaxPlus<bf16>,
    ];
    for size in sizes.split(',').filter_map(|size| size.parse().ok()) {
        for (semiring, element, measure) in cases {
            let element = element.rsplit(':').next().unwrap_or(element);
            for ((kind, draw), winners) in KINDS.iter().flat_map(|kind| [(kind, false), (kind, true)]) {
                let with = if winners { " winners" } else { "" };
                let name = format!("{semiring} {element} {size} {kind}{with}");
                if name.contains(part) {
                    let (ms, report) = measure(seconds, size, *draw, winners);
                    println!("{name}\t{ms:.2}\t{}", if report.kernel.pruned { "pruned" } else { "" });
                }
            }
        }
    }
}
