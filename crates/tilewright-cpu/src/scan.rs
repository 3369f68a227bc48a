//! Looks for elements that a semiring does not contain, before C is touched.

use crate::{blocking::cut, isa::Isa, options::Options, share::share};
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
        let elements = x.rows() as f64 * x.cols() as f64;
        let threads = options.threads_for(elements * TERMS_PER_ELEMENT);
        let parts: Vec<_> = cut(0..x.rows(), threads, 1).collect();
        share(&parts, threads, &|rows| {
            let part = x.window(rows.start, 0, rows.len(), x.cols())?;
            let found = find_outside::<S>(part, isa).map(|(row, col)| (rows.start + row, col));
            domain::refuse::<S>(operand, x, found)
        })?;
    }
    Ok(())
}

fn find_outside<S: Semiring>(x: MatRef<'_, S::Elem>, isa: Isa) -> Option<(usize, usize)> {
    match isa {
        // SAFETY: the instruction set was checked to be supported when it was chosen.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { avx512::<S>(x) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { avx2::<S>(x) },
        _ => domain::find_outside::<S>(x),
    }
}

/// # Safety
/// On a processor with AVX-512 F, BW, DQ and VL.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn avx512<S: Semiring>(x: MatRef<'_, S::Elem>) -> Option<(usize, usize)> {
    domain::find_outside::<S>(x)
}

/// # Safety
/// On a processor with AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<S: Semiring>(x: MatRef<'_, S::Elem>) -> Option<(usize, usize)> {
    domain::find_outside::<S>(x)
}
