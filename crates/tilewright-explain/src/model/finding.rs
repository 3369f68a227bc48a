//! What is wrong with a kernel, or slow.

use serde::{Deserialize, Serialize};
use tilewright_emulator::FindingKind;

/// How grave a finding is, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The kernel is wrong.
    Error,
    /// It may be wrong, or wrong elsewhere.
    Warning,
    /// It could be faster.
    Advice,
}

impl Severity {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Advice => "advice",
        }
    }
}

/// A place in the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// The CUDA file; `None` without line information.
    pub file: Option<String>,
    /// The CUDA line, from 1.
    pub line: Option<u32>,
    /// The line of the PTX text, from 1; `None` for a CUDA line as a whole. Of several copies, that of the first.
    pub ptx_line: Option<u32>,
}

/// Who did what, where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Participant {
    /// What was done, such as `store of 4 bytes`.
    pub what: String,
    /// Where in the program.
    pub location: Option<Location>,
    /// The block.
    pub block: Option<[u32; 3]>,
    /// The threads.
    pub threads: Vec<[u32; 3]>,
    /// Of a race: the element, as the source would write it, such as `partial[16]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// Of a race in a loop: which execution of the line by this thread it is, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iteration: Option<u64>,
    /// PTX lines of further copies of the same line, as an unrolled loop has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further_ptx_lines: Vec<u32>,
}

impl Participant {
    /// An instruction or line at a place, by nobody in particular.
    pub fn at(what: impl Into<String>, location: Location) -> Self {
        Self {
            what: what.into(),
            location: Some(location),
            block: None,
            threads: Vec::new(),
            element: None,
            iteration: None,
            further_ptx_lines: Vec::new(),
        }
    }
}

/// Where a synchronisation belongs that ends a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RemedyPlace {
    /// Between the two accesses.
    Between,
    /// At the end of the body of the loop that has both.
    EndOfLoop,
    /// Within the line, which has to be split: between its load and its store.
    WithinLine,
}

/// What ends a race, for tools: [`Finding::fix`] says it in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remedy {
    /// Such as `__syncthreads()`.
    pub insert: &'static str,
    /// Where.
    pub place: RemedyPlace,
    /// The CUDA line behind which it belongs; `None` without line information.
    pub after_line: Option<u32>,
}

/// Something to know about a kernel, with the likely fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How grave it is.
    pub severity: Severity,
    /// What it is.
    #[serde(with = "by_name")]
    pub kind: FindingKind,
    /// A sentence.
    pub message: String,
    /// The accesses or instructions that take part: one, or two for a race; then further ones of the same line that are at fault in the same way.
    pub participants: Vec<Participant>,
    /// How often it was seen.
    pub count: u64,
    /// At how many instructions: more than one for copies of a line that the compiler has unrolled.
    pub copies: u64,
    /// What it costs: passes of 128 bytes, between a multiprocessor and its cache or over the banks of shared memory, that are made for
    /// nothing; for lanes without work, instructions of whole warps. `None` where that is no matter or not known.
    pub cost: Option<u64>,
    /// The same in cycles of the busiest multiprocessor; `None` where that is no matter or not known.
    pub cost_cycles: Option<u64>,
    /// What to do.
    pub fix: String,
    /// The same of a race, for tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

impl Finding {
    /// What happened, and what to do: once, of nobody in particular, at no known cost.
    pub fn new(
        severity: Severity,
        kind: FindingKind,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            kind,
            message: message.into(),
            participants: Vec::new(),
            count: 1,
            copies: 1,
            cost: None,
            cost_cycles: None,
            fix: fix.into(),
            remedy: None,
        }
    }
}

/// A kind as its name, for `#[serde(with)]`.
pub mod by_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use tilewright_emulator::FindingKind;

    /// Writes the name.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(kind: &FindingKind, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(kind.name())
    }

    /// Reads it.
    ///
    /// # Errors
    /// For what is no name of a kind, and those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FindingKind, D::Error> {
        let name = String::deserialize(deserializer)?;
        FindingKind::named(&name).ok_or_else(|| Error::custom(format!("{name} is no kind of finding")))
    }
}
