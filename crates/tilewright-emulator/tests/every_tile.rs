//! The production kernel's whole menu, with all checks on: the results of the definition, bit for bit, and no finding.
//!
//! Where there is no NVRTC, programs whose PTX is not part of the catalogue are left out; `TILEWRIGHT_REQUIRE_NVRTC=1` makes that a
//! failure. `TILEWRIGHT_THIRD` of 0, 1 or 2 takes every third product from there on, so that
//! a short check differs from commit to commit.

use crate::menu::{self, Choice, Lie, Old, Split};
use crate::rig::{self, Case, Joining, Order, Outcome};
use std::sync::atomic::{AtomicUsize, Ordering};
use tilewright_kernels::{find, simt_tiles};

fn case(choice: &Choice) -> Case {
    let order = |lie| match lie {
        Lie::Rows => Order::Rows,
        Lie::Columns => Order::Columns,
        Lie::Gaps => Order::Gaps,
        Lie::ColumnGaps => Order::ColumnGaps,
        Lie::Reversed => Order::Reversed,
    };
    let joining = match choice.old {
        Old::Replaced => Joining::Replace,
        Old::Added => Joining::Accumulate,
        Old::Scaled => Joining::Scale,
    };
    let kernel = find("simt").expect("known");
    Case {
        orders: choice.lies.map(order),
        joining,
        tile: Some(choice.tile),
        splits: choice.splits(),
        pack: Some(choice.pack),
        multiprocessors: Some(choice.multiprocessors),
        one_sign: choice.one_sign,
        ..Case::new(kernel, choice.variant, choice.size)
    }
}

#[test]
fn every_tile_packing_order_edge_store_and_split_is_right() {
    let kernel = find("simt").expect("known");
    let mut choices = menu::choices(kernel);
    if let Ok(third) = std::env::var("TILEWRIGHT_THIRD") {
        let third = third.parse().expect("TILEWRIGHT_THIRD is 0, 1 or 2");
        choices = choices.into_iter().skip(third).step_by(3).collect();
    }
    let (next, right, without) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(choice) = choices.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match rig::run(&case(choice)) {
                        Outcome::Right => right.fetch_add(1, Ordering::Relaxed),
                        Outcome::NoPtx => without.fetch_add(1, Ordering::Relaxed),
                        Outcome::Refused => panic!("refused: {choice:?}"),
                    };
                }
            });
        }
    });
    let [right, without] = [right, without].map(AtomicUsize::into_inner);
    eprintln!("{right} products; {without} without PTX, where there is no compiler");
    assert_eq!(right + without, choices.len());
}

/// Few columns or rows: every variant, every side and chunk, terms that fill the last chunk or not, either order of each matrix, several products.
#[test]
fn few_columns_or_rows_are_right() {
    let kernel = find("simt").expect("known");
    let sides = [1, 3, 4, 7, 16, 17, 32];
    let terms = [0, 1, 15, 16, 17, 32, 70];
    let orders = [Order::Rows, Order::Columns, Order::Gaps, Order::ColumnGaps, Order::Reversed];
    let mut without = 0;
    for (i, &variant) in kernel.variants.iter().enumerate() {
        for j in 0..sides.len() {
            let (short, k) = (sides[j], terms[(i + 3 * j) % terms.len()]);
            let columns = (short as u32).next_power_of_two().max(4);
            let rows = if columns <= 8 { 2 } else { 1 };
            let size = if (i + j) % 2 == 0 { [260, short, k] } else { [short, 260, k] };
            let joining = [Joining::Replace, Joining::Accumulate, Joining::Scale][(i + j) % 3];
            let case = Case {
                orders: [i + j, i + 2 * j, i / 2 + j].map(|x| orders[x % orders.len()]),
                joining,
                products: 1 + j % 2,
                tile: Some([128 * rows, columns, if k <= 16 { 16 } else { 32 }, rows, columns, 1]),
                ..Case::new(kernel, variant, size)
            };
            match rig::run(&case) {
                Outcome::Right => {}
                Outcome::NoPtx => without += 1,
                // Other semirings have no factors.
                Outcome::Refused => assert!(matches!(joining, Joining::Scale), "{case:?}"),
            }
        }
    }
    eprintln!("{without} without PTX, where there is no compiler");
}

/// Of every two options of a program, such as how A and how B are copied, each two values are in one of them.
#[test]
fn every_two_options_of_the_programs_meet() {
    let kernel = find("simt").expect("known");
    let choices = menu::choices(kernel);
    let names: Vec<String> = choices.iter().flat_map(|one| rig::program_names(&case(one))).collect();
    for variant in menu::THOROUGH {
        for tile in simt_tiles(variant) {
            let missing = menu::missing_pairs(&names, tile, variant);
            assert!(missing.is_empty(), "{}", missing.join("\n"));
        }
    }
}

#[test]
fn every_arithmetic_is_in_the_list() {
    let choices = menu::choices(find("simt").expect("known"));
    let names: Vec<String> = choices.iter().flat_map(|one| rig::program_names(&case(one))).collect();
    for part in [
        ".f16.halves.pairs.",
        ".bf16.halves.pairs.",
        ".i16.halves.",
        ".bool.bits.",
        ".max-min.f32.ordered.pairs.",
        ".i32.pairs.",
        ".max-times.f32.pairs.guarded.",
        ".f32.fallback.",
    ] {
        assert!(names.iter().any(|name| name.contains(part)), "{part}");
    }
}

/// The list is what it says, whether or not there is a compiler.
#[test]
fn the_last_wave_of_every_tile_is_split() {
    let kernel = find("simt").expect("known");
    let choices = menu::choices(kernel);
    for variant in menu::THOROUGH {
        for tile in simt_tiles(variant) {
            let of_tile =
                |one: &&Choice| one.variant == variant && one.tile == tile && one.split == Split::Last;
            let all: Vec<_> = choices.iter().filter(of_tile).collect();
            let split = all.iter().filter(|one| one.splits_last_tiles(kernel)).count();
            assert!(split > 0, "{variant} {tile:?}: {split} of {}", all.len());
        }
    }
}
