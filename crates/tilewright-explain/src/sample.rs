//! What bounds a large product, from what one of its blocks executes.
//!
//! The blocks of these kernels do the same, and a block does more in proportion to the terms. So one block is executed with few terms and with
//! more, and its counts are continued in a straight line and multiplied by the blocks. What bounds follows from the counts as it does for launches that are executed
//! whole. Nothing is said of kernels whose blocks differ: those that share tiles out among themselves, that split sums, or that depend on data; and nothing of sizes with
//! edges.

use crate::{
    bound::{Executed, Known, Touched, bound},
    case::{Case, Launch},
    execute::{Counted, source_of},
    model::Bound,
};
use std::collections::HashMap;
use tilewright_arch::memory::global::SECTOR_BYTES;
use tilewright_core::{Error, Layout, Problem};
use tilewright_emulator::{AccessCounters, AccessKind, Counters, InstructionCounters, OptimisedAccesses};
use tilewright_kernels::{self as kernels, Family, Kernel, Recipe, Request, Role};
use tilewright_toolchain::ProgramPtx;

/// Sides whose blocks are all whole: a multiple of the sides of all tiles.
const WHOLE: usize = 256;
/// Terms that are executed: from here on a block is in full swing, and these more.
const TERMS: [usize; 2] = [128, 64];
/// Elements of C that are worth their memory where a smaller product has another program.
const MOST_ELEMENTS: usize = 1 << 24;

/// What bounds the launch of a product that computes its terms.
#[derive(Clone, Debug)]
pub struct ProductBound {
    /// The program that is launched, as plans name it.
    pub program: String,
    /// The bound.
    pub bound: Bound,
}

/// The bound of a product by `kernel`; `None` where it does not follow from one block.
///
/// # Errors
/// The refusal of the kernel; without a compiler, if its program does not come with the catalogue.
pub fn product_bound(kernel: &'static Kernel, request: &Request) -> Result<Option<ProductBound>, Error> {
    let whole = kernels::select(request, Some(kernel), &ProgramPtx::exists)?.recipe;
    let Some(launch) = alike_blocks(&whole) else { return Ok(None) };
    let (problem, gpu) = (request.problem, &request.gpu);
    let [m, n, k] = [problem.m(), problem.n(), problem.k()];
    if m % WHOLE != 0 || n % WHOLE != 0 {
        return Ok(None);
    }
    let few = TERMS[0] + k % TERMS[1];
    let depths = if few + TERMS[1] < k { [few, few + TERMS[1]] } else { [k, k] };
    let mut samples = Vec::new();
    for depth in depths {
        let Some(recipe) = stand_in(request, &whole, launch, depth)? else { return Ok(None) };
        let Some(sample) = one_block(&recipe, request, launch)? else { return Ok(None) };
        samples.push(sample);
    }
    let [first, second] = &samples[..] else { return Ok(None) };
    let part = (k - depths[0]) as f64 / (depths[1] - depths[0]).max(1) as f64;
    let blocks = launch.grid().iter().map(|&extent| u64::from(extent)).product();
    let line = Line { part, blocks };
    let counters = line.counters(&first.counters, &second.counters);
    let sectors = |rows: usize, columns: usize| {
        let bytes = (rows as u64).saturating_mul(columns as u64).saturating_mul(request.dtype.size() as u64);
        bytes / u64::from(SECTOR_BYTES)
    };
    let (loaded, stored) = (sectors(m, k) + sectors(k, n), sectors(m, n));
    let by_first_block =
        Line { part, blocks: 1 }.of(first.known.touched.by_first_block, second.known.touched.by_first_block);
    let touched = Touched { once: loaded + stored, loaded, stored, by_first_block, updated_lines: 0 };
    let known = Known { touched, news: second.known.news.clone() };
    let whole = Launch { shape: *launch.shape(), ..second.launch.clone() };
    let bound = bound(&Executed {
        launch: &whole,
        counters: &counters,
        gpu,
        resident_blocks: second.resident_blocks,
        place: &|instruction| source_of(&whole, instruction),
        deed: &|_, _| None,
        lanes_per_word: &|_, _| 1.0,
        known: &known,
    });
    Ok(bound.map(|bound| ProductBound { program: launch.program().name().to_owned(), bound }))
}

/// The launch that computes, if all of its blocks do the same.
fn alike_blocks(recipe: &Recipe) -> Option<&kernels::Launch> {
    let is_product = |launch: &&kernels::Launch| launch.role() == Role::Product;
    let mut products = recipe.launches().iter().filter(is_product);
    let launch = products.next().filter(|_| products.next().is_none())?;
    let is_known = recipe.kernel().family == Family::Ladder || recipe.kernel().name == "simt";
    let is_plain = launch.shape().cluster.is_none() && launch.grid()[2] == 1 && !launch.is_for_some();
    (is_known && is_plain).then_some(launch)
}

/// The recipe of a product of so many terms with the same program: of a small one, or else of one as large.
fn stand_in(
    request: &Request,
    whole: &Recipe,
    launch: &kernels::Launch,
    depth: usize,
) -> Result<Option<Recipe>, Error> {
    let (m, n) = (request.problem.m(), request.problem.n());
    for [m, n] in [[WHOLE, WHOLE], [m, n]] {
        let Some(problem) = resized(&request.problem, [m, n, depth])? else { return Ok(None) };
        if m.saturating_mul(n) > MOST_ELEMENTS {
            continue;
        }
        let smaller = Request { problem, ..*request };
        let Ok(found) = kernels::select(&smaller, Some(whole.kernel()), &ProgramPtx::exists) else {
            continue;
        };
        let is_same = alike_blocks(&found.recipe).is_some_and(|other| {
            other.program().key() == launch.program().key() && other.block() == launch.block()
        });
        if is_same {
            return Ok(Some(found.recipe));
        }
    }
    Ok(None)
}

