//! From a program to a kernel on the device: memory, cache, compiler, and PTX where machine code will not do.

use super::Engine;
use super::code_sources::{CodeSource, code_sources};
use super::shared_memory_limit::SharedMemoryLimit;
use crate::device::{DriverKind, Function, FunctionAttributes, Module};
use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;
use tilewright_arch::{Architecture, ComputeCapability, GridLaunch};
use tilewright_core::{Error, ErrorKind};
use tilewright_kernels::{Argument, COMPILER_OPTIONS, Launch, LocalMemory, Program};
use tilewright_toolchain::compilers::{Found, why_not};
use tilewright_toolchain::{CacheKey, CubinCache, Nvrtc, Output, ProgramPtx, Source, reuse_operands};

/// Where a kernel's code came from.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Origin {
    /// Compiled by an earlier process, and found in the cache.
    Cache {
        /// Instructions whose operands are reused where the compiler did not say so.
        reused: usize,
    },
    /// Compiled by NVRTC to machine code.
    Compiled {
        /// How long it took.
        seconds: f64,
        /// Instructions whose operands are reused where the compiler did not say so.
        reused: usize,
    },
    /// Compiled by NVRTC to PTX and by the driver from there, because the driver refused machine code, or NVRTC makes none for this
    /// GPU.
    CompiledByDriver {
        /// How long it took.
        seconds: f64,
    },
    /// Compiled by the driver from the PTX that comes with the kernel, because there is no NVRTC that would do.
    Shipped {
        /// How long it took.
        seconds: f64,
    },
}

/// A kernel that can be launched.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) function: Function,
    pub(super) attributes: FunctionAttributes,
    pub(super) origin: Origin,
    /// What is slower than it should be.
    pub(super) spill: Option<String>,
    /// Whether it waits for the kernel before it, if it can.
    pub(super) waits_for_previous: bool,
    dynamic_shared_memory: SharedMemoryLimit,
}

impl Ready {
    /// Allows launches of this shape: its clusters, and at least its dynamic shared memory.
    pub(super) fn allow_shape(&self, shape: &GridLaunch) -> Result<(), Error> {
        self.function.allow_cluster(shape.configuration().cluster_size)?;
        self.allow(shape.dynamic_shared_memory)
    }

    /// Allows at least so many bytes of dynamic shared memory.
    pub(super) fn allow(&self, bytes: u32) -> Result<(), Error> {
        self.dynamic_shared_memory.raise_to(bytes, |bytes| self.function.allow_dynamic_shared_memory(bytes))
    }
}

/// What to say of local memory that a kernel was not written to have: its results are right, and it is slow.
fn spill(launch: &Launch, bytes: u32) -> Option<String> {
    (launch.local_memory() == LocalMemory::Forbidden && bytes > 0).then(|| {
        format!(
            "{} is slower than it should be: registers of each thread are spilled to {bytes} bytes of local memory",
            launch.program().name()
        )
    })
}

