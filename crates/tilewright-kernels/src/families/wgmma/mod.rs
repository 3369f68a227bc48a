//! Products by the tensor cores of Hopper.

mod cost;
mod element;
mod instruction;
mod menu;
mod operand;
#[cfg(test)]
mod tests;

use crate::{
    argument::{Argument, Buffer, NamedArgument, TensorMap},
    encoding::Encoding,
    kernel::{Family, Kernel, Make, Variant},
    ladder::Checks,
    launch::{Launch, Recipe, Rejected, Role},
    program::{Program, Source},
    refusal::Refusal,
    request::{Form, Request},
};
use cost::{Candidate, Work};
use element::Element;
use menu::{CONSUMERS, TILES, Tile};
use operand::{Copied, Lines, Operand};
use tilewright_arch::{Architecture, ComputeCapability};
use tilewright_core::{DType, Layout, SemiringId};

pub(crate) const WGMMA: Kernel = Kernel {
    name: "wgmma",
    family: Family::Production,
    summary: "plus-times on f16, bf16, i8, u8, and f32 as tf32, by the tensor cores of Hopper; any sizes, strides and transposes, batches",
    teaches: "tensor cores fed by TMA: a ring of stages, warp groups that copy and multiply, clusters, ping-pong",
    file: "wgmma.cu",
    source: include_str!("wgmma.cu"),
    variants: &[
        Variant::new(SemiringId::PlusTimes, DType::F16),
        Variant::new(SemiringId::PlusTimes, DType::Bf16),
        Variant::new(SemiringId::PlusTimes, DType::I8),
        Variant::new(SemiringId::PlusTimes, DType::U8),
        Variant::new(SemiringId::PlusTimes, DType::F32),
    ],
    make: Make::Product(recipe),
};

const COPY: Source = Source { file: "wgmma_copy.cu", text: include_str!("wgmma_copy.cu") };
const JOIN: Source = Source { file: "wgmma_join.cu", text: include_str!("wgmma_join.cu") };
/// Threads of a block that copies or joins, and blocks of these that a multiprocessor holds.
const HELPER_THREADS: u32 = 256;
const HELPER_RESIDENT: u64 = 8;
/// From so many parts on, several threads share those of an element: so many.
const MANY_PARTS: u32 = 16;
const JOINING: u32 = 8;

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

fn recipe(kernel: &'static Kernel, request: &Request) -> Result<Recipe, Refusal> {
    let checks = Checks { kernel, request };
    let size = checks.sizes()?;
    checks.batch()?;
    let element = check(kernel, request)?;
    let product = Product::new(request, element);
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
        rows as f64 * cols as f64 * products as f64 * operand.bytes as f64
    };
    let work = Work {
        m: product.c.layout.rows as u32,
        n: product.c.layout.cols as u32,
        k: size.k,
        products: request.batch.count,
        element,
        gpu: request.gpu,
        aligned: product.lines.map(|lines| lines.are_aligned()),
        result: product.c.bytes as u32,
        boxes: product.result.is_some(),
        bytes: product.operands.iter().chain([&product.c]).map(moved).sum(),
        copied: recipe.workspaces.iter().map(|&bytes| bytes as f64).sum(),
    };
    let room = request.workspace - recipe.workspaces.iter().sum::<u64>();
    let mut ranked = work.ranked(request.splits);
    ranked.retain(|(_, candidate)| work.part_bytes(candidate.parts) <= room);
    let asked =
        |(_, Candidate { tile, .. }): &&(f64, Candidate)| request.tile.is_none_or(|id| id == tile.id());
    let Some((seconds, chosen)) = ranked.iter().find(asked) else {
        let found = "a tile of another kernel is asked for, or parts that take more than the workspace";
        return Err(refuse(kernel, "one of its own tiles", found, "leave out the tile and the parts"));
    };
    if work.clusters(chosen) > i32::MAX as u64 {
        let found = format!("this product has {}", work.clusters(chosen));
        return Err(refuse(kernel, "at most 2^31 tiles", &found, "split the product"));
    }
    let sums = (chosen.parts > 1).then_some(recipe.workspaces.len());
    recipe.workspaces.extend(sums.map(|_| work.part_bytes(chosen.parts)));
    recipe.seconds = *seconds;
    recipe.details = product.details(chosen);
    recipe.rejected = ranked.iter().filter(|(_, other)| other != chosen).map(not_chosen).collect();
    if !request.problem.c().is_empty() && request.batch.count > 0 {
        let is_copied = product.copies.iter().any(Option::is_some);
        recipe.launches.extend(is_copied.then(|| product.copy(request)));
        recipe.launches.push(product.launch(kernel, request, &work, chosen, sums));
        recipe.launches.extend(sums.map(|sums| product.join(request, &work, chosen, sums)));
    }
    Ok(recipe)
}

