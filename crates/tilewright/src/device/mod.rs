//! Products by the kernels of a GPU, on one that is here or on the emulator. Types end here: kernels are chosen at run time.

mod cuda;
#[cfg(feature = "emulator")]
mod emulator;
#[cfg(feature = "emulator")]
mod image;

use crate::options::{Options, Report};
use tilewright_core::{
    DType, Error, ErrorKind, Joining, MatMut, MatRef, Problem, Semiring, SemiringId, Update, Value, domain,
    semiring::BuiltIn,
};

/// Who executes the kernels.
#[derive(Clone, Copy)]
pub(crate) enum Device {
    /// The GPU that the engine of this process has opened.
    Present,
    /// The emulator, in place of one.
    #[cfg(feature = "emulator")]
    Emulated,
}

/// Why a kernel did not compute a product.
pub(crate) struct Failure {
    pub error: Error,
    pub c: Target,
}

/// What C holds after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// What it held before.
    Untouched,
    /// It was being written.
    Lost,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, c: Target::Untouched }
    }
}

/// The product by a kernel.
///
/// # Errors
/// `unavailable` without a GPU, `unsupported` for semirings and types that no kernel computes, and what a device can fail with.
pub(crate) fn multiply<S: Semiring>(
    device: Device,
    c: MatMut<'_, S::Out>,
    (a, b): (MatRef<'_, S::Elem>, MatRef<'_, S::Elem>),
    update: &Update<S>,
    options: &Options<'_>,
) -> Result<Report, Failure> {
    let built_in = built_in::<S>()?;
    Problem::new(a.layout(), b.layout(), c.layout())?;
    domain::check::<S>(a, b)?;
    let job = Job { semiring: built_in.id(), joining: built_in.joining(update), options };
    let (a, b, c) = (built_in.operand(a), built_in.operand(b), built_in.result(c));
    match device {
        Device::Present => cuda::run(&job, a, b, c),
        #[cfg(feature = "emulator")]
        Device::Emulated => Ok(emulator::run(&job, a, b, c)?),
    }
}

/// What a semiring is called, if it is one of the built-in ones.
pub(crate) fn identify<S: Semiring>() -> Result<(SemiringId, DType), Error> {
    built_in::<S>().map(|built_in| (built_in.id(), built_in.dtype()))
}

fn built_in<S: Semiring>() -> Result<BuiltIn<S>, Error> {
    S::BUILT_IN.ok_or_else(|| {
        let (what, why) =
            (format!("the semiring {} on a GPU", S::NAME), "only built-in semirings have kernels".into());
        ErrorKind::Unsupported { what, why, hint: "compute on the processor".into() }.into()
    })
}

/// What is computed, besides the matrices.
struct Job<'a> {
    semiring: SemiringId,
    joining: Joining<Value>,
    options: &'a Options<'a>,
}
