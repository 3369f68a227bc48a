//! Products of f64 by the tensor cores of Hopper.

mod cost;
mod menu;
mod operand;
#[cfg(test)]
mod tests;

use crate::{
    argument::{Argument, Buffer, NamedArgument},
    encoding::Encoding,
    families::simt::Parts,
    kernel::{Family, Kernel, Make, Variant},
    ladder::Checks,
    launch::{Launch, Recipe, Rejected, Role},
    program::{Program, Source},
    refusal::Refusal,
    request::{Form, Request},
};
use cost::{Candidate, Work};
use menu::{ELEMENT, TILE_K, TILES, Tile};
use operand::{ALIGNMENT, Copied, Lines, Operand};
use tilewright_arch::{Architecture, ComputeCapability};
use tilewright_core::{DType, Layout, SemiringId};

pub(crate) const DMMA: Kernel = Kernel {
    name: "dmma",
    family: Family::Production,
    summary: "plus-times on f64 by the tensor cores of Hopper; any sizes, strides and transposes, batches",
    teaches: "tensor cores fed from registers: operands that lie in all banks, and warps that no barrier of the block holds",
    file: "dmma.cu",
    source: include_str!("dmma.cu"),
    variants: &[Variant::new(SemiringId::PlusTimes, DType::F64)],
    make: Make::Product(recipe),
};

const COPY: Source = Source { file: "dmma_copy.cu", text: include_str!("dmma_copy.cu") };
/// Threads of a block that copies, and blocks of these that a multiprocessor holds.
const COPY_THREADS: u32 = 256;
const COPY_RESIDENT: u64 = 8;

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

fn recipe(kernel: &'static Kernel, request: &Request) -> Result<Recipe, Refusal> {
    let checks = Checks { kernel, request };
    let size = checks.sizes()?;
    checks.batch()?;
    check(kernel, request)?;
    let product = Product::new(request);
    let Layout { cols, col_stride, .. } = product.c.layout;
    if col_stride != 1 && cols > 1 {
        return Err(refuse(kernel, "a C with neighbours in memory", "its neighbours lie apart", "use simt"));
    }
    let mut recipe = Recipe::product(kernel, request, Vec::new());
    recipe.workspaces = product.copies.iter().flatten().map(Copied::bytes).collect();
    checks.workspaces(&recipe.workspaces)?;
    let moved = |operand: &Operand| {
        let products = if operand.batch == 0 { 1 } else { request.batch.count };
        let Layout { rows, cols, .. } = operand.layout;
        rows as f64 * cols as f64 * products as f64 * f64::from(ELEMENT)
    };
    let work = Work {
        m: product.c.layout.rows as u32,
        n: product.c.layout.cols as u32,
        k: size.k,
        products: request.batch.count,
        gpu: request.gpu,
        bytes: product.operands.iter().chain([&product.c]).map(moved).sum(),
        copied: recipe.workspaces.iter().map(|&bytes| bytes as f64).sum(),
    };
    let room = request.workspace - recipe.workspaces.iter().sum::<u64>();
    let mut ranked = work.ranked(request.splits);
    ranked.retain(|(_, candidate)| work.part_bytes(candidate) <= room);
    let asked =
        |(_, Candidate { tile, .. }): &&(f64, Candidate)| request.tile.is_none_or(|id| id == tile.id());
    let Some((seconds, chosen)) = ranked.iter().find(asked) else {
        let found = "a tile of another kernel is asked for, or parts that take more than the workspace";
        return Err(refuse(kernel, "one of its own tiles", found, "leave out the tile and the parts"));
    };
    if work.blocks(chosen) > i32::MAX as u64 {
        let found = format!("this product has {}", work.blocks(chosen));
        return Err(refuse(kernel, "at most 2^31 tiles", &found, "split the product"));
    }
    let parts = (chosen.parts > 1).then_some(recipe.workspaces.len());
    recipe.workspaces.extend(parts.map(|_| work.part_bytes(chosen)));
    recipe.seconds = *seconds;
    recipe.details = product.details(&work, chosen);
    recipe.rejected = ranked.iter().filter(|(_, other)| other != chosen).map(not_chosen).collect();
    if !request.problem.c().is_empty() && request.batch.count > 0 {
        let is_copied = product.copies.iter().any(Option::is_some);
        recipe.launches.extend(is_copied.then(|| product.copy(request)));
        recipe.launches.push(product.launch(kernel, request, &work, chosen, parts));
        recipe.launches.extend(parts.map(|parts| product.join(request, &work, chosen, parts)));
    }
    Ok(recipe)
}

