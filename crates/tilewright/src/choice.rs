//! Which backend computes a product that did not ask for one.

use crate::{
    backend::Backend,
    options::{Options, Why},
    plan::Results,
};
#[cfg(feature = "cuda")]
use crate::{
    device::{self, Failure},
    options::Report,
};
use std::{sync::OnceLock, thread::available_parallelism};
#[cfg(feature = "cuda")]
use tilewright_arch::Gpu;
use tilewright_core::{Error, Layout, Semiring};
#[cfg(feature = "cuda")]
use tilewright_kernels::{Batch, Request, Variant};

/// Where a product is to be computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub backend: Backend,
    /// For [`Backend::Auto`], the reason.
    pub why: Why,
    /// Where it is computed if the backend fails before it has written anything.
    pub otherwise: Otherwise,
}

#[cfg(feature = "cuda")]
impl Choice {
    /// What `kernel` computes into `c`; if it fails and nobody asked for it, what this processor does, as long as the old C is there to
    /// be read or does not matter.
    pub fn carry_out<C>(
        &self,
        c: &mut C,
        reads_c: bool,
        kernel: impl FnOnce(&mut C) -> Result<Report, Failure>,
        here: impl FnOnce(&mut C) -> Result<Report, Error>,
    ) -> Result<Report, Error> {
        let why = &self.why;
        match kernel(c) {
            Ok(report) if why.is_empty() => Ok(report),
            Ok(report) if report.why.is_empty() => Ok(Report { why: why.clone(), ..report }),
            Ok(report) => Ok(Report { why: format!("{why}; {}", report.why).into(), ..report }),
            Err(Failure { error, c: old }) => {
                if self.otherwise == Otherwise::Nowhere || (old == device::Target::Lost && reads_c) {
                    return Err(error);
                }
                let report = here(c)?;
                let why = format!("{why}; the processor computed it, because the GPU failed: {error}");
                Ok(Report { why: why.into(), ..report })
            }
        }
    }
}

/// What follows a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Otherwise {
    /// It is the caller's, who asked for the backend or for one of its kernels.
    Nowhere,
    /// This processor computes, because nobody asked for the backend.
    Here,
}

/// The backend, and for [`Backend::Auto`] the reason.
pub(crate) fn choose<S: Semiring>(
    options: &Options<'_>,
    a: Layout,
    b: Layout,
    results: Results,
) -> Result<Choice, Error> {
    choose_of::<S>(options, (a, b), [1; 3], results)
}

/// The same of so many matrices A, B and C.
pub(crate) fn choose_of<S: Semiring>(
    options: &Options<'_>,
    (a, b): (Layout, Layout),
    copies: [usize; 3],
    results: Results,
) -> Result<Choice, Error> {
    let element = size_of::<S::Elem>();
    let effort = if S::BUILT_IN.is_some() { 1.0 } else { Asked::OWN };
    choose_for(&Asked {
        options,
        a,
        b,
        copies,
        results,
        element,
        effort,
        #[cfg(feature = "cuda")]
        variant: &device::variant::<S>,
    })
}

/// A product, as far as the choice depends on it.
pub(crate) struct Asked<'a> {
    pub options: &'a Options<'a>,
    pub a: Layout,
    pub b: Layout,
    /// How many matrices A, B and C there are; as many products as C.
    pub copies: [usize; 3],
    pub results: Results,
    /// Bytes of an element.
    pub element: usize,
    /// Time of a term on this processor, beside that of a built-in semiring.
    pub effort: f64,
    /// What a kernel would compute.
    #[cfg(feature = "cuda")]
    pub variant: &'a dyn Fn() -> Result<Variant, Error>,
}

