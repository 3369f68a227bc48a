//! Which kernel computes a product on a GPU, and with which operands: the same for plans, the engine and the emulator.

use crate::ptx;
use tilewright_core::{Error, Layout, Problem};
use tilewright_cuda::{Nvrtc, choose, kernels_by_speed};
use tilewright_kernels::{Alignment, Family, Kernel, Recipe, Rejected, Request, simt_tiles};

/// A recipe, and what it was made for.
pub(crate) struct Selection {
    pub request: Request,
    pub recipe: Recipe,
    pub operands: Operands,
    /// The kernel that would have been better, and why it cannot be had.
    pub passed_over: Option<Rejected>,
}

/// What the kernel multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    AsTheyAre,
    /// No kernel takes their strides.
    CopiedByRows,
}

/// The recipe of `kernel`, or of the first kernel that takes these layouts or else copies by rows.
///
/// # Errors
/// The refusal of `kernel`; `unsupported` when no kernel computes this.
pub(crate) fn select(asked: Request, kernel: Option<&'static Kernel>) -> Result<Selection, Error> {
    let selected = |request, recipe, operands| Selection { request, recipe, operands, passed_over: None };
    if let Some(kernel) = kernel {
        return Ok(selected(asked, kernel.recipe(&asked)?, Operands::AsTheyAre));
    }
    let refusal = match choose(&asked) {
        Ok(recipe) => return Ok(selected(asked, recipe, Operands::AsTheyAre)),
        Err(refusal) => refusal,
    };
    let copied = by_rows(asked)?;
    let recipe = choose(&copied).map_err(|_| refusal)?;
    Ok(selected(copied, recipe, Operands::CopiedByRows))
}

/// As [`select`], of the programs whose PTX can be had: where there is no NVRTC, another tile, copies by rows or another kernel
/// takes the place of a program that is not part of the catalogue's PTX.
///
/// # Errors
/// As [`select`]; `unavailable` without NVRTC where no kernel will do.
pub(crate) fn select_with_ptx(asked: Request, kernel: Option<&'static Kernel>) -> Result<Selection, Error> {
    let best = select(asked, kernel)?;
    let Some(program) = ptx::not_shipped(&best.recipe) else { return Ok(best) };
    let Err(missing) = Nvrtc::find() else { return Ok(best) };
    let passed_over = Some(Rejected {
        candidate: program.name.clone(),
        reason: "its PTX is not part of the catalogue, and there is no NVRTC to compile it".into(),
    });
    let copied = if kernel.is_none() { Some((by_rows(asked)?, Operands::CopiedByRows)) } else { None };
    for (request, operands) in [(asked, Operands::AsTheyAre)].into_iter().chain(copied) {
        for candidate in kernels_by_speed().filter(|k| kernel.is_none_or(|asked| asked == *k)) {
            for tile in tiles(candidate, &request) {
                let request = Request { tile, ..request };
                let Ok(recipe) = candidate.recipe(&request) else { continue };
                if ptx::not_shipped(&recipe).is_none() {
                    // What it says of other tiles is that they were not asked for.
                    let recipe = Recipe { rejected: Vec::new(), ..recipe };
                    return Ok(Selection { request, recipe, operands, passed_over });
                }
            }
        }
    }
    Err(missing)
}

/// The same product of copies by rows, which begin where allocations do.
fn by_rows(request: Request) -> Result<Request, Error> {
    let p = &request.problem;
    let [a, b, c] = [p.a(), p.b(), p.c()].map(|l| Layout::row_major(l.rows, l.cols));
    Ok(Request { problem: Problem::new(a, b, c)?, alignment: Alignment::ALLOCATION, ..request })
}

/// The tiles that can be asked for.
fn tiles(kernel: &Kernel, request: &Request) -> Vec<Option<[u32; 5]>> {
    match kernel.family {
        Family::Production => simt_tiles(request.dtype).into_iter().map(Some).collect(),
        _ => vec![request.tile],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{DType, SemiringId};

    fn request(a: Layout, b: Layout) -> Request {
        let problem = Problem::new(a, b, Layout::row_major(a.rows, b.cols)).unwrap();
        Request::new(problem, SemiringId::PlusTimes, DType::F32)
    }

    #[test]
    fn what_is_selected_has_ptx_or_a_compiler() {
        for [m, n, k] in [[1, 1, 1], [64, 64, 64], [100, 37, 3], [300, 200, 1000], [5, 1024, 2]] {
            for b in [Layout::row_major(k, n), Layout::col_major(k, n), Layout::strided(k, n, 0, 0)] {
                let selection = select_with_ptx(request(Layout::col_major(m, k), b), None).unwrap();
                let lacks = ptx::not_shipped(&selection.recipe).is_some();
                assert!(!lacks || Nvrtc::find().is_ok(), "{m} x {n} x {k}: {:?}", selection.recipe.kernel);
                assert_eq!(selection.recipe.launches.is_empty(), selection.request.problem.c().is_empty());
            }
        }
    }

    #[test]
    fn a_kernel_that_is_asked_for_is_selected_or_refuses() {
        let naive = tilewright_kernels::find("naive").unwrap();
        let rows = Layout::row_major(8, 8);
        let selection = select_with_ptx(request(rows, rows), Some(naive)).unwrap();
        assert_eq!((selection.recipe.kernel, selection.operands), (naive, Operands::AsTheyAre));
        let error = select(request(rows.t(), rows), Some(naive)).err().unwrap();
        assert_eq!(error.code(), "unsupported");
    }
}
