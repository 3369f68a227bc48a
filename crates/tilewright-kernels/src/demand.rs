//! What a product asks of the parts of its GPU at least, counted from its tiles before anything runs.
//!
//! A part works on its own, so that the busiest one is a lower bound of the time. Of multiprocessors the one counts that has most: of so many jobs
//! for so few machines one machine has as many as their quotient, rounded up, whichever way they are shared out. See `docs/decisions/bounds.md`.

use crate::{term::cycles_per_term, variant::Variant};
use tilewright_arch::{Gpu, Part, PartCosts};

/// How long a part of the GPU works at least, in all launches of a recipe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// The part.
    pub part: Part,
    /// Cycles of the GPU's clock: of its busiest multiprocessor, or of what all share.
    pub cycles: f64,
}

/// Bytes that a recipe moves at least, each once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moved {
    /// Of A and B.
    pub loaded: f64,
    /// Of C.
    pub stored: f64,
    /// Of operands that are copied first: written, and read again.
    pub copied: f64,
}

/// Demands as they are counted.
pub(crate) struct Demands {
    gpu: Gpu,
    costs: PartCosts,
    all: Vec<Demand>,
}

impl Demands {
    /// None yet, but the start of a launch; `None` where costs of the GPU are not known.
    pub fn new(gpu: &Gpu) -> Option<Self> {
        let costs = PartCosts::of(gpu.capability()).filter(|_| gpu.clock_hz > 0)?;
        let mut demands = Self { gpu: *gpu, costs, all: Vec::new() };
        demands.at_least(Part::Launch, costs.launch_seconds * gpu.clock_hz as f64);
        Some(demands)
    }

    pub const fn costs(&self) -> &PartCosts {
        &self.costs
    }

    /// A part works for so many cycles, if no more is known already.
    pub fn at_least(&mut self, part: Part, cycles: f64) {
        match self.all.iter_mut().find(|demand| demand.part == part) {
            Some(known) => known.cycles = known.cycles.max(cycles),
            None if cycles > 0.0 => self.all.push(Demand { part, cycles }),
            None => {}
        }
    }

    /// So many cycles of one multiprocessor, shared out among all.
    pub fn spread(&mut self, part: Part, cycles: f64) {
        self.at_least(part, cycles / f64::from(self.gpu.multiprocessors));
    }

    /// L2 moves each byte once. Device memory moves what L2 cannot hold: a launch before may have left there what is loaded, and what is stored may stay.
    pub fn moves(&mut self, moved: Moved) {
        let Gpu { multiprocessors, l2_bytes, .. } = self.gpu;
        let of_all = self.costs.l2_bytes * f64::from(multiprocessors);
        let through_l2 = moved.loaded + moved.stored + 2.0 * moved.copied;
        self.at_least(Part::L2, through_l2 / self.costs.l2_bytes_of_chip.unwrap_or(of_all));
        let beyond = |bytes: f64| (bytes - l2_bytes as f64).max(0.0);
        self.at_least(Part::Dram, (beyond(moved.loaded) + beyond(moved.stored)) / self.gpu.bytes_per_cycle());
    }

    /// Multiprocessors compute so many terms without tensor cores, in the fastest of some types.
    pub fn terms(&mut self, variants: &[Variant], terms: f64) {
        let capability = self.gpu.capability();
        let each = variants.iter().map(|&variant| cycles_per_term(variant, capability));
        let Some(each) = each.collect::<Option<Vec<_>>>() else { return };
        if let Some(&(part, cycles)) = each.iter().min_by(|(_, x), (_, y)| x.total_cmp(y)) {
            self.spread(part, terms * cycles);
        }
    }

    /// Multiprocessors take so many bytes of operands from L2.
    pub fn taken(&mut self, bytes: f64) {
        self.spread(Part::L2, bytes / self.costs.l2_bytes);
    }

    /// The busiest part first.
    pub fn done(mut self) -> Vec<Demand> {
        self.all.sort_by(|x, y| y.cycles.total_cmp(&x.cycles));
        self.all
    }
}

/// Work of the busiest of some machines at least, of jobs that are not divided: how many there are, and the work of each.
pub(crate) fn busiest(jobs: &[(u64, f64)], machines: u64) -> f64 {
    let machines = machines.max(1);
    let mean = jobs.iter().map(|&(count, each)| count as f64 * each).sum::<f64>() / machines as f64;
    // One machine has as many of the jobs that are at least so long.
    let of_longer = |&(_, least): &(u64, f64)| {
        let count: u64 = jobs.iter().filter(|(_, each)| *each >= least).map(|(count, _)| count).sum();
        count.div_ceil(machines) as f64 * least
    };
    jobs.iter().map(of_longer).fold(mean, f64::max)
}

#[cfg(test)]
mod tests;
