//! Advice that follows from the numbers.

use crate::model::{
    Access, Explanation, Finding, Line, Location, OccupancySummary, Operation, Participant, SectorTraffic,
    Severity, Space, Traffic,
};
use tilewright_arch::{PartCosts, memory::global::SECTOR_BYTES};
use tilewright_emulator::FindingKind;

/// From this many sectors per ideal sector on, lanes do not lie side by side; below it they are merely shifted.
const SCATTERED: f64 = 2.0;
/// Sectors or wavefronts above the ideal by less than this part are no matter.
const TOLERATED: f64 = 0.05;
/// Below this part of active lanes, divergence costs more than it saves.
const FEW_LANES: f64 = 0.75;
/// Below this part of the SM's warps, latencies are hard to hide.
const LOW_OCCUPANCY: f64 = 0.5;
/// From this many lanes of a warp at one address on, atomics wait for each other more than they work.
const CONTENDED: f64 = 1.5;
/// All banks, a word each.
const BANK_ROW_BYTES: u64 = 128;
/// Sectors of one pass between a multiprocessor and its cache.
const SECTORS_PER_PASS: u64 = 4;

/// What could be better, judging by the numbers alone; what costs most comes first. Copies of a line that the compiler has unrolled are
/// one finding.
///
/// What each kind is said of stands at [`FindingKind`].
pub fn advise(explanation: &Explanation) -> Vec<Finding> {
    let scale = Scale::of(explanation);
    let of_line = |line| of_line(line, scale.as_ref());
    let mut findings: Vec<Finding> = explanation.lines.iter().flat_map(of_line).collect();
    if explanation.totals.active_lanes() < FEW_LANES {
        findings.extend(divergence(explanation, scale.as_ref()));
    }
    // Matrix instructions of warpgroups and bulk copies run beside the warps: few of these keep an SM busy.
    if !explanation.totals.instruction_mix.keys().any(|opcode| opcode.starts_with("wgmma")) {
        findings.extend(explanation.totals.occupancy.as_ref().and_then(low_occupancy));
    }
    // Stable, so that what costs the same keeps the order of the source.
    findings.sort_by_key(|finding| std::cmp::Reverse((finding.cost_cycles, finding.cost)));
    findings
}

/// What makes cycles of counts.
struct Scale {
    costs: PartCosts,
    /// The part of all work that the busiest multiprocessor has.
    share: f64,
}

impl Scale {
    fn of(e: &Explanation) -> Option<Self> {
        let bound = e.bound.as_ref()?;
        let blocks: f64 = e.grid.into_iter().map(f64::from).product();
        let costs = PartCosts::of(bound.compute_capability.parse().ok()?)?;
        Some(Self { costs, share: bound.blocks_on_busiest_sm / blocks })
    }

    fn cycles(&self, of_all: f64) -> u64 {
        (of_all * self.share).round() as u64
    }

    /// What accesses cost beyond what they need; `passes` are those that are made for nothing.
    fn of_accesses(&self, kind: FindingKind, copies: &[&Access], passes: u64) -> u64 {
        let sum = |of: fn(&SectorTraffic) -> u64| {
            copies.iter().filter_map(|access| access.sectors()).map(of).sum::<u64>()
        };
        let costs = &self.costs;
        self.cycles(match kind {
            FindingKind::Uncoalesced | FindingKind::MisalignedSectors => {
                let passes =
                    sum(|t| t.l1_wavefronts.saturating_sub(t.ideal_sectors.div_ceil(SECTORS_PER_PASS)));
                let sectors = sum(|t| t.sectors.saturating_sub(t.ideal_sectors));
                let bytes = f64::from(SECTOR_BYTES) * sectors as f64;
                (passes as f64 * costs.wavefront).max(bytes / costs.l2_bytes)
            }
            FindingKind::LocalMemory => sum(|t| t.lines) as f64 * costs.wavefront,
            FindingKind::ConstantDivergence => passes as f64 * costs.constant_address,
            _ => passes as f64 * costs.wavefront,
        })
    }
}

/// Copies of one instruction of a line, and their sums.
struct Copies<'a> {
    first: &'a Access,
    all: Vec<&'a Access>,
    kind: FindingKind,
    say: Say,
}

/// What is to be said of copies of an access.
type Say = fn(&[&Access]) -> Option<Remark>;

/// The findings of a line: one for all copies of an access that have the same fault.
fn of_line(line: &Line, scale: Option<&Scale>) -> Vec<Finding> {
    let mut groups: Vec<Copies<'_>> = Vec::new();
    for access in &line.accesses {
        let Some((kind, say)) = judged(access) else { continue };
        let is_copy = |group: &&mut Copies<'_>| {
            let first = group.first;
            (group.kind, &first.instruction, &first.buffer, first.space, first.operation)
                == (kind, &access.instruction, &access.buffer, access.space, access.operation)
        };
        match groups.iter_mut().find(is_copy) {
            Some(group) => group.all.push(access),
            None => groups.push(Copies { first: access, all: vec![access], kind, say }),
        }
    }
    groups.iter().filter_map(|group| finding(line, group, scale)).collect()
}

