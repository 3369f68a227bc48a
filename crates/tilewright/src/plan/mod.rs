//! Plans: how a product would be computed, without computing it.
//!
//! A [`Plan`] is a pure function of shapes, strides, semiring, element type, what happens to C, and a processor or a
//! GPU, which need not be present. It names the kernel, its tile, grid and resources, how long the product takes at
//! least, and why other kernels were not chosen. Plans for GPUs come with the feature `cuda`.

mod cpu;
#[cfg(feature = "cuda")]
mod floor;
#[cfg(feature = "cuda")]
mod gpu;
#[cfg(feature = "cuda")]
mod gpu_report;
#[cfg(feature = "cuda")]
mod measured;
mod numbers;
#[cfg(feature = "cuda")]
mod peak;
mod query;
mod report;
#[cfg(feature = "cuda")]
mod resources;
pub(crate) use numbers::seconds;

pub use cpu::CpuPlan;
#[cfg(feature = "cuda")]
pub use floor::Floor;
#[cfg(feature = "cuda")]
pub use gpu::{GpuPlan, Resources, Step};
#[cfg(feature = "cuda")]
pub use peak::{Peak, peak};
pub use query::{Query, Results, Work};
#[cfg(feature = "cuda")]
pub use resources::{Compiled, Origin, compile};
#[cfg(feature = "cuda")]
pub use tilewright_arch::Gpu;

/// How a product would be computed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// What was asked.
    pub query: Query,
    /// How much there is to do.
    pub work: Work,
    /// With what, and in which pieces.
    pub how: How,
    /// What else was considered, and why it was not chosen.
    pub rejected: Vec<Rejected>,
}

/// With what a product would be computed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum How {
    /// By the vector instructions of a processor.
    Cpu(CpuPlan),
    /// By launches of kernels on a GPU.
    #[cfg(feature = "cuda")]
    Gpu(Box<GpuPlan>),
    /// By the definition, one term at a time.
    Reference,
}

/// A candidate that was not chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The kernel, or its variation.
    pub candidate: String,
    /// Why it cannot be used, or why another is better.
    pub reason: String,
}

impl Plan {
    /// The plan of the reference: there is nothing to choose.
    pub fn of_reference(query: &Query) -> Self {
        Self { query: *query, work: query.work(), how: How::Reference, rejected: Vec::new() }
    }
}
