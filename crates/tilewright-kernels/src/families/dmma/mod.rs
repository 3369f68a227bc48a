//! Products of f64 by the tensor cores of Hopper.

mod cost;
mod menu;
#[cfg(test)]
mod tests;

use super::tensor_cores::{
    ALIGNMENT, Element, Lines, Operand, Product, TensorCores, Work, choosing, named, recipe,
};
use crate::{
    argument::{Argument, Buffer},
    demand::Demands,
    encoding::Encoding,
    families::Choosing,
    families::simt::Parts,
    kernel::{Family, Kernel, Make, launch::Launch},
    program::{Program, Source},
    request::Request,
    variant::Variant,
};
use cost::Candidate;
use menu::{TILE_K, TILES, Tile};
use tilewright_arch::{Architecture, ComputeCapability};
use tilewright_core::{DType, SemiringId};

pub(crate) const DMMA: Kernel = Kernel {
    name: "dmma",
    family: Family::Production,
    summary: "plus-times on f64 by the tensor cores of Hopper; any sizes, strides and transposes, batches",
    teaches: "tensor cores fed from registers: operands that lie in all banks, and warps that no barrier of the block holds",
    file: "dmma.cu",
    source: include_str!("dmma.cu"),
    variants: &[Variant::new(SemiringId::PlusTimes, DType::F64)],
    make: Make::Product(recipe::<Dmma>),
};

/// The GPUs whose instructions the family has.
const ARCHITECTURE: Architecture = Architecture::of(ComputeCapability::new(9, 0));

/// The tiles that `dmma` chooses from: rows and columns of C, terms of a step, rows and columns of a warp, stages.
///
/// ```
/// assert!(tilewright_kernels::dmma_tiles().contains(&[128, 64, 16, 64, 32, 4]));
/// ```
pub fn dmma_tiles() -> Vec<[u32; 6]> {
    TILES.iter().map(Tile::id).collect()
}

struct Dmma;

/// What it has to choose from.
pub(crate) const CHOOSING: Choosing = choosing::<Dmma>(&DMMA);

impl TensorCores for Dmma {
    type Candidate = Candidate;

    fn refuses(request: &Request, _: &Element) -> Option<[String; 2]> {
        let found = request.gpu.architecture;
        (found != ARCHITECTURE)
            .then(|| [format!("a GPU with {ARCHITECTURE}"), format!("the GPU has {found}")])
    }

    fn candidates(work: &Work, parts: Option<u32>) -> Vec<Candidate> {
        cost::candidates(work, parts)
    }

    fn seconds(work: &Work, candidate: &Candidate) -> f64 {
        cost::seconds(work, candidate)
    }

    fn demand(work: &Work, candidate: &Candidate, demands: &mut Demands) {
        cost::demand(work, candidate, demands);
    }

    fn id(candidate: &Candidate) -> [u32; 6] {
        candidate.tile.id()
    }

    fn name(Candidate { tile, parts, whole, .. }: &Candidate) -> String {
        let parts = match (parts, whole) {
            (1, _) => String::new(),
            (parts, 0) => format!(" in {parts} parts"),
            (parts, _) => format!(", the last wave in {parts} parts"),
        };
        tile.name() + &parts
    }

    fn tile_name(id: [u32; 6]) -> Option<String> {
        TILES.iter().find(|tile| tile.id() == id).map(Tile::name)
    }

    fn parts(candidate: &Candidate) -> Option<u32> {
        let Candidate { parts, whole, .. } = *candidate;
        (parts == 1 || whole == 0).then_some(parts)
    }

    fn blocks(work: &Work, candidate: &Candidate) -> u64 {
        cost::blocks(work, candidate)
    }

    fn part_bytes(work: &Work, candidate: &Candidate) -> u64 {
        cost::part_bytes(work, candidate)
    }