/// Refuses what only other kernels do.
fn check(kernel: &'static Kernel, request: &Request) -> Result<(), Refusal> {
    let found = |found: &str, needs: &str| Err(refuse(kernel, needs, found, "use simt"));
    let architecture = request.gpu.architecture;
    if architecture != ARCHITECTURE {
        return found(&format!("the GPU has {architecture}"), &format!("a GPU with {ARCHITECTURE}"));
    }
    if request.arg {
        return found("one is asked for", "no arg result");
    }
    if request.form == Form::Plain {
        return found("the plain program is asked for, for machines without a compiler", "NVRTC");
    }
    if request.pack.is_some_and(|pack| pack != [false; 2]) {
        return found("packing is asked for", "operands as they are");
    }
    if request.problem.k() == 0 {
        return found("K is 0", "at least one term");
    }
    Ok(())
}

fn refuse(kernel: &'static Kernel, needs: &str, found: &str, hint: &str) -> Refusal {
    Refusal { kernel: kernel.name, needs: needs.into(), found: found.into(), hint: hint.into() }
}

fn not_chosen((seconds, Candidate { tile, parts, whole, .. }): &(f64, Candidate)) -> Rejected {
    let parts = match (parts, whole) {
        (1, _) => String::new(),
        (parts, 0) => format!(" in {parts} parts"),
        (parts, _) => format!(", the last wave in {parts} parts"),
    };
    Rejected { candidate: tile.name() + &parts, reason: format!("estimated at {:.1} us", seconds * 1e6) }
}

/// A product as the kernel sees it: C has its neighbours along rows.
struct Product {
    /// A and B, a row for each row of A or column of B.
    operands: [Operand; 2],
    c: Operand,
    /// What TMA reads, of copies where there are any.
    lines: [Lines; 2],
    copies: [Option<Copied>; 2],
    /// Whether pairs of C lie at multiples of their size.
    writes_pairs: bool,
    products: usize,
}

impl Product {
    fn new(request: &Request) -> Self {
        let (problem, batch, align) = (&request.problem, request.batch, request.alignment);
        let operand = |layout, alignment, batch, buffer| Operand { layout, alignment, batch, buffer };
        let a = operand(problem.a(), align.a, batch.a, Buffer::A);
        let b = operand(problem.b().t(), align.b, batch.b, Buffer::B);
        let c = operand(problem.c(), align.c, batch.c, Buffer::C);
        // C^T = B^T A^T. The elements of a single row may lie apart: they are rows of C^T.
        let is_row = c.layout.rows == 1 && c.layout.col_stride != 1;
        let (operands, c) = match request.is_computed_by_columns() || is_row {
            true => ([b, a], Operand { layout: c.layout.t(), ..c }),
            false => ([a, b], c),
        };
        let mut workspaces = 0;
        let [a, b] = operands.map(|operand| match operand.lines(batch.count) {
            Some(lines) => (lines, None),
            None => {
                workspaces += 1;
                let (lines, copied) = operand.copied(batch.count, workspaces - 1);
                (lines, Some(copied))
            }
        });
        let even = [c.layout.row_stride, c.batch, c.layout.cols as isize].iter().all(|x| x % 2 == 0);
        Self {
            operands,
            c,
            lines: [a.0, b.0],
            copies: [a.1, b.1],
            writes_pairs: even && c.alignment.is_multiple_of(ALIGNMENT),
            products: batch.count,
        }
    }

