//! What a kernel is compiled for: a semiring on an element type.

use crate::user_semiring::UserSemiring;
use core::fmt;
use tilewright_core::{DType, SemiringId};

/// A semiring on an element type, and which results it gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The semiring.
    pub semiring: SemiringId,
    /// The element type of A and B.
    pub dtype: DType,
    /// A semiring of the user's, which takes the place of `semiring`.
    pub own: Option<UserSemiring>,
    /// The element type of C, where it is not the one that the semiring has by itself: see [`Variant::giving`].
    pub result: Option<DType>,
}

impl Variant {
    /// Every semiring that `simt` computes, on every element type that it is defined on, with all types of results. Log-plus is not among them: its kernel has `simt` compute
    /// plus-times between passes of its own.
    pub const ALL: &[Self] = &{
        let mut all = [Self::new(SemiringId::PlusTimes, DType::F32); COUNT];
        let (mut count, mut i) = (0, 0);
        while i < SemiringId::ALL.len() {
            let (semiring, mut j) = (SemiringId::ALL[i], 0);
            while j < computed(semiring).len() {
                let own = Self::new(semiring, computed(semiring)[j]);
                all[count] = own;
                count += 1;
                j += 1;
                let (others, mut other) = (semiring.other_outputs(own.dtype), 0);
                while other < others.len() {
                    all[count] = Self { result: Some(others[other]), ..own };
                    count += 1;
                    other += 1;
                }
            }
            i += 1;
        }
        all
    };

    /// The pair.
    pub const fn new(semiring: SemiringId, dtype: DType) -> Self {
        Self { semiring, dtype, own: None, result: None }
    }

    /// The same with results of type `output`.
    pub fn giving(self, output: DType) -> Self {
        let own = Self { result: None, ..self };
        Self { result: (output != own.output()).then_some(output), ..self }
    }

    /// The type that sums are computed in: f32 for floats of 16 and 32 bits, i32 for booleans and integers of up to 32.
    ///
    /// Selective semirings on f16 and bf16 have the bits of the reference nevertheless, which rounds every term: rounding keeps the
    /// order of terms, and rounding a sum to f32 beforehand changes nothing, since f32 has more than twice as many digits.
    pub const fn accumulator(self) -> DType {
        match self.dtype {
            DType::F64 | DType::I64 => self.dtype,
            dtype if dtype.is_float() => DType::F32,
            _ => DType::I32,
        }
    }

    /// The type of the elements of C; that of A and B where the semiring is not defined on it.
    pub fn output(self) -> DType {
        self.semiring.output_or(self.dtype, self.result).unwrap_or(self.dtype)
    }

    /// Whether the loops of other variants are those of this one: with `max` in place of `min` or the other way round, and on elements
    /// that are converted to its type.
    pub(crate) fn stands_for_others(self) -> bool {
        use SemiringId::{MaxMin, MaxTimes, MinPlus, OrAnd, PlusTimes};
        matches!(self.semiring, PlusTimes | MinPlus | MaxTimes | MaxMin | OrAnd)
            && (self.dtype == self.accumulator() || self.semiring == OrAnd)
    }

    /// Whether other variants are computed in the same words, but for the direction of a comparison.
    pub(crate) fn has_words_for_others(self) -> bool {
        use SemiringId::{MaxMin, MaxTimes, MinPlus, OrAnd};
        match self.semiring {
            MinPlus | MaxTimes => !matches!(self.dtype, DType::F64 | DType::I64),
            MaxMin => matches!(self.dtype, DType::F32 | DType::I32),
            OrAnd => true,
            _ => false,
        }
    }

    /// Whether other variants are narrowed in the same words, but for the conversion of elements.
    pub(crate) fn narrows_for_others(self) -> bool {
        self.semiring == SemiringId::MinPlus && self.dtype.is_float() && self.dtype == self.accumulator()
    }

    /// Whether elements are sums as they are: they have the type, and none of them stands for "absent".
    pub(crate) fn is_computed_as_it_is(self) -> bool {
        let has_absent = self.semiring.has_absent_integers() && !self.dtype.is_float();
        self.dtype == self.accumulator() && !has_absent
    }
}

/// The element types on which `simt` computes a semiring.
const fn computed(semiring: SemiringId) -> &'static [DType] {
    if matches!(semiring, SemiringId::LogPlus) { &[] } else { semiring.dtypes() }
}

/// How many variants there are.
const COUNT: usize = {
    let (mut count, mut i) = (0, 0);
    while i < SemiringId::ALL.len() {
        let (semiring, mut j) = (SemiringId::ALL[i], 0);
        while j < computed(semiring).len() {
            count += 1 + semiring.other_outputs(computed(semiring)[j]).len();
            j += 1;
        }
        i += 1;
    }
    count
};

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.own {
            Some(own) => write!(f, "{}.{}", own.name(), self.dtype)?,
            None => write!(f, "{}.{}", self.semiring, self.dtype)?,
        }
        self.result.map_or(Ok(()), |result| write!(f, "-{result}"))
    }
}

impl UserSemiring {
    /// What kernels compute. Its costs are estimated as those of max-min, whose terms take operations of their own, too.
    pub fn variant(&self) -> Variant {
        Variant { own: Some(*self), ..Variant::new(SemiringId::MaxMin, self.dtype()) }
    }
}
