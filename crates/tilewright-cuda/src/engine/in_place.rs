//! Products among blocks of one matrix, in place, and the closure of small ones: what best paths on a device are made of.

use super::operands::{self, Operand};
use super::{Engine, Prepared};
use crate::device::{DeviceMatrix, DynDeviceMatrix};
use std::{
    ops::Range,
    time::{Duration, Instant},
};
use tilewright_core::{Error, ErrorKind, Joining, Layout, Problem, SemiringId, Value};
use tilewright_kernels::{Alignment, Batch, Buffer, CLOSURE_SIDE, Request, closure, put_back};

/// A square matrix on the device whose best paths are found in place, block by block. Nothing waits for the device but [`InPlace::gain`].
///
/// ```
/// use tilewright_core::{Layout, MatRef, SemiringId};
/// use tilewright_cuda::{Engine, InPlace};
/// let engine = Engine::emulated(tilewright_arch::Device::find("a6000").unwrap().into())?;
/// let inf = f32::INFINITY;
/// let weights = [0.0, 3.0, 9.0, inf, 0.0, 4.0, 1.0, inf, 0.0];
/// let mut d = engine.upload(MatRef::new(&weights, Layout::row_major(3, 3))?)?;
/// let mut paths = InPlace::new(&engine, &mut d, SemiringId::MinPlus, 0.0)?;
/// paths.close(0..2)?;
/// paths.pass(0..2, 2..3)?;
/// paths.close(2..3)?;
/// paths.pass(2..3, 0..2)?;
/// assert_eq!(paths.gain()?, None);
/// assert_eq!(d.to_matrix()?.as_slice(), [0.0, 3.0, 7.0, 5.0, 0.0, 4.0, 1.0, 4.0, 0.0]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub struct InPlace<'a> {
    engine: Engine,
    matrix: &'a mut DynDeviceMatrix,
    semiring: SemiringId,
    slack: f64,
    /// How long kernels were chosen, compiled and loaded.
    prepare: Duration,
    /// Those that close blocks, by their rows, and those that put back strips, by theirs.
    closures: Vec<(usize, Prepared)>,
    returns: Vec<([usize; 2], Prepared)>,
    /// Both strips of a step as they will be, or what a part of one was before it was multiplied.
    beside: DynDeviceMatrix,
    /// For each vertex that a block begins with, the one in it through which a cycle gains, counted from 1.
    gains: DeviceMatrix<i32>,
}

/// Elements of a strip up to which both are one batch: kernels for elements of one sign are faster where there is more to do, and take one product at a time.
const TOGETHER: usize = 1 << 20;
/// Bytes of workspace that a product may take beside both operands: room for parts of sums.
const ROOM: u64 = 64 << 20;
/// Where there is little memory, elements of a strip that are copied at a time at least,
const LEAST_STRIP: usize = 1 << 20;
/// and this part of the whole matrix, where that is more.
const PART: usize = 8;
/// Alignments that kernels make a difference between, in bytes: fewer kinds of blocks are fewer recipes.
pub(super) const MOST_ALIGNMENT: u64 = 16;

/// A block: its rows and its columns.
type Block<'r> = (&'r Range<usize>, &'r Range<usize>);

/// Where a block lies.
#[derive(Clone, Copy)]
struct Place {
    operand: Operand,
    address: u64,
    bytes: usize,
}

