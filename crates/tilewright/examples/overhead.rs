//! What a `Product` costs beyond the engine's own function: `cargo run --release -p tilewright --example overhead -- [N]...`.
//!
//! Both compute small squares on one thread, in turns; a line has the medians of a call, and their difference and ratio.

use std::{error::Error, hint::black_box, time::Instant};
use tilewright::{Backend, MatMut, MatRef, Matrix, MinPlus, PlusTimes, Product, Semiring, Update, cpu};

/// Turns.
const ROUNDS: usize = 401;
/// Terms of the calls in a turn: about a tenth of a millisecond.
const TERMS: usize = 8_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<usize> = std::env::args().skip(1).map(|n| n.parse()).collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() { vec![8, 16, 32, 64] } else { sizes };
    println!(
        "{:<12} {:>4} {:>10} {:>12} {:>12} {:>8}",
        "semiring", "n", "engine ns", "Product ns", "more ns", "ratio"
    );
    for n in sizes {
        compare::<PlusTimes<f32>>(n)?;
        compare::<MinPlus<f32>>(n)?;
    }
    Ok(())
}

fn compare<S: Semiring<Elem = f32, Out = f32>>(n: usize) -> Result<(), Box<dyn Error>> {
    let a = Matrix::from_fn(n, n, |i, j| ((7 * i + 3 * j) % 11) as f32)?;
    let mut c = Matrix::filled(n, n, 0.0)?;
    let (a, mut c) = (a.as_ref(), c.as_mut());
    let calls = (TERMS / (n * n * n).max(1)).clamp(10, 10_000);
    let (mut engine, mut product) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        engine.push(nanoseconds(calls, || by_engine::<S>(a, c.reborrow()))?);
        product.push(nanoseconds(calls, || by_product::<S>(a, c.reborrow()))?);
    }
    let (engine, product) = (median(engine), median(product));
    println!(
        "{:<12} {n:>4} {engine:>10.0} {product:>12.0} {:>12.0} {:>8.3}",
        S::NAME,
        product - engine,
        product / engine
    );
    Ok(())
}

fn by_engine<S: Semiring<Elem = f32, Out = f32>>(
    a: MatRef<'_, f32>,
    c: MatMut<'_, f32>,
) -> Result<(), tilewright::Error> {
    let options = cpu::Options { threads: 1, ..cpu::Options::default() };
    black_box(cpu::multiply::<S>(c, a, a, &Update::Replace, &options)?);
    Ok(())
}

fn by_product<S: Semiring<Elem = f32, Out = f32>>(
    a: MatRef<'_, f32>,
    c: MatMut<'_, f32>,
) -> Result<(), tilewright::Error> {
    black_box(Product::<S>::new(a, a)?.backend(Backend::Auto).threads(1).write_to(c)?);
    Ok(())
}

/// The time of a call.
fn nanoseconds(
    calls: usize,
    mut call: impl FnMut() -> Result<(), tilewright::Error>,
) -> Result<f64, tilewright::Error> {
    let start = Instant::now();
    (0..calls).try_for_each(|_| call())?;
    Ok(start.elapsed().as_secs_f64() * 1e9 / calls as f64)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