/// What is kept in memory: a program's entry.
type Key = (Program, &'static str);

/// Kernels that are ready.
pub(super) type Kept = Mutex<HashMap<Key, Arc<Ready>>>;

fn key(launch: &Launch) -> Key {
    (launch.program().clone(), launch.entry())
}

/// Whether a launch can go into any stream: it has neither variables nor textures.
pub(super) fn goes_anywhere(launch: &Launch) -> bool {
    let is_texture = |value: &_| matches!(value, Argument::Texture(_));
    launch.symbols().is_empty() && !launch.arguments().iter().any(|argument| is_texture(&argument.value))
}

impl Engine {
    /// The kernels of some launches, each ready for its shape. Those that are not there yet are made side by side:
    /// compiling takes most of a first call.
    pub(super) fn all_ready(&self, launches: &[Launch]) -> Result<Vec<Arc<Ready>>, Error> {
        let known: Vec<_> = launches.iter().map(|launch| self.known(launch)).collect();
        let rows = launches.iter().zip(known);
        let made: Vec<_> = thread::scope(|scope| {
            let begun: Vec<_> = rows
                .map(|(launch, known)| known.ok_or_else(|| scope.spawn(|| self.make_and_keep(launch))))
                .collect();
            let finished = |made: thread::ScopedJoinHandle<'_, _>| {
                made.join().unwrap_or_else(|panic| resume_unwind(panic))
            };
            begun.into_iter().map(|known| known.or_else(finished)).collect::<Result<_, Error>>()
        })?;
        for (launch, ready) in launches.iter().zip(&made) {
            ready.allow_shape(launch.shape())?;
        }
        Ok(made)
    }

    /// The kernel of a launch, ready for its dynamic shared memory.
    pub(super) fn ready(&self, launch: &Launch) -> Result<Arc<Ready>, Error> {
        let ready = self.known(launch).map_or_else(|| self.make_and_keep(launch), Ok)?;
        ready.allow_shape(launch.shape())?;
        Ok(ready)
    }

    fn known(&self, launch: &Launch) -> Option<Arc<Ready>> {
        self.kept(launch).lock().unwrap_or_else(PoisonError::into_inner).get(&key(launch)).cloned()
    }

    fn kept(&self, launch: &Launch) -> &Kept {
        if goes_anywhere(launch) { &self.0.kernels } else { &self.0.bound }
    }

    /// Compiled outside the lock; if two threads do it, one of the results is kept.
    fn make_and_keep(&self, launch: &Launch) -> Result<Arc<Ready>, Error> {
        let ready = Arc::new(self.make(launch)?);
        let mut kernels = self.kept(launch).lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(kernels.entry(key(launch)).or_insert(ready)))
    }

    fn make(&self, launch: &Launch) -> Result<Ready, Error> {
        let (code_source, module, origin) = self.module(launch.program())?;
        let function = module.function(launch.entry())?;
        let attributes = function.attributes()?;
        let spill = spill(launch, attributes.local_memory);
        let dynamic_shared_memory = SharedMemoryLimit::from(attributes.max_dynamic_shared_memory);
        let waits_for_previous = code_source.waits_for_previous(self.device().capability);
        Ok(Ready { function, attributes, origin, spill, waits_for_previous, dynamic_shared_memory })
    }

    /// What is compiled on the way to this device: all of its instructions, or the common ones of an older
    /// one.
    fn architecture(&self, nvrtc: &Nvrtc, capability: ComputeCapability) -> Architecture {
        if capability == self.device().capability {
            nvrtc.version().architecture_of(capability)
        } else {
            Architecture::baseline(capability)
        }
    }

    fn module(&self, program: &Program) -> Result<(CodeSource, Arc<Module>, Origin), Error> {
        let began = Instant::now();
        self.check_architecture(program)?;
        let found = self.compiler();
        let mut first = None;
        for code_source in self.code_sources(&found, program) {
            let made = match (code_source, &found) {
                (CodeSource::Machine, Ok(found)) => self.machine(program, &found.nvrtc, began),
                (CodeSource::Virtual(capability), Ok(found)) => {
                    let architecture = self.architecture(&found.nvrtc, capability);
                    self.by_driver(program, &found.nvrtc, architecture, began)
                }
                _ => self.shipped(program, began),
            };
            match made {
                Ok((module, origin)) => return Ok((code_source, module, origin)),
                // The refusal of the best way says more than those of the others.
                Err(error) => first = first.or(Some(error)),
            }
        }
        match first {
            Some(error) => Err(error),
            None if self.driver_kind() == DriverKind::Emulator => self.nearest(program, began),
            None => Err(self.no_source(found)),
        }
    }

    /// For the emulator, which executes PTX for newer devices than the one that it imitates.
    fn nearest(&self, program: &Program, began: Instant) -> Result<(CodeSource, Arc<Module>, Origin), Error> {
        let ptx = ProgramPtx::of(program, self.device().capability)?;
        let image = [ptx.text.as_bytes(), &[0]].concat();
        // SAFETY: the PTX was written by NVRTC, is whole, and ends with a zero.
        let module = unsafe { Module::load(self.context(), program.name(), &image) }?;
        let seconds = began.elapsed().as_secs_f64();
        let origin = match ptx.missing {
            None => Origin::CompiledByDriver { seconds },
            Some(_) => Origin::Shipped { seconds },
        };
        Ok((CodeSource::Virtual(ptx.architecture.capability), module, origin))
    }

    /// Whether code can be made of a program: a compiler that driver and device take, or PTX that comes with it.
    ///
    /// # Errors
    /// `unavailable` where there is none, and for a program of another architecture.
    pub fn can_make(&self, program: &Program) -> Result<(), Error> {
        self.check_architecture(program)?;
        if self.driver_kind() == DriverKind::Emulator {
            return ProgramPtx::exists(program);
        }
        let found = self.compiler();
        let (driver, device) = (self.context().driver.version(), self.device().capability);
        // A compiler that will do is known at once; whether PTX is that of the program takes a look at all of its text.
        let compiles = found.as_ref().is_ok_and(|found| why_not(&found.compiler, driver, device).is_none());
        if compiles || !self.code_sources(&found, program).is_empty() {
            Ok(())
        } else {
            Err(self.no_source(found))
        }
    }

    /// Whether this device has the instructions of a program, and the compiler knows them.
    fn check_architecture(&self, program: &Program) -> Result<(), Error> {
        if program.only_architecture().is_none() {
            return Ok(());
        }
        let device = self.device().capability;
        let of_compiler = self.compiler().map(|found| self.architecture(&found.nvrtc, device));
        program.check_architecture(of_compiler.unwrap_or(Architecture::of(device)))
    }

    fn code_sources(&self, found: &Result<&Found, Error>, program: &Program) -> Vec<CodeSource> {
        let compiler = found.as_ref().ok().map(|found| &found.compiler);
        let shipped = program.shipped_ptx().map(|_| Program::SHIPPED_ARCHITECTURE.capability);
        let mut code_sources =
            code_sources(compiler, self.context().driver.version(), self.device().capability, shipped);
        if self.driver_kind() == DriverKind::Emulator {
            code_sources.retain(|code_source| *code_source != CodeSource::Machine);
        }
        code_sources
    }

    /// The compiler, looked for until it is found: the first that makes code for this driver and device. Where none does, it is the first of all, so that
    /// what is wrong with it can be said.
    fn compiler(&self) -> Result<&Found, Error> {
        if let Some(found) = self.0.compiler.get() {
            return Ok(found);
        }
        let found = Found::for_device(self.context().driver.version(), self.device().capability)?;
        Ok(self.0.compiler.get_or_init(|| found))
    }

    /// Why no source of code is left.
    fn no_source(&self, found: Result<&Found, Error>) -> Error {
        let found = match found {
            Ok(found) => found,
            Err(missing) => return missing,
        };
        let driver = self.context().driver.version();
        let why = why_not(&found.compiler, driver, self.device().capability).unwrap_or_default();
        let hint = format!("install NVRTC {}, or a newer driver", driver.major());
        ErrorKind::Unavailable { what: "a compiler for this GPU", why, hint: hint.into() }.into()
    }

    fn machine(
        &self,
        program: &Program,
        nvrtc: &Nvrtc,
        began: Instant,
    ) -> Result<(Arc<Module>, Origin), Error> {
        let headers = program.headers();
        let source = Source { name: program.file(), text: program.source(), headers: &headers };
        let architecture = self.architecture(nvrtc, self.device().capability);
        let place = self.place(&source, nvrtc, &architecture.real(), Output::Cubin);
        let cached = place.and_then(|(cache, key)| cache.load(key));
        // An entry that the driver refuses is compiled again, as if it were not there.
        if let Some((module, reused)) = cached.and_then(|image| self.load(program, &image).ok()) {
            return Ok((module, Origin::Cache { reused }));
        }
        let compiled = nvrtc.compile(&source, architecture, Output::Cubin, COMPILER_OPTIONS)?;
        let (module, reused) = self.load(program, &compiled.image)?;
        if let Some((cache, key)) = place {
            // The kernel runs all the same.
            let _ = cache.store(key, &compiled.image);
        }
        Ok((module, Origin::Compiled { seconds: began.elapsed().as_secs_f64(), reused }))
    }

    /// Where code is kept: nowhere, if the build of the compiler is not known.
    fn place(
        &self,
        source: &Source<'_>,
        nvrtc: &Nvrtc,
        target: &str,
        output: Output,
    ) -> Option<(&CubinCache, CacheKey)> {
        let (cache, build) = (self.0.cache.as_ref()?, nvrtc.build()?);
        Some((cache, CacheKey::new(source, target, output, COMPILER_OPTIONS, build)))
    }

    /// The machine code of a program, as the compiler wrote it.
    pub(super) fn image(&self, program: &Program) -> Result<Vec<u8>, Error> {
        let nvrtc = &self.compiler()?.nvrtc;
        let headers = program.headers();
        let source = Source { name: program.file(), text: program.source(), headers: &headers };
        let architecture = self.architecture(nvrtc, self.device().capability);
        let place = self.place(&source, nvrtc, &architecture.real(), Output::Cubin);
        if let Some(image) = place.and_then(|(cache, key)| cache.load(key)) {
            return Ok(image);
        }
        let image = nvrtc.compile(&source, architecture, Output::Cubin, COMPILER_OPTIONS)?.image;
        if let Some((cache, key)) = place {
            // It is compiled again where it cannot be kept.
            let _ = cache.store(key, &image);
        }
        Ok(image)
    }

    fn by_driver(
        &self,
        program: &Program,
        nvrtc: &Nvrtc,
        architecture: Architecture,
        began: Instant,
    ) -> Result<(Arc<Module>, Origin), Error> {
        let headers = program.headers();
        let source = Source { name: program.file(), text: program.source(), headers: &headers };
        let place = self.place(&source, nvrtc, &architecture.virtual_name(), Output::Ptx);
        // Of an entry that is damaged the checksum does not fit; that it ends with a zero is looked at all the same.
        let cached = place.and_then(|(cache, key)| cache.load(key)).filter(|ptx| ptx.last() == Some(&0));
        // SAFETY: it came from the cache with its checksum, and ends with a zero.
        let load = |ptx: &[u8]| unsafe { Module::load(self.context(), program.name(), ptx) };
        if let Some(module) = cached.and_then(|ptx| load(&ptx).ok()) {
            return Ok((module, Origin::Cache { reused: 0 }));
        }
        let mut ptx = nvrtc.compile(&source, architecture, Output::Ptx, COMPILER_OPTIONS)?.image;
        if ptx.last() != Some(&0) {
            ptx.push(0);
        }
        let module = load(&ptx)?;
        if let Some((cache, key)) = place {
            // The kernel runs all the same.
            let _ = cache.store(key, &ptx);
        }
        Ok((module, Origin::CompiledByDriver { seconds: began.elapsed().as_secs_f64() }))
    }

    /// The module made from the PTX that comes with the program.
    fn shipped(&self, program: &Program, began: Instant) -> Result<(Arc<Module>, Origin), Error> {
        let image = [program.shipped_ptx().unwrap_or_default().as_bytes(), &[0]].concat();
        // SAFETY: the PTX was written by NVRTC, is whole, and ends with a zero.
        let module = unsafe { Module::load(self.context(), program.name(), &image) }?;
        Ok((module, Origin::Shipped { seconds: began.elapsed().as_secs_f64() }))
    }

    /// Loads machine code, changed where that is known to help; of how many instructions.
    fn load(&self, program: &Program, image: &[u8]) -> Result<(Arc<Module>, usize), Error> {
        // SAFETY: the image came from NVRTC, or from the cache with its checksum; what may be changed leaves it what it is.
        let load = |image: &[u8]| unsafe { Module::load(self.context(), program.name(), image) };
        if let Some((changed, reused)) = reuse_operands(image)
            && self.reuses_operands()
            && let Ok(module) = load(&changed)
        {
            return Ok((module, reused));
        }
        Ok((load(image)?, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_kernels::find;

    #[test]
    fn a_spill_is_a_warning_where_none_is_declared() {
        let launch =
            |name| find(name).expect("known").show(&[]).expect("has defaults").recipe().launches()[0].clone();
        let warning = spill(&launch("copy-offset"), 24).expect("a warning");
        assert!(warning.contains("copy-offset") && warning.contains("24 bytes"), "{warning}");
        assert_eq!(spill(&launch("copy-offset"), 0), None);
        // This one is there to show local memory.
        assert_eq!(spill(&launch("local-array"), 24), None);
    }
}
