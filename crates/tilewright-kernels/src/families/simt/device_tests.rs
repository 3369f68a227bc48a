//! What is chosen on which GPU.

use crate::{catalogue::find, kernel::Variant, launch::Recipe, request::Request};
use std::fmt::Write;
use tilewright_core::{DType, Layout, Problem, SemiringId};

/// The choices on an H200, to which the model was fitted. `TILEWRIGHT_BLESS=1` renews them.
const PINNED: &str = include_str!("choices_h200.csv");

const VARIANTS: [Variant; 12] = {
    use DType::{Bool, F16, F32, F64, I8, I32, I64};
    use SemiringId::{MaxMin, MinPlus, OrAnd, PlusTimes};
    [
        Variant::new(PlusTimes, F32),
        Variant::new(PlusTimes, F64),
        Variant::new(PlusTimes, I32),
        Variant::new(PlusTimes, I64),
        Variant::new(PlusTimes, F16),
        Variant::new(PlusTimes, I8),
        Variant::new(MinPlus, F32),
        Variant::new(MinPlus, F64),
        Variant::new(MinPlus, I32),
        Variant::new(MinPlus, I64),
        Variant::new(MaxMin, F64),
        Variant::new(OrAnd, Bool),
    ]
};

/// Squares, odd sizes, thin products and long sums.
const SHAPES: [[usize; 3]; 22] = [
    [64, 64, 64],
    [256, 256, 256],
    [512, 512, 512],
    [1000, 1000, 1000],
    [1024, 1024, 1024],
    [1705, 1705, 1705],
    [2048, 2048, 2048],
    [3000, 3000, 3000],
    [4095, 4095, 4095],
    [4096, 4096, 4096],
    [5000, 5000, 5000],
    [8192, 8192, 8192],
    [16, 8192, 8192],
    [128, 8192, 8192],
    [8192, 8192, 64],
    [64, 64, 262_144],
    [131_072, 16, 16],
    [16, 131_072, 16],
    [300, 200, 10_000],
    [1, 8192, 8192],
    [2500, 100, 4000],
    [777, 1555, 33],
];

fn request(variant: Variant, [m, n, k]: [usize; 3], b_by_columns: bool) -> Request {
    let b = if b_by_columns { Layout::col_major(k, n) } else { Layout::row_major(k, n) };
    let problem = Problem::new(Layout::row_major(m, k), b, Layout::row_major(m, n)).unwrap();
    Request::new(problem, variant.semiring, variant.dtype)
}

fn detail<'a>(recipe: &'a Recipe, name: &str) -> &'a str {
    recipe.details.iter().find(|(n, _)| *n == name).map_or("", |(_, value)| value)
}

/// The tile, the parts, what is packed, and the grid of the product.
fn told(recipe: &Recipe) -> String {
    let product = recipe.launches.iter().find(|launch| launch.entry == "simt").unwrap();
    let program: Vec<_> = product.program.name.split('.').skip(3).collect();
    let (parts, packed) = (detail(recipe, "parts of k"), detail(recipe, "packed first"));
    let shared = product.dynamic_shared_memory;
    format!("{},{},{parts},{packed},{shared}", program.join("."), product.grid[0])
}

#[test]
fn choices_on_an_h200_stay_as_they_are() {
    let mut all =
        String::from("variant,m,n,k,order of B,program,blocks,parts of k,packed first,shared memory\n");
    let simt = find("simt").unwrap();
    for variant in VARIANTS {
        for [m, n, k] in SHAPES {
            for (by_columns, order) in [(false, "rows"), (true, "columns")] {
                let recipe = simt.recipe(&request(variant, [m, n, k], by_columns)).unwrap();
                writeln!(all, "{variant},{m},{n},{k},{order},{}", told(&recipe)).unwrap();
            }
        }
    }
    if std::env::var_os("TILEWRIGHT_BLESS").is_some_and(|value| value == "1") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/families/simt/choices_h200.csv");
        std::fs::write(path, &all).unwrap();
        return;
    }
    for (found, pinned) in all.lines().zip(PINNED.lines()) {
        assert_eq!(found, pinned);
    }
    assert_eq!(all.lines().count(), PINNED.lines().count());
}
