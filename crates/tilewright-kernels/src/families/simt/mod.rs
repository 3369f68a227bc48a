//! The production kernel for every semiring and element type.

mod arg;
mod arithmetic;
mod choice;
mod cost;
mod details;
mod device;
#[cfg(test)]
mod device_tests;
mod division;
mod launches;
mod menu;
mod narrow;
mod operand;
mod reduce;
#[cfg(test)]
mod tests;
mod thin;
mod ways;
mod work;

use crate::{
    argument::{Argument, Buffer},
    demand::Demands,
    encoding::Encoding,
    estimate,
    families::Choosing,
    finish::Finish,
    kernel::{
        Family, Kernel, Make,
        launch::{Recipe, Role},
        rung::Checks,
    },
    peak::peak_on,
    predicate::{Found, Predicate},
    refusal::Refusal,
    request::Request,
    variant::Variant,
};
use choice::{choose, not_faster};
use cost::Candidate;
use menu::{Tile, tiles};
use operand::Operand;
pub(crate) use reduce::Parts;
use thin::Thin;
use tilewright_core::Layout;
use work::Work;

pub(crate) const SIMT: Kernel = Kernel {
    name: "simt",
    family: Family::Production,
    summary: "any sizes, strides and transposes; tiles copied ahead of the arithmetic, deterministic split of k, batches",
    teaches: "everything together: tiles chosen by a cost model, copies ahead of the arithmetic, guards at edges only",
    file: "simt.cu",
    source: include_str!("simt.cu"),
    variants: Variant::ALL,
    make: Make::Product(recipe),
};

/// What it has to choose from.
pub(crate) const CHOOSING: Choosing =
    Choosing { kernel: &SIMT, ways: ways::ways, tile_name: |tile| Some(ways::tile_name(tile)) };

/// The tiles that `simt` chooses from, each as rows and columns of C per block, terms per step, rows and columns of C
/// per thread, and slices of the block.
///
/// ```
/// use tilewright_core::{DType, SemiringId};
/// use tilewright_kernels::{Variant, simt_tiles};
/// assert!(simt_tiles(Variant::new(SemiringId::PlusTimes, DType::F32)).contains(&[128, 128, 8, 16, 8, 1]));
/// ```
pub fn simt_tiles(variant: Variant) -> Vec<[u32; 6]> {
    tiles(variant).iter().map(Tile::id).collect()
}

/// Blocks along y that every GPU takes.
const MOST_BATCHES: usize = 65_535;

fn recipe(kernel: &'static Kernel, request: &Request) -> Result<Recipe, Refusal> {
    let checks = Checks { kernel, request };
    checks.sizes()?;
    checks.batch()?;
    arg::check(&checks)?;
    let plan = Plan::new(request);
    let thin = Thin::of(&plan, request);
    let empty = |rejected| Recipe { rejected, ..Recipe::product(kernel, request, Vec::new()) };
    let takes = |cycles, recipe| Recipe { seconds: estimate::seconds(&request.gpu, cycles), ..recipe };
    let is_empty = request.problem.c().is_empty() || request.batch.count == 0;
    let mut recipe = match (choose(request, &plan.work, [plan.a, plan.b]), thin) {
        (Err(rejected), None) => {
            let why: Vec<_> = rejected.iter().map(|r| format!("{}: {}", r.candidate, r.reason)).collect();
            return Err(Refusal {
                kernel: kernel.name,
                needs: "one of its tiles".into(),
                found: why.join("; "),
                hint: "leave the choice of the tile to the kernel".into(),
            });
        }
        (Ok((_, rejected)), _) | (Err(rejected), _) if is_empty => empty(rejected),
        (Err(rejected), Some(thin)) => takes(thin.cycles(), thin.filled(empty(rejected), request)),
        (Ok((chosen, rejected)), Some(thin)) if thin.cycles() < plan.cycles(&chosen) => {
            let rejected = [rejected, vec![not_faster(&chosen)]].concat();
            takes(thin.cycles(), thin.filled(empty(rejected), request))
        }
        (Ok((chosen, rejected)), _) => {
            takes(plan.cycles(&chosen), plan.recipe(empty(rejected), request, &chosen))
        }
    };
    for launch in &recipe.launches {
        checks.grid(launch.grid())?;
    }
    if let Some(mut demands) = Demands::new(&request.gpu).filter(|_| !is_empty) {
        demands.moves(plan.work.moved());
        let narrowed = recipe.launches.iter().any(|launch| launch.role() == Role::Scan);
        demands.terms(&narrow::computed(request.variant(), narrowed), plan.work.terms());
        recipe.demands = demands.done();
    }
    Ok(recipe)
}

