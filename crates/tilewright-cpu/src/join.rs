//! Joins sums of some terms with those of others: ⊕ on finished sums, without an instruction set.

use crate::{lanes::Lanes, op::Op};

/// Joins finished sums of further terms with those of earlier ones. Of equal sums the earlier one wins.
pub type JoinFn<A> = fn(Told<&mut [A], &mut [u32]>, Told<&[A], &[u32]>);

/// Sums, and the terms that won: none, where the kernel does not tell.
pub struct Told<A, W> {
    pub sums: A,
    pub winners: W,
}

/// As [`JoinFn`], on vectors that need no instruction set.
pub fn join<V: Lanes<T: PartialEq>, O: Op<V>>(
    to: Told<&mut [V::T], &mut [u32]>,
    more: Told<&[V::T], &[u32]>,
) {
    const LEN: usize = 8;
    const { assert!(V::LEN == LEN) };
    let mut chunks = to.winners.chunks_mut(LEN).zip(more.winners.chunks(LEN));
    for (sums, more) in to.sums.chunks_mut(LEN).zip(more.sums.chunks(LEN)) {
        let [mut old, mut new] = [[sums[0]; LEN]; 2];
        old[..sums.len()].copy_from_slice(sums);
        new[..more.len()].copy_from_slice(more);
        // SAFETY: arrays are as long as vectors.
        unsafe { O::new().add(V::load(old.as_ptr()), V::load(new.as_ptr())).store(new.as_mut_ptr()) }
        sums.copy_from_slice(&new[..sums.len()]);
        let Some((winners, more)) = chunks.next() else { continue };
        for (i, (winner, &other)) in winners.iter_mut().zip(more).enumerate() {
            if new[i] != old[i] {
                *winner = other;
            }
        }
    }
}
