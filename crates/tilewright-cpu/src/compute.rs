//! From a checked product to a job for the driver: which kernel, and what happens to C.

use crate::{
    blocking::cut,
    choice::Sums,
    isa::Isa,
    job::{Job, Store, Target},
    kernel::{InPlaceTiles, Kernel, Prune, Vectorised, element, generic, name},
    narrow::{self, Codes},
    op::Scalar,
    options::{KernelName, Options, Report},
    plan::{Outline, Plan, is_better_transposed, name_one_by_one, threads_one_by_one},
    prune::{self, Account, Model, Outcome, Part, Pruning},
    scan,
    share::share,
    shared::Shared,
    small,
    tile::Start,
};
use tilewright_core::{Error, Finish, MatMut, MatRef, NO_ARG, Semiring, Update};

/// A checked product.
pub struct Call<'a, S: Semiring> {
    pub c: MatMut<'a, S::Out>,
    pub arg: Option<MatMut<'a, u32>>,
    pub a: MatRef<'a, S::Elem>,
    pub b: MatRef<'a, S::Elem>,
    pub update: &'a Update<S>,
    /// What follows besides the update, if anything.
    pub epilogue: Option<Columns<'a, S>>,
    pub options: &'a Options<'a>,
    pub isa: Isa,
    /// How A and B are written in 16 bits, if they can be.
    pub codes: Option<Codes>,
}

/// A bias and an activation, of a C that may have been transposed.
#[derive(Clone, Copy)]
pub struct Columns<'a, S: Semiring> {
    pub finish: Finish<'a, S>,
    /// Whether what the caller calls a column is a row here.
    pub are_rows: bool,
}

