//! The GPU's contenders: kernels of the catalogue, and the vendor's libraries.

use super::{
    case::Case,
    library::{self, CUBLAS, CUBLASLT, Library},
    measured::{Measured, Memory, Outcome, Resources},
    resolved::Resolved,
};
use crate::bounds::{Bounds, Computed};
use std::cell::RefCell;
use tilewright::{
    Backend, DynMatrix, DynRef, Error,
    cuda::{
        Competitor, Cublas, CublasLt, DeviceRef, DynDeviceMatrix, Engine, Pace, Prepared, sets_beyond_cache,
    },
    plan::Query,
};
use tilewright_kernels::{Family, Form, Kernel, Recipe, Request, Role, Variant, kernels, select};

/// A GPU and what is measured on it.
pub struct Device {
    pub engine: Engine,
    /// Once with the workspace that it takes by itself, and once with one that it is given.
    pub cublas: Option<[Cublas; 2]>,
    pub cublaslt: Option<CublasLt>,
    pub pace: Pace,
}

/// A kernel, and its recipe or why it has none.
type Entry = (&'static Kernel, Result<Recipe, Error>);

/// The kernels to measure for a request: those that are named, the ladder with the production kernels, or what the engine
/// would choose with all production kernels.
fn recipes(engine: &Engine, asked: &Resolved, request: &Request) -> Result<Vec<Entry>, Error> {
    let selected = |kernel| Ok(select(request, kernel, &|program| engine.can_make(program))?.recipe);
    let with_recipe = |kernel: &'static Kernel| (kernel, selected(Some(kernel)));
    let computes = |kernel: &&'static Kernel| kernel.computes(request.variant());
    let family = |family| kernels().iter().filter(move |kernel| kernel.family == family).filter(computes);
    if !asked.kernels.is_empty() {
        return Ok(asked.kernels.iter().copied().map(with_recipe).collect());
    }
    if asked.ladder {
        return Ok(family(Family::Ladder).chain(family(Family::Production)).map(with_recipe).collect());
    }
    let production: Vec<_> = family(Family::Production).map(with_recipe).collect();
    if !production.is_empty() {
        return Ok(production);
    }
    let recipe = selected(None)?;
    Ok(vec![(recipe.kernel(), Ok(recipe))])
}

/// The kernel, and whether it is the plain program of it.
fn name(recipe: &Recipe) -> String {
    let is_plain = recipe.request().is_some_and(|request| request.form == Form::Plain);
    format!("{}{}", recipe.kernel().name, if is_plain { " (plain program)" } else { "" })
}

impl Device {
    /// Checks every contender, and times those that are right, in turn.
    pub fn measure(&mut self, asked: &Resolved, case: &Case) -> Result<Vec<Measured>, Error> {
        let Self { engine, cublas, cublaslt, pace } = self;
        let (engine, pace) = (&*engine, *pace);
        let [a, b] = case.views();
        let query = case.query()?;
        let Query { problem, semiring, own, dtype, output, math, .. } = query;
        let variant = Variant { own, ..Variant::new(semiring, dtype) }.giving(output);
        let request = Request { math, gpu: engine.gpu(), ..Request::of(problem, variant) };
        let wrong = case.wrong_result(a.layout().rows, b.layout().cols)?;
        let set = || Set::new(engine, [a, b, wrong.as_ref()]);
        let count = sets_beyond_cache(query.work().bytes as u64, engine.device().l2_cache);
        let sets = RefCell::new((0..count).map(|_| set()).collect::<Result<Vec<_>, _>>()?);
        let fault = |runner: &Runner<'_>| -> Result<Option<String>, Error> {
            let set = &mut sets.borrow_mut()[0];
            set.c = engine.upload_dyn(wrong.as_ref())?;
            runner.run(set)?;
            case.fault(&set.result()?)
        };

        let mut entries = Vec::new();
        for (kernel, recipe) in recipes(engine, asked, &request)? {
            let name = recipe.as_ref().map_or_else(|_| kernel.name.to_owned(), name);
            let runner = match recipe {
                Ok(recipe) => match engine.prepare(recipe) {
                    Ok(prepared) => check(Runner::Kernel(Box::new(prepared)), fault)?,
                    // Without a compiler others are measured nevertheless.
                    Err(error) if error.is_unavailable() => Err(Outcome::Refused(error.to_string())),
                    Err(error) => return Err(error),
                },
                Err(error) => Err(Outcome::Refused(error.to_string())),
            };
            entries.push((name, runner));
        }
        let of_kernels = entries.iter().filter_map(|(_, runner)| runner.as_ref().ok()?.workspace());
        let workspace = library::workspace(of_kernels);
        if let Some(cublas) = cublas {
            cublas[1].set_workspace(workspace)?;
            let library = library::faster(engine, &*cublas, &sets, pace)?;
            entries.push((CUBLAS.to_owned(), check(Runner::Library(library), fault)?));
        }
        if let Some(cublaslt) = cublaslt {
            let runner = match library::fastest(engine, cublaslt, &sets, workspace, pace) {
                Ok(library) => check(Runner::Library(library), fault)?,
                Err(error) if error.code() == "unsupported" => Err(Outcome::Refused(error.to_string())),
                Err(error) => return Err(error),
            };
            entries.push((CUBLASLT.to_owned(), runner));
        }

        let able = entries.iter().filter_map(|(name, runner)| Some((name, runner.as_ref().ok()?)));
        let mut competitors: Vec<Competitor<'_>> = able
            .map(|(name, runner)| Competitor {
                name: name.clone(),
                run: Box::new(|number| runner.run(&mut sets.borrow_mut()[number % count])),
            })
            .collect();
        let mut timings = engine.race(&mut competitors, pace)?.into_iter();
        drop(competitors);

        let matrices = sets.borrow()[0].bytes();
        let mut measured = Vec::new();
        for (name, runner) in entries {
            let (resources, memory, algorithms) = match &runner {
                Ok(runner) => {
                    let limit = match runner {
                        Runner::Kernel(_) => request.workspace,
                        Runner::Library(_) => workspace,
                    };
                    let memory = Memory { matrices, workspace: runner.workspace(), limit };
                    (runner.resources(engine)?, Some(memory), runner.algorithms())
                }
                Err(_) => (None, None, None),
            };
            let bounds = runner.as_ref().ok().and_then(|runner| runner.bounds(engine, &query));
            let outcome = match runner {
                Ok(_) => timings.next().map(Outcome::Timed),
                Err(outcome) => Some(outcome),
            };
            let of = |outcome| Measured { bounds, ..Measured::new(Backend::Cuda, &name, outcome) };
            measured.extend(outcome.map(|outcome| Measured { resources, memory, algorithms, ..of(outcome) }));
        }
        Ok(measured)
    }
}

