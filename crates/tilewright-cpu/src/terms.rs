//! Sums that are split along k: where C is small, threads share the terms.
//!
//! Each part of the terms has sums of its own, which are joined in the order of the terms. The shape alone decides how many parts there are
//! ([`choice::parts_of_terms`]), so that the result has the same bits on any number of threads.

use crate::{
    blocking::{cut, regions},
    choice,
    driver::next_product,
    job::{Job, Target},
    lanes::Lanes,
    op::Op,
    share::share_with_help,
    shared::Shared,
    tile::Start,
    workspace::Workspace,
};
use core::slice::from_raw_parts_mut;
use tilewright_core::{Error, Layout, NO_ARG};

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
    const LONGEST: usize = 8;
    const { assert!(V::LEN == LONGEST) };
    let mut chunks = to.winners.chunks_mut(LONGEST).zip(more.winners.chunks(LONGEST));
    for (sums, more) in to.sums.chunks_mut(LONGEST).zip(more.sums.chunks(LONGEST)) {
        let [mut old, mut new] = [[sums[0]; LONGEST]; 2];
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

impl<E: Copy + Sync, P: Copy, A: Copy + Send> Job<'_, E, P, A> {
    /// Computes the product by so many parts of the terms, and returns the number of threads that took part.
    pub fn by_parts_of_terms(&self, parts: usize, join: JoinFn<A>, threads: usize) -> Result<usize, Error> {
        let (m, n, k) = (self.a.rows(), self.b.cols(), self.a.cols());
        let (area, tells) = (m * n, self.kernel.arg.is_some());
        // Sums of the first terms lie in C, if it can hold them.
        let in_c = usize::from(matches!(self.target, Target::InPlace { .. }));
        let buffers = parts - in_c;
        Workspace::with(|workspace| {
            let bytes_of_winners = if tells { size_of::<u32>() } else { 0 };
            let bytes = [buffers * area * size_of::<A>(), buffers * area * bytes_of_winners];
            let [sums, winners] = workspace.reserve_anew(bytes, align_of::<A>().max(align_of::<u32>()))?;
            let (sums, winners) = (sums.cast::<A>(), winners.cast::<u32>());
            let layout = Layout::row_major(m, n);
            let jobs = cut(0..k, parts, 1).enumerate().map(|(i, terms)| {
                let target = match i.checked_sub(in_c) {
                    None => self.target,
                    // SAFETY: there are so many buffers, and each is one part's.
                    Some(i) => unsafe {
                        let arg = tells.then(|| Shared::of(winners.add(i * area), layout));
                        Target::InPlace { c: sums.add(i * area), layout, start: Start::Zero, arg }
                    },
                };
                let a = self.a.window(0, terms.start, m, terms.len())?;
                let b = self.b.window(terms.start, 0, terms.len(), n)?;
                Ok((next_product(), Job { a, b, target, ..*self }))
            });
            let jobs = jobs.collect::<Result<Vec<_>, Error>>()?;
            let [a, b] = [jobs[0].1.a.layout(), jobs[0].1.b.layout()];
            let counts = choice::regions(self.kernel, a, b, threads.div_ceil(parts));
            let regions = regions((m, n), counts, self.kernel.tile());
            let items: Vec<_> =
                jobs.iter().flat_map(|job| regions.iter().map(move |region| (job, region))).collect();
            share_with_help(&items, threads, &|((product, job), (rows, cols)), help| {
                job.rows(*product, rows.clone(), cols.clone(), help)
            })?;
            self.options.check_cancelled()?;
            // SAFETY: all parts have been computed, and nobody else uses their buffers.
            unsafe {
                let told = |i: usize, area| Told {
                    sums: from_raw_parts_mut(sums.add(i * area), area),
                    winners: from_raw_parts_mut(winners.add(i * area), if tells { area } else { 0 }),
                };
                for (i, terms) in cut(0..k, parts, 1).skip(in_c).enumerate() {
                    let more = told(i, area);
                    for winner in more.winners.iter_mut().filter(|winner| **winner != NO_ARG) {
                        *winner += terms.start as u32;
                    }
                    if i > 0 {
                        join(told(0, area), Told { sums: more.sums, winners: more.winners });
                    }
                }
                self.finish_parts(join, &told(0, area));
            }
            Ok(threads.min(items.len()))
        })
    }

    /// Joins the sums in C with these, of all later terms; or gives these, of all terms, to what stores them.
    ///
    /// # Safety
    /// C must have been written, and nobody else may use it.
    unsafe fn finish_parts(&self, join: JoinFn<A>, later: &Told<&mut [A], &mut [u32]>) {
        let (m, n, tells) = (self.a.rows(), self.b.cols(), self.kernel.arg.is_some());
        let (mut sums, mut winners) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for i in 0..m {
            let row = i * n..(i + 1) * n;
            let later = Told {
                sums: &later.sums[row.clone()],
                winners: if tells { &later.winners[row] } else { &[] },
            };
            let (c, layout, arg) = match self.target {
                Target::Through(store) => {
                    store(i, 0, later.sums, later.winners);
                    continue;
                }
                Target::InPlace { c, layout, arg, .. } => (c, layout, arg),
            };
            // SAFETY: the row lies inside C, and nobody else uses it.
            unsafe {
                sums.clear();
                sums.extend((0..n).map(|j| c.offset(layout.offset(i, j)).read()));
                winners.clear();
                winners.extend(arg.iter().flat_map(|arg| (0..n).map(move |j| arg.get(i, j))));
                join(Told { sums: &mut sums, winners: &mut winners }, later);
                (0..n).for_each(|j| c.offset(layout.offset(i, j)).write(sums[j]));
                arg.iter().for_each(|arg| (0..n).for_each(|j| arg.set(i, j, winners[j])));
            }
        }
    }
}
