//! The closure of a matrix, in place.

use crate::{
    block,
    blocks::Blocks,
    cycle,
    device::Device,
    graph::Graph,
    options::{check_cancelled, tell},
    pass::Pass,
    range::{self, Range},
    reach,
    scan::{self, largest_of},
    schedule::{self, Step},
    semiring::{PathSemiring, is_rounded, margin},
    solver::solver,
    sources::search_all,
    wide,
};
use tilewright_core::{Error, ErrorKind, Layout, MatMut, MatRef, Matrix, MaxPlus, MinPlus};
use tilewright_cpu::{Isa, Options};

/// Turns weights of edges into weights of the best paths, in place: `D[i,j] = ⊕` over all paths from `i` to `j`, those without an edge
/// (`D[i,i]` is [`ONE`](tilewright_core::Semiring::ONE)) included.
///
/// `D` holds the weight of the edge from row to column, and [`ZERO`](tilewright_core::Semiring::ZERO) (infinity under min-plus, the
/// extreme integer) where there is none. NaN is no edge. Beside `D` no more than [`bytes_beside`] are taken, but for integers that are so large that
/// their sums need 64 bits, and for floats among which an edge makes paths better: of these a copy is kept. Where a cycle then seems to make paths better, a search
/// from every vertex of the copy decides, and takes as much again.
///
/// ```
/// use tilewright_paths::{Options, close};
/// use tilewright_core::{Matrix, MinPlus};
/// let inf = f32::INFINITY;
/// let mut d = Matrix::from([[inf, 3.0, 9.0], [inf, inf, 4.0], [1.0, inf, inf]]);
/// close::<MinPlus<f32>>((&mut d).into(), &Options::default())?;
/// assert_eq!(d, Matrix::from([[0.0, 3.0, 7.0], [5.0, 0.0, 4.0], [1.0, 4.0, 0.0]]));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
///
/// # Errors
/// `not-square`; `outside-domain` for an edge whose weight the semiring does not contain; `negative-cycle` (the vertices are in the order of
/// a turn; others may lie between them); `conversion` for a path whose weight the integer type cannot hold; `out-of-memory`; `cancelled`. `D` is undefined then.
pub fn close<S: PathSemiring>(d: MatMut<'_, S::Weight>, options: &Options<'_>) -> Result<(), Error> {
    solver::<S>().close(d, None, options)
}

/// As [`close`], on a device. `D` is as it was after a `negative-cycle`.
///
/// # Errors
/// As [`close`]; `unsupported` for a semiring or type that the device does not compute; whatever a device fails with.
pub fn close_on<S: PathSemiring>(
    device: &dyn Device,
    d: MatMut<'_, S::Weight>,
    options: &Options<'_>,
) -> Result<(), Error> {
    solver::<S>().close(d, Some(device), options)
}

pub(crate) fn close_generic<S: PathSemiring>(
    mut d: MatMut<'_, S::Weight>,
    device: Option<&dyn Device>,
    options: &Options<'_>,
) -> Result<(), Error> {
    let mut copy = None;
    let keep = |d: MatRef<'_, S::Weight>| {
        copy = Some(Matrix::copy_of(d)?);
        Ok(())
    };
    if attempt::<S>(d.reborrow(), device, options, keep)? {
        return Ok(());
    }
    let copy = copy.ok_or_else(wide::unsupported::<S>)?;
    let (found, _) = search_all(&Graph::<S>::of_matrix(copy.as_ref())?, false, &in_silence(options))?;
    d.fill_with(|i, j| found[(i, j)]);
    Ok(())
}

/// Work that comes in place of what was told already.
pub(crate) fn in_silence<'a>(options: &Options<'a>) -> Options<'a> {
    Options { progress: None, ..*options }
}

/// As [`close`], of the weights `w` into `d`; a cycle is named with all its vertices. False where weights are rounded, and a cycle seems to make paths better:
/// searches decide then whether it does, and `d` is undefined.
pub(crate) fn close_to<S: PathSemiring>(
    w: MatRef<'_, S::Weight>,
    mut d: MatMut<'_, S::Weight>,
    device: Option<&dyn Device>,
    options: &Options<'_>,
) -> Result<bool, Error> {
    check_square("W", w.layout())?;
    // SAFETY: the shapes are equal.
    d.fill_with(|i, j| unsafe { w.get_unchecked(i, j) });
    attempt::<S>(d, device, options, |_| Ok(())).map_err(|error| match error.kind() {
        ErrorKind::NegativeCycle { cycle, .. } => {
            let largest = largest_of::<S>(w, options.threads).unwrap_or(0.0);
            cycle::name::<S>(w, cycle.first().copied().unwrap_or(0), largest)
        }
        _ => error,
    })
}

