//! Arrays of one dimension and more, as matrices that lie one below the other.
//!
//! All but the last dimension count rows: an array of shape (4, 2, 3) is held as 8 rows of 3 elements, and a vector of 3 as one row.

use super::{
    elements::{self, Endian, Raw, Stored, with_dtype},
    fault::{Fault, bad},
};
use tilewright_core::{DynMatrix, Layout, Matrix};

/// Which arrays a caller takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    /// Of two dimensions.
    Matrix,
    /// Of one or more.
    Any,
}

impl Rank {
    /// Whether an array of so many dimensions is taken.
    pub fn takes(self, dimensions: usize) -> bool {
        match self {
            Self::Matrix => dimensions == 2,
            Self::Any => dimensions >= 1,
        }
    }
}

/// How the elements follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The last index runs fastest.
    C,
    /// The first index runs fastest, as in Fortran.
    F,
}

/// An array as a file describes it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Its elements, as a matrix of their order in the file.
    pub raw: Raw,
    pub shape: Vec<usize>,
    /// Whether the matrix has to be put into the order of its rows: three and more dimensions in Fortran's order.
    is_reversed: bool,
}

impl Found {
    /// What an array of this shape is.
    pub fn new(
        stored: Stored,
        endian: Endian,
        shape: &[usize],
        order: Order,
        rank: Rank,
    ) -> Result<Self, Fault> {
        if !rank.takes(shape.len()) {
            return Err(wrong_rank(shape, rank));
        }
        let is_reversed = order == Order::F && shape.len() > 2;
        let reversed: Vec<usize> = shape.iter().rev().copied().collect();
        let layout = match (order, shape) {
            (Order::F, &[rows, cols]) => Some(Layout::col_major(rows, cols)),
            (Order::F, _) => tall(&reversed),
            (Order::C, _) => tall(shape),
        };
        let raw = layout.map(|layout| Raw { stored, endian, layout }).filter(|raw| raw.bytes().is_some());
        match raw {
            Some(raw) => Ok(Self { raw, shape: shape.to_vec(), is_reversed }),
            None => {
                let (shape, name) = (in_words(shape), stored.name());
                Err(bad!("an array of {shape} elements of type {name} exceeds the address space"))
            }
        }
    }

    /// Whether the rows lie in their order.
    pub fn is_arranged(&self) -> bool {
        !self.is_reversed
    }

    /// The rows in their order.
    pub fn arrange(&self, m: DynMatrix) -> Result<DynMatrix, Fault> {
        if !self.is_reversed {
            return Ok(m);
        }
        with_dtype!(m.dtype(), T => {
            let (flat, shape) = (elements::typed::<T>(m.as_ref()), &self.shape);
            let cols = shape.last().copied().unwrap_or(1);
            let (held, mut index) = (m.layout().cols.max(1), vec![0; shape.len()]);
            let element = |row: usize, col: usize| {
                let mut rest = row;
                for (place, &size) in index.iter_mut().zip(shape).rev().skip(1) {
                    (*place, rest) = (rest % size, rest / size);
                }
                if let Some(last) = index.last_mut() {
                    *last = col;
                }
                // The first index runs fastest.
                let at = index.iter().zip(shape).rev().fold(0, |at, (&i, &size)| at * size + i);
                flat.get(at / held, at % held)
            };
            let (rows, mut element) = (rows_of(shape), element);
            Ok(Matrix::from_fn(rows, cols, |row, col| element(row, col).unwrap_or(<T as tilewright_core::Element>::DEFAULT))?.into())
        })
    }
}

/// All rows, one below the other; `None` where they are too many to count.
fn tall(shape: &[usize]) -> Option<Layout> {
    let (&cols, leading) = shape.split_last()?;
    let rows = leading.iter().try_fold(1usize, |rows, &size| rows.checked_mul(size))?;
    Some(Layout::row_major(rows, cols))
}

/// Of an array whose bytes were counted.
fn rows_of(shape: &[usize]) -> usize {
    shape.iter().rev().skip(1).product()
}

/// `4x2x3`.
pub(super) fn in_words(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}

/// The message for arrays that are not taken.
fn wrong_rank(shape: &[usize], rank: Rank) -> Fault {
    let sizes = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    match (shape, rank) {
        ([], Rank::Any) => {
            bad!("the array is a single number, which has no rows and columns").hint("reshape it to (1, 1)")
        }
        ([], Rank::Matrix) => {
            bad!("the array is a single number, but a matrix has two dimensions").hint("reshape it to (1, 1)")
        }
        ([n], _) => bad!("the array has one dimension ({n}), but a matrix has two")
            .hint(format!("reshape it to ({n}, 1) for a column or (1, {n}) for a row")),
        _ => bad!("the array has {} dimensions ({sizes}), but a matrix has two", shape.len())
            .hint("save one matrix of it, or reshape it"),
    }
}