impl Asked<'_> {
    /// The effort of a user's semiring, roughly.
    pub const OWN: f64 = 8.0;

    /// The products that one launch computes, from matrices without gaps: those with winning terms are launched one by one.
    #[cfg(feature = "cuda")]
    fn batch(&self) -> Batch {
        let [a, b, count] = self.copies;
        if count < 2 || self.results == Results::ProductAndArg {
            return Batch::ONE;
        }
        let (m, n, k) = (self.a.rows, self.b.cols, self.a.cols);
        let next = |copies: usize, rows: usize, cols: usize| {
            if copies > 1 { rows.saturating_mul(cols) as isize } else { 0 }
        };
        Batch { count, a: next(a, m, k), b: next(b, k, n), c: next(count, m, n) }
    }
}

/// As [`choose`].
pub(crate) fn choose_for(asked_for: &Asked<'_>) -> Result<Choice, Error> {
    let options = asked_for.options;
    let asked = |backend, why| Choice { backend, why, otherwise: Otherwise::Nowhere };
    #[cfg(feature = "cuda")]
    if let Some(kernel) = options.kernel {
        return match options.backend {
            Backend::Auto => {
                Ok(asked(Backend::Cuda.resolve()?, format!("{} is a kernel for GPUs", kernel.name).into()))
            }
            Backend::Cpu | Backend::Reference => Err(tilewright_core::ErrorKind::Unsupported {
                what: format!("the kernel {} on the backend {}", kernel.name, options.backend),
                why: "it is a kernel for GPUs".into(),
                hint: "choose the backend cuda or emulator".into(),
            }
            .into()),
            backend => Ok(asked(backend.resolve()?, Why::default())),
        };
    }
    match options.backend {
        Backend::Auto => Ok(automatic(asked_for)),
        backend => Ok(asked(backend.resolve()?, Why::default())),
    }
}

fn automatic(asked: &Asked<'_>) -> Choice {
    let (backend, why) = match gpu(asked) {
        Ok(why) => (Backend::Cuda, why),
        Err(why) => (Backend::Cpu, why),
    };
    Choice { backend, why, otherwise: Otherwise::Here }
}

/// Why the GPU, or why not.
fn gpu(asked: &Asked<'_>) -> Result<Why, Why> {
    let &Asked { options, a, b, copies, results, element, effort, .. } = asked;
    if options.isa.is_some() {
        return Err("instruction sets are the processor's".into());
    }
    let cost = Cost::of((a, b), copies, element, options.threads);
    let mut cost = cost.with_results(copies[2].saturating_mul(a.rows), b.cols, results);
    cost.here *= effort;
    // Asking anybody takes longer than a small product.
    if cost.here <= cost.transfer {
        return Err(cost.why(NOT_EVEN_THE_WAY, cost.transfer));
    }
    #[cfg(feature = "cuda")]
    {
        faster_gpu(asked, cost)
    }
    #[cfg(not(feature = "cuda"))]
    {
        Err("the library was compiled without its feature `cuda`".into())
    }
}

/// Why a GPU that computes this faster, or why not.
#[cfg(feature = "cuda")]
fn faster_gpu(asked: &Asked<'_>, cost: Cost) -> Result<Why, Why> {
    let text = |error: Error| Why::from(error.to_string());
    let variant = (asked.variant)().map_err(text)?;
    let start = if tilewright_cuda::Engine::is_shared_open() { 0.0 } else { DEVICE_START };
    if cost.here <= start + cost.transfer {
        return Err(cost.why(NOT_EVEN_THE_WAY, start + cost.transfer));
    }
    let gpu = present().as_ref().map_err(|why| Why::from(why.clone()))?;
    let request = request(variant, [asked.a.rows, asked.b.cols, asked.a.cols], gpu);
    let (arg, batch) = (asked.results == Results::ProductAndArg, asked.batch());
    let request = Request { arg, batch, ..request.map_err(text)? };
    let launches = (asked.copies[2] / batch.count.max(1)) as f64;
    let there = start + cost.transfer + launches * on_device(&request).map_err(text)?;
    if cost.here <= there {
        return Err(cost.why("the processor is faster", there));
    }
    Ok(cost.why("the GPU is faster", there))
}

