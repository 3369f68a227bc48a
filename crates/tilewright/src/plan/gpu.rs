//! Plans for a GPU: which kernel, and what it takes.

use super::{
    How, Plan, Rejected,
    floor::Floor,
    query::{Query, Results},
    resources::Compiled,
};
use tilewright_arch::{ComputeCapability, Gpu, KernelResources, Occupancy};
use tilewright_core::{Epilogue, Error, ErrorKind};
use tilewright_cuda::{Engine, ProgramPtx};
use tilewright_kernels::{
    Available, Demand, Family, Kernel, Launch, Recipe, Request, Selection, Variant, kernels, select,
};

/// A product on a GPU.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GpuPlan {
    /// Where.
    pub gpu: Gpu,
    /// With which kernel.
    pub kernel: &'static Kernel,
    /// The recipe's remarks: tile, outputs per thread, stages, splits.
    pub details: Vec<(&'static str, String)>,
    /// Bytes of device memory besides A, B and C.
    pub workspace_bytes: u64,
    /// The launches in order; none for an empty result.
    pub steps: Vec<Step>,
    /// How long it takes at least, where a peak is known.
    pub floor: Option<Floor>,
    /// How long it takes by the estimate with which the kernel was chosen.
    pub estimated_seconds: f64,
    /// What it asks of parts of the GPU at least, the busiest first; none of a kernel whose recipe does not count it.
    pub demands: Vec<Demand>,
}

/// A launch, with what is known of its kernel.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Step {
    /// The program's name, as in `shared-tile.min-plus.f32`.
    pub program: String,
    /// The entry in the program.
    pub entry: &'static str,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads along x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared_memory: u32,
    /// Registers and static shared memory, where they are known.
    pub compiled: Option<Compiled>,
    /// Resident blocks and what limits them, where the registers are known.
    pub occupancy: Option<Occupancy>,
}

impl Step {
    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().fold(1, |all, &extent| all * u64::from(extent))
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// How often the GPU is filled: blocks over those that are resident at once. `None` where that is not known.
    pub fn waves(&self, gpu: &Gpu) -> Option<f64> {
        let resident = f64::from(self.occupancy?.blocks_per_sm) * f64::from(gpu.multiprocessors);
        (resident > 0.0).then(|| self.blocks() as f64 / resident)
    }
}

/// Where the registers of a kernel come from: a launch of it and a compute capability give what it takes, if that is known.
pub type Resources<'a> = &'a dyn Fn(&Launch, ComputeCapability) -> Option<Compiled>;

impl Plan {
    /// The plan for `gpu`, with `kernel` or the one that the engine chooses: the first that takes the product, production
    /// kernels before the ladder from its top.
    ///
    /// Shapes and strides are those on the device. Where no kernel takes them, copies by rows are multiplied. `resources`
    /// is asked for the chosen kernel alone.
    ///
    /// ```
    /// use tilewright::{DType, Layout, Problem, SemiringId, plan::{Gpu, How, Plan, Query}};
    /// let (a, b, c) = (Layout::row_major(512, 256), Layout::row_major(256, 128), Layout::row_major(512, 128));
    /// let query = Query::new(SemiringId::MinPlus, DType::F32, Problem::new(a, b, c)?);
    /// let gpu = Gpu::named("a6000")?;
    /// let plan = Plan::on_gpu(&query, &gpu, None, &|_, _| None)?;
    /// let How::Gpu(how) = &plan.how else { unreachable!("it was asked for") };
    /// assert!(how.steps.iter().all(|step| step.blocks() > 0));
    /// assert!(plan.rejected.iter().any(|r| r.candidate == "single-block"));
    /// // 512 x 128 x 256 additions and minima on 84 multiprocessors take at least half a microsecond.
    /// assert!(how.floor.as_ref().unwrap().seconds > 5e-7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `unsupported` when no kernel computes this, and for a GPU older than 7.5; the refusal of `kernel`, when one is given.
    pub fn on_gpu(
        query: &Query,
        gpu: &Gpu,
        kernel: Option<&'static Kernel>,
        resources: Resources<'_>,
    ) -> Result<Self, Error> {
        runs_kernels(gpu)?;
        Self::selected((query, gpu), request(query, gpu), kernel, (&|_| Ok(()), resources))
    }

    /// As [`Plan::on_gpu`], where this machine is to run it, on `gpu` or on the emulator: of the programs that come with the catalogue,
    /// where there is no NVRTC to compile others.
    ///
    /// # Errors
    /// As [`Plan::on_gpu`]; `unavailable` where only programs would do that there is no NVRTC for.
    pub fn here(
        query: &Query,
        gpu: &Gpu,
        kernel: Option<&'static Kernel>,
        resources: Resources<'_>,
    ) -> Result<Self, Error> {
        Self::selected((query, gpu), request(query, gpu), kernel, (&ProgramPtx::exists, resources))
    }

