//! A product as libraries see it that know columns only: a pure function of the layouts.

use crate::ffi::cublas::{AS_IS, Operation, TRANSPOSED};
use std::ffi::c_int;
use tilewright_core::{Layout, Problem};

/// A column-major product.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gemm {
    /// Rows and columns of C, and terms.
    pub(super) m: c_int,
    pub(super) n: c_int,
    pub(super) k: c_int,
    pub(super) a: Stored,
    pub(super) b: Stored,
    pub(super) c: Stored,
    /// Whether A and B have changed places: of a C that lies by rows the transpose is computed.
    exchanged: bool,
}

/// A matrix by columns: how it enters the product, and how far apart its columns are.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    pub(super) operation: Operation,
    pub(super) pitch: c_int,
}

impl Gemm {
    /// What a library takes, for those who have something else.
    pub(super) const TAKES: &str =
        "it takes matrices with neighbouring elements in rows or in columns, and at most 2^31 of each";

    /// None where a matrix has neighbouring elements neither in rows nor in columns, or is too large.
    pub(super) fn of(problem: &Problem) -> Option<Self> {
        let (a, b, c) = (problem.a(), problem.b(), problem.c());
        let stored = Stored::of(c)?;
        // The transpose of C is the product of the transposes in the other order.
        let exchanged = stored.operation == TRANSPOSED;
        let (a, b, c) = if exchanged { (b.t(), a.t(), c.t()) } else { (a, b, c) };
        let size = |value: usize| c_int::try_from(value).ok();
        Some(Self {
            m: size(c.rows)?,
            n: size(c.cols)?,
            k: size(a.cols)?,
            a: Stored::of(a)?,
            b: Stored::of(b)?,
            c: Stored { operation: AS_IS, ..stored },
            exchanged,
        })
    }

    /// What belongs to the product's A and B, for the call's.
    pub(super) fn in_order<T>(&self, [a, b, c]: [T; 3]) -> [T; 3] {
        if self.exchanged { [b, a, c] } else { [a, b, c] }
    }

    /// Rows and columns of A, B and C as they are stored.
    pub(super) fn shapes(&self) -> [(c_int, c_int); 3] {
        let Self { m, n, k, a, b, .. } = *self;
        let stored =
            |operation, rows, cols| if operation == TRANSPOSED { (cols, rows) } else { (rows, cols) };
        [stored(a.operation, m, k), stored(b.operation, k, n), (m, n)]
    }
}

