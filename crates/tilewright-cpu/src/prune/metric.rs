//! Distances of elements, by which rows are sorted.

use crate::op::Scalar;

/// Distances in units from which on an element is not sorted.
pub const FAR: u8 = 127;

/// Elements with distances, by which they are sorted.
pub trait Metric: Scalar + PartialOrd {
    /// Whether so large a scale is a number.
    fn measures(scale: f64) -> bool;
    /// The number, roughly.
    fn wide(self) -> f64;
    /// The distance of two elements.
    fn distance(self, other: Self) -> f64;
    /// The distance in whole units, of which `scale` measure one; [`FAR`] from there on. Equal elements have none, even infinite ones.
    fn code(self, origin: Self, scale: f64) -> u8;
}

/// Units as a code.
#[inline(always)]
fn code(units: f32) -> u8 {
    let far = f32::from(FAR);
    let near = if units < far { units } else { far };
    // SAFETY: distances are not negative, and `near` is not NaN.
    unsafe { near.to_int_unchecked::<i32>() as u8 }
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Metric for $t {
            fn measures(scale: f64) -> bool {
                (scale as $t).is_normal()
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn distance(self, other: Self) -> f64 {
                if self == other { 0.0 } else { f64::from(self - other).abs() }
            }
            #[inline(always)]
            fn code(self, origin: Self, scale: f64) -> u8 {
                let units = ((self - origin).abs() * scale as $t) as f32;
                code(if self == origin { 0.0 } else { units })
            }
        }
    )*};
}
floats! { f32 f64 }

macro_rules! integers {
    ($($t:ident: $away:ident;)*) => {$(
        impl Metric for $t {
            fn measures(scale: f64) -> bool {
                (scale as f32).is_normal()
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn distance(self, other: Self) -> f64 {
                (self.$away(other) as f64).abs()
            }
            #[inline(always)]
            fn code(self, origin: Self, scale: f64) -> u8 {
                code((self.$away(origin) as f32).abs() * scale as f32)
            }
        }
    )*};
}
// Elements that are summed are so small that differences fit. Others may have any value of their type.
integers! {
    i16: wrapping_sub;
    i32: abs_diff;
    i64: wrapping_sub;
}
