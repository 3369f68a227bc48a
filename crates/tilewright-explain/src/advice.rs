//! Advice that follows from the numbers.

use crate::model::{
    Access, BankTraffic, Explanation, Finding, Line, Location, OccupancySummary, Operation, Participant,
    SectorTraffic, Severity, Space,
};

/// From this many sectors per ideal sector on, lanes do not lie side by side; below it they are merely shifted.
const SCATTERED: f64 = 2.0;
/// Sectors or wavefronts above the ideal by less than this part are no matter.
const TOLERATED: f64 = 0.05;
/// Below this part of active lanes, divergence costs more than it saves.
const FEW_LANES: f64 = 0.75;
/// Below this part of the SM's warps, latencies are hard to hide.
const LOW_OCCUPANCY: f64 = 0.5;

/// What could be better, judging by the numbers alone; the order is that of the source.
///
/// * `uncoalesced`: a global access moves at least twice the sectors that its data would fill.
/// * `misaligned`: it moves more than them, but less than twice.
/// * `bank-conflict`: a shared access takes more wavefronts than its ideal.
/// * `divergence`: less than three quarters of the lanes are active.
/// * `local-memory`: an array that is indexed at run time, or spilled registers.
/// * `low-occupancy`: less than half of the warps that an SM can hold.
pub fn advise(explanation: &Explanation) -> Vec<Finding> {
    let accesses = explanation.lines.iter().flat_map(|line| line.accesses.iter().map(move |a| (line, a)));
    let mut findings: Vec<Finding> = accesses.filter_map(|(line, access)| of_access(line, access)).collect();
    if explanation.totals.active_lanes() < FEW_LANES {
        findings.extend(divergence(explanation));
    }
    findings.extend(explanation.totals.occupancy.as_ref().and_then(low_occupancy));
    findings
}

fn of_access(line: &Line, access: &Access) -> Option<Finding> {
    let (kind, message, fix) = match (access.space, access.sectors(), access.banks()) {
        (Space::Global, Some(sectors), _) if access.operation != Operation::Atomic => of_sectors(sectors)?,
        (Space::Shared, _, Some(banks)) if access.operation != Operation::Atomic => of_banks(banks)?,
        (Space::Local, _, _) => local(access),
        _ => return None,
    };
    Some(Finding {
        severity: Severity::Advice,
        kind: kind.into(),
        message,
        participants: vec![Participant {
            what: access.instruction.clone(),
            location: Some(Location {
                file: Some(line.file.clone()),
                line: Some(line.line),
                ptx_line: Some(access.ptx_line),
            }),
            block: None,
            threads: Vec::new(),
        }],
        count: access.traffic.requests(),
        fix: fix.into(),
    })
}

type Remark = (&'static str, String, &'static str);

fn of_sectors(sectors: &SectorTraffic) -> Option<Remark> {
    let excess = sectors.sectors as f64 / sectors.ideal_sectors as f64;
    if sectors.ideal_sectors == 0 || excess < 1.0 + TOLERATED {
        return None;
    }
    let (mean, ideal) =
        (sectors.sectors_per_request()?, sectors.ideal_sectors as f64 / sectors.requests as f64);
    let used = 100.0 * sectors.efficiency()?;
    let message = format!(
        "a request moves {mean:.1} sectors of 32 bytes where {ideal:.1} hold its data: {used:.1} % of the moved bytes are used"
    );
    let scattered = (
        "uncoalesced",
        "let neighbouring lanes access neighbouring elements: index the contiguous dimension with threadIdx.x, or go \
         through a tile in shared memory",
    );
    let shifted = (
        "misaligned",
        "begin every row at a multiple of 32 bytes: pad the leading dimension, or shift the index so that lane 0 is aligned",
    );
    let (kind, fix) = if excess >= SCATTERED { scattered } else { shifted };
    Some((kind, message, fix))
}

fn of_banks(banks: &BankTraffic) -> Option<Remark> {
    if (banks.wavefronts as f64) < (1.0 + TOLERATED) * banks.ideal_wavefronts as f64 {
        return None;
    }
    let message = format!(
        "a request takes {:.1} wavefronts where {:.1} would do: lanes want different words of the same bank",
        banks.wavefronts_per_request()?,
        banks.ideal_per_request()?
    );
    let fix =
        "pad the rows of the array by one element, as in [32][33], or permute its columns (an XOR swizzle)";
    Some(("bank-conflict", message, fix))
}

fn local(access: &Access) -> Remark {
    let message =
        format!("{} bytes per lane go to local memory, which is device memory", access.bytes_per_lane);
    let fix = "index the array with constants (unroll the loop) so that it fits in registers, or use fewer registers if \
               they were spilled";
    ("local-memory", message, fix)
}

/// The line that loses the most lanes stands for the launch.
fn divergence(explanation: &Explanation) -> Option<Finding> {
    let lost = |line: &&Line| {
        32 * line.warp_instructions - line.thread_instructions.min(32 * line.warp_instructions)
    };
    let line = explanation.lines.iter().max_by_key(lost)?;
    Some(Finding {
        severity: Severity::Advice,
        kind: "divergence".into(),
        message: format!(
            "{:.1} % of the lanes are active; most of the others are lost here, where {:.1} % are",
            100.0 * explanation.totals.active_lanes(),
            100.0 * line.active_lanes()
        ),
        participants: vec![Participant {
            what: "line".into(),
            location: Some(Location { file: Some(line.file.clone()), line: Some(line.line), ptx_line: None }),
            block: None,
            threads: Vec::new(),
        }],
        count: line.warp_instructions,
        fix: "let whole warps take the same side of a branch: make the condition depend on threadIdx.x / 32, sort the work, \
              or give all lanes of a warp something to do"
            .into(),
    })
}

fn low_occupancy(occupancy: &OccupancySummary) -> Option<Finding> {
    if occupancy.occupancy >= LOW_OCCUPANCY {
        return None;
    }
    let limits = occupancy.limited_by.join(" and ").replace('_', " ");
    Some(Finding {
        severity: Severity::Advice,
        kind: "low-occupancy".into(),
        message: format!(
            "an SM holds {} of {} warps; the limit is {limits}",
            occupancy.warps_per_sm, occupancy.max_warps_per_sm
        ),
        participants: Vec::new(),
        count: 1,
        fix: format!(
            "use less of {limits} per block; `tilewright occupancy` says how much. Kernels with much work per thread can do \
             without"
        ),
    })
}
