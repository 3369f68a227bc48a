//! The ways to compute a product that are worth measuring.

use super::{
    Plan,
    choice::ranked,
    thin::{Thin, is_thin},
};
use crate::{
    kernel::Variant,
    request::{Form, Request},
};
use std::fmt;

/// A tile of `simt`, what is packed, and how sums are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    /// One of [`super::simt_tiles`]; where C has few columns or rows, also what one thread computes of it: `[128, 16, 16, 1, 16, 1]`.
    pub tile: [u32; 6],
    /// Which operands are packed, as the kernel sees them.
    pub pack: [bool; 2],
    /// The parts of every sum; `None` leaves this to the cost model, which may split those of the last wave of blocks alone.
    pub splits: Option<u32>,
}

impl Way {
    /// The request for the same product in this way.
    pub fn ask(self, request: Request) -> Request {
        Request { tile: Some(self.tile), pack: Some(self.pack), splits: self.splits, ..request }
    }

    /// Whether there is such a tile.
    pub fn exists(self, variant: Variant) -> bool {
        super::simt_tiles(variant).contains(&self.tile) || is_thin(self.tile)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rows, cols, terms, thread_rows, thread_cols, slices] = self.tile;
        write!(f, "{rows}x{cols}x{terms} ({thread_rows}x{thread_cols} per thread")?;
        write!(f, "{}", if slices > 1 { format!(", {slices} slices)") } else { ")".to_owned() })?;
        match self.splits {
            None => write!(f, ", split by the model")?,
            Some(1) => {}
            Some(parts) => write!(f, ", k in {parts} parts")?,
        }
        match self.pack {
            [false, false] => Ok(()),
            [true, false] => write!(f, ", A packed"),
            [false, true] => write!(f, ", B packed"),
            [true, true] => write!(f, ", A and B packed"),
        }
    }
}

/// At most `most` ways, the fastest by the cost model first; the first one is what `simt` chooses by itself. Every tile has its best way
/// among them, if there is room.
///
/// ```
/// use tilewright_core::{DType, Layout, Problem, SemiringId};
/// use tilewright_kernels::{Request, simt_ways};
/// let l = Layout::row_major(1000, 1000);
/// let request = Request::new(Problem::new(l, l, l)?, SemiringId::MinPlus, DType::F32);
/// let ways = simt_ways(&request, 8);
/// assert_eq!(ways.len(), 8);
/// let recipe = tilewright_kernels::find("simt")?.recipe(&ways[7].ask(request))?;
/// assert!(!recipe.launches().is_empty());
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn simt_ways(request: &Request, most: usize) -> Vec<Way> {
    let free = Request { tile: None, pack: None, splits: None, form: Form::Specialised, ..*request };
    let plan = Plan::new(&free);
    let mut all: Vec<Way> = Vec::new();
    let ranked = ranked(&free, &plan.work, [plan.a, plan.b]);
    let thin = Thin::of(&plan, &free);
    for candidate in &ranked {
        let (tile, pack) = (candidate.tile.id(), candidate.packed);
        let division = candidate.division;
        // The best of a tile and a packing is what the model finds again; others can be asked for if all tiles are alike.
        let splits = match all.iter().any(|way| (way.tile, way.pack) == (tile, pack)) {
            false => None,
            true if division.whole == 0 || division.parts == 1 => Some(division.parts),
            true => continue,
        };
        let way = Way { tile, pack, splits };
        if !all.contains(&way) {
            all.push(way);
        }
    }
    if let Some(thin) = thin {
        let is_fastest = ranked.first().is_none_or(|first| thin.cycles() < plan.cycles(first));
        let way = Way { tile: thin.tile(), pack: [false; 2], splits: None };
        all.insert(usize::from(!is_fastest).min(all.len()), way);
    }
    // The best of each tile moves before the others.
    let is_first = |way: &Way, before: &[Way]| before.iter().all(|other| other.tile != way.tile);
    let (first, rest): (Vec<_>, Vec<_>) =
        all.iter().enumerate().partition(|(i, way)| is_first(way, &all[..*i]));
    first.into_iter().chain(rest).map(|(_, way)| *way).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::find;
    use tilewright_core::{DType, Layout, Problem, SemiringId};

    #[test]
    fn ways_are_different_can_be_asked_for_and_begin_with_the_models_choice() {
        let simt = find("simt").unwrap();
        for [m, n, k] in [
            [1000, 1000, 1000],
            [4096, 4096, 4096],
            [64, 64, 100_000],
            [1, 1, 1],
            [16, 8192, 512],
            [131_072, 16, 16],
        ] {
            let l = [Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n)];
            for (semiring, dtype) in [(SemiringId::PlusTimes, DType::F32), (SemiringId::MinPlus, DType::F64)]
            {
                let request = Request::new(Problem::new(l[0], l[1], l[2]).unwrap(), semiring, dtype);
                let ways = simt_ways(&request, 12);
                let by_itself = simt.recipe(&request).unwrap();
                let recipes: Vec<_> =
                    ways.iter().map(|way| simt.recipe(&way.ask(request)).unwrap()).collect();
                let launches = |recipe: &crate::Recipe| -> Vec<_> {
                    recipe.launches().iter().map(|l| (l.program().name().to_owned(), l.grid())).collect()
                };
                assert_eq!(launches(&recipes[0]), launches(&by_itself), "{m} x {n} x {k}");
                for (i, way) in ways.iter().enumerate() {
                    assert!(!ways[..i].contains(way) && way.exists(request.variant()));
                }
                let tiles = super::super::simt_tiles(request.variant());
                assert!(tiles.iter().all(|tile| ways.iter().any(|way| way.tile == *tile)), "{ways:?}");
            }
        }
        let square = Layout::row_major(8, 8);
        let request =
            Request::new(Problem::new(square, square, square).unwrap(), SemiringId::OrAnd, DType::Bool);
        assert!(simt_ways(&request, 0).is_empty());
    }
}
