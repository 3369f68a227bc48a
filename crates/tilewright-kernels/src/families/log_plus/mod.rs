//! Log-plus, by plus-times on scaled exponentials, as on the processor.
//!
//! `C[i,j] = r[i] + c[j] + log Σ_k exp(A[i,k] - r[i]) exp(B[k,j] - c[j])`, where `r[i]` is the largest element of a row of A, `c[j]` that of a
//! column of B. Launches find them, pack the factors, multiply them by `simt`, and take logarithms. Sums from which terms may have vanished
//! are computed again from their terms by the last launch, which does without the others where there is no memory for them.

mod division;
mod launches;
#[cfg(test)]
mod tests;

use super::simt::SIMT;
use crate::{
    argument::Buffer,
    demand::{Demands, Moved},
    estimate,
    kernel::{
        Family, Kernel, Make,
        launch::{Recipe, Role},
        rung::Checks,
    },
    refusal::Refusal,
    request::Request,
    variant::Variant,
};
use division::{Part, padded_side, padded_terms, part};
use tilewright_core::{DType, Joining, Layout, SemiringId};

pub(crate) const LOG_PLUS: Kernel = Kernel {
    name: "log-plus",
    family: Family::Production,
    summary: "log-sum-exp products of any sizes, strides and transposes: plus-times on scaled exponentials",
    teaches: "passes of O(n^2) around a product: what may vanish is known beforehand, and computed again where it weighs",
    file: "log_plus.cu",
    source: include_str!("log_plus.cu"),
    variants: &VARIANTS,
    make: Make::Product(recipe),
};

const VARIANTS: [Variant; 2] =
    [Variant::new(SemiringId::LogPlus, DType::F32), Variant::new(SemiringId::LogPlus, DType::F64)];

/// What multiplies the factors.
static PRODUCT: Kernel = SIMT;

/// Lines of a block that looks for scales, and of one that packs factors; terms that the latter packs at a time.
const LOOKED_AT: u32 = 32;
const PACKED: u32 = 64;
/// Rows and columns of C that a block finishes.
const FINISHED: [u32; 2] = [64, 32];
/// Blocks along z that every GPU takes; they take turns with products.
const MOST_BATCHES: usize = 65_535;
/// Times that an element takes from its terms, beside a product at the peak of plus-times: two exponentials' worth of instructions a term.
const ONE_BY_ONE: f64 = 32.0;
/// Blocks on each multiprocessor that keep its memory busy.
const RESIDENT: u32 = 8;
/// Parts in which a line is looked at: as many numbers are read again by each block that packs it. None is shorter than a few reads of a thread.
const MOST_PARTS: u32 = 64;
const LEAST_PART: u32 = 256;

fn recipe(kernel: &'static Kernel, request: &Request) -> Result<Recipe, Refusal> {
    let checks = Checks { kernel, request };
    let size = checks.sizes()?;
    checks.batch()?;
    if let Joining::Scale { .. } = request.joining {
        let (needs, found) = ("a C that is replaced or added to", "factors are given");
        return checks.refuse(
            needs.into(),
            found.into(),
            "a factor of a logarithm is an exponent: leave them out",
        );
    }
    if request.arg {
        let (needs, found) = ("no arg result", "one is asked for");
        return checks.refuse(needs.into(), found.into(), "choose a semiring that selects: no term is a sum");
    }
    let mut recipe = Recipe::product(kernel, request, Vec::new());
    if request.problem.c().is_empty() || request.batch.count == 0 {
        return Ok(recipe);
    }
    let plan = Plan::new(request, [size.m, size.n, size.k]);
    let part = match size.k {
        0 => None,
        _ => part(request.batch, plan.sides, request.workspace, |part| plan.bytes(part)),
    };
    match part {
        Some(part) => {
            plan.scaled(&mut recipe, part)?;
            recipe.seconds += plan.passing(&recipe);
        }
        None => {
            plan.term_by_term(&mut recipe);
            recipe.seconds = estimate::LAUNCH_SECONDS + ONE_BY_ONE * plan.at_peak();
        }
    }
    if let Some(mut demands) = Demands::new(&request.gpu) {
        demands.moves(plan.moved());
        // An element that is computed from its terms takes more for each of them than a product does.
        demands.terms(&[plan.factors()], plan.pairs());
        recipe.demands = demands.done();
    }
    for launch in &recipe.launches {
        checks.grid(launch.grid())?;
    }
    Ok(recipe)
}