impl Stored {
    fn of(layout: Layout) -> Option<Self> {
        let pitch = |along: usize, stride: isize, count: usize| {
            // With one column the stride says nothing; the library wants one that is long enough.
            let stride = if count <= 1 { along.max(1) } else { usize::try_from(stride).ok()? };
            c_int::try_from(stride).ok().filter(|_| stride >= along.max(1))
        };
        let Layout { rows, cols, row_stride, col_stride } = layout;
        let columns = (row_stride == 1 || rows <= 1).then(|| pitch(rows, col_stride, cols)).flatten();
        let lines = || (col_stride == 1 || cols <= 1).then(|| pitch(cols, row_stride, rows)).flatten();
        columns
            .map(|pitch| Self { operation: AS_IS, pitch })
            .or_else(|| lines().map(|pitch| Self { operation: TRANSPOSED, pitch }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_as_the_library_sees_them() {
        let column_major = |layout| Stored::of(layout).map(|stored| (stored.operation, stored.pitch));
        assert_eq!(column_major(Layout::col_major(3, 4)), Some((AS_IS, 3)));
        assert_eq!(column_major(Layout::row_major(3, 4)), Some((TRANSPOSED, 4)));
        assert_eq!(column_major(Layout::strided(3, 4, 1, 10)), Some((AS_IS, 10)));
        assert_eq!(column_major(Layout::strided(3, 4, 10, 1)), Some((TRANSPOSED, 10)));
        assert_eq!(column_major(Layout::row_major(1, 4)), Some((AS_IS, 1)));
        assert_eq!(column_major(Layout::row_major(4, 1)), Some((AS_IS, 4)));
        for (row_stride, col_stride) in [(20, 2), (-4, 1), (0, 1), (1, 2), (2, 1)] {
            let found = column_major(Layout::strided(3, 4, row_stride, col_stride));
            assert_eq!(found, None, "{row_stride} {col_stride}");
        }
    }

    /// Computes what a library would, from matrices that are stored one after another.
    fn compute(call: &Gemm, a: &[i64], b: &[i64], c: &mut [i64]) {
        let at = |stored: Stored, row: c_int, col: c_int| match stored.operation {
            AS_IS => (row + col * stored.pitch) as usize,
            _ => (col + row * stored.pitch) as usize,
        };
        for (i, j) in (0..call.m).flat_map(|i| (0..call.n).map(move |j| (i, j))) {
            let term = |k| a[at(call.a, i, k)] * b[at(call.b, k, j)];
            c[at(call.c, i, j)] = (0..call.k).map(term).sum();
        }
    }

    #[test]
    fn every_order_of_a_b_and_c_is_the_same_product() {
        let (m, n, k) = (3, 4, 5);
        let orders = [Layout::row_major, Layout::col_major];
        let element = |i: usize, j: usize| ((i * 7 + j * 3) % 11) as i64 - 4;
        let fill = |layout: Layout| {
            let mut all = vec![0; layout.rows * layout.cols];
            for (i, j) in (0..layout.rows).flat_map(|i| (0..layout.cols).map(move |j| (i, j))) {
                all[i * layout.row_stride as usize + j * layout.col_stride as usize] = element(i, j);
            }
            all
        };
        for (of_a, of_b, of_c) in
            (0..8).map(|bits| (orders[bits & 1], orders[bits >> 1 & 1], orders[bits >> 2]))
        {
            let (a, b, c) = (of_a(m, k), of_b(k, n), of_c(m, n));
            let call = Gemm::of(&Problem::new(a, b, c).expect("shapes fit")).expect("dense");
            let [first, second, _] = call.in_order([fill(a), fill(b), Vec::new()]);
            let mut found = vec![i64::MIN; m * n];
            compute(&call, &first, &second, &mut found);
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let wanted: i64 = (0..k).map(|t| element(i, t) * element(t, j)).sum();
                let at = i * c.row_stride as usize + j * c.col_stride as usize;
                assert_eq!(found[at], wanted, "{a:?} {b:?} {c:?}: [{i}, {j}]");
            }
            // Stored columns are as long as their matrix has rows.
            let [(rows_a, _), (rows_b, _), (rows_c, _)] = call.shapes();
            assert_eq!([rows_a, rows_b, rows_c], [call.a.pitch, call.b.pitch, call.c.pitch]);
        }
    }

    #[test]
    fn four_orders_are_four_pairs_of_transposes() {
        let (m, n, k) = (3, 4, 5);
        let pairs = [
            (Layout::row_major(m, k), Layout::row_major(k, n)),
            (Layout::row_major(m, k), Layout::col_major(k, n)),
            (Layout::col_major(m, k), Layout::row_major(k, n)),
            (Layout::col_major(m, k), Layout::col_major(k, n)),
        ];
        let found = pairs.map(|(a, b)| {
            let problem = Problem::new(a, b, Layout::row_major(m, n)).expect("shapes fit");
            let call = Gemm::of(&problem).expect("dense");
            assert!(call.exchanged && (call.m, call.n, call.k) == (4, 3, 5));
            (call.a.operation, call.b.operation)
        });
        // The first operand of the call is B.
        let wanted = [(AS_IS, AS_IS), (TRANSPOSED, AS_IS), (AS_IS, TRANSPOSED), (TRANSPOSED, TRANSPOSED)];
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_the_library_cannot_take_is_none() {
        let dense = Layout::row_major(4, 4);
        for (a, b, c) in [
            (Layout::strided(4, 4, 20, 2), dense, dense),
            (dense, Layout::strided(4, 4, -4, 1), dense),
            (dense, dense, Layout::strided(4, 4, 20, 2)),
        ] {
            assert_eq!(Gemm::of(&Problem::new(a, b, c).expect("shapes fit")), None);
        }
    }
}
