//! What calls cost on the GPU, from the first on: `cargo run --release -p tilewright --example calls -- [N]...`.
//!
//! For every size the first call of a process prepares the kernels (compiled, or read from the cache), the next ones find them
//! ready. "Rest" is what a call takes beyond its transfers and its kernels.

use std::{error::Error, time::Instant};
use tilewright::{Backend, Layout, MatMut, MatRef, Options, PlusTimes, Product, Update};

/// Calls per size.
const CALLS: usize = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes: Vec<usize> = std::env::args().skip(1).map(|n| n.parse()).collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        sizes = vec![256, 1000, 2048, 4096];
    }
    println!(
        "{:>6} {:>6} {:>10} {:>10} {:>10} {:>10} {:>10}  ms",
        "n", "call", "total", "prepare", "transfer", "kernels", "rest"
    );
    for n in sizes {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let (a, b): (Vec<f32>, Vec<f32>) = (0..n * n).map(|_| (random(), random())).unzip();
        let mut c = vec![0.0; n * n];
        let layout = Layout::row_major(n, n);
        let options = Options { backend: Backend::Cuda, ..Options::default() };
        let product = Product::<PlusTimes<f32>>::new(MatRef::new(&a, layout)?, MatRef::new(&b, layout)?)?
            .options(options);
        for call in 1..=CALLS {
            let start = Instant::now();
            let report = product.run(MatMut::new(&mut c, layout)?, None, &Update::Replace)?;
            let total = start.elapsed().as_secs_f64();
            let rest = total - report.prepare_seconds - report.transfer_seconds - report.seconds;
            let times = [total, report.prepare_seconds, report.transfer_seconds, report.seconds, rest];
            let [total, prepare, transfer, kernels, rest] =
                times.map(|seconds| format!("{:.3}", 1e3 * seconds));
            println!("{n:>6} {call:>6} {total:>10} {prepare:>10} {transfer:>10} {kernels:>10} {rest:>10}");
        }
    }
    Ok(())
}
