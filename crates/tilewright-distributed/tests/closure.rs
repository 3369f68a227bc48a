//! The closure on grids of threads, against one rank and against the library for one process.

use crate::common::{GRIDS, dealt, on_grid, pairs, same_bits, weights};
use tilewright::{
    DType, DynMatrix, SemiringId,
    paths::{Options, close_dyn},
};
use tilewright_distributed::{Closure, Order, closure_bytes};

/// The closure of weights on a grid, and the bytes that were received.
fn closed(
    semiring: SemiringId,
    whole: &DynMatrix,
    block: usize,
    (rows, cols): (usize, usize),
    order: Order,
) -> (DynMatrix, u64) {
    let all = on_grid((rows, cols), |grid| {
        let mut d = dealt(grid, whole.as_ref(), block)?;
        Closure { order, ..Closure::new(semiring) }.run(&mut d)?;
        Ok((d.gather()?, grid.received_by_all()?))
    });
    let mut all: Vec<_> = all.into_iter().map(Result::unwrap).collect();
    assert!(all.iter().all(|(d, bytes)| same_bits(d.as_ref(), all[0].0.as_ref()) && *bytes == all[0].1));
    all.swap_remove(0)
}

#[test]
fn every_grid_has_the_bits_of_one_rank_and_receives_what_the_formula_says() {
    for (semiring, dtype) in pairs() {
        for (n, block) in [(53, 8), (5, 4), (64, 16)] {
            let whole = weights(semiring, dtype, n, n);
            let (one, _) = closed(semiring, &whole, block, (1, 1), Order::InOrder);
            for &(rows, cols) in GRIDS {
                let (found, bytes) = closed(semiring, &whole, block, (rows, cols), Order::LookAhead);
                let case = format!("{semiring} on {dtype}, {n} in blocks of {block} on {rows}x{cols}");
                assert!(same_bits(found.as_ref(), one.as_ref()), "{case}");
                let grid = tilewright_distributed::Shape { rows, cols };
                assert_eq!(bytes, closure_bytes(n, block, grid, dtype.size()), "{case}");
            }
        }
    }
}

#[test]
fn where_sums_are_exact_the_bits_are_those_of_one_process() {
    for (semiring, dtype) in pairs() {
        let is_exact = !dtype.is_float() || matches!(semiring, SemiringId::MaxMin | SemiringId::MinMax);
        let n = 97;
        let whole = weights(semiring, dtype, n, n);
        let mut expected = whole.as_ref().to_matrix().unwrap();
        close_dyn(semiring, expected.as_mut(), None, &Options::default()).unwrap();
        let (found, _) = closed(semiring, &whole, 16, (2, 3), Order::LookAhead);
        let close = |i, j| {
            let value = |d: &DynMatrix| d.as_ref().get(i, j).unwrap().to_f64();
            let (x, y) = (value(&found), value(&expected));
            x == y || (x - y).abs() <= n as f64 * f64::from(f32::EPSILON) * y.abs().max(1.0)
        };
        match is_exact {
            true => assert!(same_bits(found.as_ref(), expected.as_ref()), "{semiring} on {dtype}"),
            false => assert!((0..n * n).all(|at| close(at / n, at % n)), "{semiring} on {dtype}"),
        }
    }
}

#[test]
fn small_matrices_leave_ranks_without_blocks() {
    for n in [0, 1, 2, 9] {
        let whole = weights(SemiringId::MinPlus, DType::I32, n, n);
        let (one, _) = closed(SemiringId::MinPlus, &whole, 4, (1, 1), Order::LookAhead);
        for order in [Order::LookAhead, Order::InOrder] {
            let (found, _) = closed(SemiringId::MinPlus, &whole, 4, (3, 3), order);
            assert!(same_bits(found.as_ref(), one.as_ref()), "{n} {order:?}");
        }
    }
}

#[test]
fn elements_are_clean_everywhere() {
    let mut whole = tilewright::Matrix::filled(20, 20, 3.0_f32).unwrap();
    (whole[(1, 12)], whole[(17, 3)], whole[(5, 5)]) = (f32::NAN, -0.0, 7.0);
    let mut expected: DynMatrix = whole.clone().into();
    close_dyn(SemiringId::MinPlus, expected.as_mut(), None, &Options::default()).unwrap();
    let (found, _) = closed(SemiringId::MinPlus, &whole.into(), 8, (2, 2), Order::LookAhead);
    assert!(same_bits(found.as_ref(), expected.as_ref()));
}
