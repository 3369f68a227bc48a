//! What `simt` is to compute, and how many bytes that moves.

use crate::{demand::Moved, encoding::Encoding, variant::Variant};
use tilewright_arch::Gpu;

/// Part of the peak bandwidth of its memory that the whole GPU reaches.
const BANDWIDTH: f64 = 0.825;

/// What is to be computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Work {
    pub m: u32,
    /// Columns, in words.
    pub n: u32,
    /// Terms, in words.
    pub k: u32,
    pub batch: usize,
    /// How many different A and B the products have.
    pub operands: [usize; 2],
    pub variant: Variant,
    pub encoding: Encoding,
    pub gpu: Gpu,
    /// Whether rows of A or columns of B, copied along k as they are, fall into the same sets of a cache.
    pub aliased: [bool; 2],
    /// Terms per cycle of a multiprocessor of the GPU: [`crate::peak::peak_on`].
    pub peak: f64,
    /// Whether all sums lie in a workspace, for a launch that finishes them.
    pub is_joined: bool,
}

impl Work {
    /// Bytes of a sum, and of a word of a packed operand.
    pub fn sum_bytes(&self) -> usize {
        self.encoding.size(self.variant)
    }

    /// The same work, which counts numbers, in other words.
    #[must_use]
    pub fn in_encoding(self, encoding: Encoding) -> Self {
        Self {
            n: self.n.div_ceil(encoding.columns()),
            k: self.k.div_ceil(encoding.terms()),
            encoding,
            ..self
        }
    }

    /// Bytes of A or B.
    pub fn operand_bytes(&self, operand: usize) -> f64 {
        let columns = if operand == 1 { self.encoding.columns() } else { 1 };
        let elements = f64::from(columns) * f64::from(self.encoding.terms()) * self.words_of(operand);
        elements * self.variant.dtype.size() as f64
    }

    /// Bytes of A or B when it is packed.
    pub fn packed_bytes(&self, operand: usize) -> f64 {
        self.words_of(operand) * self.sum_bytes() as f64
    }

    fn words_of(&self, operand: usize) -> f64 {
        f64::from([self.m, self.n][operand]) * f64::from(self.k)
    }

    /// Bytes that are moved at least: copies of operands are not counted, since data may decide which of them are made.
    pub fn moved(&self) -> Moved {
        let loaded = |i: usize| self.operand_bytes(i) * self.operands[i] as f64;
        Moved { loaded: loaded(0) + loaded(1), stored: self.result_bytes() * self.batch as f64, copied: 0.0 }
    }

    /// Terms of all products, in words.
    pub fn terms(&self) -> f64 {
        f64::from(self.m) * f64::from(self.n) * f64::from(self.k) * self.batch as f64
    }

    /// Bytes of the result of a product.
    fn result_bytes(&self) -> f64 {
        let results = f64::from(self.m) * f64::from(self.n) * f64::from(self.encoding.columns());
        results * self.variant.output().size() as f64
    }

    /// Cycles to read every operand once as it is, and to write the result once.
    pub fn traffic(&self) -> f64 {
        self.moving(self.operand_bytes(0) + self.operand_bytes(1))
    }

    /// Cycles to read so many bytes for each product, and to write its result.
    pub fn moving(&self, read: f64) -> f64 {
        (read + self.result_bytes()) * self.batch as f64 / self.bandwidth()
    }

    /// Bytes per cycle that the GPU moves to and from memory.
    pub fn bandwidth(&self) -> f64 {
        BANDWIDTH * self.gpu.bytes_per_cycle()
    }
}
