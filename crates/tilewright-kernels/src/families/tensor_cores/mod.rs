//! What the families of tensor cores share: operands, copies of them, the choice of a tile, parts of sums.

mod element;
mod operand;
mod product;
mod tiles;
mod work;

use crate::{
    demand::Demands,
    families::Choosing,
    kernel::{
        Kernel,
        launch::{Launch, Recipe, Rejected},
        rung::Checks,
    },
    refusal::Refusal,
    request::{Form, Request},
    scaling::Scaling,
    way::Way,
};
pub(crate) use element::{Element, ROW_BYTES, VARIANTS};
use operand::Copied;
pub(crate) use operand::{ALIGNMENT, Lines, Operand};
pub(crate) use product::{Product, named};
pub(crate) use tiles::{Candidate, Tiles, busiest_terms};
use tilewright_core::{Layout, Math};
pub(crate) use work::Work;

/// A family of kernels that multiply on tensor cores: what differs from one to another.
pub(crate) trait TensorCores {
    /// One way to compute a product.
    type Candidate: Copy + PartialEq;

    /// Why the GPU of a request, or its elements, are not those of the family: what it needs, and what was found.
    fn refuses(request: &Request, element: &Element) -> Option<[String; 2]>;
    /// Every way, or those with so many parts of k. Of two that are estimated to be as fast, the first is chosen.
    fn candidates(work: &Work, parts: Option<u32>) -> Vec<Self::Candidate>;
    /// Seconds of the launch that multiplies.
    fn seconds(work: &Work, candidate: &Self::Candidate) -> f64;
    /// What its tile is called by where tiles are chosen.
    fn id(candidate: &Self::Candidate) -> [u32; 6];
    /// The name in plans.
    fn name(candidate: &Self::Candidate) -> String;
    /// The name of the tile that is called so, if there is one.
    fn tile_name(id: [u32; 6]) -> Option<String>;
    /// In how many parts the sums are computed where all tiles are alike.
    fn parts(candidate: &Self::Candidate) -> Option<u32>;
    /// Blocks, or clusters of them, of all products.
    fn blocks(work: &Work, candidate: &Self::Candidate) -> u64;
    /// Bytes of all parts of sums; 0 where sums are whole.
    fn part_bytes(work: &Work, candidate: &Self::Candidate) -> u64;
    /// What the launch that multiplies asks of a multiprocessor.
    fn demand(work: &Work, candidate: &Self::Candidate, demands: &mut Demands);
    /// The launch that multiplies: into C, or parts of the sums into a workspace.
    fn launch(
        kernel: &'static Kernel,
        request: &Request,
        product: &Product,
        work: &Work,
        chosen: &Self::Candidate,
        sums: Option<usize>,
    ) -> Launch;
    /// The launch that adds up the parts.
    fn join(
        request: &Request,
        product: &Product,
        work: &Work,
        chosen: &Self::Candidate,
        sums: usize,
    ) -> Launch;
    /// What a plan says of it.
    fn details(product: &Product, work: &Work, chosen: &Self::Candidate) -> Vec<(&'static str, String)>;
}

/// A product that a family takes, and how it could compute it.
struct Choice<F: TensorCores> {
    product: Product,
    work: Work,
    /// What copies of operands take.
    workspaces: Vec<u64>,
    /// Every way with the seconds of all its launches, the fastest first.
    ranked: Vec<(f64, F::Candidate)>,
}

impl<F: TensorCores> Choice<F> {
    fn new(kernel: &'static Kernel, request: &Request) -> Result<Self, Refusal> {
        let checks = Checks { kernel, request };
        let size = checks.sizes()?;
        checks.batch()?;
        let element = check::<F>(kernel, request)?;
        let product = Product::new(request, element);
        let Layout { cols, col_stride, .. } = product.c.layout;
        if col_stride != 1 && cols > 1 {
            return Err(refuse(
                kernel,
                "a C with neighbours in memory",
                "its neighbours lie apart",
                "use simt",
            ));
        }
        let workspaces: Vec<u64> = product.copies.iter().flatten().map(Copied::bytes).collect();
        checks.workspaces(&workspaces)?;
        let copied: u64 = workspaces.iter().sum();
        let work = Work::new(request, &product, size.k, copied as f64);
        let room = request.workspace - copied;
        let seconds = |one: &F::Candidate| F::seconds(&work, one) + work.around(F::part_bytes(&work, one));
        let mut ranked: Vec<_> = F::candidates(&work, request.splits)
            .into_iter()
            .filter(|one| F::part_bytes(&work, one) <= room)
            .map(|one| (seconds(&one), one))
            .collect();
        ranked.sort_by(|(x, _), (y, _)| x.total_cmp(y));
        Ok(Self { product, work, workspaces, ranked })
    }
}

/// How a family computes a product: in the way that is estimated to be the fastest.
pub(crate) fn recipe<F: TensorCores>(kernel: &'static Kernel, request: &Request) -> Result<Recipe, Refusal> {
    let Choice { product, work, workspaces, ranked } = Choice::<F>::new(kernel, request)?;
    let asked = |(_, candidate): &&(f64, F::Candidate)| request.tile.is_none_or(|id| id == F::id(candidate));
    let Some((seconds, chosen)) = ranked.iter().find(asked) else {
        let found = "a tile of another kernel is asked for, or parts that take more than the workspace";
        return Err(refuse(kernel, "one of its own tiles", found, "leave out the tile and the parts"));
    };
    let blocks = F::blocks(&work, chosen);
    if blocks > i32::MAX as u64 {
        let found = format!("this product has {blocks}");
        return Err(refuse(kernel, "at most 2^31 tiles", &found, "split the product"));
    }
    let mut recipe = Recipe::product(kernel, request, Vec::new());
    recipe.workspaces = workspaces;
    let part_bytes = F::part_bytes(&work, chosen);
    let sums = (part_bytes > 0).then_some(recipe.workspaces.len());
    recipe.workspaces.extend(sums.map(|_| part_bytes));
    recipe.seconds = *seconds;
    recipe.details = F::details(&product, &work, chosen);
    let place = if sums.is_some() { "where parts are joined" } else { "before C is written" };
    recipe.details.extend(product.finish.detail(place));
    recipe.details.extend(product.scaling.detail(request));
    recipe.details.push(("copied first", product.copied_names().into()));
    recipe.rejected = ranked.iter().filter(|(_, other)| other != chosen).map(not_chosen::<F>).collect();
    if !request.problem.c().is_empty() && request.batch.count > 0 {
        let is_copied = product.copies.iter().any(Option::is_some);
        recipe.launches.extend(is_copied.then(|| product.copy(request)));
        recipe.launches.push(F::launch(kernel, request, &product, &work, chosen, sums));
        recipe.launches.extend(sums.map(|sums| F::join(request, &product, &work, chosen, sums)));
        if let Some(mut demands) = Demands::new(&request.gpu) {
            demands.moves(work.moved());
            F::demand(&work, chosen, &mut demands);
            recipe.demands = demands.done();
        }
    }
    Ok(recipe)
}

/// What a family has to choose from.
pub(crate) const fn choosing<F: TensorCores>(kernel: &'static Kernel) -> Choosing {
    Choosing { kernel, ways: ways::<F>, tile_name: F::tile_name }
}

/// The ways of a product that a family takes, the fastest of each tile in the parts that the cost model finds again.
fn ways<F: TensorCores>(kernel: &'static Kernel, request: &Request) -> Vec<Way> {
    let mut all: Vec<Way> = Vec::new();
    for (_, candidate) in Choice::<F>::new(kernel, request).map_or(Vec::new(), |choice| choice.ranked) {
        let tile = F::id(&candidate);
        let splits = match all.iter().any(|way| way.tile == tile) {
            false => None,
            true => match F::parts(&candidate) {
                Some(parts) => Some(parts),
                None => continue,
            },
        };
        all.push(Way { kernel: kernel.name, tile, pack: [false; 2], splits });
    }
    all
}

/// How its elements are taken. Refuses what only other kernels do.
fn check<F: TensorCores>(kernel: &'static Kernel, request: &Request) -> Result<Element, Refusal> {
    let found = |found: &str, needs: &str| Err(refuse(kernel, needs, found, "use simt"));
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
    // Scales of blocks of terms are those of sums that are promoted.
    let math = if Scaling::of(request, false).is_by_terms() { Math::Full } else { request.math };
    let Some(element) = Element::of(request.dtype, math) else {
        return found("full precision is asked for", "tf32 as its arithmetic on f32");
    };
    match F::refuses(request, &element) {
        Some([needs, what]) => found(&what, &needs),
        None => Ok(element),
    }
}

fn refuse(kernel: &'static Kernel, needs: &str, found: &str, hint: &str) -> Refusal {
    Refusal { kernel: kernel.name, needs: needs.into(), found: found.into(), hint: hint.into() }
}

fn not_chosen<F: TensorCores>((seconds, candidate): &(f64, F::Candidate)) -> Rejected {
    Rejected { candidate: F::name(candidate), reason: format!("estimated at {:.1} us", seconds * 1e6) }
}
