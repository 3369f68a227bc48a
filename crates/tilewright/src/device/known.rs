//! What a semiring of Rust is to kernels: a built-in one, or CUDA expressions that are compared with the Rust functions before they are used.

use super::{Beside, Device, Job};
use crate::options::Options;
use std::sync::{Mutex, PoisonError};
use tilewright_core::{
    DynMut, DynRef, Error, ErrorKind, Joining, MatMut, MatRef, Semiring, Update, Value,
    semiring::{BuiltIn, Cuda, Meaning, Trial},
};
use tilewright_kernels::{Form, UserSemiring, Variant};

/// A semiring that kernels compute.
pub(super) enum Known<S: Semiring> {
    BuiltIn(BuiltIn<S>),
    Own(Cuda<S>),
}

/// What kernels compute for a semiring, for choices and estimates: nothing is compared.
///
/// # Errors
/// `unsupported` for semirings that no kernel computes.
pub(crate) fn variant<S: Semiring>() -> Result<Variant, Error> {
    Ok(match Known::<S>::new()? {
        Known::BuiltIn(built_in) => Variant::new(built_in.id(), built_in.dtype()).giving(built_in.output()),
        Known::Own(cuda) => own(&cuda)?.0.variant(),
    })
}

impl<S: Semiring> Known<S> {
    /// # Errors
    /// `unsupported` for semirings that no kernel computes.
    pub fn new() -> Result<Self, Error> {
        if let Some(built_in) = S::BUILT_IN {
            return Ok(Self::BuiltIn(built_in));
        }
        S::CUDA.map(Self::Own).ok_or_else(|| {
            ErrorKind::Unsupported {
                what: format!("the semiring {} on a GPU", S::NAME),
                why: "it is not built in, and gives no CUDA expressions".into(),
                hint: "give them as `Semiring::CUDA`, or compute on the processor".into(),
            }
            .into()
        })
    }

    /// What to compute. A user's expressions are tried on the device before their first product.
    ///
    /// # Errors
    /// `unsupported` where they differ from the Rust functions, `compilation` where they do not compile, and what a device can fail with.
    pub fn meaning(&self, device: Device, options: &Options<'_>) -> Result<Meaning<UserSemiring>, Error> {
        match self {
            Self::BuiltIn(built_in) => Ok(Meaning::BuiltIn(built_in.id())),
            Self::Own(cuda) => tried(cuda, device, options).map(Meaning::Own),
        }
    }

    /// # Errors
    /// `unsupported` for factors of a user's semiring.
    pub fn joining(&self, update: &Update<S>) -> Result<Joining<Value>, Error> {
        match (self, update) {
            (Self::BuiltIn(built_in), _) => Ok(built_in.joining(update)),
            (Self::Own(_), Joining::Replace) => Ok(Joining::Replace),
            (Self::Own(_), Joining::Accumulate) => Ok(Joining::Accumulate),
            (Self::Own(_), Joining::Scale { .. }) => Err(ErrorKind::Unsupported {
                what: format!("factors in the semiring {} on a GPU", S::NAME),
                why: "its CUDA expressions say nothing of them".into(),
                hint: "compute on the processor".into(),
            }
            .into()),
        }
    }

    pub fn operand<'a>(&self, m: MatRef<'a, S::Elem>) -> DynRef<'a> {
        match self {
            Self::BuiltIn(built_in) => built_in.operand(m),
            Self::Own(cuda) => cuda.operand(m),
        }
    }

    pub fn result<'a>(&self, m: MatMut<'a, S::Out>) -> DynMut<'a> {
        match self {
            Self::BuiltIn(built_in) => built_in.result(m),
            Self::Own(cuda) => cuda.result(m),
        }
    }
}

/// What kernels are made of, and the samples to try it on.
fn own<S: Semiring>(cuda: &Cuda<S>) -> Result<(UserSemiring, Trial), Error> {
    let trial = cuda.trial()?;
    let own = UserSemiring::of_cuda(S::NAME, cuda.dtype(), cuda.expressions(), cuda.zero(), trial.any_order)?;
    Ok((own, trial))
}

/// The same, after a product of samples by the plain program has agreed with the Rust functions on this device, once in this process.
fn tried<S: Semiring>(cuda: &Cuda<S>, device: Device, options: &Options<'_>) -> Result<UserSemiring, Error> {
    static TRIED: Mutex<Vec<(UserSemiring, Device)>> = Mutex::new(Vec::new());
    let known = || TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    let (own, trial) = own(cuda)?;
    if known().contains(&(own, device)) {
        return Ok(own);
    }
    let options = Options { kernel: None, isa: None, progress: None, ..*options };
    let mut c = trial.old.clone();
    let rows = [&trial.a, &trial.b, &c].map(|m| m.layout().rows);
    let (meaning, joining) = (Meaning::Own(own), Joining::Accumulate);
    let (form, beside) = (Form::Plain, Beside::default());
    let job = Job { meaning, form, joining, beside, count: 1, rows, options: &options };
    let operands = (trial.a.as_ref(), trial.b.as_ref());
    job.run(device, operands, c.as_mut(), None).map_err(|failure| failure.error)?;
    trial.check(c.as_ref())?;
    known().push((own, device));
    Ok(own)
}