/// A way to compute products over `S`.
pub trait Compute<S: Semiring>: Sync {
    /// Refuses elements that `S` does not contain.
    fn check(
        &self,
        a: MatRef<'_, S::Elem>,
        b: MatRef<'_, S::Elem>,
        options: &Options<'_>,
        isa: Isa,
    ) -> Result<(), Error> {
        scan::check::<S>(a, b, options, isa)
    }
    /// As `check`, and tells whether the elements can be written in 16 bits.
    fn scan(
        &self,
        a: MatRef<'_, S::Elem>,
        b: MatRef<'_, S::Elem>,
        options: &Options<'_>,
        isa: Isa,
    ) -> Result<Option<Codes>, Error> {
        self.check(a, b, options, isa).map(|()| None)
    }
    fn compute(&self, call: Call<'_, S>) -> Result<Report, Error>;
    /// What `compute` will do.
    fn plan(&self, outline: Outline<'_, S>) -> Plan;
}

/// The built-in semirings, on vectors.
pub struct OnVectors;

/// Any semiring, one element at a time.
pub struct OneByOne;

impl<S: Vectorised> Compute<S> for OnVectors {
    fn scan(
        &self,
        a: MatRef<'_, S::Elem>,
        b: MatRef<'_, S::Elem>,
        options: &Options<'_>,
        isa: Isa,
    ) -> Result<Option<Codes>, Error> {
        match S::narrow() {
            Some(narrow) if narrow::pays(a.rows(), b.cols(), a.cols()) => (narrow.codes)(a, b, options, isa),
            _ => scan::check::<S>(a, b, options, isa).map(|()| None),
        }
    }

    fn compute(&self, call: Call<'_, S>) -> Result<Report, Error> {
        let call = call.along_rows();
        let isa = call.isa;
        let size = (call.a.rows(), call.b.cols(), call.a.cols());
        let model = Model::new(size, size_of::<S::Lane>(), call.codes.is_some());
        if let Some(prune) = prune_for::<S>(size, call.codes.is_some()) {
            let kernel = (prune.kernel)(isa);
            if (call.arg.is_none() || winners_can_be_pruned(size, call.update, &kernel))
                && let Some(scale) = (prune.scale)(call.a, call.b, kernel.by, &model, call.options, isa)
            {
                return call.by_few_terms(&kernel, scale, Account::new(model));
            }
        }
        with_all_terms(call)
    }

    fn plan(&self, outline: Outline<'_, S>) -> Plan {
        let outline = outline.along_rows();
        let size = (outline.problem.m(), outline.problem.n(), outline.problem.k());
        if outline.arg {
            let Some(kernel) = S::arg_kernel(outline.isa) else { return OneByOne.plan(outline) };
            let prunes = prune_for::<S>(size, false).is_some_and(|prune| {
                winners_can_be_pruned(size, outline.update, &(prune.kernel)(outline.isa))
            });
            let is_in_c = S::IN_C && !outline.update.reads_c();
            let sums = if is_in_c { Sums::InC } else { Sums::Buffered };
            return Plan { prunes, ..outline.with(&kernel, sums, outline.isa) };
        }
        let is_in_c = start_in_c(outline.update).is_some() && outline.options.epilogue.is_none();
        let sums = if is_in_c { Sums::InC } else { Sums::Buffered };
        let p = &outline.problem;
        let narrows = S::narrow().is_some() && narrow::pays(size.0, size.1, size.2);
        let prunes = prune_for::<S>(size, false).is_some();
        let kernel =
            S::dots(outline.isa, outline.options.dots, size).unwrap_or_else(|| S::kernel(outline.isa));
        let plan = Plan { narrows, prunes, ..outline.with(&kernel, sums, outline.isa) };
        match small::tiles(&kernel, p.a(), p.b(), p.c()) {
            Some(_) if is_in_c => Plan { packs_a: false, packs_b: false, ..plan },
            _ => plan,
        }
    }
}

impl<S: Semiring> Compute<S> for OneByOne {
    fn compute(&self, call: Call<'_, S>) -> Result<Report, Error> {
        if call.arg.is_some() {
            return call.winners_one_by_one();
        }
        call.through(&generic::<S>(), |sum| sum, Isa::Portable)
    }

    fn plan(&self, outline: Outline<'_, S>) -> Plan {
        if outline.arg {
            return outline.winners_one_by_one();
        }
        outline.with(&generic::<S>(), Sums::Buffered, Isa::Portable)
    }
}

/// Computes a product, whatever the elements.
pub fn with_all_terms<S: Vectorised>(call: Call<'_, S>) -> Result<Report, Error> {
    let isa = call.isa;
    if call.arg.is_some() {
        return match S::arg_kernel(isa) {
            Some(kernel) if S::IN_C && !call.update.reads_c() => call.in_c(&kernel, Start::Zero),
            Some(kernel) => call.through(&kernel, S::sum, isa),
            None => OneByOne.compute(call),
        };
    }
    if let (Some(codes), Some(narrow)) = (call.codes, S::narrow()) {
        // Sums are joined with C as elements, whatever it holds.
        let start = if call.update.reads_c() { Start::Partial } else { Start::Zero };
        return call.in_c(&Kernel { codes, ..(narrow.kernel)(isa) }, start);
    }
    let size = (call.a.rows(), call.b.cols(), call.a.cols());
    let kernel = S::dots(isa, call.options.dots, size).unwrap_or_else(|| S::kernel(isa));
    match start_in_c(call.update).filter(|_| call.epilogue.is_none()) {
        Some(start) => match small::tiles(&kernel, call.a.layout(), call.b.layout(), call.c.layout()) {
            Some(tiles) => call.in_place(&kernel, Some(tiles), start),
            None if small::packs(&kernel, size, call.c.layout()) => call.in_place(&kernel, None, start),
            None => call.in_c(&kernel, start),
        },
        None => call.through(&kernel, S::sum, isa),
    }
}

/// How a product of `m x k` and `k x n` elements is computed by few terms, if it is large enough.
fn prune_for<S: Vectorised>(size: (usize, usize, usize), narrowed: bool) -> Option<Prune<S::Elem, S::Lane>> {
    S::prune()
        .filter(|prune| prune::pays(size, size_of::<S::Lane>(), narrowed, (prune.kernel)(Isa::Portable).by))
}

/// Whether winners can be told by few terms too: of one block, and where C is not joined. Otherwise terms would have to be compared with those
/// of other blocks, and with C. Nor among terms that are rounded.
fn winners_can_be_pruned<S: Semiring, E, P>(
    size: (usize, usize, usize),
    update: &Update<S>,
    kernel: &Pruning<E, P>,
) -> bool {
    kernel.between.is_none() && !update.reads_c() && prune::is_one_block(size, kernel.cols, size_of::<P>())
}

/// Where sums may start in C itself, or `None` when they need a buffer.
fn start_in_c<S: Vectorised>(update: &Update<S>) -> Option<Start> {
    match update {
        _ if !S::IN_C => None,
        Update::Replace => Some(Start::Zero),
        // An integer C may hold values outside the range that sums with "absent" are computed in.
        Update::Accumulate if !S::Lane::HAS_LIMITS => Some(Start::Resume),
        _ => None,
    }
}

impl<'a, S: Semiring> Call<'a, S> {
    /// The same product with C written along its rows where that is possible: `C^T = B^T A^T`.
    pub fn along_rows(self) -> Self {
        if !is_better_transposed::<S>(self.c.layout()) {
            return self;
        }
        let codes = self.codes.map(|[a, b]| [b, a]);
        let epilogue = self.epilogue.map(|columns| Columns { are_rows: !columns.are_rows, ..columns });
        let (c, arg) = (self.c.t(), self.arg.map(MatMut::t));
        Self { c, arg, a: self.b.t(), b: self.a.t(), codes, epilogue, ..self }
    }

    /// Computes in C itself.
    fn in_c<P: Copy>(self, kernel: &Kernel<S::Elem, P, S::Lane>, start: Start) -> Result<Report, Error>
    where
        S: Vectorised,
    {
        let Self { mut c, mut arg, a, b, options, isa, .. } = self;
        let (layout, c) = (c.layout(), c.as_mut_ptr().cast::<S::Lane>());
        let target = Target::InPlace { c, layout, start, arg: arg.as_mut().map(Shared::new) };
        let threads = Job { kernel, a, b, target, options, best: None }.run()?;
        Ok(report::<S, _, _>(kernel, isa, threads))
    }

    /// Computes a small product in C itself, with operands in place where there are tiles for that.
    fn in_place(
        self,
        kernel: &Kernel<S::Elem, S::Lane, S::Lane>,
        tiles: Option<&InPlaceTiles<S::Lane, S::Lane>>,
        start: Start,
    ) -> Result<Report, Error>
    where
        S: Vectorised,
    {
        let Self { mut c, a, b, options, isa, .. } = self;
        options.check_cancelled()?;
        let c_row = c.layout().row_stride;
        // SAFETY: the shapes were checked, and C is borrowed.
        unsafe {
            let c = (c.as_mut_ptr().cast(), c_row);
            match tiles {
                Some(tiles) => small::compute(kernel, tiles, (a, b), c, start)?,
                None => small::compute_packed(kernel, (a, b), c, start)?,
            }
        }
        if let Some(progress) = options.progress {
            progress((a.rows() * b.cols() * a.cols()) as u64);
        }
        let threads = usize::from(a.rows() > 0 && b.cols() > 0);
        Ok(report::<S, _, _>(kernel, isa, threads))
    }

    /// Computes in C itself, by few terms, with rows sorted by `scale` units per distance; and what is left where that does not pay with all terms.
    fn by_few_terms(
        mut self,
        kernel: &Pruning<S::Elem, S::Lane>,
        scale: f64,
        account: Account,
    ) -> Result<Report, Error>
    where
        S: Vectorised,
    {
        let isa = self.isa;
        let Outcome { threads, unpruned } = self.few_terms(kernel, scale, account).run()?;
        let tile = (1, kernel.cols);
        let arg = self.arg.is_some();
        let kernel = KernelName { arg, pruned: true, ..KernelName::new(S::NAME, element::<S>(), isa, tile) };
        unpruned.into_iter().try_fold(Report { isa, kernel, threads }, |report, part| {
            let rest = with_all_terms(self.part(part)?)?;
            Ok(Report { threads: rest.threads.max(report.threads), ..rest })
        })
    }

    /// The job of computing by few terms.
    pub fn few_terms<'b>(
        &'b mut self,
        kernel: &'b Pruning<S::Elem, S::Lane>,
        scale: f64,
        account: Account,
    ) -> prune::Job<'b, S::Elem, S::Lane>
    where
        S: Vectorised,
    {
        let (layout, c) = (self.c.layout(), self.c.as_mut_ptr().cast::<S::Elem>());
        let (joins, room) = (self.update.reads_c(), prune::ROOM);
        let (a, b, options) = (self.a, self.b, self.options);
        let arg = self.arg.as_mut().map(Shared::new);
        prune::Job { kernel, scale, a, b, c, layout, arg, joins, room, account, options }
    }

    /// A part of the product. All but the first terms are joined with C.
    pub fn part(&mut self, Part { rows, cols, terms }: Part) -> Result<Call<'_, S>, Error> {
        let Self { a, b, update, options, isa, codes, .. } = *self;
        let (i, j, m, n) = (rows.start, cols.start, rows.len(), cols.len());
        let arg = self.arg.as_mut().map(|arg| arg.reborrow().window(i, j, m, n)).transpose()?;
        let c = self.c.reborrow().window(i, j, m, n)?;
        let a = a.window(rows.start, terms.start, rows.len(), terms.len())?;
        let b = b.window(terms.start, cols.start, terms.len(), cols.len())?;
        let update = if terms.start > 0 { &Update::Accumulate } else { update };
        // What is computed by few terms selects one of them, and has no epilogue.
        Ok(Call { c, arg, a, b, update, epilogue: None, options, isa, codes })
    }

