//! What a recipe is asked for.

use crate::kernel::Variant;
use core::fmt;
use tilewright_core::{DType, Problem, SemiringId};

/// A product to be computed by a kernel: `C = alpha ⊗ (A ⊗ B) ⊕ beta ⊗ C`, once or for a batch.
///
/// Scaling is written in the semiring itself, so that one epilogue serves all: with `alpha = ONE`, `beta = ZERO`
/// replaces C (which is then never read) and `beta = ONE` accumulates into it. In (min,+) ONE is 0 and ZERO is
/// infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Shapes and strides.
    pub problem: Problem,
    /// The semiring.
    pub semiring: SemiringId,
    /// The type of the elements of A and B.
    pub dtype: DType,
    /// The factor of the product.
    pub alpha: Scalar,
    /// The factor of the old C.
    pub beta: Scalar,
    /// How many products, and how far apart their operands are.
    pub batch: Batch,
    /// What is known of the addresses.
    pub alignment: Alignment,
    /// The GPU.
    pub target: Target,
    /// The side of the square block of `shared-tile-dynamic`; `None` leaves it to the recipe.
    pub block_side: Option<u32>,
    /// The tile of `simt`, one of [`crate::simt_tiles`]; `None` leaves the choice to its cost model.
    pub tile: Option<[u32; 5]>,
    /// The parts into which `simt` splits the sum over k; `None` leaves the choice to its cost model.
    pub splits: Option<u32>,
    /// Which operands `simt` packs, as its kernel sees them: A and B are exchanged where C lies by columns. `None` leaves the choice to its cost model. Of a
    /// batch nothing can be packed.
    pub pack: Option<[bool; 2]>,
    /// The most bytes that all workspaces may take together: copies of operands, and parts of sums. With 0 `simt` packs and splits
    /// nothing.
    pub workspace: u64,
    /// Which program of `simt` computes it.
    pub form: Form,
}

/// Which of a kernel's programs computes a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The one that is the fastest for these layouts, sizes and alignments.
    #[default]
    Specialised,
    /// The one that takes them all: elements are copied one by one, with guards, and nothing is packed or split.
    General,
}

impl Request {
    /// One product `C = A ⊗ B` from 256-byte aligned operands, for the default [`Target`].
    pub fn new(problem: Problem, semiring: SemiringId, dtype: DType) -> Self {
        Self {
            problem,
            semiring,
            dtype,
            alpha: Scalar::one(semiring, dtype),
            beta: Scalar::zero(semiring, dtype),
            batch: Batch::ONE,
            alignment: Alignment::ALLOCATION,
            target: Target::default(),
            block_side: None,
            tile: None,
            splits: None,
            pack: None,
            workspace: Self::WORKSPACE,
            form: Form::Specialised,
        }
    }

    /// The workspace that a product may take unless it is told otherwise: 4 GiB.
    pub const WORKSPACE: u64 = 4 << 30;

    /// The semiring and element type, which select a kernel's variant.
    pub const fn variant(&self) -> Variant {
        Variant { semiring: self.semiring, dtype: self.dtype }
    }

    /// Whether kernels that wait for the one before them may start before it ends: see [`crate::Launch::starts_early`].
    pub(crate) fn starts_early(&self) -> bool {
        self.target.compute_capability >= (9, 0)
    }
}

/// A number of the type that sums are computed in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// For f16, bf16 and f32 elements.
    F32(f32),
    /// For f64 elements.
    F64(f64),
    /// For i8, i16, i32 and boolean elements.
    I32(i32),
    /// For i64 elements.
    I64(i64),
}

/// A scalar of the type that sums of `dtype` have, from its value as a float or an integer.
fn scalar(dtype: DType, float: f64, integer: i64) -> Scalar {
    match dtype {
        DType::F64 => Scalar::F64(float),
        DType::I64 => Scalar::I64(integer),
        d if d.is_float() => Scalar::F32(float as f32),
        _ => Scalar::I32(integer.clamp(i32::MIN.into(), i32::MAX.into()) as i32),
    }
}

impl Scalar {
    /// The identity of ⊗: a product is unchanged by it.
    pub fn one(semiring: SemiringId, dtype: DType) -> Self {
        use SemiringId as S;
        let (float, integer) = match semiring {
            S::MinPlus | S::MaxPlus => (0.0, 0),
            S::MaxMin => (f64::INFINITY, i64::MAX),
            S::MinMax => (f64::NEG_INFINITY, i64::MIN),
            _ => (1.0, 1),
        };
        scalar(dtype, float, integer)
    }

    /// The identity of ⊕ and annihilator of ⊗: as `beta` it means that the old C is not read.
    pub fn zero(semiring: SemiringId, dtype: DType) -> Self {
        use SemiringId as S;
        let (float, integer) = match semiring {
            S::MinPlus | S::MinTimes | S::MinMax => (f64::INFINITY, i64::MAX),
            S::MaxPlus | S::MaxMin => (f64::NEG_INFINITY, i64::MIN),
            _ => (0.0, 0),
        };
        scalar(dtype, float, integer)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::F32(x) => x.fmt(f),
            Self::F64(x) => x.fmt(f),
            Self::I32(x) => x.fmt(f),
            Self::I64(x) => x.fmt(f),
        }
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

/// What a recipe needs to know of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// Shared memory that one block may have by opting in, in bytes.
    pub shared_memory_per_block: u32,
    /// Shared memory of one multiprocessor, in bytes.
    pub shared_memory_per_multiprocessor: u32,
}

impl Default for Target {
    /// An H200: compute capability 9.0, 132 multiprocessors.
    fn default() -> Self {
        Self {
            compute_capability: (9, 0),
            multiprocessors: 132,
            shared_memory_per_block: 232_448,
            shared_memory_per_multiprocessor: 233_472,
        }
    }
}