/// A product of matrices by rows.
#[cfg(feature = "cuda")]
fn request(variant: Variant, [m, n, k]: [usize; 3], gpu: &Gpu) -> Result<Request, Error> {
    let [a, b, c] = [(m, k), (k, n), (m, n)].map(|(rows, cols)| Layout::row_major(rows, cols));
    let problem = tilewright_core::Problem::new(a, b, c)?;
    Ok(Request { gpu: *gpu, ..Request::of(problem, variant) })
}

/// Seconds of a product on a GPU, by the estimate of the kernel that computes it there.
#[cfg(feature = "cuda")]
fn on_device(request: &Request) -> Result<f64, Error> {
    Ok(tilewright_kernels::select(request, None, &|_| Ok(()))?.recipe.seconds())
}

/// The GPU that would compute, which this process asks for once, or why there is none.
#[cfg(feature = "cuda")]
fn present() -> &'static Result<Gpu, String> {
    static PRESENT: OnceLock<Result<Gpu, String>> = OnceLock::new();
    PRESENT.get_or_init(|| {
        let info = tilewright_cuda::Engine::shared_device();
        info.map(|info| info.gpu()).map_err(|error| error.to_string())
    })
}

/// Whether the GPU that is here closes a matrix of `n` rows and columns in less than so many seconds, the way there and back and what it takes to begin included.
///
/// # Errors
/// Why not.
#[cfg(all(feature = "cuda", feature = "paths"))]
pub(crate) fn closes_faster(than: f64, n: usize, dtype: tilewright_core::DType) -> Result<(), String> {
    let start = if tilewright_cuda::Engine::is_shared_open() { 0.0 } else { DEVICE_START };
    if than <= start {
        return Err(NOT_EVEN_THE_WAY.into());
    }
    let there = start + present().as_ref().map(|gpu| seconds_on(gpu, n, dtype))?;
    if there < than { Ok(()) } else { Err(format!("about {than:.3} s here, {there:.3} s on the GPU")) }
}

/// Seconds of a closure on a GPU that is ready, or of a product of that size.
#[cfg(all(feature = "cuda", feature = "paths"))]
pub(crate) fn seconds_on(gpu: &Gpu, n: usize, dtype: tilewright_core::DType) -> f64 {
    use tilewright_core::{DType, SemiringId};
    let square = Layout::row_major(n, n);
    let cost = Cost::new(square, square, dtype.size(), 1);
    // Shortest paths stand for all.
    let semiring = if dtype == DType::Bool { SemiringId::OrAnd } else { SemiringId::MinPlus };
    let request = request(Variant::new(semiring, dtype), [n; 3], gpu);
    // One matrix there and one back, not two and one.
    let transfer = cost.transfer * 2.0 / 3.0;
    request.and_then(|request| on_device(&request)).map_or(f64::INFINITY, |seconds| transfer + seconds)
}

/// The reason against a GPU that holds whatever the GPU is.
const NOT_EVEN_THE_WAY: &str =
    "the processor has it done in less time than the operands would take to any GPU";

/// Opening a device and loading a kernel from the cache, in seconds; an H200 with driver 580.
#[cfg(feature = "cuda")]
const DEVICE_START: f64 = 0.4;
/// Bytes per second between ordinary memory of the host and a device: 10 there and 18 back on an H200.
const BUS: f64 = 10e9;
/// Terms per second of a thread of this processor, for 4-byte elements: between that of plus-times (100) and min-plus (50).
const THREAD: f64 = 70e9;

/// At most `wanted` threads, or all; how many there are does not change while a process runs.
fn threads(wanted: usize) -> usize {
    static ALL: OnceLock<usize> = OnceLock::new();
    let all = *ALL.get_or_init(|| available_parallelism().map_or(1, Into::into));
    if wanted == 0 { all } else { wanted.min(all) }
}

