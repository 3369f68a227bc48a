//! Which kernel computes a product: of all that take it, the one that is the fastest by its estimate.

use crate::{
    catalogue::kernels,
    estimate,
    kernel::{
        Family, Kernel,
        launch::{Launch, Recipe, Rejected},
    },
    program::Program,
    request::{Form, Request},
};
use tilewright_core::{Error, ErrorKind};

/// Whether the code of a program can be had, or why not.
pub type Available<'a> = dyn Fn(&Program) -> Result<(), Error> + 'a;

/// How a product is computed.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The fastest recipe whose code can be had.
    pub recipe: Recipe,
    /// The program that a faster recipe needs, and why it cannot be had.
    pub passed_over: Option<Rejected>,
}

/// The fastest recipe for a request by its estimate, of those whose programs are all available: of one kernel, or of all of the catalogue. A pure function
/// but for `available`; it needs no device.
///
/// ```
/// use tilewright_core::{DType, ErrorKind, Layout, Problem, SemiringId};
/// use tilewright_kernels::{Request, select};
/// let layout = Layout::row_major(1000, 1000);
/// let request = Request::new(Problem::new(layout, layout, layout)?, SemiringId::MinPlus, DType::F32);
/// let anything = select(&request, None, &|_| Ok(()))?.recipe;
/// let shipped = select(&request, None, &|program| match program.shipped_ptx() {
///     Some(_) => Ok(()),
///     None => Err(ErrorKind::Unavailable { what: "PTX", why: "not shipped".into(), hint: "".into() }.into()),
/// })?;
/// assert_eq!(anything.kernel().name, "simt");
/// assert!(shipped.recipe.seconds() >= anything.seconds());
/// # Ok::<(), tilewright_core::Error>(())
/// ```
///
/// # Errors
/// The refusal of `kernel`; `unsupported` where no kernel takes the request, with the reason of the one that takes most; the error of `available` for the fastest
/// recipe where none can be had.
pub fn select(
    request: &Request,
    kernel: Option<&'static Kernel>,
    available: &Available<'_>,
) -> Result<Selection, Error> {
    let (mut rejected, mut candidates) = (Vec::new(), Vec::new());
    if let Some(kernel) = kernel {
        candidates.push(Candidate::of_recipe(kernel.recipe(request)?, request));
    }
    for kernel in kernels_of_products().filter(|_| kernel.is_none()) {
        match Candidate::new(kernel, request) {
            Ok(candidate) => candidates.push(candidate),
            Err(refused) => rejected.push(refused),
        }
    }
    let mut missing: Option<(Rejected, Error)> = None;
    while let Some(fastest) = take_fastest(&mut candidates) {
        let recipe = match fastest.recipe() {
            Ok(recipe) => recipe,
            Err(refused) => {
                rejected.push(refused);
                continue;
            }
        };
        let lacking = |program: &Program| {
            let error = available(program).err()?;
            Some((Rejected { candidate: program.name().to_owned(), reason: error.to_string() }, error))
        };
        let Some(lacks) = recipe.launches().iter().map(Launch::program).find_map(lacking) else {
            return Ok(Selection { recipe, passed_over: missing.map(|(program, _)| program) });
        };
        missing.get_or_insert(lacks);
        candidates.extend(Candidate::plain(&recipe));
    }
    Err(missing.map_or_else(|| unsupported(request, &rejected), |(_, error)| error))
}

/// The kernels that compute products.
pub fn kernels_of_products() -> impl Iterator<Item = &'static Kernel> {
    kernels().iter().filter(|kernel| kernel.family != Family::Gallery)
}

/// A kernel that may take a request.
struct Candidate {
    kernel: &'static Kernel,
    request: Request,
    seconds: f64,
    /// Where the estimate comes with it.
    recipe: Option<Recipe>,
}

