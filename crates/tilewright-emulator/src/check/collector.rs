//! Collects findings: one for each kind and pair of instructions, with a count.

use std::collections::BTreeMap;

use super::{
    advice::{Setting, fix},
    finding::{Finding, Party, Severity},
    kind::FindingKind,
    shared::Mode,
};
use crate::program::Program;

/// Findings of different instructions that a worker keeps.
const LIMIT: usize = 1000;

/// One side of an event.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// The instruction, if known.
    pub pc: Option<u32>,
    /// Linear number of the block.
    pub block: u32,
    /// The warp.
    pub warp: u32,
    /// Its lanes.
    pub lanes: u32,
}

/// Something to report.
pub struct Event {
    /// What.
    pub kind: FindingKind,
    /// How bad.
    pub severity: Severity,
    /// Who.
    pub at: Side,
    /// With whom.
    pub with: Option<Side>,
    /// A sentence.
    pub message: String,
    /// Another.
    pub fix: String,
    /// Of a race: what the later access does, and what the two are to each other.
    pub race: Option<(Mode, Setting)>,
}

type Key = (FindingKind, Severity, Option<u32>, Option<u32>);

/// A finding, and of a race what the later access does, and what the two are to each other.
#[derive(Debug)]
struct Found {
    finding: Finding,
    race: Option<(Mode, Setting)>,
}

/// The findings of a worker.
#[derive(Debug, Default)]
pub struct Collector {
    found: BTreeMap<Key, Found>,
}

/// What is needed to name threads and lines.
#[derive(Clone, Copy)]
pub struct Naming<'a> {
    /// The program.
    pub program: &'a Program,
    /// The entry.
    pub kernel: &'a str,
    /// Grid in blocks.
    pub grid: [u32; 3],
    /// Block in threads.
    pub block: [u32; 3],
}

impl Naming<'_> {
    /// The index of a block.
    pub fn block_index(&self, number: u32) -> [u32; 3] {
        split(number, self.grid)
    }

    fn party(&self, side: Side) -> Party {
        let origin = side.pc.map(|pc| self.program.origins[pc as usize]).unwrap_or_default();
        let opcode = side.pc.map_or("an instruction too far behind to be remembered", |pc| {
            // Only the first instruction that a PTX instruction becomes has its name.
            let named = (0..=pc).rev().find(|&pc| self.program.opcodes[pc as usize] != 0);
            self.program.names[named.map_or(0, |pc| self.program.opcodes[pc as usize]) as usize].as_str()
        });
        Party {
            ptx_line: origin.ptx_line,
            source: self.program.source_line(origin),
            opcode: opcode.into(),
            block: self.block_index(side.block),
            threads: crate::memory::lanes(side.lanes)
                .map(|lane| split(side.warp * 32 + lane as u32, self.block))
                .collect(),
        }
    }
}

/// Linear number to index.
fn split(number: u32, extent: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = extent.map(|extent| extent.max(1));
    [number % x, number / x % y, number / x / y]
}

impl Collector {
    /// Takes an event; sentences are only made for a new one.
    pub fn report(
        &mut self,
        naming: Naming<'_>,
        key: (FindingKind, Option<u32>, Option<u32>),
        event: impl FnOnce() -> Event,
    ) {
        for severity in [Severity::Error, Severity::Warning] {
            if let Some(found) = self.found.get_mut(&(key.0, severity, key.1, key.2)) {
                found.finding.count += 1;
                return;
            }
        }
        let event = event();
        let key = (event.kind, event.severity, key.1, key.2);
        if let Some(found) = self.found.get_mut(&key) {
            found.finding.count += 1;
            return;
        }
        if self.found.len() >= LIMIT {
            return;
        }
        let finding = Finding {
            kind: event.kind,
            severity: event.severity,
            kernel: naming.kernel.into(),
            at: naming.party(event.at),
            with: event.with.map(|side| naming.party(side)),
            message: event.message,
            fix: event.fix,
            wants_barrier: event.race.is_some_and(|(_, setting)| setting.wants_barrier()),
            count: 1,
        };
        self.found.insert(key, Found { finding, race: event.race });
    }

    /// Adds the findings of another worker.
    pub fn merge(&mut self, other: Collector) {
        for (key, more) in other.found {
            self.insert(key, more);
        }
    }

    fn insert(&mut self, key: Key, more: Found) {
        match self.found.get_mut(&key) {
            Some(found) => {
                let count = found.finding.count + more.finding.count;
                // Of what several workers have found, that of the first block stands for all.
                let place = |found: &Found| {
                    let [x, y, z] = found.finding.at.block;
                    ([z, y, x], found.finding.at.threads.first().copied())
                };
                if place(&more) < place(found) {
                    *found = more;
                }
                found.finding.count = count;
            }
            None => {
                self.found.insert(key, more);
            }
        }
    }

    /// Two instructions that race within a warp and between warps need what orders warps: every race is that of the threads farthest
    /// apart, and so is its fix.
    fn widen(&mut self) {
        let pair = |key: &Key| (key.2.min(key.3), key.2.max(key.3));
        let mut widest: BTreeMap<_, FindingKind> = BTreeMap::new();
        let races = || self.found.keys().filter(|key| key.1 == Severity::Error && key.0.is_race());
        for key in races() {
            let kind = widest.entry(pair(key)).or_insert(key.0);
            *kind = if key.0.reach() > kind.reach() { key.0 } else { *kind };
        }
        let narrow: Vec<Key> = races()
            .filter(|key| widest.get(&pair(key)).is_some_and(|&kind| kind.reach() > key.0.reach()))
            .copied()
            .collect();
        for key in narrow {
            let (Some(mut found), Some(&kind)) = (self.found.remove(&key), widest.get(&pair(&key))) else {
                continue;
            };
            found.finding.kind = kind;
            if let Some((mode, setting)) = found.race {
                found.finding.fix = fix(kind, mode, setting);
            }
            self.insert((kind, key.1, key.2, key.3), found);
        }
    }

    /// All findings, the worst first, then by place.
    pub fn finish(mut self) -> Vec<Finding> {
        self.widen();
        let mut findings: Vec<Finding> = self.found.into_values().map(|found| found.finding).collect();
        findings.sort_by(|a, b| {
            b.severity.cmp(&a.severity).then(a.at.ptx_line.cmp(&b.at.ptx_line)).then(a.kind.cmp(&b.kind))
        });
        findings
    }
}