/// Estimates in seconds, each good to a factor of two: near the break-even either choice is fine.
#[derive(Debug, Clone, Copy)]
struct Cost {
    here: f64,
    transfer: f64,
}

impl Cost {
    /// Of one product.
    #[cfg(all(feature = "cuda", any(test, feature = "paths")))]
    fn new(a: Layout, b: Layout, element: usize, wanted: usize) -> Self {
        Self::of((a, b), [1; 3], element, wanted)
    }

    /// Of so many matrices A, B and C.
    fn of((a, b): (Layout, Layout), copies: [usize; 3], element: usize, wanted: usize) -> Self {
        let (m, n, k) = (a.rows as f64, b.cols as f64, a.cols as f64);
        let [of_a, of_b, count] = copies.map(|copies| copies as f64);
        let bytes = (of_a * m * k + of_b * k * n + count * m * n) * element as f64;
        let terms = count * m * n * k;
        let here = terms * element as f64 / 4.0 / (THREAD * threads(wanted) as f64);
        Self { here, transfer: bytes / BUS }
    }

    /// With what else comes back.
    fn with_results(self, m: usize, n: usize, results: Results) -> Self {
        let bytes = match results {
            Results::Product => 0,
            Results::ProductAndArg => m.saturating_mul(n).saturating_mul(size_of::<u32>()),
        };
        Self { transfer: self.transfer + bytes as f64 / BUS, ..self }
    }

