//! Matrices in memory of their own, with a guard band around and between their elements.

use proptest::prelude::*;
use tilewright_core::{Layout, MatMut, MatRef};

/// How a matrix lies in memory; the default is row-major without gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Form {
    /// Column after column.
    pub by_columns: bool,
    /// Unused elements between neighbours of a line.
    pub spread: usize,
    /// Unused elements between lines.
    pub gap: usize,
    pub reverse_rows: bool,
    pub reverse_cols: bool,
    /// Every row is the first one: a zero stride.
    pub repeat_rows: bool,
    pub repeat_cols: bool,
}

impl Form {
    pub const BY_COLUMNS: Self = Self { by_columns: true, ..Self::PLAIN };
    pub const SPREAD: Self = Self { spread: 1, gap: 3, ..Self::PLAIN };
    pub const REVERSED: Self = Self { reverse_rows: true, reverse_cols: true, ..Self::PLAIN };
    pub const PLAIN: Self = Self {
        by_columns: false,
        spread: 0,
        gap: 0,
        reverse_rows: false,
        reverse_cols: false,
        repeat_rows: false,
        repeat_cols: false,
    };

    pub fn layout(self, rows: usize, cols: usize) -> Layout {
        let near = 1 + self.spread as isize;
        let far = |line: usize| line as isize * near + self.gap as isize;
        let (mut r, mut c) = if self.by_columns { (near, far(rows)) } else { (far(cols), near) };
        if self.reverse_rows {
            r = -r;
        }
        if self.reverse_cols {
            c = -c;
        }
        if self.repeat_rows {
            r = 0;
        }
        if self.repeat_cols {
            c = 0;
        }
        Layout::strided(rows, cols, r, c)
    }
}

/// Any form of an operand that is read.
pub fn form() -> impl Strategy<Value = Form> {
    let zero = || prop::bool::weighted(0.08);
    (written_form(), zero(), zero()).prop_map(|(form, repeat_rows, repeat_cols)| Form {
        repeat_rows,
        repeat_cols,
        ..form
    })
}

/// Any form of a matrix that is written.
pub fn written_form() -> impl Strategy<Value = Form> {
    let few = || prop_oneof![3 => Just(0usize), 1 => 1..4usize];
    let rare = || prop::bool::weighted(0.2);
    (any::<bool>(), few(), few(), rare(), rare()).prop_map(
        |(by_columns, spread, gap, reverse_rows, reverse_cols)| Form {
            by_columns,
            spread,
            gap,
            reverse_rows,
            reverse_cols,
            ..Form::PLAIN
        },
    )
}

/// More elements than the longest vector, before and after.
const GUARD: usize = 70;

/// A matrix somewhere inside `data`.
#[derive(Clone)]
pub struct Placed<T> {
    pub data: Vec<T>,
    pub layout: Layout,
    pub origin: usize,
}

impl<T: Copy> Placed<T> {
    /// All memory, elements of the matrix included, holds `poison`.
    pub fn new(rows: usize, cols: usize, form: Form, poison: T) -> Self {
        let layout = form.layout(rows, cols);
        let (low, high) = layout.span().unwrap().unwrap_or((0, 0));
        let data = vec![poison; high.abs_diff(low) + 1 + 2 * GUARD];
        Self { data, layout, origin: GUARD + low.unsigned_abs() }
    }

    pub fn index(&self, row: usize, col: usize) -> usize {
        self.origin.checked_add_signed(self.layout.offset(row, col)).unwrap()
    }

    #[must_use]
    pub fn filled(mut self, mut draw: impl FnMut() -> T) -> Self {
        for i in 0..self.layout.rows {
            for j in 0..self.layout.cols {
                let index = self.index(i, j);
                self.data[index] = draw();
            }
        }
        self
    }

    pub fn at(&self, row: usize, col: usize) -> T {
        self.data[self.index(row, col)]
    }
    pub fn view(&self) -> MatRef<'_, T> {
        MatRef::with_origin(&self.data, self.layout, self.origin).unwrap()
    }
    pub fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::with_origin(&mut self.data, self.layout, self.origin).unwrap()
    }
}
