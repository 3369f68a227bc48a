//! What the tests of the engine share: problems that are computed twice, by the engine and by the definition.

#![allow(dead_code)] // Every test program uses its own part.
#![allow(unused_imports, clippy::unwrap_used)]

mod bound;
mod case;
mod placed;
mod values;

pub use case::{Case, Join, Subject, case, check, config, isas};
pub use placed::{Form, Placed, form, written_form};
pub use values::{Palette, Random, Sample, admitted};

use tilewright_core::{Layout, MatMut, MatRef, NO_ARG, Semiring, Update};
use tilewright_cpu::{Isa, Options, multiply, multiply_arg};

/// Options that name an instruction set and nothing else.
pub fn on(isa: Isa) -> Options<'static> {
    Options { isa: Some(isa), ..Options::default() }
}

/// A row-major matrix over a slice.
pub fn rows<T>(data: &[T], rows: usize, cols: usize) -> MatRef<'_, T> {
    MatRef::new(data, Layout::row_major(rows, cols)).unwrap()
}

/// A row-major matrix over a slice, to be written.
pub fn rows_mut<T>(data: &mut [T], rows: usize, cols: usize) -> MatMut<'_, T> {
    MatMut::new(data, Layout::row_major(rows, cols)).unwrap()
}

/// One sum of terms `a[p] ⊗ b[p]`, computed in every place of an `m x n` product at once: all must agree.
pub fn sum<S: Semiring<Out: PartialEq + std::fmt::Debug>>(a: &[S::Elem], b: &[S::Elem], isa: Isa) -> S::Out {
    let [k, m, n] = [a.len(), 5, 19];
    let a = MatRef::new(a, Layout::strided(m, k, 0, 1)).unwrap();
    let b = MatRef::new(b, Layout::strided(k, n, 1, 0)).unwrap();
    let mut c = vec![S::finish(S::ZERO); m * n];
    multiply::<S>(rows_mut(&mut c, m, n), a, b, &Update::Replace, &on(isa)).unwrap();
    // Not by comparison: floats are compared by their callers.
    assert!(c.iter().all(|x| format!("{x:?}") == format!("{:?}", c[0])), "{} on {isa}: {c:?}", S::NAME);
    c[0]
}

/// As [`sum`], with the term that won; `old` is an old element to accumulate on.
pub fn sum_arg<S: Semiring<Out: std::fmt::Debug>>(
    a: &[S::Elem],
    b: &[S::Elem],
    old: Option<S::Out>,
    isa: Isa,
) -> (S::Out, Option<u32>) {
    let [k, m, n] = [a.len(), 5, 19];
    let a = MatRef::new(a, Layout::strided(m, k, 0, 1)).unwrap();
    let b = MatRef::new(b, Layout::strided(k, n, 1, 0)).unwrap();
    let mut c = vec![old.unwrap_or(S::finish(S::ZERO)); m * n];
    let mut arg = vec![0xdead_beef; m * n];
    let update = if old.is_some() { Update::Accumulate } else { Update::Replace };
    let (c_view, arg_view) = (rows_mut(&mut c, m, n), rows_mut(&mut arg, m, n));
    multiply_arg::<S>(c_view, arg_view, a, b, &update, &on(isa)).unwrap();
    assert!(arg.iter().all(|&x| x == arg[0]), "{} on {isa}: {arg:?}", S::NAME);
    (c[0], (arg[0] != NO_ARG).then_some(arg[0]))
}
