//! Typed views of the 64-bit words that registers hold.

/// A type that lives in the low bits of a register word.
///
/// Reading ignores the bits above the type's width, as PTX does when a register is wider than the instruction type.
/// Writing zero-extends.
pub(super) trait Value: Copy + Send + Sync + 'static {
    fn from_word(word: u64) -> Self;
    fn word(self) -> u64;
}

/// Integers of every PTX width, computed in 128 bits, where no single operation on 64-bit values overflows.
///
/// The compiler narrows `T::wrap(a.wide() + b.wide())` back to the width of `T`, so one definition of an
/// instruction serves all types at full speed.
pub(super) trait Int: Value + Ord {
    const BITS: u32;
    const SIGNED: bool;
    /// The value, exactly.
    fn wide(self) -> i128;
    /// The value modulo 2^BITS.
    fn wrap(wide: i128) -> Self;
    /// The nearest representable value.
    fn saturate(wide: i128) -> Self {
        Self::wrap(wide.clamp(Self::min_value(), Self::max_value()))
    }
    fn min_value() -> i128 {
        if Self::SIGNED { -(1 << (Self::BITS - 1)) } else { 0 }
    }
    fn max_value() -> i128 {
        if Self::SIGNED { (1 << (Self::BITS - 1)) - 1 } else { (1 << Self::BITS) - 1 }
    }
}

macro_rules! integers {
    ($($type:ty as $unsigned:ty),*) => {$(
        impl Value for $type {
            #[inline(always)]
            fn from_word(word: u64) -> Self {
                word as $type
            }
            #[inline(always)]
            fn word(self) -> u64 {
                self as $unsigned as u64
            }
        }
        impl Int for $type {
            const BITS: u32 = <$type>::BITS;
            const SIGNED: bool = <$type>::MIN != 0;
            #[inline(always)]
            fn wide(self) -> i128 {
                self as i128
            }
            #[inline(always)]
            fn wrap(wide: i128) -> Self {
                wide as $type
            }
        }
    )*};
}

integers!(u8 as u8, u16 as u16, u32 as u32, u64 as u64, i8 as u8, i16 as u16, i32 as u32, i64 as u64);

impl Value for bool {
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        word & 1 != 0
    }
    #[inline(always)]
    fn word(self) -> u64 {
        u64::from(self)
    }
}

impl Value for f32 {
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        f32::from_bits(word as u32)
    }
    #[inline(always)]
    fn word(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Value for f64 {
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        f64::from_bits(word)
    }
    #[inline(always)]
    fn word(self) -> u64 {
        self.to_bits()
    }
}
