//! The report for people.

use super::{
    gains,
    setting::{Outcome, Setting},
    target::Target,
};
use crate::{args::Parameter, failure::Failure, terminal, wrapping};
use std::fmt::Write;
use tilewright_arch::{BlockSize, Device, Occupancy, Resource, SquareBlock, occupancy::thread_occupancy};

/// Letters of a bar at most, and at least.
const BAR: usize = 24;
const SHORTEST_BAR: usize = 8;
/// What stands beside a bar in the table of limits.
const BESIDE: usize = 70;

/// Letters of a bar in so many columns.
fn bar_width(columns: usize) -> usize {
    columns.saturating_sub(BESIDE).clamp(SHORTEST_BAR, BAR)
}

pub struct Text<'a> {
    pub target: &'a Target,
    pub setting: &'a Setting,
    pub outcome: &'a Outcome,
    /// The best block size, if it was asked for, and if there is one.
    pub best: Option<Option<BlockSize>>,
    /// A line about the kernel, if it was read from somewhere.
    pub kernel: Option<String>,
}

impl Text<'_> {
    pub fn render(&self) -> Result<String, Failure> {
        let bold = terminal::label();
        let target = wrapping::paragraph(&self.target.describe());
        let mut out = format!("{bold}{}{bold:#}\n", target.trim_end());
        let sections = [
            self.kernel.clone().unwrap_or_default() + &wrapping::paragraph(&configuration(self.setting)),
            self.summary(),
            self.limits(),
            gains::text(self.setting, self.outcome)?,
            self.clusters(),
            self.simple_formula(),
            self.best_block()?,
        ];
        out += &sections.into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join("\n");
        Ok(out)
    }

    fn summary(&self) -> String {
        let o = &self.outcome.occupancy;
        titled("occupancy", &[format!("{} {}", bar(o.ratio()), result(o))])
    }

    /// A row for each resource: what it allows, what a block takes, and how much of it is in use.
    fn limits(&self) -> String {
        let o = &self.outcome.occupancy;
        let binding = o.binding();
        let faint = terminal::faint();
        let mut out = format!(
            "{faint}{:<14} {:<w$} {:>7}            a block takes, of the SM's{faint:#}\n",
            "",
            "in use",
            "blocks",
            w = bar_width(wrapping::columns())
        );
        for Use { resource, block, sm, note } in self.uses() {
            let name = resource.name().replace('_', " ");
            let (allowed, in_use) = match o.limits.get(resource) {
                Some(blocks) => {
                    (blocks.to_string(), f64::from(o.blocks_per_sm) * f64::from(block) / f64::from(sm))
                }
                None => ("any".into(), 0.0),
            };
            let taken = format!("{block} of {sm}{note}");
            let (style, mark) = match binding.contains(resource) {
                true => (terminal::emphasis(), "<- limit"),
                false => (anstyle::Style::new(), ""),
            };
            let _ =
                writeln!(out, "{style}{name:<14} {} {allowed:>7} {mark:<8}   {taken}{style:#}", bar(in_use));
        }
        out
    }

    fn uses(&self) -> [Use; 5] {
        let (limits, kernel) = (self.setting.limits, &self.setting.kernel);
        let Occupancy { allocated, .. } = self.outcome.occupancy;
        let (registers, shared) = (allocated.registers_per_block, allocated.shared_memory_per_block);
        let warps = self.setting.launch().warps_per_block();
        let shared_note = match limits.shared_memory_reserved_per_block {
            0 => " B".into(),
            reserved => format!(" B ({reserved} reserved)"),
        };
        let plain = |resource, block, sm| Use { resource, block, sm, note: String::new() };
        [
            plain(Resource::Warps, warps, limits.max_warps_per_sm()),
            plain(Resource::Registers, registers, limits.registers_per_sm),
            Use { note: shared_note, ..plain(Resource::SharedMemory, shared, limits.shared_memory_per_sm) },
            plain(Resource::Blocks, 1, limits.max_blocks_per_sm),
            plain(Resource::Barriers, kernel.barriers, limits.barriers_per_sm),
        ]
    }

    /// What courses teach, with its numbers, and why it differs.
    fn simple_formula(&self) -> String {
        let (o, limits) = (&self.outcome.occupancy, self.setting.limits);
        let (blocks, most) = (o.blocks_per_sm, limits.max_threads_per_sm);
        if blocks == 0 {
            return String::new();
        }
        let threads = self.setting.launch().threads_per_block;
        let simple = thread_occupancy(limits, blocks, threads);
        let verdict = if simple == o.ratio() {
            "the same".to_owned()
        } else {
            format!("not {}: it counts threads, the SM holds whole warps", percent(o.ratio()).trim_start())
        };
        let value = percent(simple);
        let mut lines = vec![format!("{blocks} x {threads} / {most} = {}, {verdict}", value.trim_start())];
        if let Some(Device { sms, .. }) = self.target.device() {
            let all = blocks * sms;
            lines.push(format!("for the whole GPU {all} x {threads} / ({most} x {sms}), which is equal"));
        }
        titled("simple formula", &lines)
    }

    /// Blocks of a cluster share a part of the GPU whose size differs from chip to chip.
    fn clusters(&self) -> String {
        let (size, blocks) = (self.setting.launch().cluster_size, self.outcome.occupancy.blocks_per_sm);
        match self.target.device().filter(|device| size > 1 && blocks > 0 && device.gpcs.is_some()) {
            Some(device) => {
                let most = device.max_active_clusters(blocks, size);
                titled(
                    "clusters",
                    &[format!("at most {most} at once on the GPU; the driver knows the exact number")],
                )
            }
            None => String::new(),
        }
    }

    fn best_block(&self) -> Result<String, Failure> {
        let best = match &self.best {
            None => return Ok(String::new()),
            Some(None) => return Ok(titled("best block", &["none can launch".into()])),
            Some(Some(best)) => best,
        };
        let after = self.setting.with(Parameter::Threads, best.threads).outcome()?.occupancy;
        let mut lines = vec![format!("{}: {}", count(best.threads, "thread"), result(&after))];
        if let Some(device) = self.target.device() {
            lines.push(format!("a grid of {} fills the GPU", count(best.min_grid_size(device.sms), "block")));
        }
        if let Some(SquareBlock { side, threads }) = SquareBlock::within(best.threads) {
            lines.push(format!(
                "the largest square within whose side is a power of two: {side} x {side} = {threads}"
            ));
        }
        Ok(titled("best block", &lines))
    }
}

