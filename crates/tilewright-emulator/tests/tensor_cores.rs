//! Products by tensor cores, with all checks on: the results of the definition, bit for bit, and no finding. Elements are small whole numbers, whose sums are exact.
//!
//! Without NVRTC there is no program to run; `TILEWRIGHT_REQUIRE_NVRTC=1` makes that a failure. `TILEWRIGHT_THIRD` of 0, 1 or 2 takes every third product.

use crate::rig::{self, Case, Joining, Order, Outcome};
use tilewright_core::{DType, Math, SemiringId};
use tilewright_kernels::{Variant, dmma_tiles, find, mma_tiles, wgmma_tiles};

const ORDERS: [Order; 4] = [Order::Rows, Order::Columns, Order::Gaps, Order::Reversed];
const TYPES: [Variant; 7] = [
    plus_times(DType::Bf16),
    plus_times(DType::I8),
    giving_sums(DType::F16),
    plus_times(DType::F16),
    plus_times(DType::U8),
    giving_sums(DType::Bf16),
    plus_times(DType::F32),
];
const JOININGS: [Joining; 3] = [Joining::Replace, Joining::Accumulate, Joining::Scale];

const fn plus_times(dtype: DType) -> Variant {
    Variant::new(SemiringId::PlusTimes, dtype)
}

/// With results of f32.
const fn giving_sums(dtype: DType) -> Variant {
    Variant { result: Some(DType::F32), ..plus_times(dtype) }
}

fn case(kernel: &str, variant: Variant, size: [usize; 3], tile: [u32; 6]) -> Case {
    // Few multiprocessors, so that blocks take several tiles.
    Case {
        tile: Some(tile),
        multiprocessors: Some(2),
        math: Math::Tf32,
        ..Case::new(find(kernel).expect("known"), variant, size)
    }
}

fn run_all(cases: &[Case]) {
    let third = std::env::var("TILEWRIGHT_THIRD").ok().map(|third| third.parse().expect("0, 1 or 2"));
    let (first, step) = third.map_or((0, 1), |third: usize| (third, 3));
    let mut without = 0;
    for case in cases.iter().skip(first).step_by(step) {
        match rig::run(case) {
            Outcome::Right => {}
            Outcome::NoPtx => without += 1,
            Outcome::Refused => panic!("refused: {case:?}"),
        }
    }
    eprintln!("{without} of {} without PTX, where there is no compiler", cases.len());
}

/// Sizes about the edges of each tile, in all orders of operands and results, whole and in parts, alone and in batches.
#[test]
fn every_tile_order_store_and_split_is_right() {
    let mut cases = Vec::new();
    let tiles = |kernel, tiles: Vec<[u32; 6]>| tiles.into_iter().map(move |tile| (kernel, tile));
    let all = tiles("wgmma", wgmma_tiles()).chain(tiles("mma", mma_tiles()));
    for (i, (kernel, tile)) in all.enumerate() {
        let [m, n] = [tile[0], tile[1]].map(|side| side as usize);
        for j in 0..12 {
            let size = [
                [8, m, m + 8, 2 * m + 1][(i + j) % 4],
                [n, n + 8, 40, n + 3][(i + j / 2) % 4],
                [64, 200, 8, 136, 331][(i + j) % 5],
            ];
            cases.push(Case {
                orders: [ORDERS[j % 2], ORDERS[j / 2 % 2], ORDERS[j / 8]],
                joining: JOININGS[(i + j) % 3],
                products: 1 + j % 3 / 2,
                splits: Some(1 + u32::from(j % 4 == 3)),
                ..case(kernel, TYPES[(i + j) % 7], size, tile)
            });
        }
    }
    run_all(&cases);
}

/// Every size from 1 to 130 in each dimension, in all orders, those with gaps and reversed ones among them.
#[test]
fn every_small_size_is_right() {
    let last = |tiles: Vec<[u32; 6]>| *tiles.last().expect("there are tiles");
    let smallest = [("wgmma", last(wgmma_tiles())), ("mma", last(mma_tiles()))];
    let of_size = |i: usize| {
        let (kernel, tile) = smallest[i / 2 % 2];
        let size = [1 + i, 1 + i * 37 % 130, 1 + i * 53 % 130];
        let orders = [ORDERS[i % 4], ORDERS[i / 4 % 4], ORDERS[i / 16 % 3]];
        let variant = TYPES[i % 7];
        Case {
            orders,
            joining: JOININGS[i % 3],
            products: 1 + i % 6 / 5,
            ..case(kernel, variant, size, tile)
        }
    };
    run_all(&(0..130).map(of_size).collect::<Vec<_>>());
}

/// Rows of any length that begin where TMA reads and writes, in matrices of somebody else: what lies between them stays.
#[test]
fn nothing_between_rows_is_read_or_written() {
    let last = |tiles: Vec<[u32; 6]>| *tiles.last().expect("there are tiles");
    let tiles = [("wgmma", last(wgmma_tiles())), ("mma", last(mma_tiles())), ("dmma", last(dmma_tiles()))];
    let mut cases = Vec::new();
    for (i, cols) in [1, 2, 7, 8, 9, 31, 63, 65, 66, 72, 129, 130, 131, 132].into_iter().enumerate() {
        for (kernel, tile) in tiles {
            let variant = if kernel == "dmma" { plus_times(DType::F64) } else { TYPES[i % 7] };
            cases.push(Case {
                orders: [Order::Lines; 3],
                joining: JOININGS[i % 3],
                products: 1 + i % 2,
                ..case(kernel, variant, [65, cols, cols + 4], tile)
            });
        }
    }
    run_all(&cases);
}

