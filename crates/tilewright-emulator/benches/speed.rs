//! Warp instructions per second of one core: with all counters, and with races looked for. Time is that of the processor where Linux tells
//! it, so that other programs do not count.
//!
//! `cargo bench -p tilewright-emulator` prints a table; a name behind `--` chooses one kernel. Kernels are those of `speed.cu`, compiled by `nvcc -ptx -arch=compute_80 -lineinfo`.

use std::time::Instant;

use tilewright_emulator::tensor_map::{ElementType, Swizzle, TensorMap};
use tilewright_emulator::{Argument, BlockOrderPolicy, Launch, LaunchOptions, Machine, Program, Races};

/// Kernel, threads along x and y.
const KERNELS: &[(&str, [u32; 3])] = &[
    ("naive", [32, 8, 1]),
    ("coalesced", [32, 8, 1]),
    ("tile16", [16, 16, 1]),
    ("tile32", [32, 32, 1]),
    ("minplus32", [32, 32, 1]),
];

/// Seconds that this thread has had a core.
fn core_seconds(start: Instant) -> f64 {
    // The kernel brings the account up to date when the scheduler runs.
    std::thread::yield_now();
    let busy = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = busy.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

fn seconds(
    kernel: &str,
    block: [u32; 3],
    n: u32,
    races: Races,
) -> Result<(f64, u64), Box<dyn std::error::Error>> {
    let mut machine = Machine::new(Program::new(include_str!("speed.ptx"))?);
    let values: Vec<f32> = (0..n * n).map(|i| (i % 17) as f32).collect();
    let (a, b) = (machine.upload(&values)?, machine.upload(&values)?);
    let c = machine.allocate(4 * u64::from(n * n))?;
    let options = LaunchOptions { races, order: BlockOrderPolicy::Deterministic, ..LaunchOptions::default() };
    let grid = [n / block[0], n / block[1], 1];
    let launch = Launch::new(grid, block).arg(a).arg(b).arg(c).arg(n).options(options);
    let start = Instant::now();
    let mut best = f64::INFINITY;
    let mut instructions = 0;
    for _ in 0..3 {
        let before = core_seconds(start);
        let report = machine.launch(kernel, &launch)?;
        best = best.min(core_seconds(start) - before);
        assert!(report.is_clean(), "{:?}", report.findings);
        instructions = report.counters.warp_instructions;
    }
    Ok((best, instructions))
}

/// Seconds of a product of bf16 by TMA and `wgmma`, n x n x n, on all cores: its warps are specialised, and its stages a ring.
fn tensor_cores(n: u32, races: Races) -> Result<f64, Box<dyn std::error::Error>> {
    let mut machine = Machine::new(Program::new(include_str!("../tests/hopper/product.ptx"))?);
    let values: Vec<u16> = (0..n * n).map(|i| 0x3f80 + (i * 7919 % 128) as u16).collect();
    let (a, b) = (machine.upload(&values)?, machine.upload(&values)?);
    let c = machine.allocate(4 * u64::from(n * n))?;
    let extent = u64::from(n);
    let map = |element: ElementType, address: u64, boxes: [u32; 2], swizzle: Swizzle| {
        TensorMap::matrix(element, address, [extent; 2], extent * u64::from(element.bytes()), boxes, swizzle)
    };
    let mut launch = Launch::new([n / 128, n / 128, 1], [384, 1, 1]).dynamic_shared(3 * 32768 + 65536);
    for map in [
        map(ElementType::Bf16, a.address(), [64, 128], Swizzle::Bytes128),
        map(ElementType::Bf16, b.address(), [64, 128], Swizzle::Bytes128),
        map(ElementType::F32, c.address(), [32, 64], Swizzle::None),
    ] {
        launch = launch.arg(Argument::bytes(&map.encode()));
    }
    let launch = launch.arg(n).options(LaunchOptions { races, ..LaunchOptions::default() });
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        let report = machine.launch("product", &launch)?;
        best = best.min(start.elapsed().as_secs_f64());
        assert!(report.is_clean(), "{:?}", report.findings);
    }
    Ok(best)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = 256;
    println!(
        "{:10} {:>14} {:>12} {:>14} {:>12}   M warp instructions/s, one core, n = {n}",
        "kernel", "instructions", "counters", "shared races", "all races"
    );
    // Cargo adds `--bench`.
    let chosen = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    for &(kernel, block) in KERNELS.iter().filter(|row| chosen.as_ref().is_none_or(|name| name == row.0)) {
        let mut rates = Vec::new();
        let mut instructions = 0;
        for races in [Races::Ignore, Races::Shared, Races::All] {
            let (time, count) = seconds(kernel, block, n, races)?;
            instructions = count;
            rates.push(count as f64 / time / 1e6);
        }
        println!("{kernel:10} {instructions:>14} {:>12.1} {:>14.1} {:>12.1}", rates[0], rates[1], rates[2]);
    }
    if chosen.is_none_or(|name| name == "wgmma") {
        let [counters, checks] = [Races::Ignore, Races::All].map(|races| tensor_cores(n, races));
        println!(
            "wgmma, bf16, all cores: {:.3} s with counters, {:.3} s with all checks",
            counters?, checks?
        );
    }
    Ok(())
}