/// The numbers that go in.
pub fn configuration(setting: &Setting) -> String {
    let (kernel, launch) = (&setting.kernel, setting.launch());
    let (threads, warps) = (launch.threads_per_block, launch.warps_per_block());
    let mut parts = vec![
        format!("{} ({}) per block", count(threads, "thread"), count(warps, "warp")),
        format!("{} per thread", count(kernel.registers_per_thread, "register")),
    ];
    let (fixed, dynamic) = (kernel.static_shared_memory, launch.dynamic_shared_memory);
    parts.push(match (fixed, dynamic) {
        (0, 0) => "no shared memory".into(),
        (fixed, 0) => format!("{fixed} B of shared memory"),
        (0, dynamic) => format!("{dynamic} B of dynamic shared memory"),
        (fixed, dynamic) => format!("{fixed} + {dynamic} B of static and dynamic shared memory"),
    });
    if kernel.barriers != 1 {
        parts.push(count(kernel.barriers, "barrier"));
    }
    if launch.cluster_size > 1 {
        parts.push(format!("clusters of {}", launch.cluster_size));
    }
    parts.join(", ")
}

/// What comes out, in a line.
pub fn result(o: &Occupancy) -> String {
    let (blocks, share) = (count(o.blocks_per_sm, "block"), percent(o.ratio()));
    format!("{blocks} per SM, {} of {} warps ({})", o.warps_per_sm, o.max_warps_per_sm, share.trim_start())
}

/// What a block takes of a resource, and what the SM has of it.
struct Use {
    resource: Resource,
    block: u32,
    sm: u32,
    note: String,
}

/// Lines behind a title.
pub fn titled(title: &str, lines: &[String]) -> String {
    let titles = std::iter::once(title).chain(std::iter::repeat(""));
    titles.zip(lines).map(|(title, line)| wrapping::row(title, line, 14)).collect()
}

/// `1 block`, `2 blocks`.
pub fn count(number: u32, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Five letters and the sign.
pub fn percent(share: f64) -> String {
    format!("{:>5.1} %", 100.0 * share)
}

/// Filled in proportion; not empty unless nothing is in use, not full unless all is.
pub fn bar(share: f64) -> String {
    bar_of(share, bar_width(wrapping::columns()))
}

fn bar_of(share: f64, width: usize) -> String {
    let exact = share.clamp(0.0, 1.0) * width as f64;
    let filled = match exact.round() as usize {
        0 if exact > 0.0 => 1,
        all if all == width && exact < width as f64 => width - 1,
        filled => filled,
    };
    "█".repeat(filled) + &"░".repeat(width - filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_full_or_empty_only_where_that_is_true() {
        let filled = |share| bar_of(share, BAR).matches('█').count();
        assert_eq!([0.0, 1e-9, 0.5, 0.999, 1.0, 7.0, f64::NAN].map(filled), [0, 1, 12, 23, 24, 24, 0]);
        assert_eq!(bar_of(0.3, BAR).chars().count(), BAR);
    }
}
