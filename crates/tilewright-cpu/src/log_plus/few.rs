//! Products of few terms: strips of B and some rows of A become exponentials, are multiplied and finished while they are near. Nothing is planned or
//! allocated for them.

use super::{
    exact::Again,
    near::{Memory, NEAR, Part, Region},
    real::{Real, run},
};
use crate::{
    blocking,
    cache::second_level,
    choice,
    isa::Isa,
    kernel::{Kernel, Vectorised},
    lanes::FloatLanes,
    options::Options,
    share::share,
    workspace::Workspace,
};
use core::{marker::PhantomData, ops::Range};
use tilewright_core::{Error, PlusTimes, semiring::Arithmetic};

/// Terms that are few.
const TERMS: usize = 128;

/// The kernel of plus-times for sums of `k` terms that are few, with A in rows and B packed.
pub fn kernel<T: Real + Arithmetic>(isa: Isa, k: usize) -> Option<Kernel<T, T, T>>
where
    PlusTimes<T>: Vectorised<Elem = T, Lane = T>,
{
    let kernel = <PlusTimes<T> as Vectorised>::kernel(isa);
    let packed = kernel.in_place.as_ref().filter(|_| k <= TERMS)?.both;
    Some(Kernel { packed, in_place: None, ..kernel })
}

/// Columns of B that are near at a time: half of the second-level cache, in whole strips.
pub fn columns<T>(kernel: &Kernel<T, T, T>, k: usize, n: usize) -> usize {
    let (strip, all) = (kernel.tile().1, n.saturating_mul(k * size_of::<T>()));
    if all <= second_level() / 2 {
        n
    } else {
        (second_level() / 2 / (k * size_of::<T>()) / strip * strip).max(strip)
    }
}

/// Computes all of C and returns the number of threads that took part.
///
/// # Errors
/// `out-of-memory`, `cancelled`.
pub fn compute<T: Real>(
    kernel: &Kernel<T, T, T>,
    again: &Again<'_, T>,
    options: &Options<'_>,
) -> Result<usize, Error> {
    let (m, n, k) = (again.a.rows(), again.b.cols(), again.a.cols());
    if m == 0 || n == 0 {
        return Ok(0);
    }
    let region = |rows: Range<usize>, cols: Range<usize>| {
        let terms = (rows.len() * cols.len() * k) as u64;
        match again.isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => on::<T, T::Avx512>(kernel, again, rows, cols, options),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => on::<T, T::Avx2>(kernel, again, rows, cols, options),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => on::<T, T::Neon>(kernel, again, rows, cols, options),
            _ => on::<T, T::Portable>(kernel, again, rows, cols, options),
        }?;
        if let Some(progress) = options.progress {
            progress(terms);
        }
        Ok(())
    };
    let threads = options.threads_for(m as f64 * n as f64 * k as f64);
    if threads == 1 {
        return region(0..m, 0..n).map(|()| 1);
    }
    let counts = choice::regions(kernel, again.a.layout(), again.b.layout(), threads);
    let regions = blocking::regions((m, n), counts, kernel.tile());
    share(&regions, threads, &|(rows, cols)| region(rows.clone(), cols.clone()))?;
    Ok(threads.min(regions.len()))
}

/// Computes a part of C with these vectors.
fn on<T: Real, V: FloatLanes<T = T>>(
    kernel: &Kernel<T, T, T>,
    again: &Again<'_, T>,
    rows: Range<usize>,
    cols: Range<usize>,
    options: &Options<'_>,
) -> Result<(), Error> {
    let k = again.a.cols();
    let near = columns(kernel, k, cols.len());
    let padded = near.next_multiple_of(V::LEN);
    let (height, width) = kernel.tile();
    let row = k.next_multiple_of(V::LEN);
    let bytes = [padded * k, padded, padded, NEAR * row, height * width].map(|count| count * size_of::<T>());
    Workspace::with(|workspace| {
        let [b, best, span, a, sums] = workspace.reserve_anew(bytes, align_of::<T>())?;
        let memory =
            Memory { b: b.cast(), best: best.cast(), span: span.cast(), a: a.cast(), sums: sums.cast() };
        let (tiles, least) = (kernel.packed, T::least_sum(k));
        let region = Region::<T, V> { again, tiles, near, width, row, least, memory, lanes: PhantomData };
        run(Part { region, rows, cols, options }, again.isa)
    })
}
