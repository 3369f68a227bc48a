//! Layouts that no ordinary matrix has: offsets beyond 2^31, strides of lines that do not exist, shared memory.

use crate::common::{isas, on, rows, rows_mut};
use tilewright_core::*;
use tilewright_cpu::{multiply, multiply_arg};

/// Elements between neighbours of the huge views.
const FAR: isize = 1 << 30;

/// Memory that is only there where it is touched.
fn lazily_zeroed() -> Vec<bool> {
    vec![false; 3 * FAR as usize]
}

/// A row-major matrix `FAR` elements from row to row, or its mirror image, at the end of `data`.
fn far_rows(rows: usize, cols: usize, reversed: bool) -> (Layout, usize) {
    let last = (rows - 1) * FAR as usize;
    let margin = 3 * FAR as usize - last - cols;
    match reversed {
        false => (Layout::strided(rows, cols, FAR, 1), margin),
        true => (Layout::strided(rows, cols, -FAR, 1), margin + last),
    }
}

/// Every operand in turn reaches beyond 2^31 elements, by rows, by columns and backwards.
#[test]
fn offsets_beyond_two_to_the_31() {
    let mut huge = lazily_zeroed();
    for isa in isas() {
        for (reversed, by_columns) in [(false, false), (false, true), (true, false), (true, true)] {
            let (layout, origin) = far_rows(3, 5, reversed);
            let ones = [(0, 1), (2, 4), (2, 0)];
            for (i, j) in ones {
                huge[origin.checked_add_signed(layout.offset(i, j)).unwrap()] = true;
            }
            let far = MatRef::with_origin(&huge, layout, origin).unwrap();
            let mut small = [false; 15];
            for (i, j) in ones {
                small[5 * i + j] = true;
            }
            let small = rows(&small, 3, 5);
            let (far, small) = if by_columns { (far.t(), small.t()) } else { (far, small) };
            let (m, k) = (far.rows(), far.cols());
            let dense: Vec<bool> = (0..k * 70).map(|i| i % 3 == 0).collect();

            let as_a = |a| {
                let mut c = vec![true; m * 70];
                let to = rows_mut(&mut c, m, 70);
                multiply::<OrAnd>(to, a, rows(&dense, k, 70), &Update::Replace, &on(isa)).unwrap();
                c
            };
            assert_eq!(as_a(far), as_a(small));
            let as_b = |b: MatRef<'_, bool>| {
                let mut c = vec![true; 7 * b.cols()];
                let to = rows_mut(&mut c, 7, b.cols());
                let a = rows(&dense[..7 * b.rows()], 7, b.rows());
                multiply::<OrAnd>(to, a, b, &Update::Replace, &on(isa)).unwrap();
                c
            };
            assert_eq!(as_b(far), as_b(small));
            for (i, j) in ones {
                huge[origin.checked_add_signed(layout.offset(i, j)).unwrap()] = false;
            }

            // C[i, j] = x[i] and y[j], with the same ones.
            let (x, y) = ([true, false, true], [true, false, false, true, true]);
            let mut far = MatMut::with_origin(&mut huge, layout, origin).unwrap();
            let (x, y) = (rows(&x, 3, 1), rows(&y, 1, 5));
            let mut arg = [0; 15];
            match by_columns {
                false => multiply::<OrAnd>(far.reborrow(), x, y, &Update::Replace, &on(isa)),
                true => {
                    let arg = rows_mut(&mut arg, 5, 3);
                    multiply_arg::<OrAnd>(far.reborrow().t(), arg, y.t(), x.t(), &Update::Replace, &on(isa))
                }
            }
            .unwrap();
            for i in 0..3 {
                for j in 0..5 {
                    assert_eq!(far.as_ref().get(i, j), Some(i != 1 && j != 1 && j != 2));
                }
            }
            far.fill(false);
        }
    }
}

