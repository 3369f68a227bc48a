//! What the kernels of the ladder were measured at, so that a report can say what its counts are worth.

use crate::model::Explanation;
use serde::Serialize;

/// The table of BENCHMARKS.md, "GPU: the ladder": a line for each kernel.
const LADDER: &str = include_str!("../data/ladder_h200.csv");

/// The rate of a kernel on a real GPU: plus-times on f32, `n` x `n` x `n`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Floating-point operations per second.
    pub flop_per_second: f64,
    /// The GPU.
    pub gpu: &'static str,
    /// M, N and K.
    pub n: u32,
}

/// The measured rate of a kernel of the ladder, or of `cuBLAS` beside it; `None` for others.
pub fn measured(kernel: &str) -> Option<Measured> {
    measured_ladder().find(|&(name, _)| name == kernel).map(|(_, gflop)| Measured {
        flop_per_second: gflop * 1e9,
        gpu: "H200",
        n: 4096,
    })
}

/// Names and GFLOP/s, from the slowest kernel to the library.
pub fn measured_ladder() -> impl Iterator<Item = (&'static str, f64)> {
    LADDER.lines().skip(1).filter_map(|row| {
        let mut cells = row.split(',');
        Some((cells.next()?, cells.next()?.parse().ok()?))
    })
}

/// The measured rate of what was explained, if it is the program that was measured.
pub fn measured_of(e: &Explanation) -> Option<Measured> {
    let is_measured = e.notes.iter().any(|note| note.starts_with("plus-times on f32"));
    if is_measured { measured(&e.kernel) } else { None }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_benchmarks() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../BENCHMARKS.md");
        let text = std::fs::read_to_string(path).unwrap();
        let section = text.split("## GPU: the ladder").nth(1).unwrap().split("\n## ").next().unwrap();
        let mut count = 0;
        for row in section.lines().filter(|line| line.starts_with("| ")).skip(1) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let published: f64 = cells[2].replace(',', "").parse().unwrap();
            assert_eq!(measured(cells[1]).unwrap().flop_per_second, published * 1e9, "{}", cells[1]);
            count += 1;
        }
        assert_eq!(count, measured_ladder().count());
    }
}
