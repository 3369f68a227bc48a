//! Semirings: what "add" and "multiply" mean in a matrix product.
//!
//! The product is `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]`. A [`Semiring`] says what ⊕ and ⊗ are, in which type they
//! are computed and what their identities are. The built-in ones are [`PlusTimes`], the selective ones
//! ([`MinPlus`], [`MaxPlus`], [`MaxTimes`], [`MinTimes`], [`MaxMin`], [`MinMax`]), [`OrAnd`] and [`LogPlus`]; users
//! implement the trait for their own.
//!
//! # Rules that every backend keeps
//! * A floating-point term that is NaN is absent: ⊕ of a selective semiring never selects it. So
//!   `inf + -inf`, `0 * inf` and a NaN in the input drop out, and infinity annihilates.
//! * Selective results that are zero are `+0`.
//! * Integers under min-plus and max-plus: `MAX` (for min) or `MIN` (for max) in a matrix means "absent" and
//!   stays so. Finite elements must be smaller in magnitude than 2^12 (i16), 2^28 (i32), 2^59 (i64), which
//!   lets backends work with an internal infinity that can neither overflow nor drift into a finite value;
//!   others are refused.
//! * Under log-plus, as under plus-times, NaN is no absence: it makes its sum NaN.
//! * Integer plus-times wraps (two's complement).
//! * f16 and bf16 plus-times accumulate in f32 and round once, or not at all where results of f32 are asked for; floats of 8 bits the other way round; their selective terms are rounded each.

mod built_in;
mod cuda;
mod id;
mod log_plus;
mod meaning;
mod number;
mod or_and;
mod pairs;
mod plus_times;
mod selective;

pub use built_in::{BuiltIn, Singles};
pub use cuda::{Cuda, Trial};
pub use id::{SemiringId, Visit};
pub use log_plus::{LogPlus, Logarithm, log_add_exp};
pub use meaning::Meaning;
pub use number::Number;
pub use or_and::OrAnd;
pub use plus_times::{Arithmetic, PlusTimes, Ring, RoundTo};
pub use selective::{
    Bottleneck, Max, MaxMin, MaxPlus, MaxTimes, Min, MinMax, MinPlus, MinTimes, Multiply, Order, Plus,
    Selective, Times,
};

/// The meaning of a product `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]`.
///
/// ⊕ must be associative with identity [`ZERO`](Semiring::ZERO). Sums run over increasing `k`, but backends
/// may split them into consecutive parts that start at `ZERO` and are joined by [`add`](Semiring::add).
///
/// ```
/// use tilewright_core::{Laws, Semiring};
/// /// Counts the ways of the best score: (score, ways).
/// #[derive(Clone, Copy)]
/// struct CountBest;
/// impl Semiring for CountBest {
///     type Elem = (i32, u64);
///     type Acc = (i32, u64);
///     type Out = (i32, u64);
///     const NAME: &'static str = "count-best";
///     const ZERO: (i32, u64) = (i32::MIN, 0);
///     const ONE: (i32, u64) = (0, 1);
///     fn add(x: Self::Acc, y: Self::Acc) -> Self::Acc {
///         match x.0.cmp(&y.0) {
///             std::cmp::Ordering::Less => y,
///             std::cmp::Ordering::Greater => x,
///             std::cmp::Ordering::Equal => (x.0, x.1 + y.1),
///         }
///     }
///     fn mul_add(acc: Self::Acc, a: Self::Elem, b: Self::Elem) -> Self::Acc {
///         Self::add(acc, (a.0.saturating_add(b.0), a.1 * b.1))
///     }
///     fn finish(acc: Self::Acc) -> Self::Out { acc }
///     fn resume(out: Self::Out) -> Self::Acc { out }
/// }
/// assert!(!CountBest::laws().selective_add);
/// ```
pub trait Semiring: Copy + Send + Sync + 'static {
    /// Elements of A and B.
    type Elem: Copy + Send + Sync + 'static;
    /// Partial sums.
    type Acc: Copy + PartialEq + Send + Sync + 'static;
    /// Elements of C.
    type Out: Copy + Send + Sync + 'static;

    /// A short lower-case name such as `min-plus`.
    const NAME: &'static str;
    /// The identity of ⊕: the result of an empty sum.
    const ZERO: Self::Acc;
    /// The identity of ⊗.
    const ONE: Self::Elem;
    /// What [`admits`](Semiring::admits) accepts, in words; `None` when it accepts everything.
    const ACCEPTS: Option<&'static str> = None;
    /// What it is at run time, for the semirings of this crate; `None` for all others.
    const BUILT_IN: Option<BuiltIn<Self>> = None;
    /// How a GPU computes it, for semirings of users whose elements, sums and results have one type: f32, f64, i32 or i64. Before the first
    /// product it is compared with the functions here, on samples.
    const CUDA: Option<Cuda<Self>> = None;

    /// `x ⊕ y`, where `x` holds the terms of smaller `k`.
    fn add(x: Self::Acc, y: Self::Acc) -> Self::Acc;
    /// `acc ⊕ (a ⊗ b)`.
    fn mul_add(acc: Self::Acc, a: Self::Elem, b: Self::Elem) -> Self::Acc;
    /// The element of C for a complete sum.
    fn finish(acc: Self::Acc) -> Self::Out;
    /// The partial sum that an existing element of C stands for.
    fn resume(out: Self::Out) -> Self::Acc;

    /// False for an element that a product refuses.
    fn admits(_element: Self::Elem) -> bool {
        true
    }

    /// What may be assumed of ⊕ and ⊗; claims nothing unless overridden.
    fn laws() -> Laws {
        Laws::default()
    }
}

/// What max-times and min-times accept.
pub(crate) const NOT_NEGATIVE: &str = "elements that are not negative";

/// What may be assumed of a semiring. A law that is not claimed is not used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Laws {
    /// `x ⊕ y` is always `x` or `y`, and `x` when they compare equal; arg results need it.
    pub selective_add: bool,
    /// `x ⊕ x = x`: terms may be added twice.
    pub idempotent_add: bool,
    /// Any order and grouping of ⊕ gives the same bits.
    pub exact_add: bool,
    /// `a ⊗ b = b ⊗ a`.
    pub commutative_mul: bool,
}

impl Laws {
    /// Laws of a semiring whose ⊕ selects one of its operands and whose ⊗ commutes.
    pub const SELECTIVE: Self =
        Self { selective_add: true, idempotent_add: true, exact_add: true, commutative_mul: true };

    /// Laws of a semiring of which only ⊗ is known to commute.
    pub const COMMUTATIVE: Self =
        Self { selective_add: false, idempotent_add: false, exact_add: false, commutative_mul: true };
}