/// Offsets are counted in elements and checked in bytes of address space.
#[test]
fn bounds_beyond_two_to_the_31() {
    let far = FAR as usize;
    let layout = Layout::strided(3, 5, FAR, 1);
    assert_eq!(layout.span().unwrap(), Some((0, (1 << 31) + 4)));
    assert!(layout.check_bounds(2 * far + 5, 0).is_ok());
    assert!(layout.check_bounds(2 * far + 4, 0).is_err());
    assert!(layout.t().check_bounds(2 * far + 6, 1).is_ok());
    assert!(Layout::strided(5, 3, 1, -FAR).check_bounds(2 * far + 5, 2 * far).is_ok());
    assert!(Layout::strided(5, 3, 1, -FAR).check_bounds(2 * far + 5, 2 * far - 1).is_err());
    assert!(layout.check_unaliased().is_ok());
    assert_eq!(Layout::row_major(1 << 20, 1 << 20).len(), Some(1 << 40));
}

/// A view of 2^40 elements costs one look when all of them are the same.
#[test]
fn huge_repeated_operands_are_checked_at_once() {
    let (good, bad) = ([1.0f32], [-1.0f32]);
    let layout = Layout::strided(1, 1 << 40, 0, 0);
    let (good, bad) = (MatRef::new(&good, layout).unwrap(), MatRef::new(&bad, layout).unwrap());
    assert!(domain::check::<MaxTimes<f32>>(good, good.t()).is_ok());
    assert_eq!(domain::check::<MaxTimes<f32>>(good, bad.t()).unwrap_err().code(), "outside-domain");
}

/// The stride of a line that is alone may be anything, and is not even multiplied.
#[test]
fn strides_that_lead_nowhere() {
    fn all<S: Semiring<Elem = f32, Out = f32>>() {
        for isa in isas() {
            for (m, n, k) in
                [(1, 1, 1), (1, 70, 9), (70, 1, 9), (5, 40, 1), (70, 300, 1), (1, 300, 1), (1, 1, 50)]
            {
                let a: Vec<f32> = (0..m * k).map(|i| (i % 7) as f32).collect();
                let b: Vec<f32> = (0..k * n).map(|i| (i % 5) as f32).collect();
                let mut expected = vec![0.0; m * n];
                let to = rows_mut(&mut expected, m, n);
                reference::multiply::<S>(to, rows(&a, m, k), rows(&b, k, n), &Update::Replace).unwrap();
                for wild in [isize::MAX, isize::MIN, -1, 0] {
                    let lay = |rows, cols| {
                        let row = if rows == 1 { wild } else { cols as isize };
                        Layout::strided(rows, cols, row, if cols == 1 { wild } else { 1 })
                    };
                    let (a, b) = (MatRef::new(&a, lay(m, k)).unwrap(), MatRef::new(&b, lay(k, n)).unwrap());
                    let mut c = vec![f32::NAN; m * n];
                    let to = MatMut::new(&mut c, lay(m, n)).unwrap();
                    multiply::<S>(to, a, b, &Update::Replace, &on(isa)).unwrap();
                    assert_eq!(c, expected, "{} on {isa}: {m}x{n}x{k}, stride {wild}", S::NAME);
                }
            }
        }
    }
    all::<PlusTimes<f32>>();
    all::<MinPlus<f32>>();
    all::<MaxTimes<f32>>();
}

/// A and B may be the same memory, in any overlapping way.
#[test]
fn operands_may_overlap() {
    let data: Vec<f64> = (0..400).map(|i| f64::from(i * 7 % 31)).collect();
    for isa in isas() {
        // Hankel and Toeplitz matrices of one sequence.
        let a = MatRef::new(&data, Layout::strided(30, 40, 1, 1)).unwrap();
        let b = MatRef::with_origin(&data, Layout::strided(40, 50, 2, -1), 60).unwrap();
        let (mut c, mut expected) = (vec![0.0; 1500], vec![0.0; 1500]);
        for (x, y) in [(a, b), (a, a.t()), (b.t(), b)] {
            let (m, n) = (x.rows(), y.cols());
            let to = rows_mut(&mut expected[..m * n.min(1500 / m)], m, n.min(1500 / m));
            let y = y.window(0, 0, y.rows(), n.min(1500 / m)).unwrap();
            reference::multiply::<MinPlus<f64>>(to, x, y, &Update::Replace).unwrap();
            let to = rows_mut(&mut c[..m * y.cols()], m, y.cols());
            multiply::<MinPlus<f64>>(to, x, y, &Update::Replace, &on(isa)).unwrap();
            assert_eq!(c, expected, "{isa}");
        }
    }
}
