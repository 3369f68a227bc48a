//! Products by the tensor cores of any GPU since Turing.

mod cost;
mod menu;
#[cfg(test)]
mod tests;

use super::tensor_cores::{
    Candidate, Element, Lines, Product, Tiles, VARIANTS, Work, choosing, named, recipe,
};
use crate::{
    argument::{Argument, Buffer},
    demand::Demands,
    encoding::Encoding,
    families::Choosing,
    kernel::{Family, Kernel, Make, launch::Launch},
    program::{Program, Source},
    request::Request,
};
use menu::{TILES, Tile};
use tilewright_arch::ComputeCapability;
use tilewright_core::DType;

pub(crate) const MMA: Kernel = Kernel {
    name: "mma",
    family: Family::Production,
    summary: "plus-times on f16, bf16, e4m3, e5m2, i8, u8, and f32 as tf32, by the tensor cores of any GPU since Turing; any sizes, strides and transposes, batches",
    teaches: "tensor cores fed by warps: asynchronous copies into a ring of stages, ldmatrix, mma.sync",
    file: "mma.cu",
    source: include_str!("mma.cu"),
    variants: &VARIANTS,
    make: Make::Product(recipe::<Mma>),
};

/// Where tensor cores came with instructions for f16 and bytes, and for the other types.
const FIRST: ComputeCapability = ComputeCapability::new(7, 5);
const BF16_AND_TF32: ComputeCapability = ComputeCapability::new(8, 0);
const FLOAT8: ComputeCapability = ComputeCapability::new(8, 9);

/// The tiles that `mma` chooses from: rows and columns of C, bytes of a row of operands, warps along rows and columns, stages.
///
/// ```
/// assert!(tilewright_kernels::mma_tiles().contains(&[128, 128, 64, 2, 4, 4]));
/// ```
pub fn mma_tiles() -> Vec<[u32; 6]> {
    TILES.iter().map(Tile::id).collect()
}

/// Sums of a thread that leave it registers for operands of a whole stage.
const MOST_PROMOTED: u32 = 64;

struct Mma;

/// What it has to choose from.
pub(crate) const CHOOSING: Choosing = choosing::<Mma>(&MMA);

impl Tiles for Mma {
    type Tile = Tile;
    const TILES: &'static [Tile] = &TILES;

    fn id(tile: &Tile) -> [u32; 6] {
        tile.id()
    }

    fn name(tile: &Tile) -> String {
        tile.name()
    }

    fn refuses(request: &Request, _: &Element) -> Option<[String; 2]> {
        let needed = match request.dtype {
            DType::Bf16 | DType::F32 => BF16_AND_TF32,
            DType::E4m3 | DType::E5m2 => FLOAT8,
            _ => FIRST,
        };
        let found = request.gpu.capability();
        (found < needed).then(|| {
            [
                format!("compute capability {needed} or later for {}", request.dtype),
                format!("the GPU has {found}"),
            ]
        })
    }

    fn fits(work: &Work, tile: &Tile) -> bool {
        // Threads have no registers for large sums and for what is added to them.
        tile.resident(&work.gpu) > 0 && (!work.element.promotes || tile.sums() <= MOST_PROMOTED)
    }

    fn tiles(work: &Work, tile: &Tile) -> u64 {
        cost::tiles(work, tile)
    }

    fn at_a_time(work: &Work, tile: &Tile) -> u64 {
        u64::from(work.gpu.multiprocessors * tile.resident(&work.gpu))
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
        let [a, b] = product.lines;
        let (i32, i64) = (|x: u32| Argument::i32(x as i32), |x: i64| Argument::i64(x));
        let pointer = |lines: Lines| Argument::Pointer(lines.buffer);
        let arguments = [
            ("A", pointer(a)),
            ("B", pointer(b)),
            ("C", Argument::Pointer(Buffer::C)),
            ("sums", Argument::Pointer(sums.map_or(Buffer::C, Buffer::Workspace))),
            ("a_pitch", i64(a.pitch as i64)),
            ("b_pitch", i64(b.pitch as i64)),
            ("a_batch", i64(a.batch as i64)),
            ("b_batch", i64(b.batch as i64)),
            ("row_stride", i64(product.c.layout.row_stride as i64)),
            ("batch_stride", i64(product.c.batch as i64)),
            ("m", i32(work.m)),
            ("n", i32(work.n)),
            ("k", i32(work.k)),
            ("parts", i32(*parts)),
            ("alpha", request.alpha().into()),
            ("beta", request.beta().into()),
        ];
        let finish = product.finish_of(sums.is_some());
        let blocks = cost::tiles(work, tile) as u32 * parts;
        Launch {
            parts: *parts,
            starts_early: request.starts_early(),
            ..Launch::new(
                program(kernel, request, product, tile, sums.is_some()),
                kernel.entry(),
                [blocks, 1, 1],
                [tile.threads(), 1, 1],
                named(arguments.into_iter().chain(finish.arguments()).chain(product.scaling.arguments())),
            )
            .with_dynamic_shared_memory(tile.shared_memory())
        }
    }

    fn details(product: &Product, _: &Work, tile: &Tile) -> Vec<(&'static str, String)> {
        let terms = menu::ROW_BYTES / product.element.bytes;
        vec![
            ("tile", format!("{}x{}, {terms} terms a step", tile.m, tile.n)),
            ("warps", format!("{} x {}", tile.warps[0], tile.warps[1])),
            ("stages", tile.stages.to_string()),
        ]
    }
}

fn program(
    kernel: &'static Kernel,
    request: &Request,
    product: &Product,
    tile: &Tile,
    splits: bool,
) -> Program {
    let by_terms = product.lines.map(|lines| lines.by_terms);
    let constants = [
        ("TILE_M", tile.m),
        ("TILE_N", tile.n),
        ("WARPS_M", tile.warps[0]),
        ("WARPS_N", tile.warps[1]),
        ("STAGES", tile.stages),
        ("A_BY_TERMS", by_terms[0].into()),
        ("B_BY_TERMS", by_terms[1].into()),
        ("SPLITS", splits.into()),
        ("PROMOTES", product.element.promotes.into()),
        product.scaling.constant(),
    ];
    let finish = product.finish_of(splits);
    let constants = [&constants[..], &finish.constants()].concat();
    let source = Source { file: kernel.file, text: kernel.source };
    let mut program = Program::of(source, request.variant(), Encoding::Numbers, &constants);
    let [a, b] = by_terms.map(|by_terms| if by_terms { "k" } else { "mn" });
    let parts = if splits { ".parts" } else { "" };
    let fast = product.element.suffix(request);
    program.name = format!(
        "{}.{}.{a}.{b}{parts}{fast}{}{}",
        program.name,
        tile.name(),
        finish.suffix(),
        product.scaling.suffix()
    );
    program
}
