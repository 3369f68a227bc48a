//! A recipe whose kernels are compiled and loaded: it can be looked at, launched, and launched again.

use super::Engine;
use super::compile::{Origin, Ready};
use crate::device::{DeviceMemory, Extent, FunctionAttributes, Texture};
use std::ffi::c_void;
use std::sync::{Arc, PoisonError};
use tilewright_core::{Error, ErrorKind};
use tilewright_kernels::{ArgumentValue, Buffer, Launch, Recipe};

/// A recipe, ready to run on one device. The workspaces are allocated; they are reused by every launch.
#[derive(Debug)]
pub struct Prepared {
    engine: Engine,
    recipe: Recipe,
    kernels: Vec<Arc<Ready>>,
    names: Vec<Arc<str>>,
    workspaces: Vec<DeviceMemory>,
}

/// One kernel of a prepared recipe, as the driver sees it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PreparedKernel {
    /// The program and its entry.
    pub name: Arc<str>,
    /// Where its code came from.
    pub origin: Origin,
    /// What it takes.
    pub attributes: FunctionAttributes,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads along x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared_memory: u32,
    /// Blocks that a multiprocessor holds at once, as the driver computes it.
    pub blocks_per_multiprocessor: u32,
}

/// Device memory by its role: where it begins and how many bytes there are.
pub(crate) type Binding = (Buffer, u64, usize);

impl Engine {
    /// Compiles and loads the kernels of a recipe, and allocates its workspaces.
    ///
    /// # Errors
    /// `unavailable` without NVRTC, `compilation` for a kernel that does not compile or spills where it must not, `device-memory`
    /// for workspaces that do not fit.
    pub fn prepare(&self, recipe: Recipe) -> Result<Prepared, Error> {
        let kernels = self.all_ready(&recipe.launches)?;
        let names = recipe.launches.iter().map(|launch| launch.program.name.as_str().into()).collect();
        let allocate = |&bytes: &u64| {
            let failed = |_| ErrorKind::OutOfMemory { what: "a workspace", bytes };
            DeviceMemory::new(self.stream(), "a workspace", usize::try_from(bytes).map_err(failed)?)
        };
        let workspaces = recipe.workspaces.iter().map(allocate).collect::<Result<_, Error>>()?;
        Ok(Prepared { engine: self.clone(), recipe, kernels, names, workspaces })
    }
}

impl Prepared {
    /// What will be launched.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The kernels in the order of their launches.
    ///
    /// # Errors
    /// `device` when the driver fails.
    pub fn kernels(&self) -> Result<Vec<PreparedKernel>, Error> {
        self.steps()
            .map(|(launch, ready, name)| {
                let threads = launch.block.iter().product();
                let shared = launch.dynamic_shared_memory;
                Ok(PreparedKernel {
                    name: Arc::clone(name),
                    origin: ready.origin,
                    attributes: ready.attributes,
                    grid: launch.grid,
                    block: launch.block,
                    dynamic_shared_memory: shared,
                    blocks_per_multiprocessor: ready.function.blocks_per_multiprocessor(threads, shared)?,
                })
            })
            .collect()
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    fn steps(&self) -> impl Iterator<Item = (&Launch, &Arc<Ready>, &Arc<str>)> {
        self.recipe
            .launches
            .iter()
            .zip(&self.kernels)
            .zip(&self.names)
            .map(|((launch, ready), name)| (launch, ready, name))
    }

    /// Puts the launches into the engine's stream.
    ///
    /// # Safety
    /// The bound memory must be what the recipe was made for, belong to this engine, and live until the work is done.
    pub(crate) unsafe fn launch(&self, bindings: &[Binding]) -> Result<(), Error> {
        let _whole = self.engine.0.launching.lock().unwrap_or_else(PoisonError::into_inner);
        for (launch, ready, name) in self.steps() {
            for symbol in &launch.symbols {
                ready.function.module().set(self.engine.stream(), symbol.name, &symbol.bytes)?;
            }
            // Textures wait for their kernel when they are dropped, at the end of this step.
            let mut textures = Vec::new();
            let mut values = Vec::with_capacity(launch.arguments.len());
            for argument in &launch.arguments {
                values.push(match argument.value {
                    ArgumentValue::Pointer(buffer) => self.memory(buffer, bindings)?.0,
                    ArgumentValue::Texture(buffer) => {
                        let (address, bytes) = self.memory(buffer, bindings)?;
                        // SAFETY: the caller's promise: the memory outlives the work, and the texture lives shorter.
                        let texture = unsafe { Texture::new(self.engine.stream(), address, bytes)? };
                        let handle = texture.handle;
                        textures.push(texture);
                        handle
                    }
                    // Narrow values take the lower bytes, which every host of a CUDA device has first.
                    ArgumentValue::I32(x) => x.cast_unsigned().into(),
                    ArgumentValue::I64(x) => x.cast_unsigned(),
                    ArgumentValue::F32(x) => x.to_bits().into(),
                    ArgumentValue::F64(x) => x.to_bits(),
                });
            }
            let mut arguments: Vec<*mut c_void> =
                values.iter_mut().map(|value| (&raw mut *value).cast()).collect();
            let extent = Extent {
                grid: launch.grid,
                block: launch.block,
                dynamic_shared_memory: launch.dynamic_shared_memory,
                starts_early: launch.starts_early && ready.waits_for_previous(),
            };
            // SAFETY: the recipe lists the entry's parameters in order, and the caller vouches for the addresses.
            unsafe { ready.function.launch(self.engine.stream(), name, extent, &mut arguments)? };
        }
        Ok(())
    }

    fn memory(&self, buffer: Buffer, bindings: &[Binding]) -> Result<(u64, usize), Error> {
        let workspace = match buffer {
            Buffer::Workspace(index) => {
                self.workspaces.get(index).map(|memory| (memory.address(), memory.bytes()))
            }
            _ => bindings
                .iter()
                .find(|(role, ..)| *role == buffer)
                .map(|&(_, address, bytes)| (address, bytes)),
        };
        workspace.ok_or_else(|| {
            let what = format!("launching {} without {buffer:?}", self.recipe.kernel.name);
            ErrorKind::Unsupported { what, why: "the recipe needs it".into(), hint: String::new() }.into()
        })
    }
}

const _: () = assert!(cfg!(target_endian = "little"), "arguments are passed by their lower bytes");
