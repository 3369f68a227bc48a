//! Sums that are split along k: where C is small, threads share the terms.
//!
//! Each part of the terms has sums of its own, which are joined in the order of the terms. The shape alone decides how many parts there are
//! ([`crate::choice::parts_of_terms`]), so that the result has the same bits on any number of threads.

use crate::{
    blocking::cut,
    driver::next_product,
    job::{Job, Target},
    join::{JoinFn, Told},
    share::share_with_help,
    shared::Shared,
    tile::Start,
    workspace::Workspace,
};
use core::slice::from_raw_parts_mut;
use tilewright_core::{Error, Layout, NO_ARG};

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
            // A part is not cut into regions: blocks of terms, and with them rounding, depend on their size.
            share_with_help(&jobs, threads, &|(product, job), help| job.rows(*product, 0..m, 0..n, help))?;
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
            Ok(threads.min(parts))
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
