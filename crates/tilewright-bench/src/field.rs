//! The element types that are measured.

/// An element: how it is drawn at random, and its value.
pub trait Field: bytemuck::Pod + Send + Sync {
    /// NumPy's name of the type.
    const NAME: &'static str;
    /// A value of the range that the tables state, from 32 random bits.
    fn draw(bits: u32) -> Self;
    /// The same value as `f64`.
    fn value(self) -> f64;
}

/// In [-1, 1), a multiple of 2^-23.
fn unit(bits: u32) -> f64 {
    f64::from(bits >> 8) / f64::from(1 << 23) - 1.0
}

fn within(limit: u32, bits: u32) -> i32 {
    (bits % (2 * limit + 1)) as i32 - limit as i32
}

impl Field for f32 {
    const NAME: &'static str = "float32";
    fn draw(bits: u32) -> Self {
        unit(bits) as f32
    }
    fn value(self) -> f64 {
        f64::from(self)
    }
}

impl Field for f64 {
    const NAME: &'static str = "float64";
    fn draw(bits: u32) -> Self {
        unit(bits)
    }
    fn value(self) -> f64 {
        self
    }
}

impl Field for i32 {
    const NAME: &'static str = "int32";
    fn draw(bits: u32) -> Self {
        within(1_000_000, bits)
    }
    fn value(self) -> f64 {
        f64::from(self)
    }
}

impl Field for i16 {
    const NAME: &'static str = "int16";
    fn draw(bits: u32) -> Self {
        within(1000, bits) as i16
    }
    fn value(self) -> f64 {
        f64::from(self)
    }
}
