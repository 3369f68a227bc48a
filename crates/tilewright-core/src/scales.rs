//! Scales of 8-bit floats: numbers by which a product multiplies its operands, or parts of them.

use crate::{
    dtype::DType,
    dynamic::DynRef,
    error::{Error, ErrorKind},
    layout::Layout,
    problem::Problem,
    semiring::{BuiltIn, Semiring, SemiringId, Singles},
    view::MatRef,
};

/// Scales of A and of B, matrices of f32 whose shapes tell for what one number is ([`Granularity`]).
///
/// `C[i,j] = alpha Σ_t (a[i,t] b[t,j]) Σ_k A[i,k] B[k,j] + beta C[i,j]`, where `t` counts blocks of 128 terms, and the inner sum is that of the terms of block `t`. A bias and an
/// activation follow. The product of two scales is rounded to f32, and the sum over blocks is one of fused multiply-adds in f32.
///
/// Only plus-times on e4m3 and e5m2 has them. On the processor scales that are no finite numbers have the results that this formula gives. On GPUs such scales may give NaN instead.
///
/// `M` is what holds them: a [`DynRef`] on this processor, a [`Layout`] in what is planned.
///
/// ```
/// use tilewright_core::{E4m3, MatRef, Matrix, PlusTimes, Scales, Update, reference};
/// let ones = Matrix::filled(2, 200, E4m3::ONE)?;
/// // Of A one for each row and 128 terms, of B one number.
/// let (a, b) = (Matrix::from([[1.0f32, 10.0], [0.5, 0.0]]), [2.0f32]);
/// let scales = Scales { a: Some(a.as_ref().into()), b: Some(MatRef::row(&b).into()) };
/// let mut c = Matrix::filled(2, 2, 0.0f32)?;
/// let (x, y) = (ones.as_ref(), ones.as_ref().t());
/// reference::multiply_scaled::<PlusTimes<E4m3>>(c.as_mut(), x, y, &Update::Replace, Default::default(), scales)?;
/// assert_eq!(c.as_slice(), [1696.0, 1696.0, 128.0, 128.0]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scales<M> {
    /// Of A.
    pub a: Option<M>,
    /// Of B.
    pub b: Option<M>,
}

/// For what of an operand one scale is. Of B, columns are meant where rows of A are named, and the matrix of scales is transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// The whole operand: a 1 x 1 matrix.
    Operand,
    /// A row: m x 1.
    Row,
    /// 128 terms of a row: m x ceil(k / 128).
    RowBlock,
    /// 128 terms of 128 rows: ceil(m / 128) x ceil(k / 128).
    Block,
}

impl Granularity {
    /// Terms of a block, and rows.
    pub const BLOCK: usize = 128;
    /// All of them, the coarse ones first.
    pub const ALL: [Self; 4] = [Self::Operand, Self::Row, Self::RowBlock, Self::Block];

    /// What a matrix of scales of this shape is for, of an operand of so many rows and terms. Where several have this shape, they mean the same.
    ///
    /// ```
    /// use tilewright_core::Granularity;
    /// let of = |rows, cols| Granularity::of([rows, cols], 300, 500);
    /// assert_eq!(of(300, 4), Some(Granularity::RowBlock));
    /// assert_eq!(of(3, 4), Some(Granularity::Block));
    /// assert_eq!(of(3, 5), None);
    /// ```
    pub fn of(scales: [usize; 2], rows: usize, terms: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.shape(rows, terms) == scales)
    }

    /// The shape of the scales of so many rows and terms.
    pub const fn shape(self, rows: usize, terms: usize) -> [usize; 2] {
        match self {
            Self::Operand => [1, 1],
            Self::Row => [rows, 1],
            Self::RowBlock => [rows, terms.div_ceil(Self::BLOCK)],
            Self::Block => [rows.div_ceil(Self::BLOCK), terms.div_ceil(Self::BLOCK)],
        }
    }

    /// Which scale is that of an element: its row and column in the matrix of scales.
    pub const fn at(self, row: usize, term: usize) -> [usize; 2] {
        match self {
            Self::Operand => [0, 0],
            Self::Row => [row, 0],
            Self::RowBlock => [row, term / Self::BLOCK],
            Self::Block => [row / Self::BLOCK, term / Self::BLOCK],
        }
    }

    /// Whether the terms of a sum have different scales.
    pub const fn is_by_terms(self) -> bool {
        matches!(self, Self::RowBlock | Self::Block)
    }

    /// In words: `1x1`, `a row`, `1x128`, `128x128`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Operand => "1x1",
            Self::Row => "a row",
            Self::RowBlock => "1x128",
            Self::Block => "128x128",
        }
    }
}

impl<M> Default for Scales<M> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<M> Scales<M> {
    /// Operands as they are.
    pub const NONE: Self = Self { a: None, b: None };