/// What is to be said of an access, if anything.
fn judged(access: &Access) -> Option<(FindingKind, Say)> {
    match (access.space, &access.traffic) {
        (Space::Global | Space::Shared, _) if access.operation == Operation::Atomic => {
            is_contended(access).then_some((FindingKind::AtomicContention, of_atomics))
        }
        (Space::Global, Traffic::Sectors(sectors)) => {
            let excess = sectors.sectors as f64 / sectors.ideal_sectors as f64;
            match () {
                () if sectors.ideal_sectors == 0 || excess < 1.0 + TOLERATED => None,
                () if excess >= SCATTERED => Some((FindingKind::Uncoalesced, of_scattered)),
                () => Some((FindingKind::MisalignedSectors, of_shifted)),
            }
        }
        (Space::Shared, Traffic::Banks(banks)) => {
            let is_tolerable = (banks.wavefronts as f64) < (1.0 + TOLERATED) * banks.ideal_wavefronts as f64;
            (!is_tolerable && !is_part_of_an_atomic(access)).then_some((FindingKind::BankConflict, of_banks))
        }
        (Space::Constant, Traffic::Banks(banks)) => {
            let is_tolerable = (banks.wavefronts as f64) < (1.0 + TOLERATED) * banks.ideal_wavefronts as f64;
            (!is_tolerable).then_some((FindingKind::ConstantDivergence, of_constants))
        }
        (Space::Local, _) => Some((FindingKind::LocalMemory, local)),
        _ => None,
    }
}

/// The loads of an atomic that the hardware makes a loop of.
fn is_part_of_an_atomic(access: &Access) -> bool {
    access.instruction.starts_with("atom") || access.instruction.starts_with("red")
}

/// Rounds of an atomic for each time that a warp executes it.
fn rounds(access: &Access) -> f64 {
    access.traffic.requests() as f64 / access.executions.max(1) as f64
}

fn is_contended(access: &Access) -> bool {
    rounds(access) >= CONTENDED || access.lanes_per_address.is_some_and(|lanes| lanes >= CONTENDED)
}

fn finding(line: &Line, copies: &Copies<'_>, scale: Option<&Scale>) -> Option<Finding> {
    let all = || copies.all.iter();
    let (message, cost, fix) = (copies.say)(&copies.all)?;
    let location = |access: &Access| Location {
        file: Some(line.file.clone()),
        line: Some(line.line),
        ptx_line: Some(access.ptx_line),
    };
    let participant = Participant {
        further_ptx_lines: all().skip(1).map(|access| access.ptx_line).collect(),
        ..Participant::at(copies.first.instruction.clone(), location(copies.first))
    };
    let message = match &copies.first.buffer {
        Some(_) => format!("{}: {message}", copies.first.describe()),
        None => message,
    };
    Some(Finding {
        participants: vec![participant],
        count: all().map(|access| access.traffic.requests()).sum(),
        copies: copies.all.len() as u64,
        cost: Some(cost),
        cost_cycles: scale.map(|scale| scale.of_accesses(copies.kind, &copies.all, cost)),
        ..Finding::new(Severity::Advice, copies.kind, message, fix)
    })
}