/// Matrices of one product.
pub struct Set {
    pub a: DynDeviceMatrix,
    pub b: DynDeviceMatrix,
    pub c: DynDeviceMatrix,
}

impl Set {
    /// Copies of these.
    pub fn new(engine: &Engine, [a, b, c]: [DynRef<'_>; 3]) -> Result<Self, Error> {
        Ok(Self { a: engine.upload_dyn(a)?, b: engine.upload_dyn(b)?, c: engine.upload_dyn(c)? })
    }

    /// C on the host.
    pub fn result(&self) -> Result<DynMatrix, Error> {
        DeviceRef::from(&self.c).to_matrix()
    }

    fn bytes(&self) -> u64 {
        [self.a.bytes(), self.b.bytes(), self.c.bytes()].iter().map(|&bytes| bytes as u64).sum()
    }
}

/// Something to run on such matrices.
enum Runner<'a> {
    Kernel(Box<Prepared>),
    Library(Library<'a>),
}

impl Runner<'_> {
    fn run(&self, set: &mut Set) -> Result<(), Error> {
        match self {
            Self::Kernel(prepared) => prepared.run(&set.a, &set.b, &mut set.c),
            Self::Library(library) => library.run(set),
        }
    }

    fn resources(&self, engine: &Engine) -> Result<Option<Resources>, Error> {
        let Self::Kernel(prepared) = self else { return Ok(None) };
        // Others prepare operands, or join parts of sums.
        let recipe = prepared.recipe();
        let product = recipe.launches().iter().position(|launch| launch.role() == Role::Product);
        let Some(index) = product else { return Ok(None) };
        Ok(prepared.kernels()?.get(index).map(|kernel| {
            let threads = kernel.block.iter().product::<u32>() * kernel.blocks_per_multiprocessor;
            let all = engine.device().threads_per_multiprocessor.max(1);
            let occupancy = f64::from(threads) / f64::from(all);
            Resources { registers: kernel.attributes.registers, occupancy }
        }))
    }

    /// What bounds it, where counts tell.
    fn bounds(&self, engine: &Engine, query: &Query) -> Option<Bounds> {
        let Self::Kernel(prepared) = self else { return None };
        let recipe = prepared.recipe();
        Bounds::of(&Computed {
            kernel: recipe.kernel(),
            gpu: &engine.gpu(),
            query,
            programs: recipe.launches().iter().map(|launch| launch.program().name()).collect(),
            demands: recipe.demands(),
            estimated_seconds: recipe.seconds(),
        })
    }

    fn workspace(&self) -> Option<u64> {
        match self {
            Self::Kernel(prepared) => Some(prepared.recipe().workspaces().iter().sum()),
            Self::Library(library) => library.workspace(),
        }
    }

    fn algorithms(&self) -> Option<usize> {
        match self {
            Self::Kernel(_) => None,
            Self::Library(library) => library.algorithms(),
        }
    }
}

/// The runner, or what is wrong with its result.
fn check<'a>(
    runner: Runner<'a>,
    fault: impl Fn(&Runner<'_>) -> Result<Option<String>, Error>,
) -> Result<Result<Runner<'a>, Outcome>, Error> {
    Ok(match fault(&runner)? {
        None => Ok(runner),
        Some(fault) => Err(Outcome::Wrong(fault)),
    })
}