/// Closes `d`, or gives false as [`close_to`]. What might be needed then is looked at first by `keep`.
fn attempt<S: PathSemiring>(
    mut d: MatMut<'_, S::Weight>,
    device: Option<&dyn Device>,
    options: &Options<'_>,
    keep: impl FnOnce(MatRef<'_, S::Weight>) -> Result<(), Error>,
) -> Result<bool, Error> {
    check_square("D", d.layout())?;
    if device.is_none()
        && let Some(built_in) = S::BUILT_IN
        && let Some(reached) = built_in.result(d.reborrow()).typed::<bool>()
    {
        return reach::close(reached, options).map(|()| true);
    }
    let Some(Prepared { margin, largest, gains }) = prepare::<S>(d.reborrow(), options.threads)? else {
        return close_wide::<S>(d, device, options).map(|()| true);
    };
    if gains && is_rounded::<S>() {
        keep(d.as_ref())?;
    }
    let gain = match device {
        None => run::<S>(d.reborrow(), margin, options)?,
        Some(device) => {
            let built_in = S::BUILT_IN.ok_or_else(wide::unsupported::<S>)?;
            device.close(built_in.id(), built_in.result(d.reborrow()), options)?
        }
    };
    match gain {
        None => {
            if gains && is_rounded::<S>() {
                forget_roundings::<S>(d);
            }
            Ok(true)
        }
        Some(_) if is_rounded::<S>() => Ok(false),
        Some(vertex) => Err(cycle::name::<S>(d.as_ref(), vertex, largest)),
    }
}

/// Makes the diagonal `ONE`. A cycle that counts as zero can weigh a rounding less than nothing, once a later vertex joins it.
fn forget_roundings<S: PathSemiring>(mut d: MatMut<'_, S::Weight>) {
    for i in 0..d.rows() {
        d[(i, i)] = S::ONE;
    }
}

/// Refuses what is no graph.
pub(crate) fn check_square(what: &'static str, layout: Layout) -> Result<(), Error> {
    let Layout { rows, cols, .. } = layout;
    if rows == cols { Ok(()) } else { Err(ErrorKind::NotSquare { what, rows, cols }.into()) }
}

/// Bytes that [`close`] takes beside a matrix of `n` rows whose elements have `size` bytes, roughly; as much again for each further thread's panel of
/// 64 columns.
pub fn bytes_beside(n: usize, size: usize) -> usize {
    crate::pass::bytes_beside(n, size)
}

/// What is known of a matrix before it is closed.
struct Prepared<W> {
    margin: W,
    /// The largest magnitude.
    largest: f64,
    /// Whether an edge makes paths better.
    gains: bool,
}

/// Makes elements clean, and the diagonal no worse than `ONE`; `None` where sums need 64 bits.
fn prepare<S: PathSemiring>(
    mut d: MatMut<'_, S::Weight>,
    threads: usize,
) -> Result<Option<Prepared<S::Weight>>, Error> {
    if range::find::<S>(d.as_ref(), threads)? == Range::Wide {
        return Ok(None);
    }
    let gains = scan::clean::<S>(d.reborrow(), threads)?;
    let largest = if gains { largest_of::<S>(d.as_ref(), threads)? } else { 0.0 };
    // Where no edge makes a path better, no order of roundings makes a way worse than a part of it.
    let margin = if gains { margin::<S>(d.rows(), largest) } else { S::ONE };
    Ok(Some(Prepared { margin, largest, gains }))
}

/// Closes what is prepared, or gives the first vertex through which a cycle gains.
fn run<S: PathSemiring>(
    d: MatMut<'_, S::Weight>,
    margin: S::Weight,
    options: &Options<'_>,
) -> Result<Option<usize>, Error> {
    let (n, isa) = (d.rows(), Isa::choose(options.isa)?);
    let pass = Pass::<S> { n, margin, isa, options };
    let mut d = Blocks::new(d);
    for step in schedule::steps(n) {
        check_cancelled(options)?;
        match &step {
            Step::Close { pivot } => {
                if let Err(vertex) = block::close::<S>(d.one((pivot, pivot)), isa) {
                    return Ok(Some(pivot.start + vertex));
                }
                tell(options, step.terms());
            }
            Step::Pass { pivot, others } => pass.run(&mut d, pivot, others)?,
        }
    }
    // Threads that helped may have left something undone.
    check_cancelled(options).map(|()| None)
}

/// Closes a copy in 64 bits, because sums may leave the range in which products are computed.
fn close_wide<S: PathSemiring>(
    mut d: MatMut<'_, S::Weight>,
    device: Option<&dyn Device>,
    options: &Options<'_>,
) -> Result<(), Error> {
    let mut wide = wide::widen::<S>(d.as_ref())?;
    match wide::is_max_plus::<S>() {
        true => close_generic::<MaxPlus<i64>>(wide.as_mut(), device, options)?,
        false => close_generic::<MinPlus<i64>>(wide.as_mut(), device, options)?,
    }
    let narrow = wide::narrow::<S>(wide)?;
    d.fill_with(|i, j| narrow[(i, j)]);
    Ok(())
}
