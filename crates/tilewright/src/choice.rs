//! Which backend computes a product that did not ask for one.

use crate::{backend::Backend, options::Options};
use tilewright_core::{Error, ErrorKind, Layout, Problem, Semiring};
use tilewright_cuda::{DeviceInfo, Engine};
use tilewright_kernels::Request;

/// Whether the arg result is wanted, which only this processor computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgResult {
    Wanted,
    NotWanted,
}

/// Where a product is to be computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub backend: Backend,
    /// For [`Backend::Auto`], the reason.
    pub why: String,
    /// Where it is computed if the backend fails before it has written anything.
    pub otherwise: Otherwise,
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
    arg: ArgResult,
) -> Result<Choice, Error> {
    let asked = |backend, why| Choice { backend, why, otherwise: Otherwise::Nowhere };
    match (options.backend, options.kernel) {
        (Backend::Auto, None) => Ok(automatic::<S>(options, a, b, arg)),
        (Backend::Auto, Some(kernel)) => {
            Ok(asked(Backend::Cuda.resolve()?, format!("{} is a kernel for GPUs", kernel.name)))
        }
        (Backend::Cpu | Backend::Reference, Some(kernel)) => Err(ErrorKind::Unsupported {
            what: format!("the kernel {} on the backend {}", kernel.name, options.backend),
            why: "it is a kernel for GPUs".into(),
            hint: "choose the backend cuda or emulator".into(),
        }
        .into()),
        (backend, _) => Ok(asked(backend.resolve()?, String::new())),
    }
}

fn automatic<S: Semiring>(options: &Options<'_>, a: Layout, b: Layout, arg: ArgResult) -> Choice {
    let (backend, why) = match gpu::<S>(options, a, b, arg) {
        Ok(why) => (Backend::Cuda, why),
        Err(why) => (Backend::Cpu, why),
    };
    Choice { backend, why, otherwise: Otherwise::Here }
}

/// Why the GPU, or why not.
fn gpu<S: Semiring>(options: &Options<'_>, a: Layout, b: Layout, arg: ArgResult) -> Result<String, String> {
    if arg == ArgResult::Wanted || options.isa.is_some() {
        return Err("arg results and instruction sets are the processor's".into());
    }
    let (semiring, dtype) = crate::device::identify::<S>().map_err(|error| error.to_string())?;
    let all = std::thread::available_parallelism().map_or(1, Into::into);
    let threads = if options.threads == 0 { all } else { options.threads.min(all) };
    let cost = Cost::new(a, b, dtype.size(), threads);
    let start = if Engine::is_shared_open() { 0.0 } else { DEVICE_START };
    // Asking the driver takes longer than a small product.
    if cost.here <= start + cost.transfer {
        return Err(cost.describe("the processor has it done before a GPU has the operands", start));
    }
    let devices = DeviceInfo::all().map_err(|error| error.to_string())?;
    let device = devices.first().ok_or("there is no GPU")?;
    let there = start + cost.transfer + cost.on_device(device.multiprocessors, device.clock_hz, dtype.size());
    if cost.here <= there {
        return Err(cost.describe("the processor is faster", there));
    }
    let c = Layout::row_major(a.rows, b.cols);
    let by_rows = |l: Layout| Layout::row_major(l.rows, l.cols);
    let problem = Problem::new(by_rows(a), by_rows(b), c).map_err(|error| error.to_string())?;
    tilewright_cuda::choose(&Request::new(problem, semiring, dtype)).map_err(|error| error.to_string())?;
    Ok(cost.describe("the GPU is faster", there))
}

/// Opening a device and loading a kernel from the cache, in seconds; an H200 with driver 580.
const DEVICE_START: f64 = 0.4;
/// Bytes per second between ordinary memory of the host and a device: 10 there and 18 back on an H200.
const BUS: f64 = 10e9;
/// Terms per second of a thread of this processor, for 4-byte elements: between that of plus-times (100) and min-plus (50).
const THREAD: f64 = 70e9;
/// Terms of 4-byte elements that a multiprocessor computes in a cycle: half of its 128 lanes, which the shared-memory kernels reach.
const MULTIPROCESSOR: f64 = 64.0;

/// Estimates in seconds, each good to a factor of two: near the break-even either choice is fine.
#[derive(Debug, Clone, Copy)]
struct Cost {
    terms: f64,
    here: f64,
    transfer: f64,
}

impl Cost {
    fn new(a: Layout, b: Layout, element: usize, threads: usize) -> Self {
        let (m, n, k) = (a.rows as f64, b.cols as f64, a.cols as f64);
        let (terms, bytes) = (m * n * k, (m * k + k * n + m * n) * element as f64);
        Self { terms, here: terms * element as f64 / 4.0 / (THREAD * threads as f64), transfer: bytes / BUS }
    }

    fn on_device(&self, multiprocessors: u32, clock_hz: u64, element: usize) -> f64 {
        let rate = f64::from(multiprocessors) * clock_hz.max(1) as f64 * MULTIPROCESSOR;
        self.terms * (element as f64 / 4.0).max(1.0) / rate
    }

    fn describe(&self, what: &str, there: f64) -> String {
        format!(
            "{what}: about {:.3} s here, {there:.3} s there, {:.3} s of them for the way",
            self.here, self.transfer
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_products_stay_here_and_large_ones_pay_for_the_way() {
        let cost = |n| Cost::new(Layout::row_major(n, n), Layout::row_major(n, n), 4, 16);
        let there = |n| DEVICE_START + cost(n).transfer + cost(n).on_device(132, 1_980_000_000, 4);
        assert!(cost(1000).here < there(1000));
        assert!(cost(16_384).here > there(16_384));
        // A thin product moves more than it computes.
        let thin = Cost::new(Layout::row_major(1 << 20, 4), Layout::row_major(4, 1 << 10), 4, 16);
        assert!(thin.here < thin.transfer);
    }

    #[test]
    fn automatic_choices_have_a_reason_and_asked_for_ones_do_not() {
        let layout = Layout::row_major(8, 8);
        let choose = |backend| {
            let options = Options { backend, ..Options::default() };
            choose::<tilewright_core::MinPlus<f32>>(&options, layout, layout, ArgResult::NotWanted).unwrap()
        };
        let auto = choose(Backend::Auto);
        assert!(auto.backend == Backend::Cpu && !auto.why.is_empty() && auto.otherwise == Otherwise::Here);
        for backend in [Backend::Reference, Backend::Emulator] {
            let (why, otherwise) = (String::new(), Otherwise::Nowhere);
            assert_eq!(choose(backend), Choice { backend, why, otherwise });
        }
    }

    #[test]
    fn kernels_for_gpus_are_not_the_processors() {
        let layout = Layout::row_major(8, 8);
        let kernel = tilewright_kernels::find("naive").ok();
        for backend in [Backend::Cpu, Backend::Reference] {
            let options = Options { backend, kernel, ..Options::default() };
            let chosen =
                choose::<tilewright_core::MinPlus<f32>>(&options, layout, layout, ArgResult::NotWanted);
            assert_eq!(chosen.unwrap_err().code(), "unsupported");
        }
    }
}