    /// Whether neither operand has scales.
    pub const fn is_none(&self) -> bool {
        self.a.is_none() && self.b.is_none()
    }

    /// In words: `scales of A`, `scales of A and B`.
    pub const fn name(&self) -> &'static str {
        match (&self.a, &self.b) {
            (Some(_), Some(_)) => "scales of A and B",
            (Some(_), None) => "scales of A",
            (None, Some(_)) => "scales of B",
            (None, None) => "no scales",
        }
    }

    /// The same, borrowed.
    pub const fn as_ref(&self) -> Scales<&M> {
        Scales { a: self.a.as_ref(), b: self.b.as_ref() }
    }

    /// The same with other holders.
    ///
    /// # Errors
    /// The first of those of `hold`.
    pub fn try_map<N, E>(self, mut hold: impl FnMut(M) -> Result<N, E>) -> Result<Scales<N>, E> {
        Ok(Scales { a: self.a.map(&mut hold).transpose()?, b: self.b.map(&mut hold).transpose()? })
    }

    /// The same with other holders, of which there is always one.
    pub fn map<N>(self, mut hold: impl FnMut(M) -> N) -> Scales<N> {
        Scales { a: self.a.map(&mut hold), b: self.b.map(&mut hold) }
    }

    /// Refuses scales where there are none: outside of plus-times on floats of 8 bits. `semiring` is `None` for one of the user's, and `name` what it is called.
    ///
    /// # Errors
    /// `unsupported`.
    pub fn check(&self, semiring: Option<SemiringId>, name: &str, dtype: DType) -> Result<(), Error> {
        if self.is_none() || (semiring == Some(SemiringId::PlusTimes) && dtype.is_float8()) {
            return Ok(());
        }
        Err(self.refused(&format!("{name} on {dtype}")))
    }

    /// Sums of `S` as f32.
    ///
    /// # Errors
    /// `unsupported` where it has no scales.
    pub fn singles<S: Semiring>(&self) -> Result<Singles<S::Acc>, Error> {
        let built_in = S::BUILT_IN.as_ref();
        match built_in.and_then(BuiltIn::singles) {
            Some(singles) => Ok(singles),
            None => {
                let dtype = built_in.map_or(DType::F32, |one| one.dtype());
                Err(self.refused(&format!("{} on {dtype}", S::NAME)))
            }
        }
    }

    /// The error where there are none, with what they were asked for.
    pub fn refused(&self, with: &str) -> Error {
        ErrorKind::Unsupported {
            what: format!("{} with {with}", self.name()),
            why: "scales are for products of 8-bit floats".into(),
            hint: "use plus-times on e4m3 or e5m2, or alpha for a single factor".into(),
        }
        .into()
    }

    /// Refuses scales beside what has none, by its name.
    ///
    /// # Errors
    /// `unsupported`.
    pub fn check_absent(&self, of: &str) -> Result<(), Error> {
        if self.is_none() {
            return Ok(());
        }
        Err(ErrorKind::Unsupported {
            what: format!("{} with {of}", self.name()),
            why: "scales are for one product of 8-bit floats".into(),
            hint: "leave them out, or compute one product at a time".into(),
        }
        .into())
    }
}

/// Scales of an operand by its rows, of B by its columns, and what each is for.
type Of<M> = Option<(Granularity, M)>;

impl Scales<Layout> {
    /// What each is for, and its layout with a row for each row of A or column of B, or for 128 of them.
    ///
    /// # Errors
    /// `result-mismatch` for a shape that none has.
    pub fn of(&self, problem: &Problem) -> Result<[Of<Layout>; 2], Error> {
        let k = problem.k();
        let of = |what, layout: Option<Layout>, rows: usize, is_b: bool| -> Result<Of<Layout>, Error> {
            let Some(layout) = layout else { return Ok(None) };
            let by_rows = if is_b { layout.t() } else { layout };
            match Granularity::of([by_rows.rows, by_rows.cols], rows, k) {
                Some(granularity) => Ok(Some((granularity, by_rows))),
                None => {
                    let shape = |one: Granularity| {
                        let [row, col] = one.shape(rows, k);
                        if is_b { [col, row] } else { [row, col] }
                    };
                    let mut expected: Vec<_> = Granularity::ALL.map(shape).into();
                    expected.sort_unstable();
                    expected.dedup();
                    let found = [layout.rows, layout.cols];
                    Err(ErrorKind::ScaleMismatch { what, found, expected }.into())
                }
            }
        };
        Ok([of("A", self.a, problem.m(), false)?, of("B", self.b, problem.n(), true)?])
    }
}

