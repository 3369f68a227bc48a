//! What to change so that another block fits.

use super::{
    setting::{Outcome, Setting},
    text::{count, percent, titled},
};
use crate::failure::Failure;
use tilewright_arch::{Cut, Occupancy, Resource, Vary};

/// A part of the report; empty where nothing binds that could be cut.
pub fn text(setting: &Setting, outcome: &Outcome) -> Result<String, Failure> {
    if outcome.error.is_some() {
        return Ok(String::new());
    }
    let before = &outcome.occupancy;
    let cuts = Occupancy::cuts(setting.limits, &setting.kernel, &setting.launch()).unwrap_or_default();
    let lines: Result<Vec<String>, Failure> = cuts
        .iter()
        .map(|cut| {
            // Shared memory may follow the threads, which the cut does not know.
            let after = setting.vary(cut.quantity, cut.to).outcome()?.occupancy;
            Ok(describe(cut, &after, before))
        })
        .collect();
    Ok(titled("for one more", &lines?))
}

fn describe(cut: &Cut, after: &Occupancy, before: &Occupancy) -> String {
    let unit = match cut.quantity {
        Vary::Threads => "threads per block",
        Vary::Registers => "registers per thread",
        Vary::SharedMemory => "bytes of shared memory",
        Vary::Barriers => "barriers",
    };
    let change = format!("{} {unit} instead of {}", cut.to, cut.from);
    if after.blocks_per_sm <= before.blocks_per_sm {
        let others = before.binding().iter().filter(|other| *other != cut.resource).map(Resource::name);
        let others = others.collect::<Vec<_>>().join(" and ").replace('_', " ");
        return format!("{change}: not enough, limited by {others} as well");
    }
    format!(
        "{change}: {}, {} of {} warps ({})",
        count(after.blocks_per_sm, "block"),
        after.warps_per_sm,
        after.max_warps_per_sm,
        percent(after.ratio()).trim_start()
    )
}
