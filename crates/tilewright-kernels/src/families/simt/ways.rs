//! The ways of `simt` that are worth measuring.

use super::{Plan, choice::ranked, thin::Thin};
use crate::{kernel::Kernel, request::Request, way::Way};

/// Every way, the fastest of each tile and packing in the division that the cost model finds again.
pub(crate) fn ways(kernel: &'static Kernel, request: &Request) -> Vec<Way> {
    let plan = Plan::new(request);
    let mut all: Vec<Way> = Vec::new();
    for candidate in ranked(request, &plan.work, [plan.a, plan.b]) {
        let (tile, pack) = (candidate.tile.id(), candidate.packed);
        let division = candidate.division;
        // Other divisions can be asked for if all tiles are alike.
        let splits = match all.iter().any(|way| (way.tile, way.pack) == (tile, pack)) {
            false => None,
            true if division.whole == 0 || division.parts == 1 => Some(division.parts),
            true => continue,
        };
        let way = Way { kernel: kernel.name, tile, pack, splits };
        if !all.contains(&way) {
            all.push(way);
        }
    }
    let thin = Thin::of(&plan, request);
    all.extend(thin.map(|thin| Way {
        kernel: kernel.name,
        tile: thin.tile(),
        pack: [false; 2],
        splits: None,
    }));
    all
}

/// A tile in words.
pub(crate) fn tile_name([rows, cols, terms, thread_rows, thread_cols, slices]: [u32; 6]) -> String {
    let slices = if slices > 1 { format!(", {slices} slices") } else { String::new() };
    format!("{rows}x{cols}x{terms} ({thread_rows}x{thread_cols} per thread{slices})")
}
