//! What a compiled kernel takes of a multiprocessor.

use tilewright_arch::ComputeCapability;
use tilewright_core::Error;
use tilewright_cuda::{CompiledKernel, Cubin, Nvrtc, Output, Source};
use tilewright_kernels::{COMPILER_OPTIONS, Launch};

/// Registers, shared and local memory of a kernel, and how they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// What the machine code says.
    pub kernel: CompiledKernel,
    /// Who compiled it.
    pub origin: Origin,
}

/// How the resources of a kernel are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From the table that belongs to the catalogue.
    Recorded,
    /// Compiled on this machine.
    Compiled,
}

impl Origin {
    /// A word for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Compiled => "compiled",
        }
    }
}

/// Compiles a launch's program with NVRTC, which needs no GPU, and reads what its entry takes; without NVRTC, what is
/// recorded of it.
///
/// # Errors
/// `unavailable` where there is no NVRTC and nothing is recorded, `compilation` where the program does not compile for `capability`.
pub fn compile(launch: &Launch, capability: ComputeCapability) -> Result<Option<Compiled>, Error> {
    let program = launch.program();
    let source = Source { name: program.file(), text: program.source(), headers: &program.headers() };
    let options: Vec<&str> = COMPILER_OPTIONS.iter().copied().chain(["--ptxas-options=-v"]).collect();
    let nvrtc = match Nvrtc::find() {
        Ok(nvrtc) => nvrtc,
        Err(missing) => return recorded(launch, capability).map(Some).ok_or(missing),
    };
    let architecture = nvrtc.version().architecture_of(capability);
    let compiled = nvrtc.compile(&source, architecture, Output::Cubin, &options)?;
    let kernels = Cubin::parse(&compiled.image).map(|cubin| cubin.with_log(&compiled.log).kernels);
    let entry = kernels.unwrap_or_default().into_iter().find(|kernel| kernel.name == launch.entry());
    Ok(entry.map(|kernel| Compiled { kernel, origin: Origin::Compiled }))
}

fn recorded(launch: &Launch, capability: ComputeCapability) -> Option<Compiled> {
    let known = launch.program().recorded(capability)?;
    let [x, y, z] = launch.block();
    let kernel = CompiledKernel {
        name: launch.entry().to_owned(),
        registers: known.registers,
        static_shared_memory: known.static_shared_memory,
        barriers: known.barriers,
        local_memory: known.local_memory,
        spills: None,
        max_threads: Some(x * y * z),
        required_block: None,
        parameters: 0,
    };
    Some(Compiled { kernel, origin: Origin::Recorded })
}
