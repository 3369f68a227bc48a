//! Products on a GPU: from the host's matrices to the device and back.

use crate::{backend::Backend, options::Report};
use std::any::{Any, TypeId};
use std::ptr::NonNull;
use std::time::Instant;
use tilewright_core::{
    DType, Element, Error, ErrorKind, Layout, MatMut, MatRef, Matrix, Problem, Semiring, SemiringId, Update,
    domain, semiring::Visit,
};
use tilewright_cuda::{DeviceMatrix, Engine, choose};
use tilewright_kernels::{Recipe, Request, Scalar};

/// The product on the engine of this process. C is untouched on error.
///
/// # Errors
/// `unavailable` without a GPU, `unsupported` for semirings and types that no kernel computes, and what a device can fail with.
pub(crate) fn multiply<S: Semiring>(
    c: MatMut<'_, S::Out>,
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    update: &Update<S>,
) -> Result<Report, Error> {
    let (semiring, dtype) = identify::<S>()?;
    Problem::new(a.layout(), b.layout(), c.layout())?;
    domain::check::<S>(a, b)?;
    semiring.visit(dtype, Multiply { c, a, b, update, semiring })?
}

/// What a semiring is called, if it is one of the built-in ones.
pub(crate) fn identify<S: Semiring>() -> Result<(SemiringId, DType), Error> {
    let all = SemiringId::ALL
        .iter()
        .flat_map(|&semiring| semiring.dtypes().iter().map(move |&dtype| (semiring, dtype)));
    all.into_iter()
        .find(|&(semiring, dtype)| semiring.visit(dtype, TypeOf).is_ok_and(|id| id == TypeId::of::<S>()))
        .ok_or_else(|| {
            unsupported(format!("the semiring {} on a GPU", S::NAME), "only built-in semirings have kernels")
        })
}

fn unsupported(what: String, why: &str) -> Error {
    ErrorKind::Unsupported { what, why: why.into(), hint: "compute on the processor".into() }.into()
}

/// The identity of a built-in semiring's type.
struct TypeOf;

impl Visit for TypeOf {
    type Output = TypeId;
    fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> TypeId {
        TypeId::of::<S>()
    }
}

/// A product over `S`, to be visited by the built-in semiring that is the same type.
struct Multiply<'a, S: Semiring> {
    c: MatMut<'a, S::Out>,
    a: MatRef<'a, S::Elem>,
    b: MatRef<'a, S::Elem>,
    update: &'a Update<S>,
    semiring: SemiringId,
}

impl<S: Semiring> Visit for Multiply<'_, S> {
    type Output = Result<Report, Error>;

    fn visit<T: Semiring<Acc: Element, Elem: Element, Out: Element>>(mut self) -> Result<Report, Error> {
        let (alpha, beta) = factors::<S>(self.semiring, T::Elem::DTYPE, self.update)?;
        let job = Job { semiring: self.semiring, alpha, beta, reads_c: self.update.reads_c() };
        let c_layout = self.c.layout();
        let c = NonNull::new(self.c.as_mut_ptr());
        let (Some(c), true) = (c, TypeId::of::<S>() == TypeId::of::<T>()) else {
            return Err(unsupported(format!("{} on a GPU", S::NAME), "its type is not the built-in one"));
        };
        // SAFETY: `S` and `T` are one type, and so are their elements; the views are handed on once.
        let (a, b, c) = unsafe {
            (
                MatRef::from_raw_parts(pointer::<_, T::Elem>(self.a), self.a.layout()),
                MatRef::from_raw_parts(pointer::<_, T::Elem>(self.b), self.b.layout()),
                MatMut::from_raw_parts(c.cast::<T::Out>(), c_layout),
            )
        };
        run(&job, a, b, c)
    }
}

/// The address of a view's first element, as another name of its type.
fn pointer<T, U>(view: MatRef<'_, T>) -> NonNull<U> {
    // A view's pointer is never null.
    NonNull::new(view.as_ptr().cast_mut()).map_or(NonNull::dangling(), NonNull::cast)
}