/// A sentence, what it costs, and what to do.
type Remark = (String, u64, &'static str);

fn of_scattered(copies: &[&Access]) -> Option<Remark> {
    let fix = "let neighbouring lanes access neighbouring elements: index the contiguous dimension with threadIdx.x, or go \
               through a tile in shared memory";
    of_sectors(copies, fix)
}

fn of_shifted(copies: &[&Access]) -> Option<Remark> {
    let fix = "begin every row at a multiple of 32 bytes: pad the leading dimension, or shift the index so that lane 0 is aligned";
    of_sectors(copies, fix)
}

fn of_sectors(copies: &[&Access], fix: &'static str) -> Option<Remark> {
    let sectors = sum(copies.iter().filter_map(|access| access.sectors()))?;
    let ideal = sectors.ideal_sectors as f64 / sectors.requests as f64;
    let message = format!(
        "a request moves {:.1} sectors of 32 bytes where {ideal:.1} hold its data: {:.1} % of the moved bytes are used",
        sectors.sectors_per_request()?,
        100.0 * sectors.efficiency()?
    );
    let cost = sectors.sectors.saturating_sub(sectors.ideal_sectors) / SECTORS_PER_PASS;
    Some((message, cost, fix))
}

/// Padding moves rows of the banks' whole width against each other; lanes that are nearer meet within a row, which no padding changes.
fn of_banks(copies: &[&Access]) -> Option<Remark> {
    let banks = sum(copies.iter().filter_map(|access| access.banks()))?;
    let message = format!(
        "a request takes {:.1} wavefronts where {:.1} would do: lanes want different words of the same bank",
        banks.wavefronts_per_request()?,
        banks.ideal_per_request()?
    );
    let fix = match copies.first()?.lane_stride {
        Some(bytes) if bytes < BANK_ROW_BYTES => {
            "let neighbouring lanes access neighbouring words, and each lane step over those of the others: lane + 32 i in place \
             of n lane + i"
        }
        _ => {
            "pad the rows of the array by one element, as in [32][33], or permute its columns (an XOR swizzle)"
        }
    };
    Some((message, banks.conflicts(), fix))
}

fn of_constants(copies: &[&Access]) -> Option<Remark> {
    let passes = sum(copies.iter().filter_map(|access| access.banks()))?;
    let message = format!(
        "a request takes {:.1} passes where 1 would do: constant memory serves one address at a time",
        passes.wavefronts_per_request()?
    );
    let fix = "let all lanes of a warp read the same address, or put what lanes look up in shared memory";
    Some((message, passes.conflicts(), fix))
}

fn sum<'a, T: Copy + std::ops::AddAssign + 'a>(copies: impl Iterator<Item = &'a T>) -> Option<T> {
    copies.copied().reduce(|mut sum, next| {
        sum += next;
        sum
    })
}

fn of_atomics(copies: &[&Access]) -> Option<Remark> {
    let first = copies.first()?;
    let executions: u64 = copies.iter().map(|access| access.executions).sum();
    let requests: u64 = copies.iter().map(|access| access.traffic.requests()).sum();
    let lanes = first.lanes_per_address.unwrap_or(1.0);
    let rounds = requests as f64 / executions.max(1) as f64;
    let fix = "let fewer threads meet: add up within the warp first (shuffles, or __reduce_add_sync), give each warp a copy of its \
               own, or spread the addresses";
    // On the hardware this is a loop of its own, and its rounds are counted; elsewhere the lanes of an address take turns.
    let (message, each) = if rounds >= CONTENDED {
        let message = format!(
            "a warp takes {rounds:.1} rounds where 1 would do: the hardware makes a loop of it, {lanes:.1} lanes of a warp meet \
             in an address, and the warps of the block meet there too"
        );
        (message, rounds - 1.0)
    } else {
        let message = format!(
            "{lanes:.1} lanes of a warp meet in an address and take turns there: the other warps come to the same addresses"
        );
        (message, lanes - 1.0)
    };
    Some((message, (each * executions as f64).round() as u64, fix))
}

fn local(copies: &[&Access]) -> Option<Remark> {
    let first = copies.first()?;
    let sectors: u64 = copies.iter().filter_map(|access| access.sectors()).map(|t| t.sectors).sum();
    let message =
        format!("{} bytes per lane go to local memory, which is device memory", first.bytes_per_lane);
    let fix = "index the array with constants (unroll the loop) so that it fits in registers, or use fewer registers if \
               they were spilled";
    Some((message, sectors / SECTORS_PER_PASS, fix))
}

/// The line that loses the most lanes stands for the launch.
fn divergence(explanation: &Explanation, scale: Option<&Scale>) -> Option<Finding> {
    let lost = |line: &&Line| (32 * line.warp_instructions).saturating_sub(line.thread_instructions);
    let line = explanation.lines.iter().max_by_key(lost)?;
    let location = Location { file: Some(line.file.clone()), line: Some(line.line), ptx_line: None };
    let totals = &explanation.totals;
    let message = format!(
        "{:.1} % of the lanes are active; most of the others are lost here, where {:.1} % are",
        100.0 * totals.active_lanes(),
        100.0 * line.active_lanes()
    );
    let fix = "let whole warps take the same side of a branch: make the condition depend on threadIdx.x / 32, sort the work, \
               or give all lanes of a warp something to do";
    let lost = (32 * totals.warp_instructions).saturating_sub(totals.thread_instructions) / 32;
    Some(Finding {
        participants: vec![Participant::at("line", location)],
        count: line.warp_instructions,
        cost: Some(lost),
        cost_cycles: scale.map(|scale| scale.cycles(lost as f64 * scale.costs.issue())),
        ..Finding::new(Severity::Advice, FindingKind::Divergence, message, fix)
    })
}

fn low_occupancy(occupancy: &OccupancySummary) -> Option<Finding> {
    if occupancy.occupancy >= LOW_OCCUPANCY {
        return None;
    }
    let limits = occupancy.limited_by.join(" and ").replace('_', " ");
    let message = format!(
        "an SM holds {} of {} warps; the limit is {limits}",
        occupancy.warps_per_sm, occupancy.max_warps_per_sm
    );
    let fix = format!(
        "use less of {limits} per block; `tilewright occupancy` says how much. Kernels with much work per thread can do \
         without"
    );
    Some(Finding::new(Severity::Advice, FindingKind::LowOccupancy, message, fix))
}
