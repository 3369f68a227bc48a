//! What a hunt has been through.

use crate::case::{Ask, Case, LONG};
use core::fmt;
use tilewright_cpu::{Dots, Isa, Report};

/// Problems, by what was asked for and how they were computed.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    all: u64,
    winners: u64,
    batches: u64,
    refused: u64,
    texts: u64,
    graphs: u64,
    narrowed: u64,
    /// Where ⊗ adds, multiplies, and selects.
    pruned: [u64; 3],
    on_threads: u64,
    /// With sums that are split.
    long: u64,
    /// By VNNI, and by AMX.
    dots: [u64; 2],
}

impl Tally {
    /// Counts a problem.
    pub fn count(&mut self, case: &Case, report: Option<&Report>) {
        self.all += 1;
        self.refused += u64::from(case.ask == Ask::Refusal && report.is_none());
        self.texts += u64::from(case.ask == Ask::Text);
        self.graphs += u64::from(case.ask == Ask::Paths);
        let Some(report) = report else { return };
        self.winners += u64::from(report.kernel.arg);
        self.batches += u64::from(matches!(case.ask, Ask::Batch(_)));
        self.narrowed += u64::from(report.kernel.narrow);
        let by = ["-plus", "-times", ""].iter().position(|end| report.kernel.semiring.ends_with(end));
        self.pruned[by.unwrap_or(0)] += u64::from(report.kernel.pruned);
        self.dots[0] += u64::from(matches!(report.kernel.dots, Dots::DotProd | Dots::Vnni));
        self.dots[1] += u64::from(report.kernel.dots == Dots::Amx);
        self.on_threads += u64::from(report.threads > 1);
        self.long += u64::from(case.size.2 >= LONG);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            all,
            winners,
            batches,
            refused,
            texts,
            graphs,
            narrowed,
            pruned: [sums, products, bottlenecks],
            on_threads,
            long,
            dots: [vnni, amx],
        } = self;
        write!(
            f,
            "{all} problems, {winners} with winners, {batches} batches, {refused} refused, {texts} over texts, {graphs} graphs, {narrowed} narrowed, \
             {sums} pruned sums, {products} products and {bottlenecks} bottlenecks, {on_threads} on several threads, {long} of long sums"
        )?;
        // What this processor has not is not told.
        if Isa::ALL.iter().any(|isa| isa.has_vnni()) {
            write!(f, ", {vnni} by vnni")?;
        }
        if Isa::has_amx() { write!(f, ", {amx} by amx") } else { Ok(()) }
    }
}
