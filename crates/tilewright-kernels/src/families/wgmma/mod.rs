//! Products by the tensor cores of Hopper.

mod cost;
mod instruction;
mod menu;
#[cfg(test)]
mod tests;

use super::tensor_cores::{
    Candidate, Element, Lines, Product, Tiles, VARIANTS, Work, choosing, named, recipe,
};
use crate::{
    argument::{Argument, Buffer, TensorMap},
    demand::Demands,
    encoding::Encoding,
    families::Choosing,
    kernel::{Family, Kernel, Make, launch::Launch},
    program::{Program, Source},
    request::Request,
};
use menu::{CONSUMERS, TILES, Tile};
use tilewright_arch::{Architecture, ComputeCapability};

pub(crate) const WGMMA: Kernel = Kernel {
    name: "wgmma",
    family: Family::Production,
    summary: "plus-times on f16, bf16, e4m3, e5m2, i8, u8, and f32 as tf32, by the tensor cores of Hopper; any sizes, strides and transposes, batches",
    teaches: "tensor cores fed by TMA: a ring of stages, warp groups that copy and multiply, clusters, ping-pong",
    file: "wgmma.cu",
    source: include_str!("wgmma.cu"),
    variants: &VARIANTS,
    make: Make::Product(recipe::<Wgmma>),
};

/// The GPUs whose instructions the family has.
const ARCHITECTURE: Architecture = Architecture::of(ComputeCapability::new(9, 0));

/// The tiles that `wgmma` chooses from: rows and columns of C, bytes of a row of operands, 1 where warp groups compute tiles of their own (ping-pong), stages, blocks of a cluster.
///
/// ```
/// assert!(tilewright_kernels::wgmma_tiles().contains(&[128, 256, 128, 0, 4, 1]));
/// ```
pub fn wgmma_tiles() -> Vec<[u32; 6]> {
    TILES.iter().map(Tile::id).collect()
}

/// Sums of a thread that leave it registers for as many others.
const MOST_PROMOTED: u32 = 96;

struct Wgmma;

/// What it has to choose from.
pub(crate) const CHOOSING: Choosing = choosing::<Wgmma>(&WGMMA);

impl Tiles for Wgmma {
    type Tile = Tile;
    const TILES: &'static [Tile] = &TILES;

    fn id(tile: &Tile) -> [u32; 6] {
        tile.id()
    }

    fn name(tile: &Tile) -> String {
        tile.name()
    }

    fn refuses(request: &Request, _: &Element) -> Option<[String; 2]> {
        let found = request.gpu.architecture;
        (found != ARCHITECTURE)
            .then(|| [format!("a GPU with {ARCHITECTURE}"), format!("the GPU has {found}")])
    }

    fn fits(work: &Work, tile: &Tile) -> bool {
        // The GPUs with these instructions have room for all, but their threads have no registers for large sums twice.
        !work.element.promotes || tile.sums() <= MOST_PROMOTED
    }

    fn tiles(work: &Work, tile: &Tile) -> u64 {
        cost::clusters(work, tile)
    }

    fn at_a_time(work: &Work, tile: &Tile) -> u64 {
        u64::from(work.gpu.multiprocessors / tile.cluster)
    }

    fn seconds(work: &Work, Candidate { tile, parts }: &Candidate<Tile>) -> f64 {
        cost::seconds(work, tile, *parts)
    }

    fn demand(work: &Work, Candidate { tile, parts }: &Candidate<Tile>, demands: &mut Demands) {
        cost::demand(work, tile, *parts, demands);
    }

