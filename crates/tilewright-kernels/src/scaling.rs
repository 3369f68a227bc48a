//! Scales of the operands of a launch that multiplies.

use crate::{
    argument::{Argument, Buffer},
    request::Request,
};
use tilewright_core::{Granularity, Layout};

/// The scales of both operands as the kernel sees them: of rows of its A, and of columns of its B.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Scaling {
    of: [Option<Of>; 2],
}

/// Those of an operand: a row for each of its rows, or for 128 of them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Of {
    granularity: Granularity,
    layout: Layout,
    buffer: Buffer,
}

/// Which way a program multiplies by scales: `SCALES` of `scales.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// There are none.
    Nowhere = 0,
    /// Complete sums.
    AtTheEnd = 1,
    /// Sums of blocks of terms, with one scale for 64 columns and more.
    ByBlocks = 2,
    /// Sums of blocks of terms, with a scale for each column.
    ByColumns = 3,
}

impl Scaling {
    /// What was asked for, of a kernel that may compute the transpose of C. Shapes have been checked.
    pub fn of(request: &Request, is_transposed: bool) -> Self {
        let Ok([a, b]) = request.scales.of(&request.problem) else { return Self::default() };
        let of = |found: Option<(Granularity, Layout)>, buffer| {
            found.map(|(granularity, layout)| Of { granularity, layout, buffer })
        };
        let [a, b] = [of(a, Buffer::ScaleA), of(b, Buffer::ScaleB)];
        Self { of: if is_transposed { [b, a] } else { [a, b] } }
    }

    /// Where a program multiplies by them.
    pub fn place(&self) -> Place {
        let is_by_terms = |of: &Of| of.granularity.is_by_terms();
        let has_columns = |of: &Of| matches!(of.granularity, Granularity::Row | Granularity::RowBlock);
        match self.of {
            [None, None] => Place::Nowhere,
            _ if !self.of.iter().flatten().any(is_by_terms) => Place::AtTheEnd,
            [_, Some(b)] if has_columns(&b) => Place::ByColumns,
            _ => Place::ByBlocks,
        }
    }

    /// Whether blocks of terms have scales of their own.
    pub fn is_by_terms(&self) -> bool {
        matches!(self.place(), Place::ByBlocks | Place::ByColumns)
    }

    /// What `scales.cuh` is compiled with.
    pub fn constant(&self) -> (&'static str, u32) {
        ("SCALES", self.place() as u32)
    }

    /// Where scales lie: the first, distances from row to row and from block to block of terms, and how many rows share one.
    pub fn arguments(&self) -> impl Iterator<Item = (&'static str, Argument)> + use<> {
        const NAMES: [[&str; 4]; 2] = [
            ["scale_a", "scale_a_row", "scale_a_term", "scale_a_shift"],
            ["scale_b", "scale_b_row", "scale_b_term", "scale_b_shift"],
        ];
        let values = |of: Option<Of>| {
            let (buffer, [row, term], shift) = of.map_or((Buffer::C, [0; 2], -1), |of| {
                let Layout { row_stride, col_stride, .. } = of.layout;
                let (strides, shift) = match of.granularity {
                    Granularity::Operand => ([0, 0], 0),
                    Granularity::Row => ([row_stride, 0], 0),
                    Granularity::RowBlock => ([row_stride, col_stride], 0),
                    Granularity::Block => ([row_stride, col_stride], 7),
                };
                (of.buffer, strides, shift)
            });
            let [row, term] = [row, term].map(|stride| Argument::i64(stride as i64));
            [Argument::Pointer(buffer), row, term, Argument::i32(shift)]
        };
        NAMES.into_iter().zip(self.of.map(values)).flat_map(|(names, values)| names.into_iter().zip(values))
    }

    /// What tells the program from the one without.
    pub fn suffix(&self) -> &'static str {
        match self.place() {
            Place::Nowhere => "",
            Place::AtTheEnd => ".scaled",
            Place::ByBlocks => ".scaled-blocks",
            Place::ByColumns => ".scaled-columns",
        }
    }

    /// The row of a plan; none where there are none.
    pub fn detail(&self, request: &Request) -> Option<(&'static str, String)> {
        let [a, b] = request.scales.of(&request.problem).ok()?;
        let name = |of: &str, found: Option<(Granularity, Layout)>| {
            found.map(|(granularity, _)| format!("{} of {of}", granularity.name()))
        };
        let all: Vec<_> = [name("A", a), name("B", b)].into_iter().flatten().collect();
        let place = if self.is_by_terms() { "on sums of 128 terms at most" } else { "on complete sums" };
        (!all.is_empty()).then(|| ("scales", format!("{}, {place}", all.join(" and "))))
    }
}
