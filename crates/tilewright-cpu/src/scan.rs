//! Looks at all elements before C is touched: for those that a semiring does not contain, and for windows of
//! integers.

use crate::{
    blocking::cut,
    isa::Isa,
    narrow::{Code, Codes, Integer, Seen, Window},
    op::By,
    options::Options,
    pack::Load,
    prune::{self, Metric, Model, Operand},
    share::share,
};
use core::marker::PhantomData;
use std::sync::{Mutex, OnceLock, PoisonError};
use tilewright_core::{Error, MatRef, Semiring, domain};

/// How much shorter it takes to look at an element than to compute a term, roughly.
const TERMS_PER_ELEMENT: f64 = 8.0;

/// Refuses elements outside the domain of `S`, scanning with this processor's instructions, rows shared among threads.
///
/// # Errors
/// `outside-domain`, naming the first offending element of A or, if A has none, of B.
pub fn check<S: Semiring>(
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    options: &Options<'_>,
    isa: Isa,
) -> Result<(), Error> {
    if S::ACCEPTS.is_none() {
        return Ok(());
    }
    in_parts([a, b], options, &|operand, first, part| refuse::<S>([a, b], operand, first, part, isa))
}

/// The type of [`codes`].
pub type FindCodes<E> = fn(MatRef<'_, E>, MatRef<'_, E>, &Options<'_>, Isa) -> Result<Option<Codes>, Error>;

/// As [`check`] for integers under min-plus or, with `MAX`, max-plus; and how to write both operands in 16 bits, if that
/// can be done.
///
/// # Errors
/// As [`check`].
pub fn codes<S: Semiring<Elem: Integer>, const MAX: bool>(
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    options: &Options<'_>,
    isa: Isa,
) -> Result<Option<Codes>, Error> {
    let windows = Mutex::new([Window::NOTHING; 2]);
    in_parts([a, b], options, &|operand, first, part| {
        let seen: Window<S::Elem> = look::<Span<MAX>, _>(part, isa);
        if !(seen.is_empty() || S::admits(seen.least) && S::admits(seen.most)) {
            return refuse::<S>([a, b], operand, first, part, isa);
        }
        let mut windows = windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows[operand] = windows[operand].join(seen);
        Ok(())
    })?;
    Ok(Code::of(MAX, windows.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

/// The type of [`scale`].
pub type FindScale<E> = fn(MatRef<'_, E>, MatRef<'_, E>, By, &Model, &Options<'_>, Isa) -> Option<f64>;

/// [`prune::scale()`] with this processor's instructions, A and B shared among threads: the thread that helps is awake then when the
/// product begins.
pub fn scale<E: Copy + Sync, P: Metric, L: Load<E, P>, const MAX: bool>(
    a: MatRef<'_, E>,
    b: MatRef<'_, E>,
    by: By,
    model: &Model,
    options: &Options<'_>,
    isa: Isa,
) -> Option<f64> {
    let threads = options.threads_for(a.rows() as f64 * b.cols() as f64 * a.cols() as f64);
    let samples = [(a, Operand::A), (b.t(), Operand::B)].map(|x| (x, OnceLock::new()));
    share(&samples, threads, &|((x, operand), distances)| {
        distances.get_or_init(|| look::<Sample<P, L, MAX>, _>((*x, by, *operand, model), isa));
        Ok(())
    })
    .ok()?;
    let [rows, cols] = &samples;
    look::<Few, _>((rows.1.get()?.as_slice(), cols.1.get()?.as_slice(), (by, MAX), model), isa)
        .filter(|&scale| P::measures(scale))
}

/// What is done with a part of A (0) or B (1) and the number of its first row.
type OnPart<'a, E> = dyn Fn(usize, usize, MatRef<'_, E>) -> Result<(), Error> + Sync + 'a;

/// Calls `f` with parts of A and B, shared among threads.
fn in_parts<E: Copy + Sync>(
    operands: [MatRef<'_, E>; 2],
    options: &Options<'_>,
    f: &OnPart<'_, E>,
) -> Result<(), Error> {
    let elements: f64 = operands.iter().map(|x| x.rows() as f64 * x.cols() as f64).sum();
    let threads = options.threads_for(elements * TERMS_PER_ELEMENT);
    if threads == 1 {
        return operands.iter().enumerate().try_for_each(|(operand, &x)| f(operand, 0, x));
    }
    let parts: Vec<_> = operands
        .iter()
        .enumerate()
        .flat_map(|(operand, x)| cut(0..x.rows(), threads, 1).map(move |rows| (operand, rows)))
        .collect();
    share(&parts, threads, &|(operand, rows)| {
        let x = operands[*operand];
        f(*operand, rows.start, x.window(rows.start, 0, rows.len(), x.cols())?)
    })
}

/// Refuses elements of `part`, which are the rows of this operand from `first` on.
fn refuse<S: Semiring>(
    operands: [MatRef<'_, S::Elem>; 2],
    operand: usize,
    first: usize,
    part: MatRef<'_, S::Elem>,
    isa: Isa,
) -> Result<(), Error> {
    let found = look::<Outside<S>, _>(part, isa).map(|(row, col)| (first + row, col));
    domain::refuse::<S>(["A", "B"][operand], operands[operand], found)
}

/// What to look for in `X`, one operand or both.
trait Scan<X> {
    type Seen;
    /// Always inlined, and free of closures where many elements are seen, so that a caller's instruction set applies.
    fn scan(x: X) -> Self::Seen;
}

/// The indices of an element that `S` does not admit.
struct Outside<S>(PhantomData<S>);

impl<S: Semiring> Scan<MatRef<'_, S::Elem>> for Outside<S> {
    type Seen = Option<(usize, usize)>;
    #[inline(always)]
    fn scan(x: MatRef<'_, S::Elem>) -> Self::Seen {
        domain::find_outside::<S>(x)
    }
}

/// The window of integers under min-plus or, with `MAX`, max-plus.
struct Span<const MAX: bool>;

impl<E: Integer, const MAX: bool> Scan<MatRef<'_, E>> for Span<MAX> {
    type Seen = Window<E>;
    #[inline(always)]
    fn scan(x: MatRef<'_, E>) -> Window<E> {
        let layout = x.layout();
        let mut seen = Seen::<E, MAX>::NOTHING;
        if layout.is_empty() {
            return seen.window();
        }
        // Walk along the shorter stride; repeated (zero-stride) lines need one look.
        let along_rows = layout.row_stride.unsigned_abs() >= layout.col_stride.unsigned_abs();
        let layout = if along_rows { layout } else { layout.t() };
        let rows = if layout.row_stride == 0 { 1 } else { layout.rows };
        let cols = if layout.col_stride == 0 { 1 } else { layout.cols };
        for i in 0..rows {
            // SAFETY: the indices run inside the layout; a row with unit stride is a slice.
            unsafe {
                let row = x.as_ptr().offset(layout.offset(i, 0));
                if layout.col_stride == 1 {
                    for &element in core::slice::from_raw_parts(row, cols) {
                        seen.see(element);
                    }
                } else {
                    for j in 0..cols {
                        seen.see(*row.offset(j as isize * layout.col_stride));
                    }
                }
            }
        }
        seen.window()
    }
}

/// Some rows, and how far their elements are from the best; with `MAX`, where larger terms win.
struct Sample<P, L, const MAX: bool>(PhantomData<(P, L)>);

/// Rows to look at, and how.
type Looked<'a, E> = (MatRef<'a, E>, By, Operand, &'a Model);

impl<E: Copy, P: Metric, L: Load<E, P>, const MAX: bool> Scan<Looked<'_, E>> for Sample<P, L, MAX> {
    type Seen = Vec<f64>;
    #[inline(always)]
    fn scan((x, by, operand, model): Looked<'_, E>) -> Vec<f64> {
        prune::distances::<E, P, L, MAX>(x, by, operand, model)
    }
}

/// How many terms some outputs need.
struct Few;

impl Scan<(&[f64], &[f64], (By, bool), &Model)> for Few {
    type Seen = Option<f64>;
    #[inline(always)]
    fn scan((rows, cols, order, model): (&[f64], &[f64], (By, bool), &Model)) -> Option<f64> {
        prune::scale(rows, cols, order, model)
    }
}

fn look<L: Scan<X>, X>(x: X, isa: Isa) -> L::Seen {
    match isa {
        // SAFETY: the instruction set was checked to be supported when it was chosen.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { avx512::<L, X>(x) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { avx2::<L, X>(x) },
        _ => L::scan(x),
    }
}

/// # Safety
/// On a processor with AVX-512 F, BW, DQ and VL.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn avx512<L: Scan<X>, X>(x: X) -> L::Seen {
    L::scan(x)
}

/// # Safety
/// On a processor with AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<L: Scan<X>, X>(x: X) -> L::Seen {
    L::scan(x)
}
