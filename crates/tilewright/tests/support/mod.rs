//! Products by a backend against the definition.
#![allow(dead_code)] // Each test program uses its part.

use tilewright::{
    Backend, Error, Layout, MatMut, MatRef, Options, Product, Report, Semiring, Update, reference,
};

/// Small whole numbers, exact in every type.
pub fn numbers<T>(count: usize, salt: usize, make: fn(i64) -> T) -> Vec<T> {
    (0..count).map(|i| make(((i * 31 + salt * 17) % 23) as i64 - 7)).collect()
}

/// Layouts of every kind for a matrix of this shape, each with the index of element (0, 0).
pub fn layouts(rows: usize, cols: usize) -> Vec<(Layout, usize)> {
    let (r, c) = (rows as isize, cols as isize);
    vec![
        (Layout::row_major(rows, cols), 0),
        (Layout::col_major(rows, cols), 0),
        (Layout::strided(rows, cols, -c, 1), rows.saturating_sub(1) * cols),
        (Layout::strided(rows, cols, c + 3, 1), 5),
        (Layout::strided(rows, cols, 1, -(r + 2)), (rows + 2) * cols.saturating_sub(1)),
        (Layout::strided(rows, cols, 3 * c, 3), 1),
    ]
}

/// What makes elements of A and B, and of C, from a number.
pub type Makers<E, O> = (fn(i64) -> E, fn(i64) -> O);

/// One product by a backend and by the definition, with guards around C.
pub fn compare<S: Semiring<Elem: Copy, Out: Copy + PartialEq + std::fmt::Debug>>(
    backend: Backend,
    (m, n, k): (usize, usize, usize),
    which: [usize; 3],
    update: &Update<S>,
    (elem, out): Makers<S::Elem, S::Out>,
) -> Result<Report, Error> {
    let [(la, oa), (lb, ob), (lc, oc)] =
        [layouts(m, k)[which[0]], layouts(k, n)[which[1]], layouts(m, n)[which[2]]];
    let room = |rows: usize, cols: usize| 4 * (rows + 4) * (cols + 4);
    let (a, b) = (numbers(room(m, k), 1, elem), numbers(room(k, n), 2, elem));
    let (a, b) = (MatRef::with_origin(&a, la, oa)?, MatRef::with_origin(&b, lb, ob)?);
    let mut found = numbers(room(m, n), 3, out);
    let mut wanted = found.clone();
    reference::multiply::<S>(MatMut::with_origin(&mut wanted, lc, oc)?, a, b, update)?;
    let product = Product::<S>::new(a, b)?.options(Options { backend, ..Options::default() });
    let report = product.run(MatMut::with_origin(&mut found, lc, oc)?, None, update)?;
    assert_eq!(report.backend, backend);
    assert!(report.seconds > 0.0 && report.transfer_seconds > 0.0 && report.prepare_seconds >= 0.0);
    assert!(found == wanted, "{} {m} x {n} x {k}, layouts {which:?}, by {}", S::NAME, report.kernel);
    Ok(report)
}

/// A semiring that no kernel knows.
#[derive(Clone, Copy)]
pub struct Own;

impl Semiring for Own {
    type Elem = f32;
    type Acc = f32;
    type Out = f32;
    const NAME: &'static str = "own";
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    fn add(x: f32, y: f32) -> f32 {
        x.max(y)
    }
    fn mul_add(acc: f32, a: f32, b: f32) -> f32 {
        Self::add(acc, a * b)
    }
    fn finish(acc: f32) -> f32 {
        acc
    }
    fn resume(out: f32) -> f32 {
        out
    }
}
