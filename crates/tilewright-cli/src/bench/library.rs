//! The vendor's libraries as contenders.

use super::cuda::Set;
use std::{cell::RefCell, rc::Rc, time::Duration};
use tilewright::{
    Element, Error, ErrorKind, bf16,
    cuda::{Competitor, Cublas, CublasElement, CublasLt, Engine, LtElement, LtProduct, Pace, Timing},
    f16,
};

/// The names of the libraries in the results.
pub const CUBLAS: &str = "cuBLAS";
pub const CUBLASLT: &str = "cuBLASLt";

/// As many algorithms are asked for at most; the heuristics name fewer for most products.
pub const ALGORITHMS: u16 = 32;

/// What cuBLAS takes by itself on Hopper: to give it less would make it slower than its users find it.
pub const LEAST_WORKSPACE: u64 = 32 << 20;

/// The workspace of a library beside kernels that take these.
pub fn workspace(of_kernels: impl IntoIterator<Item = u64>) -> u64 {
    of_kernels.into_iter().fold(LEAST_WORKSPACE, u64::max)
}

/// A library, ready for a product.
pub enum Library<'a> {
    Cublas(&'a Cublas),
    /// With the number of the algorithm that it takes.
    CublasLt(Rc<LtProduct<'a>>, usize),
}

impl Library<'_> {
    pub fn run(&self, set: &mut Set) -> Result<(), Error> {
        match self {
            Self::Cublas(cublas) => blas::<f32>(cublas, set)
                .or_else(|| blas::<f64>(cublas, set))
                .unwrap_or_else(|| Err(not_measured())),
            Self::CublasLt(product, algorithm) => LT_TYPES
                .iter()
                .find_map(|types| (types.run)(product, *algorithm, set))
                .unwrap_or_else(|| Err(not_measured())),
        }
    }

    /// The memory that it works in: for cuBLAS what it was given, and nothing is known of what it takes by itself; for cuBLASLt what its algorithm says.
    pub fn workspace(&self) -> Option<u64> {
        match self {
            Self::Cublas(cublas) => cublas.workspace(),
            Self::CublasLt(product, algorithm) => product.workspace(*algorithm),
        }
    }

    /// The algorithms from which one was taken.
    pub fn algorithms(&self) -> Option<usize> {
        match self {
            Self::Cublas(_) => None,
            Self::CublasLt(product, _) => Some(product.algorithms()),
        }
    }
}

/// cuBLAS in its own workspace or in the one that it was given: more memory lets it pick another algorithm, which need not be faster.
pub fn faster<'a>(
    engine: &Engine,
    cublas: &'a [Cublas; 2],
    sets: &RefCell<Vec<Set>>,
    pace: Pace,
) -> Result<Library<'a>, Error> {
    let best = quickest(engine, cublas.iter().map(Library::Cublas), sets, pace)?;
    best.ok_or_else(|| unsupported("this product by cuBLAS", "it does not run"))
}

/// cuBLASLt by the algorithm that is the fastest of all that its heuristics name and that run.
pub fn fastest<'a>(
    engine: &Engine,
    cublaslt: &'a CublasLt,
    sets: &RefCell<Vec<Set>>,
    workspace: u64,
    pace: Pace,
) -> Result<Library<'a>, Error> {
    let product = Rc::new(prepare(cublaslt, &sets.borrow()[0], workspace)?);
    let all = (0..product.algorithms()).map(|algorithm| Library::CublasLt(Rc::clone(&product), algorithm));
    let able = all
        .filter(|library| library.run(&mut sets.borrow_mut()[0]).and_then(|()| engine.synchronize()).is_ok());
    let best = quickest(engine, able, sets, pace)?;
    best.ok_or_else(|| {
        unsupported("this product by cuBLASLt", "none of the algorithms that its heuristics name runs")
    })
}