impl<'a> InPlace<'a> {
    /// For a matrix of this engine whose rows lie one after another. `slack` is how far the weight of a cycle may be from the semiring's one by rounding alone.
    ///
    /// # Errors
    /// `not-square`; `unsupported` for other strides, and for a matrix of another engine; `device-memory` where the copy of a part of a strip does not fit.
    pub fn new(
        engine: &Engine,
        matrix: &'a mut DynDeviceMatrix,
        semiring: SemiringId,
        slack: f64,
    ) -> Result<Self, Error> {
        let Layout { rows, cols, row_stride, col_stride } = matrix.layout();
        if rows != cols {
            return Err(ErrorKind::NotSquare { what: "D", rows, cols }.into());
        }
        let is_ours = std::sync::Arc::ptr_eq(matrix.stream(), engine.stream());
        if !is_ours || col_stride != 1 || row_stride < cols as isize {
            let (what, why) = ("this matrix in place", "it is another engine's, or its rows are apart");
            let hint = "upload it to this engine, row by row".into();
            return Err(ErrorKind::Unsupported { what: what.into(), why: why.into(), hint }.into());
        }
        let half = rows.div_ceil(2).next_multiple_of(CLOSURE_SIDE);
        let room = |elements| engine.zeros_dyn(matrix.dtype(), Layout::row_major(1, elements));
        let beside = match room(2 * half * half) {
            Err(error) if matches!(error.kind(), ErrorKind::DeviceMemory { .. }) => {
                room((rows * rows / PART).max(LEAST_STRIP).min(half * half))
            }
            both => both,
        };
        Ok(Self {
            engine: engine.clone(),
            beside: beside?,
            gains: engine.zeros(Layout::row_major(1, rows))?,
            matrix,
            semiring,
            slack,
            prepare: Duration::ZERO,
            closures: Vec::new(),
            returns: Vec::new(),
        })
    }

    /// Closes `D[p,p]`, of at most [`CLOSURE_SIDE`] rows, in one launch.
    ///
    /// # Errors
    /// `out-of-bounds`; `unsupported` for a larger block, and a semiring or type without best paths; as [`Engine::prepare`].
    pub fn close(&mut self, pivot: Range<usize>) -> Result<(), Error> {
        let rows = pivot.len();
        if pivot.is_empty() {
            return Ok(());
        }
        let block = self.place((&pivot, &pivot))?;
        if !self.closures.iter().any(|(known, _)| *known == rows) {
            let Operand { dtype, layout, .. } = block.operand;
            let recipe = closure(self.semiring, dtype, layout, self.slack)?;
            self.closures.push((rows, self.engine.prepare(recipe)?));
        }
        let prepared = self.closures.iter().find(|(known, _)| *known == rows);
        let told = self.gains.address() + (pivot.start * size_of::<i32>()) as u64;
        let bindings = [(Buffer::C, block.address, block.bytes), (Buffer::Output, told, size_of::<i32>())];
        match prepared {
            // SAFETY: the block lies inside the matrix and has the layout of the recipe, there is an integer for every vertex, and the memory of both
            // is this engine's, which frees it after the work in its stream.
            Some((_, prepared)) => unsafe { prepared.launch(&bindings) },
            None => Ok(()),
        }
    }

    /// `D[p,r] = D[p,p] ⊗ D[p,r]`, then `D[r,p] = D[r,p] ⊗ D[p,p]` and `D[r,r] = D[r,r] ⊕ D[r,p] ⊗ D[p,r]`, where `D[p,p]` is closed.
    ///
    /// # Errors
    /// `out-of-bounds`; `aliased` where the ranges overlap; as [`Engine::prepare`].
    pub fn pass(&mut self, pivot: Range<usize>, others: Range<usize>) -> Result<(), Error> {
        let (p, r) = (&pivot, &others);
        if p.start < r.end && r.start < p.end {
            return Err(ErrorKind::Aliased { layout: self.matrix.layout() }.into());
        }
        if p.is_empty() || r.is_empty() {
            return Ok(());
        }
        if 2 * p.len() * r.len() <= self.beside.cols() {
            return self.pass_beside(p, r);
        }
        let closed = self.place((p, p))?;
        let at_a_time = (self.beside.cols() / p.len()).max(1);
        for cols in parts(r, at_a_time) {
            let strip = self.place((p, &cols))?;
            let before = self.copy(strip)?;
            self.multiply((strip, closed, before), Batch::ONE, Joining::Replace)?;
        }
        for rows in parts(r, at_a_time) {
            let strip = self.place((&rows, p))?;
            let before = self.copy(strip)?;
            self.multiply((strip, before, closed), Batch::ONE, Joining::Replace)?;
        }
        let [c, a, b] = [(r, r), (r, p), (p, r)].map(|block| self.place(block));
        self.multiply((c?, a?, b?), Batch::ONE, Joining::Accumulate)
    }