impl Scales<DynRef<'_>> {
    /// The same once everything about them is known to be right for a product of elements of `dtype`.
    ///
    /// # Errors
    /// `unsupported` outside of plus-times on floats of 8 bits; `dtype-mismatch` for scales that are not f32; `result-mismatch` for a shape that none has.
    pub fn checked(
        self,
        semiring: Option<SemiringId>,
        name: &str,
        dtype: DType,
        problem: &Problem,
    ) -> Result<Self, Error> {
        self.check(semiring, name, dtype)?;
        Factors::new(self, problem)?;
        Ok(self)
    }

    /// Those of some rows of A and of all of B, for a product of these rows. `first` is a multiple of 128, the rows of a block.
    ///
    /// # Errors
    /// `result-mismatch` for a shape that no scales of the whole product have; `window-out-of-bounds` for rows that A has not.
    pub fn of_rows(self, first: usize, rows: usize, problem: &Problem) -> Result<Self, Error> {
        let [of_a, _] = self.map(|one| one.layout()).of(problem)?;
        let (Some((granularity, _)), Some(a)) = (of_a, self.a) else { return Ok(self) };
        let [row, col] = granularity.at(first, 0);
        let [rows, cols] = granularity.shape(rows, problem.k());
        Ok(Self { a: Some(a.window(row, col, rows, cols)?), ..self })
    }
}

/// The factors of the terms of a product: those of A times those of B.
#[derive(Clone, Copy, Debug)]
pub struct Factors<'a> {
    of: [Of<MatRef<'a, f32>>; 2],
}

impl<'a> Factors<'a> {
    /// The factors of a product with these scales.
    ///
    /// # Errors
    /// `dtype-mismatch` for scales that are not f32; `result-mismatch` for a shape that none has.
    pub fn new(scales: Scales<DynRef<'a>>, problem: &Problem) -> Result<Self, Error> {
        let [a, b] = scales.map(|one| one.layout()).of(problem)?;
        let of = |what, of: Of<Layout>, view: Option<DynRef<'a>>| -> Result<Of<MatRef<'a, f32>>, Error> {
            let (Some((granularity, _)), Some(view)) = (of, view) else { return Ok(None) };
            match view.typed::<f32>() {
                Some(view) => Ok(Some((granularity, view))),
                None => {
                    let (expected, found) = (DType::F32, view.dtype());
                    Err(ErrorKind::DTypeMismatch { what, expected, found }.into())
                }
            }
        };
        let b = of("the scales of B", b, scales.b.map(DynRef::t))?;
        Ok(Self { of: [of("the scales of A", a, scales.a)?, b] })
    }

    /// The scale of A for a row in the block of a term; 1 where A has none.
    ///
    /// # Panics
    /// For a row or term that A has not.
    pub fn of_row(&self, row: usize, term: usize) -> f32 {
        self.one(0, row, term)
    }

    /// The scale of B for a column in the block of a term; 1 where B has none.
    ///
    /// # Panics
    /// For a column or term that B has not.
    pub fn of_col(&self, col: usize, term: usize) -> f32 {
        self.one(1, col, term)
    }

