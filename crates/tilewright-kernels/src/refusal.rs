//! Why a kernel does not take a request.

use tilewright_core::{Error, ErrorKind};

/// A precondition of a kernel that a request does not meet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kernel} needs {needs}; {found}")]
pub struct Refusal {
    /// The kernel that refuses.
    pub kernel: &'static str,
    /// The precondition, so that "the kernel needs ..." is a sentence.
    pub needs: String,
    /// What was asked for instead.
    pub found: String,
    /// What to do about it.
    pub hint: String,
}

impl From<Refusal> for Error {
    fn from(r: Refusal) -> Self {
        let Refusal { kernel, needs, found, hint } = r;
        ErrorKind::Unsupported {
            what: format!("this product by the kernel {kernel}"),
            why: format!("it needs {needs}; {found}"),
            hint: hint.into(),
        }
        .into()
    }
}
