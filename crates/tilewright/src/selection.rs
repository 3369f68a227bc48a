//! Which kernel computes a product on a GPU: the same for plans, the engine and the emulator.

use tilewright_core::Error;
use tilewright_cuda::{ProgramPtx, choose, kernels_by_speed};
use tilewright_kernels::{Family, Form, Kernel, Launch, Program, Recipe, Rejected, Request};

/// A recipe, and what it was made for.
pub(crate) struct Selection {
    pub request: Request,
    pub recipe: Recipe,
    /// The kernel that would have been better, and why it cannot be had.
    pub passed_over: Option<Rejected>,
}

/// The recipe of `kernel`, or of the one that is the fastest by its estimate.
///
/// # Errors
/// The refusal of `kernel`; `unsupported` when no kernel computes this.
pub(crate) fn select(asked: Request, kernel: Option<&'static Kernel>) -> Result<Selection, Error> {
    let recipe = kernel.map_or_else(|| choose(&asked), |kernel| Ok(kernel.recipe(&asked)?))?;
    Ok(Selection { request: asked, recipe, passed_over: None })
}

/// As [`select`], of the programs whose PTX can be had: where there is no NVRTC, the plain form of the kernel or another
/// kernel takes the place of a program that does not come with the catalogue.
///
/// # Errors
/// As [`select`]; `unavailable` without NVRTC where no kernel will do.
pub(crate) fn select_with_ptx(asked: Request, kernel: Option<&'static Kernel>) -> Result<Selection, Error> {
    select_among(asked, kernel, &|recipe| {
        recipe.launches().iter().map(Launch::program).try_for_each(|program| {
            ProgramPtx::exists(program).map_err(|error| Lacking {
                program: program.name().to_owned(),
                why: "its PTX does not come with the catalogue, and there is no NVRTC to compile it".into(),
                error,
            })
        })
    })
}

/// The first program of a recipe whose PTX does not come with the catalogue.
pub(crate) fn not_shipped(recipe: &Recipe) -> Option<&Program> {
    recipe.launches().iter().map(Launch::program).find(|program| program.shipped_ptx().is_none())
}

/// A program that cannot be had.
pub(crate) struct Lacking {
    pub program: String,
    pub why: String,
    pub error: Error,
}

/// As [`select`], of the recipes that are `available`.
pub(crate) fn select_among(
    asked: Request,
    kernel: Option<&'static Kernel>,
    available: &dyn Fn(&Recipe) -> Result<(), Lacking>,
) -> Result<Selection, Error> {
    let best = select(asked, kernel)?;
    let Err(lacking) = available(&best.recipe) else { return Ok(best) };
    let passed_over = Some(Rejected { candidate: lacking.program, reason: lacking.why });
    for candidate in kernels_by_speed().filter(|k| kernel.is_none_or(|asked| asked == *k)) {
        for request in forms(candidate, asked) {
            let Ok(recipe) = candidate.recipe(&request) else { continue };
            if available(&recipe).is_ok() {
                // What it says of other tiles is that they were not asked for.
                let recipe = recipe.with_rejected(Vec::new());
                return Ok(Selection { request, recipe, passed_over });
            }
        }
    }
    Err(lacking.error)
}

