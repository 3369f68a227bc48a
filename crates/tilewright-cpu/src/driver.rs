//! The outer loops: threads, blocks of columns and terms, and where sums go.

use crate::{
    block::{Block, Buffers, Edges, Window},
    blocking::{self, Blocking, PANEL, part, parts},
    choice::{self, Choice, Sums},
    job::{Job, Store, Target},
    narrow::Code,
    share::{Help, share_with_help},
    shared::Shared,
    tile::{Finish, Start},
    workspace::{PackedB, Workspace},
};
use core::{
    ops::Range,
    slice::from_raw_parts,
    sync::atomic::{AtomicU64, Ordering},
};
use tilewright_core::{Error, Layout};

/// Products so far, in all threads.
static PRODUCTS: AtomicU64 = AtomicU64::new(0);

/// A number that no other product has.
pub fn next_product() -> u64 {
    PRODUCTS.fetch_add(1, Ordering::Relaxed)
}

impl<E: Copy + Sync, P: Copy, A: Copy + Send> Job<'_, E, P, A> {
    /// Computes the product and returns the number of threads that took part.
    pub fn run(&self) -> Result<usize, Error> {
        let (m, n, k) = (self.a.rows(), self.b.cols(), self.a.cols());
        if m == 0 || n == 0 {
            return Ok(0);
        }
        let threads = self.options.threads_for(self.kernel.work(m as f64 * n as f64 * k as f64));
        let parts = choice::parts_of_terms((m, n, k));
        if let Some(join) = self.kernel.join.filter(|_| parts > 1) {
            return self.by_parts_of_terms(parts, join, threads);
        }
        if threads == 1 {
            let product = next_product();
            self.rows(product, 0..m, 0..n, &Help::default())?;
            return Ok(1);
        }
        let counts = choice::regions(self.kernel, self.a.layout(), self.b.layout(), threads);
        let regions = blocking::regions((m, n), counts, self.kernel.tile());
        let product = next_product();
        share_with_help(&regions, threads, &|(rows, cols), help| {
            self.rows(product, rows.clone(), cols.clone(), help)
        })?;
        Ok(threads.min(regions.len()))
    }

    /// Computes a region of C on this thread, as many rows at a time as there is memory for.
    pub fn rows(
        &self,
        product: u64,
        rows: Range<usize>,
        cols: Range<usize>,
        help: &Help,
    ) -> Result<(), Error> {
        Workspace::with(|workspace| {
            parts(rows, choice::rows_at_a_time(self.kernel, self.sums()))
                .try_for_each(|rows| self.region(workspace, product, rows, cols.clone(), help))
        })
    }

    /// Where partial sums are kept.
    fn sums(&self) -> Sums {
        match self.target {
            Target::InPlace { .. } => Sums::InC,
            Target::Through(_) => Sums::Buffered,
        }
    }

    /// Computes the part `rows` x `cols` of C on this thread. B is packed once for all rows, if it is one block.
    fn region(
        &self,
        workspace: &mut Workspace,
        product: u64,
        rows: Range<usize>,
        cols: Range<usize>,
        help: &Help,
    ) -> Result<(), Error> {
        let (kernel, k) = (self.kernel, self.a.cols());
        let size = (rows.len(), cols.len());
        let choice = choice::choose(kernel, self.a.layout(), self.b.layout(), size, self.sums());
        let Choice { tiles, pack_a, pack_b, copying, ahead, block: Blocking { kc, nc } } = choice;
        let (mr, nr) = (tiles.heights.tall, tiles.vectors() * kernel.lanes);
        let sums = if self.sums() == Sums::Buffered { rows.len().saturating_mul(nc) } else { 0 };
        let winners = if kernel.arg.is_some() { sums } else { 0 };
        // Usually all terms of some columns follow each other. But packed rows of A meet all columns before they make
        // room for the next terms, if C itself holds partial sums; and then all rows are packed at once.
        let (across, deep) = (cols.len().div_ceil(nc), k.div_ceil(kc).max(1));
        let along = pack_a && matches!(self.target, Target::InPlace { .. });
        let meets_several = across > 1 && (along || deep == 1);
        let panel = if meets_several { rows.len().div_ceil(mr) } else { PANEL };
        let packed = kernel.groups.elements(kc) * size_of::<P>();
        // In whole groups, where the winner is asked for.
        let line =
            kernel.arg.as_ref().map_or(0, |winners| kc.next_multiple_of(winners.group) * size_of::<P>());
        let bytes = [
            (packed + line) * if pack_b { nc } else { nr },
            if pack_a { (panel * mr).min(rows.len()) * packed.max(line) } else { 0 },
            mr * nr * size_of::<A>(),
            mr * nr * size_of::<A>(),
            sums.saturating_mul(size_of::<A>()),
            winners.saturating_mul(size_of::<u32>()),
        ];
        let align = align_of::<P>().max(align_of::<A>());
        let [b, a, edge, seen, sums, winners] = workspace.reserve(bytes, align)?;
        let one_block = pack_b && cols.len() <= nc && k <= kc;
        let whole = one_block.then(|| PackedB { product, cols: cols.clone(), width: nr });
        let held = workspace.holds.take();
        let has_b = one_block && held == whole;
        let copying = copying.filter(|_| !has_b);
        let (sums, winners) = (sums.cast::<A>(), winners.cast::<u32>());
        let edges = Edges { edge: edge.cast::<A>(), seen: seen.cast::<A>() };
        let buffers = Buffers { a: a.cast::<P>(), b: b.cast::<P>(), edges };
        let mut packed_terms = None;
        for i in 0..across * deep {
            self.options.check_cancelled()?;
            let (jc, pc) = if along { (i % across, i / across) } else { (i / deep, i % deep) };
            let (jc, pc) = (part(&cols, nc, jc), part(&(0..k), kc, pc));
            let buffer = Layout::row_major(rows.len(), nc);
            let buffered = Window { origin: winners, layout: buffer, row: rows.start, col: jc.start };
            let (c, winners, start) = match self.target {
                Target::InPlace { c, layout, start, arg } => {
                    let of_arg = |arg: Shared<u32>| Window::of(arg.first(), arg.layout());
                    (Window::of(c, layout), arg.map_or(buffered, of_arg), start)
                }
                Target::Through(_) => {
                    let Window { layout, row, col, .. } = buffered;
                    (Window { origin: sums, layout, row, col }, buffered, Start::Zero)
                }
            };
            let block = Block {
                job: self,
                tiles,
                rows: rows.clone(),
                cols: jc.clone(),
                terms: pc.clone(),
                pack_a,
                pack_b,
                panel,
                has_a: meets_several && packed_terms.as_ref() == Some(&pc),
                has_b,
                copying,
                ahead,
                start: if pc.start > 0 { Start::Partial } else { start },
                finish: if pc.end == k { Finish::Complete } else { Finish::Partial },
                code: Code::sum(kernel.codes),
                c,
                winners,
                buffers,
            };
            // SAFETY: all ranges lie inside the operands and C, and the buffers were sized for them.
            unsafe { block.compute(help) };
            if let Some(progress) = self.options.progress {
                progress((rows.len() * jc.len() * pc.len()) as u64);
            }
            if let Target::Through(store) = self.target
                && pc.end == k
            {
                // SAFETY: the blocks have written these sums and winners.
                unsafe { self.hand_over(store, &rows, &jc, nc, sums, buffered.origin) };
            }
            packed_terms = Some(pc);
        }
        workspace.holds = whole;
        Ok(())
    }

    /// Gives the sums of some rows and columns, and the winners if the kernel tells, to `store`. In both buffers, rows are
    /// `stride` elements apart.
    ///
    /// # Safety
    /// They must have been written.
    pub unsafe fn hand_over(
        &self,
        store: &Store<'_, A>,
        rows: &Range<usize>,
        cols: &Range<usize>,
        stride: usize,
        sums: *const A,
        winners: *const u32,
    ) {
        let told = self.kernel.arg.is_some();
        for i in rows.clone() {
            let first = (i - rows.start) * stride;
            // SAFETY: as the caller guarantees; of winners that are not told there is none.
            unsafe {
                let sums = from_raw_parts(sums.add(first), cols.len());
                let winners = if told { from_raw_parts(winners.add(first), cols.len()) } else { &[] };
                store(i, cols.start, sums, winners);
            }
        }
    }
}
