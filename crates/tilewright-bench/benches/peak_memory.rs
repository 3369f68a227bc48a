//! Peak memory of a large product, relative to its three matrices. The target is below 1.15.

use std::{env, fs, process::Command};
use tilewright::{
    Matrix, MinPlus, PlusTimes, Semiring, Update,
    cpu::{self, Options},
};
use tilewright_bench::Result;

const CHILD: &str = "--child";
const TARGET: f64 = 1.15;

/// Computes one product and says how much memory this process has ever held.
fn child<S: Semiring<Elem = f32, Out = f32>>(n: usize, threads: usize) -> Result<()> {
    let value = |i: usize, j: usize| ((i * 7 + j * 13) % 101) as f32 / 101.0 - 0.5;
    let a = Matrix::from_fn(n, n, value)?;
    let b = Matrix::from_fn(n, n, value)?;
    let mut c = Matrix::filled(n, n, 0.0)?;
    let options = Options { threads, ..Options::default() };
    cpu::multiply::<S>(c.as_mut(), a.as_ref(), b.as_ref(), &Update::Replace, &options)?;
    std::hint::black_box(c.as_slice());
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM: not Linux?")?;
    println!("{}", peak.trim().trim_end_matches("kB").trim());
    Ok(())
}

fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [first, semiring, n, threads] = &words[..]
        && first == CHILD
    {
        let (n, threads) = (n.parse()?, threads.parse()?);
        return match semiring.as_str() {
            "plus-times" => child::<PlusTimes<f32>>(n, threads),
            _ => child::<MinPlus<f32>>(n, threads),
        };
    }
    // Another size may be given: `cargo bench -p tilewright-bench --bench peak_memory -- 1024`.
    let n: usize = words.first().map_or(Ok(4096), |word| word.parse())?;
    let matrices = (3 * n * n * size_of::<f32>()) as f64;
    println!("f32 {n} x {n} x {n}, three matrices: {:.1} MiB\n", matrices / f64::from(1 << 20));
    println!("| semiring | threads | peak MiB | relative to the matrices | target below {TARGET} |");
    println!("|---|---:|---:|---:|---|");
    for semiring in ["plus-times", "min-plus"] {
        for threads in [1, 2] {
            let arguments = [CHILD, semiring, &n.to_string(), &threads.to_string()];
            let output = Command::new(env::current_exe()?).args(arguments).output()?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into());
            }
            let peak = String::from_utf8_lossy(&output.stdout).trim().parse::<f64>()? * 1024.0;
            let ratio = peak / matrices;
            let met = if ratio < TARGET { "met" } else { "missed" };
            println!("| {semiring} | {threads} | {:.1} | {ratio:.3} | {met} |", peak / f64::from(1 << 20));
        }
    }
    Ok(())
}
