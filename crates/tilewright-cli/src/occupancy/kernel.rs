//! Kernels in files: what they take of a multiprocessor.

use crate::{failure::Failure, terminal};
use std::{collections::BTreeMap, path::PathBuf};
use tilewright::cuda::{Architecture, CompiledKernel, Input, InstructionSet, kernel_resources};
use tilewright_arch::{ComputeCapability, KernelResources, Limits};

/// A kernel of a file, read for one architecture after the other.
pub struct KernelFile {
    path: PathBuf,
    entry: Option<String>,
    known: BTreeMap<ComputeCapability, CompiledKernel>,
}

impl KernelFile {
    pub fn new(path: PathBuf, entry: Option<String>) -> Self {
        Self { path, entry, known: BTreeMap::new() }
    }

    /// What occupancy depends on, as compiled for an architecture.
    pub fn resources(&mut self, limits: &Limits) -> Result<KernelResources, Failure> {
        let capability = limits.compute_capability;
        if let Some(kernel) = self.known.get(&capability) {
            return Ok(resources(kernel));
        }
        let kernels = kernel_resources(Input::File(&self.path), architecture(capability))?;
        let kernel = self.choose(kernels)?;
        Ok(resources(self.known.entry(capability).or_insert(kernel)))
    }

    /// A line for the report, once the resources were read.
    pub fn describe(&self, limits: &Limits) -> Option<String> {
        let kernel = self.known.get(&limits.compute_capability)?;
        let bold = terminal::label();
        let mut text = format!("{bold}{}{bold:#} in {}", kernel.name, self.path.display());
        if let Some(spills) = kernel.spills.filter(|spills| spills.stores + spills.loads > 0) {
            text +=
                &format!(", spilling {} B to and {} B from memory per thread", spills.stores, spills.loads);
        } else if kernel.local_memory > 0 {
            text += &format!(", {} B of local memory per thread", kernel.local_memory);
        }
        Some(text + "\n")
    }

    /// The one of the wanted name; a part of it is enough where that tells the kernels apart, as names in C++ are long.
    fn choose(&self, kernels: Vec<CompiledKernel>) -> Result<CompiledKernel, Failure> {
        let names = kernels.iter().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>().join(", ");
        let wanted = self.entry.as_deref().unwrap_or("");
        let exact = kernels.iter().position(|kernel| kernel.name == wanted);
        let mut similar = (0..kernels.len()).filter(|&i| kernels[i].name.contains(wanted));
        let found = match (exact, similar.next(), similar.next()) {
            (Some(index), _, _) | (None, Some(index), None) => index,
            (None, None, _) if kernels.is_empty() => return Err(self.none()),
            (None, None, _) => {
                let what = format!("{} has no kernel '{wanted}'", self.path.display());
                return Err(Failure::usage(what, format!("it has {names}")));
            }
            (None, Some(_), Some(_)) => {
                let what = match wanted {
                    "" => format!("{} has {} kernels", self.path.display(), kernels.len()),
                    _ => format!("{} has more than one kernel with '{wanted}'", self.path.display()),
                };
                return Err(Failure::usage(what, format!("choose one with --entry: {names}")));
            }
        };
        kernels.into_iter().nth(found).ok_or_else(|| self.none())
    }

    fn none(&self) -> Failure {
        let problem = "it has no kernel".to_owned();
        let hint = Some("kernels are functions marked __global__, in PTX .entry".to_owned());
        tilewright::Error::from(tilewright::ErrorKind::BadFile { path: self.path.clone(), problem, hint })
            .into()
    }
}

/// With all instructions of the very architecture: kernels that use `wgmma` need them, others are not changed.
fn architecture(capability: ComputeCapability) -> Architecture {
    let instructions = match capability.major() {
        0..9 => InstructionSet::Common,
        _ => InstructionSet::ArchitectureSpecific,
    };
    Architecture { capability, instructions }
}

fn resources(kernel: &CompiledKernel) -> KernelResources {
    let required = kernel.required_block.map(|block| block.iter().product());
    let default = KernelResources::default();
    KernelResources {
        registers_per_thread: kernel.registers,
        static_shared_memory: kernel.static_shared_memory,
        barriers: kernel.barriers,
        max_threads_per_block: required.or(kernel.max_threads).unwrap_or(default.max_threads_per_block),
        ..default
    }
}
