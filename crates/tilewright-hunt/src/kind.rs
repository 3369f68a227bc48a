//! What the elements of a matrix are like.

use crate::{random::Random, sample::Sample};
use tilewright_core::Semiring;

/// A kind of data. All elements are those that the semiring admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any magnitude.
    Any,
    /// Between zero and one: of random ones few are needed, whatever multiplies them.
    Unit,
    /// Small whole numbers.
    Whole,
    /// Four values: ties everywhere.
    Few,
    /// One value.
    Constant,
    /// Infinities, NaN, denormals, negative zeros, the edges of the domain.
    Hard,
    /// Whole numbers, and every second element hard.
    HalfHard,
    /// Nearly all elements absent.
    Absent,
    /// Every second row absent; or every second column.
    AbsentRows,
    AbsentCols,
    /// Rows, or columns, in order.
    SortedRows,
    SortedCols,
    /// The ends of a window of integers, and what lies between them.
    Window,
    /// As [`Kind::Window`], some elements absent.
    WindowWithAbsent,
}

impl Kind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::Any,
        Self::Unit,
        Self::Whole,
        Self::Few,
        Self::Constant,
        Self::Hard,
        Self::HalfHard,
        Self::Absent,
        Self::AbsentRows,
        Self::AbsentCols,
        Self::SortedRows,
        Self::SortedCols,
        Self::Window,
        Self::WindowWithAbsent,
    ];
}

/// What draws the elements of a matrix.
pub struct Source {
    pub kind: Kind,
    /// Where a window begins, and how wide it is.
    pub base: i64,
    pub width: u32,
}

impl Source {
    /// Element `(row, col)` of a matrix over `S` of which `absent` is the zero.
    pub fn draw<S: Semiring<Elem: Sample>>(
        &self,
        r: &mut Random,
        absent: S::Elem,
        (row, col): (usize, usize),
    ) -> S::Elem {
        type E<S> = <S as Semiring>::Elem;
        let whole = |r: &mut Random| E::<S>::nearest(r.below(17) as f64 - 8.0);
        let mut draw = |kind: Kind| match kind {
            Kind::Any => E::<S>::any(r),
            Kind::Unit => E::<S>::nearest(r.bits() as f64 / u64::MAX as f64),
            Kind::Whole => whole(r),
            Kind::Few => E::<S>::nearest(r.pick(&[-0.0, 0.0, 1.0, 2.0])),
            Kind::Constant => E::<S>::nearest((self.base % 7) as f64),
            Kind::Hard => r.pick(E::<S>::HARD),
            Kind::HalfHard => {
                if r.one_in(2) {
                    r.pick(E::<S>::HARD)
                } else {
                    whole(r)
                }
            }
            Kind::Absent => {
                if r.one_in(40) {
                    whole(r)
                } else {
                    absent
                }
            }
            Kind::AbsentRows => {
                if row % 2 == 0 {
                    absent
                } else {
                    E::<S>::any(r)
                }
            }
            Kind::AbsentCols => {
                if col % 2 == 0 {
                    absent
                } else {
                    E::<S>::any(r)
                }
            }
            Kind::SortedRows => E::<S>::nearest((col / 3) as f64),
            Kind::SortedCols => E::<S>::nearest(-((row / 2) as f64)),
            Kind::WindowWithAbsent if r.one_in(9) => absent,
            Kind::Window | Kind::WindowWithAbsent => {
                let between = r.below(self.width as usize + 1) as u32;
                E::<S>::at(self.base, r.pick(&[0, self.width, self.width, between]))
            }
        };
        let first = draw(self.kind);
        let element = if S::admits(first) { first } else { draw(Kind::Whole) };
        if S::admits(element) { element } else { S::ONE }
    }
}
