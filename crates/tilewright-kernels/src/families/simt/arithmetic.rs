//! In which words, and how many terms at a time, a product is computed.

use crate::{
    encoding::Encoding,
    request::{Form, Request},
};
use tilewright_arch::{ComputeCapability, instructions::has_native_dpx};
use tilewright_core::{DType, SemiringId};

/// A way to compute terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arithmetic {
    /// What a word holds. Several elements a word take packed operands.
    pub encoding: Encoding,
    /// Whether two terms are computed at a time, where one instruction selects among three numbers.
    pub pairs: bool,
    /// Whether elements that are not plain are computed in pairs as well, once the sums of a warp have the sign of the better numbers.
    pub settles: bool,
    /// Whether it is right for plain elements alone: floats whose order is that of their bits. The packing looks, and a second launch is
    /// there for others.
    pub looks: bool,
    /// Whether operands are packed where they can be, since the assembler has no registers for other copies, and would keep sums in local memory.
    pub crowded: bool,
    /// Whether all steps of a tile are written out: where one instruction computes a term, or is one of three that compute two, they fit
    /// into the instruction cache (17.3 T terms/s in place of 15.6 for i32).
    pub whole: bool,
    /// Words computed in the time of one number, one term at a time.
    pub gain: f64,
}

impl Arithmetic {
    /// Whether operands are packed whatever their layouts are.
    pub const fn needs_packing(&self) -> bool {
        self.looks
            || matches!(self.encoding, Encoding::Halves | Encoding::Bits | Encoding::Close | Encoding::Near)
    }

    /// In words, for plans; empty for the way that is right for everything.
    pub const fn name(&self) -> &'static str {
        match (self.encoding, self.pairs) {
            (Encoding::Numbers, false) => "",
            (Encoding::Numbers, true) => match (self.looks, self.settles) {
                (false, false) => "two terms at a time",
                (true, false) => "two terms at a time where no element has the other sign",
                (false, true) => "two terms at a time once sums have the sign of the better numbers",
                (true, true) => {
                    "two terms at a time where no element has the other sign, elsewhere once sums have that of the better numbers"
                }
            },
            (Encoding::Halves, _) => "two columns a word",
            (Encoding::Bits, _) => "32 terms a word",
            (Encoding::Close, _) => "two columns a word, as distances of 16 bits",
            (Encoding::Near, _) => "two terms at a time, as distances of 32 bits",
            (Encoding::Ordered, _) => "floats as integers, two terms at a time",
        }
    }
}

/// A number a word, one term at a time: right for every variant, layout and GPU.
pub(crate) const NUMBERS: Arithmetic = Arithmetic {
    encoding: Encoding::Numbers,
    pairs: false,
    settles: false,
    looks: false,
    crowded: false,
    whole: false,
    gain: 1.0,
};

const BLACKWELL: ComputeCapability = ComputeCapability::new(10, 0);

/// The ways to compute a product on its GPU.
pub(crate) fn arithmetics(request: &Request) -> Vec<Arithmetic> {
    use SemiringId::{MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, OrAnd};
    let variant = request.variant();
    let plain = NUMBERS;
    let with = |encoding, pairs, looks, gain| Arithmetic { encoding, pairs, looks, gain, ..plain };
    let whole = |arithmetic| Arithmetic { whole: true, ..arithmetic };
    if request.form == Form::Plain || request.arg || request.own.is_some() {
        return vec![plain];
    }
    let crowded = request.gpu.capability() >= BLACKWELL;
    // Measured on an H200.
    match (variant.semiring, variant.dtype) {
        (OrAnd, _) => vec![Arithmetic { crowded, ..plain }, whole(with(Encoding::Bits, false, false, 1.17))],
        _ if !has_native_dpx(request.gpu.capability()) => vec![plain],
        (MinPlus | MaxPlus, DType::F16 | DType::Bf16) => {
            vec![plain, with(Encoding::Halves, true, false, 1.14)]
        }
        (MinPlus | MaxPlus, DType::I16) => vec![plain, whole(with(Encoding::Halves, false, false, 1.17))],
        (MinPlus | MaxPlus, DType::I32) => {
            vec![whole(Arithmetic { crowded, ..with(Encoding::Numbers, true, false, 1.27) })]
        }
        // Sums that never settle are computed as fast as a term at a time.
        (MinPlus | MaxPlus, DType::F32) => {
            let settles = |arithmetic| Arithmetic { settles: true, ..arithmetic };
            [with(Encoding::Numbers, true, false, 1.0), with(Encoding::Numbers, true, true, 1.23)]
                .map(settles)
                .to_vec()
        }
        (MaxTimes | MinTimes, DType::F32) => vec![plain, with(Encoding::Numbers, true, true, 1.23)],
        (MaxMin | MinMax, DType::F32) => vec![with(Encoding::Ordered, true, false, 1.6)],
        (MaxMin | MinMax, DType::I32 | DType::U8) => vec![with(Encoding::Numbers, true, false, 1.6)],
        _ => vec![plain],
    }
}
