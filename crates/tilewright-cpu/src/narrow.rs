//! Integers that lie close together, in 16 bits.
//!
//! Under min-plus an element is written as its distance from the smallest of its matrix, under max-plus from the
//! largest. The best term is then the one with the smallest sum of distances, and where such sums fit 16 bits they
//! tell the result exactly: twice as many fit a vector. "Absent" becomes a distance beyond all sums of finite
//! ones.

use crate::op::Scalar;

/// An integer that min-plus and max-plus compute with.
pub trait Integer: Scalar + Ord {
    fn from_wide(x: i64) -> Self;
    fn wide(self) -> i64;
    fn wrapping_add(self, other: Self) -> Self;
    fn wrapping_sub(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Integer for $t {
            #[inline(always)]
            fn from_wide(x: i64) -> Self { x as $t }
            #[inline(always)]
            fn wide(self) -> i64 { self as i64 }
            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self { self.wrapping_sub(other) }
        }
    )*};
}
integers! { i16 i32 i64 }

/// "Absent" under max-plus (`max`) or min-plus.
#[inline(always)]
fn absent<E: Integer>(max: bool) -> E {
    if max { E::BOTTOM } else { E::TOP }
}

/// The window of a matrix's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window<E> {
    /// The smallest and the largest element that is not absent. Without any, the smallest is the larger one.
    pub least: E,
    pub most: E,
    /// Whether some element is absent.
    pub absent: bool,
}

/// What a scan under min-plus or, with `MAX`, max-plus has seen: reductions that vectorise.
#[derive(Clone, Copy)]
pub struct Seen<E, const MAX: bool> {
    least: E,
    most: E,
    /// The extreme on the side of "absent", of elements moved one step towards it: "absent" wraps to the other side.
    moved: E,
}

impl<E: Integer, const MAX: bool> Seen<E, MAX> {
    pub const NOTHING: Self =
        Self { least: E::TOP, most: E::BOTTOM, moved: if MAX { E::TOP } else { E::BOTTOM } };

    /// Sees an element.
    #[inline(always)]
    pub fn see(&mut self, x: E) {
        self.least = self.least.min(x);
        self.most = self.most.max(x);
        self.moved = match MAX {
            true => self.moved.min(x.wrapping_sub(E::ONE)),
            false => self.moved.max(x.wrapping_add(E::ONE)),
        };
    }

    /// The window of all that was seen.
    pub fn window(self) -> Window<E> {
        let Self { least, most, moved } = self;
        match (MAX, moved == Self::NOTHING.moved) {
            // Nothing but absent elements, if any.
            (true, true) => Window { absent: least == E::BOTTOM, ..Window::NOTHING },
            (false, true) => Window { absent: most == E::TOP, ..Window::NOTHING },
            (true, false) => Window { least: moved.wrapping_add(E::ONE), most, absent: least == E::BOTTOM },
            (false, false) => Window { least, most: moved.wrapping_sub(E::ONE), absent: most == E::TOP },
        }
    }
}

impl<E: Integer> Window<E> {
    /// Before anything was seen.
    pub const NOTHING: Self = Self { least: E::TOP, most: E::BOTTOM, absent: false };

    /// What both have seen.
    pub fn join(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            absent: self.absent || other.absent,
        }
    }

    /// Whether nothing but absent elements was seen.
    pub fn is_empty(&self) -> bool {
        self.least > self.most
    }

    /// The distance of the ends.
    fn span(&self) -> i64 {
        if self.is_empty() { 0 } else { self.most.wide().saturating_sub(self.least.wide()) }
    }
}

/// How the elements of a matrix, or of a product, are written in 16 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The element that is written as 0: the best one.
    origin: i64,
    /// "Absent": more than any sum of two finite distances.
    far: u16,
    /// Whether larger elements are better.
    max: bool,
}

/// The codes of A and of B.
pub type Codes = [Code; 2];

impl Code {
    /// Codes for two operands, if sums of their distances fit 16 bits.
    ///
    /// The largest value is left to a sum without terms, which is absent.
    pub fn of<E: Integer>(max: bool, windows: [Window<E>; 2]) -> Option<Codes> {
        let far = windows[0].span().saturating_add(windows[1].span()).saturating_add(1);
        let largest = if windows.iter().any(|w| w.absent) { far.saturating_mul(2) } else { far };
        if largest > u16::MAX.into() {
            return None;
        }
        let origin = |w: Window<E>| match max {
            _ if w.is_empty() => 0,
            true => w.most.wide(),
            false => w.least.wide(),
        };
        Some(windows.map(|w| Self { origin: origin(w), far: far as u16, max }))
    }

