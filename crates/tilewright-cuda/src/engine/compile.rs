//! From a program to a kernel on the device: memory, cache, compiler, and PTX where machine code will not do.

use super::Engine;
use crate::architecture::Architecture;
use crate::cache::CacheKey;
use crate::cubin;
use crate::device::{Function, FunctionAttributes, Module};
use crate::nvrtc::{Nvrtc, Output, Source};
use std::panic::resume_unwind;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Instant;
use tilewright_core::{Error, ErrorKind};
use tilewright_kernels::{COMPILER_OPTIONS, Launch, LocalMemory, Program};

/// Where a kernel's code came from.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Origin {
    /// Compiled by an earlier process, and found in the cache.
    Cache,
    /// Compiled by NVRTC to machine code.
    Compiled {
        /// How long it took.
        seconds: f64,
    },
    /// Compiled by NVRTC to PTX and by the driver from there, because the driver refused machine code.
    CompiledByDriver {
        /// How long it took.
        seconds: f64,
    },
    /// Compiled by the driver from the PTX that comes with the kernel, because there is no NVRTC.
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
}

impl Ready {
    /// Allows as much dynamic shared memory as the launch has.
    fn allow(&self, launch: &Launch) -> Result<(), Error> {
        if launch.dynamic_shared_memory > self.attributes.max_dynamic_shared_memory {
            self.function.allow_dynamic_shared_memory(launch.dynamic_shared_memory)?;
        }
        Ok(())
    }

    /// Whether a kernel that can wait for the one before it does so in this code. The PTX that comes with the kernels is for a compute
    /// capability that has no such instruction; everything else is compiled for the device.
    pub(super) fn waits_for_previous(&self) -> bool {
        !matches!(self.origin, Origin::Shipped { .. })
    }
}

/// What is kept in memory: a program's entry.
pub(super) type Key = (Program, &'static str);

fn key(launch: &Launch) -> Key {
    (launch.program.clone(), launch.entry)
}

impl Engine {
    /// The kernels of some launches, each ready for its dynamic shared memory. Those that are not there yet are made side by side:
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
            ready.allow(launch)?;
        }
        Ok(made)
    }

    /// The kernel of a launch, ready for its dynamic shared memory.
    pub(super) fn ready(&self, launch: &Launch) -> Result<Arc<Ready>, Error> {
        let ready = self.known(launch).map_or_else(|| self.make_and_keep(launch), Ok)?;
        ready.allow(launch)?;
        Ok(ready)
    }

    fn known(&self, launch: &Launch) -> Option<Arc<Ready>> {
        self.0.kernels.lock().unwrap_or_else(PoisonError::into_inner).get(&key(launch)).cloned()
    }

    /// Compiled outside the lock; if two threads do it, one of the results is kept.
    fn make_and_keep(&self, launch: &Launch) -> Result<Arc<Ready>, Error> {
        let ready = Arc::new(self.make(launch)?);
        let mut kernels = self.0.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(kernels.entry(key(launch)).or_insert(ready)))
    }

    fn make(&self, launch: &Launch) -> Result<Ready, Error> {
        let (module, origin) = self.module(&launch.program)?;
        let function = module.function(launch.entry)?;
        let attributes = function.attributes()?;
        if launch.local_memory == LocalMemory::Forbidden && attributes.local_memory > 0 {
            let log = format!(
                "each thread of {} keeps {} bytes in local memory, and its recipe declares none",
                launch.entry, attributes.local_memory
            );
            let (what, target) = (launch.program.name.clone(), self.architecture().to_string());
            return Err(ErrorKind::Compilation { what, target, log, hint: String::new() }.into());
        }
        Ok(Ready { function, attributes, origin })
    }

    fn architecture(&self) -> Architecture {
        Architecture::new(self.device().capability)
    }

    fn module(&self, program: &Program) -> Result<(Arc<Module>, Origin), Error> {
        let began = Instant::now();
        let nvrtc = match Nvrtc::find() {
            Ok(nvrtc) => nvrtc,
            Err(missing) => return self.shipped(program, began, missing),
        };
        let headers = program.headers();
        let source = Source { name: program.file, text: program.source, headers: &headers };
        let key = CacheKey::new(
            &source,
            &self.architecture().real(),
            Output::Cubin,
            COMPILER_OPTIONS,
            nvrtc.version(),
        );
        let cached = self.0.cache.as_ref().and_then(|cache| cache.load(key));
        // An entry that the driver refuses is compiled again, as if it were not there.
        if let Some(module) = cached.and_then(|image| self.load(program, &image).ok()) {
            return Ok((module, Origin::Cache));
        }
        let compiled = nvrtc.compile(&source, self.architecture(), Output::Cubin, COMPILER_OPTIONS)?;
        match self.load(program, &compiled.image) {
            Ok(module) => {
                if let Some(cache) = &self.0.cache {
                    // The kernel runs all the same.
                    let _ = cache.store(key, &compiled.image);
                }
                Ok((module, Origin::Compiled { seconds: began.elapsed().as_secs_f64() }))
            }
            Err(refusal) => {
                let ptx = nvrtc.compile(&source, self.architecture(), Output::Ptx, COMPILER_OPTIONS)?;
                // SAFETY: NVRTC's PTX is whole and ends with a zero.
                let module = unsafe { Module::load(self.context(), &program.name, &ptx.image) };
                // The first refusal says more than that of the second choice.
                let module = module.map_err(|_| refusal)?;
                Ok((module, Origin::CompiledByDriver { seconds: began.elapsed().as_secs_f64() }))
            }
        }
    }

    /// The module made from the PTX that comes with the program; `missing` is returned where none does.
    fn shipped(
        &self,
        program: &Program,
        began: Instant,
        missing: Error,
    ) -> Result<(Arc<Module>, Origin), Error> {
        let Some(ptx) = program.shipped_ptx() else { return Err(missing) };
        let image = [ptx.as_bytes(), &[0]].concat();
        // SAFETY: the PTX was written by NVRTC, is whole, and ends with a zero.
        let module = unsafe { Module::load(self.context(), &program.name, &image) }?;
        Ok((module, Origin::Shipped { seconds: began.elapsed().as_secs_f64() }))
    }

    /// Loads machine code that is a cubin at least by its form, with the operands reused that can be.
    fn load(&self, program: &Program, image: &[u8]) -> Result<Arc<Module>, Error> {
        let mut image = image.to_vec();
        cubin::reuse_operands(&mut image).map_err(|error| ErrorKind::Unsupported {
            what: program.name.clone(),
            why: error.to_string(),
            hint: String::new(),
        })?;
        // SAFETY: the image came from NVRTC, or from the cache with its checksum, and is a cubin.
        unsafe { Module::load(self.context(), &program.name, &image) }
    }
}
