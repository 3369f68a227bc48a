//! The ways to compute a product that are worth measuring, of all families that choose among tiles.

use crate::{
    catalogue::find,
    families::{Choosing, dmma, mma, simt, wgmma},
    kernel::{Kernel, launch::Recipe},
    request::{Form, Request},
    way::Way,
};
use std::fmt;
use tilewright_core::Error;

impl Way {
    /// How a product is computed in this way.
    ///
    /// # Errors
    /// `unsupported` where there is no such kernel or tile, or it does not take the product.
    pub fn recipe(self, request: Request) -> Result<Recipe, Error> {
        Ok(find(self.kernel)?.recipe(&self.ask(request))?)
    }
}

static FAMILIES: [Choosing; 4] = [wgmma::CHOOSING, mma::CHOOSING, dmma::CHOOSING, simt::CHOOSING];

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = FAMILIES.iter().find(|family| family.kernel.name == self.kernel);
        let name = of.and_then(|family| (family.tile_name)(self.tile));
        let name = name.unwrap_or_else(|| self.tile.map(|part| part.to_string()).join("x"));
        write!(f, "{} {name}", self.kernel)?;
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

/// The kernels that take a product and have ways to compute it.
pub fn kernels_with_ways(request: &Request) -> impl Iterator<Item = &'static Kernel> {
    families(request).map(|family| family.kernel)
}

fn families(request: &Request) -> impl Iterator<Item = &'static Choosing> {
    FAMILIES.iter().filter(|family| family.kernel.recipe(request).is_ok())
}

/// At most `most` ways, the fastest by the cost models first; the first one is what is chosen without measurements. Every tile has its best way
/// among them, if there is room.
///
/// ```
/// use tilewright_core::{DType, Layout, Problem, SemiringId};
/// use tilewright_kernels::{Request, ways};
/// let l = Layout::row_major(1000, 1000);
/// let request = Request::new(Problem::new(l, l, l)?, SemiringId::MinPlus, DType::F32);
/// let eight = ways(&request, 8);
/// assert_eq!(eight.len(), 8);
/// assert!(!eight[7].recipe(request)?.launches().is_empty());
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn ways(request: &Request, most: usize) -> Vec<Way> {
    let free = Request { tile: None, pack: None, splits: None, form: Form::Specialised, ..*request };
    let seconds = |way: Way| Some((way, way.recipe(free).ok()?.seconds()));
    let mut all: Vec<_> =
        families(&free).flat_map(|family| (family.ways)(family.kernel, &free)).filter_map(seconds).collect();
    all.sort_by(|(_, x), (_, y)| x.total_cmp(y));
    // The best of each tile moves before the others.
    let is_first = |way: &Way, before: &[(Way, f64)]| before.iter().all(|(other, _)| other.tile != way.tile);
    let (first, rest): (Vec<_>, Vec<_>) =
        all.iter().enumerate().partition(|(i, (way, _))| is_first(way, &all[..*i]));
    first.into_iter().chain(rest).map(|(_, (way, _))| *way).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dmma_tiles, mma_tiles, select, simt_tiles, wgmma_tiles};
    use tilewright_core::{DType, Layout, Problem, SemiringId};

    fn request([m, n, k]: [usize; 3], semiring: SemiringId, dtype: DType) -> Request {
        let [a, b, c] = [(m, k), (k, n), (m, n)].map(|(rows, cols)| Layout::row_major(rows, cols));
        Request::new(Problem::new(a, b, c).unwrap(), semiring, dtype)
    }

    #[test]
    fn ways_are_different_can_be_asked_for_and_begin_with_what_is_chosen() {
        let sizes = [
            [1000, 1000, 1000],
            [4096, 4096, 4096],
            [64, 64, 100_000],
            [1, 1, 1],
            [16, 8192, 512],
            [131_072, 16, 16],
        ];
        let kinds = [
            (SemiringId::PlusTimes, DType::F32, vec!["simt"]),
            (SemiringId::MinPlus, DType::F64, vec!["simt"]),
            (SemiringId::PlusTimes, DType::F64, vec!["dmma", "simt"]),
            (SemiringId::PlusTimes, DType::Bf16, vec!["wgmma", "mma", "simt"]),
        ];
        for (size, (semiring, dtype, kernels)) in
            sizes.iter().flat_map(|size| kinds.iter().map(move |kind| (*size, kind)))
        {
            let asked = request(size, *semiring, *dtype);
            let found = ways(&asked, 60);
            let by_itself = select(&asked, None, &|_| Ok(())).unwrap().recipe;
            let launches = |recipe: &Recipe| -> Vec<_> {
                recipe.launches().iter().map(|l| (l.program().name().to_owned(), l.grid())).collect()
            };
            let first = found[0].recipe(asked).unwrap();
            assert_eq!(launches(&first), launches(&by_itself), "{size:?} {dtype}: {}", found[0]);
            for (i, way) in found.iter().enumerate() {
                assert!(!found[..i].contains(way), "{way}");
                assert_eq!(way.recipe(asked).unwrap().kernel().name, way.kernel);
            }
            assert!(kernels.iter().all(|kernel| found.iter().any(|way| way.kernel == *kernel)), "{found:?}");
            assert_eq!(kernels_with_ways(&asked).count(), kernels.len());
        }
        assert!(ways(&request([8; 3], SemiringId::OrAnd, DType::Bool), 0).is_empty());
        assert!(ways(&request([8; 3], SemiringId::LogPlus, DType::F32), 9).is_empty());
    }

    /// A request for a tile reaches the kernel that has it.
    #[test]
    fn no_two_kernels_share_a_tile() {
        let simt: Vec<_> = simt::SIMT.variants.iter().flat_map(|&variant| simt_tiles(variant)).collect();
        let families = [simt, wgmma_tiles(), mma_tiles(), dmma_tiles()];
        for (i, tiles) in families.iter().enumerate() {
            let others = families[i + 1..].iter().flatten();
            assert!(others.clone().all(|other| !tiles.contains(other)));
        }
    }

    #[test]
    fn words_name_kernel_tile_parts_and_what_is_packed() {
        let way = Way { kernel: "simt", tile: [64, 64, 32, 8, 8, 2], pack: [true, false], splits: Some(3) };
        assert_eq!(way.to_string(), "simt 64x64x32 (8x8 per thread, 2 slices), k in 3 parts, A packed");
        let way = Way { kernel: "wgmma", tile: wgmma_tiles()[0], pack: [false; 2], splits: Some(1) };
        assert!(way.to_string().starts_with("wgmma 128x"), "{way}");
        let gone = Way { kernel: "wgmma", tile: [1, 2, 3, 4, 5, 6], pack: [false; 2], splits: None };
        assert_eq!(gone.to_string(), "wgmma 1x2x3x4x5x6, split by the model");
        assert_eq!(
            gone.recipe(request([64; 3], SemiringId::PlusTimes, DType::F16)).unwrap_err().code(),
            "unsupported"
        );
    }
}