    fn why(&self, what: &'static str, there: f64) -> Why {
        Why::estimated(what, [self.here, there, self.transfer])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "cuda")]
    use tilewright_core::{DType, SemiringId};

    /// Estimated seconds of a square product here, on so many threads, and on a GPU that is open.
    #[cfg(feature = "cuda")]
    fn seconds(n: usize, threads: f64, gpu: &str, semiring: SemiringId, dtype: DType) -> [f64; 2] {
        let square = Layout::row_major(n, n);
        let cost = Cost::new(square, square, dtype.size(), 1);
        let gpu = Gpu::named(gpu).unwrap();
        let request = request(Variant::new(semiring, dtype), [n; 3], &gpu).unwrap();
        [cost.here / threads, cost.transfer + on_device(&request).unwrap()]
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn small_products_stay_here_and_large_ones_pay_for_the_way() {
        let f32 = |n| seconds(n, 16.0, "h200", SemiringId::PlusTimes, DType::F32);
        let [here, there] = f32(1000);
        assert!(here < DEVICE_START + there);
        let [here, there] = f32(16_384);
        assert!(here > DEVICE_START + there);
        // A thin product moves more than it computes.
        let thin = Cost::new(Layout::row_major(1 << 20, 4), Layout::row_major(4, 1 << 10), 4, 1);
        assert!(thin.here / 16.0 < thin.transfer);
    }

    /// A server has them everywhere, a consumer's GPU for a sixty-fourth of its floats.
    #[cfg(feature = "cuda")]
    #[test]
    fn doubles_go_to_gpus_that_have_units_for_them() {
        let gpu_wins = |gpu, dtype| {
            let [here, there] = seconds(8192, 16.0, gpu, SemiringId::PlusTimes, dtype);
            there < here
        };
        let all = ["a100", "h200", "b200", "t4", "l4", "rtx 4090"];
        assert_eq!(all.map(|gpu| gpu_wins(gpu, DType::F64)), [true, true, true, false, false, false]);
        assert_eq!(all.map(|gpu| gpu_wins(gpu, DType::F32)), [true; 6]);
        // Log-plus is computed nearly as fast as plus-times.
        let [sums, logs] = [SemiringId::PlusTimes, SemiringId::LogPlus]
            .map(|s| seconds(8192, 16.0, "a100", s, DType::F64)[1]);
        assert!((1.0..1.2).contains(&(logs / sums)), "{sums} {logs}");
        // Sixteen times what was assumed of all GPUs alike, half of their lanes for elements of four bytes.
        let [_, there] = seconds(8192, 1.0, "rtx 4090", SemiringId::PlusTimes, DType::F64);
        assert!(there > 1.0, "{there}");
    }

    /// Of 512 cubed, in min-plus: one is done before a device is open, a thousand that meet one B are not.
    #[cfg(feature = "cuda")]
    #[test]
    fn a_stack_is_chosen_for_as_a_whole() {
        let (square, gpu) = (Layout::row_major(512, 512), Gpu::named("h200").unwrap());
        let seconds = |copies: [usize; 3], results| {
            let (options, variant) = (&Options::default(), Variant::new(SemiringId::MinPlus, DType::F32));
            let (a, b, of) = (square, square, &|| Ok(variant));
            let asked = Asked { options, a, b, copies, results, element: 4, effort: 1.0, variant: of };
            let cost = Cost::of((a, b), copies, 4, 1);
            let request = Request { batch: asked.batch(), ..request(variant, [512; 3], &gpu).unwrap() };
            assert_eq!(request.batch.b, 0);
            [cost.here, DEVICE_START + cost.transfer, on_device(&request).unwrap()]
        };
        let [here, there, _] = seconds([1; 3], Results::Product);
        assert!(here < there);
        let [here, there, kernel] = seconds([1000, 1, 1000], Results::Product);
        assert!(here > there + kernel, "{here} {there} {kernel}");
        // Winning terms are launched one by one.
        let [_, _, one] = seconds([1000, 1, 1000], Results::ProductAndArg);
        assert!(one < kernel / 100.0, "{one} {kernel}");
    }

    #[test]
    fn automatic_choices_have_a_reason_and_asked_for_ones_do_not() {
        let layout = Layout::row_major(8, 8);
        let choose = |backend| {
            let options = Options { backend, ..Options::default() };
            choose::<tilewright_core::MinPlus<f32>>(&options, layout, layout, Results::Product)
        };
        let auto = choose(Backend::Auto).unwrap();
        assert!(auto.backend == Backend::Cpu && !auto.why.is_empty() && auto.otherwise == Otherwise::Here);
        let text = auto.why.to_string();
        assert!(
            text.starts_with("the processor has it done")
                && text.contains(" here, ")
                && !text.contains(" 0.000 s"),
            "{text}"
        );
        for backend in [Backend::Reference, Backend::Emulator] {
            let (why, otherwise) = (Why::default(), Otherwise::Nowhere);
            match choose(backend) {
                Ok(choice) => assert_eq!(choice, Choice { backend, why, otherwise }),
                Err(error) => assert_eq!((error.code(), cfg!(feature = "emulator")), ("unavailable", false)),
            }
        }
    }

    /// As a process that has no GPU, or too few of them, is told: once, and with the same words.
    #[cfg(feature = "cuda")]
    #[test]
    fn large_products_ask_for_the_device_that_would_compute() {
        let layout = Layout::row_major(16_384, 16_384);
        let choose = || {
            choose::<tilewright_core::PlusTimes<f32>>(
                &Options { threads: 1, ..Options::default() },
                layout,
                layout,
                Results::Product,
            )
        };
        let (first, second) = (choose().unwrap(), choose().unwrap());
        assert_eq!(first, second);
        match present() {
            Ok(_) => assert_eq!(first.backend, Backend::Cuda),
            Err(why) => assert_eq!((first.backend, &first.why.to_string()), (Backend::Cpu, why)),
        }
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn kernels_for_gpus_are_not_the_processors() {
        let layout = Layout::row_major(8, 8);
        let kernel = tilewright_kernels::find("naive").ok();
        for backend in [Backend::Cpu, Backend::Reference] {
            let options = Options { backend, kernel, ..Options::default() };
            let chosen = choose::<tilewright_core::MinPlus<f32>>(&options, layout, layout, Results::Product);
            assert_eq!(chosen.unwrap_err().code(), "unsupported");
        }
    }
}
