//! What a recipe gives: launches, with everything an engine or the emulator needs.

use crate::{argument::NamedArgument, demand::Demand, kernel::Kernel, program::Program, request::Request};
use tilewright_arch::GridLaunch;

/// How one kernel does what was asked: launches to run one after another, and the memory they share.
///
/// Only [`Kernel::recipe`], [`Kernel::show`], [`crate::closure`] and [`crate::TreeRecipes`] make one. An engine writes to device memory as its launches say, so that
/// nothing in it can be changed:
///
/// ```compile_fail,E0616
/// # use tilewright_core::{DType, Layout, Problem, SemiringId};
/// # use tilewright_kernels::{Request, find};
/// # let rows = Layout::row_major(64, 64);
/// # let request = Request::new(Problem::new(rows, rows, rows).unwrap(), SemiringId::PlusTimes, DType::F32);
/// let mut recipe = find("coalesced").unwrap().recipe(&request).unwrap();
/// recipe.launches.clear();
/// ```
///
/// ```compile_fail,E0616
/// # use tilewright_core::{DType, Layout, Problem, SemiringId};
/// # use tilewright_kernels::{Request, find};
/// # let rows = Layout::row_major(64, 64);
/// # let request = Request::new(Problem::new(rows, rows, rows).unwrap(), SemiringId::PlusTimes, DType::F32);
/// let recipe = find("coalesced").unwrap().recipe(&request).unwrap();
/// let mut launch = recipe.launches()[0].clone();
/// launch.shape.grid = [1 << 20, 1, 1];
/// ```
///
/// ```compile_fail,E0616
/// # use tilewright_core::{DType, Layout, Problem, SemiringId};
/// # use tilewright_kernels::{Request, find};
/// # let rows = Layout::row_major(64, 64);
/// # let request = Request::new(Problem::new(rows, rows, rows).unwrap(), SemiringId::PlusTimes, DType::F32);
/// let recipe = find("coalesced").unwrap().recipe(&request).unwrap();
/// let mut program = recipe.launches()[0].program().clone();
/// program.source = "";
/// ```
#[derive(Clone, Debug)]
pub struct Recipe {
    pub(crate) kernel: &'static Kernel,
    pub(crate) request: Option<Request>,
    pub(crate) launches: Vec<Launch>,
    pub(crate) workspaces: Vec<u64>,
    pub(crate) details: Vec<(&'static str, String)>,
    pub(crate) rejected: Vec<Rejected>,
    pub(crate) seconds: f64,
    pub(crate) demands: Vec<Demand>,
}

impl Recipe {
    /// The recipe of an exhibit or of another launch that is no product, without workspace or remarks.
    pub(crate) fn exhibit(kernel: &'static Kernel, launch: Launch) -> Self {
        Self {
            kernel,
            request: None,
            launches: vec![launch],
            workspaces: Vec::new(),
            details: Vec::new(),
            rejected: Vec::new(),
            seconds: 0.0,
            demands: Vec::new(),
        }
    }

    /// The recipe of a product: no launch at all when the result has no element.
    pub(crate) fn product(kernel: &'static Kernel, request: &Request, launches: Vec<Launch>) -> Self {
        Self {
            kernel,
            request: Some(*request),
            launches: if request.problem.c().is_empty() { Vec::new() } else { launches },
            workspaces: Vec::new(),
            details: Vec::new(),
            rejected: Vec::new(),
            seconds: 0.0,
            demands: Vec::new(),
        }
    }

    /// The kernel.
    pub fn kernel(&self) -> &'static Kernel {
        self.kernel
    }

    /// The product that it was made for; `None` for an exhibit and for what is no product.
    pub fn request(&self) -> Option<&Request> {
        self.request.as_ref()
    }

    /// Launches in order, each after the one before has ended. None for an empty result.
    pub fn launches(&self) -> &[Launch] {
        &self.launches
    }

    /// Bytes of each workspace; their contents before the first launch do not matter.
    pub fn workspaces(&self) -> &[u64] {
        &self.workspaces
    }

