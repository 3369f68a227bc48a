//! How matrices lie in memory.

use crate::{
    pages::{Guarded, Side},
    random::Random,
};
use tilewright_core::{Error, Layout, MatMut, MatRef};

/// A layout before its shape is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    by_columns: bool,
    /// Unused elements between neighbours of a line.
    spread: usize,
    /// Unused elements between lines.
    gap: usize,
    reversed: [bool; 2],
    /// Every row, or every column, is the first one: a zero stride.
    repeated: [bool; 2],
    side: Side,
}

impl Form {
    /// Row after row, up to a guard page.
    pub const PLAIN: Self = Self {
        by_columns: false,
        spread: 0,
        gap: 0,
        reversed: [false; 2],
        repeated: [false; 2],
        side: Side::Last,
    };

    /// Any form of a matrix that is written.
    pub fn written(r: &mut Random) -> Self {
        let few = |r: &mut Random| if r.one_in(4) { r.within(1, 3) } else { 0 };
        Self {
            by_columns: r.one_in(2),
            spread: few(r),
            gap: few(r),
            reversed: [r.one_in(5), r.one_in(5)],
            repeated: [false; 2],
            side: if r.one_in(3) { Side::First } else { Side::Last },
        }
    }

    /// Any form of a matrix that is read.
    pub fn read(r: &mut Random) -> Self {
        Self { repeated: [r.one_in(15), r.one_in(15)], ..Self::written(r) }
    }

    /// The same without negative and zero strides, as batches have it, which begin with their first element.
    #[must_use]
    pub fn forward(self) -> Self {
        Self { reversed: [false; 2], repeated: [false; 2], ..self }
    }

    /// The layout of a matrix.
    pub fn layout(self, rows: usize, cols: usize) -> Layout {
        let near = 1 + self.spread as isize;
        let far = |line: usize| line as isize * near + self.gap as isize;
        let strides = if self.by_columns { [near, far(rows)] } else { [far(cols), near] };
        let [row, col] = [0, 1].map(|i| match (self.repeated[i], self.reversed[i]) {
            (true, _) => 0,
            (false, true) => -strides[i],
            (false, false) => strides[i],
        });
        Layout::strided(rows, cols, row, col)
    }
}

/// Equally shaped matrices one after another, at guard pages.
pub struct Placed<T> {
    pub data: Guarded<T>,
    pub layout: Layout,
    pub count: usize,
    /// From a matrix to the next.
    pub stride: usize,
    /// Element `(0, 0)` of the first.
    origin: usize,
}

impl<T: Copy> Placed<T> {
    /// All memory, elements of the matrices included, holds `poison`.
    ///
    /// # Errors
    /// Those of layouts that do not fit the address space.
    pub fn new((rows, cols): (usize, usize), count: usize, form: Form, poison: T) -> Result<Self, Error> {
        let layout = form.layout(rows, cols);
        let span = layout.span()?;
        let stride = span.map_or(0, |(low, high)| high.abs_diff(low) + 1 + form.gap);
        let (low, high) = span.unwrap_or((0, -1));
        let one = usize::try_from(high - low + 1).unwrap_or(0);
        let len = if count == 0 { 0 } else { (count - 1) * stride + one };
        let data = Guarded::new(len, form.side, poison);
        Ok(Self { data, layout, count, stride, origin: low.unsigned_abs() })
    }

    fn at(&self, i: usize) -> usize {
        self.origin + i * self.stride
    }
    /// Where element `(row, col)` of matrix `i` is in the data.
    pub fn index(&self, i: usize, row: usize, col: usize) -> usize {
        self.at(i).wrapping_add_signed(self.layout.offset(row, col))
    }
    /// Matrix `i`.
    ///
    /// # Errors
    /// None, unless this file is wrong.
    pub fn view(&self, i: usize) -> Result<MatRef<'_, T>, Error> {
        MatRef::with_origin(self.data.slice(), self.layout, self.at(i))
    }
    /// Matrix `i`, to be written.
    ///
    /// # Errors
    /// None, unless this file is wrong.
    pub fn view_mut(&mut self, i: usize) -> Result<MatMut<'_, T>, Error> {
        let (layout, origin) = (self.layout, self.at(i));
        MatMut::with_origin(self.data.slice_mut(), layout, origin)
    }
    /// Matrix `i` where `data` is what this one's was.
    ///
    /// # Errors
    /// None, unless this file is wrong.
    pub fn view_in<'a>(&self, data: &'a mut [T], i: usize) -> Result<MatMut<'a, T>, Error> {
        MatMut::with_origin(data, self.layout, self.at(i))
    }
    /// Sets element `(row, col)` of every matrix to `f(i, row, col)`.
    pub fn fill(&mut self, mut f: impl FnMut(usize, usize, usize) -> T) {
        for i in 0..self.count {
            for row in 0..self.layout.rows {
                for col in 0..self.layout.cols {
                    let index = self.index(i, row, col);
                    self.data.slice_mut()[index] = f(i, row, col);
                }
            }
        }
    }
    /// Element `(row, col)` of matrix `i`.
    pub fn get(&self, i: usize, row: usize, col: usize) -> T {
        self.data.slice()[self.index(i, row, col)]
    }
}
