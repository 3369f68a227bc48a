//! What the families of tensor cores share: operands, copies of them, the choice of a tile, parts of sums.

mod element;
mod operand;
mod product;
mod work;

use crate::{
    kernel::Kernel,
    ladder::Checks,
    launch::{Launch, Recipe, Rejected},
    refusal::Refusal,
    request::{Form, Request},
};
pub(crate) use element::{Element, ROW_BYTES, output};
pub(crate) use operand::{ALIGNMENT, Copied, Lines, Operand, result};
pub(crate) use product::{Product, named};
use tilewright_core::Layout;
pub(crate) use work::{Candidate, Work};

/// A family of kernels that multiply on tensor cores: what differs from one to another.
pub(crate) trait TensorCores {
    /// A tile of C and how it is computed.
    type Tile: Copy + PartialEq + 'static;
    /// All of them. Of two that are estimated to be as fast, the first is chosen.
    const TILES: &'static [Self::Tile];

    /// What a tile is called by where tiles are chosen.
    fn id(tile: &Self::Tile) -> [u32; 6];
    /// The name in programs and plans.
    fn name(tile: &Self::Tile) -> String;
    /// Why the GPU of a request, or its elements, are not those of the family: what it needs, and what was found.
    fn refuses(request: &Request, element: &Element) -> Option<[String; 2]>;
    /// Whether a tile fits the GPU.
    fn fits(work: &Work, tile: &Self::Tile) -> bool;
    /// Tiles of C, of all products, or clusters of them where blocks have these.
    fn tiles(work: &Work, tile: &Self::Tile) -> u64;
    /// How many of these the GPU computes at a time.
    fn at_a_time(work: &Work, tile: &Self::Tile) -> u64;
    /// Seconds of the launch that multiplies.
    fn seconds(work: &Work, candidate: &Candidate<Self::Tile>) -> f64;
    /// The launch that multiplies: into C, or parts of the sums into a workspace.
    fn launch(
        kernel: &'static Kernel,
        request: &Request,
        product: &Product,
        work: &Work,
        chosen: &Candidate<Self::Tile>,
        sums: Option<usize>,
    ) -> Launch;
    /// What a plan says of it.
    fn details(product: &Product, work: &Work, tile: &Self::Tile) -> Vec<(&'static str, String)>;
}

/// How a family computes a product: by the tile that is estimated to be the fastest.
pub(crate) fn recipe<F: TensorCores>(kernel: &'static Kernel, request: &Request) -> Result<Recipe, Refusal> {
    let checks = Checks { kernel, request };
    let size = checks.sizes()?;
    checks.batch()?;
    let element = check(kernel, request, F::refuses)?;
    let product = Product::new(request, element);
    let Layout { cols, col_stride, .. } = product.c.layout;
    if col_stride != 1 && cols > 1 {
        return Err(refuse(kernel, "a C with neighbours in memory", "its neighbours lie apart", "use simt"));
    }
    let mut recipe = Recipe::product(kernel, request, Vec::new());
    recipe.workspaces = product.copies.iter().flatten().map(Copied::bytes).collect();
    checks.workspaces(&recipe.workspaces)?;
    let copied = recipe.workspaces.iter().map(|&bytes| bytes as f64).sum();
    let work = Work::new(request, &product, size.k, copied);
    let room = request.workspace - recipe.workspaces.iter().sum::<u64>();
    let mut ranked = work.ranked::<F>(request.splits);
    ranked.retain(|(_, candidate)| work.part_bytes(candidate.parts) <= room);
    let asked = |(_, Candidate { tile, .. }): &&(f64, Candidate<F::Tile>)| {
        request.tile.is_none_or(|id| id == F::id(tile))
    };
    let Some((seconds, chosen)) = ranked.iter().find(asked) else {
        let found = "a tile of another kernel is asked for, or parts that take more than the workspace";
        return Err(refuse(kernel, "one of its own tiles", found, "leave out the tile and the parts"));
    };
    let tiles = F::tiles(&work, &chosen.tile) * u64::from(chosen.parts);
    if tiles > i32::MAX as u64 {
        let found = format!("this product has {tiles}");
        return Err(refuse(kernel, "at most 2^31 tiles", &found, "split the product"));
    }
    let sums = (chosen.parts > 1).then_some(recipe.workspaces.len());
    recipe.workspaces.extend(sums.map(|_| work.part_bytes(chosen.parts)));
    recipe.seconds = *seconds;
    recipe.details = F::details(&product, &work, &chosen.tile);
    recipe.details.push(("parts of k", chosen.parts.to_string()));
    recipe.details.push(("copied first", product.copied_names().into()));
    recipe.rejected = ranked.iter().filter(|(_, other)| other != chosen).map(not_chosen::<F>).collect();
    if !request.problem.c().is_empty() && request.batch.count > 0 {
        let is_copied = product.copies.iter().any(Option::is_some);
        recipe.launches.extend(is_copied.then(|| product.copy(request)));
        recipe.launches.push(F::launch(kernel, request, &product, &work, chosen, sums));
        recipe.launches.extend(sums.map(|sums| product.join(request, chosen.parts, sums)));
    }
    Ok(recipe)
}

/// How its elements are taken. Refuses what only other kernels do, and what the family `refuses`.
pub(crate) fn check(
    kernel: &'static Kernel,
    request: &Request,
    refuses: impl Fn(&Request, &Element) -> Option<[String; 2]>,
) -> Result<Element, Refusal> {
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
    let Some(element) = Element::of(request.dtype, request.math) else {
        return found("full precision is asked for", "tf32 as its arithmetic on f32");
    };
    match refuses(request, &element) {
        Some([needs, what]) => found(&what, &needs),
        None => Ok(element),
    }
}

pub(crate) fn refuse(kernel: &'static Kernel, needs: &str, found: &str, hint: &str) -> Refusal {
    Refusal { kernel: kernel.name, needs: needs.into(), found: found.into(), hint: hint.into() }
}

fn not_chosen<F: TensorCores>((seconds, Candidate { tile, parts }): &(f64, Candidate<F::Tile>)) -> Rejected {
    let parts = if *parts == 1 { String::new() } else { format!(" in {parts} parts") };
    Rejected { candidate: F::name(tile) + &parts, reason: format!("estimated at {:.1} us", seconds * 1e6) }
}