    /// The code of sums of terms in these codes.
    pub fn sum([a, b]: Codes) -> Self {
        Self { origin: a.origin + b.origin, ..a }
    }

    /// An element as a distance.
    #[inline(always)]
    pub fn write<E: Integer>(self, x: E) -> u16 {
        let origin = E::from_wide(self.origin);
        let distance = if self.max { origin.wrapping_sub(x) } else { x.wrapping_sub(origin) };
        if x == absent(self.max) { self.far } else { distance.wide() as u16 }
    }

    /// The element that a distance stands for.
    #[inline(always)]
    pub fn read<E: Integer>(self, distance: u16) -> E {
        let (origin, offset) = (E::from_wide(self.origin), E::from_wide(distance.into()));
        let x = if self.max { origin.wrapping_sub(offset) } else { origin.wrapping_add(offset) };
        if distance < self.far { x } else { absent(self.max) }
    }

    /// The better of two elements.
    #[inline(always)]
    pub fn better<E: Integer>(self, x: E, y: E) -> E {
        if self.max { x.max(y) } else { x.min(y) }
    }
}

/// Uses of each element of A, B and C from which on 16 bits pay: with fewer, packing and widening cost more than they
/// save.
const LEAST_USES: usize = 32;

/// Whether a product of `m x k` and `k x n` elements is computed in 16 bits where they allow.
pub fn pays(m: usize, n: usize, k: usize) -> bool {
    m.min(n).min(k) >= LEAST_USES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(least: i32, most: i32, absent: bool) -> Window<i32> {
        Window { least, most, absent }
    }

    #[test]
    fn windows_up_to_16_bits_have_codes() {
        let fits = |a, b| Code::of(false, [a, b]).is_some();
        for base in [-(1 << 28) + 1, -5, 0, (1 << 28) - 40_000] {
            let upto = |span, absent| window(base, base + span, absent);
            assert!(fits(upto(32_767, false), upto(32_767, false)));
            assert!(!fits(upto(32_767, false), upto(32_768, false)));
            assert!(fits(upto(16_383, true), upto(16_383, true)));
            assert!(!fits(upto(16_384, true), upto(16_383, true)));
            // One absent element is enough, and the spans need not be alike.
            assert!(fits(upto(32_766, true), upto(0, false)) && !fits(upto(32_767, false), upto(0, true)));
        }
        assert!(fits(window(i32::MAX, i32::MIN, true), window(0, 32_766, false)), "nothing finite");
        assert!(!fits(window(1 - (1 << 28), (1 << 28) - 1, false), window(0, 0, false)));
    }

    #[test]
    fn sums_of_codes_are_codes_of_sums() {
        for max in [false, true] {
            let none = absent::<i32>(max);
            let [a, b] = Code::of(max, [window(-100, 16_283, true), window(70_000, 86_383, true)]).unwrap();
            let sum = |x, y| Code::sum([a, b]).read::<i32>(a.write(x).wrapping_add(b.write(y)));
            for x in [-100, -99, 0, 16_283] {
                for y in [70_000, 70_001, 86_383] {
                    assert_eq!(sum(x, y), x + y);
                    assert_eq!([sum(none, y), sum(x, none), sum(none, none)], [none; 3]);
                }
            }
            assert_eq!(Code::sum([a, b]).read::<i32>(u16::MAX), none, "no terms");
        }
    }

    #[test]
    fn windows_leave_out_what_is_absent() {
        let see = |elements: &[i32]| {
            let mut seen = Seen::<i32, false>::NOTHING;
            elements.iter().for_each(|&x| seen.see(x));
            seen.window()
        };
        let seen = see(&[3, i32::MAX, -7, 12, i32::MAX, 5]);
        assert_eq!(seen, window(-7, 12, true));
        assert_eq!(see(&[i32::MAX - 1, i32::MIN]), window(i32::MIN, i32::MAX - 1, false));
        assert_eq!(see(&[]), Window::NOTHING);
        let none = see(&[i32::MAX]);
        assert_eq!((none.is_empty(), none.span(), none.absent), (true, 0, true));
        assert_eq!(none.join(seen), seen);
        let mut largest = Seen::<i32, true>::NOTHING;
        [i32::MIN, 7, -4].into_iter().for_each(|x| largest.see(x));
        assert_eq!(largest.window(), window(-4, 7, true));
    }
}