/// The same product with other extents; `None` where its matrices do not lie packed by rows or by columns.
fn resized(problem: &Problem, [m, n, k]: [usize; 3]) -> Result<Option<Problem>, Error> {
    let sides = [(problem.a(), m, k), (problem.b(), k, n), (problem.c(), m, n)];
    let layouts = sides.map(|(layout, rows, cols)| {
        let (by_rows, by_columns) = (Layout::row_major, Layout::col_major);
        let is = |of: fn(usize, usize) -> Layout| layout == of(layout.rows, layout.cols);
        if is(by_rows) { Some(by_rows(rows, cols)) } else { is(by_columns).then(|| by_columns(rows, cols)) }
    });
    let [Some(a), Some(b), Some(c)] = layouts else { return Ok(None) };
    Problem::new(a, b, c).map(Some)
}

/// A block that was executed.
struct Sample {
    launch: Launch,
    counters: Counters,
    known: Known,
    resident_blocks: u32,
}

/// Executes the first block of a recipe; `None` where that finds a fault. `whole` is the launch that it stands for, whose shape decides how many blocks a multiprocessor holds.
fn one_block(recipe: &Recipe, request: &Request, whole: &kernels::Launch) -> Result<Option<Sample>, Error> {
    let problem = recipe.request().map_or(request.problem, |request| request.problem);
    let mut case = Case::of_recipe(recipe, request.dtype, &problem, &request.gpu)?;
    if let Some(last) = case.launches.last_mut() {
        last.shape = *whole.shape();
        last.shape.grid = [1; 3];
    }
    let Some(Counted { launch, counters, known, resident_blocks }) = case.execute_last(&request.gpu)? else {
        return Ok(None);
    };
    Ok(Some(Sample { launch, counters, known, resident_blocks }))
}

/// A straight line through two counts of one block, at so many parts of the way, times all blocks.
#[derive(Clone, Copy)]
struct Line {
    part: f64,
    blocks: u64,
}

impl Line {
    fn of(self, first: u64, second: u64) -> u64 {
        let more = (second as f64 - first as f64) * self.part;
        let of_block = (first as f64 + more).round().max(0.0) as u64;
        of_block.saturating_mul(self.blocks)
    }

    fn counters(self, first: &Counters, second: &Counters) -> Counters {
        let known: HashMap<u32, &InstructionCounters> =
            first.instructions.iter().map(|instruction| (instruction.ptx_line, instruction)).collect();
        let mut all = Counters {
            warp_instructions: self.of(first.warp_instructions, second.warp_instructions),
            ..Counters::default()
        };
        for instruction in &second.instructions {
            let before = known.get(&instruction.ptx_line).copied();
            let grown = self.instruction(before, instruction);
            for (kind, access) in &grown.accesses {
                add(all.accesses.entry(*kind).or_default(), access);
            }
            all.instructions.push(grown);
        }
        let of = |kind| all.accesses.get(&kind).copied().unwrap_or_default();
        (all.global_load, all.global_store) = (of(AccessKind::GlobalLoad), of(AccessKind::GlobalStore));
        (all.shared_load, all.shared_store) = (of(AccessKind::SharedLoad), of(AccessKind::SharedStore));
        all
    }

    fn instruction(
        self,
        first: Option<&InstructionCounters>,
        second: &InstructionCounters,
    ) -> InstructionCounters {
        let of = |field: fn(&InstructionCounters) -> u64| self.of(first.map_or(0, field), field(second));
        let access = |&(kind, ref access): &(AccessKind, AccessCounters)| {
            let before = first.and_then(|first| first.accesses.iter().find(|(other, _)| *other == kind));
            let before = before.map(|(_, access)| *access).unwrap_or_default();
            (kind, self.access(&before, access))
        };
        InstructionCounters {
            executions: of(|i| i.executions),
            active_lanes: of(|i| i.active_lanes),
            flops: of(|i| i.flops),
            accesses: second.accesses.iter().map(access).collect(),
            ..second.clone()
        }
    }

    fn access(self, a: &AccessCounters, b: &AccessCounters) -> AccessCounters {
        AccessCounters {
            requests: self.of(a.requests, b.requests),
            lanes: self.of(a.lanes, b.lanes),
            bytes_requested: self.of(a.bytes_requested, b.bytes_requested),
            sectors: self.of(a.sectors, b.sectors),
            ideal_sectors: self.of(a.ideal_sectors, b.ideal_sectors),
            lines: self.of(a.lines, b.lines),
            l1_wavefronts: self.of(a.l1_wavefronts, b.l1_wavefronts),
            wavefronts: self.of(a.wavefronts, b.wavefronts),
            ideal_wavefronts: self.of(a.ideal_wavefronts, b.ideal_wavefronts),
            optimised: OptimisedAccesses {
                requests: self.of(a.optimised.requests, b.optimised.requests),
                wavefronts: self.of(a.optimised.wavefronts, b.optimised.wavefronts),
            },
        }
    }
}

/// What `predict` and `bound` ask the sums for.
fn add(sum: &mut AccessCounters, more: &AccessCounters) {
    sum.requests += more.requests;
    sum.lanes += more.lanes;
    sum.bytes_requested += more.bytes_requested;
    sum.sectors += more.sectors;
    sum.lines += more.lines;
    sum.l1_wavefronts += more.l1_wavefronts;
    sum.wavefronts += more.wavefronts;
    sum.ideal_wavefronts += more.ideal_wavefronts;
    sum.optimised.requests += more.optimised.requests;
    sum.optimised.wavefronts += more.optimised.wavefronts;
}
