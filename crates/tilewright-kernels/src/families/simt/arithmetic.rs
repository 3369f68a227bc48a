//! In which words, and how many terms at a time, a product is computed.

use crate::{
    kernel::Variant,
    request::{Form, Request},
    words::Words,
};
use tilewright_core::{DType, SemiringId};

/// A way to compute terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arithmetic {
    /// What a word holds. Several elements a word take packed operands.
    pub words: Words,
    /// Whether two terms are computed at a time, where one instruction selects among three numbers.
    pub pairs: bool,
    /// Whether it is right for plain elements alone: floats whose order is that of their bits. The packing looks, and a second launch is
    /// there for others.
    pub looks: bool,
    /// Words that one multiprocessor computes per cycle where nothing else is done.
    pub peak: f64,
}

impl Arithmetic {
    /// Whether operands are packed whatever their layouts are.
    pub const fn needs_packing(&self) -> bool {
        self.looks || matches!(self.words, Words::Halves | Words::Bits)
    }

    /// In words, for plans; empty for the way that is right for everything.
    pub const fn name(&self) -> &'static str {
        match (self.words, self.pairs) {
            (Words::Numbers, false) => "",
            (Words::Numbers, true) if self.looks => "two terms at a time where no element has the other sign",
            (Words::Numbers, true) => "two terms at a time",
            (Words::Halves, _) => "two columns a word",
            (Words::Bits, _) => "32 terms a word",
            (Words::Ordered, _) => "floats as integers, two terms at a time",
        }
    }
}

/// A number a word, one term at a time: right for every variant, layout and GPU.
pub(crate) const fn numbers(variant: Variant) -> Arithmetic {
    Arithmetic { words: Words::Numbers, pairs: false, looks: false, peak: peak(variant) }
}

/// The ways to compute a product on its GPU.
pub(crate) fn arithmetics(request: &Request) -> Vec<Arithmetic> {
    use SemiringId::{MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, OrAnd};
    let variant = request.variant();
    let plain = numbers(variant);
    let with = |words, pairs, looks, peak| Arithmetic { words, pairs, looks, peak };
    if request.form == Form::Plain {
        return vec![plain];
    }
    // Where integers and pairs of 16 bits have instructions that add and select, or select among three.
    let fused = ((9, 0)..(12, 0)).contains(&request.target.compute_capability);
    // Rates measured on an H200, over that of the tiles.
    match (variant.semiring, variant.dtype) {
        (OrAnd, _) => vec![plain, with(Words::Bits, false, false, 75.0)],
        _ if !fused => vec![plain],
        (MinPlus | MaxPlus, DType::F16 | DType::Bf16) => vec![plain, with(Words::Halves, true, false, 73.0)],
        (MinPlus | MaxPlus, DType::I16) => vec![plain, with(Words::Halves, false, false, 75.0)],
        (MinPlus | MaxPlus, DType::I32) => vec![with(Words::Numbers, true, false, 81.0)],
        (MinPlus | MaxPlus | MaxTimes | MinTimes, DType::F32) => {
            vec![plain, with(Words::Numbers, true, true, 79.0)]
        }
        (MaxMin | MinMax, DType::F32) => vec![with(Words::Ordered, true, false, 51.0)],
        (MaxMin | MinMax, DType::I32) => vec![with(Words::Numbers, true, false, 51.0)],
        _ => vec![plain],
    }
}

/// Terms that one multiprocessor computes per cycle where nothing else is done (compute capability 9.0): by the rates of the
/// instructions that a term takes.
const fn peak(variant: Variant) -> f64 {
    use SemiringId::{MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, OrAnd, PlusTimes};
    match (variant.semiring, variant.accumulator()) {
        (PlusTimes, DType::F32) => 128.0,
        (PlusTimes, DType::I64) => 12.0,
        (PlusTimes | OrAnd, _) => 64.0,
        // The selection has an arithmetic unit of its own beside that of the multiplication.
        (MinPlus | MaxPlus | MaxTimes | MinTimes, DType::F32 | DType::I32) => 64.0,
        (MinPlus | MaxPlus | MaxTimes | MinTimes, _) => 16.0,
        (MaxMin | MinMax, DType::F32 | DType::I32) => 32.0,
        _ => 10.0,
    }
}
