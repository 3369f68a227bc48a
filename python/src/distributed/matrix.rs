//! Block-cyclic matrices: what this rank has of one lies in memory that NumPy looks at.

use super::{pinned::detached, ranks::Ranks, watch::Watch};
use crate::{
    errors::{OrRaise, refuse},
    options::item,
    owned::Owned,
    semiring,
};
use core::mem::ManuallyDrop;
use pyo3::prelude::*;
use std::path::PathBuf;
use tilewright::{Backend, DType, DynMatrix, Error, Extremes, Options, SemiringId};
use tilewright_distributed::{
    Axis, Checkpoints, Closure, DistMatrix, Grid, Group, Shape, best_grid, default_block,
    devices::{self, Device},
    multiply, store,
};

/// Rows and columns of a matrix, rows and columns of ranks, and the size of blocks.
type Place = ((usize, usize), (usize, usize), usize);

/// A grid of so many ranks, and a size of blocks, for a matrix.
#[pyfunction]
pub fn default_grid(ranks: usize, shape: (usize, usize)) -> ((usize, usize), usize) {
    let (rows, cols) = shape;
    let grid = best_grid(ranks, (rows, cols, rows.max(cols)));
    ((grid.rows, grid.cols), default_block(rows.max(cols)))
}

/// What this rank has of a matrix of zeros.
#[pyfunction]
pub fn dist_zeros(py: Python<'_>, ranks: &Ranks, place: Place, dtype: &str) -> PyResult<Owned> {
    let (group, dtype) = (ranks.group(py)?, named(py, dtype)?);
    let ((rows, cols), grid, block) = place;
    let made = detached(py, || {
        let grid = Grid::new(group, shape(grid))?;
        let d = DistMatrix::zeros(&grid, dtype, rows, cols, block);
        Ok::<_, Error>(group.agree(d, "taking memory for a matrix")?.into_local())
    });
    made.or_raise(py).map(Owned::new)
}

/// What this rank has of a matrix in a file or a folder of blocks.
#[pyfunction]
pub fn dist_load(
    py: Python<'_>,
    ranks: &Ranks,
    path: PathBuf,
    grid: Option<(usize, usize)>,
    block: Option<usize>,
    dtype: Option<&str>,
) -> PyResult<(Owned, Place)> {
    let group = ranks.group(py)?;
    let dtype = dtype.map(|name| named(py, name)).transpose()?;
    let read = detached(py, || {
        let found = store::stored(group, &path)?;
        let size = (found.rows, found.cols);
        let (usual, usual_block) = default_grid(group.size(), size);
        let (grid, block) = (grid.unwrap_or(usual), block.or(found.block).unwrap_or(usual_block));
        let made = Grid::new(group, shape(grid))?;
        let d = store::read(&made, &path, block, dtype.unwrap_or(found.dtype), Extremes::Absent)?;
        Ok::<_, Error>((d.into_local(), (size, grid, block)))
    });
    read.or_raise(py).map(|(local, place)| (Owned::new(local), place))
}

/// Writes a matrix to a `.npy` file or a folder of blocks.
#[pyfunction]
pub fn dist_save(
    py: Python<'_>,
    ranks: &Ranks,
    place: Place,
    mut part: PyRefMut<'_, Owned>,
    path: PathBuf,
) -> PyResult<()> {
    with(py, ranks, place, part.matrix(), |d| store::write(d, &path))?.or_raise(py)
}

/// The whole matrix.
#[pyfunction]
pub fn dist_gather(
    py: Python<'_>,
    ranks: &Ranks,
    place: Place,
    mut part: PyRefMut<'_, Owned>,
) -> PyResult<Owned> {
    with(py, ranks, place, part.matrix(), |d| d.gather())?.or_raise(py).map(Owned::new)
}

/// What is asked for beside matrices.
struct Wishes<'r> {
    semiring: SemiringId,
    /// Where this rank computes, and what a GPU of its own does not.
    backend: Backend,
    device: Option<&'r Device>,
    threads: usize,
}