/// The workspaces of scaled sums, in their order; those of the product of the factors follow.
#[derive(Clone, Copy)]
enum Scratch {
    /// Of A and of B: the largest and the smallest element of each part of each line.
    Parts,
    /// Of A and of B: the largest element of each line, and how far its elements lie apart.
    Scales = 2,
    /// Of A and of B.
    Factors = 4,
    Sums = 6,
}

/// Workspaces before those of the product.
const SCRATCHES: usize = 7;

impl Scratch {
    fn of(self, operand: usize) -> Buffer {
        Buffer::Workspace(self as usize + operand)
    }
}

/// A product as the kernels see it: C has neighbouring columns if it has neighbours at all.
struct Plan<'a> {
    request: &'a Request,
    /// A by its rows, and B by its columns: a line has the terms.
    lines: [Layout; 2],
    /// From the operand of one product to that of the next.
    steps: [isize; 2],
    buffers: [Buffer; 2],
    c: Layout,
    /// Of C.
    sides: [u32; 2],
    terms: u32,
}

/// A rectangle of C in some products.
#[derive(Clone, Copy)]
struct Rectangle {
    first_batch: usize,
    batches: usize,
    first: [u32; 2],
    sides: [u32; 2],
}

/// In how many parts lines are looked at, and how many terms each of them has.
#[derive(Clone, Copy)]
struct Looks {
    parts: u32,
    terms: u32,
}

impl<'a> Plan<'a> {
    fn new(request: &'a Request, [m, n, k]: [u32; 3]) -> Self {
        let (problem, batch) = (&request.problem, request.batch);
        let (a, b, c) = (problem.a(), problem.b().t(), problem.c());
        let plan = Self {
            request,
            lines: [a, b],
            steps: [batch.a, batch.b],
            buffers: [Buffer::A, Buffer::B],
            c,
            sides: [m, n],
            terms: k,
        };
        // C^T = B^T A^T.
        if c.col_stride == 1 || c.row_stride != 1 {
            return plan;
        }
        let swap = |[x, y]: [isize; 2]| [y, x];
        Self {
            lines: [b, a],
            steps: swap(plan.steps),
            buffers: [Buffer::B, Buffer::A],
            c: c.t(),
            sides: [n, m],
            ..plan
        }
    }

    /// How often an operand differs in so many products.
    fn copies(&self, operand: usize, batches: usize) -> usize {
        if self.steps[operand] == 0 { 1 } else { batches }
    }

    /// The looks at so many products at a time: enough blocks to keep the GPU's memory busy.
    fn looks(&self, batches: usize) -> Looks {
        let groups = self.sides.map(|side| u64::from(side.div_ceil(LOOKED_AT)));
        let groups = (groups[0] + groups[1]).saturating_mul(batches as u64).max(1);
        let wanted = u64::from(RESIDENT * self.request.gpu.multiprocessors).div_ceil(groups) as u32;
        let parts = wanted.min(self.terms / LEAST_PART).clamp(1, MOST_PARTS);
        let terms = self.terms.div_ceil(parts).next_multiple_of(32);
        Looks { parts: self.terms.div_ceil(terms), terms }
    }

    /// Bytes of each of [`Scratch`].
    fn scratch(&self, part: Part) -> [u128; SCRATCHES] {
        let size = self.request.dtype.size() as u128;
        let Looks { parts, .. } = self.looks(part.batches);
        let copies = [0, 1].map(|i| self.copies(i, part.batches) as u128);
        let scales = [0, 1].map(|i| 2 * size * copies[i] * u128::from(self.sides[i]));
        let sides = part.sides.map(|side| u128::from(padded_side(side)));
        let factors = [0, 1].map(|i| size * copies[i] * sides[i] * u128::from(padded_terms(self.terms)));
        let sums = size * part.batches as u128 * sides[0] * sides[1];
        let of_parts = scales.map(|bytes| bytes * u128::from(parts));
        [of_parts[0], of_parts[1], scales[0], scales[1], factors[0], factors[1], sums]
    }

