//! Products over semirings that are given by their text.
//!
//! The expressions are not compiled. Each of their operations is done for many columns at a time, in loops that the compiler makes of
//! vector instructions, so that deciding what to do costs little beside doing it.

use crate::{
    blocking::{cut, parts},
    choice::Sums,
    isa::Isa,
    log_plus::{Loops, run},
    options::{KernelName, Options, Report},
    plan::Plan,
    share::share,
    shared::Shared,
};
use tilewright_core::{
    DType, Error, MatMut, MatRef, Problem,
    expressions::{Binary, Cell, Expression, Expressions, Node, Unary},
};

/// Columns that are computed side by side: their values stay in the first-level cache.
const COLS: usize = 256;
/// Terms of a block of B, which stays in the second-level cache.
const TERMS: usize = 128;
/// How much longer a term takes than one of a built-in semiring, roughly.
const SLOWER: f64 = 8.0;

/// `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]` over a semiring that is given by its text; with `joins`, joined with the old C.
///
/// Sums run over increasing `k`, and start at the old element where it takes part. Results that are zero are `+0`.
///
/// ```
/// use tilewright_core::{Matrix, expressions::Expressions};
/// use tilewright_cpu::{Options, multiply_expressions};
/// let widest: Expressions = "add=fmaxf(x,y); mul=fminf(x,y); zero=-inf".parse()?;
/// let a = Matrix::from_fn(2, 2, |i, j| (i * 2 + j) as f32)?;
/// let mut c = Matrix::filled(2, 2, 0.0)?;
/// multiply_expressions(&widest, c.as_mut(), a.as_ref(), a.as_ref(), false, &Options::default())?;
/// assert_eq!(c.as_slice(), [1.0, 1.0, 2.0, 3.0]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
///
/// # Errors
/// `inner-mismatch`, `result-mismatch`, `outside-domain`; C is untouched then. `unsupported` where the text breaks a law of semirings on
/// this type. `environment` or `unavailable` as [`crate::multiply`]; `cancelled`, which leaves C undefined.
pub fn multiply_expressions<T: Cell>(
    semiring: &Expressions,
    mut c: MatMut<'_, T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    joins: bool,
    options: &Options<'_>,
) -> Result<Report, Error> {
    let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
    options.epilogue.check_absent("a semiring that is given by its text")?;
    let isa = Isa::choose(options.isa)?;
    semiring.check(T::DTYPE)?;
    semiring.check_elements(a, b)?;
    let job = Job { semiring, c: Shared::new(&mut c), a, b, joins, options, isa };
    let threads = threads(&problem, options);
    let rows: Vec<_> = cut(0..problem.m(), threads, 1).filter(|rows| !rows.is_empty()).collect();
    share(&rows, threads, &|rows| job.rows(rows.clone()))?;
    options.check_cancelled()?;
    Ok(Report { isa, kernel: name(T::DTYPE, isa), threads })
}

/// How [`multiply_expressions`] will compute a product of elements of this type.
///
/// # Errors
/// `environment` or `unavailable` for an instruction set that cannot be used.
pub fn plan_expressions(problem: &Problem, dtype: DType, options: &Options<'_>) -> Result<Plan, Error> {
    let isa = Isa::choose(options.isa)?;
    let threads = threads(problem, options);
    let regions = cut(0..problem.m(), threads, 1).filter(|rows| !rows.is_empty()).count();
    Ok(Plan {
        kernel: name(dtype, isa),
        threads: regions,
        regions: (regions, 1),
        parts_of_terms: 1,
        block_terms: TERMS.min(problem.k()),
        block_columns: COLS.min(problem.n()),
        packs_a: false,
        packs_b: true,
        sums: Sums::InC,
        narrows: false,
        prunes: false,
    })
}

fn threads(problem: &Problem, options: &Options<'_>) -> usize {
    options.threads_for(problem.pair_ops() * SLOWER).min(problem.m().max(1))
}

fn name(dtype: DType, isa: Isa) -> KernelName {
    KernelName::new("expressions", dtype.name(), isa, (1, COLS))
}

/// A checked product.
struct Job<'a, T> {
    semiring: &'a Expressions,
    c: Shared<T>,
    a: MatRef<'a, T>,
    b: MatRef<'a, T>,
    joins: bool,
    options: &'a Options<'a>,
    isa: Isa,
}

