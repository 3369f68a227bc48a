//! What a recipe is asked for.

use crate::{scalar::Scalar, user_semiring::UserSemiring, variant::Variant};
use tilewright_arch::{ComputeCapability, Gpu};
use tilewright_core::{
    DType, Epilogue, Error, ErrorKind, Joining, Layout, Math, Problem, Scales, SemiringId, Value,
};

/// A product to be computed by a kernel: `C = alpha ⊗ (A ⊗ B) ⊕ beta ⊗ C`, once or for a batch.
///
/// Scaling is written in the semiring itself, so that one epilogue serves all: with [`Request::alpha`] its one, [`Request::beta`]
/// replaces C when it is zero (C is then never read), and accumulates into it when it is one. In (min,+) one is 0 and zero is infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Shapes and strides.
    pub problem: Problem,
    /// The semiring.
    pub semiring: SemiringId,
    /// A semiring of the user's, which takes the place of [`Request::semiring`]: see [`Request::with_own`].
    pub own: Option<UserSemiring>,
    /// The type of the elements of A and B.
    pub dtype: DType,
    /// The type of the elements of C, where it is not the one that the semiring has by itself: see [`Request::giving`].
    pub result: Option<DType>,
    /// The precision that plus-times on f32 may give up.
    pub math: Math,
    /// What happens to the old C; its factors are those of the semiring.
    pub joining: Joining<Value>,
    /// What follows, under plus-times on floats: a bias whose elements lie so far apart in [`Buffer::Bias`](crate::Buffer::Bias), one for each column of C
    /// and the same in all products of a batch, and an activation.
    pub epilogue: Epilogue<isize>,
    /// Scales of A and B under plus-times on floats of 8 bits, of one product: matrices of f32 in [`Buffer::ScaleA`](crate::Buffer::ScaleA) and
    /// [`Buffer::ScaleB`](crate::Buffer::ScaleB).
    pub scales: Scales<Layout>,
    /// How many products, and how far apart their operands are.
    pub batch: Batch,
    /// What is known of the addresses.
    pub alignment: Alignment,
    /// The GPU.
    pub gpu: Gpu,
    /// The side of the square block of `shared-tile-dynamic`; `None` leaves it to the recipe.
    pub block_side: Option<u32>,
    /// The tile of a kernel that chooses among some, such as one of [`crate::simt_tiles`]; `None` leaves the choice to its cost model.
    pub tile: Option<[u32; 6]>,
    /// The parts into which the sum over k is split; `None` leaves the choice to its cost model.
    pub splits: Option<u32>,
    /// Which operands `simt` packs, as its kernel sees them: A and B are exchanged where C lies by columns. `None` leaves the choice to its cost model.
    pub pack: Option<[bool; 2]>,
    /// Whether `simt` has programs in narrower types beside the one for all data, where the GPU and the semiring allow it. `None` leaves it to
    /// the cost model: where they pay if the data allow them, and cost little if not.
    pub narrow: Option<bool>,
    /// The most bytes that all workspaces may take together: copies of operands, and parts of sums. By default as many as A, B and C have, and at least
    /// [`Request::WORKSPACE`]. With 0 `simt` packs and splits nothing.
    pub workspace: u64,
    /// Which program of `simt` computes it.
    pub form: Form,
    /// Whether the smallest `k` whose term is the result is wanted as well, or -1 where the semiring's zero or the old C stays: as
    /// 32-bit integers in [`Buffer::Output`](crate::Buffer::Output), with [`Request::arg_layout`].
    pub arg: bool,
    /// Whether arg results lie by rows whatever C does, for memory that is given. A C by columns is then written across its neighbours.
    pub arg_by_rows: bool,
}

/// The bytes of A, B and C, if all are of one type.
fn bytes_of_matrices(problem: &Problem, dtype: DType) -> u64 {
    let elements = |m: Layout| (m.rows as u64).saturating_mul(m.cols as u64);
    let all = [problem.a(), problem.b(), problem.c()].map(elements);
    all.into_iter().fold(0, u64::saturating_add).saturating_mul(dtype.size() as u64)
}

/// Which of a kernel's programs computes a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The one that is the fastest for these layouts, sizes and alignments.
    #[default]
    Specialised,
    /// The one that takes them all, and comes with the catalogue for GPUs and machines without a compiler at hand: it has little text,
    /// elements are copied one by one, with guards, and nothing is packed or split.
    Plain,
}

impl Request {
    /// One product `C = A ⊗ B` from 256-byte aligned operands, for the default [`Gpu`].
    pub fn new(problem: Problem, semiring: SemiringId, dtype: DType) -> Self {
        Self {
            problem,
            semiring,
            own: None,
            dtype,
            result: None,
            math: Math::Full,
            joining: Joining::Replace,
            epilogue: Epilogue::default(),
            scales: Scales::NONE,
            batch: Batch::ONE,
            alignment: Alignment::ALLOCATION,
            gpu: Gpu::default(),
            block_side: None,
            tile: None,
            splits: None,
            pack: None,
            narrow: None,
            workspace: Self::WORKSPACE.max(bytes_of_matrices(&problem, dtype)),
            form: Form::Specialised,
            arg: false,
            arg_by_rows: false,
        }
    }

    /// The layout of arg results: dense, by columns where C has its neighbours there and [`Request::arg_by_rows`] is not asked for, and by rows otherwise.
    /// Those of a batch follow one another.
    pub fn arg_layout(&self) -> Layout {
        let Layout { rows, cols, .. } = self.problem.c();
        match self.is_computed_by_columns() {
            true => Layout::col_major(rows, cols),
            false => Layout::row_major(rows, cols),
        }
    }