impl Candidate {
    /// The estimate of a kernel of the ladder needs no recipe, and few of them are ever looked at.
    fn new(kernel: &'static Kernel, request: &Request) -> Result<Self, Rejected> {
        match kernel.family {
            Family::Production => Ok(Self::of_recipe(make(kernel, request)?, request)),
            Family::Ladder | Family::Gallery => {
                let seconds = estimate::of_ladder(kernel.name, request);
                Ok(Self { kernel, request: *request, seconds, recipe: None })
            }
        }
    }

    fn of_recipe(recipe: Recipe, request: &Request) -> Self {
        Self { kernel: recipe.kernel(), request: *request, seconds: recipe.seconds(), recipe: Some(recipe) }
    }

    /// The plain program of a production kernel, which comes with the catalogue, in place of another one of it.
    fn plain(recipe: &Recipe) -> Option<Self> {
        let kernel = recipe.kernel();
        let is_other =
            |request: &&Request| kernel.family == Family::Production && request.form != Form::Plain;
        let request = recipe.request().filter(is_other)?;
        let plain = Request { form: Form::Plain, tile: None, pack: None, splits: None, ..*request };
        // What it says of other tiles is that they were not asked for.
        Some(Self::of_recipe(kernel.recipe(&plain).ok()?.with_rejected(Vec::new()), &plain))
    }

    fn recipe(self) -> Result<Recipe, Rejected> {
        self.recipe.map_or_else(|| make(self.kernel, &self.request), Ok)
    }
}

fn make(kernel: &'static Kernel, request: &Request) -> Result<Recipe, Rejected> {
    kernel.recipe(request).map_err(|refusal| Rejected {
        candidate: kernel.name.into(),
        reason: format!("needs {}; {}", refusal.needs, refusal.found),
    })
}

fn take_fastest(candidates: &mut Vec<Candidate>) -> Option<Candidate> {
    let seconds = candidates.iter().map(|candidate| candidate.seconds);
    let (fastest, _) = seconds.enumerate().min_by(|(_, x), (_, y)| x.total_cmp(y))?;
    Some(candidates.swap_remove(fastest))
}

