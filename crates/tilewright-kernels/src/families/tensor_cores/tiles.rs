//! Families that choose a tile and parts of k, and join the parts of all of C at once.

use super::{Element, Product, TensorCores, Work};
use crate::{
    demand::{Demands, busiest},
    kernel::{Kernel, launch::Launch},
    request::Request,
};

/// Terms that a part has at least, in bytes.
const LEAST_PART: u32 = 512;

/// A family of kernels for which a way to compute is a tile and a number of parts.
pub(crate) trait Tiles {
    /// A tile of C and how it is computed.
    type Tile: Copy + PartialEq + 'static;
    /// All of them. Of two that are estimated to be as fast, the first is chosen.
    const TILES: &'static [Self::Tile];

    /// What a tile is called by where tiles are chosen.
    fn id(tile: &Self::Tile) -> [u32; 6];
    /// The name in programs and plans.
    fn name(tile: &Self::Tile) -> String;
    /// As [`TensorCores::refuses`].
    fn refuses(request: &Request, element: &Element) -> Option<[String; 2]>;
    /// Whether a tile fits the GPU.
    fn fits(work: &Work, tile: &Self::Tile) -> bool;
    /// Tiles of C, of all products, or clusters of them where blocks have these.
    fn tiles(work: &Work, tile: &Self::Tile) -> u64;
    /// How many of these the GPU computes at a time.
    fn at_a_time(work: &Work, tile: &Self::Tile) -> u64;
    /// Seconds of the launch that multiplies.
    fn seconds(work: &Work, candidate: &Candidate<Self::Tile>) -> f64;
    /// As [`TensorCores::demand`].
    fn demand(work: &Work, candidate: &Candidate<Self::Tile>, demands: &mut Demands);
    /// The launch that multiplies: into C, or parts of the sums into a workspace.
    fn launch(
        kernel: &'static Kernel,
        request: &Request,
        product: &Product,
        work: &Work,
        chosen: &Candidate<Self::Tile>,
        sums: Option<usize>,
    ) -> Launch;
    /// What a plan says of a tile.
    fn details(product: &Product, work: &Work, tile: &Self::Tile) -> Vec<(&'static str, String)>;
}

/// A tile, and the parts of the terms that are summed apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate<Tile> {
    pub tile: Tile,
    pub parts: u32,
}

impl<F: Tiles> TensorCores for F {
    type Candidate = Candidate<F::Tile>;

    fn refuses(request: &Request, element: &Element) -> Option<[String; 2]> {
        <F as Tiles>::refuses(request, element)
    }

    /// Every tile that fits, whole and in as many parts as fill the GPU, or in as many as are asked for.
    fn candidates(work: &Work, asked: Option<u32>) -> Vec<Self::Candidate> {
        let mut all = Vec::new();
        for tile in F::TILES.iter().copied().filter(|tile| F::fits(work, tile)) {
            let filling = F::at_a_time(work, &tile) / F::tiles(work, &tile).max(1);
            let mut parts = asked.map_or(vec![1, filling as u32], |parts| vec![parts]);
            parts.iter_mut().for_each(|parts| *parts = without_empty_parts(work, *parts));
            parts.dedup();
            all.extend(parts.into_iter().map(|parts| Candidate { parts, tile }));
        }
        all
    }

    fn seconds(work: &Work, candidate: &Self::Candidate) -> f64 {
        <F as Tiles>::seconds(work, candidate)
    }

    fn demand(work: &Work, candidate: &Self::Candidate, demands: &mut Demands) {
        <F as Tiles>::demand(work, candidate, demands);
    }

    fn id(candidate: &Self::Candidate) -> [u32; 6] {
        <F as Tiles>::id(&candidate.tile)
    }

    fn name(Candidate { tile, parts }: &Self::Candidate) -> String {
        let parts = if *parts == 1 { String::new() } else { format!(" in {parts} parts") };
        <F as Tiles>::name(tile) + &parts
    }

    fn tile_name(id: [u32; 6]) -> Option<String> {
        F::TILES.iter().find(|tile| <F as Tiles>::id(tile) == id).map(<F as Tiles>::name)
    }

    fn parts(candidate: &Self::Candidate) -> Option<u32> {
        Some(candidate.parts)
    }

    fn blocks(work: &Work, Candidate { tile, parts }: &Self::Candidate) -> u64 {
        F::tiles(work, tile) * u64::from(*parts)
    }

    fn part_bytes(work: &Work, Candidate { parts, .. }: &Self::Candidate) -> u64 {
        let pitch = u64::from(work.n).next_multiple_of(4);
        let elements = u64::from(work.m) * pitch * work.products as u64;
        if *parts == 1 { 0 } else { elements.saturating_mul(4 * u64::from(*parts)) }
    }

    fn launch(
        kernel: &'static Kernel,
        request: &Request,
        product: &Product,
        work: &Work,
        chosen: &Self::Candidate,
        sums: Option<usize>,
    ) -> Launch {
        <F as Tiles>::launch(kernel, request, product, work, chosen, sums)
    }

    fn join(request: &Request, product: &Product, _: &Work, chosen: &Self::Candidate, sums: usize) -> Launch {
        product.join(request, chosen.parts, sums)
    }

    fn details(product: &Product, work: &Work, chosen: &Self::Candidate) -> Vec<(&'static str, String)> {
        let mut details = <F as Tiles>::details(product, work, &chosen.tile);
        details.push(("parts of k", chosen.parts.to_string()));
        details
    }
}

/// Terms of all its tiles that the busiest of so many multiprocessors, or of groups of them, has at least, where each tile of C is summed in `parts` of steps of
/// `step` terms.
pub(crate) fn busiest_terms(work: &Work, (tiles, parts): (u64, u32), step: u32, blocks: u64) -> f64 {
    let of_part = work.k.div_ceil(step).div_ceil(parts).saturating_mul(step).min(work.k);
    // The last part may have fewer.
    let last = work.k.saturating_sub(of_part.saturating_mul(parts - 1));
    busiest(&[(tiles * u64::from(parts - 1), of_part.into()), (tiles, last.into())], blocks)
}

/// At most so many parts, each of some steps, as there are where all but the last have equally many.
fn without_empty_parts(work: &Work, parts: u32) -> u32 {
    let steps = work.k.div_ceil(work.element.terms());
    let parts = parts.clamp(1, (work.k / (LEAST_PART / work.element.bytes)).max(1));
    steps.div_ceil(steps.div_ceil(parts))
}
