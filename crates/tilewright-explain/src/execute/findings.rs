//! What the emulator found and what the numbers say, as findings.

use super::lines::source_of;
use crate::{advise, case::Launch, merge, model::*, races};
use tilewright_emulator as emulator;
use tilewright_emulator::{FindingKind, Nature};

/// All that is to be said of a launch whose lines are explained, the gravest first.
pub fn findings(
    explanation: &Explanation,
    launch: &Launch,
    report: &emulator::Report,
    recording: &Recording,
) -> Vec<Finding> {
    // A barrier mends most races; where one waits for another it would wait for ever.
    let (mended, others): (Vec<_>, Vec<_>) = report.findings.iter().partition(|found| found.wants_barrier);
    let [mut faults, mut others] =
        [mended, others].map(|found| found.into_iter().map(finding).collect::<Vec<_>>());
    [&mut faults, &mut others].into_iter().for_each(|faults| place_in_ptx(faults, launch));
    races::complete(&mut faults, &explanation.lines, recording, &launch.ptx, launch.shape.block);
    faults.extend(others);
    races::follow(&mut faults);
    faults.extend(report.error.as_ref().map(failure));
    // How fast a wrong kernel is says nothing.
    if !faults.iter().any(|fault| fault.severity == Severity::Error) {
        let printing = printing_lines(launch, &report.counters);
        faults.extend(advise(explanation).into_iter().filter(|advice| !is_of_printf(advice, &printing)));
    }
    merge::merged(faults)
}

/// File and line of the calls of `printf`.
fn printing_lines(launch: &Launch, counters: &emulator::Counters) -> Vec<(String, u32)> {
    let text: Vec<&str> = launch.ptx.lines().collect();
    let prints = |counted: &&emulator::InstructionCounters| {
        let statement = text.iter().skip((counted.ptx_line as usize).saturating_sub(1));
        let mut lines = statement.scan(false, |is_over, line| {
            let taken = (!*is_over).then_some(line);
            *is_over = line.contains(';');
            taken
        });
        counted.opcode.starts_with("call") && lines.any(|line| line.contains("vprintf"))
    };
    let calls = counters.instructions.iter().filter(prints);
    calls
        .filter_map(|counted| {
            let (index, line) = source_of(launch, counted)?;
            Some((launch.sources[index].name.clone(), line))
        })
        .collect()
}

/// Whether advice is on what `printf` puts its arguments into, which is no array of the kernel's own.
fn is_of_printf(advice: &Finding, printing: &[(String, u32)]) -> bool {
    let Some(store) = advice.participants.first().filter(|one| one.what.starts_with("st.local")) else {
        return false;
    };
    let is_there = |(file, line): &(String, u32)| {
        store.location.as_ref().is_some_and(|at| at.file.as_ref() == Some(file) && at.line == Some(*line))
    };
    advice.kind == FindingKind::LocalMemory && printing.iter().any(is_there)
}

fn finding(finding: &emulator::Finding) -> Finding {
    let severity = match finding.severity {
        // Where a launch was when a limit ended it is no fault.
        _ if finding.kind.nature() == Nature::Note => Severity::Warning,
        emulator::Severity::Error => Severity::Error,
        emulator::Severity::Warning => Severity::Warning,
        emulator::Severity::Note => Severity::Advice,
    };
    Finding {
        participants: [&finding.at].into_iter().chain(&finding.with).map(participant).collect(),
        count: finding.count,
        ..Finding::new(severity, finding.kind, &finding.message, &finding.fix)
    }
}

fn participant(party: &emulator::Party) -> Participant {
    let location = Location {
        file: party.source.as_ref().map(|s| s.file.clone()),
        line: party.source.as_ref().map(|s| s.line),
        ptx_line: Some(party.ptx_line),
    };
    Participant {
        block: Some(party.block),
        threads: party.threads.clone(),
        ..Participant::at(party.opcode.clone(), location)
    }
}

/// Where the PTX is the source, its lines are those of the source.
fn place_in_ptx(faults: &mut [Finding], launch: &Launch) {
    let Some(ptx) = launch.sources.last().filter(|source| source.name.ends_with(".ptx")) else { return };
    let participants = faults.iter_mut().flat_map(|finding| &mut finding.participants);
    for location in participants.filter_map(|participant| participant.location.as_mut()) {
        if location.file.is_none() {
            (location.file, location.line) = (Some(ptx.name.clone()), location.ptx_line);
        }
    }
}

/// Why a launch ended early.
fn failure(error: &emulator::LaunchError) -> Finding {
    use emulator::LaunchError as E;
    let severity = match error {
        E::Interrupted { .. } => Severity::Warning,
        _ => Severity::Error,
    };
    let (kind, fix) = match error {
        E::StepLimit { .. } | E::TimeLimit { .. } | E::Interrupted { .. } => {
            (FindingKind::NotFinished, "the counts are those until then")
        }
        _ => (
            FindingKind::FailedLaunch,
            "the counts are those until then; mend the kernel or its arguments first",
        ),
    };
    Finding::new(severity, kind, format!("the launch did not end: {error}"), fix)
}

/// Says in the finding of a launch that was ended how far it was, and what lets it go on.
pub fn say_how_far(finding: &mut Finding, unfinished: &Unfinished) {
    if finding.kind == FindingKind::NotFinished {
        finding.message += &format!("; {}", unfinished.describe());
        finding.fix = format!("{}; {}", unfinished.hint, finding.fix);
    }
}
