//! Plans of products that were asked for before: a product that is known costs a look-up.

use super::Engine;
use super::compile::{Ready, goes_anywhere};
use super::parameters::Parameters;
use crate::device::Start;
use crate::ffi::driver as ffi;
use crate::tunings::tunings_generation;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use tilewright_core::{Error, ErrorKind};
use tilewright_kernels::{Buffer, Kernel, Launch, Recipe, Rejected, Request, Selection};

/// As many plans are kept. One takes some kilobytes of the host's memory, and none of the device's.
const MOST: usize = 256;
/// Workspaces begin at multiples of so many bytes, as allocations do.
const WORKSPACE_ALIGNMENT: u64 = 256;

/// Device memory by its role: where it begins and how many bytes there are.
pub(crate) type Binding = (Buffer, u64, usize);

/// A recipe whose kernels are compiled and loaded: all that does not depend on addresses.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) recipe: Recipe,
    /// What would have been better, and why it cannot be had.
    passed_over: Option<Rejected>,
    pub(super) kernels: Vec<Arc<Ready>>,
    pub(super) names: Vec<Arc<str>>,
    /// Where each workspace begins in the memory of all, and its bytes.
    workspaces: Vec<(u64, u64)>,
}

impl Plan {
    /// The bytes of all workspaces.
    pub(super) fn workspace_bytes(&self) -> Result<usize, Error> {
        let bytes = self.workspaces.last().map_or(0, |&(start, bytes)| start.saturating_add(bytes));
        usize::try_from(bytes).map_err(|_| ErrorKind::OutOfMemory { what: "a workspace", bytes }.into())
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = (&Launch, &Arc<Ready>, &Arc<str>)> {
        let rows = self.recipe.launches().iter().zip(&self.kernels).zip(&self.names);
        rows.map(|((launch, ready), name)| (launch, ready, name))
    }

    /// Whether its launches can go into any stream: those with variables and textures are in order with what is in the engine's.
    pub(super) fn goes_anywhere(&self) -> bool {
        self.recipe.launches().iter().all(goes_anywhere)
    }

    /// Puts the launches into a stream of the engine's context.
    ///
    /// # Safety
    /// The handle is that of such a stream, and the engine's own unless the plan goes anywhere. The bound memory must be what the recipe was made for, the
    /// workspace hold the bytes of all, and both live until the work is done.
    pub(super) unsafe fn launch(
        &self,
        engine: &Engine,
        order: ffi::Stream,
        bindings: &[Binding],
        workspace: u64,
    ) -> Result<(), Error> {
        let _whole = engine.0.launching.lock().unwrap_or_else(PoisonError::into_inner);
        for (launch, ready, name) in self.steps() {
            for symbol in launch.symbols() {
                ready.function.module().set(engine.stream(), symbol.name, &symbol.bytes)?;
            }
            let arguments = launch.arguments().iter().map(|argument| (argument.name, &argument.value));
            let place = |buffer| self.memory(buffer, bindings, workspace);
            // SAFETY: the caller's promise: the memory outlives the work, and textures live until the end of
            // this step.
            let mut parameters = unsafe { Parameters::bind(engine.stream(), name, arguments, place)? };
            let is_early = launch.starts_early() && ready.waits_for_previous;
            let start = if is_early { Start::Early } else { Start::InOrder };
            // SAFETY: the recipe lists the entry's parameters in order, and the caller vouches for the stream and the addresses.
            unsafe {
                let pointers = &mut parameters.pointers();
                ready.function.launch(engine.stream(), order, name, launch.shape(), start, pointers)?
            };
        }
        Ok(())
    }

    fn memory(&self, buffer: Buffer, bindings: &[Binding], workspace: u64) -> Result<(u64, usize), Error> {
        let found = match buffer {
            Buffer::Workspace(index) => {
                self.workspaces.get(index).map(|&(start, bytes)| (workspace + start, bytes as usize))
            }
            _ => bindings
                .iter()
                .find(|(role, ..)| *role == buffer)
                .map(|&(_, address, bytes)| (address, bytes)),
        };
        found.ok_or_else(|| {
            let what = format!("launching {} without {buffer:?}", self.recipe.kernel().name);
            ErrorKind::Unsupported { what, why: "the recipe needs it".into(), hint: "".into() }.into()
        })
    }
}

/// Where workspaces of these sizes lie in one piece of memory.
fn placed(workspaces: &[u64]) -> Vec<(u64, u64)> {
    let mut next = 0_u64;
    let place = |&bytes: &u64| {
        let start = next;
        next = start.saturating_add(bytes.checked_next_multiple_of(WORKSPACE_ALIGNMENT).unwrap_or(u64::MAX));
        (start, bytes)
    };
    workspaces.iter().map(place).collect()
}

/// What computes a product: a recipe whose kernels are loaded. It is prepared in no time, again and again.
#[derive(Debug, Clone)]
pub struct Chosen(pub(super) Arc<Plan>);

impl Chosen {
    /// What will be launched.
    pub fn recipe(&self) -> &Recipe {
        &self.0.recipe
    }

