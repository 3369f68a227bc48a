//! What is chosen on which GPU.

use super::menu::{self, Tile};
use crate::{
    catalogue::find,
    kernel::launch::{Launch, Recipe},
    programs::programs,
    request::Request,
    variant::Variant,
};
use std::fmt::Write;
use tilewright_arch::{ComputeCapability, Device, Gpu, KernelResources, LaunchConfig, Limits, Occupancy};
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
    // What is chosen for all data.
    Request { narrow: Some(false), ..Request::of(problem, variant) }
}

fn detail<'a>(recipe: &'a Recipe, name: &str) -> &'a str {
    recipe.details.iter().find(|(n, _)| *n == name).map_or("", |(_, value)| value)
}

/// The tile, the parts, what is packed, and the grid of the product.
fn told(recipe: &Recipe) -> String {
    let is_product = |launch: &&Launch| ["simt", "thin"].contains(&launch.entry);
    let product = recipe.launches.iter().find(is_product).unwrap();
    let program: Vec<_> = product.program.name.split('.').skip(3).collect();
    let (parts, packed) = (detail(recipe, "parts of k"), detail(recipe, "packed first"));
    let shared = product.dynamic_shared_memory();
    format!("{},{},{parts},{packed},{shared}", program.join("."), product.grid()[0])
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

/// GPUs of every kind that the kernels are compiled for.
const GPUS: [&str; 8] = ["t4", "a100", "a6000", "l4", "rtx 4090", "h200", "b200", "rtx 5090"];

fn named(gpu: &str) -> Gpu {
    Gpu::named(gpu).unwrap()
}

fn on(gpu: &str, variant: Variant, size: [usize; 3]) -> Recipe {
    let request = Request { gpu: named(gpu), ..request(variant, size, false) };
    find("simt").unwrap().recipe(&request).unwrap_or_else(|refusal| panic!("{gpu}, {size:?}: {refusal}"))
}

/// The launch of the product itself.
fn product(recipe: &Recipe) -> &Launch {
    recipe.launches.iter().find(|launch| launch.entry == "simt").unwrap()
}

/// The tile that was chosen.
fn tile(recipe: &Recipe) -> Tile {
    let request = recipe.request().unwrap();
    let name = &product(recipe).program.name;
    let is_chosen =
        |tile: &&Tile| name.contains(&format!(".{}.", tile.id().map(|x| x.to_string()).join("x")));
    *menu::tiles(request.variant()).iter().find(is_chosen).unwrap()
}

/// Blocks of a launch that a multiprocessor holds, by the occupancy calculator and what is recorded of the program.
fn resident(launch: &Launch, capability: ComputeCapability) -> Option<u32> {
    let limits = Limits::of(capability).unwrap();
    let known = launch.program.recorded(capability)?;
    let kernel = KernelResources {
        registers_per_thread: known.registers,
        static_shared_memory: known.static_shared_memory,
        ..KernelResources::default()
    };
    let config = LaunchConfig {
        dynamic_shared_memory: launch.dynamic_shared_memory(),
        ..LaunchConfig::threads(launch.block()[0])
    };
    Some(Occupancy::of(limits, &kernel, &config).unwrap().blocks_per_sm)
}

#[test]
fn every_gpu_takes_every_shape_within_its_shared_memory_and_registers() {
    for gpu in GPUS {
        let limits = Device::find(gpu).unwrap().limits().unwrap();
        for variant in VARIANTS {
            for size in SHAPES {
                let recipe = on(gpu, variant, size);
                for launch in &recipe.launches {
                    assert!(launch.dynamic_shared_memory() <= limits.shared_memory_per_block_optin);
                }
            }
        }
    }
}

/// The model counts registers by what the tile is compiled for; the compiler has them recorded.
#[test]
fn as_many_blocks_are_resident_as_the_model_reckons_with() {
    let mut seen = 0;
    for gpu in GPUS {
        let here = named(gpu);
        for launch in programs().iter().filter(|launch| launch.entry == "simt") {
            let Some(found) = resident(launch, here.capability()) else { continue };
            let variant =
                VARIANTS.into_iter().find(|v| launch.program.name.starts_with(&format!("simt.{v}.")));
            let Some(variant) = variant else { continue };
            let name = launch.program.name.split('.').nth(3).unwrap();
            let tiles = menu::tiles(variant).iter();
            let Some(tile) = tiles.clone().find(|t| t.id().map(|x| x.to_string()).join("x") == name) else {
                continue;
            };
            let reckoned = tile.resident_on(&here, launch.dynamic_shared_memory());
            assert!(found >= reckoned, "{} on {gpu}: {found} blocks, not {reckoned}", launch.program.name);
            assert!(reckoned == tile.resident || reckoned == found, "{} on {gpu}", launch.program.name);
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} programs have recorded registers");
}

#[test]
fn tiles_keep_on_an_h200_what_they_were_measured_with() {
    for variant in VARIANTS {
        for tile in menu::tiles(variant) {
            // With padding for both operands.
            let vector = Tile::vector(variant);
            let pitches = tile.block[0] + tile.block[1] + 2 * vector;
            let parts = (tile.slices - 1) * tile.block[0] * tile.block[1];
            let elements = (tile.stages * tile.k * pitches).max(parts);
            let bytes = elements * variant.accumulator().size() as u32;
            let here = tile.resident_on(&Gpu::default(), bytes);
            assert_eq!((here, tile.share(here)), (tile.resident, 1.0), "{}", tile.name());
        }
    }
}

#[test]
fn large_products_fill_every_gpu() {
    for gpu in GPUS {
        let multiprocessors = u64::from(named(gpu).multiprocessors);
        for variant in VARIANTS {
            for size in [[4096; 3], [128, 8192, 8192], [64, 64, 262_144]] {
                // A word may hold 32 terms: so many times more of them are as much to do.
                let terms = if variant.dtype == DType::Bool { 32 } else { 1 };
                let size = [size[0], size[1], size[2] * terms];
                let recipe = on(gpu, variant, size);
                let launch = product(&recipe);
                let blocks = u64::from(launch.grid()[0]) * u64::from(launch.grid()[1]);
                // The most that a last wave may leave idle.
                let waves = blocks.div_ceil(multiprocessors);
                let busy = blocks as f64 / (waves * multiprocessors) as f64;
                assert!(
                    busy > 0.7,
                    "{variant} of {size:?} on {gpu}: {blocks} blocks of {}",
                    tile(&recipe).name()
                );
            }
        }
    }
}

#[test]
fn a_slow_unit_of_doubles_asks_for_no_effort_elsewhere() {
    let f64 = Variant::new(SemiringId::PlusTimes, DType::F64);
    // Where arithmetic takes all the time, copies of operands for the sake of speed do not pay.
    for gpu in ["t4", "l4", "rtx 4090"] {
        let recipe = on(gpu, f64, [1024; 3]);
        assert!(recipe.launches.len() <= 2, "{gpu}: {:?}", recipe.details);
    }
    let rate = |gpu, dtype| super::peak_on(&named(gpu), Variant::new(SemiringId::PlusTimes, dtype));
    for (gpu, least, most) in
        [("t4", 0.02, 0.04), ("l4", 0.01, 0.02), ("a100", 0.4, 0.6), ("h200", 0.4, 0.6), ("b200", 0.4, 0.6)]
    {
        let part = rate(gpu, DType::F64) / rate(gpu, DType::F32);
        assert!((least..most).contains(&part), "{gpu}: {part}");
    }
}
