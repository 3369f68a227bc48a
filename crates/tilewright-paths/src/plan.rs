//! Which way to the best paths takes less time: pure functions of the size of a graph.

use crate::{device::Device, semiring::PathSemiring};
use core::{fmt, str::FromStr};
use tilewright_core::{DType, Element, Error, ErrorKind};
use tilewright_cpu::Isa;

/// A way to the best paths between all pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The one that takes less time by [`Plan`]'s estimates.
    #[default]
    Auto,
    /// The closure of the dense matrix: `n^3` terms, whatever the edges.
    Dense,
    /// A search from every vertex (Dijkstra; with Johnson's potentials where edges make paths better).
    Dijkstra,
}

impl Method {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Auto, Self::Dense, Self::Dijkstra];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Dense => "dense",
            Self::Dijkstra => "dijkstra",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|method| method.name() == text).ok_or_else(|| {
            let what = format!("method '{text}'");
            ErrorKind::Unsupported { what, why: String::new(), hint: "one of auto, dense, dijkstra".into() }
                .into()
        })
    }
}

/// What either way would take.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// Vertices.
    pub vertices: usize,
    /// Edges.
    pub edges: usize,
    /// The way that is taken: never [`Method::Auto`].
    pub method: Method,
    /// Seconds of the closure, if all terms are needed; on a device, where one is given.
    pub dense_seconds: f64,
    /// Seconds of a search from every vertex.
    pub dijkstra_seconds: f64,
    /// Bytes of the result, and of what is taken beside it and the graph.
    pub bytes: u64,
    /// The work in all, of which [`Options::progress`](tilewright_cpu::Options::progress) tells parts.
    pub work: f64,
}

/// Bytes of terms a second that one core computes, all of them (an EPYC of 2022 at about 3 GHz): measured.
const DENSE: &[(Isa, f64)] =
    &[(Isa::Avx512, 120e9), (Isa::Avx2, 90e9), (Isa::Neon, 60e9), (Isa::Portable, 20e9)];
/// Pairs of bits a second under or-and.
const BITS: f64 = 400e9;
/// Seconds that a search takes for a vertex, for each halving of their number, and for an edge: measured.
const SEARCH: (f64, f64) = (3.5e-9, 5.0e-9);

/// Estimates for `vertices` and `edges` and `threads`.
pub(crate) fn plan<S: PathSemiring>(
    vertices: usize,
    edges: usize,
    asked: Method,
    threads: usize,
    isa: Isa,
    device: Option<&dyn Device>,
) -> Plan {
    let (n, m, threads) = (vertices as f64, edges as f64, threads.max(1) as f64);
    let size = size_of::<S::Weight>();
    let rate = DENSE.iter().find(|(known, _)| *known == isa).map_or(20e9, |(_, rate)| rate / size as f64);
    let is_bits = S::Weight::DTYPE == DType::Bool;
    let dense_seconds = match device {
        Some(device) => device.seconds(vertices, S::Weight::DTYPE),
        None if is_bits => n.powi(3) / BITS,
        None => n.powi(3) / rate / threads,
    };
    let dijkstra_seconds = n * (n * n.max(2.0).log2() * SEARCH.0 + m * SEARCH.1) / threads;
    let method = match asked {
        Method::Auto if dense_seconds <= dijkstra_seconds => Method::Dense,
        Method::Auto => Method::Dijkstra,
        asked => asked,
    };
    let square = vertices.saturating_mul(vertices);
    let beside = match method {
        Method::Dijkstra => 0,
        _ if device.is_some() => 0,
        _ if is_bits => square / 8,
        _ => crate::closure::bytes_beside(vertices, size),
    };
    let work = if method == Method::Dijkstra { n * (n + m) } else { n.powi(3) };
    let bytes = square.saturating_mul(size).saturating_add(beside) as u64;
    Plan { vertices, edges, method, dense_seconds, dijkstra_seconds, bytes, work }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::MinPlus;

    #[test]
    fn few_edges_are_searched_and_many_are_multiplied() {
        let plan = |n, m, asked| plan::<MinPlus<f32>>(n, m, asked, 1, Isa::Avx512, None);
        assert_eq!(plan(10_000, 30_000, Method::Auto).method, Method::Dijkstra);
        assert_eq!(plan(2000, 2000 * 2000, Method::Auto).method, Method::Dense);
        assert_eq!(plan(10_000, 30_000, Method::Dense).method, Method::Dense);
        assert_eq!(plan(0, 0, Method::Auto).work, 0.0);
        let large = plan(65_536, 65_536 * 1000, Method::Dense);
        assert!(large.bytes < (16 << 30) * 9 / 8, "{}", large.bytes);
    }
}
