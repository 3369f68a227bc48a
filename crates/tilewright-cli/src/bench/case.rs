//! The product that is measured, with random operands.

use crate::{
    args::{Data, Meaning, Order, Size},
    product::AnyProduct,
};
use tilewright::{
    DType, DynMatrix, DynMut, DynRef, E4m3, E5m2, Element, Error, Joining, Math, Matrix, Options, Report,
    Semiring, SemiringId, bf16, f16,
    plan::{Query, Results, Work},
    semiring::Visit,
};

/// A product with its operands.
pub struct Case {
    semiring: Meaning,
    order: Order,
    math: Math,
    /// The type of the results.
    output: DType,
    /// By rows: the operand, or its transpose where it is to lie by columns.
    stored: [DynMatrix; 2],
}

impl Case {
    /// Operands that are the same on every run.
    pub fn new(
        semiring: &Meaning,
        dtype: DType,
        size: Size,
        order: Order,
        data: Data,
    ) -> Result<Self, Error> {
        let mut random = XorShift(0x9e37_79b9_7f4a_7c15);
        let mut matrix = |rows, cols, by_columns| match by_columns {
            true => random.matrix(cols, rows, dtype, data),
            false => random.matrix(rows, cols, dtype, data),
        };
        let [a, b] = order.by_columns();
        let stored = [matrix(size.m, size.k, a)?, matrix(size.k, size.n, b)?];
        let output = semiring.output(dtype)?;
        Ok(Self { semiring: semiring.clone(), order, math: Math::Full, output, stored })
    }

    /// The same with another arithmetic.
    pub fn with_math(self, math: Math) -> Self {
        Self { math, ..self }
    }

    /// The same with results of this type, where one is asked for.
    pub fn giving(self, output: Option<DType>) -> Result<Self, Error> {
        Ok(Self { output: self.semiring.output_or(self.dtype(), output)?, ..self })
    }

    pub fn dtype(&self) -> DType {
        self.stored[0].dtype()
    }

    /// A and B.
    pub fn views(&self) -> [DynRef<'_>; 2] {
        let [a, b] = self.stored.each_ref().map(DynMatrix::as_ref);
        let [a_by_columns, b_by_columns] = self.order.by_columns();
        [if a_by_columns { a.t() } else { a }, if b_by_columns { b.t() } else { b }]
    }

    pub fn product(&self) -> Result<AnyProduct<'_>, Error> {
        let [a, b] = self.views();
        Ok(AnyProduct::new(&self.semiring, (a, b), Joining::Replace, Some(self.output))?.with_math(self.math))
    }

    /// A built-in semiring whose elements and results have the same types: for a text plus-times.
    fn types(&self) -> SemiringId {
        self.semiring.built_in().unwrap_or(SemiringId::PlusTimes)
    }

    /// Room for C.
    pub fn result(&self) -> Result<DynMatrix, Error> {
        let [a, b] = self.views();
        DynMatrix::zeros(self.output, a.layout().rows, b.layout().cols)
    }

    /// So many results of no terms, for a text zeros. A contender that writes nothing must not find the right result there.
    pub fn wrong_result(&self, rows: usize, cols: usize) -> Result<DynMatrix, Error> {
        self.types().visit_giving(self.dtype(), self.output, OfNoTerms { rows, cols })?
    }

    /// Computes it.
    pub fn write_to(&self, c: DynMut<'_>, options: Options<'_>) -> Result<Report, Error> {
        self.product()?.write_to(c, &options)
    }

    pub fn query(&self) -> Result<Query, Error> {
        Ok(self.product()?.query(Results::Product)?.math(self.math))
    }

    pub fn work(&self) -> Result<Work, Error> {
        Ok(self.query()?.work())
    }

    /// What is wrong with a result, if anything.
    pub fn fault(&self, c: &DynMatrix) -> Result<Option<String>, Error> {
        let verdict = self.product()?.verify(c.as_ref())?;
        Ok(match (verdict.passed, verdict.mismatch) {
            (true, _) => None,
            (false, Some(x)) => {
                Some(format!("{}[{}, {}] is {}, not {}", x.matrix, x.row, x.col, x.found, x.expected))
            }
            (false, None) => Some("the result differs from the definition".into()),
        })
    }
}

/// Makes a matrix of results of no terms.
struct OfNoTerms {
    rows: usize,
    cols: usize,
}

impl Visit for OfNoTerms {
    type Output = Result<DynMatrix, Error>;
    fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> Self::Output {
        Ok(Matrix::filled(self.rows, self.cols, S::finish(S::ZERO))?.into())
    }
}