fn double(size: [usize; 3], tile: [u32; 6]) -> Case {
    Case { splits: Some(1), multiprocessors: Some(1), ..case("dmma", plus_times(DType::F64), size, tile) }
}

/// Results of f32 on f16 and bf16, at the edges of tiles, whole and in parts, written by TMA and row by row.
#[test]
fn sums_are_given_as_they_are_at_the_edges_of_tiles() {
    let mut cases = Vec::new();
    let first = |tiles: Vec<[u32; 6]>| tiles.into_iter().take(2);
    let tiles = first(wgmma_tiles()).map(|tile| ("wgmma", tile));
    for (i, (kernel, tile)) in tiles.chain(first(mma_tiles()).map(|tile| ("mma", tile))).enumerate() {
        let [m, n] = [tile[0], tile[1]].map(|side| side as usize);
        for (j, dtype) in [DType::F16, DType::Bf16, DType::F16, DType::Bf16].into_iter().enumerate() {
            let size = [m + [1, 0, 8, 7][j], n + [4, 0, 3, 9][(i + j) % 4], 700];
            cases.push(Case {
                orders: [ORDERS[j % 2], ORDERS[1 - j % 2], ORDERS[j / 2]],
                joining: JOININGS[(i + j) % 3],
                splits: Some(1 + u32::from(j == 3)),
                ..case(kernel, giving_sums(dtype), size, tile)
            });
        }
    }
    run_all(&cases);
}

/// Floats of 8 bits, whose sums are added up in f32 after each stage, or stay in the tensor cores: every tile that has registers for that, at its edges.
#[test]
fn floats_of_8_bits_are_multiplied() {
    let mut cases = Vec::new();
    let of_wgmma = |&[m, n, _, ping_pong, ..]: &[u32; 6]| m * n <= 24576 && (ping_pong == 0 || m == 64);
    let wgmma = wgmma_tiles().into_iter().filter(of_wgmma).map(|tile| ("wgmma", tile));
    let mma = mma_tiles().into_iter().filter(|&[m, n, ..]| m * n <= 16384).map(|tile| ("mma", tile));
    let tiles = wgmma.chain(mma);
    for (i, (kernel, tile)) in tiles.enumerate() {
        let [m, n] = [tile[0], tile[1]].map(|side| side as usize);
        for j in 0..8 {
            let variant = plus_times([DType::E4m3, DType::E5m2][j % 2]);
            let variant = variant.giving([DType::F32, DType::F16, DType::Bf16][(i + j / 2) % 3]);
            let size = [
                [8, m, m + 8, 2 * m + 1][(i + j) % 4],
                [n, n + 8, 40, n + 3][(i + j / 2) % 4],
                [128, 400, 8, 131][j % 4],
            ];
            cases.push(Case {
                orders: [ORDERS[j % 2], ORDERS[1 - j / 2 % 2], ORDERS[j / 4]],
                joining: JOININGS[(i + j) % 3],
                products: 1 + j % 3 / 2,
                splits: Some(1 + u32::from(j % 4 == 1)),
                math: [Math::Full, Math::Fast][usize::from(j % 4 == 2)],
                ..case(kernel, variant, size, tile)
            });
        }
    }
    assert!(cases.len() > 50, "{}", cases.len());
    run_all(&cases);
}

/// As above, on f64: pairs and single elements of C, and more stages than the ring has.
#[test]
fn every_tile_order_store_and_split_is_right_on_f64() {
    let mut cases = Vec::new();
    for (i, tile) in dmma_tiles().into_iter().enumerate() {
        let [m, n] = [tile[0], tile[1]].map(|side| side as usize);
        for j in 0..16 {
            let size = [
                [8, m, m + 8, 2 * m + 1][(i + j) % 4],
                [n, n + 8, 40, n + 3][(i + j / 2) % 4],
                [16, 200, 8, 136, 331][(i + j) % 5],
            ];
            cases.push(Case {
                orders: [ORDERS[j % 2], ORDERS[j / 2 % 2], ORDERS[j / 4 % 2]],
                joining: JOININGS[(i + j) % 3],
                products: 1 + j % 3 / 2,
                splits: Some(1 + u32::from(j % 4 == 3)),
                ..double(size, tile)
            });
        }
    }
    run_all(&cases);
}

/// Fourteen tiles where six are computed at a time, the last two in parts.
#[test]
fn the_last_wave_in_parts_is_right() {
    let tile = *dmma_tiles().last().expect("there are tiles");
    let case = |orders, joining| Case { orders, joining, splits: None, ..double([224, 61, 1000], tile) };
    let cases: Vec<_> = JOININGS.into_iter().map(|joining| case([Order::Rows; 3], joining)).collect();
    let names = rig::program_names(&cases[0]);
    assert!(names.iter().any(|name| name.starts_with("split-k-reduce")), "{names:?}");
    run_all(&cases);
    run_all(&[case([Order::Columns; 3], Joining::Scale)]);
}

/// As above, on f64.
#[test]
fn every_small_size_is_right_on_f64() {
    let tile = *dmma_tiles().last().expect("there are tiles");
    let of_size = |i: usize| {
        let size = [1 + i, 1 + i * 37 % 130, 1 + i * 53 % 130];
        let orders = [ORDERS[i % 4], ORDERS[i / 4 % 4], ORDERS[i / 16 % 3]];
        Case { orders, joining: JOININGS[i % 3], products: 1 + i % 5 / 4, ..double(size, tile) }
    };
    run_all(&(0..130).map(of_size).collect::<Vec<_>>());
}
