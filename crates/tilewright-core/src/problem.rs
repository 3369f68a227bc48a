//! A product before it is computed: its shapes, checked once.

use crate::{
    epilogue::BIAS,
    error::{Error, ErrorKind},
    layout::Layout,
    semiring::Semiring,
    update::Update,
};

/// The layouts of one product `C = A ⊗ B`, known to fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    a: Layout,
    b: Layout,
    c: Layout,
}

impl Problem {
    /// Checks that A is m x k, B is k x n and C is m x n.
    ///
    /// # Errors
    /// `inner-mismatch` or `result-mismatch`.
    pub fn new(a: Layout, b: Layout, c: Layout) -> Result<Self, Error> {
        if a.cols != b.rows {
            return Err(ErrorKind::InnerMismatch { m: a.rows, k: a.cols, bk: b.rows, n: b.cols }.into());
        }
        let problem = Self { a, b, c };
        problem.check_result("C", c)?;
        Ok(problem)
    }

    /// Rows of A and C.
    pub const fn m(&self) -> usize {
        self.a.rows
    }
    /// Columns of B and C.
    pub const fn n(&self) -> usize {
        self.b.cols
    }
    /// Columns of A, rows of B: the length of every sum.
    pub const fn k(&self) -> usize {
        self.a.cols
    }
    /// Layout of A.
    pub const fn a(&self) -> Layout {
        self.a
    }
    /// Layout of B.
    pub const fn b(&self) -> Layout {
        self.b
    }
    /// Layout of C.
    pub const fn c(&self) -> Layout {
        self.c
    }

    /// The number of terms: `m n k`, as a float because it may exceed 2^64.
    pub fn pair_ops(&self) -> f64 {
        self.m() as f64 * self.n() as f64 * self.k() as f64
    }

    /// Checks that an arg result can be computed into a matrix of this layout.
    ///
    /// # Errors
    /// `result-mismatch`; `unsupported` when ⊕ is not selective, `k` does not fit, or the update scales.
    pub fn check_arg<S: Semiring>(&self, arg: Layout, update: &Update<S>) -> Result<(), Error> {
        self.check_result("the arg result", arg)?;
        let refuse = |why: &str, hint: &str| {
            let what = format!("an arg result of {}", S::NAME);
            Err(ErrorKind::Unsupported { what, why: why.into(), hint: hint.into() }.into())
        };
        if !S::laws().selective_add {
            return refuse(
                "no single k wins a sum",
                "min-plus, max-plus and the other selective semirings have one",
            );
        }
        if self.k() >= u32::MAX as usize {
            return refuse("k does not fit 32 bits", "split the product along k");
        }
        if matches!(update, Update::Scale { .. }) {
            return refuse("alpha and beta leave no winner", "replace or accumulate");
        }
        Ok(())
    }

    /// The layout of a bias as a row, from that of a matrix of one row or one column.
    ///
    /// # Errors
    /// `result-mismatch` when it has not an element for each column of C.
    pub fn bias_layout(&self, bias: Layout) -> Result<Layout, Error> {
        let (m, n) = (self.m(), self.n());
        [bias, bias.t()].into_iter().find(|l| (l.rows, l.cols) == (1, n)).ok_or_else(|| {
            ErrorKind::ResultMismatch { what: BIAS, rows: bias.rows, cols: bias.cols, m, n }.into()
        })
    }

    fn check_result(&self, what: &'static str, l: Layout) -> Result<(), Error> {
        let (m, n) = (self.m(), self.n());
        if (l.rows, l.cols) == (m, n) {
            return Ok(());
        }
        Err(ErrorKind::ResultMismatch { what, rows: l.rows, cols: l.cols, m, n }.into())
    }
}