/// Why no kernel takes the request: none knows the semiring on this type, or all refuse its sizes and layouts.
fn unsupported(request: &Request, rejected: &[Rejected]) -> Error {
    let Request { dtype, .. } = *request;
    let semiring = request.own.map_or(request.semiring.name(), |own| own.name());
    let knows = |kernel: &&Kernel| kernel.computes(request.variant());
    let known = kernels_of_products().filter(knows).max_by_key(|kernel| kernel.family == Family::Production);
    let reason = |kernel: &Kernel| rejected.iter().find(|rejected| rejected.candidate == kernel.name);
    let (what, why) = match known.and_then(reason) {
        Some(last) => (
            format!("{semiring} on {dtype} with these sizes and layouts on a GPU"),
            format!("{}: it {}", last.candidate, last.reason),
        ),
        None => (format!("{semiring} on {dtype} on a GPU"), "no kernel of the catalogue computes it".into()),
    };
    ErrorKind::Unsupported { what, why, hint: "compute on the processor".into() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{catalogue::find, variant::Variant};
    use tilewright_core::{DType, Layout, Problem, SemiringId};

    fn request([m, n, k]: [usize; 3], semiring: SemiringId, dtype: DType) -> Request {
        let [a, b, c] = [(m, k), (k, n), (m, n)].map(|(rows, cols)| Layout::row_major(rows, cols));
        Request::new(Problem::new(a, b, c).unwrap(), semiring, dtype)
    }

    fn anything(request: &Request) -> Result<Recipe, Error> {
        select(request, None, &|_| Ok(())).map(|selection| selection.recipe)
    }

    /// As on a machine without a compiler.
    fn shipped_alone(program: &Program) -> Result<(), Error> {
        let (what, why, hint) = ("NVRTC", "a test does without".into(), String::new());
        let missing = ErrorKind::Unavailable { what, why, hint: hint.into() };
        program.shipped_ptx().map(|_| ()).ok_or_else(|| missing.into())
    }

    #[test]
    fn every_size_has_a_kernel_and_production_kernels_are_estimated_to_be_the_fastest() {
        for &variant in Variant::ALL {
            let production: &[_] = match (variant.semiring, variant.dtype) {
                (SemiringId::LogPlus, _) => &["log-plus"],
                (
                    SemiringId::PlusTimes,
                    DType::F16 | DType::Bf16 | DType::I8 | DType::U8 | DType::E4m3 | DType::E5m2,
                ) => &["wgmma", "mma", "simt"],
                (SemiringId::PlusTimes, DType::F64) => &["dmma", "simt"],
                _ => &["simt"],
            };
            for size in
                [[64, 64, 64], [1024, 1024, 1024], [1000, 37, 4097], [16, 16, 100_000], [100_000, 4, 4]]
            {
                let recipe = anything(&Request {
                    result: variant.result,
                    ..request(size, variant.semiring, variant.dtype)
                })
                .unwrap();
                assert!(production.contains(&recipe.kernel().name), "{variant} {size:?}");
                assert!(recipe.rejected().iter().all(|one| !one.reason.is_empty()));
            }
        }
    }

    #[test]
    fn what_no_kernel_does_is_unsupported() {
        let error = anything(&request([8; 3], SemiringId::OrAnd, DType::F64)).unwrap_err();
        assert_eq!(error.code(), "unsupported");
        // It is the semiring, whatever the layouts.
        let text = error.to_string();
        assert!(
            text.contains("no kernel of the catalogue computes it") && !text.contains("layouts"),
            "{text}"
        );
        assert!(error.hint().is_some());
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
                    let is_double = (semiring, dtype) == (SemiringId::PlusTimes, DType::F64);
                    for j in if is_double { 0..6 } else { i..i + 1 } {
                        let (b, c) = (layouts(k, n)[j * 5 % 6], results[(i + j) % 2]);
                        let asked = Request::new(Problem::new(a, b, c).unwrap(), semiring, dtype);
                        match select(&asked, None, &shipped_alone) {
                            Ok(found) => {
                                let mut programs = found.recipe.launches().iter().map(Launch::program);
                                assert!(programs.all(|program| program.shipped_ptx().is_some()));
                            }
                            Err(_) => refused.push((dtype, a, b, c)),
                        }
                    }
                }
            }
        }
        assert!(refused.is_empty(), "{} products, the first of them {:?}", refused.len(), refused[0]);
    }

    #[test]
    fn a_kernel_that_is_asked_for_is_selected_or_refuses() {
        let (naive, simt) = (find("naive").unwrap(), find("simt").unwrap());
        let rows = Layout::row_major(8, 8);
        let of = |a| Request::new(Problem::new(a, rows, rows).unwrap(), SemiringId::PlusTimes, DType::F32);
        assert_eq!(select(&of(rows), Some(naive), &shipped_alone).unwrap().recipe.kernel(), naive);
        assert_eq!(select(&of(rows.t()), Some(naive), &shipped_alone).unwrap_err().code(), "unsupported");
        for a in layouts(35, 100) {
            for b in layouts(100, 33) {
                let problem = Problem::new(a, b, Layout::row_major(35, 33)).unwrap();
                let asked = Request::new(problem, SemiringId::PlusTimes, DType::F64);
                assert_eq!(select(&asked, Some(simt), &shipped_alone).unwrap().recipe.kernel(), simt);
            }
        }
    }

    #[test]
    fn what_cannot_be_had_is_named_and_the_plain_program_takes_its_place() {
        let asked = request([1000; 3], SemiringId::MinPlus, DType::F64);
        let found = select(&asked, None, &shipped_alone).unwrap();
        assert_eq!(found.recipe.request().unwrap().form, Form::Plain);
        let passed_over = found.passed_over.unwrap();
        assert!(passed_over.candidate.contains(".min-plus.f64."), "{passed_over:?}");
        assert!(passed_over.reason.contains("a test does without"), "{passed_over:?}");
        assert!(found.recipe.seconds() >= anything(&asked).unwrap().seconds());
    }
}