    /// As [`Plan::here`], for the GPU of an engine: also with the way that was measured to be the fastest, where one was.
    ///
    /// # Errors
    /// As [`Plan::here`].
    pub fn on_engine(
        query: &Query,
        engine: &Engine,
        kernel: Option<&'static Kernel>,
        resources: Resources<'_>,
    ) -> Result<Self, Error> {
        let gpu = engine.gpu();
        let request = engine.tuned(request(query, &gpu));
        Self::selected((query, &gpu), request, kernel, (&ProgramPtx::exists, resources))
    }

    fn selected(
        (query, gpu): (&Query, &Gpu),
        request: Request,
        kernel: Option<&'static Kernel>,
        (available, resources): (&Available<'_>, Resources<'_>),
    ) -> Result<Self, Error> {
        let Selection { recipe, passed_over } = select(&request, kernel, available)?;
        let work = query.work();
        let floor = Floor::on(gpu, query, &work);
        let passed_over = passed_over.map(|p| Rejected { candidate: p.candidate, reason: p.reason });
        let others = match kernel {
            Some(_) => Vec::new(),
            None => others(&request, &recipe, passed_over.as_ref()),
        };
        let rejected = passed_over.into_iter().chain(others).collect();
        let plan = GpuPlan {
            gpu: *gpu,
            kernel: recipe.kernel(),
            details: recipe.details().to_vec(),
            workspace_bytes: recipe.workspaces().iter().sum(),
            steps: recipe.launches().iter().map(|launch| step(launch, gpu, resources)).collect(),
            floor,
            estimated_seconds: recipe.seconds(),
            demands: recipe.demands().to_vec(),
        };
        Ok(Self { query: *query, work, rejected, how: How::Gpu(Box::new(plan)) })
    }
}

/// The oldest compute capability that the kernels are compiled and tested for.
const OLDEST: ComputeCapability = ComputeCapability::new(7, 5);

fn runs_kernels(gpu: &Gpu) -> Result<(), Error> {
    if gpu.capability() >= OLDEST {
        return Ok(());
    }
    Err(ErrorKind::Unsupported {
        what: format!("a plan for {}", gpu.name),
        why: format!("it has compute capability {}, and the kernels need {OLDEST}", gpu.capability()),
        hint: "choose a GPU of that capability or a later one".into(),
    }
    .into())
}

/// Every kernel that was not chosen, and the variations of the one that was.
fn others(request: &Request, chosen: &Recipe, passed_over: Option<&Rejected>) -> Vec<Rejected> {
    let multiplies = |k: &&Kernel| k.family != Family::Gallery && *k != chosen.kernel();
    let is_kernel = |name: &str| kernels().iter().any(|k| k.name == name);
    let variations = chosen.rejected().iter().filter(|r| !is_kernel(&r.candidate)).map(|r| Rejected {
        candidate: format!("{} {}", chosen.kernel().name, r.candidate),
        reason: r.reason.clone(),
    });
    let kernels = kernels().iter().filter(multiplies).map(|kernel| {
        let reason = match kernel.recipe(request) {
            // Where one program cannot be had for want of a compiler, no other can that is not shipped.
            Ok(recipe) => match passed_over.filter(|_| !is_shipped(&recipe)) {
                Some(program) => program.reason.clone(),
                None => format!("is slower than {} by its estimate", chosen.kernel().name),
            },
            Err(refusal) => format!("needs {}; {}", refusal.needs, refusal.found),
        };
        Rejected { candidate: kernel.name.into(), reason }
    });
    variations.chain(kernels).collect()
}

/// Whether all its programs come with the catalogue.
fn is_shipped(recipe: &Recipe) -> bool {
    recipe.launches().iter().all(|launch| launch.program().shipped_ptx().is_some())
}

fn request(query: &Query, gpu: &Gpu) -> Request {
    let Query { semiring, own, dtype, output, problem, math, joining, epilogue, scales, results } = *query;
    let arg = results == Results::ProductAndArg;
    let epilogue = Epilogue { bias: epilogue.bias.map(|()| 1), activation: epilogue.activation };
    let variant = Variant { own, ..Variant::new(semiring, dtype) }.giving(output);
    Request { math, joining, epilogue, scales, gpu: *gpu, arg, ..Request::of(problem, variant) }
}

