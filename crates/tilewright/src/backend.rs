//! Where a product is computed.

use core::{fmt, str::FromStr};
#[cfg(feature = "cuda")]
use std::sync::OnceLock;
use tilewright_core::{Error, ErrorKind};

/// Where a product is computed.
///
/// ```
/// use tilewright::Backend;
/// assert_eq!("cpu".parse::<Backend>()?.resolve()?, Backend::Cpu);
/// match Backend::Cuda.resolve() {
///     Ok(backend) => assert_eq!(backend, Backend::Cuda),
///     Err(error) => assert!(error.is_unavailable()),
/// }
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// The fastest one that can do it here: [`Backend::Cuda`] where there is a GPU with a kernel for it and the product is large
    /// enough to pay for the way there and back, otherwise [`Backend::Cpu`].
    #[default]
    Auto,
    /// This processor: packed panels, vector instructions, threads.
    Cpu,
    /// An NVIDIA GPU: the first one, or the one that `TILEWRIGHT_DEVICE` numbers. With the feature `cuda`.
    Cuda,
    /// The kernels of [`Backend::Cuda`] on a GPU that is not here: their PTX is executed on this processor, with checks for races,
    /// accesses out of bounds, uninitialised shared memory and barriers. For understanding and testing kernels, not for speed. With the feature `emulator`.
    Emulator,
    /// The definition of the right answer, one term at a time.
    Reference,
}

impl Backend {
    /// Every backend that can be asked for.
    pub const ALL: &[Self] = &[Self::Auto, Self::Cpu, Self::Cuda, Self::Emulator, Self::Reference];

    /// The name, which parses to the same backend.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Emulator => "emulator",
            Self::Reference => "reference",
        }
    }

    /// The backend that does the work when nothing is known of the product: never [`Backend::Auto`], which then stands for
    /// [`Backend::Cpu`].
    ///
    /// # Errors
    /// `unavailable` when this machine has no such backend, or the library was compiled without its feature.
    pub fn resolve(self) -> Result<Self, Error> {
        match self {
            Self::Auto | Self::Cpu => Ok(Self::Cpu),
            Self::Reference => Ok(Self::Reference),
            Self::Cuda => cuda().map(|()| Self::Cuda),
            Self::Emulator if cfg!(feature = "emulator") => Ok(Self::Emulator),
            Self::Emulator => Err(not_compiled("the emulator", "emulator")),
        }
    }
}

/// The error for a backend whose feature was left out.
fn not_compiled(what: &'static str, feature: &str) -> Error {
    ErrorKind::Unavailable {
        what,
        why: format!("the library was compiled without its feature `{feature}`"),
        hint: format!("add `features = [\"{feature}\"]` to the dependency on tilewright").into(),
    }
    .into()
}

#[cfg(not(feature = "cuda"))]
fn cuda() -> Result<(), Error> {
    Err(not_compiled("the cuda backend", "cuda"))
}

/// Whether there is a GPU. The driver takes a millisecond to tell of all, and is not asked again once there was one.
#[cfg(feature = "cuda")]
fn cuda() -> Result<(), Error> {
    static FOUND: OnceLock<()> = OnceLock::new();
    if FOUND.get().is_some() {
        return Ok(());
    }
    tilewright_cuda::DeviceInfo::all().map(|_| *FOUND.get_or_init(|| ())).map_err(|error| {
        match error.kind() {
            ErrorKind::Unavailable { why, hint, .. } => {
                ErrorKind::Unavailable { what: "the cuda backend", why: why.clone(), hint: hint.clone() }
                    .into()
            }
            _ => error,
        }
    })
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Backend {
    type Err = Error;

    fn from_str(s: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|b| b.name() == s).ok_or_else(|| {
            let known = Self::ALL.iter().map(|b| b.name()).collect::<Vec<_>>().join(", ");
            ErrorKind::Unsupported {
                what: format!("backend '{s}'"),
                why: String::new(),
                hint: format!("one of {known}").into(),
            }
            .into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_every_backend_resolves_or_says_what_to_do() {
        for &b in Backend::ALL {
            assert_eq!(b.name().parse::<Backend>().unwrap(), b);
            match b.resolve() {
                Ok(r) => assert_ne!(r, Backend::Auto),
                Err(e) => assert!(e.is_unavailable() && e.hint().is_some()),
            }
        }
        assert_eq!("gpu".parse::<Backend>().unwrap_err().code(), "unsupported");
    }
}
