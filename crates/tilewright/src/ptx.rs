//! PTX to execute: that of the catalogue, or NVRTC's where the catalogue has none.

use std::borrow::Cow;
use tilewright_arch::ComputeCapability;
use tilewright_core::Error;
use tilewright_cuda::{Architecture, Input, Nvrtc, Source};
use tilewright_kernels::{Launch, Program, Recipe};

/// The PTX of a program.
///
/// # Errors
/// `unavailable` for a program that is not part of the catalogue's PTX, where there is no NVRTC to compile it.
pub(crate) fn of(program: &Program, capability: ComputeCapability) -> Result<Cow<'static, str>, Error> {
    if let Some(ptx) = program.shipped_ptx() {
        return Ok(Cow::Borrowed(ptx));
    }
    let architecture = Nvrtc::find()?.nearest(Architecture::new(capability))?;
    let headers = program.headers();
    let source = Source { name: program.file(), text: program.source(), headers: &headers };
    tilewright_cuda::ptx(Input::Source(source), architecture).map(Cow::Owned)
}

/// The first program of a recipe that is not part of the catalogue's PTX.
pub(crate) fn not_shipped(recipe: &Recipe) -> Option<&Program> {
    recipe.launches().iter().map(Launch::program).find(|program| program.shipped_ptx().is_none())
}
