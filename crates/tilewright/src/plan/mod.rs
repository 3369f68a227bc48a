//! Plans: how a product would be computed, without computing it.
//!
//! A [`Plan`] is a pure function of shapes, strides, semiring, element type, what happens to C, and a processor or a
//! [`Gpu`], which need not be present. It names the kernel, its tile, grid and resources, how long the product takes at
//! least ([`Floor`]), and why other kernels were not chosen.
//!
//! ```
//! use tilewright::{DType, Layout, Problem, SemiringId, plan::{Gpu, How, Plan, Query}};
//! let (a, b, c) = (Layout::row_major(512, 256), Layout::row_major(256, 128), Layout::row_major(512, 128));
//! let query = Query::new(SemiringId::MinPlus, DType::F32, Problem::new(a, b, c)?);
//! let gpu = Gpu::named("a6000")?;
//! let plan = Plan::on_gpu(&query, &gpu, None, &|_, _| None)?;
//! let How::Gpu(how) = &plan.how else { unreachable!("it was asked for") };
//! assert!(how.steps.iter().all(|step| step.blocks() > 0));
//! assert!(plan.rejected.iter().any(|r| r.candidate == "single-block"));
//! // 512 x 128 x 256 additions and minima on 84 multiprocessors take at least half a microsecond.
//! assert!(how.floor.as_ref().unwrap().seconds > 5e-7);
//! # Ok::<(), tilewright::Error>(())
//! ```

mod cpu;
mod floor;
mod gpu;
mod gpu_report;
mod model;
mod peak;
mod query;
mod report;
mod resources;
mod target;
mod words;

pub use cpu::CpuPlan;
pub use floor::Floor;
pub use gpu::{GpuPlan, Resources, Step};
pub use peak::{Peak, peak};
pub use query::{Joining, Query, Results, Work};
pub use resources::{Compiled, Origin, compile};
pub use target::Gpu;

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