    fn launch(
        kernel: &'static Kernel,
        request: &Request,
        product: &Product,
        work: &Work,
        Candidate { tile, parts }: &Candidate<Tile>,
        sums: Option<usize>,
    ) -> Launch {
        let Product { c, element, products, .. } = product;
        let [a, b] = product.lines;
        let i32 = |x: u32| Argument::i32(x as i32);
        let batched = |lines: Lines| i32(u32::from(lines.batch > 0));
        // A box of B is a block's part for its cluster: of columns, or of terms.
        let terms = element.terms();
        let box_rows = cost::box_rows(work, tile);
        let map_a = a.tensor(element, *products, box_rows, terms);
        let map_b = b.tensor(element, *products, tile.n / tile.cluster, terms / tile.cluster);
        let no_map = || Argument::TensorMap(Box::new(TensorMap([0; 128])));
        let arguments = [
            ("a", map_a),
            ("b", map_b),
            ("c", work.boxes.clone().unwrap_or_else(no_map)),
            ("C", Argument::Pointer(Buffer::C)),
            ("sums", Argument::Pointer(sums.map_or(Buffer::C, Buffer::Workspace))),
            ("row_stride", Argument::i64(c.layout.row_stride as i64)),
            ("batch_stride", Argument::i64(c.batch as i64)),
            ("m", i32(work.m)),
            ("n", i32(work.n)),
            ("k", i32(work.k)),
            ("batches", i32(work.products as u32)),
            ("parts", i32(*parts)),
            ("batched_a", batched(a)),
            ("batched_b", batched(b)),
            ("box_rows", i32(box_rows)),
            ("alpha", request.alpha().into()),
            ("beta", request.beta().into()),
        ];
        let finish = product.finish_of(sums.is_some());
        let blocks = cost::resident(work, tile, *parts) as u32 * tile.cluster;
        let (tile, shared_memory) = &tile.with_scales(product.scaling.place());
        Launch {
            parts: *parts,
            starts_early: request.starts_early(),
            ..Launch::new(
                program(kernel, request, product, work, tile, sums.is_some()),
                kernel.entry(),
                [blocks, 1, 1],
                [tile.threads(), 1, 1],
                named(arguments.into_iter().chain(finish.arguments()).chain(product.scaling.arguments())),
            )
            .with_cluster([tile.cluster, 1, 1])
            .with_dynamic_shared_memory(*shared_memory)
        }
    }

    fn details(product: &Product, work: &Work, tile: &Tile) -> Vec<(&'static str, String)> {
        let schedule = if tile.ping_pong { "ping-pong: two tiles in turns" } else { "cooperative: one tile" };
        let writes = if work.boxes.is_some() { "by TMA" } else { "by threads, row by row" };
        vec![
            ("tile", format!("{}x{}, {} terms a step", tile.m, tile.n, product.element.terms())),
            ("warp groups", schedule.into()),
            ("stages", tile.with_scales(product.scaling.place()).0.stages.to_string()),
            ("blocks of a cluster", tile.cluster.to_string()),
            ("writes C", writes.into()),
        ]
    }
}

fn program(
    kernel: &'static Kernel,
    request: &Request,
    product: &Product,
    work: &Work,
    tile: &Tile,
    splits: bool,
) -> Program {
    let by_terms = product.lines.map(|lines| lines.by_terms);
    let constants = [
        ("TILE_N", tile.n),
        ("STAGES", tile.stages),
        ("CONSUMERS", CONSUMERS),
        ("WAVES", tile.waves()),
        ("PING_PONG", tile.ping_pong.into()),
        ("CLUSTER", tile.cluster),
        ("BAND", tile.band),
        ("A_BY_TERMS", by_terms[0].into()),
        ("B_BY_TERMS", by_terms[1].into()),
        ("STORES_BOXES", work.boxes.is_some().into()),
        ("SPLITS", splits.into()),
        ("PROMOTES", product.element.promotes.into()),
        product.scaling.constant(),
    ];
    let finish = product.finish_of(splits);
    let constants = [&constants[..], &finish.constants()].concat();
    let source = Source { file: kernel.file, text: kernel.source };
    let mut program = Program::of(source, request.variant(), Encoding::Numbers, &constants);
    let [a, b] = by_terms.map(|by_terms| if by_terms { "k" } else { "mn" });
    let stores = match (splits, &work.boxes) {
        (true, _) => ".parts",
        (false, Some(_)) => "",
        (false, None) => ".rows",
    };
    let fast = product.element.suffix(request);
    program.name = format!(
        "{}.{}.{a}.{b}{stores}{fast}{}{}",
        program.name,
        tile.name(),
        finish.suffix(),
        product.scaling.suffix()
    );
    program.config += &instruction::multiply_add(&product.element, tile.n, by_terms);
    program
}
