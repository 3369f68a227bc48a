//! What a product will do, without its elements.

use crate::{
    blocking::{Blocking, cut},
    choice::{self, Choice, Sums},
    isa::Isa,
    kernel::{Kernel, element, name},
    options::{KernelName, Options},
};
use tilewright_core::{Layout, Problem, Semiring, Update};

/// How [`crate::multiply`] will compute a product.
///
/// Blocks and packing are those of the first region. Others are a tile narrower or lower at most, and may be packed otherwise where that crosses a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// The micro-kernel, with its register tile.
    pub kernel: KernelName,
    /// Threads that will take part; 0 for an empty result.
    pub threads: usize,
    /// Regions of C down and across, which the threads take one after another.
    pub regions: (usize, usize),
    /// Parts of the terms, which threads take as they take regions; more than one where C is small.
    pub parts_of_terms: usize,
    /// Terms of a block.
    pub block_terms: usize,
    /// Columns of a block: `block_terms x block_columns` elements of B stay in the second-level cache.
    pub block_columns: usize,
    /// Whether A is copied into the order that tiles read, or read in place.
    pub packs_a: bool,
    /// The same for B.
    pub packs_b: bool,
    /// Where partial sums are kept.
    pub sums: Sums,
    /// Whether another kernel computes the product in 16 bits if its elements, integers, turn out to lie close
    /// together. [`crate::Report::kernel`] tells.
    pub narrows: bool,
    /// Whether another kernel computes it by few of its terms if a look at some elements tells that these are enough.
    /// [`crate::Report::kernel`] tells.
    pub prunes: bool,
}

/// A product without its elements; the counterpart of [`crate::compute::Call`].
pub struct Outline<'a, S: Semiring> {
    pub problem: Problem,
    pub update: &'a Update<S>,
    pub arg: bool,
    pub options: &'a Options<'a>,
    pub isa: Isa,
}

impl<S: Semiring> Outline<'_, S> {
    /// See [`crate::compute::Call`].
    pub fn along_rows(self) -> Self {
        let p = &self.problem;
        if !is_better_transposed::<S>(p.c()) {
            return self;
        }
        // The transposed product of layouts that fit together fits together.
        let problem = Problem::new(p.b().t(), p.a().t(), p.c().t()).unwrap_or(*p);
        Self { problem, ..self }
    }

    /// With this kernel.
    pub fn with<P, A>(&self, kernel: &Kernel<S::Elem, P, A>, sums: Sums, isa: Isa) -> Plan {
        let (mut a, mut b) = (self.problem.a(), self.problem.b());
        let (m, n, tile) = (a.rows, b.cols, kernel.tile());
        let threads = self.options.threads_for(kernel.work(self.problem.pair_ops()));
        let parts = kernel.join.map_or(1, |_| choice::parts_of_terms((m, n, a.cols)));
        (a.cols, b.rows) = (a.cols / parts, b.rows / parts);
        let of_part = if parts > 1 { 1 } else { threads };
        let (down, across) = if m == 0 || n == 0 { (0, 0) } else { choice::regions(kernel, a, b, of_part) };
        let lengths = |length, count, unit| -> Vec<usize> {
            cut(0..length, count, unit).map(|part| part.len()).filter(|&len| len > 0).collect()
        };
        let (rows, cols) = (lengths(m, down, tile.0), lengths(n, across, tile.1));
        let regions = (rows.len(), cols.len());
        let first = |lengths: &[usize]| lengths.first().copied().unwrap_or(0);
        let (rows, cols) = (first(&rows), first(&cols));
        let Choice { pack_a, pack_b, block: Blocking { kc, nc }, .. } =
            choice::choose(kernel, a, b, (rows, cols), sums);
        Plan {
            kernel: name::<S, P, A>(kernel, isa),
            threads: threads.min(regions.0 * regions.1 * parts),
            regions,
            parts_of_terms: parts,
            block_terms: kc.min(a.cols),
            block_columns: nc.min(cols),
            packs_a: pack_a,
            packs_b: pack_b,
            sums,
            narrows: false,
            prunes: false,
        }
    }

    /// An arg result by the definition.
    pub fn winners_one_by_one(&self) -> Plan {
        let (m, n, k) = (self.problem.m(), self.problem.n(), self.problem.k());
        let threads = threads_one_by_one(self.options, m, n, k);
        Plan {
            kernel: name_one_by_one::<S>(),
            threads,
            regions: (threads, 1),
            parts_of_terms: 1,
            block_terms: k,
            block_columns: n,
            packs_a: false,
            packs_b: false,
            sums: Sums::InC,
            narrows: false,
            prunes: false,
        }
    }
}

/// Whether C lies along its columns, and the semiring allows `C^T = B^T A^T`.
pub fn is_better_transposed<S: Semiring>(c: Layout) -> bool {
    c.row_stride == 1 && c.col_stride != 1 && S::laws().commutative_mul
}