    /// Seconds that it takes on the target of its request, by a model; 0 for what is no product.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// What it asks of parts of the GPU at least, the busiest first: a lower bound of its time. None where that is not counted, as for the ladder, or
    /// costs of the GPU are not known.
    ///
    /// ```
    /// use tilewright_arch::Part;
    /// use tilewright_core::{DType, Layout, Problem, SemiringId};
    /// use tilewright_kernels::{Request, find};
    /// let l = Layout::row_major(4096, 4096);
    /// let request = Request::new(Problem::new(l, l, l)?, SemiringId::PlusTimes, DType::Bf16);
    /// let recipe = find("wgmma")?.recipe(&request)?;
    /// assert_eq!(recipe.demands()[0].part, Part::Tensor);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn demands(&self) -> &[Demand] {
        &self.demands
    }

    /// What a plan prints about the choice: tile, outputs per thread, stages, splits.
    pub fn details(&self) -> &[(&'static str, String)] {
        &self.details
    }

    /// What else was considered, and why it was not chosen.
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// The same recipe, with another list of what else was considered.
    #[must_use]
    pub fn with_rejected(self, rejected: Vec<Rejected>) -> Self {
        Self { rejected, ..self }
    }
}

/// A candidate that a recipe decided against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The candidate, by its tile and split.
    pub candidate: String,
    /// Why another is better, or why it cannot be used.
    pub reason: String,
}

/// One kernel launch, as its recipe made it.
#[derive(Clone, Debug)]
pub struct Launch {
    pub(crate) role: Role,
    pub(crate) program: Program,
    pub(crate) entry: &'static str,
    pub(crate) shape: GridLaunch,
    pub(crate) arguments: Vec<NamedArgument>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) local_memory: LocalMemory,
    pub(crate) starts_early: bool,
    pub(crate) parts: u32,
    pub(crate) is_for_some: bool,
}

impl Launch {
    /// A launch that computes, without dynamic shared memory, symbols or local memory.
    pub(crate) fn new(
        program: Program,
        entry: &'static str,
        grid: [u32; 3],
        block: [u32; 3],
        arguments: Vec<NamedArgument>,
    ) -> Self {
        Self {
            role: Role::Product,
            program,
            entry,
            shape: GridLaunch::new(grid, block),
            arguments,
            symbols: Vec::new(),
            local_memory: LocalMemory::Forbidden,
            starts_early: false,
            parts: 1,
            is_for_some: false,
        }
    }

    /// With so many bytes of dynamic shared memory.
    pub(crate) fn with_dynamic_shared_memory(mut self, bytes: u32) -> Self {
        self.shape.dynamic_shared_memory = bytes;
        self
    }

    /// In clusters of so many blocks along x, y and z, of which the grid has whole ones.
    pub(crate) fn with_cluster(mut self, blocks: [u32; 3]) -> Self {
        self.shape.cluster = Some(blocks);
        self
    }

    /// What it is for.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The program to compile.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The entry in the program.
    pub fn entry(&self) -> &'static str {
        self.entry
    }

    /// Blocks along x, y and z.
    pub fn grid(&self) -> [u32; 3] {
        self.shape.grid
    }

    /// Threads along x, y and z.
    pub fn block(&self) -> [u32; 3] {
        self.shape.block
    }

    /// Grid, blocks, clusters and dynamic shared memory, as the driver takes them.
    pub fn shape(&self) -> &GridLaunch {
        &self.shape
    }

    /// Bytes of dynamic shared memory.
    pub fn dynamic_shared_memory(&self) -> u32 {
        self.shape.dynamic_shared_memory
    }

    /// The arguments, in the order of the entry's parameters.
    pub fn arguments(&self) -> &[NamedArgument] {
        &self.arguments
    }

    /// Device symbols to be set before the launch.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Whether local memory (spilled registers, indexed arrays) is expected.
    pub fn local_memory(&self) -> LocalMemory {
        self.local_memory
    }

    /// Whether it may start while the kernel before it in the stream still runs: it waits for that one's results by itself
    /// (programmatic dependent launch, from compute capability 9.0). Only code that was compiled for such a GPU waits.
    pub fn starts_early(&self) -> bool {
        self.starts_early
    }

    /// Into how many parts it splits the sums of most tiles of C, for a later launch to join.
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// Whether it computes for some data alone, which is found out on the GPU, and a later launch is there for others.
    pub fn is_for_some(&self) -> bool {
        self.is_for_some
    }
}

/// What a launch of a recipe is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It looks at the operands. What it finds is the guard of predicated launches behind it.
    Scan,
    /// It copies operands in the order in which the product reads them.
    Pack,
    /// It multiplies, or is the launch of an exhibit.
    Product,
    /// It adds up what the product computed in parts.
    Join,
}

/// What a compiled kernel may keep in local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalMemory {
    /// Nothing: local memory means that the kernel was compiled badly.
    Forbidden,
    /// The kernel is there to show it, or values lie there that are written and read once, outside of its loops.
    Declared,
}

/// A `__constant__` or `__device__` variable with an initial value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name in the module.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}
