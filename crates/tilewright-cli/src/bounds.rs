//! What bounds the kernel of a product, for plans and beside what was measured.

use serde::Serialize;
use tilewright::{Epilogue, plan::Query};
use tilewright_arch::{Gpu, Part};
use tilewright_explain::product_bound;
use tilewright_kernels::{Demand, Kernel, Request, Variant};

/// How a product is computed.
pub struct Computed<'a> {
    pub kernel: &'static Kernel,
    pub gpu: &'a Gpu,
    pub query: &'a Query,
    /// The programs of all launches.
    pub programs: Vec<&'a str>,
    /// What the recipe asks of parts of the GPU at least, the busiest first.
    pub demands: &'a [Demand],
    /// How long it takes by the model that chose its tile.
    pub estimated_seconds: f64,
}

/// The bound of a product; the fields are keys of JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// What was counted.
    pub counts_of: Counted,
    /// The program whose block was counted; none where all launches were.
    pub program: Option<String>,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Counted {
    /// What one block executes, where all do the same.
    Block,
    /// What the tiles and operands of a recipe take, in all of its launches.
    Recipe,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Next {
    pub part: &'static str,
    pub share: f64,
    #[serde(skip)]
    title: &'static str,
}

impl Next {
    fn new(part: Part, share: f64) -> Self {
        Self { part: part.name(), share, title: part.title() }
    }
}

impl Bounds {
    /// From the counts of one block where these tell, or else from those of the recipe; `None` where neither do.
    pub fn of(computed: &Computed<'_>) -> Option<Self> {
        let of_a_block = Self::of_a_block(computed);
        of_a_block.or_else(|| Self::of_recipe(computed))
    }

    fn of_a_block(computed: &Computed<'_>) -> Option<Self> {
        let Query { semiring, own, dtype, output, problem, math, joining, epilogue, .. } = *computed.query;
        let has_scales = computed.query.scales != Default::default();
        if epilogue != Epilogue::default() || has_scales {
            return None;
        }
        let variant = Variant { own, ..Variant::new(semiring, dtype) }.giving(output);
        let request = Request { math, joining, gpu: *computed.gpu, ..Request::of(problem, variant) };
        // What refuses or cannot be compiled has no bound, and says so elsewhere.
        let found = product_bound(computed.kernel, &request).ok()??;
        if !computed.programs.contains(&&*found.program) {
            return None;
        }
        let bound = &found.bound;
        let follows = bound.parts.iter().find(|part| part.part != bound.part && part.part != Part::Launch);
        Some(Self {
            counts_of: Counted::Block,
            program: Some(found.program),
            seconds: bound.seconds?,
            part: bound.part.name(),
            title: bound.part.title(),
            next: follows.map(|part| Next::new(part.part, part.share)),
            likely_seconds: bound.prediction.likely_seconds?,
        })
    }

    fn of_recipe(computed: &Computed<'_>) -> Option<Self> {
        let (busiest, others) = computed.demands.split_first()?;
        let seconds = busiest.cycles / computed.gpu.clock_hz as f64;
        Some(Self {
            counts_of: Counted::Recipe,
            program: None,
            seconds,
            part: busiest.part.name(),
            title: busiest.part.title(),
            next: others.first().map(|next| Next::new(next.part, next.cycles / busiest.cycles)),
            likely_seconds: computed.estimated_seconds.max(seconds),
        })
    }

    /// The bound in words: what it was counted from, and the parts.
    pub fn said(&self) -> String {
        let counts = match self.counts_of {
            Counted::Block => "the counts of a block",
            Counted::Recipe => "the counts of the recipe",
        };
        let next = self
            .next
            .as_ref()
            .map(|next| format!("; next: {}, {:.0} % of it", next.title, 100.0 * next.share));
        format!("at least by {counts}: {}{}", self.title, next.unwrap_or_default())
    }

    /// Where the prediction comes from, if other rows of a plan have it as well.
    pub const fn source_of_prediction(&self) -> &'static str {
        match self.counts_of {
            Counted::Block => "",
            Counted::Recipe => ", as estimated",
        }
    }
}
