//! Kernels in files and in the catalogue: what they take of a multiprocessor.

use crate::{failure::Failure, wrapping};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use tilewright::{
    Layout, Problem,
    cuda::{Architecture, CompiledKernel, Input, Source, kernel_resources},
};
use tilewright_arch::{ComputeCapability, Gpu, KernelResources, Limits};
use tilewright_kernels::{self as kernels, Kernel, Launch, Recipe, Request, Role, Variant};

/// A kernel that is compiled for one architecture after the other.
pub struct CompiledFor {
    origin: Origin,
    entry: Option<String>,
    known: BTreeMap<ComputeCapability, Compiled>,
}

enum Origin {
    File(PathBuf),
    /// A kernel of the catalogue with the multiprocessors of the GPU, which its recipe may depend on.
    Catalogue(&'static Kernel, Option<u32>),
}

/// A kernel as compiled for one architecture.
pub struct Compiled {
    kernel: CompiledKernel,
    /// How the catalogue launches it: threads per block, and dynamic shared memory.
    pub launch: Option<(u32, u32)>,
}

/// Rows, columns and terms of the product whose recipe is asked for; the small size is for kernels of one block.
const SIZES: [usize; 2] = [1024, 32];

impl CompiledFor {
    /// A file with an extension, or a name of the catalogue.
    pub fn new(name: &Path, entry: Option<String>, sms: Option<u32>) -> Result<Self, Failure> {
        let origin = match (name.extension(), name.to_str()) {
            (None, Some(name)) if !name.contains(std::path::is_separator) => {
                let kernel = kernels::find(name)?;
                if entry.is_some() {
                    let what = "--entry chooses among the kernels of a file";
                    return Err(Failure::usage(what, format!("{name} is one kernel; leave it out")));
                }
                Origin::Catalogue(kernel, sms)
            }
            _ => Origin::File(name.to_owned()),
        };
        Ok(Self { origin, entry, known: BTreeMap::new() })
    }

    /// Whether it says how it is launched.
    pub fn has_launch(&self) -> bool {
        matches!(self.origin, Origin::Catalogue(..))
    }

    /// The kernel as compiled for an architecture.
    pub fn read(&mut self, limits: &Limits) -> Result<&Compiled, Failure> {
        let capability = limits.compute_capability;
        let compiled = match self.known.remove(&capability) {
            Some(compiled) => compiled,
            None => match &self.origin {
                Origin::File(path) => {
                    let kernels = kernel_resources(Input::File(path), Architecture::of(capability))?;
                    let kernel = choose(kernels, &path.display().to_string(), self.entry.as_deref())?;
                    Compiled { kernel, launch: None }
                }
                Origin::Catalogue(kernel, sms) => from_catalogue(kernel, limits, *sms)?,
            },
        };
        Ok(self.known.entry(capability).or_insert(compiled))
    }

