//! What was done. Nothing is put into words before somebody reads it: a small product takes less time.

use crate::{backend::Backend, plan::seconds};
use core::fmt;
use std::time::Instant;
use tilewright_cpu::KernelName;

/// How a product was computed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The backend that did the work.
    pub backend: Backend,
    /// The kernel that it ran.
    pub kernel: Ran,
    /// Threads that took part.
    pub threads: usize,
    /// Wall time of the product alone, without files and transfers; on the emulator, that of this processor.
    pub seconds: f64,
    /// Wall time of moving matrices to and from a device; 0 on this processor.
    pub transfer_seconds: f64,
    /// Wall time of opening a device, and of compiling or loading kernels; 0 on this processor.
    pub prepare_seconds: f64,
    /// What the emulator found in the kernels that is no error, such as an access that costs more than it must; 0 on others. An
    /// error ends the product: see [`ErrorKind::KernelFault`](tilewright_core::ErrorKind::KernelFault).
    pub findings: usize,
    /// Why [`Backend::Auto`] chose this backend, or which GPU [`Backend::Emulator`] imitated; otherwise empty.
    pub why: Why,
}

impl Report {
    /// What this processor did since `start`.
    pub(crate) fn here(backend: Backend, kernel: Ran, threads: usize, start: Instant) -> Self {
        let (seconds, why) = (start.elapsed().as_secs_f64(), Why::default());
        Self {
            backend,
            kernel,
            threads,
            seconds,
            transfer_seconds: 0.0,
            prepare_seconds: 0.0,
            findings: 0,
            why,
        }
    }

    /// This and what was reported before of the same work: the times of both, why another backend went on, and the rest of the first.
    pub(crate) fn after(self, before: Option<Self>) -> Self {
        let Some(first) = before else { return self };
        let why = if self.backend == first.backend { first.why } else { self.why };
        Self {
            why,
            seconds: first.seconds + self.seconds,
            transfer_seconds: first.transfer_seconds + self.transfer_seconds,
            prepare_seconds: first.prepare_seconds + self.prepare_seconds,
            findings: first.findings + self.findings,
            threads: first.threads.max(self.threads),
            ..first
        }
    }
}

/// The kernel that computed a product; its text is its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ran {
    /// A micro-kernel of this processor.
    Cpu(KernelName),
    /// A kernel of the catalogue, or `reference`.
    Named(&'static str),
}

impl From<KernelName> for Ran {
    fn from(name: KernelName) -> Self {
        Self::Cpu(name)
    }
}

impl From<&'static str> for Ran {
    fn from(name: &'static str) -> Self {
        Self::Named(name)
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu(name) => name.fmt(f),
            Self::Named(name) => f.pad(name),
        }
    }
}

/// A reason, or none. Its text is a sentence without a full stop, or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Why(Reason);

#[derive(Clone, Debug, Default, PartialEq)]
enum Reason {
    #[default]
    None,
    Known(&'static str),
    /// With the seconds that the product takes here and there, and those of the second for the way.
    Estimated(&'static str, [f64; 3]),
    Told(String),
}

impl Why {
    /// `what`, by estimates of the seconds here, there, and for the way there.
    pub(crate) fn estimated(what: &'static str, seconds: [f64; 3]) -> Self {
        Self(Reason::Estimated(what, seconds))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Reason::None => true,
            Reason::Told(text) => text.is_empty(),
            Reason::Known(_) | Reason::Estimated(..) => false,
        }
    }
}

impl From<&'static str> for Why {
    fn from(text: &'static str) -> Self {
        Self(Reason::Known(text))
    }
}

impl From<String> for Why {
    fn from(text: String) -> Self {
        Self(Reason::Told(text))
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::None => Ok(()),
            Reason::Known(text) => f.pad(text),
            Reason::Told(text) => f.pad(text),
            Reason::Estimated(what, [here, there, way]) => {
                let [here, there, way] = [here, there, way].map(|&time| seconds(time));
                write!(f, "{what}: about {here} here, {there} there, {way} of them for the way")
            }
        }
    }
}