    /// What would have been better, and why it cannot be had.
    pub fn passed_over(&self) -> Option<&Rejected> {
        self.0.passed_over.as_ref()
    }
}

impl Engine {
    /// The fastest recipe for a request, compiled and loaded: of one kernel, or of all. What was chosen of all is kept for the next such request.
    ///
    /// ```
    /// use tilewright_core::{DType, Layout, Problem, SemiringId};
    /// use tilewright_cuda::Engine;
    /// use tilewright_kernels::Request;
    /// let engine = Engine::emulated(tilewright_arch::Device::find("a6000").unwrap().into())?;
    /// let l = Layout::row_major(8, 8);
    /// let request = Request::new(Problem::new(l, l, l)?, SemiringId::MinPlus, DType::F32);
    /// let (chosen, again) = (engine.chosen(request, None)?, engine.chosen(request, None)?);
    /// assert!(std::ptr::eq(chosen.recipe(), again.recipe()));
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Engine::select`], and as [`Engine::prepare`] but for memory.
    pub fn chosen(&self, request: Request, kernel: Option<&'static Kernel>) -> Result<Chosen, Error> {
        if let (None, Some(plan)) = (kernel, self.known_plan(&request)) {
            return Ok(Chosen(plan));
        }
        let Selection { recipe, passed_over } = self.select(request, kernel)?;
        let plan = Arc::new(Plan { passed_over, ..self.plan(recipe)? });
        Ok(Chosen(if kernel.is_none() { self.keep_plan(request, plan) } else { plan }))
    }

    /// Compiles and loads the kernels of a recipe.
    pub(super) fn plan(&self, recipe: Recipe) -> Result<Plan, Error> {
        let kernels = self.all_ready(recipe.launches())?;
        let names = recipe.launches().iter().map(|launch| launch.program().name().into()).collect();
        let workspaces = placed(recipe.workspaces());
        Ok(Plan { recipe, passed_over: None, kernels, names, workspaces })
    }

    /// The plan of a product that was asked for before.
    pub(super) fn known_plan(&self, request: &Request) -> Option<Arc<Plan>> {
        let mut plans = self.0.plans.lock().unwrap_or_else(PoisonError::into_inner);
        plans.find(tunings_generation(), request)
    }

    /// Keeps the plan of a product. Made outside the lock; if two threads do it, one of the two is kept.
    fn keep_plan(&self, request: Request, plan: Arc<Plan>) -> Arc<Plan> {
        let mut plans = self.0.plans.lock().unwrap_or_else(PoisonError::into_inner);
        plans.keep(tunings_generation(), request, plan)
    }
}

/// What is kept, by request. Those that were not asked for longest go first.
#[derive(Debug)]
pub(super) struct Plans<T = Plan> {
    by_sizes: HashMap<[usize; 4], Vec<Kept<T>>>,
    count: usize,
    /// Counts look-ups.
    clock: u64,
    /// What tunings there were when the plans were made.
    generation: u64,
}

#[derive(Debug)]
struct Kept<T> {
    request: Request,
    plan: Arc<T>,
    used: u64,
}

impl<T> Default for Plans<T> {
    fn default() -> Self {
        Self { by_sizes: HashMap::new(), count: 0, clock: 0, generation: 0 }
    }
}

fn sizes(request: &Request) -> [usize; 4] {
    let problem = &request.problem;
    [problem.m(), problem.n(), problem.k(), request.batch.count]
}

impl<T> Plans<T> {
    /// After tunings have changed, other ways may be the fastest.
    fn forget_if_tuned(&mut self, generation: u64) {
        if self.generation != generation {
            self.by_sizes.clear();
            (self.count, self.generation) = (0, generation);
        }
    }

    fn find(&mut self, generation: u64, request: &Request) -> Option<Arc<T>> {
        self.forget_if_tuned(generation);
        self.clock += 1;
        let same = self.by_sizes.get_mut(&sizes(request))?;
        let kept = same.iter_mut().find(|kept| kept.request == *request)?;
        kept.used = self.clock;
        Some(Arc::clone(&kept.plan))
    }

    fn keep(&mut self, generation: u64, request: Request, plan: Arc<T>) -> Arc<T> {
        if let Some(known) = self.find(generation, &request) {
            return known;
        }
        if self.count >= MOST {
            self.forget_one();
        }
        let kept = Kept { request, plan: Arc::clone(&plan), used: self.clock };
        self.by_sizes.entry(sizes(&request)).or_default().push(kept);
        self.count += 1;
        plan
    }

    fn forget_one(&mut self) {
        let all = self.by_sizes.iter();
        let ages =
            all.flat_map(|(sizes, same)| same.iter().enumerate().map(|(i, kept)| (kept.used, *sizes, i)));
        let Some((_, sizes, index)) = ages.min() else { return };
        if let Some(same) = self.by_sizes.get_mut(&sizes) {
            same.swap_remove(index);
            if same.is_empty() {
                self.by_sizes.remove(&sizes);
            }
            self.count -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{DType, Layout, Problem, SemiringId};

    fn request(rows: usize) -> Request {
        let (a, b, c) = (Layout::row_major(rows, 8), Layout::row_major(8, 8), Layout::row_major(rows, 8));
        Request::new(Problem::new(a, b, c).expect("shapes fit"), SemiringId::MinPlus, DType::F32)
    }

    #[test]
    fn a_request_is_found_as_it_was_kept() {
        let mut plans = Plans::<usize>::default();
        let (one, other) = (request(1), Request { semiring: SemiringId::MaxPlus, ..request(1) });
        assert!(plans.find(0, &one).is_none());
        plans.keep(0, one, Arc::new(1));
        plans.keep(0, other, Arc::new(2));
        assert_eq!(*plans.keep(0, one, Arc::new(3)), 1, "what is there stays");
        assert_eq!(
            [&one, &other].map(|request| plans.find(0, request).map(|plan| *plan)),
            [Some(1), Some(2)]
        );
        assert!(plans.find(0, &request(2)).is_none());
    }

    #[test]
    fn the_oldest_goes_when_there_are_too_many() {
        let mut plans = Plans::<usize>::default();
        for rows in 1..=MOST {
            plans.keep(0, request(rows), Arc::new(rows));
        }
        plans.find(0, &request(1)).expect("kept");
        plans.keep(0, request(MOST + 1), Arc::new(0));
        assert_eq!(plans.count, MOST);
        assert!(plans.find(0, &request(2)).is_none());
        for rows in (3..=MOST + 1).chain([1]) {
            assert!(plans.find(0, &request(rows)).is_some(), "{rows}");
        }
    }

    #[test]
    fn another_tuning_makes_all_of_them_anew() {
        let mut plans = Plans::<usize>::default();
        plans.keep(0, request(1), Arc::new(1));
        assert!(plans.find(1, &request(1)).is_none());
        plans.keep(1, request(1), Arc::new(2));
        assert_eq!((*plans.find(1, &request(1)).expect("kept"), plans.count), (2, 1));
    }

    #[test]
    fn workspaces_are_apart_and_aligned() {
        assert_eq!(placed(&[]), []);
        assert_eq!(placed(&[1, 256, 300, 0, 4]), [(0, 1), (256, 256), (512, 300), (1024, 0), (1024, 4)]);
        assert_eq!(placed(&[u64::MAX, 8])[1].0, u64::MAX, "more than there can be is refused later");
    }
}