fn step(launch: &Launch, gpu: &Gpu, resources: Resources<'_>) -> Step {
    let compiled = resources(launch, gpu.capability());
    let config = launch.shape().configuration();
    let occupancy = compiled.as_ref().and_then(|compiled| {
        // The runtime counts one barrier for every kernel.
        let kernel = KernelResources { barriers: 1, ..compiled.kernel.resources() };
        Occupancy::of(&gpu.limits, &kernel, &config).ok()
    });
    Step {
        program: launch.program().name().to_owned(),
        entry: launch.entry(),
        grid: launch.grid(),
        block: launch.block(),
        dynamic_shared_memory: launch.dynamic_shared_memory(),
        compiled,
        occupancy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::resources::Origin;
    use tilewright_core::{DType, Layout, Problem, SemiringId};
    use tilewright_cuda::CompiledKernel;
    use tilewright_kernels::find;

    fn query(semiring: SemiringId, dtype: DType, [m, n, k]: [usize; 3]) -> Query {
        let (a, b, c) = (Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n));
        Query::new(semiring, dtype, Problem::new(a, b, c).unwrap())
    }

    fn plan(query: &Query, kernel: Option<&str>) -> Result<(GpuPlan, Vec<Rejected>), Error> {
        let resources = |launch: &Launch, _| {
            let kernel = CompiledKernel { name: launch.entry().into(), registers: 37, ..Default::default() };
            Some(Compiled { kernel, origin: Origin::Compiled })
        };
        let kernel = kernel.map(|name| find(name).unwrap());
        let plan = Plan::on_gpu(query, &Gpu::named("a6000").unwrap(), kernel, &resources)?;
        let How::Gpu(how) = plan.how else { panic!("{:?}", plan.how) };
        Ok((*how, plan.rejected))
    }

    #[test]
    fn every_other_kernel_is_rejected_with_a_reason() {
        for size in [[1024; 3], [1000, 999, 37], [16; 3], [1, 1, 100_000]] {
            let (how, rejected) = plan(&query(SemiringId::PlusTimes, DType::F32, size), None).unwrap();
            for kernel in kernels().iter().filter(|k| k.family != Family::Gallery) {
                let is_rejected = rejected.iter().any(|r| r.candidate == kernel.name && !r.reason.is_empty());
                assert_eq!(is_rejected, kernel != how.kernel, "{size:?}: {}", kernel.name);
            }
        }
    }

    #[test]
    fn steps_have_the_occupancy_of_their_kernel() {
        let (how, rejected) =
            plan(&query(SemiringId::MinPlus, DType::F32, [64, 96, 32]), Some("shared-tile")).unwrap();
        let step = &how.steps[0];
        assert_eq!((step.grid, step.threads(), step.blocks()), ([3, 2, 1], 1024, 6));
        let occupancy = step.occupancy.unwrap();
        assert_eq!((occupancy.blocks_per_sm, occupancy.warps_per_sm), (1, 32));
        assert_eq!(step.waves(&how.gpu), Some(6.0 / 84.0));
        assert!(rejected.is_empty());
    }

    #[test]
    fn large_products_are_not_given_to_slow_kernels() {
        let (how, rejected) = plan(&query(SemiringId::PlusTimes, DType::F32, [4096; 3]), None).unwrap();
        let floor = how.floor.unwrap().seconds;
        assert!(how.estimated_seconds >= floor && how.estimated_seconds < 2.0 * floor, "{how:?}");
        let naive = rejected.iter().find(|r| r.candidate == "naive").unwrap();
        assert_eq!(naive.reason, "is slower than simt by its estimate");
    }

    #[test]
    fn every_kernel_that_takes_a_product_has_an_estimate_above_the_floor() {
        let query = query(SemiringId::PlusTimes, DType::F32, [4096; 3]);
        for kernel in kernels().iter().filter(|k| k.family == Family::Ladder) {
            let Ok((how, _)) = plan(&query, Some(kernel.name)) else { continue };
            assert!(how.estimated_seconds > how.floor.unwrap().seconds, "{}", kernel.name);
        }
    }

    #[test]
    fn what_no_kernel_computes_is_refused_with_a_reason() {
        let arg = |semiring| query(semiring, DType::F32, [8; 3]).results(Results::ProductAndArg);
        assert_eq!(plan(&arg(SemiringId::PlusTimes), None).unwrap_err().code(), "unsupported");
        assert_eq!(plan(&arg(SemiringId::MinPlus), Some("naive")).unwrap_err().code(), "unsupported");
        assert_eq!(plan(&arg(SemiringId::MinPlus), None).unwrap().0.steps.len(), 2);
        let odd = query(SemiringId::PlusTimes, DType::F32, [33, 32, 32]);
        let refusal = plan(&odd, Some("shared-tile")).unwrap_err();
        assert!(refusal.to_string().contains("M to be a multiple of 32; M is 33"), "{refusal}");
        assert_eq!(plan(&odd, Some("read-only")).unwrap_err().code(), "unsupported");
    }

    #[test]
    fn every_stride_has_a_plan() {
        let square = Layout::col_major(64, 64);
        let problem =
            Problem::new(square, Layout::strided(64, 64, -64, 1), Layout::row_major(64, 64)).unwrap();
        let query = Query::new(SemiringId::PlusTimes, DType::F32, problem);
        let (how, _) = plan(&query, None).unwrap();
        assert!(!how.steps.is_empty());
    }

    #[test]
    fn an_empty_result_takes_no_launch() {
        let (how, _) = plan(&query(SemiringId::PlusTimes, DType::F32, [0, 64, 64]), None).unwrap();
        assert!(how.steps.is_empty());
    }
}
