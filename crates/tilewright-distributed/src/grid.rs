//! Ranks in rows and columns, and the bytes that they receive.

use crate::{
    buffer::Buffer,
    group::{Group, Pending},
};
use core::{cell::Cell, fmt, str::FromStr};
use tilewright::{Error, ErrorKind};

/// The rows and columns of a grid, written as `2x4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of ranks.
    pub rows: usize,
    /// Columns of ranks.
    pub cols: usize,
}

impl Shape {
    /// Ranks.
    pub fn ranks(&self) -> usize {
        self.rows * self.cols
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.cols)
    }
}

impl FromStr for Shape {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        /// Ranks beyond which a number is a slip.
        const MOST: usize = 1 << 20;
        let number = |text: &str| text.parse().ok().filter(|&count| (1..=MOST).contains(&count));
        let both = text.split_once('x').and_then(|(rows, cols)| Some((number(rows)?, number(cols)?)));
        let (rows, cols) = both.ok_or_else(|| {
            let what = format!("the grid '{text}'");
            let hint = "rows and columns of ranks, such as 2x4".into();
            ErrorKind::Unsupported { what, why: String::new(), hint }
        })?;
        Ok(Self { rows, cols })
    }
}

/// Which ranks a panel is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// Those of the same row: the root is a column.
    Row,
    /// Those of the same column: the root is a row.
    Column,
}

/// The ranks of a group in rows and columns. It counts the bytes that this rank receives in panels.
#[derive(Debug)]
pub struct Grid<'g> {
    world: &'g dyn Group,
    row: Box<dyn Group>,
    column: Box<dyn Group>,
    shape: Shape,
    received: Cell<u64>,
}

impl<'g> Grid<'g> {
    /// Arranges all ranks of a group, row by row.
    ///
    /// # Errors
    /// `unsupported` where the grid has another number of ranks; as [`Group::split`].
    pub fn new(world: &'g dyn Group, shape: Shape) -> Result<Self, Error> {
        if world.size() != shape.ranks() {
            let (what, ranks) = (format!("a grid of {shape} ranks"), world.size());
            let why = format!("{ranks} {} started", if ranks == 1 { "was" } else { "were" });
            let hint = format!("start {} (mpiexec -n {})", shape.ranks(), shape.ranks()).into();
            return Err(ErrorKind::Unsupported { what, why, hint }.into());
        }
        let (i, j) = (world.rank() / shape.cols, world.rank() % shape.cols);
        let (row, column) = (world.split(i)?, world.split(j)?);
        Ok(Self { world, row, column, shape, received: Cell::new(0) })
    }

    /// All ranks.
    pub fn world(&self) -> &'g dyn Group {
        self.world
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The row and the column of this rank.
    pub fn place(&self) -> (usize, usize) {
        (self.world.rank() / self.shape.cols, self.world.rank() % self.shape.cols)
    }

    /// Bytes of panels that this rank has received.
    pub fn received(&self) -> u64 {
        self.received.get()
    }

    /// Bytes of panels that all ranks have received.
    ///
    /// # Errors
    /// As [`Group::exchange`].
    pub fn received_by_all(&self) -> Result<u64, Error> {
        let all = self.world.exchange(&self.received().to_le_bytes())?;
        Ok(all.chunks(8).map(|bytes| bytes.try_into().map_or(0, u64::from_le_bytes)).sum())
    }

    /// The ranks that a panel is sent to.
    pub(crate) fn along(&self, along: Along) -> &dyn Group {
        match along {
            Along::Row => &*self.row,
            Along::Column => &*self.column,
        }
    }

    /// Counts bytes that this rank receives.
    pub(crate) fn count(&self, bytes: u64) {
        self.received.set(self.received.get() + bytes);
    }

    /// Begins to send a panel along a row or a column.
    pub(crate) fn send(&self, along: Along, buffer: Buffer, root: usize) -> Result<Box<dyn Pending>, Error> {
        let group = self.along(along);
        if group.rank() != root {
            self.count(buffer.len() as u64);
        }
        group.broadcast(buffer, root)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::threads;

    #[test]
    fn shapes_are_read_as_they_are_written() {
        let shape: Shape = "2x4".parse().unwrap();
        assert_eq!((shape.ranks(), shape.to_string().as_str()), (8, "2x4"));
        for text in ["", "2", "0x4", "2x", "x", "2x4x1", "-1x2", "99999999x2"] {
            assert_eq!(text.parse::<Shape>().unwrap_err().code(), "unsupported", "{text}");
        }
    }

    #[test]
    fn panels_go_along_rows_and_columns_and_are_counted() {
        let shape = Shape { rows: 2, cols: 3 };
        let all = threads::run(6, |group| {
            let grid = Grid::new(group, shape).unwrap();
            let (i, j) = grid.place();
            let mine = || Buffer::of(&[i as u8, j as u8]).unwrap();
            let row = grid.send(Along::Row, mine(), 2).unwrap().wait().unwrap();
            let column = grid.send(Along::Column, mine(), 1).unwrap().wait().unwrap();
            assert_eq!((row.as_slice(), column.as_slice()), (&[i as u8, 2][..], &[1, j as u8][..]));
            (grid.received(), grid.received_by_all().unwrap())
        });
        assert_eq!(all, [(4, 14), (4, 14), (2, 14), (2, 14), (2, 14), (0, 14)]);
        let refused = threads::run(2, |group| Grid::new(group, shape).unwrap_err().to_string());
        assert_eq!(refused[0], "a grid of 2x3 ranks is not supported: 2 were started");
    }
}
