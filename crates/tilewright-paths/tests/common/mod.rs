//! Random graphs, and the plain loop that everything is compared with.
#![allow(dead_code)]

pub mod exact;
pub mod tilted;

use tilewright_core::{Element, Extremes, Layout, Matrix, Value};
use tilewright_paths::PathSemiring;

/// Numbers that are the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def0)
    }
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    pub fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }
    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

pub fn weight<S: PathSemiring>(number: f64) -> S::Weight {
    S::Weight::from_value(Value::Float(number), Extremes::Absent).unwrap()
}

/// A graph of `n` vertices, each of whose edges is there with probability `density`.
pub fn graph<S: PathSemiring>(
    random: &mut Random,
    n: usize,
    density: f64,
    mut edge: impl FnMut(&mut Random, usize, usize) -> f64,
) -> Matrix<S::Weight> {
    Matrix::from_fn(n, n, |i, j| {
        let number = edge(random, i, j);
        if random.unit() < density { weight::<S>(number) } else { S::ZERO }
    })
    .unwrap()
}

/// Floyd and Warshall's loop, one term at a time; `None` if a cycle makes paths better.
pub fn plain<S: PathSemiring>(w: &Matrix<S::Weight>) -> Option<Matrix<S::Weight>> {
    let n = w.rows();
    let mut elements = Matrix::from_fn(n, n, |i, j| S::clean(w[(i, j)])).unwrap().into_vec();
    // Element (i, j) is `d[i * n + j]`: in a debug build the index of a matrix is a call, which would take most of the time.
    let d = elements.as_mut_slice();
    for i in 0..n {
        d[i * n + i] = S::add(S::ONE, d[i * n + i]);
    }
    for k in 0..n {
        if S::improves(d[k * n + k], S::ONE) {
            return None;
        }
        for i in 0..n {
            for j in 0..n {
                d[i * n + j] = S::mul_add(d[i * n + j], d[i * n + k], d[k * n + j]);
            }
        }
    }
    Some(Matrix::from_vec(elements, Layout::row_major(n, n)).unwrap())
}
