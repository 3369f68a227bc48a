//! Products of distributed matrices.

use crate::{
    axis::Axis,
    buffer::Buffer,
    grid::{Along, Grid},
    group::{Group, Pending},
    join::join,
    matrix::DistMatrix,
    step,
};
use tilewright::{DType, DynMatrix, DynRef, Error, ErrorKind, Joining, Layout, Options, SemiringId};

/// `C = A ⊗ B` by panels (SUMMA): C stays where it is, and all ranks together receive [`product_bytes`](crate::product_bytes) bytes.
///
/// R. A. van de Geijn and J. Watts, "SUMMA: scalable universal matrix multiplication algorithm", 1997. Selective semirings, or-and and integers have the bits of one process.
///
/// # Errors
/// The same at every rank: `inner-mismatch`; `unsupported` where A and B lie on other grids or in other blocks, and for sums of 16 and 8 bits, which would be
/// rounded once a panel; `device` names the step, the rank and its host.
pub fn multiply<'g>(
    semiring: SemiringId,
    a: &DistMatrix<'g>,
    b: &DistMatrix<'g>,
    options: &Options<'_>,
) -> Result<DistMatrix<'g>, Error> {
    let output = check_both(semiring, a, b)?;
    let world = a.grid().world();
    let c = DistMatrix::zeros(a.grid(), output, a.rows().len, b.cols().len, a.rows().block);
    let mut c = world.agree(c, "taking memory for the product")?;
    let room = world.agree(Panels::room(a, b), "taking memory for panels")?;
    let none = of_no_terms(semiring, a, b, &mut c, options);
    let mut run = Run { summa: Summa { semiring, a, b, options, spare: room }, c: &mut c };
    by_panels(world, a.cols().blocks(), none, &mut run)?;
    Ok(c)
}

/// The type of results of a product, where both matrices lie alike.
pub(crate) fn check_both(
    semiring: SemiringId,
    a: &DistMatrix<'_>,
    b: &DistMatrix<'_>,
) -> Result<DType, Error> {
    let (m, k, n) = (a.rows().len, a.cols().len, b.cols().len);
    if b.rows().len != k {
        return Err(ErrorKind::InnerMismatch { m, k, bk: b.rows().len, n }.into());
    }
    let output = check(semiring, a.dtype())?;
    if a.rows().block != b.rows().block || a.grid().shape() != b.grid().shape() {
        let what = "a product of matrices in different blocks".to_owned();
        let hint = "make both with one grid and one size".into();
        return Err(ErrorKind::Unsupported { what, why: String::new(), hint }.into());
    }
    Ok(output)
}

/// The semiring's zero, and whatever a product of no terms is.
pub(crate) fn of_no_terms(
    semiring: SemiringId,
    a: &DistMatrix<'_>,
    b: &DistMatrix<'_>,
    c: &mut DistMatrix<'_>,
    options: &Options<'_>,
) -> Result<(), Error> {
    let (a, b) = (a.local(), b.local());
    let none = (a.window(0, 0, a.layout().rows, 0)?, b.window(0, 0, 0, b.layout().cols)?);
    step::product(semiring, none, c.local_mut(), Joining::Replace, options)
}

/// What a product by panels is made of on one rank.
pub(crate) trait ByPanels {
    type Coming;
    type Panels;

    /// Begins to send the panels of block `k`.
    ///
    /// # Errors
    /// Where nothing can be agreed on any more.
    fn begin(&mut self, k: usize) -> Result<Self::Coming, Error>;
    /// # Errors
    /// As [`ByPanels::begin`].
    fn arrived(&mut self, coming: Self::Coming) -> Result<Self::Panels, Error>;
    /// Joins their product with C, and keeps their memory for others.
    fn join(&mut self, k: usize, panels: Self::Panels) -> Result<(), Error>;
    /// The first error of this rank that the others do not know of, besides those of [`ByPanels::join`].
    fn fault(&mut self) -> Option<Error> {
        None
    }
}

