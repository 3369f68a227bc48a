//! The PTX of a program where no device runs it: to be executed by an emulator, or to be read.

use crate::nvrtc::{Nvrtc, NvrtcBuild, Output, Source};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use tilewright_arch::{Architecture, ComputeCapability};
use tilewright_core::Error;
use tilewright_kernels::{COMPILER_OPTIONS, Program};

/// PTX, and who made it.
///
/// The order is that of code for a device: what NVRTC makes comes before what comes with the catalogue.
///
/// ```
/// use tilewright_arch::ComputeCapability;
/// use tilewright_toolchain::ProgramPtx;
/// let launches = tilewright_kernels::shipped_programs();
/// let ptx = ProgramPtx::of(launches[0].program(), ComputeCapability::new(8, 6))?;
/// assert!(ptx.text.contains(".visible .entry naive("));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ProgramPtx {
    /// The text.
    pub text: Arc<str>,
    /// What it was compiled for.
    pub architecture: Architecture,
    /// Why it is that of the catalogue; `None` for what NVRTC made.
    pub missing: Option<Error>,
}

impl ProgramPtx {
    /// What NVRTC makes of a program for a GPU of this compute capability, or for the one nearest to it that NVRTC knows; without
    /// NVRTC what comes with the catalogue.
    ///
    /// # Errors
    /// `unavailable` without NVRTC for a program that does not come with the catalogue, and for one that needs the instructions of another GPU;
    /// `compilation` where it does not compile.
    pub fn of(program: &Program, capability: ComputeCapability) -> Result<Self, Error> {
        let nvrtc = match Nvrtc::find() {
            Ok(nvrtc) => nvrtc,
            Err(missing) => return Self::of_catalogue(program, missing),
        };
        let architecture = nvrtc.nearest(capability)?;
        program.check_architecture(architecture)?;
        Ok(Self { text: compiled(&nvrtc, program, architecture)?, architecture, missing: None })
    }

    /// Whether [`ProgramPtx::of`] has any for a GPU that has the instructions, without making it.
    ///
    /// # Errors
    /// `unavailable` where it has none.
    pub fn exists(program: &Program) -> Result<(), Error> {
        match Nvrtc::find() {
            Ok(nvrtc) => {
                let only = program.only_architecture();
                let compiled = only.map(|only| nvrtc.version().architecture_of(only.capability));
                compiled.map_or(Ok(()), |architecture| program.check_architecture(architecture))
            }
            Err(missing) => Self::of_catalogue(program, missing).map(|_| ()),
        }
    }

    fn of_catalogue(program: &Program, missing: Error) -> Result<Self, Error> {
        match program.shipped_ptx() {
            Some(ptx) => {
                let architecture = Program::SHIPPED_ARCHITECTURE;
                Ok(Self { text: ptx.into(), architecture, missing: Some(missing) })
            }
            None => Err(missing),
        }
    }
}

type Key = (Program, Architecture, Option<NvrtcBuild>);

/// Compiled once in this process.
fn compiled(nvrtc: &Nvrtc, program: &Program, architecture: Architecture) -> Result<Arc<str>, Error> {
    static COMPILED: LazyLock<Mutex<HashMap<Key, Arc<str>>>> = LazyLock::new(Mutex::default);
    let known = || COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (program.clone(), architecture, nvrtc.build());
    if let Some(text) = known().get(&key) {
        return Ok(Arc::clone(text));
    }
    // Outside the lock; if two threads do it, one of the results is kept.
    let source = Source { name: program.file(), text: program.source(), headers: &program.headers() };
    let image = nvrtc.compile(&source, architecture, Output::Ptx, COMPILER_OPTIONS)?.image;
    let text: Arc<str> = String::from_utf8_lossy(&image).trim_end_matches('\0').into();
    Ok(Arc::clone(known().entry(key).or_insert(text)))
}