/// How its elements are taken. Refuses what only other kernels do.
fn check(kernel: &'static Kernel, request: &Request) -> Result<Element, Refusal> {
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
    Element::of(request.dtype, request.math)
        .map_or_else(|| found("full precision is asked for", "tf32 as its arithmetic on f32"), Ok)
}

fn refuse(kernel: &'static Kernel, needs: &str, found: &str, hint: &str) -> Refusal {
    Refusal { kernel: kernel.name, needs: needs.into(), found: found.into(), hint: hint.into() }
}

fn not_chosen((seconds, Candidate { tile, parts }): &(f64, Candidate)) -> Rejected {
    let parts = if *parts == 1 { String::new() } else { format!(" in {parts} parts") };
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
    /// C as TMA writes it, if it can.
    result: Option<Argument>,
    element: Element,
    products: usize,
}

impl Product {
    fn new(request: &Request, element: Element) -> Self {
        let (problem, batch, align) = (&request.problem, request.batch, request.alignment);
        let output = element::output(request.variant().output());
        let operand = |layout, alignment, batch, buffer, bytes: u32| Operand {
            layout,
            alignment,
            batch,
            buffer,
            bytes: bytes.into(),
        };
        let a = operand(problem.a(), align.a, batch.a, Buffer::A, element.bytes);
        let b = operand(problem.b().t(), align.b, batch.b, Buffer::B, element.bytes);
        let c = operand(problem.c(), align.c, batch.c, Buffer::C, output.bytes());
        // C^T = B^T A^T. The elements of a single row may lie apart: they are rows of C^T.
        let is_row = c.layout.rows == 1 && c.layout.col_stride != 1;
        let (operands, c) = match request.is_computed_by_columns() || is_row {
            true => ([b, a], Operand { layout: c.layout.t(), ..c }),
            false => ([a, b], c),
        };
        let mut workspaces = 0;
        let [a, b] = operands.map(|operand| match operand.lines(batch.count, element.across) {
            Some(lines) => (lines, None),
            None => {
                workspaces += 1;
                let (lines, copied) = operand.copied(batch.count, element.across, workspaces - 1);
                (lines, Some(copied))
            }
        });
        Self {
            operands,
            c,
            lines: [a.0, b.0],
            copies: [a.1, b.1],
            result: operand::result(&c, output, batch.count),
            element,
            products: batch.count,
        }
    }

    /// Copies the operands that TMA cannot read where they are.
    fn copy(&self, request: &Request) -> Launch {
        let (i32, i64) = (|x: u64| Argument::i32(x as i32), |x: isize| Argument::i64(x as i64));
        let arguments = |which: usize, names: [&'static str; 10]| {
            let from = Argument::Pointer(self.operands[which].buffer);
            let Some(copy) = self.copies[which] else {
                let none =
                    [from.clone(), from, i32(0), i32(0), i64(0), i64(0), i64(0), i32(0), i32(0), i32(0)];
                return named(names.into_iter().zip(none));
            };
            let to = Argument::Pointer(self.lines[which].buffer);
            let (rows, cols) = (i32(copy.from.rows as u64), i32(copy.from.cols as u64));
            let strides = [copy.from.row_stride, copy.from.col_stride, copy.batch].map(i64);
            let [row, col, batch] = strides;
            let [pieces, products, turns] = [copy.pieces, copy.products, copy.turns.into()].map(i32);
            named(names.into_iter().zip([from, to, rows, cols, row, col, batch, pieces, products, turns]))
        };
        let mut all = arguments(
            0,
            [
                "A",
                "copied_a",
                "a_rows",
                "a_cols",
                "a_row",
                "a_col",
                "a_batch",
                "a_pieces",
                "a_products",
                "turns_a",
            ],
        );
        all.extend(arguments(
            1,
            [
                "B",
                "copied_b",
                "b_rows",
                "b_cols",
                "b_row",
                "b_col",
                "b_batch",
                "b_pieces",
                "b_products",
                "turns_b",
            ],
        ));
        let pieces = self.copies.iter().flatten().map(|copy| copy.bytes() / 16).max().unwrap_or(0);
        self.helper(
            request,
            Role::Pack,
            Program::of(COPY, request.variant(), Encoding::Numbers, &[]),
            pieces,
            all,
        )
    }

    /// A launch before or after the product, whose threads take one piece after another.
    fn helper(
        &self,
        request: &Request,
        role: Role,
        program: Program,
        pieces: u64,
        arguments: Vec<NamedArgument>,
    ) -> Launch {
        let most = HELPER_RESIDENT * u64::from(request.gpu.multiprocessors);
        let blocks = pieces.div_ceil(HELPER_THREADS.into()).min(most) as u32;
        let entry = program.file().trim_end_matches(".cu");
        Launch {
            role,
            starts_early: request.starts_early(),
            ..Launch::new(program, entry, [blocks, 1, 1], [HELPER_THREADS, 1, 1], arguments)
        }
    }

