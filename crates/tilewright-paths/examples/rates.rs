//! What all best paths take: `cargo run --release -p tilewright-paths --example rates -- [n,...] [threads]`.
//!
//! The closure of complete graphs of uniform random weights, with and without predecessors, in time of this thread and of the clock; and searches in a graph of
//! 10,000 vertices and 30,000 edges.
#![allow(missing_docs)]

use std::time::Instant;
use tilewright_core::{Element, Error, Matrix, MinPlus};
use tilewright_paths::{Graph, Method, PathSemiring, Paths};

/// Numbers from 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Seconds of the clock and of this thread, where the system tells; the best of three runs.
fn time(mut run: impl FnMut() -> Result<(), Error>) -> Result<(f64, f64), Error> {
    let of_thread = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        text.split(' ').next().and_then(|word| word.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
    };
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        let (start, thread) = (Instant::now(), of_thread());
        run()?;
        best = (best.0.min(start.elapsed().as_secs_f64()), best.1.min(of_thread() - thread));
    }
    Ok(best)
}

fn closure<S: PathSemiring>(
    n: usize,
    threads: usize,
    weight: impl Fn(f64) -> S::Weight,
) -> Result<(), Error> {
    let mut random = Random(12345);
    let w = Matrix::from_fn(n, n, |_, _| weight(random.next()))?;
    let paths = Paths::<S>::new(&w)?.method(Method::Dense).threads(threads);
    let (clock, thread) = time(|| paths.distances().map(drop))?;
    let (clock_routes, thread_routes) = time(|| paths.with_predecessors().map(drop))?;
    let rate = |seconds: f64| (n as f64).powi(3) / seconds / 1e9;
    println!(
        "{} {:>3} n = {n}, {threads} threads: {clock:.3} s, {:.1} G pair-op/s (of the thread {thread:.3} s, {:.1}); with predecessors {clock_routes:.3} s (thread {thread_routes:.3} s)",
        S::NAME,
        S::Weight::DTYPE,
        rate(clock),
        rate(thread),
    );
    Ok(())
}

fn main() -> Result<(), Error> {
    let mut words = std::env::args().skip(1);
    let sizes = words.next().unwrap_or_else(|| "1024,2048".into());
    let threads = words.next().and_then(|word| word.parse().ok()).unwrap_or(1);
    for n in sizes.split(',').filter_map(|word| word.parse().ok()) {
        closure::<MinPlus<f64>>(n, threads, |x| x)?;
        closure::<MinPlus<f32>>(n, threads, |x| x as f32)?;
        closure::<MinPlus<i32>>(n, threads, |x| 1 + (x * 1000.0) as i32)?;
    }
    let (n, mut random) = (10_000, Random(7));
    let vertex = |random: &mut Random| (random.next() * n as f64) as usize;
    let edges: Vec<_> =
        (0..3 * n).map(|_| (vertex(&mut random), vertex(&mut random), random.next())).collect();
    let graph = Graph::<MinPlus<f64>>::new(n, edges)?;
    let paths = Paths::of_graph(&graph).method(Method::Dijkstra).threads(threads);
    let (clock, thread) = time(|| paths.distances().map(drop))?;
    println!(
        "searches from {n} vertices over {} edges, {threads} threads: {clock:.3} s (of the thread {thread:.3} s)",
        graph.edges()
    );
    Ok(())
}
