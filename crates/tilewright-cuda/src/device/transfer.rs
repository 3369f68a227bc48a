//! How a matrix with any strides travels, as a pure function of its layout.

use tilewright_core::{Error, Layout};

/// What is copied, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transfer {
    /// One piece that holds nothing but elements: it keeps its strides, whatever their signs, and broadcast rows stay broadcast.
    Whole {
        /// From element (0, 0) down to the lowest one; not positive.
        low: isize,
        /// The elements of the piece.
        count: usize,
    },
    /// Lines of neighbouring elements with gaps between them, which belong to someone else.
    Lines {
        /// From element (0, 0) down to the lowest one; not positive.
        low: isize,
        /// The elements of a line.
        width: usize,
        /// The number of lines.
        height: usize,
        /// From one line to the next; greater than the width.
        pitch: usize,
    },
    /// Elements apart from each other: packed on the host, row by row.
    Scattered,
}

/// How the matrix travels, and its layout on the device together with the index of element (0, 0) there.
///
/// # Errors
/// `layout-overflow` for layouts that no memory can hold.
pub(crate) fn transfer(layout: Layout) -> Result<(Transfer, Layout, usize), Error> {
    let Some((low, high)) = layout.span()? else {
        return Ok((Transfer::Whole { low: 0, count: 0 }, Layout::row_major(layout.rows, layout.cols), 0));
    };
    let mut axes: Vec<(usize, usize)> = [(layout.rows, layout.row_stride), (layout.cols, layout.col_stride)]
        .into_iter()
        .map(|(count, stride)| (count, stride.unsigned_abs()))
        .filter(|&(count, stride)| count > 1 && stride > 0)
        .collect();
    axes.sort_by_key(|&(_, stride)| stride);
    let origin = low.unsigned_abs();
    let whole = Transfer::Whole { low, count: high.abs_diff(low) + 1 };
    Ok(match axes[..] {
        [] | [(_, 1)] => (whole, layout, origin),
        [(width, 1), (_, pitch)] if pitch <= width => (whole, layout, origin),
        [(width, 1), (height, pitch)] => {
            let lines = Transfer::Lines { low, width, height, pitch };
            let closed = |stride: isize| {
                // The longer stride becomes the width, with its sign; one and zero stay.
                if stride.unsigned_abs() == pitch { stride.signum() * width as isize } else { stride }
            };
            let (row_stride, col_stride) = (closed(layout.row_stride), closed(layout.col_stride));
            let on_device = Layout { row_stride, col_stride, ..layout };
            (lines, on_device, on_device.span()?.map_or(0, |(low, _)| low.unsigned_abs()))
        }
        _ => (Transfer::Scattered, Layout::row_major(layout.rows, layout.cols), 0),
    })
}

/// Shape and strides on the device of a matrix with this layout, and the index of element (0, 0) there: what
/// [`Engine::upload`](crate::Engine::upload) makes of it.
///
/// ```
/// use tilewright_core::Layout;
/// use tilewright_cuda::device_layout;
/// // Reversed rows stay so; the gaps between them are left out.
/// let (layout, origin) = device_layout(Layout::strided(3, 4, -10, 1))?;
/// assert_eq!((layout, origin), (Layout::strided(3, 4, -4, 1), 8));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
///
/// # Errors
/// `layout-overflow` for layouts that no memory can hold.
pub fn device_layout(layout: Layout) -> Result<(Layout, usize), Error> {
    transfer(layout).map(|(_, layout, origin)| (layout, origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(rows: usize, cols: usize, row_stride: isize, col_stride: isize) -> (Transfer, Layout, usize) {
        transfer(Layout { rows, cols, row_stride, col_stride }).expect("a small layout")
    }

    #[test]
    fn dense_matrices_travel_in_one_piece_with_their_strides() {
        for (row_stride, col_stride, low) in [(4, 1, 0), (1, 3, 0), (-4, 1, -8), (4, -1, -3), (-4, -1, -11)] {
            let (transfer, layout, origin) = of(3, 4, row_stride, col_stride);
            assert_eq!(transfer, Transfer::Whole { low, count: 12 });
            assert_eq!(
                (layout.row_stride, layout.col_stride, origin),
                (row_stride, col_stride, low.unsigned_abs())
            );
        }
    }

    #[test]
    fn broadcast_rows_travel_once() {
        assert_eq!(of(1000, 4, 0, 1).0, Transfer::Whole { low: 0, count: 4 });
        assert_eq!(of(1000, 4, 0, 0).0, Transfer::Whole { low: 0, count: 1 });
    }

    #[test]
    fn gaps_are_left_out() {
        let (transfer, layout, origin) = of(3, 4, -10, 1);
        assert_eq!(transfer, Transfer::Lines { low: -20, width: 4, height: 3, pitch: 10 });
        assert_eq!((layout, origin), (Layout::strided(3, 4, -4, 1), 8));
        let (transfer, layout, origin) = of(3, 4, 1, 10);
        assert_eq!(transfer, Transfer::Lines { low: 0, width: 3, height: 4, pitch: 10 });
        assert_eq!((layout, origin), (Layout::col_major(3, 4), 0));
        assert_eq!(of(3, 4, 20, 2).0, Transfer::Scattered);
    }

    #[test]
    fn empty_matrices_travel_as_nothing() {
        assert_eq!(of(0, 4, 7, 9).0, Transfer::Whole { low: 0, count: 0 });
    }

    proptest! {
        /// What arrives is what was sent: simulated on vectors, with every gap poisoned.
        #[test]
        fn every_element_arrives(rows in 0_usize..7, cols in 0_usize..7, rs in -12_isize..13, cs in -12_isize..13) {
            let host = Layout::strided(rows, cols, rs, cs);
            let origin = host.span().unwrap().map_or(0, |(low, _)| low.unsigned_abs());
            let length = host.span().unwrap().map_or(0, |(low, high)| low.abs_diff(high) + 1);
            let mut memory = vec![-1_i64; length];
            for i in 0..rows {
                for j in 0..cols {
                    let at = origin.checked_add_signed(host.offset(i, j)).unwrap();
                    memory[at] = at as i64;
                }
            }
            let (transfer, layout, device_origin) = transfer(host).unwrap();
            let device: Vec<i64> = match transfer {
                Transfer::Whole { low, count } => {
                    let start = origin.checked_add_signed(low).unwrap();
                    memory[start..start + count].to_vec()
                }
                Transfer::Lines { low, width, height, pitch } => {
                    let start = origin.checked_add_signed(low).unwrap();
                    (0..height).flat_map(|line| memory[start + line * pitch..][..width].to_vec()).collect()
                }
                Transfer::Scattered => {
                    let at = |i, j| origin.checked_add_signed(host.offset(i, j)).unwrap();
                    (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))).map(|(i, j)| memory[at(i, j)]).collect()
                }
            };
            prop_assert!(!device.contains(&-1), "a gap travelled");
            for i in 0..rows {
                for j in 0..cols {
                    let here = origin.checked_add_signed(host.offset(i, j)).unwrap();
                    let there = device_origin.checked_add_signed(layout.offset(i, j)).unwrap();
                    prop_assert_eq!(device[there], memory[here]);
                }
            }
        }
    }
}