    /// Copies the operands that TMA cannot read where they are.
    fn copy(&self, request: &Request) -> Launch {
        let (i32, i64) = (|x: u64| Argument::i32(x as i32), |x: isize| Argument::i64(x as i64));
        let arguments = |which: usize, names: [&'static str; 9]| {
            let from = Argument::Pointer(self.operands[which].buffer);
            let Some(copy) = self.copies[which] else {
                let none = [from.clone(), from, i32(0), i32(0), i64(0), i64(0), i64(0), i32(0), i32(0)];
                return named(names.into_iter().zip(none));
            };
            let to = Argument::Pointer(self.lines[which].buffer);
            let (rows, cols) = (i32(copy.from.rows as u64), i32(copy.from.cols as u64));
            let strides = [copy.from.row_stride, copy.from.col_stride, copy.batch].map(i64);
            let [row, col, batch] = strides;
            let (pairs, products) = (i32(copy.pairs), i32(copy.products));
            named(names.into_iter().zip([from, to, rows, cols, row, col, batch, pairs, products]))
        };
        let a = ["A", "copied_a", "a_rows", "a_cols", "a_row", "a_col", "a_batch", "a_pairs", "a_products"];
        let b = ["B", "copied_b", "b_rows", "b_cols", "b_row", "b_col", "b_batch", "b_pairs", "b_products"];
        let all = [arguments(0, a), arguments(1, b)].concat();
        let pairs = self.copies.iter().flatten().map(|copy| copy.bytes() / ALIGNMENT).max().unwrap_or(0);
        let most = COPY_RESIDENT * u64::from(request.gpu.multiprocessors);
        let blocks = pairs.div_ceil(COPY_THREADS.into()).min(most) as u32;
        let program = Program::of(COPY, request.variant(), Encoding::Numbers, &[]);
        Launch {
            role: Role::Pack,
            starts_early: request.starts_early(),
            ..Launch::new(program, "dmma_copy", [blocks, 1, 1], [COPY_THREADS, 1, 1], all)
        }
    }

    /// The launch that multiplies: into C, and parts of the sums into a workspace.
    fn launch(
        &self,
        kernel: &'static Kernel,
        request: &Request,
        work: &Work,
        chosen: &Candidate,
        parts: Option<usize>,
    ) -> Launch {
        let Candidate { tile, whole, k_split, .. } = chosen;
        let [a, b] = self.lines;
        let i32 = |x: u32| Argument::i32(x as i32);
        let batched = |lines: Lines| i32(u32::from(lines.batch > 0));
        let arguments = [
            ("a", a.tensor(self.products, tile.block[0])),
            ("b", b.tensor(self.products, tile.block[1])),
            ("C", Argument::Pointer(Buffer::C)),
            ("parts", Argument::Pointer(parts.map_or(Buffer::C, Buffer::Workspace))), // not written to without parts
            ("row_stride", Argument::i64(self.c.layout.row_stride as i64)),
            ("batch_stride", Argument::i64(self.c.batch as i64)),
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
        Launch {
            parts: if *whole == 0 { chosen.parts } else { 1 },
            starts_early: request.starts_early(),
            ..Launch::new(
                self.program(kernel, request, tile),
                kernel.entry(),
                [work.blocks(chosen) as u32, 1, 1],
                [tile.threads(), 1, 1],
                named(arguments),
            )
            .with_dynamic_shared_memory(tile.shared_memory())
        }
    }

    /// Adds up the parts of the sums.
    fn join(&self, request: &Request, work: &Work, chosen: &Candidate, parts: usize) -> Launch {
        let parts = Parts {
            memory: Argument::Pointer(Buffer::Workspace(parts)),
            tile: chosen.tile.block,
            whole: chosen.whole,
            tiles: work.split_tiles(chosen),
            count: chosen.parts,
            c: self.c.layout,
            encoding: Encoding::Numbers,
            decision: None,
            first: 0,
            batches: work.products as u32,
        };
        parts.join(request)
    }

    fn program(&self, kernel: &'static Kernel, request: &Request, tile: &Tile) -> Program {
        let by_terms = self.lines.map(|lines| lines.by_terms);
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
            ("STORE_PAIRS", self.writes_pairs.into()),
        ];
        let source = Source { file: kernel.file, text: kernel.source };
        let mut program = Program::of(source, request.variant(), Encoding::Numbers, &constants);
        let [a, b] = by_terms.map(|by_terms| if by_terms { "k" } else { "mn" });
        let stores = if self.writes_pairs { "" } else { ".single" };
        program.name = format!("{}.{}.{a}.{b}{stores}", program.name, tile.name());
        program
    }

    fn details(&self, work: &Work, chosen: &Candidate) -> Vec<(&'static str, String)> {
        let Candidate { tile, whole, parts, k_split } = chosen;
        let copied = match self.copies.map(|copy| copy.is_some()) {
            [false, false] => "nothing",
            [true, false] => "A",
            [false, true] => "B",
            [true, true] => "A and B",
        };
        let (tiles, split) = (work.tiles(tile), work.split_tiles(chosen));
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
            ("copied first", copied.into()),
            ("writes C", if self.writes_pairs { "in pairs" } else { "one by one" }.into()),
        ]
    }
}

fn named(arguments: impl IntoIterator<Item = (&'static str, Argument)>) -> Vec<NamedArgument> {
    arguments.into_iter().map(|(name, value)| NamedArgument { name, value }).collect()
}
