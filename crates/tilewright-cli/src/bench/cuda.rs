//! The GPU's contenders: kernels of the catalogue, and the vendor's library.

use super::{
    case::Case,
    measured::{Measured, Outcome, Resources},
};
use crate::args::{Bench, KernelChoice};
use std::{any::Any, cell::RefCell};
use tilewright::{
    Backend, Element, Error, ErrorKind, Matrix, Semiring,
    cuda::{Competitor, Cublas, DeviceMatrix, Engine, Pace, Prepared, choose, sets_beyond_cache},
    semiring::Visit,
};
use tilewright_kernels::{Family, Kernel, Recipe, Refusal, Request, Role, kernels};

/// The name of the vendor's library in the results.
pub const CUBLAS: &str = "cuBLAS";

/// A GPU and what is measured on it.
pub struct Device {
    pub engine: Engine,
    pub cublas: Option<Cublas>,
    pub pace: Pace,
}

/// A kernel, and its recipe or why it has none.
type Entry = (&'static Kernel, Result<Recipe, Refusal>);

/// The kernels to measure for a request: those that are named, the ladder with the production kernels, or what the engine
/// would choose with all production kernels.
fn recipes(args: &Bench, request: &Request) -> Result<Vec<Entry>, Error> {
    let with_recipe = |kernel: &'static Kernel| (kernel, kernel.recipe(request));
    let computes = |kernel: &&'static Kernel| kernel.variants.contains(&request.variant());
    let family = |family| kernels().iter().filter(move |kernel| kernel.family == family).filter(computes);
    if !args.kernel.is_empty() {
        let named = args.kernel.iter().filter_map(|choice| match choice {
            KernelChoice::Gpu(kernel) => Some(*kernel),
            KernelChoice::Isa(_) => None,
        });
        return Ok(named.map(with_recipe).collect());
    }
    if args.ladder {
        return Ok(family(Family::Ladder).chain(family(Family::Production)).map(with_recipe).collect());
    }
    let production: Vec<_> = family(Family::Production).map(with_recipe).collect();
    if !production.is_empty() {
        return Ok(production);
    }
    let recipe = choose(request)?;
    Ok(vec![(recipe.kernel(), Ok(recipe))])
}

impl Device {
    /// Checks every kernel, and times those that are right, in turn, the vendor's library among them.
    pub fn measure(&self, args: &Bench, case: &Case) -> Result<Vec<Measured>, Error> {
        case.semiring.visit(case.a.dtype(), Measure { device: self, args, case })?
    }
}

struct Measure<'a> {
    device: &'a Device,
    args: &'a Bench,
    case: &'a Case,
}

/// Buffers of one product.
struct Set<T: Element, U: Element> {
    a: DeviceMatrix<T>,
    b: DeviceMatrix<T>,
    c: DeviceMatrix<U>,
}

/// Something to run on a set of buffers.
enum Runner<'a> {
    Kernel(Box<Prepared>),
    Library(&'a Cublas),
}

impl Runner<'_> {
    fn run<T: Element, U: Element>(&self, set: &mut Set<T, U>) -> Result<(), Error> {
        match self {
            Self::Kernel(prepared) => prepared.run(&set.a, &set.b, &mut set.c),
            Self::Library(cublas) => {
                let set: &mut dyn Any = set;
                if let Some(Set { a, b, c }) = set.downcast_mut::<Set<f32, f32>>() {
                    return cublas.product(a, b, c);
                }
                match set.downcast_mut::<Set<f64, f64>>() {
                    Some(Set { a, b, c }) => cublas.product(a, b, c),
                    None => Err(ErrorKind::Unsupported {
                        what: "this element type by cuBLAS".into(),
                        why: "it is measured on f32 and f64".into(),
                        hint: "leave out --against".into(),
                    }
                    .into()),
                }
            }
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
}

impl Visit for Measure<'_> {
    type Output = Result<Vec<Measured>, Error>;

    fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> Self::Output {
        let Self { device: Device { engine, cublas, pace }, args, case } = self;
        let (a, b) = case.operands::<S::Elem>()?;
        let query = case.query()?;
        let request =
            Request { target: engine.target(), ..Request::new(query.problem, query.semiring, query.dtype) };
        // A kernel that writes nothing must not find the right result there.
        let wrong = Matrix::filled(a.rows(), b.cols(), S::finish(S::ZERO))?;
        let set = || -> Result<Set<S::Elem, S::Out>, Error> {
            Ok(Set { a: engine.upload(a)?, b: engine.upload(b)?, c: engine.upload(wrong.as_ref())? })
        };

        let mut entries = Vec::new();
        for (kernel, recipe) in recipes(args, &request)? {
            let runner = match recipe {
                Ok(recipe) => check(case, set()?, Runner::Kernel(Box::new(engine.prepare(recipe)?)))?,
                Err(refusal) => Err(Outcome::Refused(format!("needs {}; {}", refusal.needs, refusal.found))),
            };
            entries.push((kernel.name, runner));
        }
        if let Some(cublas) = cublas {
            entries.push((CUBLAS, check(case, set()?, Runner::Library(cublas))?));
        }

        let count = sets_beyond_cache(query.work().bytes as u64, engine.device().l2_cache);
        let sets = RefCell::new((0..count).map(|_| set()).collect::<Result<Vec<_>, _>>()?);
        let able = entries.iter().filter_map(|(name, runner)| Some((*name, runner.as_ref().ok()?)));
        let mut competitors: Vec<Competitor<'_>> = able
            .map(|(name, runner)| Competitor {
                name: name.into(),
                run: Box::new(|number| runner.run(&mut sets.borrow_mut()[number % count])),
            })
            .collect();
        let mut timings = engine.race(&mut competitors, *pace)?.into_iter();
        drop(competitors);

        let mut measured = Vec::new();
        for (name, runner) in entries {
            let resources = runner.as_ref().map_or(Ok(None), |runner| runner.resources(engine))?;
            let outcome = match runner {
                Ok(_) => timings.next().map(Outcome::Timed),
                Err(outcome) => Some(outcome),
            };
            let backend = Backend::Cuda;
            measured.extend(outcome.map(|outcome| Measured {
                backend,
                name: name.into(),
                outcome,
                resources,
            }));
        }
        Ok(measured)
    }
}

/// Runs once on fresh buffers: the runner, or what is wrong with its result.
fn check<'a, T: Element, U: Element>(
    case: &Case,
    mut set: Set<T, U>,
    runner: Runner<'a>,
) -> Result<Result<Runner<'a>, Outcome>, Error> {
    runner.run(&mut set)?;
    let fault = case.fault(&set.c.to_matrix()?.into())?;
    Ok(match fault {
        None => Ok(runner),
        Some(fault) => Err(Outcome::Wrong(fault)),
    })
}
