//! Explains what a CUDA kernel does: how it uses the memory of a GPU, what occupies it, and what is wrong with it.
//!
//! A [`Case`] is a kernel with everything that it takes to run it: one of the catalogue, or of a `.cu` or `.ptx` file.
//! [`Case::explain`] runs it on the emulator. An [`Explanation`] holds the numbers of one launch, a [`Recording`] the addresses of one block for
//! pictures. Both are plain data. A [`Recorder`] makes the second while a block runs, and [`advise`] turns numbers into findings.
//! The crate `tilewright-report` shows them.

mod advice;
mod array;
mod bound;
mod case;
mod compile;
mod execute;
mod matrix;
mod measured;
mod merge;
mod model;
mod races;
mod recorder;
mod results;
mod timeline;

pub use advice::advise;
pub use array::expression;
pub use array::{
    Array, Comparison, Difference, ElementType, Filling, Number, Scalar, Tolerance, Values, compare,
};
pub use case::{Argument, Case, Launch, Request, TextureOver};
pub use execute::{Control, Explained, Progress};
pub use measured::{Measured, measured, measured_ladder, measured_of};
pub use model::*;
pub use recorder::{MOST_EXECUTIONS_PER_WARP, MOST_SHAPES, Recorder, Sample};
pub use results::{Expected, Results};
pub use tilewright_arch::{Blocks, Gpu};
pub use tilewright_emulator::{EventKind, FindingKind, Nature, Schedule};
pub use tilewright_toolchain::{CompilerOptions, MathMode};
pub use timeline::{Timeline, TimelineEvent};