    /// The same where both strips fit beside the matrix: small squares in one launch.
    fn pass_beside(&mut self, p: &Range<usize>, r: &Range<usize>) -> Result<(), Error> {
        let [closed, right, down] = [(p, p), (p, r), (r, p)].map(|block| self.place(block));
        let (closed, right, down) = (closed?, right?, down?);
        let strip = (p.len() * r.len()) as isize;
        let [new_right, new_down] =
            [(0, right), (strip.unsigned_abs(), down)].map(|(from, old)| self.aside(from, old));
        let from_to =
            |from: Place, to: Place| to.operand.origin.cast_signed() - from.operand.origin.cast_signed();
        if p.len() == r.len() && strip.unsigned_abs() <= TOGETHER {
            let batch = Batch { count: 2, a: from_to(closed, down), b: from_to(right, closed), c: strip };
            self.multiply((new_right, closed, right), batch, Joining::Replace)?;
        } else {
            self.multiply((new_right, closed, right), Batch::ONE, Joining::Replace)?;
            self.multiply((new_down, down, closed), Batch::ONE, Joining::Replace)?;
        }
        let others = self.place((r, r))?;
        self.multiply((others, new_down, new_right), Batch::ONE, Joining::Accumulate)?;
        self.put_back([p.len(), r.len()], new_right, [right, down])
    }

    /// How long kernels of products were chosen, compiled and loaded so far.
    pub fn prepare_time(&self) -> Duration {
        self.prepare
    }

    /// The first vertex through which a cycle was found to gain; what is in the matrix then is of no use. Waits for the work.
    ///
    /// # Errors
    /// `device` where the device fails.
    pub fn gain(&self) -> Result<Option<usize>, Error> {
        let told = self.gains.to_matrix()?;
        let mut told = told.as_slice().iter().enumerate();
        Ok(told.find_map(|(first, &vertex)| Some(first + usize::try_from(vertex).ok()?.checked_sub(1)?)))
    }

    /// A block of the matrix.
    fn place(&self, (rows, cols): Block<'_>) -> Result<Place, Error> {
        let whole = self.matrix.layout();
        let layout = Layout { rows: rows.len(), cols: cols.len(), ..whole };
        let (elements, size) = (self.matrix.bytes() / self.matrix.dtype().size(), self.matrix.dtype().size());
        let origin = self.matrix.origin() + rows.start * whole.row_stride.unsigned_abs() + cols.start;
        if rows.end > whole.rows || cols.end > whole.cols {
            return Err(ErrorKind::OutOfBounds { layout, origin, len: elements }.into());
        }
        let address = self.matrix.address() + ((origin - self.matrix.origin()) * size) as u64;
        let alignment = alignment(address);
        let operand = Operand { dtype: self.matrix.dtype(), layout, alignment, origin, elements };
        Ok(Place { operand, address, bytes: (elements - origin) * size })
    }

    /// A block of the same shape beside the matrix, from an element on.
    fn aside(&self, from: usize, block: Place) -> Place {
        let Operand { layout: Layout { rows, cols, .. }, dtype, .. } = block.operand;
        let address = self.beside.address() + (from * dtype.size()) as u64;
        let (layout, elements) = (Layout::row_major(rows, cols), self.beside.cols());
        let operand = Operand { dtype, layout, alignment: alignment(address), origin: from, elements };
        Place { operand, address, bytes: self.beside.bytes() - from * dtype.size() }
    }