    /// Whether `simt` computes the transpose of C.
    pub(crate) fn is_computed_by_columns(&self) -> bool {
        let Layout { row_stride, col_stride, .. } = self.problem.c();
        row_stride == 1 && col_stride != 1 && !(self.arg && self.arg_by_rows)
    }

    /// The workspace that any product may take unless it is told otherwise: 4 GiB.
    pub const WORKSPACE: u64 = 4 << 30;

    /// The semiring and the element types, which select a kernel's variant.
    pub const fn variant(&self) -> Variant {
        Variant { semiring: self.semiring, dtype: self.dtype, own: self.own, result: self.result }
    }

    /// One product of this variant.
    pub fn of(problem: Problem, variant: Variant) -> Self {
        let Variant { semiring, dtype, own, result } = variant;
        Self { own, result, ..Self::new(problem, semiring, dtype) }
    }

    /// The same into a C of type `output`.
    ///
    /// # Errors
    /// `dtype-mismatch` where results do not have that type.
    pub fn giving(self, output: DType) -> Result<Self, Error> {
        let own = Self { result: None, ..self };
        let expected = own.variant().output();
        let is_given = output == expected || self.own.is_none() && self.semiring.gives(self.dtype, output);
        match is_given {
            true => Ok(Self { result: self.variant().giving(output).result, ..self }),
            false => Err(ErrorKind::DTypeMismatch { what: "C", expected, found: output }.into()),
        }
    }

    /// One product over a semiring of the user's, which has no factors.
    pub fn with_own(problem: Problem, own: UserSemiring) -> Self {
        Self::of(problem, own.variant())
    }

    /// The factor of the product.
    pub fn alpha(&self) -> Scalar {
        if let Some([one, ..]) = self.own.map(|own| own.factors()) {
            return one;
        }
        Scalar::of(
            self.dtype,
            if let Joining::Scale { alpha, .. } = self.joining { alpha } else { self.semiring.one() },
        )
    }

    /// The factor of the old C.
    pub fn beta(&self) -> Scalar {
        if let Some([_, joined, replaced]) = self.own.map(|own| own.factors()) {
            return if self.joining.reads_c() { joined } else { replaced };
        }
        let beta = match self.joining {
            Joining::Scale { beta, .. } => beta.unwrap_or(self.semiring.zero()),
            Joining::Accumulate => self.semiring.one(),
            Joining::Replace => self.semiring.zero(),
        };
        Scalar::of(self.dtype, beta)
    }

    /// Whether kernels that wait for the one before them may start before it ends: see [`crate::Launch::starts_early`].
    pub(crate) fn starts_early(&self) -> bool {
        self.gpu.capability() >= ComputeCapability::new(9, 0)
    }
}

/// Equally shaped products; strides in elements from one to the next, 0 to use an operand again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Number of products.
    pub count: usize,
    /// From one A to the next.
    pub a: isize,
    /// From one B to the next.
    pub b: isize,
    /// From one C to the next.
    pub c: isize,
}

impl Batch {
    /// A single product.
    pub const ONE: Self = Self { count: 1, a: 0, b: 0, c: 0 };
}

/// The power of two that divides the address of element (0, 0) of each operand, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Of A.
    pub a: u64,
    /// Of B.
    pub b: u64,
    /// Of C.
    pub c: u64,
}

impl Alignment {
    /// What device memory allocations start at.
    pub const ALLOCATION: Self = Self { a: 256, b: 256, c: 256 };
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::Layout;

    fn factors(semiring: SemiringId, dtype: DType, joining: Joining<Value>) -> [Scalar; 2] {
        let square = Layout::row_major(1, 1);
        let problem = Problem::new(square, square, square).unwrap();
        let request = Request { joining, ..Request::new(problem, semiring, dtype) };
        [request.alpha(), request.beta()]
    }

    #[test]
    fn factors_are_those_of_the_semiring_in_the_type_of_the_sums() {
        use Scalar::{F32, F64, I32, I64};
        use SemiringId::{MaxMin, MinPlus, OrAnd, PlusTimes};
        let scale = |alpha: Value, beta: Value| Joining::<Value>::scale(alpha, beta);
        for (semiring, dtype, joining, expected) in [
            (PlusTimes, DType::F16, Joining::Replace, [F32(1.0), F32(0.0)]),
            (PlusTimes, DType::I8, Joining::Accumulate, [I32(1), I32(1)]),
            (PlusTimes, DType::F64, scale(Value::Float(0.1), Value::Float(0.0)), [F64(0.1), F64(0.0)]),
            (PlusTimes, DType::I64, scale(Value::Int(i64::MAX), Value::Int(-1)), [I64(i64::MAX), I64(-1)]),
            (MinPlus, DType::F32, Joining::Replace, [F32(0.0), F32(f32::INFINITY)]),
            (MinPlus, DType::I64, Joining::Replace, [I64(0), I64(i64::MAX)]),
            (MaxMin, DType::I32, Joining::Replace, [I32(i32::MAX), I32(i32::MIN)]),
            (OrAnd, DType::Bool, Joining::Replace, [I32(1), I32(0)]),
        ] {
            assert_eq!(factors(semiring, dtype, joining), expected, "{semiring} on {dtype}, {joining:?}");
        }
    }
}
