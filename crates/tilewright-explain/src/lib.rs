//! Explains what a CUDA kernel does: how it uses the memory of a GPU, what occupies it, and what is wrong with it.
//!
//! A [`Case`] is a kernel with everything that it takes to run it: one of the catalogue, or of a `.cu` or `.ptx` file.
//! [`Case::explain`] runs it on the emulator. An [`Explanation`] holds the numbers of one launch, a [`Recording`] the addresses of one block for pictures. Both are
//! plain data; a [`Recorder`] makes the second while a block runs, [`advise`] turns numbers into findings, and [`verdict`] says what matters
//! most. Three renderers show them: [`text`] for terminals, serde for JSON (the keys of `tilewright explain`), and [`html`] for one
//! self-contained page; [`picture`] draws the lanes of a line, [`Timeline`] who waits at barriers in shared memory.

mod advice;
mod array;
mod bound;
mod case;
mod charts;
mod compile;
mod execute;
pub mod html;
mod matrix;
mod measured;
mod merge;
mod model;
mod picture;
mod races;
mod recorder;
mod results;
pub mod text;
mod timeline;
mod verdict;

pub use advice::advise;
pub use array::expression;
pub use array::{
    Array, Comparison, Difference, ElementType, Filling, Number, Scalar, Tolerance, Values, compare,
};
pub use case::{Argument, Case, Launch, Request, TextureOver};
pub use charts::OccupancyCurves;
pub use execute::{Control, Explained, Progress};
pub use measured::{Measured, ladder_svg, measured};
pub use model::*;
pub use picture::picture;
pub use recorder::{MOST_EXECUTIONS_PER_WARP, MOST_SHAPES, Recorder, Sample};
pub use results::{Expected, Results};
pub use tilewright_arch::{Blocks, Gpu};
pub use tilewright_emulator::{FindingKind, Nature, Schedule};
pub use tilewright_toolchain::{CompilerOptions, MathMode};
pub use timeline::Timeline;
pub use verdict::{Tone, Verdict, compared, verdict};

use serde::Serialize;

/// The JSON document: one kernel, and perhaps another beside it.
#[derive(Clone, Debug, Serialize)]
pub struct Document<'a> {
    schema: u32,
    verdict: Verdict,
    #[serde(flatten)]
    first: &'a Explanation,
    #[serde(skip_serializing_if = "Option::is_none")]
    compared_with: Option<&'a Explanation>,
}

impl<'a> Document<'a> {
    /// A document of schema 1; the verdict is on both kernels where there are two.
    pub fn new(explanation: &'a Explanation, compared_with: Option<&'a Explanation>) -> Self {
        let verdict = match compared_with {
            Some(other) => compared(explanation, other),
            None => verdict(explanation),
        };
        Self { schema: 1, verdict, first: explanation, compared_with }
    }
}
