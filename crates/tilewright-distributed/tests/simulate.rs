//! The model of the schedules, which the example `simulate` prints tables of, against what can be counted.

#[path = "../examples/simulate/model.rs"]
mod model;

use crate::common::GRIDS;
use model::{Link, Machine, closure, product};
use tilewright_distributed::{Shape, closure_bytes, product_bytes};

const MACHINE: Machine = Machine {
    rates: &[(1, 1e9)],
    call: 0.0,
    diagonal_rate: 1e8,
    look_rate: 1e9,
    size: 4,
    link: Link { latency: 1e-6, bandwidth: 1e9 },
    moves_alone: true,
    agrees: true,
};

#[test]
fn what_is_received_is_what_the_formulas_say() {
    for &(rows, cols) in GRIDS {
        let shape = Shape { rows, cols };
        for (n, block) in [(64, 8), (61, 8), (5, 8)] {
            for moves_alone in [true, false] {
                let machine = Machine { moves_alone, ..MACHINE };
                for is_ahead in [true, false] {
                    let found = closure(&machine, n, block, shape, is_ahead).received;
                    assert_eq!(found, closure_bytes(n, block, shape, 4), "{n} {shape}");
                }
                let found = product(&machine, (n, 2 * n, n + 3), block, shape).received;
                assert_eq!(found, product_bytes((n, 2 * n, n + 3), shape, 4), "{n} {shape}");
            }
        }
    }
}

#[test]
fn one_rank_takes_the_sum_of_its_work() {
    let (n, block, alone) = (64_usize, 16, Shape { rows: 1, cols: 1 });
    for is_ahead in [true, false] {
        let found = closure(&MACHINE, n, block, alone, is_ahead).seconds;
        // Four steps: a diagonal block, its row and its column, and all but both.
        let (b, rest) = (16.0_f64, 48.0);
        let expected = 4.0 * (b * b * b / 1e8 + (2.0 * b * b * 64.0 + rest * rest * b) / 1e9) + 4096.0 / 1e9;
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    let found = product(&MACHINE, (n, n, n), block, alone).seconds;
    assert!((found - 64.0 * 64.0 * 64.0 / 1e9).abs() < 1e-12, "{found}");
}

#[test]
fn looking_ahead_hides_a_slow_network() {
    let slow = Machine { link: Link { latency: 1e-6, bandwidth: 1e7 }, ..MACHINE };
    for (rows, cols) in [(2, 2), (2, 3), (3, 3)] {
        let seconds = |is_ahead| closure(&slow, 256, 16, Shape { rows, cols }, is_ahead).seconds;
        assert!(seconds(true) < 0.95 * seconds(false), "{rows}x{cols}: {} {}", seconds(true), seconds(false));
        let free = Machine { agrees: false, ..slow };
        let without = closure(&free, 256, 16, Shape { rows, cols }, true).seconds;
        assert!(without <= seconds(true), "{rows}x{cols}: {without} {}", seconds(true));
    }
}