/// alpha and beta in the semiring: `one` and `zero` replace, `one` and `one` accumulate.
fn factors<S: Semiring>(
    semiring: SemiringId,
    dtype: DType,
    update: &Update<S>,
) -> Result<(Scalar, Scalar), Error> {
    let (one, zero) = (Scalar::one(semiring, dtype), Scalar::zero(semiring, dtype));
    Ok(match update {
        Update::Replace => (one, zero),
        Update::Accumulate => (one, one),
        Update::Scale(scale) => {
            let number = |x: S::Acc| {
                scalar(&x)
                    .ok_or_else(|| unsupported("this factor on a GPU".into(), "it is no built-in number"))
            };
            (number(scale.alpha())?, scale.beta().map_or(Ok(zero), number)?)
        }
    })
}

fn scalar(x: &dyn Any) -> Option<Scalar> {
    let f32 = x.downcast_ref().copied().map(Scalar::F32);
    let f64 = x.downcast_ref().copied().map(Scalar::F64);
    let i32 = x.downcast_ref().copied().map(Scalar::I32);
    f32.or(f64).or(i32).or(x.downcast_ref().copied().map(Scalar::I64))
}

/// What is computed, besides the matrices.
struct Job {
    semiring: SemiringId,
    alpha: Scalar,
    beta: Scalar,
    reads_c: bool,
}

fn run<T: Element, U: Element>(
    job: &Job,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    c: MatMut<'_, U>,
) -> Result<Report, Error> {
    let began = Instant::now();
    let engine = Engine::shared()?;
    let opened = began.elapsed();
    let old = job.reads_c.then(|| c.as_ref());
    let (a, b, mut on_device) = (engine.upload(a)?, engine.upload(b)?, target(&engine, &c, old)?);
    let (mut operands, mut transfer) = ((a, b), began.elapsed() - opened);
    let recipe = match recipe(&engine, job, &operands.0, &operands.1, &on_device) {
        Ok(recipe) => recipe,
        Err(refusal) => {
            // Kernels that know rows only get copies by rows.
            let again = Instant::now();
            operands = (by_rows(&engine, &operands.0)?, by_rows(&engine, &operands.1)?);
            on_device = by_rows(&engine, &on_device)?;
            transfer += again.elapsed();
            recipe(&engine, job, &operands.0, &operands.1, &on_device).map_err(|_| refusal)?
        }
    };
    let loading = Instant::now();
    let (request, recipe) = recipe;
    let kernel = recipe.kernel.name.to_owned();
    let prepared = engine.prepare(recipe)?;
    let prepare = opened + loading.elapsed();
    let computing = Instant::now();
    prepared.run(&request, &operands.0, &operands.1, &mut on_device)?;
    engine.synchronize()?;
    let seconds = computing.elapsed().as_secs_f64();
    let reading = Instant::now();
    on_device.copy_to(c)?;
    transfer += reading.elapsed();
    Ok(Report {
        backend: Backend::Cuda,
        kernel,
        threads: 1,
        seconds,
        transfer_seconds: transfer.as_secs_f64(),
        prepare_seconds: prepare.as_secs_f64(),
        why: String::new(),
    })
}

/// C on the device: the old one where it takes part, otherwise room for it.
fn target<U: Element>(
    engine: &Engine,
    c: &MatMut<'_, U>,
    old: Option<MatRef<'_, U>>,
) -> Result<DeviceMatrix<U>, Error> {
    match old {
        Some(old) => engine.upload(old),
        None => engine.zeros(Layout::row_major(c.rows(), c.cols())),
    }
}

fn recipe<T: Element, U: Element>(
    engine: &Engine,
    job: &Job,
    a: &DeviceMatrix<T>,
    b: &DeviceMatrix<T>,
    c: &DeviceMatrix<U>,
) -> Result<(Request, Recipe), Error> {
    let request = Request { alpha: job.alpha, beta: job.beta, ..engine.request(job.semiring, a, b, c)? };
    choose(&request).map(|recipe| (request, recipe))
}

fn by_rows<T: Element>(engine: &Engine, matrix: &DeviceMatrix<T>) -> Result<DeviceMatrix<T>, Error> {
    let rows: Matrix<T> = matrix.to_matrix()?;
    engine.upload(rows.as_ref())
}
