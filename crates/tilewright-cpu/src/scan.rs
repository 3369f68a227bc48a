//! Looks at all elements before C is touched: for those that a semiring does not contain, and for windows of
//! integers.

use crate::{
    blocking::cut,
    isa::Isa,
    narrow::{Code, Codes, Integer, Seen, Window},
    options::Options,
    pack::Load,
    prune::{self, Metric},
    share::share,
};
use core::marker::PhantomData;
use std::sync::{Mutex, PoisonError};
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
    for (operand, x) in [("A", a), ("B", b)] {
        in_parts(x, options, &|first, part| refuse::<S>(operand, x, first, part, isa))?;
    }
    Ok(())
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
    let window = |operand, x| -> Result<Window<S::Elem>, Error> {
        let all = Mutex::new(Window::NOTHING);
        in_parts(x, options, &|first, part| {
            let seen: Window<S::Elem> = look::<Span<MAX>, _>(part, isa);
            if !(seen.is_empty() || S::admits(seen.least) && S::admits(seen.most)) {
                return refuse::<S>(operand, x, first, part, isa);
            }
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            *all = all.join(seen);
            Ok(())
        })?;
        Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
    };
    Ok(Code::of(MAX, [window("A", a)?, window("B", b)?]))
}

/// The type of [`scale`].
pub type FindScale<E> = fn(MatRef<'_, E>, MatRef<'_, E>, Isa) -> Option<f64>;

/// [`prune::scale`] with this processor's instructions.
pub fn scale<E: Copy, P: Metric, L: Load<E, P>, const MAX: bool>(
    a: MatRef<'_, E>,
    b: MatRef<'_, E>,
    isa: Isa,
) -> Option<f64> {
    look::<Sample<P, L, MAX>, _>((a, b), isa)
}

/// What is done with a part of a matrix and the number of its first row.
type OnPart<'a, E> = dyn Fn(usize, MatRef<'_, E>) -> Result<(), Error> + Sync + 'a;

/// Calls `f` with parts of `x`, shared among threads.
fn in_parts<E: Copy + Sync>(x: MatRef<'_, E>, options: &Options<'_>, f: &OnPart<'_, E>) -> Result<(), Error> {
    let elements = x.rows() as f64 * x.cols() as f64;
    let threads = options.threads_for(elements * TERMS_PER_ELEMENT);
    let parts: Vec<_> = cut(0..x.rows(), threads, 1).collect();
    share(&parts, threads, &|rows| f(rows.start, x.window(rows.start, 0, rows.len(), x.cols())?))
}

/// Refuses elements of `part`, which are the rows of `x` from `first` on.
fn refuse<S: Semiring>(
    operand: &'static str,
    x: MatRef<'_, S::Elem>,
    first: usize,
    part: MatRef<'_, S::Elem>,
    isa: Isa,
) -> Result<(), Error> {
    let found = look::<Outside<S>, _>(part, isa).map(|(row, col)| (first + row, col));
    domain::refuse::<S>(operand, x, found)
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

/// Some outputs, to see how many terms they need; with `MAX`, under max-plus.
struct Sample<P, L, const MAX: bool>(PhantomData<(P, L)>);

impl<E: Copy, P: Metric, L: Load<E, P>, const MAX: bool> Scan<(MatRef<'_, E>, MatRef<'_, E>)>
    for Sample<P, L, MAX>
{
    type Seen = Option<f64>;
    #[inline(always)]
    fn scan((a, b): (MatRef<'_, E>, MatRef<'_, E>)) -> Option<f64> {
        prune::scale::<E, P, L, MAX>(a, b)
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