    fn bytes(&self, part: Part) -> u128 {
        self.scratch(part).iter().sum()
    }

    /// Scaled sums, a part of the products and of C after another.
    fn scaled(&self, recipe: &mut Recipe, part: Part) -> Result<(), Refusal> {
        // No more than the limit.
        recipe.workspaces = self.scratch(part).map(|bytes| bytes as u64).to_vec();
        let looks = self.looks(part.batches);
        for first_batch in (0..self.request.batch.count).step_by(part.batches) {
            let batches = part.batches.min(self.request.batch.count - first_batch);
            let [rows, cols] = [0, 1].map(|i| (0..self.sides[i]).step_by(part.sides[i] as usize));
            let all = Rectangle { first_batch, batches, first: [0; 2], sides: self.sides };
            recipe.launches.push(self.scales(all, looks));
            for row in rows {
                for col in cols.clone() {
                    let first = [row, col];
                    let sides = [0, 1].map(|i| part.sides[i].min(self.sides[i] - first[i]));
                    let here = Rectangle { first, sides, ..all };
                    recipe.launches.push(self.exponentials(here, col == 0, looks));
                    self.product(recipe, here)?;
                    recipe.launches.push(self.finish(here, Some(Role::Join)));
                }
            }
        }
        let sums = "plus-times on exponentials, scaled by the largest elements of rows and columns";
        recipe.details.retain(|(name, _)| *name != "packed first");
        recipe.details.insert(0, ("sums", sums.into()));
        if part != (Part { batches: self.request.batch.count, sides: self.sides }) {
            let [rows, cols] = part.sides;
            let what = format!("{rows}x{cols} elements of C in each of {} products", part.batches);
            recipe.details.push(("at a time", what));
        }
        Ok(())
    }

    /// Bytes that are moved at least: of the factors nothing is counted.
    fn moved(&self) -> Moved {
        let size = self.request.dtype.size() as f64;
        let lines =
            [0, 1].map(|i| f64::from(self.sides[i]) * self.copies(i, self.request.batch.count) as f64);
        let loaded = size * f64::from(self.terms) * (lines[0] + lines[1]);
        Moved { loaded, stored: size * self.results(), copied: 0.0 }
    }

    /// Elements of C, of all products.
    fn results(&self) -> f64 {
        self.sides.map(f64::from).iter().product::<f64>() * self.request.batch.count as f64
    }

    /// Terms of all products.
    fn pairs(&self) -> f64 {
        self.results() * f64::from(self.terms)
    }

    /// What multiplies the factors.
    fn factors(&self) -> Variant {
        Variant::new(SemiringId::PlusTimes, self.request.dtype)
    }

    /// Seconds of the passes around the products: operands are read twice and their factors written, sums are read and C written.
    fn passing(&self, recipe: &Recipe) -> f64 {
        let Self { request, sides: [m, n], terms, .. } = self;
        let copies = [0, 1].map(|i| self.copies(i, request.batch.count) as f64);
        let operands = f64::from(*terms) * (f64::from(*m) * copies[0] + f64::from(*n) * copies[1]);
        let bytes = (3.0 * operands + 2.0 * self.results()) * request.dtype.size() as f64;
        let passes = recipe.launches.iter().filter(|launch| launch.role() != Role::Product).count();
        estimate::moving(&request.gpu, bytes) + passes as f64 * estimate::LAUNCH_SECONDS
    }

    /// Seconds of a product at the peak of plus-times.
    fn at_peak(&self) -> f64 {
        estimate::at_peak(self.request, &self.request.gpu, self.factors())
    }

    /// All elements from their terms, without any workspace.
    fn term_by_term(&self, recipe: &mut Recipe) {
        let batches = self.request.batch.count;
        let all = Rectangle { first_batch: 0, batches, first: [0; 2], sides: self.sides };
        recipe.launches.push(self.finish(all, None));
        recipe.details = vec![("sums", "each from its terms, for want of memory or of terms".into())];
    }
}
