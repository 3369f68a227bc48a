//! The steps of the closure of a matrix, as data: the same on every backend, so that every backend gives the same bits.
//!
//! R-Kleene (D'Alberto and Nicolau, "R-Kleene: a high-performance divide-and-conquer algorithm for the all-pair shortest path for densely
//! connected networks", 2007): the first half of the vertices is closed and passed on to the second half, which is closed and passed on to the first.
//! Three quarters of all terms are in products whose k is half of n, three quarters of the rest in those whose k is a quarter, and so on.

use core::ops::Range;

/// Vertices of a diagonal block that is closed by itself.
pub const BLOCK: usize = 64;

/// A step of the closure of `D`. Ranges are of rows and columns, and never overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `D[p,p]` is closed: by Floyd and Warshall's loop where it has at most [`BLOCK`] rows, otherwise by the steps of a closure of its own.
    Close {
        /// The rows and columns.
        pivot: Range<usize>,
    },
    /// `D[p,r] = D[p,p] ⊗ D[p,r]`, then `D[r,p] = D[r,p] ⊗ D[p,p]` and `D[r,r] = D[r,r] ⊕ D[r,p] ⊗ D[p,r]`, where `D[p,p]` is closed.
    Pass {
        /// The rows and columns of what is closed.
        pivot: Range<usize>,
        /// Those that learn of it.
        others: Range<usize>,
    },
}

impl Step {
    /// Terms (`m n k`) of the step.
    pub fn terms(&self) -> f64 {
        match self {
            Self::Close { pivot } => (pivot.len() as f64).powi(3),
            Self::Pass { pivot, others } => {
                let (p, r) = (pivot.len() as f64, others.len() as f64);
                2.0 * p * p * r + p * r * r
            }
        }
    }
}

/// The steps that close a matrix of `n` rows and columns, in order.
pub fn steps(n: usize) -> Vec<Step> {
    steps_of_blocks(n, BLOCK)
}

/// The same for a device that closes blocks of up to so many rows by itself.
pub fn steps_of_blocks(n: usize, largest: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    close(0..n, largest, &mut steps);
    steps
}

fn close(range: Range<usize>, largest: usize, steps: &mut Vec<Step>) {
    if range.is_empty() {
        return;
    }
    if range.len() <= largest.max(BLOCK) {
        return steps.push(Step::Close { pivot: range });
    }
    // Whole blocks in the first half.
    let middle = range.start + (range.len() / 2).next_multiple_of(BLOCK);
    let halves = [range.start..middle, middle..range.end];
    for (pivot, others) in [(&halves[0], &halves[1]), (&halves[1], &halves[0])] {
        close(pivot.clone(), largest, steps);
        steps.push(Step::Pass { pivot: pivot.clone(), others: others.clone() });
    }
}

/// A step on the way to a power of `B`; `P` is the power so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// `P = B`, the first time.
    Begin,
    /// `P = P ⊗ B`.
    Append,
    /// `B = B ⊗ B`.
    Square,
}

/// The steps after which `P` is the product of `exponent` of `B`; none for 0.
pub fn power(exponent: u32) -> Vec<Power> {
    let mut steps = Vec::new();
    for bit in 0..u32::BITS - exponent.leading_zeros() {
        if bit > 0 {
            steps.push(Power::Square);
        }
        if exponent >> bit & 1 == 1 {
            steps.push(if exponent.trailing_zeros() == bit { Power::Begin } else { Power::Append });
        }
    }
    steps
}

/// Products among the steps of a power.
pub(crate) fn products(exponent: u32) -> usize {
    power(exponent).into_iter().filter(|&step| step != Power::Begin).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closure_has_as_many_terms_as_floyd_and_warshall() {
        for n in [0, 1, 63, 64, 65, 128, 200, 1000, 1024] {
            assert_eq!(steps(n).iter().map(Step::terms).sum::<f64>(), (n as f64).powi(3), "{n}");
        }
    }

    #[test]
    fn powers_are_made_of_few_products() {
        for exponent in 0..200 {
            let (mut b, mut p) = (1, 0);
            for step in power(exponent) {
                match step {
                    Power::Begin => p = b,
                    Power::Append => p += b,
                    Power::Square => b += b,
                }
            }
            assert_eq!(p, exponent);
        }
        assert_eq!([0, 1, 2, 3, 4, 7, 8].map(products), [0, 0, 1, 2, 2, 4, 3]);
    }

    #[test]
    fn most_terms_are_in_the_largest_products() {
        let (n, steps) = (1024.0_f64, steps(1024));
        let largest = [0..512, 512..1024];
        let in_largest = |step: &&Step| matches!(step, Step::Pass { pivot, .. } if largest.contains(pivot));
        let terms: f64 = steps.iter().filter(in_largest).map(Step::terms).sum();
        assert_eq!(terms, 0.75 * n.powi(3));
        let in_blocks = |step: &&Step| matches!(step, Step::Close { .. });
        let terms: f64 = steps.iter().filter(in_blocks).map(Step::terms).sum();
        assert!(terms < 0.004 * n.powi(3), "{terms}");
    }
}
