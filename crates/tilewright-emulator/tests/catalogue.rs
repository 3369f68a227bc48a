//! Every kernel of the catalogue, with all checks on: the results of the definition, bit for bit, and no finding.
//!
//! Where there is no NVRTC, programs whose PTX is not part of the catalogue are left out; `TILEWRIGHT_REQUIRE_NVRTC=1` makes that a
//! failure.

#[allow(dead_code)] // A part of it is for `every_tile`.
use crate::menu;
use crate::rig::{self, Array, Case, Joining, Order, Outcome};
use tilewright_core::{Layout, Problem, SemiringId};
use tilewright_kernels::{Buffer, Family, Form, Kernel, Request, Variant, find, kernels, simt_tiles};

fn family(family: Family) -> impl Iterator<Item = &'static Kernel> {
    kernels().iter().filter(move |kernel| kernel.family == family)
}

const JOININGS: [Joining; 3] = [Joining::Replace, Joining::Accumulate, Joining::Scale];

/// Multiples of every tile and sizes around them, thin ones, and sums of no term.
const SIZES: [[usize; 3]; 9] = [
    [1, 1, 1],
    [16, 16, 16],
    [17, 15, 33],
    [33, 31, 1],
    [5, 3, 0],
    [64, 64, 32],
    [65, 67, 9],
    [1, 100, 7],
    [128, 128, 24],
];

#[test]
fn the_ladder_is_right_at_every_size_it_takes() {
    for kernel in family(Family::Ladder) {
        for &variant in kernel.variants {
            let mut right = 0;
            for (size, joining) in SIZES.into_iter().flat_map(|s| JOININGS.map(|j| (s, j))) {
                let strided = [Order::Gaps, Order::Reversed, Order::Gaps];
                let transposed = [Order::Columns, Order::Columns, Order::Rows];
                for orders in [[Order::Rows; 3], strided, transposed] {
                    let outcome = rig::run(&Case { joining, orders, ..Case::new(kernel, variant, size) });
                    assert_ne!(outcome, Outcome::NoPtx, "{} {variant}", kernel.name);
                    right += usize::from(outcome == Outcome::Right);
                }
            }
            assert!(right >= 2, "{} {variant} takes {right} products", kernel.name);
        }
    }
}

#[test]
fn the_production_kernel_is_right_by_rows_with_every_split_batch_and_factor() {
    // Whole tiles, vectors with edges, and rows that no vector divides.
    const SIZES: [[usize; 3]; 5] = [[64, 128, 96], [16, 16, 16], [20, 72, 100], [35, 33, 17], [70, 37, 0]];
    for (kernel, variant) in production() {
        for (splits, products) in [(1, 1), (3, 1), (1, 3), (3, 2)] {
            for joining in JOININGS {
                let mut outcomes = Vec::new();
                for (size, tile) in SIZES.into_iter().flat_map(|s| tiles(variant).map(move |t| (s, t))) {
                    let case = Case::new(kernel, variant, size);
                    outcomes.push(rig::run(&Case { joining, products, tile, splits: Some(splits), ..case }));
                }
                let right = outcomes.iter().filter(|&&outcome| outcome == Outcome::Right).count();
                let has_factors = variant.semiring == SemiringId::PlusTimes;
                let can = has_factors || !matches!(joining, Joining::Scale);
                let has_compiler = !outcomes.contains(&Outcome::NoPtx);
                assert_eq!(
                    right > 1,
                    can && has_compiler,
                    "{variant}, {splits} parts, {products} products: {outcomes:?}"
                );
            }
        }
    }
}

#[test]
fn the_plain_program_is_right_in_every_order_without_a_compiler() {
    let all = simt().variants.iter().map(|&variant| (simt(), variant));
    for (v, (kernel, variant)) in all.enumerate() {
        let step = if menu::THOROUGH.contains(&variant) { 1 } else { 5 };
        let choices = SIZES.into_iter().flat_map(|s| ORDERS.map(|o| (s, o)));
        for (i, (size, orders)) in choices.enumerate().skip(v % step).step_by(step) {
            let factors = if variant.semiring == SemiringId::PlusTimes { 3 } else { 2 };
            let (joining, products) = (JOININGS[i % factors], [1, 3][i / 3 % 2]);
            let case =
                Case { orders, joining, products, form: Form::Plain, ..Case::new(kernel, variant, size) };
            assert_eq!(rig::run(&case), Outcome::Right, "{case:?}");
        }
    }
}

