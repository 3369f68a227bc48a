//! Dense matrix products over any semiring: `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]`.
//!
//! [`Product`] multiplies matrices whose element type is known at compile time, over a built-in
//! [`Semiring`] or the user's own; [`BatchProduct`] many of them at once. [`DynProduct`] does the same for
//! matrices that came from files, with the semiring and the element type chosen at run time, and can compare
//! its result with the definition. [`files`] reads and writes such matrices, and [`Backend`] says where the
//! work is done.
//!
//! ```
//! use tilewright::{Layout, MatRef, MinPlus, Product};
//! let inf = f32::INFINITY;
//! // Three towns; the way from 0 to 2 leads through 1.
//! let roads = [0.0, 3.0, inf, /**/ 3.0, 0.0, 4.0, /**/ inf, 4.0, 0.0];
//! let roads = MatRef::new(&roads, Layout::row_major(3, 3))?;
//! let (distance, via) = Product::<MinPlus<f32>>::new(roads, roads)?.compute_with_arg()?;
//! assert_eq!(distance.as_ref().get(0, 2), Some(7.0));
//! assert_eq!(via.as_ref().get(0, 2), Some(1));
//! # Ok::<(), tilewright::Error>(())
//! ```

#[cfg(feature = "files")]
pub mod files;

mod backend;
mod batch;
mod choice;
#[cfg(feature = "cuda")]
mod device;
mod dynamic;
mod options;
pub mod plan;
mod product;
#[cfg(feature = "cuda")]
mod selection;
mod verify;

pub use backend::Backend;
pub use batch::BatchProduct;
pub use dynamic::{DynProduct, Outcome};
pub use options::{Options, Ran, Report, Why};
pub use product::Product;
pub use tilewright_core::*;
pub use tilewright_cpu::{self as cpu, Isa};
#[cfg(feature = "cuda")]
pub use tilewright_cuda as cuda;
#[cfg(feature = "emulator")]
pub use tilewright_emulator as emulator;
#[cfg(feature = "cuda")]
pub use tilewright_kernels as kernels;
pub use verify::{Mismatch, Verification};
