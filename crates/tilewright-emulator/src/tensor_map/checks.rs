//! What a tensor map must be: the rules of `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col`.

use super::{Fill, Im2col, RANK, Swizzle, TensorMap};

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
        let least = if self.im2col.is_some() { 3 } else { 1 };
        if !(least..=RANK).contains(&self.rank) {
            return Err(wrong("the rank", self.rank, "it must be 1 to 5, and 3 to 5 in im2col mode"));
        }
        if !self.address.is_multiple_of(16) {
            let found = format!("{:#x}", self.address);
            return Err(wrong("the address", found, "it must be a multiple of 16"));
        }
        for (dimension, &extent) in self.extents[..self.rank].iter().enumerate() {
            if !(1..=1 << 32).contains(&extent) {
                return Err(wrong(format!("extent {dimension}"), extent, "it must be 1 to 2^32"));
            }
        }
        for (dimension, &stride) in self.strides[..self.rank - 1].iter().enumerate() {
            if !stride.is_multiple_of(16) || stride >= 1 << 40 {
                let what = format!("stride {dimension}");
                return Err(wrong(what, stride, "it must be a multiple of 16 bytes, below 2^40"));
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
        if self.swizzle != Swizzle::None && bytes > self.swizzle.width() {
            let rule = "it must not be more than the bytes of the swizzle";
            return Err(wrong("the innermost extent of the box in bytes", bytes, rule));
        }
        Ok(())
    }
}
