//! Elements to multiply: ordinary, equal to many others, and nasty.

use tilewright_core::{E4m3, E5m2, Element, Extremes, Semiring, Value, bf16, f16};

/// A small generator (splitmix64): a problem's contents follow from one number.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 32) as usize % n
    }
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// What the elements of a problem are like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Palette {
    /// Few distinct values: ties everywhere.
    Few,
    /// Small whole numbers: exact in every order of summation, not too many terms.
    Whole,
    /// Any magnitude.
    Spread,
    /// Every second one special: infinities, NaN, negative zeros, extreme and absent integers.
    Wild,
}

/// An element type that tests can draw, compare and compute with in f64.
pub trait Sample: Element {
    /// What fills memory that must be neither read nor written.
    const POISON: Self;
    /// The distance from 1 to the next number, in the type that plus-times sums in.
    const SUM_EPSILON: f64;
    fn bits(self) -> u64;
    fn draw(r: &mut Random, palette: Palette) -> Self;
    fn wide(self) -> f64;
    /// The nearest element.
    fn nearest(x: f64) -> Self;
    /// The value of the nearest element.
    fn nearest_to(x: f64) -> f64 {
        <Self as Sample>::nearest(x).wide()
    }
}

/// An element that the semiring contains.
pub fn admitted<S: Semiring<Elem: Sample>>(r: &mut Random, palette: Palette) -> S::Elem {
    (0..20).map(|_| S::Elem::draw(r, palette)).find(|&x| S::admits(x)).unwrap_or(S::ONE)
}

macro_rules! floats {
    ($($t:ident, $sum:ident, $tiny:expr;)*) => {$(
        impl Sample for $t {
            const POISON: Self = $t::NAN;
            const SUM_EPSILON: f64 = $sum::EPSILON as f64;
            fn bits(self) -> u64 { self.to_bits().into() }
            fn wide(self) -> f64 { self.into() }
            fn nearest(x: f64) -> Self {
                // Beyond the range lies infinity.
                let beyond = if x < 0.0 { Self::NEG_INFINITY } else { Self::INFINITY };
                Self::from_value(Value::Float(x), Extremes::Refuse).unwrap_or(beyond)
            }
            fn draw(r: &mut Random, palette: Palette) -> Self {
                let whole = r.below(17) as f64 - 8.0;
                match palette {
                    Palette::Few => Self::nearest(r.pick(&[-0.0, 0.0, 1.0, 2.0])),
                    Palette::Whole => Self::nearest(whole),
                    Palette::Spread => {
                        let unit = r.bits() as i64 as f64 / i64::MAX as f64;
                        Self::nearest(unit * 2f64.powi(r.below(21) as i32 - 10))
                    }
                    Palette::Wild if r.below(2) == 0 => Self::nearest(whole),
                    Palette::Wild => r.pick(&[
                        $t::INFINITY, $t::NEG_INFINITY, $t::NAN, -$t::NAN, Self::nearest(-0.0), $t::MAX, $t::MIN,
                        $t::MIN_POSITIVE, $tiny, -$tiny,
                    ]),
                }
            }
        }
    )*};
}
floats! {
    f16, f32, f16::from_bits(1);
    bf16, f32, bf16::from_bits(1);
    f32, f32, f32::from_bits(1);
    f64, f64, f64::from_bits(1);
}

macro_rules! small_floats {
    ($($t:ident, $special:expr;)*) => {$(
        impl Sample for $t {
            const POISON: Self = $t::NAN;
            const SUM_EPSILON: f64 = f32::EPSILON as f64;
            fn bits(self) -> u64 { self.to_bits().into() }
            fn wide(self) -> f64 { self.into() }
            fn nearest(x: f64) -> Self { $t::from_f32(x as f32) }
            fn draw(r: &mut Random, palette: Palette) -> Self {
                // All of them are numbers of both types.
                let whole = f64::from(r.pick(&[-8, -6, -5, -3, -1, 0, 1, 2, 4, 7, 8]));
                match palette {
                    Palette::Few => Self::nearest(r.pick(&[-0.0, 0.0, 1.0, 2.0])),
                    Palette::Whole => Self::nearest(whole),
                    Palette::Spread => $t::from_bits(r.below(0x78) as u8 | r.pick(&[0, 0x80])),
                    Palette::Wild if r.below(2) == 0 => Self::nearest(whole),
                    Palette::Wild => r.pick(&[
                        $t::NAN, -$t::NAN, -$t::ZERO, $t::MAX, -$t::MAX, $t::TINY, -$t::TINY, $special, -$special,
                    ]),
                }
            }
        }
    )*};
}
small_floats! {
    E4m3, E4m3::ONE;
    E5m2, E5m2::INFINITY;
}

macro_rules! integers {
    ($($t:ident, $limit:expr;)*) => {$(
        impl Sample for $t {
            const POISON: Self = 0x5a5a_5a5a_5a5a_5a5a_u64 as $t;
            const SUM_EPSILON: f64 = 0.0;
            fn bits(self) -> u64 { self as u64 }
            fn wide(self) -> f64 { self as f64 }
            fn nearest(x: f64) -> Self { x as $t }
            fn draw(r: &mut Random, palette: Palette) -> Self {
                let whole = (r.below(17) as $t).wrapping_sub(8);
                match palette {
                    Palette::Few => r.below(4) as $t,
                    Palette::Whole => whole,
                    Palette::Spread => (r.bits() as $t) >> r.below($t::BITS as usize),
                    Palette::Wild if r.below(2) == 0 => whole,
                    // The edges of the range that min-plus and max-plus admit, and beyond.
                    Palette::Wild => r.pick(&[
                        $t::MAX, $t::MIN, $t::MAX, $t::MIN, $t::MAX - 1, $t::MIN + 1, $limit, $t::wrapping_sub(0, $limit),
                        $limit - 1, $t::wrapping_sub(1, $limit), $limit - 1, $t::wrapping_sub(1, $limit),
                    ]),
                }
            }
        }
    )*};
}
integers! {
    i8, 1 << 5;
    i16, 1 << 12;
    i32, 1 << 28;
    i64, 1 << 59;
    u8, 1 << 6;
}

impl Sample for bool {
    const POISON: Self = true;
    const SUM_EPSILON: f64 = 0.0;
    fn bits(self) -> u64 {
        self.into()
    }
    fn wide(self) -> f64 {
        f64::from(u8::from(self))
    }
    fn nearest(x: f64) -> Self {
        x != 0.0
    }
    fn draw(r: &mut Random, palette: Palette) -> Self {
        let one_in = match palette {
            Palette::Few | Palette::Wild => 2,
            Palette::Whole => 8,
            Palette::Spread => 50,
        };
        r.below(one_in) == 0
    }
}
