//! Whether routes weigh what is told of them.

use crate::{
    length::Measure,
    semiring::{PathSemiring, number},
    tree::NO_PREDECESSOR,
};

/// Room that is used again for every source.
pub(crate) struct Scales<W> {
    /// The weight of the route to each vertex, multiplied from left to right, and the sum of its magnitudes.
    sums: Vec<Option<(W, f64)>>,
    way: Vec<u32>,
}

impl<W: Copy> Scales<W> {
    pub fn new(n: usize) -> Self {
        Self { sums: vec![None; n], way: Vec::new() }
    }

    /// Whether the routes from `source` that `before` tells end there, and weigh what `d` says, within the bound of [`Measure::agrees`]. `last` holds the weight of the last
    /// edge of each.
    pub fn agree<S: PathSemiring<Weight = W>>(
        &mut self,
        measure: &Measure,
        source: usize,
        d: &[W],
        before: &[u32],
        last: &[W],
    ) -> bool {
        let Self { sums, way } = self;
        sums.fill(None);
        sums[source] = Some((S::ONE, 0.0));
        for to in 0..d.len() {
            if S::is_absent(d[to]) {
                continue;
            }
            // Back to a vertex whose route is weighed, and forth again.
            let mut at = to;
            way.clear();
            let (mut sum, mut magnitudes) = loop {
                if let Some(weighed) = sums[at] {
                    break weighed;
                }
                way.push(at as u32);
                if before[at] == NO_PREDECESSOR || way.len() > d.len() {
                    return false;
                }
                at = before[at] as usize;
            };
            while let Some(at) = way.pop() {
                let at = at as usize;
                sum = S::times(sum, last[at]);
                magnitudes += number::<S>(last[at]).abs();
                if !measure.agrees::<S>(sum, d[at], magnitudes) {
                    return false;
                }
                sums[at] = Some((sum, magnitudes));
            }
        }
        true
    }
}