    /// Computes into a buffer and joins the sums with C from there.
    fn through<P: Copy, A: Copy + Send>(
        self,
        kernel: &Kernel<S::Elem, P, A>,
        to_sum: fn(A) -> S::Acc,
        isa: Isa,
    ) -> Result<Report, Error> {
        let Self { mut c, arg, a, b, update, epilogue, options, .. } = self;
        let c = Shared::new(&mut c);
        let finished = |i, j, sums: &[A], _: &[u32]| {
            let Some(Columns { finish, are_rows }) = epilogue else { return };
            for (j, &sum) in (j..).zip(sums) {
                let column = if are_rows { i } else { j };
                // SAFETY: the driver names every element of C once.
                unsafe { c.set(i, j, finish.apply(column, to_sum(sum), || c.get(i, j))) }
            }
        };
        let without = move |i, j, sums: &[A], _: &[u32]| {
            for (j, &sum) in (j..).zip(sums) {
                // SAFETY: the driver names every element of C once.
                unsafe { c.set(i, j, update.apply(to_sum(sum), || c.get(i, j))) }
            }
        };
        let mut arg = arg;
        let store: &Store<'_, A> = match &mut arg {
            None if epilogue.is_some() => &finished,
            None => &without,
            Some(arg) => {
                let arg = Shared::new(arg);
                &move |i, j, sums: &[A], winners: &[u32]| {
                    for ((j, &sum), &winner) in (j..).zip(sums).zip(winners) {
                        // SAFETY: as above; the arg result has the shape of C.
                        unsafe {
                            let start = start(update, || c.get(i, j));
                            let best = S::add(start, to_sum(sum));
                            c.set(i, j, S::finish(best));
                            arg.set(i, j, if best == start { NO_ARG } else { winner });
                        }
                    }
                }
            }
        };
        let threads = Job { kernel, a, b, target: Target::Through(store), options, best: None }.run()?;
        Ok(report::<S, _, _>(kernel, isa, threads))
    }

    /// An arg result by the definition, rows shared among threads.
    fn winners_one_by_one(self) -> Result<Report, Error> {
        let Self { mut c, arg, a, b, update, options, .. } = self;
        let (n, k) = (b.cols(), a.cols());
        // Without columns there is nothing to visit, however many rows there are.
        let m = if n == 0 { 0 } else { a.rows() };
        let c = Shared::new(&mut c);
        let mut arg = arg;
        let arg = arg.as_mut().map(Shared::new);
        let row = |i: usize| {
            options.check_cancelled()?;
            for j in 0..n {
                // SAFETY: the shapes were checked, and every row is computed once.
                unsafe {
                    let (mut best, mut winner) = (start(update, || c.get(i, j)), NO_ARG);
                    for p in 0..k {
                        let next = S::mul_add(best, a.get_unchecked(i, p), b.get_unchecked(p, j));
                        if next != best {
                            (best, winner) = (next, p as u32);
                        }
                    }
                    c.set(i, j, S::finish(best));
                    if let Some(arg) = arg {
                        arg.set(i, j, winner);
                    }
                }
            }
            if let Some(progress) = options.progress {
                progress((n * k) as u64);
            }
            Ok(())
        };
        let threads = threads_one_by_one(options, m, n, k);
        let parts: Vec<_> = cut(0..m, threads, 1).collect();
        share(&parts, threads, &|rows| rows.clone().try_for_each(row))?;
        Ok(Report { isa: Isa::Portable, kernel: name_one_by_one::<S>(), threads })
    }
}

/// What sums are joined with when ⊕ selects.
#[inline(always)]
fn start<S: Semiring>(update: &Update<S>, old: impl FnOnce() -> S::Out) -> S::Acc {
    if update.reads_c() { S::add(S::ZERO, S::resume(old())) } else { S::ZERO }
}

fn report<S: Semiring, P, A>(kernel: &Kernel<S::Elem, P, A>, isa: Isa, threads: usize) -> Report {
    Report { isa, kernel: name::<S, _, _>(kernel, isa), threads }
}
