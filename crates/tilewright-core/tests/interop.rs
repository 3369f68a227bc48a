//! Views of other crates' matrices and back: the same elements at the same addresses, whatever the strides.
#![cfg(any(feature = "ndarray", feature = "nalgebra", feature = "faer"))]

use tilewright_core::{Layout, MatMut, MatRef};

/// Views of 60 numbers that differ in shape, order, gaps, direction and repetition.
fn views(data: &[i64]) -> Vec<MatRef<'_, i64>> {
    let of = |layout, origin| MatRef::with_origin(data, layout, origin).expect("a view");
    let rows = of(Layout::row_major(5, 7), 3);
    vec![
        rows,
        rows.t(),
        rows.reverse_rows(),
        rows.reverse_rows().t(),
        rows.t().reverse_rows(),
        rows.reverse_rows().t().reverse_rows(),
        rows.window(1, 2, 3, 4).expect("a view"),
        of(Layout::strided(4, 6, 2, 9), 1),
        of(Layout::strided(3, 3, -20, 7), 41),
        of(Layout::strided(3, 2, 2, 3), 1),
        of(Layout::strided(4, 5, 0, 3), 2),
        of(Layout::strided(4, 5, -3, 0), 20),
        of(Layout::strided(1, 5, isize::MIN, 3), 2),
        of(Layout::strided(5, 1, -3, isize::MIN), 20),
        of(Layout::row_major(0, 4), 0),
        of(Layout::row_major(4, 0), 0),
    ]
}

fn data() -> Vec<i64> {
    (0..60).collect()
}

/// The same elements, not copies of them.
fn assert_same(found: MatRef<'_, i64>, wanted: MatRef<'_, i64>) {
    assert_eq!((found.rows(), found.cols()), (wanted.rows(), wanted.cols()));
    for (i, j) in (0..wanted.rows()).flat_map(|i| (0..wanted.cols()).map(move |j| (i, j))) {
        assert_eq!(&raw const found[(i, j)], &raw const wanted[(i, j)], "{:?} ({i}, {j})", wanted.layout());
    }
}

