//! The CUDA C++ kernels, and for each a recipe that holds everything needed to launch it.
//!
//! A kernel file knows nothing of the host, and this crate knows nothing of a device: a [`Recipe`] is a pure
//! function of a [`Request`] (shapes, strides, semiring, element type, a [`Gpu`](tilewright_arch::Gpu)). It
//! lists the launches: program text, entry, grid, block, shared memory and typed arguments that name buffers
//! by their role. An engine turns those names into addresses; the PTX emulator does the same with host
//! memory; a plan prints them.
//!
//! ```
//! use tilewright_core::{DType, Layout, Problem, SemiringId};
//! use tilewright_kernels::{Request, find};
//!
//! let (a, b, c) = (Layout::row_major(512, 256), Layout::row_major(256, 128), Layout::row_major(512, 128));
//! let request = Request::new(Problem::new(a, b, c)?, SemiringId::MinPlus, DType::F32);
//! let recipe = find("shared-tile")?.recipe(&request)?;
//! let launch = &recipe.launches()[0];
//! assert_eq!((launch.grid(), launch.block()), ([4, 16, 1], [32, 32, 1]));
//! assert_eq!(launch.arguments()[3].name, "M");
//! // What a kernel cannot do, it refuses with a reason.
//! let odd = Layout::row_major(511, 256);
//! let request = Request::new(Problem::new(odd, b, Layout::row_major(511, 128))?, SemiringId::MinPlus, DType::F32);
//! let refusal = find("shared-tile")?.recipe(&request).unwrap_err();
//! assert_eq!(refusal.to_string(), "shared-tile needs M to be a multiple of 32; M is 511");
//! # Ok::<(), tilewright_core::Error>(())
//! ```

mod argument;
mod buffer;
mod catalogue;
mod demand;
mod encoding;
mod estimate;
mod families;
mod finish;
mod gallery;
mod headers;
mod kernel;
mod key;
mod ladder;
mod pack;
mod peak;
mod predicate;
mod program;
mod programs;
mod recorded;
mod refusal;
mod request;
mod scalar;
mod scaling;
mod select;
mod shipped;
mod tensor;
mod term;
mod user_semiring;
mod variant;
mod way;
mod ways;

pub use argument::{Argument, NamedArgument, TensorMap};
pub use buffer::Buffer;
pub use catalogue::{find, kernels};
pub use demand::Demand;
pub use families::{
    closure::{CLOSURE_SIDE, closure, put_back},
    dmma::dmma_tiles,
    mma::mma_tiles,
    simt::simt_tiles,
    trees::TreeRecipes,
    wgmma::wgmma_tiles,
};
pub use kernel::{
    Family, Kernel,
    exhibit::{Exhibit, Parameter, Settings, Showing},
    launch::{Launch, LocalMemory, Recipe, Rejected, Role, Symbol},
};
pub use ladder::{required_shared_memory, square_side};
pub use program::{COMPILER_OPTIONS, Program};
pub use programs::{archived_programs, programs, programs_for, readable_programs, shipped_programs};
pub use recorded::Recorded;
pub use refusal::Refusal;
pub use request::{Alignment, Batch, Form, Request};
pub use scalar::Scalar;
pub use select::{Available, Selection, kernels_of_products, select};
pub use tensor::{Swizzle, Tensor, TensorElement};
pub use term::terms_per_cycle;
pub use user_semiring::UserSemiring;
pub use variant::Variant;
pub use way::Way;
pub use ways::{kernels_with_ways, ways};