/// The winner of a short race.
fn quickest<'a>(
    engine: &Engine,
    libraries: impl Iterator<Item = Library<'a>>,
    sets: &RefCell<Vec<Set>>,
    pace: Pace,
) -> Result<Option<Library<'a>>, Error> {
    let (mut libraries, count) = (libraries.collect::<Vec<_>>(), sets.borrow().len());
    let mut competitors: Vec<Competitor<'_>> = libraries
        .iter()
        .map(|library| Competitor {
            name: String::new(),
            run: Box::new(|number| library.run(&mut sets.borrow_mut()[number % count])),
        })
        .collect();
    let (warm_up, sample) = (Duration::from_millis(20), Duration::from_millis(5));
    let timings = engine.race(&mut competitors, Pace { warm_up, sample, samples: 5, ..pace })?;
    drop(competitors);
    let medians = timings.iter().map(Timing::median).enumerate();
    let best = medians.min_by(|(_, x), (_, y)| x.total_cmp(y));
    Ok(best.map(|(index, _)| libraries.swap_remove(index)))
}

/// A result where the matrices have the types, `None` where they have others.
type IfOfTypes<T> = Option<Result<T, Error>>;

/// What cuBLASLt does with matrices of two types, those of operands and of results.
struct LtTypes {
    prepare: for<'a> fn(&'a CublasLt, &Set, u64) -> IfOfTypes<LtProduct<'a>>,
    run: fn(&LtProduct<'_>, usize, &mut Set) -> IfOfTypes<()>,
}

const fn lt_types<T: LtElement, O: Element>() -> LtTypes {
    LtTypes { prepare: prepare_lt::<T, O>, run: run_lt::<T, O> }
}

/// All that are measured.
const LT_TYPES: [LtTypes; 7] = [
    lt_types::<f16, f16>(),
    lt_types::<f16, f32>(),
    lt_types::<bf16, bf16>(),
    lt_types::<bf16, f32>(),
    lt_types::<f32, f32>(),
    lt_types::<f64, f64>(),
    lt_types::<i8, i32>(),
];

fn run_lt<T: LtElement, O: Element>(
    product: &LtProduct<'_>,
    algorithm: usize,
    set: &mut Set,
) -> IfOfTypes<()> {
    Some(product.run(algorithm, set.a.typed::<T>()?, set.b.typed()?, set.c.typed_mut::<O>()?))
}

fn blas<T: CublasElement>(cublas: &Cublas, set: &mut Set) -> IfOfTypes<()> {
    Some(cublas.product(set.a.typed::<T>()?, set.b.typed()?, set.c.typed_mut()?))
}

fn prepare<'a>(cublaslt: &'a CublasLt, set: &Set, workspace: u64) -> Result<LtProduct<'a>, Error> {
    let prepared = LT_TYPES.iter().find_map(|types| (types.prepare)(cublaslt, set, workspace));
    prepared.unwrap_or_else(|| Err(not_measured()))
}

fn prepare_lt<'a, T: LtElement, O: Element>(
    cublaslt: &'a CublasLt,
    set: &Set,
    workspace: u64,
) -> IfOfTypes<LtProduct<'a>> {
    let operands = [set.a.typed::<T>()?, set.b.typed()?];
    Some(cublaslt.prepare(operands, set.c.typed::<O>()?, ALGORITHMS, workspace))
}

fn not_measured() -> Error {
    unsupported(
        "this element type by NVIDIA's libraries",
        "cuBLAS is measured on f32 and f64, cuBLASLt on f16, bf16 and i8 as well",
    )
}

fn unsupported(what: &str, why: &str) -> Error {
    ErrorKind::Unsupported { what: what.into(), why: why.into(), hint: "leave out --against".into() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_work_in_as_much_as_kernels_and_in_what_they_would_take() {
        assert_eq!(workspace([]), 32 << 20);
        assert_eq!(workspace([0, 5]), 32 << 20);
        assert_eq!(workspace([64 << 20, 0, 1 << 30]), 1 << 30);
    }
}
