//! The vocabulary of PTX instructions: types, modifiers, and the descriptions that the arithmetic evaluates.

mod matrix;
mod modifiers;
mod scalar;
mod shape;
mod types;

pub use matrix::{Fragment, Major, MatrixArithmetic, MatrixFamily, MatrixOp, Overflow};
pub use modifiers::{Modifier, Modifiers};
pub use scalar::{Opcode, ScalarOp, Selector};
pub use shape::Shape;
pub use types::{Kind, Type};