impl<T: Cell> Job<'_, T> {
    /// Computes rows of C, which no other thread has.
    fn rows(&self, rows: core::ops::Range<usize>) -> Result<(), Error> {
        let (n, k) = (self.b.cols(), self.a.cols());
        let (mut mul, mut add) = (Steps::new(self.semiring.mul()), Steps::new(self.semiring.add()));
        let zero = self.semiring.zero::<T>();
        let mut block = vec![zero; TERMS * COLS.min(n)];
        let zeros = vec![zero; COLS.min(n)];
        let mut sums = zeros.clone();
        let mut factors = [zero; TERMS];
        for cols in parts(0..n, COLS) {
            let width = cols.len();
            // Without terms there are sums all the same.
            for terms in parts(0..k, TERMS).chain((k == 0).then_some(0..0)) {
                self.options.check_cancelled()?;
                for (line, p) in block.chunks_exact_mut(width).zip(terms.clone()) {
                    for (x, j) in line.iter_mut().zip(cols.clone()) {
                        // SAFETY: the term and the column lie inside B.
                        *x = unsafe { self.b.get_unchecked(p, j) };
                    }
                }
                for i in rows.clone() {
                    let is_first = terms.start == 0 && !self.joins;
                    for (sum, j) in sums.iter_mut().zip(cols.clone()) {
                        // SAFETY: the element exists, and no other thread uses its row.
                        *sum = if is_first { zero } else { unsafe { self.c.get(i, j) } };
                    }
                    if terms.start == 0 && self.joins {
                        // As the definition: the old element meets the sum of no terms first.
                        let (steps, x, y) = (&mut add, Operand::Many(&sums[..width]), &zeros[..width]);
                        run(Line { steps, x, y }, self.isa);
                        sums[..width].copy_from_slice(add.result(width));
                    }
                    for (x, p) in factors.iter_mut().zip(terms.clone()) {
                        // SAFETY: the row and the term lie inside A.
                        *x = unsafe { self.a.get_unchecked(i, p) };
                    }
                    let sums = &mut sums[..width];
                    for (&x, line) in factors[..terms.len()].iter().zip(block.chunks_exact(width)) {
                        run(Line { steps: &mut mul, x: Operand::One(x), y: line }, self.isa);
                        let (steps, x, y) = (&mut add, Operand::Many(sums), mul.result(width));
                        run(Line { steps, x, y }, self.isa);
                        sums.copy_from_slice(add.result(width));
                    }
                    for (&sum, j) in sums.iter().zip(cols.clone()) {
                        // SAFETY: as above.
                        unsafe { self.c.set(i, j, sum.positive_zero()) };
                    }
                }
                if let Some(progress) = self.options.progress {
                    progress((rows.len() * width * terms.len()) as u64);
                }
            }
        }
        Ok(())
    }
}

/// An expression, and room for its values.
struct Steps<'a, T> {
    nodes: &'a [Node],
    values: Vec<[T; COLS]>,
}

impl<'a, T: Cell> Steps<'a, T> {
    fn new(expression: &'a Expression) -> Self {
        let nodes = expression.nodes();
        let mut values = vec![[T::ZERO; COLS]; nodes.len()];
        for (value, node) in values.iter_mut().zip(nodes) {
            if let Node::Number(x) = node {
                value.fill(x.of().unwrap_or(T::ZERO));
            }
        }
        Self { nodes, values }
    }

    /// Computes all values.
    #[inline(always)]
    fn compute(&mut self, x: Operand<'_, T>, y: &[T]) {
        let width = y.len();
        for (i, node) in self.nodes.iter().enumerate() {
            let (before, rest) = self.values.split_at_mut(i);
            let Some(to) = rest.first_mut() else { return };
            let (to, of) = (&mut to[..width], |node: usize| &before[node][..width]);
            match *node {
                Node::Number(_) => {}
                Node::X => match x {
                    Operand::One(x) => to.fill(x),
                    Operand::Many(x) => to.copy_from_slice(x),
                },
                Node::Y => to.copy_from_slice(y),
                Node::Unary(operation, x) => unary(operation, of(x), to),
                Node::Binary(operation, x, y) => binary(operation, of(x), of(y), to),
                Node::Choose(condition, yes, no) => {
                    for (((to, c), &yes), &no) in to.iter_mut().zip(of(condition)).zip(of(yes)).zip(of(no)) {
                        *to = if c.is_true() { yes } else { no };
                    }
                }
            }
        }
    }

    fn result(&self, width: usize) -> &[T] {
        self.values.last().map_or(&[], |value| &value[..width])
    }
}

/// What x is.
#[derive(Clone, Copy)]
enum Operand<'a, T> {
    One(T),
    Many(&'a [T]),
}

#[inline(always)]
fn unary<T: Cell>(operation: Unary, x: &[T], to: &mut [T]) {
    #[inline(always)]
    fn all<T: Cell>(operation: Unary, x: &[T], to: &mut [T]) {
        for (to, &x) in to.iter_mut().zip(x) {
            *to = T::unary(operation, x);
        }
    }
    match operation {
        Unary::Negate => all(Unary::Negate, x, to),
        Unary::Absolute => all(Unary::Absolute, x, to),
        Unary::Not => all(Unary::Not, x, to),
    }
}