/// Views that can be written, and what each element is set to: different numbers.
fn each_written(mut check: impl FnMut(MatMut<'_, i64>)) {
    let layouts: Vec<_> = views(&data()).iter().map(MatRef::layout).collect();
    for layout in layouts.into_iter().filter(|layout| layout.check_unaliased().is_ok()) {
        let mut data = vec![-1; 60];
        let (low, _) = layout.span().expect("a span").unwrap_or((0, 0));
        let view = MatMut::with_origin(&mut data, layout, low.unsigned_abs()).expect("a view");
        let count = (layout.rows * layout.cols) as i64;
        check(view);
        let view = MatRef::with_origin(&data, layout, low.unsigned_abs()).expect("a view");
        assert!(view.iter().eq(0..count), "{layout:?}: {view:?}");
        assert_eq!(data.iter().filter(|x| **x >= 0).count() as i64, count);
    }
}

#[cfg(feature = "ndarray")]
mod ndarray {
    use super::*;
    use ::ndarray::{Array2, ArrayView2, ArrayViewMut2, s};

    #[test]
    fn views_there_and_back_are_the_same_elements() {
        let data = data();
        for wanted in views(&data) {
            let there = ArrayView2::try_from(wanted).unwrap();
            assert!(there.iter().copied().eq(wanted.iter()), "{wanted:?}: {there}");
            assert_same(there.into(), wanted);
        }
    }

    #[test]
    fn slices_are_seen_as_they_are() {
        let array = Array2::from_shape_fn((6, 8), |(i, j)| (8 * i + j) as i64);
        for view in [
            array.view(),
            array.t(),
            array.slice(s![..;-2, 1..;3]),
            array.slice(s![1.., ..;-1]).reversed_axes(),
        ] {
            let found = MatRef::from(view);
            assert!(found.iter().eq(view.iter().copied()), "{view}");
            assert_eq!(found.as_ptr(), view.as_ptr());
        }
        assert_eq!(MatRef::from(&array).layout(), Layout::row_major(6, 8));
        let row = Array2::from_elem((1, 3), 5i64);
        let broadcast = row.broadcast((4, 3)).unwrap();
        assert_eq!(MatRef::from(broadcast).iter().sum::<i64>(), 60);
    }

    #[test]
    fn what_is_written_there_is_here() {
        each_written(|mut view| match ArrayViewMut2::try_from(view.reborrow()) {
            Ok(mut there) => there.iter_mut().zip(0..).for_each(|(x, i)| *x = i),
            Err(error) => {
                assert_eq!((error.code(), view.layout()), ("unsupported", Layout::strided(3, 2, 2, 3)));
                view.fill_with(|i, j| 2 * i as i64 + j as i64);
            }
        });
        each_written(|view| {
            let cols = view.cols() as i64;
            let number = |i, j| i as i64 * cols + j as i64;
            match view.layout() == Layout::strided(3, 2, 2, 3) {
                true => { view }.fill_with(number),
                false => MatMut::from(ArrayViewMut2::try_from(view).unwrap()).fill_with(number),
            }
        });
    }

    #[test]
    fn more_elements_than_can_be_counted_are_refused() {
        let (one, layout) = ([1u8], Layout::strided(1 << 40, 1 << 40, 0, 0));
        let error = ArrayView2::try_from(MatRef::new(&one, layout).unwrap()).unwrap_err();
        assert_eq!(error.code(), "layout-overflow");
    }
}

#[cfg(feature = "nalgebra")]
mod nalgebra {
    use super::*;
    use ::nalgebra::{DMatrix, Matrix3x2};
    use tilewright_core::convert::nalgebra::{View, ViewMut};

    /// Whether a layout runs backwards along an axis of several elements.
    fn is_backwards(l: Layout) -> bool {
        !l.is_empty() && ((l.rows > 1 && l.row_stride < 0) || (l.cols > 1 && l.col_stride < 0))
    }

    #[test]
    fn views_there_and_back_are_the_same_elements() {
        let data = data();
        for wanted in views(&data) {
            match View::try_from(wanted) {
                Ok(there) => {
                    assert_eq!(there.shape(), (wanted.rows(), wanted.cols()));
                    for (i, j) in (0..wanted.rows()).flat_map(|i| (0..wanted.cols()).map(move |j| (i, j))) {
                        assert_eq!(there[(i, j)], wanted[(i, j)]);
                    }
                    assert_same(MatRef::from(&there), wanted);
                }
                Err(error) => {
                    assert!(is_backwards(wanted.layout()), "{:?}: {error}", wanted.layout());
                    assert_eq!(error.code(), "unsupported");
                }
            }
        }
    }

    #[test]
    fn storages_are_seen_as_they_are() {
        let matrix = DMatrix::from_fn(6, 8, |i, j| (8 * i + j) as i64);
        assert_eq!(MatRef::from(&matrix).layout(), Layout::col_major(6, 8));
        let steps = matrix.view_with_steps((1, 0), (2, 3), (1, 2));
        assert_eq!(MatRef::from(&steps).iter().collect::<Vec<_>>(), [8, 11, 14, 24, 27, 30]);
        let fixed = Matrix3x2::new(1, 2, 3, 4, 5, 6);
        assert!(MatRef::from(&fixed).iter().eq(1..=6));
        assert!(MatRef::from(&fixed.fixed_rows::<2>(1)).iter().eq(3..=6));
    }

    #[test]
    fn what_is_written_there_is_here() {
        each_written(|mut view| {
            let cols = view.cols();
            let number = |i: usize, j: usize| (i * cols + j) as i64;
            if is_backwards(view.layout()) {
                return view.fill_with(number);
            }
            let mut there = ViewMut::try_from(view).unwrap();
            for (i, j) in (0..there.nrows()).flat_map(|i| (0..cols).map(move |j| (i, j))) {
                there[(i, j)] = -5;
            }
            MatMut::from(&mut there).fill_with(number);
        });
    }
}

#[cfg(feature = "faer")]
mod faer {
    use super::*;
    use ::faer::Mat;

    #[test]
    fn views_there_and_back_are_the_same_elements() {
        let data = data();
        for wanted in views(&data) {
            let there = ::faer::MatRef::from(wanted);
            assert_eq!((there.nrows(), there.ncols()), (wanted.rows(), wanted.cols()));
            for (i, j) in (0..wanted.rows()).flat_map(|i| (0..wanted.cols()).map(move |j| (i, j))) {
                assert_eq!(there[(i, j)], wanted[(i, j)]);
            }
            assert_same(there.into(), wanted);
        }
    }

    #[test]
    fn matrices_are_seen_as_they_are() {
        let mut matrix = Mat::from_fn(6, 8, |i, j| (8 * i + j) as i64);
        assert!(MatRef::from(&matrix).iter().eq(0..48));
        let part = matrix.as_ref().subrows(1, 3).reverse_rows();
        assert_eq!(MatRef::from(part).t().iter().take(3).collect::<Vec<_>>(), [24, 16, 8]);
        MatMut::from(&mut matrix)[(5, 7)] = 100;
        assert_eq!(matrix[(5, 7)], 100);
    }

    #[test]
    fn what_is_written_there_is_here() {
        each_written(|view| {
            let cols = view.cols() as i64;
            let mut there = ::faer::MatMut::from(view);
            for (i, j) in (0..there.nrows()).flat_map(|i| (0..cols as usize).map(move |j| (i, j))) {
                there[(i, j)] = -5;
            }
            MatMut::from(there).fill_with(|i, j| i as i64 * cols + j as i64);
        });
    }
}
