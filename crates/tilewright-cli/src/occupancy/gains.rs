//! What to change so that another block fits.

use super::{
    setting::{Outcome, Setting},
    text::{count, percent},
};
use crate::{failure::Failure, terminal};
use std::fmt::Write;
use tilewright_arch::{Cut, Occupancy, Resource, Vary};

/// Lines for the report; empty where nothing binds that could be cut.
pub fn lines(setting: &Setting, outcome: &Outcome) -> Result<String, Failure> {
    let mut out = String::new();
    if outcome.error.is_some() {
        return Ok(out);
    }
    let before = &outcome.occupancy;
    let cuts = Occupancy::cuts(setting.limits, &setting.kernel, &setting.launch()).unwrap_or_default();
    let faint = terminal::faint();
    for (index, cut) in cuts.iter().enumerate() {
        let title = if index == 0 { "for one more" } else { "" };
        let after = setting.vary(cut.quantity, cut.to).outcome()?.occupancy;
        let _ = writeln!(out, "{faint}{title:<15}{faint:#}{}", describe(cut, &after, before));
    }
    Ok(out)
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
