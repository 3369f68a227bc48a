//! What a plan is made for.

use tilewright_core::{DType, Epilogue, Error, Joining, Layout, Math, Problem, Scales, SemiringId, Value};
#[cfg(feature = "cuda")]
use tilewright_kernels::{UserSemiring, Variant};

/// Everything about a product but its elements.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Query {
    /// The semiring.
    pub semiring: SemiringId,
    /// A semiring of the user's, which takes the place of the other.
    #[cfg(feature = "cuda")]
    pub own: Option<UserSemiring>,
    /// The type of the elements of A and B.
    pub dtype: DType,
    /// The type of the elements of C.
    pub output: DType,
    /// Shapes and strides.
    pub problem: Problem,
    /// The precision that may be given up.
    pub math: Math,
    /// What happens to C.
    pub joining: Joining<Value>,
    /// What follows the product.
    pub epilogue: Epilogue<()>,
    /// The scales of A and B, by their shapes.
    pub scales: Scales<Layout>,
    /// Which results are wanted.
    pub results: Results,
}

/// What a product returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Results {
    /// C alone.
    #[default]
    Product,
    /// C, and for each of its elements the term that won.
    ProductAndArg,
}

/// How much a product has to do, whoever computes it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Work {
    /// Terms: `m n k`.
    pub pair_ops: f64,
    /// Floating-point operations, `2 m n k`, of plus-times on floats.
    pub flops: Option<f64>,
    /// Bytes that have to be moved at least: A and B read, C written, and read where it is joined. Elements that
    /// several indices share, by a stride of 0, count once.
    pub bytes: f64,
}

impl Work {
    /// Terms per byte moved; 0 where nothing is moved.
    pub fn intensity(&self) -> f64 {
        if self.bytes == 0.0 { 0.0 } else { self.pair_ops / self.bytes }
    }
}

impl Query {
    /// `C = A ⊗ B` alone.
    pub fn new(semiring: SemiringId, dtype: DType, problem: Problem) -> Self {
        Self {
            semiring,
            #[cfg(feature = "cuda")]
            own: None,
            dtype,
            output: semiring.output(dtype).unwrap_or(dtype),
            problem,
            math: Math::Full,
            joining: Joining::Replace,
            epilogue: Epilogue::default(),
            scales: Scales::NONE,
            results: Results::Product,
        }
    }

    /// The same over a semiring of the user's.
    #[cfg(feature = "cuda")]
    pub fn with_own(own: UserSemiring, problem: Problem) -> Self {
        let Variant { semiring, dtype, .. } = own.variant();
        Self { own: Some(own), ..Self::new(semiring, dtype, problem) }
    }

    /// The name of a semiring of the user's.
    pub(crate) fn own_name(&self) -> Option<&'static str> {
        #[cfg(feature = "cuda")]
        return self.own.map(|own| own.name());
        #[cfg(not(feature = "cuda"))]
        None
    }

    /// The same with results of another type.
    ///
    /// # Errors
    /// `unsupported` where the semiring has no such results.
    pub fn giving(self, output: DType) -> Result<Self, Error> {
        Ok(Self { output: self.semiring.output_or(self.dtype, Some(output))?, ..self })
    }

    /// The same, joined with the old C.
    #[must_use]
    pub fn joining(self, joining: Joining<Value>) -> Self {
        Self { joining, ..self }
    }

    /// The same with another arithmetic.
    #[must_use]
    pub fn math(self, math: Math) -> Self {
        Self { math, ..self }
    }

    /// The same, followed by a bias or an activation.
    #[must_use]
    pub fn epilogue(self, epilogue: Epilogue<()>) -> Self {
        Self { epilogue, ..self }
    }

    /// The same with scales of A and B.
    #[must_use]
    pub fn scales(self, scales: Scales<Layout>) -> Self {
        Self { scales, ..self }
    }

    /// The same with other results.
    #[must_use]
    pub fn results(self, results: Results) -> Self {
        Self { results, ..self }
    }

    /// How much there is to do.
    ///
    /// ```
    /// use tilewright::{DType, Layout, Problem, SemiringId, plan::Query};
    /// let square = Layout::row_major(100, 100);
    /// let work = Query::new(SemiringId::PlusTimes, DType::I8, Problem::new(square, square, square)?).work();
    /// // A and B have a byte for each element, C four.
    /// assert_eq!((work.pair_ops, work.flops, work.bytes), (1e6, None, 60_000.0));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn work(&self) -> Work {
        let p = &self.problem;
        let pair_ops = p.pair_ops();
        let is_flops = self.semiring == SemiringId::PlusTimes && self.dtype.is_float();
        let passes = if self.joining.reads_c() { 2.0 } else { 1.0 };
        let arg = match self.results {
            Results::Product => 0.0,
            Results::ProductAndArg => size_of::<u32>() as f64 * elements(p.c()),
        };
        let operands = (elements(p.a()) + elements(p.b())) * self.dtype.size() as f64;
        let result = elements(p.c()) * self.output.size() as f64 * passes;
        let bias = self.epilogue.bias.map_or(0.0, |()| (p.n() * self.output.size()) as f64);
        let scales = [self.scales.a, self.scales.b].into_iter().flatten().map(elements).sum::<f64>();
        let bytes = operands + result + arg + bias + scales * size_of::<f32>() as f64;
        Work { pair_ops, flops: is_flops.then_some(2.0 * pair_ops), bytes }
    }
}

/// Different elements of a matrix: a stride of 0 repeats them.
fn elements(l: Layout) -> f64 {
    let along = |length: usize, stride: isize| if stride == 0 { length.min(1) } else { length } as f64;
    along(l.rows, l.row_stride) * along(l.cols, l.col_stride)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_each_element_once() {
        let (a, c) = (Layout::row_major(10, 20), Layout::row_major(10, 30));
        let broadcast = Layout::strided(20, 30, 0, 1);
        let query = Query::new(SemiringId::MinPlus, DType::F32, Problem::new(a, broadcast, c).unwrap());
        assert_eq!(query.work().bytes, 4.0 * (200.0 + 30.0 + 300.0));
        assert_eq!(query.joining(Joining::Accumulate).work().bytes, 4.0 * (200.0 + 30.0 + 600.0));
        assert_eq!(query.results(Results::ProductAndArg).work().bytes, 4.0 * (200.0 + 30.0 + 600.0));
        let scaled = query.joining(Joining::<Value>::scale(2.0, 0.0));
        assert_eq!(scaled.work().bytes, query.work().bytes);
    }

    #[test]
    fn empty_products_have_no_work() {
        let none = Layout::row_major(0, 0);
        let work =
            Query::new(SemiringId::PlusTimes, DType::F64, Problem::new(none, none, none).unwrap()).work();
        assert_eq!((work.pair_ops, work.flops, work.bytes, work.intensity()), (0.0, Some(0.0), 0.0, 0.0));
    }
}
