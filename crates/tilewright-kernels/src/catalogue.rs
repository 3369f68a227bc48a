//! All kernels, by name.

use crate::{
    families::{dmma::DMMA, log_plus::LOG_PLUS, mma::MMA, simt::SIMT, wgmma::WGMMA},
    gallery,
    kernel::Kernel,
    ladder::*,
};
use std::sync::LazyLock;
use strsim::levenshtein;
use tilewright_core::{Error, ErrorKind};

/// Every kernel: the ladder from naive to fast, the gallery, the production kernels.
pub fn kernels() -> &'static [Kernel] {
    static KERNELS: LazyLock<Vec<Kernel>> = LazyLock::new(|| {
        let production = [SIMT, LOG_PLUS, WGMMA, MMA, DMMA];
        LADDER.into_iter().chain(gallery::KERNELS).chain(production).collect()
    });
    &KERNELS
}

const LADDER: [Kernel; 12] = [
    NAIVE,
    COALESCED,
    SINGLE_BLOCK,
    SHARED_TILE,
    SHARED_TILE_RAGGED,
    SHARED_TILE_DYNAMIC,
    REGISTER_TILE,
    SHARED_REGISTER_TILE,
    BLOCK_TILE_1D,
    BLOCK_TILE_2D,
    VECTORIZED,
    WARP_TILE,
];
/// The kernel with this name.
///
/// # Errors
/// `unsupported`, with the names that come closest.
pub fn find(name: &str) -> Result<&'static Kernel, Error> {
    kernels().iter().find(|k| k.name == name).ok_or_else(|| {
        ErrorKind::Unsupported {
            what: format!("kernel '{name}'"),
            why: "there is none of this name".into(),
            hint: suggestion(name).into(),
        }
        .into()
    })
}

/// Names within a few typing errors, or all names.
fn suggestion(name: &str) -> String {
    let mut near: Vec<_> = kernels().iter().map(|k| (levenshtein(name, k.name), k.name)).collect();
    near.sort_unstable();
    let best = near.iter().take_while(|(d, n)| *d <= n.len().min(name.len()) / 2).take(3);
    let best = best.map(|(_, n)| *n).collect::<Vec<_>>();
    if best.is_empty() {
        let all = kernels().iter().map(|k| k.name).collect::<Vec<_>>().join(", ");
        return format!("one of {all}");
    }
    format!("did you mean {}?", best.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_or_suggested() {
        for k in kernels() {
            assert_eq!(find(k.name).unwrap().name, k.name);
        }
        let hint = |name| find(name).unwrap_err().hint().unwrap();
        assert!(hint("shared-tyle").starts_with("did you mean shared-tile"), "{}", hint("shared-tyle"));
        assert!(hint("zzz").starts_with("one of naive, "));
    }

    #[test]
    fn names_are_unique_and_described() {
        for (i, k) in kernels().iter().enumerate() {
            assert!(kernels()[..i].iter().all(|other| other.name != k.name), "{} twice", k.name);
            assert!(!k.summary.is_empty() && !k.teaches.is_empty() && !k.variants.is_empty(), "{}", k.name);
            assert!(k.source.starts_with(&format!("// {}: ", k.name)), "{} opens with its name", k.file);
        }
    }
}
