//! The closure under or-and: which vertices can be reached, on bits.

use crate::{
    isa::for_each_isa,
    options::{check_cancelled, tell},
    semiring::PathSemiring,
};
use tilewright_core::{Error, MatMut};
use tilewright_cpu::{Isa, Options};

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// Makes `d[i,j]` true where a path leads from `i` to `j`, one without an edge included: Warshall's loop, 64 vertices to a word.
pub(crate) fn close(mut d: MatMut<'_, bool>, options: &Options<'_>) -> Result<(), Error> {
    let (n, isa) = (d.rows(), Isa::choose(options.isa)?);
    let words = n.div_ceil(BITS);
    let mut rows = vec![0_u64; n * words];
    for i in 0..n {
        for j in 0..n {
            rows[i * words + j / BITS] |= u64::from(d[(i, j)] || i == j) << (j % BITS);
        }
    }
    let mut through = vec![0_u64; words];
    for k in 0..n {
        check_cancelled(options)?;
        through.copy_from_slice(&rows[k * words..][..words]);
        pass_on::<tilewright_core::OrAnd>(&mut rows, &through, k, isa);
        tell(options, n as f64 * n as f64);
    }
    d.fill_with(|i, j| rows[i * words + j / BITS] >> (j % BITS) & 1 == 1);
    Ok(())
}

for_each_isa! {
    /// Whatever reaches `k` reaches what is `through` it.
    fn pass_on<S>(rows: &mut [u64], through: &[u64], k: usize) = join_rows
}

#[inline(always)]
#[allow(clippy::extra_unused_type_parameters)] // The semiring is that of all loops of this kind.
fn join_rows<S: PathSemiring>(rows: &mut [u64], through: &[u64], k: usize) {
    for row in rows.chunks_exact_mut(through.len().max(1)) {
        if row[k / BITS] >> (k % BITS) & 1 == 1 {
            for (word, &more) in row.iter_mut().zip(through) {
                *word |= more;
            }
        }
    }
}
