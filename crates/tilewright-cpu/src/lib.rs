//! Matrix products over any semiring on this processor.
//!
//! `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]` for any
//! [`Semiring`](tilewright_core::Semiring), any strides, joined with the old C by an
//! [`Update`](tilewright_core::Update).
//! The built-in semirings run on vector instructions chosen at run time ([`Isa`]); a user's semiring runs
//! through the same loops, one element at a time. Operands are packed block by block, never copied whole.
//!
//! ```
//! use tilewright_core::{Layout, MatMut, MatRef, MinPlus, Update};
//! use tilewright_cpu::{Options, multiply};
//! let inf = f32::INFINITY;
//! let w = [0.0, 3.0, inf, /**/ inf, 0.0, 4.0, /**/ 1.0, inf, 0.0];
//! let w = MatRef::new(&w, Layout::row_major(3, 3))?;
//! let mut two = [0.0; 9];
//! let c = MatMut::new(&mut two, Layout::row_major(3, 3))?;
//! multiply::<MinPlus<f32>>(c, w, w, &Update::Replace, &Options::default())?;
//! assert_eq!(two[2], 7.0); // 0 -> 1 -> 2
//! # Ok::<(), tilewright_core::Error>(())
//! ```

#[cfg(target_arch = "x86_64")]
mod amx;
mod bits;
mod block;
mod blocking;
mod built_in;
mod cache;
mod choice;
mod compute;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod dots;
mod driver;
mod expressions;
mod isa;
mod job;
mod join;
mod kernel;
mod lanes;
mod log_plus;
mod narrow;
mod op;
mod options;
#[cfg(target_arch = "x86_64")]
mod ordered;
mod pack;
mod pairs;
mod plan;
mod product;
mod prune;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod quads;
mod rounded;
mod scaled;
mod scan;
mod share;
mod shared;
mod small;
mod terms;
mod tile;
#[cfg(target_arch = "x86_64")]
mod tile_registers;
#[cfg(target_arch = "x86_64")]
mod transpose;
mod winners;
mod workspace;

pub use choice::Sums;
pub use expressions::{multiply_expressions, plan_expressions};
pub use isa::{FORCE_ISA, Isa};
pub use options::{Dots, KernelName, Options, Report};
pub use plan::Plan;
pub use product::{multiply, multiply_arg, multiply_batch, plan, plan_arg};
#[doc(hidden)] // Of `tilewright-paths`.
pub use share::share;
