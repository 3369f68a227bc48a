//! Products by the kernels of a GPU, on one that is here or on the emulator: the types of both ends.

mod cuda;
#[cfg(feature = "emulator")]
mod emulator;
#[cfg(feature = "emulator")]
mod image;

use crate::options::{Options, Report};
use std::any::{Any, TypeId};
use std::ptr::NonNull;
use tilewright_core::{
    DType, Element, Error, ErrorKind, MatMut, MatRef, Problem, Semiring, SemiringId, Update, domain,
    semiring::Visit,
};
use tilewright_kernels::Scalar;

/// Who executes the kernels.
#[derive(Clone, Copy)]
pub(crate) enum Device {
    /// The GPU that the engine of this process has opened.
    Present,
    /// The emulator, in place of one.
    #[cfg(feature = "emulator")]
    Emulated,
}

/// Why a kernel did not compute a product.
pub(crate) struct Failure {
    pub error: Error,
    pub c: Target,
}

/// What C holds after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// What it held before.
    Untouched,
    /// It was being written.
    Lost,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, c: Target::Untouched }
    }
}

/// The product by a kernel.
///
/// # Errors
/// `unavailable` without a GPU, `unsupported` for semirings and types that no kernel computes, and what a device can fail with.
pub(crate) fn multiply<S: Semiring>(
    device: Device,
    c: MatMut<'_, S::Out>,
    (a, b): (MatRef<'_, S::Elem>, MatRef<'_, S::Elem>),
    update: &Update<S>,
    options: &Options<'_>,
) -> Result<Report, Failure> {
    let (semiring, dtype) = identify::<S>()?;
    Problem::new(a.layout(), b.layout(), c.layout())?;
    domain::check::<S>(a, b)?;
    semiring.visit(dtype, Multiply { device, c, a, b, update, semiring, options })?
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
    device: Device,
    c: MatMut<'a, S::Out>,
    a: MatRef<'a, S::Elem>,
    b: MatRef<'a, S::Elem>,
    update: &'a Update<S>,
    semiring: SemiringId,
    options: &'a Options<'a>,
}

impl<S: Semiring> Visit for Multiply<'_, S> {
    type Output = Result<Report, Failure>;

    fn visit<T: Semiring<Acc: Element, Elem: Element, Out: Element>>(mut self) -> Result<Report, Failure> {
        let (alpha, beta) = factors::<S>(self.semiring, T::Elem::DTYPE, self.update)?;
        let (semiring, options, reads_c) = (self.semiring, self.options, self.update.reads_c());
        let job = Job { semiring, alpha, beta, reads_c, options };
        let c_layout = self.c.layout();
        let c = NonNull::new(self.c.as_mut_ptr());
        let (Some(c), true) = (c, TypeId::of::<S>() == TypeId::of::<T>()) else {
            return Err(
                unsupported(format!("{} on a GPU", S::NAME), "its type is not the built-in one").into()
            );
        };
        // SAFETY: `S` and `T` are one type, and so are their elements; the views are handed on once.
        let (a, b, c) = unsafe {
            (
                MatRef::from_raw_parts(pointer::<_, T::Elem>(self.a), self.a.layout()),
                MatRef::from_raw_parts(pointer::<_, T::Elem>(self.b), self.b.layout()),
                MatMut::from_raw_parts(c.cast::<T::Out>(), c_layout),
            )
        };
        match self.device {
            Device::Present => cuda::run(&job, a, b, c),
            #[cfg(feature = "emulator")]
            Device::Emulated => Ok(emulator::run(&job, a, b, c)?),
        }
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
struct Job<'a> {
    semiring: SemiringId,
    alpha: Scalar,
    beta: Scalar,
    reads_c: bool,
    options: &'a Options<'a>,
}