    /// What the report says of it, once the kernel was read.
    pub fn describe(&self, limits: &Limits) -> Option<String> {
        let kernel = &self.known.get(&limits.compute_capability)?.kernel;
        let mut text = match &self.origin {
            Origin::File(path) => format!("{} in {}", kernel.name, path.display()),
            Origin::Catalogue(known, _) => format!("{}: {}", known.name, known.summary),
        };
        if let Some(spills) = kernel.spills.filter(|spills| spills.stores + spills.loads > 0) {
            text +=
                &format!(", spilling {} B to and {} B from memory per thread", spills.stores, spills.loads);
        } else if kernel.local_memory > 0 {
            text += &format!(", {} B of local memory per thread", kernel.local_memory);
        }
        Some(wrapping::paragraph(&text))
    }
}

impl Compiled {
    /// What occupancy depends on.
    pub fn resources(&self) -> KernelResources {
        let kernel = &self.kernel;
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
}

fn from_catalogue(kernel: &'static Kernel, limits: &Limits, sms: Option<u32>) -> Result<Compiled, Failure> {
    let launch = launch(kernel, limits, sms)?;
    let headers = launch.program().headers();
    let source = Source { name: launch.program().file(), text: launch.program().source(), headers: &headers };
    let kernels = kernel_resources(Input::Source(source), Architecture::of(limits.compute_capability))?;
    Ok(Compiled {
        kernel: choose(kernels, kernel.name, Some(launch.entry()))?,
        launch: Some((launch.block().iter().product(), launch.dynamic_shared_memory())),
    })
}

/// The launch that computes; others prepare.
fn launch(kernel: &'static Kernel, limits: &Limits, sms: Option<u32>) -> Result<Launch, Failure> {
    let recipe = match (kernel.exhibit(), kernel.variants.first()) {
        (Some(_), _) => kernel.show(&[]).map_err(tilewright::Error::from)?.recipe().clone(),
        (None, Some(&variant)) => {
            let [large, small] = SIZES.map(|size| recipe(kernel, variant, size, limits, sms));
            large.or(small)?
        }
        (None, None) => return Err(no_kernel(kernel.name)),
    };
    recipe
        .launches()
        .iter()
        .find(|launch| launch.role() == Role::Product)
        .cloned()
        .ok_or_else(|| no_kernel(kernel.name))
}

/// How the kernel multiplies square matrices.
fn recipe(
    kernel: &'static Kernel,
    variant: Variant,
    size: usize,
    limits: &Limits,
    sms: Option<u32>,
) -> Result<Recipe, Failure> {
    let square = Layout::row_major(size, size);
    let problem = Problem::new(square, square, square)?;
    let mut request = Request::of(problem, variant);
    request.gpu = Gpu::of(limits.compute_capability).map_err(|e| Failure::usage(e.to_string(), ""))?;
    request.gpu.multiprocessors = sms.unwrap_or(request.gpu.multiprocessors);
    Ok(kernel.recipe(&request).map_err(tilewright::Error::from)?)
}

/// The one of the wanted name; a part of it is enough where that tells the kernels apart, as names in C++ are long.
fn choose(kernels: Vec<CompiledKernel>, file: &str, wanted: Option<&str>) -> Result<CompiledKernel, Failure> {
    let names = kernels.iter().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>().join(", ");
    let name = wanted.unwrap_or("");
    let exact = kernels.iter().position(|kernel| kernel.name == name);
    let mut similar = (0..kernels.len()).filter(|&i| kernels[i].name.contains(name));
    let found = match (exact, similar.next(), similar.next()) {
        (Some(index), _, _) | (None, Some(index), None) => index,
        (None, None, _) if kernels.is_empty() => return Err(no_kernel(file)),
        (None, None, _) => {
            return Err(Failure::usage(format!("{file} has no kernel '{name}'"), format!("it has {names}")));
        }
        (None, Some(_), Some(_)) => {
            let what = match wanted {
                None => format!("{file} has {} kernels", kernels.len()),
                Some(name) => format!("{file} has more than one kernel with '{name}'"),
            };
            return Err(Failure::usage(what, format!("choose one with --entry: {names}")));
        }
    };
    kernels.into_iter().nth(found).ok_or_else(|| no_kernel(file))
}

fn no_kernel(file: &str) -> Failure {
    Failure::usage(format!("{file} has no kernel"), "kernels are functions marked __global__, in PTX .entry")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_of_the_catalogue_has_a_launch() {
        let limits = Limits::of(ComputeCapability::new(9, 0)).unwrap();
        for kernel in kernels::kernels() {
            let launch = launch(kernel, limits, None).unwrap();
            // What multiplies for log-plus is another kernel.
            let entry = if kernel.name == "log-plus" { "simt" } else { kernel.entry() };
            assert_eq!(launch.entry(), entry);
            assert!((1..=1024).contains(&launch.block().iter().product::<u32>()), "{}", kernel.name);
        }
    }
}