/// Marsaglia's xorshift64.
struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }

    fn float(&mut self, data: Data) -> f32 {
        if data == Data::Equal {
            return 1.0;
        }
        let unit = (self.next() >> 8) as f32 / (1 << 24) as f32;
        if data == Data::NonNegative { unit } else { 2.0 * unit - 1.0 }
    }

    /// With magnitudes up to 1000, or below `2^bits`.
    fn integer(&mut self, data: Data, bits: u32) -> i64 {
        if data == Data::Equal {
            return 1;
        }
        let most = if data == Data::Wide { (1 << bits) - 1 } else { 1000 };
        let (low, count) = if data == Data::NonNegative { (0, most + 1) } else { (-most, 2 * most + 1) };
        let high = i64::from(self.next()) << 16;
        low + (high + i64::from(self.next() >> 16)) % count
    }

    /// Booleans are mostly false, bytes any.
    fn matrix(&mut self, rows: usize, cols: usize, dtype: DType, data: Data) -> Result<DynMatrix, Error> {
        fn fill<T: Element>(rows: usize, cols: usize, mut next: impl FnMut() -> T) -> Result<DynMatrix, Error>
        where
            DynMatrix: From<Matrix<T>>,
        {
            Ok(Matrix::from_fn(rows, cols, |_, _| next())?.into())
        }
        match dtype {
            DType::F16 => fill(rows, cols, || f16::from_f32(self.float(data))),
            DType::Bf16 => fill(rows, cols, || bf16::from_f32(self.float(data))),
            DType::E4m3 => fill(rows, cols, || E4m3::from_f32(self.float(data))),
            DType::E5m2 => fill(rows, cols, || E5m2::from_f32(self.float(data))),
            DType::F64 => fill(rows, cols, || f64::from(self.float(data))),
            DType::I8 if data == Data::Equal => fill(rows, cols, || 1i8),
            DType::I8 if data == Data::NonNegative => fill(rows, cols, || (self.next() % 128) as i8),
            DType::I8 => fill(rows, cols, || self.next() as i8),
            DType::U8 if data == Data::Equal => fill(rows, cols, || 1u8),
            DType::U8 => fill(rows, cols, || self.next() as u8),
            DType::I16 => fill(rows, cols, || self.integer(data, 12) as i16),
            DType::I32 => fill(rows, cols, || self.integer(data, 28) as i32),
            DType::I64 => fill(rows, cols, || self.integer(data, 40)),
            DType::Bool if data == Data::Equal => fill(rows, cols, || true),
            DType::Bool => fill(rows, cols, || self.next().is_multiple_of(64)),
            _ => fill(rows, cols, || self.float(data)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright::Layout;

    fn computed(case: &Case) -> DynMatrix {
        let mut c = case.result().unwrap();
        case.write_to(c.as_mut(), Options::default()).unwrap();
        c
    }

    #[test]
    fn every_semiring_and_type_has_a_case_in_its_domain() {
        for &semiring in SemiringId::ALL {
            for &dtype in semiring.dtypes() {
                let usual = Data::of(semiring);
                let others = [Data::NonNegative, Data::Wide].into_iter().filter(|_| usual == Data::Signed);
                for data in others.chain([usual, Data::Equal]) {
                    let case = Case::new(
                        &Meaning::BuiltIn(semiring),
                        dtype,
                        Size { m: 5, n: 7, k: 9 },
                        Order::Nn,
                        data,
                    )
                    .unwrap();
                    assert_eq!((case.dtype(), case.views()[1].layout().cols), (dtype, 7));
                    let c = computed(&case);
                    assert_eq!(case.fault(&c).unwrap(), None, "{semiring} on {dtype}, {data:?}");
                }
            }
        }
    }

    #[test]
    fn operands_lie_as_they_are_asked_to() {
        for order in [Order::Nn, Order::Nt, Order::Tn, Order::Tt] {
            let case = Case::new(
                &Meaning::BuiltIn(SemiringId::PlusTimes),
                DType::F32,
                Size { m: 5, n: 7, k: 9 },
                order,
                Data::Signed,
            )
            .unwrap();
            let [a, b] = case.views().map(|view| view.layout());
            let [a_by_columns, b_by_columns] = order.by_columns();
            let lies = |by_columns| if by_columns { Layout::col_major } else { Layout::row_major };
            assert_eq!([a, b], [lies(a_by_columns)(5, 9), lies(b_by_columns)(9, 7)], "{}", order.name());
            let c = computed(&case);
            assert_eq!(case.fault(&c).unwrap(), None);
        }
    }

    #[test]
    fn elements_are_of_the_kind_that_is_asked_for() {
        let elements = |dtype, data| {
            let case =
                Case::new(&Meaning::BuiltIn(SemiringId::MinPlus), dtype, Size::square(40), Order::Nn, data)
                    .unwrap();
            let [a, _] = case.views();
            let at = |i: usize| match a.typed::<f32>() {
                Some(a) => f64::from(a.get(i / 40, i % 40).unwrap()),
                None => f64::from(a.typed::<i32>().unwrap().get(i / 40, i % 40).unwrap()),
            };
            let all: Vec<f64> = (0..1600).map(at).collect();
            all.into_iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
        };
        for dtype in [DType::F32, DType::I32] {
            assert!(elements(dtype, Data::Signed).0 < 0.0);
            assert!(elements(dtype, Data::NonNegative).0 >= 0.0);
        }
        let span = |data| elements(DType::I32, data).1 - elements(DType::I32, data).0;
        assert_eq!(span(Data::Equal), 0.0);
        assert!(span(Data::Signed) <= 2000.0 && span(Data::Wide) > 65_536.0);
    }

    #[test]
    fn a_wrong_result_is_named() {
        let case = Case::new(
            &Meaning::BuiltIn(SemiringId::MinPlus),
            DType::I32,
            Size::square(4),
            Order::Nn,
            Data::Signed,
        )
        .unwrap();
        let wrong = DynMatrix::from(Matrix::filled(4, 4, 5000).unwrap());
        assert!(case.fault(&wrong).unwrap().is_some_and(|text| text.starts_with("C[0, 0] is 5000, not ")));
    }
}