    fn launch(
        kernel: &'static Kernel,
        request: &Request,
        product: &Product,
        work: &Work,
        chosen: &Candidate,
        sums: Option<usize>,
    ) -> Launch {
        let Candidate { tile, whole, k_split, .. } = chosen;
        let [a, b] = product.lines;
        let i32 = |x: u32| Argument::i32(x as i32);
        let batched = |lines: Lines| i32(u32::from(lines.batch > 0));
        let arguments = [
            ("a", a.tensor(&product.element, product.products, tile.block[0], TILE_K)),
            ("b", b.tensor(&product.element, product.products, tile.block[1], TILE_K)),
            ("C", Argument::Pointer(Buffer::C)),
            ("parts", Argument::Pointer(sums.map_or(Buffer::C, Buffer::Workspace))), // not written to without parts
            ("row_stride", Argument::i64(product.c.layout.row_stride as i64)),
            ("batch_stride", Argument::i64(product.c.batch as i64)),
            ("m", i32(work.m)),
            ("n", i32(work.n)),
            ("k", i32(work.k)),
            ("whole", i32(*whole)),
            ("splits", i32(chosen.parts)),
            ("k_split", i32(*k_split)),
            ("batched_a", batched(a)),
            ("batched_b", batched(b)),
            ("alpha", request.alpha().into()),
            ("beta", request.beta().into()),
        ];
        // Parts are written as they are by the program that finishes whole tiles.
        let finish = product.finish;
        Launch {
            parts: if *whole == 0 { chosen.parts } else { 1 },
            starts_early: request.starts_early(),
            ..Launch::new(
                program(kernel, request, product, tile),
                kernel.entry(),
                [cost::blocks(work, chosen) as u32, 1, 1],
                [tile.threads(), 1, 1],
                named(arguments.into_iter().chain(finish.arguments())),
            )
            .with_dynamic_shared_memory(tile.shared_memory())
        }
    }

    fn join(request: &Request, product: &Product, work: &Work, chosen: &Candidate, sums: usize) -> Launch {
        let parts = Parts {
            memory: Argument::Pointer(Buffer::Workspace(sums)),
            tile: chosen.tile.block,
            whole: chosen.whole,
            tiles: cost::split_tiles(work, chosen),
            count: chosen.parts,
            c: product.c.layout,
            finish: product.finish,
            encoding: Encoding::Numbers,
            decision: None,
            first: 0,
            batches: work.products as u32,
        };
        parts.join(request)
    }

    fn details(product: &Product, work: &Work, chosen: &Candidate) -> Vec<(&'static str, String)> {
        let Candidate { tile, whole, parts, k_split } = chosen;
        let (tiles, split) = (cost::tiles(work, tile), cost::split_tiles(work, chosen));
        let parts = match (parts, whole) {
            (1, _) | (_, 0) => parts.to_string(),
            _ => format!("1; {parts} of up to {k_split} terms in the last {split} of {tiles} tiles"),
        };
        vec![
            ("tile", format!("{}x{}, {TILE_K} terms a step", tile.block[0], tile.block[1])),
            ("tile of a warp", format!("{}x{}", tile.warp[0], tile.warp[1])),
            ("stages", tile.stages.to_string()),
            ("blocks of a multiprocessor", tile.resident.to_string()),
            ("parts of k", parts),
            ("writes C", if writes_pairs(&product.c) { "in pairs" } else { "one by one" }.into()),
        ]
    }
}

/// Whether pairs of C lie at multiples of their size.
fn writes_pairs(c: &Operand) -> bool {
    let even = [c.layout.row_stride, c.batch, c.layout.cols as isize].iter().all(|x| x % 2 == 0);
    even && c.alignment.is_multiple_of(ALIGNMENT)
}

fn program(kernel: &'static Kernel, request: &Request, product: &Product, tile: &Tile) -> Program {
    let pairs = writes_pairs(&product.c);
    let by_terms = product.lines.map(|lines| lines.by_terms);
    let constants = [
        ("TILE_M", tile.block[0]),
        ("TILE_N", tile.block[1]),
        ("TILE_K", TILE_K),
        ("WARP_M", tile.warp[0]),
        ("WARP_N", tile.warp[1]),
        ("STAGES", tile.stages),
        ("BLOCKS", tile.resident),
        ("A_BY_TERMS", by_terms[0].into()),
        ("B_BY_TERMS", by_terms[1].into()),
        ("STORE_PAIRS", pairs.into()),
    ];
    let constants = [&constants[..], &product.finish.constants()].concat();
    let source = Source { file: kernel.file, text: kernel.source };
    let mut program = Program::of(source, request.variant(), Encoding::Numbers, &constants);
    let [a, b] = by_terms.map(|by_terms| if by_terms { "k" } else { "mn" });
    let stores = if pairs { "" } else { ".single" };
    program.name = format!("{}.{}.{a}.{b}{stores}{}", program.name, tile.name(), product.finish.suffix());
    program
}
