//! What closures and products take on many GPUs, by a model of their schedules: the tables of `docs/decisions/scale.md`.
//!
//! `simulate` prints them. `simulate N RxC PRODUCT DIAGONAL LOOK BANDWIDTH` is a run of ranks that are threads of one processor, by its rates: billions of pair-operations, elements and
//! bytes a second.

mod machines;
mod model;

use machines::{H200, NETWORKS, ONE_SIGN, ONE_SIGN_ALONE, ONE_SIGN_BLOCK};
use model::{Link, Machine, closure, product};
use tilewright::Error;
use tilewright_distributed::{Shape, best_grid, closure_memory, default_block};

/// Bytes of an H200.
const MEMORY: u64 = 141_000_000_000;
const GRIDS: [Shape; 4] = [
    Shape { rows: 1, cols: 1 },
    Shape { rows: 2, cols: 4 },
    Shape { rows: 8, cols: 8 },
    Shape { rows: 32, cols: 32 },
];

fn main() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        strong(131_072);
        strong(1_048_576);
        weak();
        one_host();
        return Ok(());
    }
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<f64>().ok()).unwrap_or(1.0);
    let (n, shape) = (number(0) as usize, words.get(1).map_or("1x1", |word| word).parse::<Shape>()?);
    let machine = Machine {
        rates: Box::leak(Box::new([(1, number(2) * 1e9)])),
        call: 0.0,
        diagonal_rate: number(3) * 1e9,
        look_rate: number(4) * 1e9,
        size: 4,
        link: Link { latency: 20e-6, bandwidth: number(5) * 1e9 },
        moves_alone: false,
        agrees: true,
    };
    for is_ahead in [true, false] {
        let run = closure(&machine, n, default_block(n), shape, is_ahead);
        let order = if is_ahead { "look-ahead" } else { "in order" };
        println!("{n} {shape} {order}: {:.3} s, {} bytes received", run.seconds, run.received);
    }
    let run = product(&machine, (n, n, n), default_block(n), shape);
    println!("{n} {shape} product: {:.3} s, {} bytes received", run.seconds, run.received);
    Ok(())
}

/// One size on more and more GPUs.
fn strong(n: usize) {
    println!(
        "\nn = {n}\n\n| GPUs | network | in order | look-ahead | look-ahead without agreement | efficiency of the best | product | its efficiency |"
    );
    println!("|---:|---|---:|---:|---:|---:|---:|---:|");
    for shape in GRIDS {
        row(n, shape);
    }
}

/// As many elements for each GPU: n grows by the root of their number.
fn weak() {
    println!(
        "\nn = 131,072 sqrt(GPUs)\n\n| GPUs | network | n | in order | look-ahead | T pair-op/s a GPU | efficiency |"
    );
    println!("|---:|---|---:|---:|---:|---:|---:|");
    for shape in GRIDS {
        let n = (131_072.0 * (shape.ranks() as f64).sqrt()) as usize;
        for (name, link) in networks(shape) {
            let [in_order, ahead] =
                [false, true].map(|is_ahead| seconds(n, shape, Machine { link, ..H200 }, is_ahead));
            let rate = rate(n, shape, in_order.min(ahead));
            println!(
                "| {} | {name} | {n} | {in_order:.1} s | {ahead:.1} s | {:.1} | {:.2} |",
                shape.ranks(),
                rate / 1e12,
                rate / PEAK
            );
        }
    }
}

/// GPUs of one host on weights of one sign, beside one GPU that does not go by blocks. Those that look ahead agree a step behind.
fn one_host() {
    println!(
        "\nweights of one sign\n\n| n | GPUs | in order | look-ahead | times one GPU | product | times one GPU |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    for n in [32_768_usize, 65_536, 131_072] {
        let (block, alone) = (ONE_SIGN_BLOCK, (n as f64).powi(3) / ONE_SIGN_ALONE);
        for gpus in [2, 4, 8] {
            let shape = best_grid(gpus, (n, n, n));
            let in_order = closure(&ONE_SIGN, n, block, shape, false).seconds;
            let ahead = closure(&Machine { agrees: false, ..ONE_SIGN }, n, block, shape, true).seconds;
            let whole = product(&ONE_SIGN, (n, n, n), block, shape).seconds;
            println!(
                "| {n} | {gpus}: {shape} | {in_order:.3} s | {ahead:.3} s | {:.2} | {whole:.3} s | {:.2} |",
                alone / ahead,
                alone / whole
            );
        }
    }
}

fn row(n: usize, shape: Shape) {
    if closure_memory(n, default_block(n), shape, H200.size) > MEMORY {
        println!("| {} | | does not fit | | | | | |", shape.ranks());
        return;
    }
    for (name, link) in networks(shape) {
        let machine = Machine { link, ..H200 };
        let [in_order, ahead] = [false, true].map(|is_ahead| seconds(n, shape, machine, is_ahead));
        let free = seconds(n, shape, Machine { agrees: false, ..machine }, true);
        let whole = product(&machine, (n, n, n), default_block(n), shape).seconds;
        println!(
            "| {} | {name} | {in_order:.2} s | {ahead:.2} s | {free:.2} s | {:.2} | {whole:.2} s | {:.2} |",
            shape.ranks(),
            rate(n, shape, in_order.min(ahead).min(free)) / PEAK,
            rate(n, shape, whole) / PEAK
        );
    }
}

/// One GPU has no network.
fn networks(shape: Shape) -> Vec<(&'static str, Link)> {
    if shape.ranks() == 1 { vec![("none", NETWORKS[0].1)] } else { NETWORKS.to_vec() }
}

fn seconds(n: usize, shape: Shape, machine: Machine, is_ahead: bool) -> f64 {
    closure(&machine, n, default_block(n), shape, is_ahead).seconds
}

/// Pair-operations a second of each GPU.
fn rate(n: usize, shape: Shape, seconds: f64) -> f64 {
    (n as f64).powi(3) / seconds / shape.ranks() as f64
}

/// What a product of blocks of 1024 reaches.
const PEAK: f64 = 15.5e12;
