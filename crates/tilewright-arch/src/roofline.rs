//! The roofline: what arithmetic and memory together allow.
//!
//! Source: Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore
//! architectures", Communications of the ACM 52 (2009).

/// A peak of arithmetic and one of memory.
///
/// ```
/// use tilewright_arch::{Device, Rate, Roofline};
///
/// let roofline = Device::find("h200")?.roofline(Rate::F32).unwrap();
/// // 66.9 TFLOP/s over 4.8 TB/s: below 14 operations per byte the memory limits.
/// assert_eq!(roofline.ridge().round(), 14.0);
/// assert_eq!(roofline.attainable(0.25), 1.2e12);
/// assert_eq!(roofline.attainable(1000.0), roofline.peak);
/// # Ok::<(), tilewright_arch::DeviceLookupError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roofline {
    /// Operations per second.
    pub peak: f64,
    /// Bytes per second.
    pub bandwidth: f64,
}

impl Roofline {
    /// The arithmetic intensity, in operations per byte, from which on arithmetic and not memory is the limit:
    /// `peak / bandwidth`.
    pub fn ridge(&self) -> f64 {
        self.peak / self.bandwidth
    }

    /// The attainable rate in operations per second at an arithmetic intensity in operations per byte:
    /// `min(peak, intensity * bandwidth)`.
    pub fn attainable(&self, intensity: f64) -> f64 {
        (intensity * self.bandwidth).min(self.peak)
    }

    /// The side that is the limit at this intensity.
    pub fn bound(&self, intensity: f64) -> Bound {
        if intensity < self.ridge() { Bound::Memory } else { Bound::Arithmetic }
    }
}

/// Which side of the roofline is the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// The slope: memory bandwidth.
    Memory,
    /// The flat: arithmetic.
    Arithmetic,
}

/// The arithmetic intensity of a matrix product that moves every matrix once, in operations per byte:
/// `2 m n k / ((m k + k n + m n) * bytes)` for elements of `bytes` bytes. 0 for an empty product.
///
/// ```
/// // Tiles of 32 x 32 floats: an intensity of 32 * 2 / (3 * 4) if everything is moved once.
/// assert_eq!(tilewright_arch::product_intensity(32, 32, 32, 4), 64.0 / 12.0);
/// ```
pub fn product_intensity(m: u64, n: u64, k: u64, bytes: u32) -> f64 {
    let (m, n, k) = (m as f64, n as f64, k as f64);
    let moved = (m * k + k * n + m * n) * f64::from(bytes);
    if moved == 0.0 { 0.0 } else { 2.0 * m * n * k / moved }
}
