//! What bounds the kernel of a product, for plans and beside what was measured.

use serde::Serialize;
use tilewright::{Epilogue, plan::Query};
use tilewright_arch::{Gpu, Part};
use tilewright_explain::product_bound;
use tilewright_kernels::{Kernel, Request, Variant};

/// The bound of a launch, from the counts of one of its blocks; the fields are keys of JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// The program that is launched.
    pub program: String,
    /// It takes so long at least.
    pub seconds: f64,
    /// The part of the GPU that takes longest.
    pub part: &'static str,
    #[serde(skip)]
    title: &'static str,
    /// The part that follows, and its time as a part of the bound.
    pub next: Option<Next>,
    /// It is likely to take so long.
    pub likely_seconds: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Next {
    pub part: &'static str,
    pub share: f64,
    #[serde(skip)]
    title: &'static str,
}

impl Bounds {
    /// Of a product by a kernel; `None` where it does not follow from the counts of one block.
    pub fn of(kernel: &'static Kernel, gpu: &Gpu, query: &Query) -> Option<Self> {
        let Query { semiring, own, dtype, output, problem, math, joining, epilogue, .. } = *query;
        let has_scales = query.scales != Default::default();
        if epilogue != Epilogue::default() || has_scales {
            return None;
        }
        let variant = Variant { own, ..Variant::new(semiring, dtype) }.giving(output);
        let request = Request { math, joining, gpu: *gpu, ..Request::of(problem, variant) };
        // What refuses or cannot be compiled has no bound, and says so elsewhere.
        let found = product_bound(kernel, &request).ok()??;
        let bound = &found.bound;
        let follows = bound.parts.iter().find(|part| part.part != bound.part && part.part != Part::Launch);
        Some(Self {
            program: found.program,
            seconds: bound.seconds?,
            part: bound.part.name(),
            title: bound.part.title(),
            next: follows.map(|part| Next { part: part.part.name(), share: part.share, title: part.title }),
            likely_seconds: bound.prediction.likely_seconds?,
        })
    }

    /// The parts in words.
    pub fn said(&self) -> String {
        let next = self
            .next
            .as_ref()
            .map(|next| format!("; next: {}, {:.0} % of it", next.title, 100.0 * next.share));
        format!("{}{}", self.title, next.unwrap_or_default())
    }
}