/// How much longer a term takes one by one than on vectors, roughly.
const SLOWER: f64 = 30.0;

/// Threads for an arg result by the definition, each with rows of its own.
pub fn threads_one_by_one(options: &Options<'_>, m: usize, n: usize, k: usize) -> usize {
    options.threads_for(m as f64 * n as f64 * k as f64 * SLOWER).min(m.max(1))
}

/// The name of what computes an arg result by the definition.
pub fn name_one_by_one<S: Semiring>() -> KernelName {
    let (isa, tile) = (Isa::Portable, (1, 1));
    KernelName { arg: true, ..KernelName::new(S::NAME, element::<S>(), isa, tile) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{multiply, multiply_arg, plan, plan_arg};
    use tilewright_core::{LogPlus, Matrix, MinPlus, OrAnd, PlusTimes};

    /// The plan names the kernel and the threads that the product then reports.
    fn keeps_its_word<S: Semiring<Elem: Copy>>(
        a: Layout,
        b: Layout,
        c: Layout,
        update: Update<S>,
        element: S::Elem,
    ) {
        let options = Options { threads: 3, ..Options::default() };
        let filled = |l: Layout| Matrix::from_vec(vec![element; l.rows * l.cols], l).unwrap();
        let (a_matrix, b_matrix) = (filled(a), filled(b));
        let mut out = Matrix::from_vec(vec![S::finish(S::ZERO); c.rows * c.cols], c).unwrap();
        let problem = Problem::new(a, b, c).unwrap();
        let planned = plan::<S>(&problem, &update, &options).unwrap();
        let report =
            multiply::<S>(out.as_mut(), a_matrix.as_ref(), b_matrix.as_ref(), &update, &options).unwrap();
        // Elements that are all alike lie close together.
        let kernel = KernelName { narrow: planned.narrows, ..planned.kernel };
        assert_eq!((kernel, planned.threads), (report.kernel, report.threads), "{a:?} {b:?} {c:?}");
        assert!(planned.block_terms <= a.cols && planned.block_columns <= b.cols.max(c.rows));
        if S::laws().selective_add {
            let planned = plan_arg::<S>(&problem, &update, &options).unwrap();
            let mut arg = Matrix::filled(c.rows, c.cols, 0).unwrap();
            let (a, b) = (a_matrix.as_ref(), b_matrix.as_ref());
            let report = multiply_arg::<S>(out.as_mut(), arg.as_mut(), a, b, &update, &options).unwrap();
            assert_eq!((planned.kernel, planned.threads), (report.kernel, report.threads));
        }
    }

    /// Where C is most of what is moved, no two threads write to the same rows.
    #[test]
    fn thin_products_are_shared_by_rows() {
        let (a, b) = (Layout::row_major(4096, 16), Layout::row_major(16, 4096));
        let problem = Problem::new(a, b, Layout::row_major(4096, 4096)).unwrap();
        let options = Options { threads: 2, ..Options::default() };
        let planned = plan::<PlusTimes<f32>>(&problem, &Update::Replace, &options).unwrap();
        assert!(planned.regions.0 > 1 && planned.regions.1 == 1, "{:?}", planned.regions);
    }

    /// Layouts need no memory, so that nothing bounds them.
    #[test]
    fn layouts_of_any_size_have_a_plan() {
        fn planned<S: Semiring>(n: usize, k: usize) {
            let problem =
                Problem::new(Layout::row_major(1, k), Layout::row_major(k, n), Layout::row_major(1, n))
                    .unwrap();
            let options = Options { threads: 1, ..Options::default() };
            assert_eq!(plan::<S>(&problem, &Update::Replace, &options).unwrap().threads, 1);
        }
        for (n, k) in [(1 << 62, 1), (1 << 60, 100), (1, 1 << 62)] {
            planned::<PlusTimes<f32>>(n, k);
            planned::<MinPlus<f32>>(n, k);
            planned::<LogPlus<f32>>(n, k);
        }
    }

    #[test]
    fn products_do_what_their_plan_says() {
        for (m, n, k) in [
            (300, 200, 100),
            (1, 900, 4000),
            (5000, 3, 200),
            (0, 4, 4),
            (7, 9, 0),
            (130, 130, 130),
            (40, 9, 40_000),
        ] {
            let (a, b) = (Layout::row_major(m, k), Layout::col_major(k, n));
            for c in [Layout::row_major(m, n), Layout::col_major(m, n)] {
                keeps_its_word::<PlusTimes<f32>>(a, b, c, Update::Replace, 1.0);
                keeps_its_word::<MinPlus<i32>>(a, b, c, Update::Accumulate, 1);
                keeps_its_word::<PlusTimes<f64>>(a, b, c, Update::scale(2.0, 0.5), 1.0);
                keeps_its_word::<OrAnd>(a, b, c, Update::Replace, true);
                keeps_its_word::<LogPlus<f32>>(a, b, c, Update::Accumulate, 1.0);
            }
        }
    }
}
