//! What to change so that another block fits.

use super::{
    setting::{Outcome, Setting},
    text::{result, titled},
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
    Ok(titled("for one more", &lines?) + &larger_blocks(setting, before)?)
}

/// Where the SM holds no more blocks, larger ones fill it: the smallest of those that fill it most.
fn larger_blocks(setting: &Setting, before: &Occupancy) -> Result<String, Failure> {
    if !before.binding().contains(Resource::Blocks) {
        return Ok(String::new());
    }
    let threads = setting.launch().threads_per_block;
    let mut best = (threads, *before);
    for larger in Vary::Threads.values(setting.limits).filter(|larger| *larger > threads) {
        let after = setting.vary(Vary::Threads, larger).outcome()?.occupancy;
        if after.warps_per_sm > best.1.warps_per_sm {
            best = (larger, after);
        }
    }
    let (larger, after) = best;
    if larger == threads {
        return Ok(String::new());
    }
    let line = format!("{larger} threads per block instead of {threads}: {}", result(&after));
    Ok(titled("for more warps", &[line]))
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
    format!("{change}: {}", result(after))
}
