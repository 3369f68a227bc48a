//! What to change so that another block fits, or more warps.

use super::{
    setting::{Outcome, Setting},
    text::{result, titled},
};
use crate::failure::Failure;
use tilewright_arch::{Occupancy, Resource, Vary};

/// One quantity changed, and what comes of it.
pub struct Gain {
    pub quantity: Vary,
    pub from: u32,
    pub to: u32,
    pub after: Occupancy,
}

/// What is told of a setting.
struct Advice {
    /// For each resource that binds, its cut, which may not be enough by itself.
    cuts: Vec<(Resource, Gain)>,
    /// Larger blocks, where the SM holds no more of them.
    larger: Option<Gain>,
}

/// The changes that help.
pub fn changes(setting: &Setting, outcome: &Outcome) -> Result<Vec<Gain>, Failure> {
    let before = outcome.occupancy.warps_per_sm;
    let Advice { cuts, larger } = advice(setting, outcome)?;
    let helps = |gain: &Gain| gain.after.warps_per_sm > before;
    Ok(cuts.into_iter().map(|(_, gain)| gain).chain(larger).filter(helps).collect())
}

/// A part of the report; empty where nothing binds that could be cut.
pub fn text(setting: &Setting, outcome: &Outcome) -> Result<String, Failure> {
    let before = &outcome.occupancy;
    let Advice { cuts, larger } = advice(setting, outcome)?;
    let lines: Vec<String> = cuts.iter().map(|(resource, gain)| describe(*resource, gain, before)).collect();
    let larger = larger.map(|gain| format!("{}: {}", change(&gain), result(&gain.after)));
    Ok(titled("for one more", &lines) + &titled("for more warps", larger.as_slice()))
}

fn advice(setting: &Setting, outcome: &Outcome) -> Result<Advice, Failure> {
    let before = &outcome.occupancy;
    // Where all warps are resident, more blocks are no gain.
    if outcome.error.is_some() || before.warps_per_sm >= before.max_warps_per_sm {
        return Ok(Advice { cuts: Vec::new(), larger: None });
    }
    let cuts = Occupancy::cuts(setting.limits, &setting.kernel, &setting.launch()).unwrap_or_default();
    let cuts = cuts.iter().map(|cut| {
        // Shared memory may follow the threads, which the cut does not know.
        let after = setting.vary(cut.quantity, cut.to).outcome()?.occupancy;
        Ok((cut.resource, Gain { quantity: cut.quantity, from: cut.from, to: cut.to, after }))
    });
    Ok(Advice { cuts: cuts.collect::<Result<_, Failure>>()?, larger: larger_blocks(setting, before)? })
}

/// Where the SM holds no more blocks, larger ones fill it: the smallest of those that fill it most.
fn larger_blocks(setting: &Setting, before: &Occupancy) -> Result<Option<Gain>, Failure> {
    if !before.binding().contains(Resource::Blocks) {
        return Ok(None);
    }
    let threads = setting.launch().threads_per_block;
    let mut best = (threads, *before);
    for larger in Vary::Threads.values(setting.limits).filter(|larger| *larger > threads) {
        let after = setting.vary(Vary::Threads, larger).outcome()?.occupancy;
        if after.warps_per_sm > best.1.warps_per_sm {
            best = (larger, after);
        }
    }
    let (to, after) = best;
    Ok((to > threads).then_some(Gain { quantity: Vary::Threads, from: threads, to, after }))
}

/// The change in words.
fn change(gain: &Gain) -> String {
    let unit = match gain.quantity {
        Vary::Threads => "threads per block",
        Vary::Registers => "registers per thread",
        Vary::SharedMemory => "bytes of shared memory",
        Vary::Barriers => "barriers",
    };
    format!("{} {unit} instead of {}", gain.to, gain.from)
}

fn describe(resource: Resource, gain: &Gain, before: &Occupancy) -> String {
    let change = change(gain);
    if gain.after.blocks_per_sm <= before.blocks_per_sm {
        let others = before.binding().iter().filter(|other| *other != resource).map(Resource::name);
        let others = others.collect::<Vec<_>>().join(" and ").replace('_', " ");
        return format!("{change}: not enough, limited by {others} as well");
    }
    format!("{change}: {}", result(&gain.after))
}