    /// The launch that multiplies: into C, or parts of the sums into a workspace.
    fn launch(
        &self,
        kernel: &'static Kernel,
        request: &Request,
        work: &Work,
        chosen: &Candidate,
        sums: Option<usize>,
    ) -> Launch {
        let Candidate { tile, parts } = chosen;
        let [a, b] = self.lines;
        let i32 = |x: u32| Argument::i32(x as i32);
        let batched = |lines: Lines| i32(u32::from(lines.batch > 0));
        // A box of B is a block's part for its cluster: of columns, or of terms.
        let terms = self.element.terms();
        let box_rows = work.box_rows(tile);
        let map_a = a.tensor(&self.element, self.products, box_rows, terms);
        let map_b = b.tensor(&self.element, self.products, tile.n / tile.cluster, terms / tile.cluster);
        let no_map = || Argument::TensorMap(Box::new(TensorMap([0; 128])));
        let arguments = [
            ("a", map_a),
            ("b", map_b),
            ("c", self.result.clone().unwrap_or_else(no_map)),
            ("C", Argument::Pointer(Buffer::C)),
            ("sums", Argument::Pointer(sums.map_or(Buffer::C, Buffer::Workspace))),
            ("row_stride", Argument::i64(self.c.layout.row_stride as i64)),
            ("batch_stride", Argument::i64(self.c.batch as i64)),
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
        let blocks = work.resident(chosen) as u32 * tile.cluster;
        Launch {
            parts: *parts,
            starts_early: request.starts_early(),
            ..Launch::new(
                self.program(kernel, request, tile, sums.is_some()),
                kernel.entry(),
                [blocks, 1, 1],
                [tile.threads(), 1, 1],
                named(arguments),
            )
            .with_cluster([tile.cluster, 1, 1])
            .with_dynamic_shared_memory(tile.shared_memory())
        }
    }

    /// Adds up the parts of the sums.
    fn join(&self, request: &Request, work: &Work, chosen: &Candidate, sums: usize) -> Launch {
        let i32 = |x: u32| Argument::i32(x as i32);
        let arguments = [
            ("sums", Argument::Pointer(Buffer::Workspace(sums))),
            ("C", Argument::Pointer(Buffer::C)),
            ("row_stride", Argument::i64(self.c.layout.row_stride as i64)),
            ("batch_stride", Argument::i64(self.c.batch as i64)),
            ("m", i32(work.m)),
            ("n", i32(work.n)),
            ("batches", i32(work.products as u32)),
            ("parts", i32(chosen.parts)),
            ("alpha", request.alpha().into()),
            ("beta", request.beta().into()),
        ];
        let groups = if chosen.parts < MANY_PARTS { 1 } else { JOINING };
        let pieces = u64::from(work.m) * u64::from(work.n.div_ceil(4)) * work.products as u64;
        let mut program = Program::of(JOIN, request.variant(), Encoding::Numbers, &[("GROUPS", groups)]);
        program.name = format!("{}.{groups}", program.name);
        self.helper(request, Role::Join, program, pieces * u64::from(groups), named(arguments))
    }

    fn program(&self, kernel: &'static Kernel, request: &Request, tile: &Tile, splits: bool) -> Program {
        let by_terms = self.lines.map(|lines| lines.by_terms);
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
            ("STORES_BOXES", self.result.is_some().into()),
            ("SPLITS", splits.into()),
        ];
        let source = Source { file: kernel.file, text: kernel.source };
        let mut program = Program::of(source, request.variant(), Encoding::Numbers, &constants);
        let [a, b] = by_terms.map(|by_terms| if by_terms { "k" } else { "mn" });
        let stores = match (splits, &self.result) {
            (true, _) => ".parts",
            (false, Some(_)) => "",
            (false, None) => ".rows",
        };
        program.name = format!("{}.{}.{a}.{b}{stores}", program.name, tile.name());
        program.config += &instruction::multiply_add(&self.element, tile.n, by_terms);
        program
    }

    fn details(&self, Candidate { tile, parts }: &Candidate) -> Vec<(&'static str, String)> {
        let schedule = if tile.ping_pong { "ping-pong: two tiles in turns" } else { "cooperative: one tile" };
        let copied = match self.copies.map(|copy| copy.is_some()) {
            [false, false] => "nothing",
            [true, false] => "A",
            [false, true] => "B",
            [true, true] => "A and B",
        };
        let writes = if self.result.is_some() { "by TMA" } else { "by threads, row by row" };
        vec![
            ("tile", format!("{}x{}, {} terms a step", tile.m, tile.n, self.element.terms())),
            ("warp groups", schedule.into()),
            ("stages", tile.stages.to_string()),
            ("blocks of a cluster", tile.cluster.to_string()),
            ("parts of k", parts.to_string()),
            ("copied first", copied.into()),
            ("writes C", writes.into()),
        ]
    }
}

fn named(arguments: impl IntoIterator<Item = (&'static str, Argument)>) -> Vec<NamedArgument> {
    arguments.into_iter().map(|(name, value)| NamedArgument { name, value }).collect()
}
