//! Which kernel computes a product: the first of the catalogue, from the fastest on, that takes it.

use tilewright_core::{Error, ErrorKind};
use tilewright_kernels::{Family, Kernel, Recipe, Rejected, Request, kernels};

/// The recipe for a request. Production kernels come first, then the ladder from its top down; the recipe lists what was passed over
/// and why. A pure function: it needs no device.
///
/// # Errors
/// `unsupported` when no kernel takes the request, with the reason of the one that takes most.
///
/// ```
/// use tilewright_core::{DType, Layout, Problem, SemiringId};
/// use tilewright_kernels::Request;
/// let layout = Layout::row_major(1000, 1000);
/// let problem = Problem::new(layout, layout, layout)?;
/// let recipe = tilewright_cuda::choose(&Request::new(problem, SemiringId::MinPlus, DType::F32))?;
/// assert!(!recipe.launches().is_empty());
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn choose(request: &Request) -> Result<Recipe, Error> {
    let mut rejected = Vec::new();
    for kernel in kernels_by_speed() {
        match kernel.recipe(request) {
            Ok(recipe) => {
                rejected.extend_from_slice(recipe.rejected());
                return Ok(recipe.with_rejected(rejected));
            }
            Err(refusal) => {
                let reason = format!("it needs {}; {}", refusal.needs, refusal.found);
                rejected.push(Rejected { candidate: kernel.name.into(), reason });
            }
        }
    }
    Err(unsupported(request, &rejected))
}

/// Why no kernel takes the request: none knows the semiring on this type, or all refuse its sizes and layouts.
fn unsupported(request: &Request, rejected: &[Rejected]) -> Error {
    let Request { dtype, .. } = *request;
    let semiring = request.own.map_or(request.semiring.name(), |own| own.name());
    let knows = |kernel: &Kernel| kernel.computes(request.variant());
    let (what, why) = match rejected.last() {
        Some(last) if kernels_by_speed().any(knows) => (
            format!("{semiring} on {dtype} with these sizes and layouts on a GPU"),
            format!("{}: {}", last.candidate, last.reason),
        ),
        _ => (format!("{semiring} on {dtype} on a GPU"), "no kernel of the catalogue computes it".into()),
    };
    ErrorKind::Unsupported { what, why, hint: "compute on the processor".into() }.into()
}

/// The kernels that compute products, the fastest first: the catalogue lists the ladder from the bottom up.
pub fn kernels_by_speed() -> impl Iterator<Item = &'static Kernel> {
    let family = |family| kernels().iter().filter(move |kernel| kernel.family == family);
    family(Family::Production).chain(family(Family::Ladder).rev())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{DType, Layout, Problem, SemiringId};

    fn request(m: usize, n: usize, k: usize, semiring: SemiringId, dtype: DType) -> Request {
        let layouts = (Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n));
        let problem = Problem::new(layouts.0, layouts.1, layouts.2).expect("shapes fit");
        Request::new(problem, semiring, dtype)
    }

    #[test]
    fn every_size_has_a_kernel_and_those_passed_over_have_a_reason() {
        for semiring in [SemiringId::PlusTimes, SemiringId::MinPlus] {
            for (m, n, k) in [(1, 1, 1), (64, 64, 64), (1024, 1024, 1024), (1000, 37, 4097), (5, 5, 0)] {
                let recipe = choose(&request(m, n, k, semiring, DType::F32)).expect("a kernel");
                assert!(recipe.rejected().iter().all(|one| !one.reason.is_empty()));
                assert!(recipe.kernel().family != Family::Gallery);
            }
        }
    }

    #[test]
    fn the_slowest_kernel_is_the_last_resort() {
        let recipe = choose(&request(2048, 2048, 2048, SemiringId::PlusTimes, DType::F32)).expect("a kernel");
        assert!(!["naive", "coalesced"].contains(&recipe.kernel().name), "{}", recipe.kernel().name);
    }

    #[test]
    fn what_no_kernel_does_is_unsupported() {
        let error = choose(&request(8, 8, 8, SemiringId::OrAnd, DType::F64)).expect_err("no such product");
        assert_eq!(error.code(), "unsupported");
        // It is the semiring, whatever the layouts.
        let text = error.to_string();
        assert!(
            text.contains("no kernel of the catalogue computes it") && !text.contains("layouts"),
            "{text}"
        );
        assert!(error.hint().is_some());
    }
}