/// Sends the panels of all blocks, and joins their products. `status` is what this rank begins with.
pub(crate) fn by_panels(
    world: &dyn Group,
    count: usize,
    mut status: Result<(), Error>,
    run: &mut impl ByPanels,
) -> Result<(), Error> {
    let mut coming = if count > 0 { Some(run.begin(0)?) } else { None };
    for step in 0..count {
        let mine = core::mem::replace(&mut status, Ok(())).and(run.fault().map_or(Ok(()), Err));
        world.agree(mine, &format!("step {} of {count}", step + 1))?;
        let Some(panels) = coming.take() else { break };
        let panels = run.arrived(panels)?;
        // The next panels are on their way in the meantime.
        if step + 1 < count {
            coming = Some(run.begin(step + 1)?);
        }
        status = run.join(step, panels);
    }
    let mine = status.and(run.fault().map_or(Ok(()), Err));
    world.agree(mine, &format!("step {count} of {count}"))
}

/// A product on this processor, or the backend that the options name.
struct Run<'r, 'g, 'o> {
    summa: Summa<'r, 'g, 'o>,
    c: &'r mut DistMatrix<'g>,
}

impl ByPanels for Run<'_, '_, '_> {
    type Coming = Coming;
    type Panels = Panels;

    fn begin(&mut self, k: usize) -> Result<Coming, Error> {
        self.summa.begin(k)
    }

    fn arrived(&mut self, coming: Coming) -> Result<Panels, Error> {
        coming.wait()
    }

    fn join(&mut self, k: usize, panels: Panels) -> Result<(), Error> {
        let joined = self.summa.join(k, &panels, self.c);
        self.summa.spare.push(panels);
        joined
    }
}

/// The type of results, if sums need not be rounded between panels.
fn check(semiring: SemiringId, dtype: DType) -> Result<DType, Error> {
    let output = semiring.output(dtype)?;
    if output.is_float() && output.size() < 4 && !semiring.is_selective() {
        let (what, why) = (
            format!("{semiring} on {dtype} on several ranks"),
            "its sums would be rounded once a panel".into(),
        );
        return Err(ErrorKind::Unsupported { what, why, hint: "choose f32".into() }.into());
    }
    Ok(output)
}

/// Columns of A and rows of B.
pub(crate) struct Panels {
    pub a: Buffer,
    pub b: Buffer,
}

impl Panels {
    /// Two: one is read while the next one arrives.
    pub fn room(a: &DistMatrix<'_>, b: &DistMatrix<'_>) -> Result<Vec<Self>, Error> {
        let (width, size) = (a.cols().block.min(a.cols().len), a.dtype().size());
        let (rows, cols) = (a.local().layout().rows, b.local().layout().cols);
        let panels = || {
            Ok::<_, Error>(Self {
                a: Buffer::zeroed(rows * width * size)?,
                b: Buffer::zeroed(width * cols * size)?,
            })
        };
        Ok(vec![panels()?, panels()?])
    }
}

pub(crate) struct Coming {
    a: Box<dyn Pending>,
    b: Box<dyn Pending>,
}

impl Coming {
    pub fn wait(self) -> Result<Panels, Error> {
        Ok(Panels { a: self.a.wait()?, b: self.b.wait()? })
    }
}

/// A product by panels on this rank.
pub(crate) struct Summa<'r, 'g, 'o> {
    pub semiring: SemiringId,
    pub a: &'r DistMatrix<'g>,
    pub b: &'r DistMatrix<'g>,
    pub options: &'r Options<'o>,
    pub spare: Vec<Panels>,
}