#[inline(always)]
fn binary<T: Cell>(operation: Binary, x: &[T], y: &[T], to: &mut [T]) {
    #[inline(always)]
    fn all<T: Cell>(operation: Binary, x: &[T], y: &[T], to: &mut [T]) {
        for ((to, &x), &y) in to.iter_mut().zip(x).zip(y) {
            *to = T::binary(operation, x, y);
        }
    }
    match operation {
        Binary::Add => all(Binary::Add, x, y, to),
        Binary::Subtract => all(Binary::Subtract, x, y, to),
        Binary::Multiply => all(Binary::Multiply, x, y, to),
        Binary::Divide => all(Binary::Divide, x, y, to),
        Binary::Min => all(Binary::Min, x, y, to),
        Binary::Max => all(Binary::Max, x, y, to),
        Binary::Less => all(Binary::Less, x, y, to),
        Binary::LessEqual => all(Binary::LessEqual, x, y, to),
        Binary::Greater => all(Binary::Greater, x, y, to),
        Binary::GreaterEqual => all(Binary::GreaterEqual, x, y, to),
        Binary::Equal => all(Binary::Equal, x, y, to),
        Binary::NotEqual => all(Binary::NotEqual, x, y, to),
        Binary::And => all(Binary::And, x, y, to),
        Binary::Or => all(Binary::Or, x, y, to),
    }
}

/// An expression of a line of operands. Both expressions of a semiring share its code, which is long.
struct Line<'a, 'e, T> {
    steps: &'a mut Steps<'e, T>,
    x: Operand<'a, T>,
    y: &'a [T],
}

impl<T: Cell> Loops for Line<'_, '_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.steps.compute(self.x, self.y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{Layout, Matrix, MinMax, MinPlus, PlusTimes, Semiring, Update, reference};

    fn matrix<T: Cell>(layout: Layout, seed: usize) -> Matrix<T> {
        let at = |i: usize, j: usize| T::of(((i * 7 + j * 13 + i * j + seed) % 31) as f64 - 9.0).unwrap();
        let mut data = vec![T::ZERO; layout.rows * layout.cols];
        for (i, j) in (0..layout.rows).flat_map(|i| (0..layout.cols).map(move |j| (i, j))) {
            data[layout.offset(i, j) as usize] = at(i, j);
        }
        Matrix::from_vec(data, layout).unwrap()
    }

    /// The text gives what the built-in semiring gives, on every path, in every layout, around the edges of blocks.
    fn agrees<S: Semiring<Elem = T, Acc = T, Out = T>, T: Cell>(text: &str) {
        let semiring: Expressions = text.parse().unwrap();
        for (m, n, k) in
            [(1, 1, 1), (3, 255, 127), (4, 257, 129), (2, 520, 300), (5, 3, 0), (0, 4, 2), (70, 40, 90)]
        {
            let a = matrix::<T>(Layout::col_major(m, k), 1);
            for b in [Layout::row_major(k, n), Layout::col_major(k, n)].map(|b| matrix::<T>(b, 2)) {
                for joins in [false, true] {
                    let old = matrix::<T>(Layout::row_major(m, n), 3);
                    let mut expected = old.clone();
                    let update = if joins { Update::Accumulate } else { Update::Replace };
                    reference::multiply::<S>(expected.as_mut(), a.as_ref(), b.as_ref(), &update).unwrap();
                    for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_supported()) {
                        let options = Options { isa: Some(isa), threads: 2, ..Options::default() };
                        let mut c = old.clone();
                        let (a, b) = (a.as_ref(), b.as_ref());
                        let report =
                            multiply_expressions(&semiring, c.as_mut(), a, b, joins, &options).unwrap();
                        assert!(c.as_ref() == expected.as_ref(), "{text} {isa} {m}x{n}x{k}");
                        assert_eq!(report.isa, isa);
                    }
                }
            }
        }
    }

    #[test]
    fn texts_agree_with_built_in_semirings() {
        agrees::<MinPlus<f32>, _>("add=fminf(x,y); mul=x+y; zero=inf; one=0");
        agrees::<MinMax<f64>, _>("add=x<y?x:y; mul=x>y?x:y; zero=inf; one=-inf");
        agrees::<PlusTimes<f64>, _>("add=x+y; mul=x*y; zero=0; one=1");
        agrees::<PlusTimes<i32>, _>("add=x - -y; mul=x*y; zero=0");
        agrees::<PlusTimes<i64>, _>("add=y+x; mul=(x*y); zero=0");
    }

    #[test]
    fn what_is_wrong_is_refused_before_c_is_touched() {
        let a = matrix::<f32>(Layout::row_major(3, 3), 1);
        let mut c = matrix::<f32>(Layout::row_major(3, 3), 2);
        let before = c.clone();
        for (text, code) in [
            ("add=x-y; mul=x*y; zero=0", "unsupported"),
            ("add=max(x,y); mul=x*y; zero=0; where=x>=0", "outside-domain"),
        ] {
            let semiring: Expressions = text.parse().unwrap();
            let options = Options::default();
            let (a, to) = (a.as_ref(), c.as_mut());
            let error = multiply_expressions(&semiring, to, a, a, false, &options).unwrap_err();
            assert_eq!(error.code(), code, "{error}");
        }
        assert!(c.as_ref() == before.as_ref());
    }
}