impl<'r> Wishes<'r> {
    /// All ranks call it.
    fn of(what: &str, given: &Bound<'_, PyAny>, ranks: &'r Ranks) -> PyResult<Self> {
        let py = given.py();
        let semiring = semiring::built_in(what, &given.get_item("semiring")?)?;
        let backend: Backend = item::<String>(given, "backend")?.parse().or_raise(py)?;
        let threads = item::<Option<usize>>(given, "threads")?.unwrap_or(0);
        let device = ranks.device(py, backend)?;
        // All ranks compute alike, so that none is waited for.
        let backend = if matches!(backend, Backend::Auto | Backend::Cuda) { Backend::Cpu } else { backend };
        Ok(Self { semiring, backend, device, threads })
    }

    /// The options, whose work Ctrl-C ends.
    fn options<'a>(&self, watch: &'a Watch, look: &'a (dyn Fn(u64) + Sync)) -> Options<'a> {
        let (backend, threads, cancel) = (self.backend, self.threads, Some(&watch.cancel));
        Options { backend, threads, cancel, progress: Some(look), ..Options::default() }
    }
}

/// Closes a matrix in place, and gives the steps that an earlier run had done.
#[pyfunction]
pub fn dist_closure(
    py: Python<'_>,
    ranks: &Ranks,
    place: Place,
    mut part: PyRefMut<'_, Owned>,
    wishes: &Bound<'_, PyAny>,
) -> PyResult<Option<usize>> {
    let asked = Wishes::of("the closure on many ranks", wishes, ranks)?;
    let checkpoints: Option<PathBuf> = wishes.get_item("checkpoint")?.extract()?;
    let checkpoints = checkpoints.map(|folder| Checkpoints::new(folder, 0));
    let is_resumed: bool = item(wishes, "resume")?;
    let on_step: Option<Py<PyAny>> = wishes.get_item("on_step")?.extract()?;
    let watch = Watch::new();
    let look = |_| watch.look();
    let before_step = |step: usize, steps: usize| {
        watch.look();
        if let Some(call) = &on_step {
            watch.keep(Python::attach(|py| call.call1(py, (step, steps)).map(drop)));
        }
        watch.cancel.check()
    };
    let closure = Closure {
        options: asked.options(&watch, &look),
        device: asked.device,
        checkpoints: checkpoints.as_ref(),
        before_step: Some(&before_step),
        ..Closure::new(asked.semiring)
    };
    let done = with(py, ranks, place, part.matrix(), |d| match is_resumed {
        true => closure.resume(d).map(|resumed| resumed.done),
        false => closure.run(d).map(|()| None),
    })?;
    watch.result(py, done)
}

/// Weights of best paths, and the stops before the last.
#[pyfunction]
pub fn dist_predecessors(
    py: Python<'_>,
    ranks: &Ranks,
    place: Place,
    mut part: PyRefMut<'_, Owned>,
    wishes: &Bound<'_, PyAny>,
) -> PyResult<(Owned, Owned)> {
    let asked = Wishes::of("predecessors on many ranks", wishes, ranks)?;
    let watch = Watch::new();
    let look = |_| watch.look();
    let (options, device) = (asked.options(&watch, &look), asked.device);
    let closure = Closure { options, device, ..Closure::new(asked.semiring) };
    let done = with(py, ranks, place, part.matrix(), |d| {
        let found = closure.run_with_predecessors(d)?;
        Ok((found.distances.into_local(), found.predecessors.into_local()))
    })?;
    let (distances, predecessors) = watch.result(py, done)?;
    Ok((Owned::new(distances), Owned::new(predecessors)))
}