/// The ways in which a kernel can be asked for a product, the fastest first: `simt` also for its plain program, which comes with the
/// catalogue.
fn forms(kernel: &Kernel, request: Request) -> Vec<Request> {
    match kernel.family {
        Family::Production => {
            let plain = Request { form: Form::Plain, tile: None, pack: None, splits: None, ..request };
            vec![request, plain]
        }
        Family::Ladder | Family::Gallery => vec![request],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{DType, ErrorKind, Layout, Problem, SemiringId};
    use tilewright_cuda::Nvrtc;
    use tilewright_kernels::Variant;

    fn request(a: Layout, b: Layout) -> Request {
        let problem = Problem::new(a, b, Layout::row_major(a.rows, b.cols)).unwrap();
        Request::new(problem, SemiringId::PlusTimes, DType::F32)
    }

    #[test]
    fn what_is_selected_has_ptx_or_a_compiler() {
        for [m, n, k] in [[1, 1, 1], [64, 64, 64], [100, 37, 3], [300, 200, 1000], [5, 1024, 2]] {
            for b in [Layout::row_major(k, n), Layout::col_major(k, n), Layout::strided(k, n, 0, 0)] {
                let selection = select_with_ptx(request(Layout::col_major(m, k), b), None).unwrap();
                let lacks = not_shipped(&selection.recipe).is_some();
                assert!(!lacks || Nvrtc::find().is_ok(), "{m} x {n} x {k}: {:?}", selection.recipe.kernel());
                assert_eq!(selection.recipe.launches().is_empty(), selection.request.problem.c().is_empty());
            }
        }
    }

    /// As on a machine without NVRTC.
    fn shipped_alone(recipe: &Recipe) -> Result<(), Lacking> {
        let Some(program) = not_shipped(recipe) else { return Ok(()) };
        let (what, why, hint) = ("NVRTC", "a test does without".into(), String::new());
        let error = ErrorKind::Unavailable { what, why, hint }.into();
        Err(Lacking { program: program.name().to_owned(), why: "not shipped".into(), error })
    }

    /// Row-major, transposed, with gaps, reversed, broadcast, and scattered.
    fn layouts(rows: usize, cols: usize) -> [Layout; 6] {
        let (r, c) = (rows as isize, cols as isize);
        [
            Layout::row_major(rows, cols),
            Layout::col_major(rows, cols),
            Layout::strided(rows, cols, c + 3, 1),
            Layout::strided(rows, cols, -c, 1),
            Layout::strided(rows, cols, 0, 1),
            Layout::strided(rows, cols, 2, 2 * r + 1),
        ]
    }

    #[test]
    fn the_catalogue_alone_computes_every_size_and_layout() {
        let mut refused = Vec::new();
        for &Variant { semiring, dtype, .. } in Variant::ALL {
            for [m, n, k] in [[1, 1, 1], [64, 64, 64], [33, 31, 65], [8, 8, 20_000]] {
                let results = [Layout::row_major(m, n), Layout::col_major(m, n)];
                for (i, a) in layouts(m, k).into_iter().enumerate() {
                    // Doubles with every B; the others with one for each A.
                    let every = if (semiring, dtype) == (SemiringId::PlusTimes, DType::F64) {
                        0..6
                    } else {
                        i..i + 1
                    };
                    for j in every {
                        let (b, c) = (layouts(k, n)[j * 5 % 6], results[(i + j) % 2]);
                        let asked = Request::new(Problem::new(a, b, c).unwrap(), semiring, dtype);
                        match select_among(asked, None, &shipped_alone) {
                            Ok(s) => assert!(not_shipped(&s.recipe).is_none()),
                            Err(_) => refused.push((dtype, a, b, c)),
                        }
                    }
                }
            }
        }
        assert!(refused.is_empty(), "{} products, the first of them {:?}", refused.len(), refused[0]);
    }

    #[test]
    fn the_production_kernel_that_is_asked_for_takes_every_layout_without_a_compiler() {
        let simt = tilewright_kernels::find("simt").unwrap();
        for a in layouts(35, 100) {
            for b in layouts(100, 33) {
                let problem = Problem::new(a, b, Layout::row_major(35, 33)).unwrap();
                let asked = Request::new(problem, SemiringId::PlusTimes, DType::F64);
                let selection = select_among(asked, Some(simt), &shipped_alone).unwrap();
                assert_eq!(selection.recipe.kernel(), simt);
            }
        }
    }

    #[test]
    fn a_kernel_that_is_asked_for_is_selected_or_refuses() {
        let naive = tilewright_kernels::find("naive").unwrap();
        let rows = Layout::row_major(8, 8);
        let selection = select_with_ptx(request(rows, rows), Some(naive)).unwrap();
        assert_eq!(selection.recipe.kernel(), naive);
        let error = select(request(rows.t(), rows), Some(naive)).err().unwrap();
        assert_eq!(error.code(), "unsupported");
    }
}
