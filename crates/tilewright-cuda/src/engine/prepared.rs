//! A recipe whose kernels are compiled and loaded: it can be looked at, launched, and launched again.

use super::Engine;
use super::compile::{Origin, Ready};
use crate::device::{Blocks, DeviceMemory, Extent, FunctionAttributes, Texture};
use std::ffi::c_void;
use std::sync::{Arc, PoisonError};
use tilewright_core::{Error, ErrorKind};
use tilewright_kernels::{ArgumentValue, Buffer, Launch, Recipe, Request};

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
    /// Compiles and loads the kernels of a recipe, and allocates its workspaces. Where these do not fit, the kernel's recipe without
    /// any takes its place.
    ///
    /// # Errors
    /// `unavailable` without an NVRTC that will do, `compilation` for a kernel that does not compile, `device-memory`
    /// for workspaces that do not fit.
    pub fn prepare(&self, recipe: Recipe) -> Result<Prepared, Error> {
        with_less_memory(recipe, |recipe| self.prepare_this(recipe))
    }

    fn prepare_this(&self, recipe: Recipe) -> Result<Prepared, Error> {
        let kernels = self.all_ready(recipe.launches())?;
        let names = recipe.launches().iter().map(|launch| launch.program().name().into()).collect();
        let allocate = |&bytes: &u64| {
            let failed = |_| ErrorKind::OutOfMemory { what: "a workspace", bytes };
            DeviceMemory::new(self.stream(), "a workspace", usize::try_from(bytes).map_err(failed)?)
        };
        let workspaces = recipe.workspaces().iter().map(allocate).collect::<Result<_, Error>>()?;
        Ok(Prepared { engine: self.clone(), recipe, kernels, names, workspaces })
    }
}

/// What `prepare` makes of the recipe, or where the device has no memory for its workspaces, of the one without any.
fn with_less_memory<T>(recipe: Recipe, prepare: impl Fn(Recipe) -> Result<T, Error>) -> Result<T, Error> {
    let (kernel, request) = (recipe.kernel(), recipe.request().copied());
    let (has_workspaces, rejected) = (!recipe.workspaces().is_empty(), recipe.rejected().to_vec());
    let error = match prepare(recipe) {
        Err(error) if has_workspaces && matches!(error.kind(), ErrorKind::DeviceMemory { .. }) => error,
        prepared => return prepared,
    };
    match request.map(|request| kernel.recipe(&Request { workspace: 0, ..request })) {
        Some(Ok(smaller)) => prepare(smaller.with_rejected(rejected)),
        _ => Err(error),
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
                let threads = launch.block().iter().product();
                let shared = launch.dynamic_shared_memory();
                Ok(PreparedKernel {
                    name: Arc::clone(name),
                    origin: ready.origin,
                    attributes: ready.attributes,
                    grid: launch.grid(),
                    block: launch.block(),
                    dynamic_shared_memory: shared,
                    blocks_per_multiprocessor: ready.function.blocks_per_multiprocessor(threads, shared)?,
                })
            })
            .collect()
    }

    /// What is slower than it should be, and why: kernels whose registers the compiler has spilled.
    pub fn warnings(&self) -> Vec<&str> {
        self.kernels.iter().filter_map(|ready| ready.spill.as_deref()).collect()
    }

    /// Fills the workspaces with NaN, and -1: no result may depend on what was there.
    #[cfg(test)]
    pub(super) fn spoil_workspaces(&self) -> Result<(), Error> {
        self.workspaces.iter().try_for_each(|memory| {
            let bytes = vec![0xff_u8; memory.bytes()];
            // SAFETY: as many bytes on both sides.
            unsafe { memory.write_raw(bytes.as_ptr().cast(), bytes.len()) }
        })
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    fn steps(&self) -> impl Iterator<Item = (&Launch, &Arc<Ready>, &Arc<str>)> {
        self.recipe
            .launches()
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
            for symbol in launch.symbols() {
                ready.function.module().set(self.engine.stream(), symbol.name, &symbol.bytes)?;
            }
            // Textures wait for their kernel when they are dropped, at the end of this step.
            let mut textures = Vec::new();
            let mut values = Vec::with_capacity(launch.arguments().len());
            for argument in launch.arguments() {
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
                grid: launch.grid(),
                block: launch.block(),
                dynamic_shared_memory: launch.dynamic_shared_memory(),
                starts_early: launch.starts_early() && ready.waits_for_previous,
                cluster: None,
                blocks: Blocks::Independent,
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
            let what = format!("launching {} without {buffer:?}", self.recipe.kernel().name);
            ErrorKind::Unsupported { what, why: "the recipe needs it".into(), hint: String::new() }.into()
        })
    }
}

const _: () = assert!(cfg!(target_endian = "little"), "arguments are passed by their lower bytes");

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{DType, Layout, Problem, SemiringId};
    use tilewright_kernels::find;

    /// A recipe of a kernel for row-major operands with odd rows.
    fn recipe(name: &str) -> Recipe {
        let rows = Layout::row_major(4095, 4095);
        let problem = Problem::new(rows, rows, rows).expect("shapes fit");
        let request = Request::new(problem, SemiringId::PlusTimes, DType::F32);
        find(name).expect("known").recipe(&request).expect("accepted")
    }

    fn full(bytes: u64) -> Error {
        let (device, what) = ("a GPU".into(), "a workspace");
        ErrorKind::DeviceMemory { device, what, bytes, free: 1000, total: 2000 }.into()
    }

    /// A device with so much memory.
    fn device(free: u64) -> impl Fn(Recipe) -> Result<Recipe, Error> {
        move |recipe| match recipe.workspaces().iter().sum() {
            bytes if bytes > free => Err(full(bytes)),
            _ => Ok(recipe),
        }
    }

    #[test]
    fn without_memory_for_workspaces_nothing_is_packed() {
        assert!(!recipe("simt").workspaces().is_empty());
        let kept = with_less_memory(recipe("simt"), device(1 << 40)).expect("prepared");
        assert_eq!(kept.workspaces(), recipe("simt").workspaces());
        let smaller = with_less_memory(recipe("simt"), device(1000)).expect("prepared");
        assert!(smaller.workspaces().is_empty() && smaller.launches().len() == 1);
        // The matrices are the same, and so is what else was considered.
        let problem = |recipe: &Recipe| recipe.request().expect("a product").problem;
        assert_eq!(problem(&smaller), problem(&kept));
        assert_eq!(smaller.rejected(), kept.rejected());
    }

    #[test]
    fn a_kernel_that_must_copy_its_operands_fails_without_memory() {
        let error = with_less_memory(recipe("register-tile"), device(1000)).expect_err("it needs copies");
        assert_eq!(error.code(), "device-memory");
    }

    #[test]
    fn other_failures_are_not_tried_again() {
        let tries = std::cell::Cell::new(0);
        let fails = |_| -> Result<(), Error> {
            tries.set(tries.get() + 1);
            Err(ErrorKind::OutOfMemory { what: "the host", bytes: 1 }.into())
        };
        assert_eq!(with_less_memory(recipe("simt"), fails).expect_err("fails").code(), "out-of-memory");
        assert_eq!(tries.get(), 1);
    }
}
