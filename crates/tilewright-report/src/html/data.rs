//! What the page's script is given.

use super::{Exhibit, glossary, recording::Packed};
use crate::{
    charts::{occupancy_svg, roofline_svg},
    text,
    timeline::timeline_svg,
    verdict::{self, Verdict},
};
use serde::Serialize;
use tilewright_explain::{Explanation, Finding, Measured, PtxInstruction, Severity, SourceText, measured_of};

#[derive(Serialize)]
pub struct Data<'a> {
    kernels: Vec<Kernel<'a>>,
    /// On all kernels; on the only one.
    verdict: Verdict,
    /// Those that these kernels need, with their meaning.
    words: Vec<(&'static str, &'static str)>,
    comparison: Vec<Row>,
    roofline_svg: Option<String>,
}

#[derive(Serialize)]
struct Kernel<'a> {
    explanation: &'a Explanation,
    level: &'static str,
    verdict: Verdict,
    /// Bytes between the multiprocessors and their caches.
    moved_bytes: u64,
    /// Passes of 128 bytes to the caches and over the banks.
    passes: u64,
    /// What each finding costs, as a part of these; `None` where its cost is another, or not known.
    shares: Vec<Option<f64>>,
    /// The finding that is shown as two threads that meet.
    race: Option<usize>,
    measured: Option<Measured>,
    sources: &'a [SourceText],
    instructions: Vec<&'a PtxInstruction>,
    recording: Packed<'a>,
    occupancy_svg: Option<String>,
    timeline_svg: Option<String>,
}

/// A row of the comparison, a value for each kernel.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    values: Vec<Option<String>>,
}

impl<'a> Data<'a> {
    pub fn new(exhibits: &[Exhibit<'a>]) -> Self {
        let explanations: Vec<&Explanation> = exhibits.iter().map(|exhibit| exhibit.explanation).collect();
        Self {
            kernels: exhibits.iter().map(Kernel::new).collect(),
            verdict: match explanations[..] {
                [a, b, ..] => verdict::compared(a, b),
                [e] => verdict::verdict(e),
                [] => Verdict::default(),
            },
            words: glossary::of(&explanations),
            comparison: if exhibits.len() > 1 { comparison(&explanations) } else { Vec::new() },
            roofline_svg: roofline_svg(&explanations),
        }
    }
}

impl<'a> Kernel<'a> {
    fn new(exhibit: &Exhibit<'a>) -> Self {
        let e = exhibit.explanation;
        let is_race = |finding: &Finding| {
            finding.kind.is_race() && finding.severity == Severity::Error && finding.participants.len() >= 2
        };
        Self {
            explanation: e,
            level: e.level.describe(),
            verdict: verdict::verdict(e),
            moved_bytes: verdict::moved_bytes(e),
            passes: verdict::passes(e),
            shares: e.findings.iter().map(|finding| verdict::share_of_passes(e, finding)).collect(),
            race: e.findings.iter().position(is_race),
            measured: measured_of(e),
            sources: &exhibit.recording.sources,
            instructions: exhibit.recording.instructions.iter().filter(|i| i.line > 0).collect(),
            recording: Packed::new(exhibit.recording),
            occupancy_svg: exhibit.curves.as_ref().and_then(occupancy_svg),
            timeline_svg: timeline_svg(&exhibit.recording.timeline),
        }
    }
}

fn comparison(explanations: &[&Explanation]) -> Vec<Row> {
    let rows = text::COMPARED.iter().map(|(name, value)| Row {
        name: name.trim_start(),
        values: explanations.iter().map(|e| value(e)).collect(),
    });
    rows.filter(|row| row.values.iter().any(Option::is_some)).collect()
}