#[test]
fn the_production_kernel_is_right_where_the_last_tiles_are_split() {
    let (mut split, mut without) = (0, 0);
    for (kernel, variant) in production() {
        for (i, size) in [[257, 390, 300], [132, 516, 512]].into_iter().enumerate() {
            for tile in tiles(variant) {
                // On one multiprocessor few tiles are several waves of blocks.
                let case = Case { tile, multiprocessors: Some(1), ..Case::new(kernel, variant, size) };
                let case = Case { joining: JOININGS[2 * i], ..case };
                match rig::run(&case) {
                    Outcome::Right => split += usize::from(splits_last_tiles(&case)),
                    Outcome::NoPtx => without += 1,
                    Outcome::Refused => {}
                }
            }
        }
    }
    eprintln!("{split} products with split tiles; {without} without PTX, where there is no compiler");
    assert!(split > 6 || without > 0, "{split}");
}

fn splits_last_tiles(case: &Case) -> bool {
    let [m, n, k] = case.size;
    let layouts = [Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n)];
    let problem = Problem::new(layouts[0], layouts[1], layouts[2]).expect("shapes fit");
    let mut request = Request::of(problem, case.variant);
    (request.tile, request.gpu.multiprocessors) = (case.tile, 1);
    let recipe = case.kernel.recipe(&request).expect("the rig took it");
    recipe.details().iter().any(|(name, value)| *name == "parts of k" && value.contains("last"))
}

/// Operands and results of every order.
const ORDERS: [[Order; 3]; 6] = [
    [Order::Rows; 3],
    [Order::Columns, Order::Rows, Order::Rows],
    [Order::Rows, Order::Columns, Order::Rows],
    [Order::Columns, Order::Columns, Order::Columns],
    [Order::Gaps, Order::Reversed, Order::Columns],
    [Order::Reversed, Order::Gaps, Order::Gaps],
];

#[test]
fn the_production_kernel_is_right_with_every_tile_and_order() {
    const SIZES: [[usize; 3]; 4] = [[1, 1, 1], [35, 33, 17], [64, 128, 100], [130, 66, 40]];
    let (mut right, mut without) = (0, 0);
    for (kernel, variant) in production() {
        for (i, (size, orders)) in SIZES.into_iter().flat_map(|s| ORDERS.map(|o| (s, o))).enumerate() {
            // Every pair of choices meets, and not every triple.
            for (j, tile) in tiles(variant).enumerate() {
                let (splits, products) = (Some([1, 3][(i + j) % 2]), [1, 3][(i + j) / 2 % 2]);
                let joining = JOININGS[(i + j) % 3];
                let case = Case::new(kernel, variant, size);
                let case = Case { orders, joining, products, tile, splits, ..case };
                match rig::run(&case) {
                    Outcome::Right => right += 1,
                    Outcome::NoPtx => without += 1,
                    Outcome::Refused => {}
                }
            }
        }
    }
    eprintln!("{right} products; {without} without PTX, where there is no compiler");
    assert!(right > 0 || without > 0);
}

/// The kernel whose results are those of the definition, bit for bit. Those of log-plus keep a bound: see the tests of `tilewright`.
fn simt() -> &'static Kernel {
    find("simt").expect("known")
}

/// The variants that show what all of them do; `every_tile` has the others.
fn production() -> impl Iterator<Item = (&'static Kernel, Variant)> {
    menu::THOROUGH.into_iter().map(|variant| (simt(), variant))
}

fn tiles(variant: Variant) -> impl Iterator<Item = Option<[u32; 6]>> {
    simt_tiles(variant).into_iter().map(Some)
}

#[test]
fn the_gallery_shows_what_it_says() {
    // Parameters that are no constants of the program, so that their PTX is part of the catalogue.
    for kernel in family(Family::Gallery) {
        let mut shown = 0;
        for n in [None, Some(1), Some(33), Some(1000)] {
            let chosen: Vec<_> = n.map(|n| ("n", n)).into_iter().collect();
            let Ok(showing) = kernel.show(&chosen) else { continue };
            let input: Vec<f32> = (0..showing.input()).map(|i| (i % 251) as f32 - 100.0).collect();
            let wanted = showing.expected(&input);
            let bytes = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
            let zeros = vec![0; 4 * showing.output()];
            let mut arrays = vec![
                Array { name: "input", bytes: bytes(&input), origin: 0 },
                Array { name: "output", bytes: zeros, origin: 0 },
            ];
            let place = |buffer| match buffer {
                Buffer::Input => Some(0),
                Buffer::Output => Some(1),
                _ => None,
            };
            if rig::execute(showing.recipe(), &mut arrays, &place) {
                assert!(arrays[1].bytes == bytes(&wanted), "{} {chosen:?}", kernel.name);
                shown += 1;
            }
        }
        assert!(shown > 0, "{}", kernel.name);
    }
}
