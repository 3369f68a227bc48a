//! What a tensor map must be: the rules of `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col`.

use super::{Fill, Im2col, Interleave, RANK, Swizzle, TensorMap};

/// Most bytes of a box, by driver 580.159.04.
const BOX_BYTES: u64 = 228 << 10;

/// Why a tensor map is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {found}; {rule}")]
pub struct TensorMapError {
    /// What is wrong.
    pub what: String,
    /// Its value.
    pub found: String,
    /// What it must be.
    pub rule: &'static str,
}

fn wrong<T: std::fmt::Display>(what: impl Into<String>, found: T, rule: &'static str) -> TensorMapError {
    TensorMapError { what: what.into(), found: found.to_string(), rule }
}

impl TensorMap {
    /// Whether CUDA takes such a map.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn check(&self) -> Result<(), TensorMapError> {
        let is_plain = self.im2col.is_none() && self.interleave == Interleave::None;
        if !(if is_plain { 1 } else { 3 }..=RANK).contains(&self.rank) {
            let rule = "it must be 1 to 5, and 3 to 5 in im2col mode or with an interleaved layout";
            return Err(wrong("the rank", self.rank, rule));
        }
        let unit = if self.interleave == Interleave::Bytes32 { 32 } else { 16 };
        if !self.address.is_multiple_of(unit) {
            let found = format!("{:#x}", self.address);
            let rule = "it must be a multiple of 16, and of 32 with the layout of 32 bytes";
            return Err(wrong("the address", found, rule));
        }
        for (dimension, &extent) in self.extents[..self.rank].iter().enumerate() {
            if !(1..=1 << 32).contains(&extent) {
                return Err(wrong(format!("extent {dimension}"), extent, "it must be 1 to 2^32"));
            }
        }
        for (dimension, &stride) in self.strides[..self.rank - 1].iter().enumerate() {
            if !stride.is_multiple_of(unit) || stride >= 1 << 40 {
                let rule = "it must be a multiple of 16 bytes, of 32 with the layout of 32 bytes, below 2^40";
                return Err(wrong(format!("stride {dimension}"), stride, rule));
            }
        }
        for (dimension, &step) in self.steps[..self.rank].iter().enumerate() {
            if !(1..=8).contains(&step) {
                return Err(wrong(format!("element stride {dimension}"), step, "it must be 1 to 8"));
            }
        }
        if self.fill == Fill::Nan && !self.element.is_float() {
            return Err(wrong("the fill", "NaN", "only floating-point types have one"));
        }
        match &self.im2col {
            None => self.check_box(),
            Some(im2col) => self.check_pixels(im2col),
        }
    }

    fn check_box(&self) -> Result<(), TensorMapError> {
        for (dimension, &extent) in self.boxes[..self.rank].iter().enumerate() {
            if !(1..=256).contains(&extent) {
                return Err(wrong(format!("box extent {dimension}"), extent, "it must be 1 to 256"));
            }
        }
        // CUDA counts elements of the type here, interleaved layouts or not.
        let taken = |dimension: usize| self.boxes[dimension].div_ceil(self.steps[dimension]);
        let rows: u64 = (1..self.rank).map(|dimension| u64::from(taken(dimension))).product();
        let bytes = rows * u64::from(self.boxes[0] * self.element.bytes());
        if bytes > BOX_BYTES {
            return Err(wrong("the box in bytes", bytes, "it must be 228 KiB at most"));
        }
        self.check_line(self.boxes[0] * self.element.bytes())
    }

    fn check_pixels(&self, im2col: &Im2col) -> Result<(), TensorMapError> {
        if !(1..=256).contains(&im2col.channels) {
            return Err(wrong("the channels of a pixel", im2col.channels, "they must be 1 to 256"));
        }
        if !(1..=1024).contains(&im2col.pixels) {
            return Err(wrong("the pixels of a column", im2col.pixels, "they must be 1 to 1024"));
        }
        // Corners have 16 bits of one axis, 8 of two, 5 of three.
        let bits = [15, 7, 4][self.rank - 3];
        let range = -(1 << bits)..1 << bits;
        for corner in im2col.lower[..self.rank - 2].iter().chain(&im2col.upper[..self.rank - 2]) {
            if !range.contains(corner) {
                let rule = "it must have 16 bits of one axis, 8 of two, 5 of three";
                return Err(wrong("a corner of the box of pixels", corner, rule));
            }
        }
        self.check_line(im2col.channels * self.element.bytes())
    }

    /// The innermost bytes of a box.
    fn check_line(&self, bytes: u32) -> Result<(), TensorMapError> {
        if !bytes.is_multiple_of(16) {
            return Err(wrong(
                "the innermost extent of the box in bytes",
                bytes,
                "it must be a multiple of 16",
            ));
        }
        let has_lines = self.swizzle != Swizzle::None && self.interleave == Interleave::None;
        if has_lines && bytes > self.swizzle.width() {
            let rule = "it must not be more than the bytes of the swizzle";
            return Err(wrong("the innermost extent of the box in bytes", bytes, rule));
        }
        Ok(())
    }
}
