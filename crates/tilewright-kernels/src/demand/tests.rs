//! Bounds and estimates beside times that were measured.

use super::*;
use crate::{
    catalogue::{find, kernels},
    dmma_tiles,
    families::{dmma, wgmma},
    kernel::{Family, launch::Recipe},
    request::Request,
    wgmma_tiles,
};
use tilewright_core::{Activation, DType, Epilogue, Granularity, Layout, Math, Problem, Scales, SemiringId};

const MEASURED: &str = include_str!("../../data/production.csv");
/// Measured times are repeatable to within this.
const REPEATABLE: f64 = 0.97;

/// A product that was measured.
struct Row {
    text: &'static str,
    gpu: Gpu,
    kernel: &'static str,
    request: Request,
    seconds: f64,
}

impl Row {
    fn all() -> Vec<Self> {
        let lines = MEASURED.lines().filter(|line| !line.starts_with('#')).skip(1);
        lines.map(|text| Self::read(text).unwrap_or_else(|| panic!("{text}"))).collect()
    }

    fn read(text: &'static str) -> Option<Self> {
        let cells: Vec<&str> = text.split(',').collect();
        let [gpu, kernel, semiring, dtype, result, math, orders, behind, tile, m, n, k, us, _] = cells[..]
        else {
            return None;
        };
        let gpu = Gpu::named(gpu).ok()?;
        let [m, n, k]: [usize; 3] = [m, n, k].map(|side| side.parse().expect("a side"));
        let layout = |order, rows, cols| match order {
            b'n' => Layout::row_major(rows, cols),
            _ => Layout::col_major(rows, cols),
        };
        let [a, b] = orders.as_bytes() else { return None };
        let problem = Problem::new(layout(*a, m, k), layout(*b, k, n), Layout::row_major(m, n)).ok()?;
        let semiring: SemiringId = semiring.parse().ok()?;
        let [dtype, result]: [DType; 2] = [dtype.parse().ok()?, result.parse().ok()?];
        let request = Request {
            math: math.parse().ok()?,
            gpu,
            tile: tile_called(tile),
            scales: scales(behind, [m, n, k]),
            epilogue: epilogue(behind),
            ..Request::new(problem, semiring, dtype).giving(result).ok()?
        };
        Some(Self { text, gpu, kernel, request, seconds: us.parse::<f64>().ok()? * 1e-6 })
    }

    fn recipe(&self) -> Recipe {
        find(self.kernel).unwrap().recipe(&self.request).unwrap()
    }
}

fn tile_called(name: &str) -> Option<[u32; 6]> {
    let names = [(wgmma::CHOOSING, wgmma_tiles()), (dmma::CHOOSING, dmma_tiles())];
    let found = names.iter().find_map(|(family, tiles)| {
        tiles.iter().copied().find(|tile| (family.tile_name)(*tile).as_deref() == Some(name))
    });
    assert_eq!(found.is_none(), name.is_empty(), "{name}");
    found
}

/// Scales of A and of B by the names of their blocks.
fn scales(names: &str, [m, n, k]: [usize; 3]) -> Scales<Layout> {
    let of = |a: Granularity, b: Granularity| {
        let ([rows, terms], [cols, terms_of_b]) = (a.shape(m, k), b.shape(n, k));
        let [a, b] = [Layout::row_major(rows, terms), Layout::row_major(terms_of_b, cols)];
        Scales { a: Some(a), b: Some(b) }
    };
    match names {
        "1x1" => of(Granularity::Operand, Granularity::Operand),
        "rows" => of(Granularity::Row, Granularity::Row),
        "1x128 128x128" => of(Granularity::RowBlock, Granularity::Block),
        "1x128 1x128" => of(Granularity::RowBlock, Granularity::RowBlock),
        _ => Scales::NONE,
    }
}

fn epilogue(names: &str) -> Epilogue<isize> {
    let activation = match names {
        "bias relu" => Activation::Relu,
        "bias gelu" => Activation::Gelu,
        _ => Activation::None,
    };
    Epilogue { bias: names.starts_with("bias").then_some(1), activation }
}

#[test]
fn no_product_was_faster_than_its_bound() {
    let rows = Row::all();
    assert!(rows.len() > 200, "{}", rows.len());
    for row in rows {
        let recipe = row.recipe();
        let [busiest, next, ..] = recipe.demands() else { panic!("{}: {:?}", row.text, recipe.demands()) };
        let least = busiest.cycles / row.gpu.clock_hz as f64;
        println!(
            "{:.2} of its bound by {}, next {} {:.2}; {:.2} of its prediction: {}",
            row.seconds / least,
            busiest.part.name(),
            next.part.name(),
            next.cycles / busiest.cycles,
            row.seconds / recipe.seconds(),
            row.text
        );
        assert!(row.seconds >= REPEATABLE * least, "{}: at least {:.2} us", row.text, least * 1e6);
    }
}

#[test]
fn one_machine_has_what_is_left_over() {
    // Five jobs on two machines: one has three of them.
    assert_eq!(busiest(&[(5, 2.0)], 2), 6.0);
    // Long ones decide where they are many, the mean where short ones are.
    assert_eq!(busiest(&[(3, 10.0), (1, 1.0)], 2), 20.0);
    assert_eq!(busiest(&[(1, 10.0), (100, 1.0)], 2), 55.0);
    assert_eq!(busiest(&[], 0), 0.0);
}

#[test]
fn every_production_kernel_counts_what_it_takes_on_every_gpu_with_known_costs() {
    for gpu in ["h200", "a100", "rtx 4090", "t4"].map(|name| Gpu::named(name).unwrap()) {
        for kernel in kernels().iter().filter(|kernel| kernel.family == Family::Production) {
            for &variant in kernel.variants {
                let l = Layout::row_major(1024, 1024);
                let problem = Problem::new(l, l, l).unwrap();
                let math = if kernel.name == "simt" { Math::Full } else { Math::Tf32 };
                let request = Request { gpu, math, ..Request::of(problem, variant) };
                let Ok(recipe) = kernel.recipe(&request) else { continue };
                let demands = recipe.demands();
                assert!(demands.is_sorted_by(|x, y| x.cycles >= y.cycles), "{demands:?}");
                // No estimate is far below what the parts need at least.
                let least = demands[0].cycles / gpu.clock_hz as f64;
                assert!(
                    recipe.seconds() > 0.9 * least,
                    "{} {variant} on {}: {demands:?}",
                    kernel.name,
                    gpu.name
                );
            }
        }
    }
}

#[test]
fn an_empty_product_takes_nothing() {
    let (a, b, c) = (Layout::row_major(0, 8), Layout::row_major(8, 8), Layout::row_major(0, 8));
    let request = Request::new(Problem::new(a, b, c).unwrap(), SemiringId::PlusTimes, DType::F32);
    assert_eq!(find("simt").unwrap().recipe(&request).unwrap().demands(), []);
}

/// The estimate by which a tile is chosen is the prediction as well.
#[test]
fn most_products_take_about_as_long_as_their_estimate() {
    let ratios: Vec<f64> = Row::all().iter().map(|row| row.seconds / row.recipe().seconds()).collect();
    let within = |factor: f64| {
        let count = ratios.iter().filter(|ratio| (1.0 / factor..=factor).contains(*ratio)).count();
        count as f64 / ratios.len() as f64
    };
    let shares = [1.1, 1.25, 1.5].map(within);
    println!("within 1.1, 1.25 and 1.5: {shares:.3?}");
    assert!(shares[1] > 0.85 && shares[2] > 0.95, "{shares:?}");
}
