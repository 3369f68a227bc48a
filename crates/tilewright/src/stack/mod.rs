//! Products of arrays of any number of dimensions, as by NumPy's `matmul`.
//!
//! [`Shapes`] says what is multiplied with what, [`StackRef`] and [`StackMut`] are arrays in memory, and [`StackProduct`] computes all products of their
//! matrices. [`Loops`] has the numbers behind it, for arrays that are elsewhere.

mod loops;
mod product;
mod run;
mod shapes;
mod verify;
mod view;

pub use loops::{Loops, Part, Strided};
pub use product::{Multiply, StackProduct};
pub use shapes::Shapes;
pub use view::{StackMut, StackRef, is_without_overlap};
