//! PTX to execute, and what the assembled kernel takes of a multiprocessor.

use crate::case::Gpu;
use tilewright_arch::KernelResources;
use tilewright_core::Error;
use tilewright_cuda::{
    Architecture, Input, InstructionSet, Nvrtc, ProgramPtx, Source, kernel_resources, ptx,
};
use tilewright_kernels::Program;

/// A compiled kernel.
pub struct Code {
    pub ptx: String,
    pub resources: Option<KernelResources>,
    /// What could not be done as asked.
    pub note: Option<String>,
}

/// What is known of the machine code: only wanted for the launch that is explained.
type Resources = (Option<KernelResources>, Option<String>);

/// A program of the catalogue.
pub fn program(program: &Program, entry: &str, gpu: &Gpu, wants_resources: bool) -> Result<Code, Error> {
    let capability = gpu.limits.compute_capability;
    let made = ProgramPtx::of(program, capability)?;
    let ptx = made.text.to_string();
    if let Some(missing) = made.missing {
        return Ok(shipped(program, ptx, made.architecture, gpu, &missing));
    }
    let headers = program.headers();
    let source = Source { name: program.file(), text: program.source(), headers: &headers };
    let other = other_architecture(Architecture::new(capability), made.architecture);
    let (resources, missing) =
        if wants_resources { resources(Input::Source(source), entry, gpu) } else { (None, None) };
    Ok(Code { ptx, resources, note: other.or(missing) })
}

/// The PTX that comes with the catalogue, and what is recorded of its machine code.
fn shipped(program: &Program, ptx: String, target: Architecture, gpu: &Gpu, missing: &Error) -> Code {
    let architecture = Architecture::new(gpu.limits.compute_capability).real();
    let resources = program.recorded(&architecture).map(|known| KernelResources {
        registers_per_thread: known.registers,
        static_shared_memory: known.static_shared_memory,
        barriers: known.barriers,
        ..KernelResources::default()
    });
    let (reason, target) = (missing.to_string(), target.virtual_name());
    let reason = reason.lines().next().unwrap_or_default();
    let unknown =
        if resources.is_some() { "" } else { "; registers are not known and left out of the occupancy" };
    let note = format!("{reason}: the PTX is that of the catalogue, for {target}{unknown}");
    Code { ptx, resources, note: Some(note) }
}

/// What to say where the PTX is not for the GPU's own architecture.
fn other_architecture(wanted: Architecture, found: Architecture) -> Option<String> {
    let differs = || format!("this NVRTC does not know {}: the PTX is for {}", wanted.real(), found.real());
    (wanted != found).then(differs)
}

/// CUDA C++ or PTX.
pub fn compiled(input: Input<'_>, entry: &str, gpu: &Gpu, wants_resources: bool) -> Result<Code, Error> {
    let (architecture, note) = match input {
        Input::Ptx { .. } => (Architecture::new(gpu.limits.compute_capability), None),
        _ => supported(gpu)?,
    };
    let ptx = ptx(input, architecture)?;
    let (resources, missing) = if wants_resources { resources(input, entry, gpu) } else { (None, None) };
    Ok(Code { ptx, resources, note: note.or(missing) })
}

/// The architecture of the GPU if the compiler knows it, the one next to it otherwise: counts of PTX hardly depend on it.
fn supported(gpu: &Gpu) -> Result<(Architecture, Option<String>), Error> {
    let wanted = Architecture::new(gpu.limits.compute_capability);
    let nearest = Nvrtc::find()?.nearest(wanted)?;
    Ok((nearest, other_architecture(wanted, nearest)))
}

fn resources(input: Input<'_>, entry: &str, gpu: &Gpu) -> Resources {
    let capability = gpu.limits.compute_capability;
    let instructions = match capability.major() {
        0..9 => InstructionSet::Common,
        _ => InstructionSet::ArchitectureSpecific,
    };
    match kernel_resources(input, Architecture { capability, instructions }) {
        Ok(kernels) => {
            let kernel = kernels.iter().find(|kernel| kernel.name == entry);
            (kernel.map(|kernel| kernel.resources()), None)
        }
        Err(error) => {
            let what = error.to_string();
            let reason = what.lines().next().unwrap_or_default();
            (None, Some(format!("registers are not known and left out of the occupancy: {reason}")))
        }
    }
}
