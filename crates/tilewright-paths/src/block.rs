//! Closing a small block: Floyd and Warshall's loop, on the vectors of this processor.

use crate::{
    isa::for_each_isa,
    schedule::BLOCK,
    semiring::PathSemiring,
    thin::append,
    tile::{self, Line, WIDTH},
};
use tilewright_core::MatMut;
use tilewright_cpu::Isa;

/// Closes square `d` of at most [`BLOCK`] rows, whose elements are clean and whose diagonal is no worse than `ONE`.
///
/// # Errors
/// The first vertex through which a cycle gains; `d` is as it was then.
pub(crate) fn close<S: PathSemiring>(mut d: MatMut<'_, S::Weight>, isa: Isa) -> Result<(), usize> {
    let n = d.rows();
    assert!(n <= BLOCK && d.cols() == n, "a block is square and small");
    const { assert!(BLOCK <= WIDTH) };
    // What is beyond the block is absent.
    let mut rows = vec![[S::ZERO; WIDTH]; n];
    tile::load(d.as_ref(), &mut rows);
    close_rows::<S>(&mut rows, isa)?;
    tile::store(&rows, &mut d);
    Ok(())
}

for_each_isa! {
    fn close_rows<S>(rows: &mut [Line<S::Weight>]) -> Result<(), usize> = floyd_warshall
}

#[inline(always)]
fn floyd_warshall<S: PathSemiring>(rows: &mut [Line<S::Weight>]) -> Result<(), usize> {
    for k in 0..rows.len() {
        // Before the vertex takes part: later, weights would run away.
        if S::improves(rows[k][k], S::ONE) {
            return Err(k);
        }
        rows[k][k] = S::ONE;
        let through = rows[k];
        for row in rows.iter_mut() {
            let to = row[k];
            append::<S>(row, to, &through);
        }
    }
    Ok(())
}