    fn one(&self, which: usize, row: usize, term: usize) -> f32 {
        let Some((granularity, view)) = self.of[which] else { return 1.0 };
        let [i, t] = granularity.at(row, term);
        let Some(scale) = view.get(i, t) else { panic!("there is no scale [{i}, {t}]") };
        scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{E4m3, E5m2, Epilogue, Matrix, MinPlus, PlusTimes, Update, reference};

    fn problem(m: usize, k: usize, n: usize) -> Problem {
        let l = Layout::row_major;
        Problem::new(l(m, k), l(k, n), l(m, n)).unwrap()
    }

    #[test]
    fn scales_of_some_rows_are_those_of_the_whole() {
        let (m, n, k) = (300, 140, 260);
        let problem = |rows| {
            Problem::new(Layout::row_major(rows, k), Layout::row_major(k, n), Layout::row_major(rows, n))
        };
        for granularity in Granularity::ALL {
            let [rows, cols] = granularity.shape(m, k);
            let of_a = Matrix::from_fn(rows, cols, |i, j| (i * cols + j) as f32).unwrap();
            let of_b = Matrix::from_fn(3, n, |i, j| (i * n + j) as f32).unwrap();
            let scales: Scales<DynRef<'_>> =
                Scales { a: Some(of_a.as_ref().into()), b: Some(of_b.as_ref().into()) };
            let whole = Factors::new(scales, &problem(m).unwrap()).unwrap();
            for (first, rows) in [(0, 300), (0, 128), (128, 128), (256, 44), (256, 1)] {
                let part = scales.of_rows(first, rows, &problem(m).unwrap()).unwrap();
                let part = Factors::new(part, &problem(rows).unwrap()).unwrap();
                for (row, term) in [(0, 0), (rows - 1, 259), (rows / 2, 128)] {
                    assert_eq!(part.of_row(row, term), whole.of_row(first + row, term), "{granularity:?}");
                    assert_eq!(part.of_col(row.min(n - 1), term), whole.of_col(row.min(n - 1), term));
                }
            }
            assert!(
                scales.of_rows(256, 128, &problem(m).unwrap()).is_err()
                    || granularity == Granularity::Operand
                    || granularity == Granularity::Block
            );
        }
    }

    #[test]
    fn a_shape_tells_what_a_scale_is_for() {
        let of = |scales| Granularity::of(scales, 300, 200);
        for one in Granularity::ALL {
            assert_eq!(of(one.shape(300, 200)), Some(one));
        }
        for wrong in [[300, 3], [3, 1], [2, 300], [0, 0], [4, 2]] {
            assert_eq!(of(wrong), None, "{wrong:?}");
        }
        // One block of terms: one scale for a row is one for each of its blocks.
        assert_eq!(Granularity::of([300, 1], 300, 128), Some(Granularity::Row));
        assert_eq!(Granularity::Block.at(129, 255), [1, 1]);
        assert_eq!(Granularity::RowBlock.at(129, 256), [129, 2]);
    }

    #[test]
    fn the_reference_is_the_formula() {
        let (m, k, n) = (130, 257, 129);
        let element = |seed: usize| move |i: usize, j: usize| ((i * 31 + j * 7 + seed) % 9) as f32 - 4.0;
        let (a, b) = (
            Matrix::from_fn(m, k, |i, j| E5m2::from_f32(element(1)(i, j))).unwrap(),
            Matrix::from_fn(k, n, |i, j| E5m2::from_f32(element(5)(i, j))).unwrap(),
        );
        let scale = |shape: [usize; 2]| {
            Matrix::from_fn(shape[0], shape[1], |i, j| 2f32.powi((i * 3 + j) as i32 % 5 - 2)).unwrap()
        };
        for of_a in Granularity::ALL {
            for of_b in Granularity::ALL {
                let (sa, sb) = (scale(of_a.shape(m, k)), scale(of_b.shape(n, k)));
                let scales = Scales { a: Some(sa.as_ref().into()), b: Some(sb.as_ref().t().into()) };
                let mut c = Matrix::filled(m, n, 1.0f32).unwrap();
                let update = Update::<PlusTimes<E5m2>>::scale(2.0, 3.0);
                let (x, y) = (a.as_ref(), b.as_ref());
                reference::multiply_scaled(c.as_mut(), x, y, &update, Epilogue::default(), scales).unwrap();
                // Powers of two and small whole numbers: every sum is exact.
                for (i, j) in [(0, 0), (129, 128), (127, 1), (3, 127)] {
                    let term = |p: usize| {
                        let ([r, s], [u, v]) = (of_a.at(i, p), of_b.at(j, p));
                        sa[(r, s)] * sb[(u, v)] * a[(i, p)].to_f32() * b[(p, j)].to_f32()
                    };
                    let right = 2.0 * (0..k).map(term).sum::<f32>() + 3.0;
                    assert_eq!(c[(i, j)], right, "{of_a:?} {of_b:?}");
                }
            }
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        static ONES: [f32; 6] = [1.0; 6];
        let p = problem(300, 200, 100);
        let scales = |rows, cols| {
            let view = MatRef::new(&ONES, Layout::row_major(rows, cols)).unwrap();
            Scales { a: None, b: Some(DynRef::from(view)) }
        };
        let id = Some(SemiringId::PlusTimes);
        let error = scales(2, 2).checked(id, "plus-times", DType::E4m3, &p).unwrap_err();
        assert_eq!(error.code(), "result-mismatch");
        let text = error.to_string();
        assert!(text.contains("scales of B are 2x2") && text.contains("1x1, 1x100, 2x1 or 2x100"), "{text}");
        assert!(error.hint().unwrap().contains("128"), "{error:?}");
        assert!(scales(2, 1).checked(id, "plus-times", DType::E4m3, &p).is_ok());
        let error = scales(1, 1).checked(id, "plus-times", DType::F16, &p).unwrap_err();
        assert!(error.to_string().contains("scales of B with plus-times on f16"), "{error}");
        let mut c = Matrix::filled(1, 1, 0.0f32).unwrap();
        let a = Matrix::filled(1, 1, 0.0f32).unwrap();
        let (x, one) = (a.as_ref(), scales(1, 1));
        let update = Update::<MinPlus<f32>>::Replace;
        let refused = reference::multiply_scaled(c.as_mut(), x, x, &update, Epilogue::default(), one);
        assert!(refused.unwrap_err().to_string().contains("min-plus"));
        let bytes = Matrix::filled(1, 1, E4m3::ONE).unwrap();
        let wrong = Scales { a: Some(bytes.as_ref().into()), b: None };
        assert_eq!(wrong.checked(id, "plus-times", DType::E4m3, &p).unwrap_err().code(), "dtype-mismatch");
    }
}
