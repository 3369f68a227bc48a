//! Shows what `tilewright-explain` found out about a launch.
//!
//! [`verdict()`] says what matters most. There are three forms of a report: [`text`] for terminals, [`Document`] for JSON (the keys of `tilewright explain`),
//! and [`html`] for one self-contained page. [`picture()`] draws the lanes of a line, [`timeline_svg`] who waits at barriers in shared memory.

mod charts;
pub mod html;
mod picture;
pub mod text;
mod timeline;
mod verdict;

pub use charts::ladder_svg;
pub use picture::picture;
pub use timeline::timeline_svg;
pub use verdict::{Tone, Verdict, compared, verdict};

use serde::Serialize;
use tilewright_explain::Explanation;

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