/// The product of two matrices; without the second, of the first by itself.
#[pyfunction]
pub fn dist_matmul(
    py: Python<'_>,
    ranks: &Ranks,
    a: (Place, PyRefMut<'_, Owned>),
    b: Option<(Place, PyRefMut<'_, Owned>)>,
    wishes: &Bound<'_, PyAny>,
) -> PyResult<Owned> {
    let asked = Wishes::of("a product on many ranks", wishes, ranks)?;
    let group = ranks.group(py)?;
    let watch = Watch::new();
    let look = |_| watch.look();
    let options = asked.options(&watch, &look);
    let ((a_place, mut a), mut b) = (a, b);
    let a = a.matrix();
    let mut b = b.as_mut().map(|(place, b)| (*place, b.matrix()));
    check(py, group, a_place, a)?;
    if let Some((place, b)) = &b {
        check(py, group, *place, b)?;
    }
    let done = detached(py, || {
        let grid = Grid::new(group, shape(a_place.1))?;
        let a = Lent::new(&grid, a_place, a)?;
        let b = b.as_mut().map(|(place, b)| Lent::new(&grid, *place, b)).transpose()?;
        let right = b.as_ref().map_or(&a.d, |b| &b.d);
        let c = match asked.device {
            Some(device) => devices::multiply(device, asked.semiring, &a.d, right, &options),
            None => multiply(asked.semiring, &a.d, right, &options),
        };
        c.map(DistMatrix::into_local)
    });
    watch.result(py, done).map(Owned::new)
}

/// Lets `work` have the matrix of which this rank has `part`.
fn with<T>(
    py: Python<'_>,
    ranks: &Ranks,
    place: Place,
    part: &mut DynMatrix,
    work: impl FnOnce(&mut DistMatrix<'_>) -> Result<T, Error>,
) -> PyResult<Result<T, Error>> {
    let group = ranks.group(py)?;
    check(py, group, place, part)?;
    Ok(detached(py, || {
        let grid = Grid::new(group, shape(place.1))?;
        work(&mut Lent::new(&grid, place, part)?.d)
    }))
}

/// Refuses a part that is not what this rank has of such a matrix.
fn check(py: Python<'_>, group: &dyn Group, place: Place, part: &DynMatrix) -> PyResult<()> {
    let ((rows, cols), (grid_rows, grid_cols), block) = place;
    let len = |len, parts, at| Axis { len, block, parts }.local_len(at);
    let is_alike = block > 0
        && grid_rows > 0
        && grid_cols > 0
        && part.layout().rows == len(rows, grid_rows, group.rank() / grid_cols)
        && part.layout().cols == len(cols, grid_cols, group.rank() % grid_cols);
    if is_alike {
        return Ok(());
    }
    refuse(py, "dimensions", "a matrix of another group", "use a matrix with the group that it was made with")
}

/// A part that is lent to a matrix, and given back whatever happens: arrays of NumPy look at its memory.
struct Lent<'p, 'g> {
    d: ManuallyDrop<DistMatrix<'g>>,
    part: &'p mut DynMatrix,
}

impl<'p, 'g> Lent<'p, 'g> {
    /// `part` has been checked, and is of the right size.
    fn new(grid: &'g Grid<'g>, (size, _, block): Place, part: &'p mut DynMatrix) -> Result<Self, Error> {
        let local = core::mem::replace(part, DynMatrix::zeros(part.dtype(), 0, 0)?);
        let d = DistMatrix::from_local(grid, local, size, block)?;
        Ok(Self { d: ManuallyDrop::new(d), part })
    }
}

impl Drop for Lent<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: it is taken once, here.
        *self.part = unsafe { ManuallyDrop::take(&mut self.d) }.into_local();
    }
}

fn shape((rows, cols): (usize, usize)) -> Shape {
    Shape { rows, cols }
}

/// The type that a name of NumPy or of the library stands for.
fn named(py: Python<'_>, name: &str) -> PyResult<DType> {
    let known = DType::ALL.iter().copied().find(|&dtype| crate::dtype::python_name(dtype) == name);
    known.map_or_else(|| name.parse().or_raise(py), Ok)
}
