//! A recipe whose kernels are compiled and loaded: it can be looked at, launched, and launched again.

use super::Engine;
use super::compile::Origin;
use super::plans::{Binding, Chosen, Plan};
use crate::device::{DeviceMemory, FunctionAttributes};
use std::sync::Arc;
use tilewright_core::{Error, ErrorKind};
use tilewright_kernels::{Recipe, Request};

/// A recipe, ready to run on one device. The workspaces are allocated; they are reused by every launch.
#[derive(Debug)]
pub struct Prepared {
    engine: Engine,
    plan: Arc<Plan>,
    /// That of all workspaces.
    workspace: DeviceMemory,
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

impl Engine {
    /// Compiles and loads the kernels of a recipe, and allocates its workspaces. Where these do not fit, the kernel's recipe with
    /// [`Request::WORKSPACE`] takes its place, or the one without any.
    ///
    /// # Errors
    /// `unavailable` without an NVRTC that will do, `compilation` for a kernel that does not compile, `device-memory`
    /// for workspaces that do not fit.
    pub fn prepare(&self, recipe: Recipe) -> Result<Prepared, Error> {
        with_less_memory(recipe, |recipe| self.prepare_this(recipe))
    }

    fn prepare_this(&self, recipe: Recipe) -> Result<Prepared, Error> {
        self.with_workspace(Arc::new(self.plan(recipe)?))
    }

    fn with_workspace(&self, plan: Arc<Plan>) -> Result<Prepared, Error> {
        let workspace = DeviceMemory::new(self.stream(), "a workspace", plan.workspace_bytes()?)?;
        Ok(Prepared { engine: self.clone(), plan, workspace })
    }

    /// What was chosen, with memory of its own; where there is not enough, the kernel's recipe without any takes its place.
    ///
    /// # Errors
    /// As [`Engine::prepare`].
    pub fn prepare_chosen(&self, chosen: &Chosen) -> Result<Prepared, Error> {
        match self.with_workspace(Arc::clone(&chosen.0)) {
            Err(error) if matches!(error.kind(), ErrorKind::DeviceMemory { .. }) => {
                self.prepare(chosen.recipe().clone())
            }
            prepared => prepared,
        }
    }
}

/// What `prepare` makes of the recipe, or where the device has no memory for its workspaces, of one with less.
fn with_less_memory<T>(recipe: Recipe, prepare: impl Fn(Recipe) -> Result<T, Error>) -> Result<T, Error> {
    let (kernel, request) = (recipe.kernel(), recipe.request().copied());
    let (mut taken, rejected) = (bytes(&recipe), recipe.rejected().to_vec());
    let mut prepared = prepare(recipe);
    for workspace in [Request::WORKSPACE, 0] {
        let is_full =
            matches!(&prepared, Err(error) if matches!(error.kind(), ErrorKind::DeviceMemory { .. }));
        if !is_full || workspace >= taken {
            continue;
        }
        if let Some(Ok(smaller)) = request.map(|request| kernel.recipe(&Request { workspace, ..request })) {
            taken = bytes(&smaller);
            prepared = prepare(smaller.with_rejected(rejected.clone()));
        }
    }
    prepared
}

/// The bytes of all workspaces.
fn bytes(recipe: &Recipe) -> u64 {
    recipe.workspaces().iter().fold(0, |all, bytes| all.saturating_add(*bytes))
}

impl Prepared {
    /// What will be launched.
    pub fn recipe(&self) -> &Recipe {
        &self.plan.recipe
    }

    /// The kernels in the order of their launches.
    ///
    /// # Errors
    /// `device` when the driver fails.
    pub fn kernels(&self) -> Result<Vec<PreparedKernel>, Error> {
        self.plan
            .steps()
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
        self.plan.kernels.iter().filter_map(|ready| ready.spill.as_deref()).collect()
    }

    /// Fills the workspaces with NaN, and -1: no result may depend on what was there.
    #[cfg(test)]
    pub(super) fn spoil_workspaces(&self) -> Result<(), Error> {
        let bytes = vec![0xff_u8; self.workspace.bytes()];
        // SAFETY: as many bytes on both sides.
        unsafe { self.workspace.write_raw(bytes.as_ptr().cast(), bytes.len()) }
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Puts the launches into the engine's stream.
    ///
    /// # Safety
    /// The bound memory must be what the recipe was made for, belong to this engine, and live until the work is done.
    pub(crate) unsafe fn launch(&self, bindings: &[Binding]) -> Result<(), Error> {
        let workspace = self.workspace.address();
        // SAFETY: the caller's promise; the workspace was made for the plan, and is freed behind its work.
        unsafe { self.plan.launch(&self.engine, self.engine.stream().handle(), bindings, workspace) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{DType, Layout, Problem, SemiringId};
    use tilewright_kernels::find;

    /// A recipe of a kernel for row-major operands with odd rows.
    fn recipe(name: &str) -> Recipe {
        of_size(name, 4095)
    }

    fn of_size(name: &str, n: usize) -> Recipe {
        let rows = Layout::row_major(n, n);
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
    fn before_nothing_is_packed_less_is() {
        let is_packed = |free| {
            let kept = with_less_memory(of_size("simt", 32_769), device(free)).expect("prepared");
            (bytes(&kept) > Request::WORKSPACE, bytes(&kept) > 0)
        };
        assert_eq!(is_packed(1 << 40), (true, true));
        assert_eq!(is_packed(Request::WORKSPACE), (false, true));
        assert_eq!(is_packed(1000), (false, false));
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