impl Summa<'_, '_, '_> {
    /// Begins to send the panels of block `k`.
    pub fn begin(&mut self, k: usize) -> Result<Coming, Error> {
        let (grid, (i, j), size) = (self.a.grid(), self.a.grid().place(), self.a.dtype().size());
        let Panels { a, b } =
            self.spare.pop().unwrap_or(Panels { a: Buffer::default(), b: Buffer::default() });
        let (width, dtype) = (self.a.cols().indices(k).len(), self.a.dtype());
        let (rows, cols) = (self.a.local().layout().rows, self.b.local().layout().cols);
        let (mut a, mut b) = (a.fit(rows * width * size), b.fit(width * cols * size));
        let (owner_a, owner_b) = (self.a.cols().owner(k), self.b.rows().owner(k));
        if j == owner_a {
            let from = self.a.local().window(0, self.a.cols().local(k).start, rows, width)?;
            a.matrix_mut(dtype, rows, width)?.copy_from(from)?;
        }
        if i == owner_b {
            let from = self.b.local().window(self.b.rows().local(k).start, 0, width, cols)?;
            b.matrix_mut(dtype, width, cols)?.copy_from(from)?;
        }
        Ok(Coming { a: grid.send(Along::Row, a, owner_a)?, b: grid.send(Along::Column, b, owner_b)? })
    }

    fn join(&self, k: usize, panels: &Panels, c: &mut DistMatrix<'_>) -> Result<(), Error> {
        let width = self.a.cols().indices(k).len();
        let Layout { rows, cols, .. } = c.local().layout();
        let a = panels.a.matrix(self.a.dtype(), rows, width)?;
        let b = panels.b.matrix(self.a.dtype(), width, cols)?;
        step::product(self.semiring, (a, b), c.local_mut(), Joining::Accumulate, self.options)
    }
}

/// The terms of a long `k` that a rank has, when all ranks split it: the ranges of a block-cyclic axis in one piece.
pub fn terms(k: usize, rank: usize, ranks: usize) -> core::ops::Range<usize> {
    let axis = Axis { len: k, block: k.div_ceil(ranks.max(1)).max(1), parts: ranks.max(1) };
    axis.indices(rank)
}

/// `C = ⊕ over ranks of A_r ⊗ B_r`, for a small C and a long `k` of which each rank has a part: columns of A and rows of B. It is joined in pairs of ranks, so that all
/// together receive `size m n (ranks - 1)` bytes; rank 0 has the result, and others `None`.
///
/// # Errors
/// As [`multiply`].
pub fn multiply_thin(
    grid: &Grid<'_>,
    semiring: SemiringId,
    a: DynRef<'_>,
    b: DynRef<'_>,
    options: &Options<'_>,
) -> Result<Option<DynMatrix>, Error> {
    let world = grid.world();
    let output = check(semiring, a.dtype());
    let mine = output.and_then(|output| {
        let mut c = DynMatrix::zeros(output, a.layout().rows, b.layout().cols)?;
        step::product(semiring, (a, b), c.as_mut(), Joining::Replace, options)?;
        Ok(c)
    });
    let mut mine = world.agree(mine, "multiplying the terms of a rank")?;
    let mut distance = 1;
    while distance < world.size() {
        joined(grid, semiring, &mut mine, distance)?;
        distance *= 2;
    }
    Ok((world.rank() == 0).then_some(mine))
}

/// Every rank that is a multiple of `2 distance` takes what the rank `distance` further on has.
fn joined(grid: &Grid<'_>, semiring: SemiringId, mine: &mut DynMatrix, distance: usize) -> Result<(), Error> {
    let (world, layout, dtype) = (grid.world(), mine.layout(), mine.dtype());
    let (rank, first) = (world.rank(), world.rank() / (2 * distance) * (2 * distance));
    let takes_part = (rank == first || rank == first + distance) && first + distance < world.size();
    // Ranks that rest are groups of one.
    let pair = world.split(if takes_part { first } else { world.size() + rank })?;
    let mut joined = Ok(());
    if takes_part {
        let bytes = layout.rows * layout.cols * dtype.size();
        let mut buffer = Buffer::zeroed(bytes)?;
        if rank != first {
            buffer.matrix_mut(dtype, layout.rows, layout.cols)?.copy_from(mine.as_ref())?;
        } else {
            grid.count(bytes as u64);
        }
        let buffer = pair.send(buffer, 1)?;
        if rank == first {
            joined = add(semiring, mine, &buffer);
        }
    }
    world.agree(joined, "joining what ranks have")
}

/// `C = C ⊕ 1 ⊗ D`.
fn add(semiring: SemiringId, c: &mut DynMatrix, other: &Buffer) -> Result<(), Error> {
    let (Layout { rows, cols, .. }, dtype) = (c.layout(), c.dtype());
    join(semiring, c.as_mut(), other.matrix(dtype, rows, cols)?)
}