/// A product as the kernel sees it: C has neighbouring columns if it has neighbours at all.
pub(crate) struct Plan {
    a: Operand,
    b: Operand,
    c: Layout,
    c_alignment: u64,
    /// Which buffer is A and which is B: exchanged when C is computed as its transpose.
    buffers: [Buffer; 2],
    /// What follows, where the parts of sums are joined.
    finish: Finish,
    work: Work,
}

impl Plan {
    fn new(request: &Request) -> Self {
        let (problem, batch, align) = (&request.problem, request.batch, request.alignment);
        let a = Operand { layout: problem.a(), alignment: align.a, batch: batch.a };
        let b = Operand { layout: problem.b().t(), alignment: align.b, batch: batch.b };
        let c = problem.c();
        // C^T = B^T A^T: ⊗ commutes in every semiring of the catalogue, and a program of the user's own exchanges its operands.
        let transposed = request.is_computed_by_columns();
        let (a, b, c, buffers) = if transposed {
            (b, a, c.t(), [Buffer::B, Buffer::A])
        } else {
            (a, b, c, [Buffer::A, Buffer::B])
        };
        let work = Work {
            m: c.rows as u32,
            n: c.cols as u32,
            k: problem.k() as u32,
            batch: batch.count,
            operands: [a, b].map(|o: Operand| if o.batch == 0 { 1 } else { batch.count }),
            variant: request.variant(),
            encoding: Encoding::Numbers,
            gpu: request.gpu,
            aliased: [a, b].map(|o| o.is_aliased(request.variant())),
            peak: peak_on(&request.gpu, request.variant()),
            is_joined: !request.epilogue.is_none(),
        };
        let finish = Finish::of(request, transposed);
        Self { a, b, c, c_alignment: align.c, buffers, finish, work }
    }

    /// The estimated time of a candidate, in cycles of the GPU.
    fn cycles(&self, chosen: &Candidate) -> f64 {
        chosen.cycles(&self.work.in_encoding(chosen.arithmetic.encoding))
    }

    /// The recipe, with programs in narrower types where there is room for their workspaces.
    fn recipe(&self, empty: Recipe, request: &Request, chosen: &Candidate) -> Recipe {
        let narrower = narrow::narrower(request, self, chosen);
        let recipe = self.filled(empty.clone(), request, chosen, &narrower);
        let fits = recipe.workspaces.iter().sum::<u64>() <= request.workspace;
        if fits || narrower.is_empty() { recipe } else { self.filled(empty, request, chosen, &[]) }
    }

    /// The recipe with all launches: of programs in narrower types, and of the candidate that is right for all data.
    fn filled(
        &self,
        mut recipe: Recipe,
        request: &Request,
        chosen: &Candidate,
        narrower: &[narrow::Narrower],
    ) -> Recipe {
        let mut all = 0;
        let mut decided = None;
        if !narrower.is_empty() {
            let by = narrow::scan(&mut recipe, request, self, narrower);
            for narrow in narrower {
                let predicate = Predicate { earlier: all, own: narrow.own };
                narrow.plan.fill(&mut recipe, request, &narrow.chosen, Some((predicate, by)));
                all |= narrow.own;
            }
            decided = Some((Predicate { earlier: all, own: 0 }, by));
        }
        let product = self.fill(&mut recipe, request, chosen, decided);
        recipe.details = self.details(chosen, &product, request.form);
        recipe.details.extend(self.finish.detail("by a launch of its own that reads the sums"));
        if !narrower.is_empty() {
            recipe.details.push(("narrowing", narrow::describe(narrower)));
        }
        recipe
    }
}

/// The arguments that tell a launch whether it computes.
fn predicate_arguments(predicate: Option<(Predicate, Found)>) -> [(&'static str, Argument); 4] {
    let found = predicate.map_or(Buffer::C, |(_, found)| Buffer::Workspace(found.workspace));
    let i32 = |x: Option<u32>| Argument::i32(x.unwrap_or(0) as i32);
    [
        ("found", Argument::Pointer(found)),
        ("finders", i32(predicate.map(|(_, found)| found.finders))),
        ("earlier", i32(predicate.map(|(predicate, _)| predicate.earlier))),
        ("own", i32(predicate.map(|(predicate, _)| predicate.own))),
    ]
}