    /// What a strip is now, beside the matrix.
    fn copy(&self, strip: Place) -> Result<Place, Error> {
        let copy = self.aside(0, strip);
        copy.operand.layout.check_bounds(copy.operand.elements, 0)?;
        // SAFETY: the strip lies inside the matrix, and has been found to fit beside it.
        unsafe { self.beside.stream().copy_rows(strip.rows(), copy.rows(), strip.extent())? };
        Ok(copy)
    }

    /// Writes both strips, which are beside the matrix one behind the other, into it.
    fn put_back(&mut self, sides: [usize; 2], new: Place, strips: [Place; 2]) -> Result<(), Error> {
        if !self.returns.iter().any(|(known, _)| *known == sides) {
            let (dtype, layout) = (self.matrix.dtype(), self.matrix.layout());
            let recipe = put_back(self.semiring, dtype, sides, layout.row_stride.unsigned_abs())?;
            self.returns.push((sides, self.engine.prepare(recipe)?));
        }
        let Some((_, prepared)) = self.returns.iter().find(|(known, _)| *known == sides) else {
            return Ok(());
        };
        let [right, down] = strips;
        let bindings = [(Buffer::A, new), (Buffer::B, right), (Buffer::C, down)];
        let bindings = bindings.map(|(role, place)| (role, place.address, place.bytes));
        // SAFETY: the strips lie inside the matrix, the new ones, which have their shapes, beside it, and the memory of both is this engine's, which frees it
        // after the work in its stream.
        unsafe { prepared.launch(&bindings) }
    }

    fn multiply(
        &mut self,
        (c, a, b): (Place, Place, Place),
        batch: Batch,
        joining: Joining<Value>,
    ) -> Result<(), Error> {
        let problem = Problem::new(a.operand.layout, b.operand.layout, c.operand.layout)?;
        let [a_to, b_to, c_to] = [a, b, c].map(|place| place.operand.alignment);
        let request = Request {
            joining,
            batch,
            alignment: Alignment { a: a_to, b: b_to, c: c_to },
            gpu: self.engine.gpu(),
            workspace: self.matrix.bytes() as u64 / 2 + ROOM,
            ..Request::new(problem, self.semiring, a.operand.dtype)
        };
        let began = Instant::now();
        let chosen = self.engine.chosen(request, None)?;
        self.prepare += began.elapsed();
        let prepared = self.engine.prepare_chosen(&chosen)?;
        operands::check(prepared.recipe(), [a.operand, b.operand, c.operand])?;
        let bindings = [(Buffer::A, a), (Buffer::B, b), (Buffer::C, c)];
        let bindings = bindings.map(|(role, place)| (role, place.address, place.bytes));
        // SAFETY: the blocks have the layouts, alignments and types of the request that the recipe was made for, lie inside memory of this engine, which is
        // freed after the work in its stream, and the one that is written has no element in common with the others.
        unsafe { prepared.launch(&bindings) }
    }
}

impl Place {
    /// Where its rows begin, and the bytes from one to the next.
    fn rows(&self) -> (u64, usize) {
        let Operand { layout, dtype, .. } = self.operand;
        (self.address, layout.row_stride.unsigned_abs() * dtype.size())
    }

    /// The bytes of a row, and how many there are.
    fn extent(&self) -> (usize, usize) {
        let Operand { layout, dtype, .. } = self.operand;
        (layout.cols * dtype.size(), layout.rows)
    }
}

impl std::fmt::Debug for InPlace<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InPlace")
            .field("matrix", &self.matrix)
            .field("semiring", &self.semiring)
            .finish_non_exhaustive()
    }
}

/// The power of two, up to [`MOST_ALIGNMENT`], that divides an address.
fn alignment(address: u64) -> u64 {
    MOST_ALIGNMENT.min(1 << address.trailing_zeros().min(63))
}

fn parts(range: &Range<usize>, at_a_time: usize) -> impl Iterator<Item = Range<usize>> + use<> {
    let end = range.end;
    range.clone().step_by(at_a_time).map(move |start| start..(start + at_a_time).min(end))
}
