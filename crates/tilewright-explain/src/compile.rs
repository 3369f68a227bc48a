//! PTX to execute, and what the assembled kernel takes of a multiprocessor.

use std::path::Path;
use tilewright_arch::{Gpu, KernelResources};
use tilewright_core::{Error, ErrorKind};
use tilewright_kernels::Program;
use tilewright_toolchain::{
    Architecture, CompiledKernel, CompilerOptions, DeviceCode, Input, Nvrtc, ProgramPtx, Source,
    kernel_resources, ptx_resources,
};

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
    let made = ProgramPtx::of(program, gpu.capability())?;
    let ptx = made.text.to_string();
    if let Some(missing) = made.missing {
        return Ok(shipped(program, ptx, made.architecture, gpu, &missing));
    }
    let headers = program.headers();
    let source = Source { name: program.file(), text: program.source(), headers: &headers };
    let other = other_architecture(gpu.architecture, made.architecture);
    let (resources, missing) =
        if wants_resources { resources(Input::Source(source), entry, gpu) } else { (None, None) };
    Ok(Code { ptx, resources, note: other.or(missing) })
}

/// The PTX that comes with the catalogue, and what is recorded of its machine code.
fn shipped(program: &Program, ptx: String, target: Architecture, gpu: &Gpu, missing: &Error) -> Code {
    let resources = program.recorded(gpu.capability()).map(|known| KernelResources {
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

/// The kernels of a file of one's own.
pub struct FileCode {
    pub ptx: String,
    /// The entry that was asked for as the instance of a template.
    pub entry: Option<String>,
    pub notes: Vec<String>,
    /// What the compiler warned of.
    pub warnings: Vec<String>,
    compiled: Compiled,
}

enum Compiled {
    Cuda(Box<DeviceCode>),
    Ptx { name: String, options: CompilerOptions },
}

impl FileCode {
    /// A `.cu` file; `entry` may be the instance of a template.
    pub fn cuda(
        path: &Path,
        gpu: &Gpu,
        options: &CompilerOptions,
        entry: Option<&str>,
    ) -> Result<Self, Error> {
        let (architecture, note) = supported(gpu)?;
        let instance = entry.filter(|entry| entry.contains('<'));
        let code = DeviceCode::compile(path, architecture, options, instance)?;
        let notes = note.into_iter().chain(code.notes.iter().cloned()).collect();
        Ok(Self {
            ptx: code.ptx.clone(),
            entry: code.entry.clone(),
            notes,
            warnings: code.warnings.clone(),
            compiled: Compiled::Cuda(Box::new(code)),
        })
    }

    /// A `.ptx` file.
    pub fn ptx(name: &str, text: &str, options: &CompilerOptions) -> Self {
        let compiled = Compiled::Ptx { name: name.into(), options: options.clone() };
        Self { ptx: text.into(), entry: None, notes: Vec::new(), warnings: Vec::new(), compiled }
    }

    /// What the kernel takes of a multiprocessor; why that is not known becomes a note. And what the assembler said if it refuses the kernel.
    pub fn resources(&mut self, entry: &str, gpu: &Gpu) -> (Option<KernelResources>, Option<String>) {
        let kernels = match &self.compiled {
            Compiled::Cuda(code) => code.resources(gpu.architecture),
            Compiled::Ptx { name, options } => {
                ptx_resources(name, &self.ptx, gpu.architecture, &options.ptxas)
            }
        };
        if let Some(refusal) = kernels.as_ref().err().and_then(refused_by_assembler) {
            return (None, Some(refusal));
        }
        let (resources, missing) = resources_of(kernels, entry);
        self.notes.extend(missing);
        (resources, None)
    }
}

/// The architecture of the GPU if the compiler knows it, the one next to it otherwise: counts of PTX hardly depend on it.
fn supported(gpu: &Gpu) -> Result<(Architecture, Option<String>), Error> {
    let nearest = Nvrtc::find()?.nearest(gpu.capability())?;
    Ok((nearest, other_architecture(gpu.architecture, nearest)))
}

/// The lines in which `ptxas` says why it makes no machine code of a kernel. What it lacks itself, such as a newer version of PTX or the
/// device's library, is no fault of the kernel.
fn refused_by_assembler(error: &Error) -> Option<String> {
    let ErrorKind::Compilation { log, .. } = error.kind() else { return None };
    let is_refusal = |line: &&str| line.contains("ptxas") && line.contains("error");
    let is_its_own_lack =
        |line: &str| line.contains("Unsupported .version") || line.contains("Unresolved extern");
    let lines: Vec<&str> = log.lines().map(str::trim).filter(is_refusal).collect();
    (!lines.is_empty() && !lines.iter().any(|line| is_its_own_lack(line))).then(|| lines.join("; "))
}

fn resources(input: Input<'_>, entry: &str, gpu: &Gpu) -> Resources {
    resources_of(kernel_resources(input, gpu.architecture), entry)
}

/// Those of the entry, or why they are not known.
fn resources_of(kernels: Result<Vec<CompiledKernel>, Error>, entry: &str) -> Resources {
    match kernels {
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
