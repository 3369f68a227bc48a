//! What is wrong with a kernel, or slow.

use serde::Serialize;

/// How grave a finding is, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    /// The line of the PTX text, from 1; `None` for a CUDA line as a whole.
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
}

/// Something to know about a kernel, with the likely fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How grave it is.
    pub severity: Severity,
    /// What it is, in a word or two joined by hyphens: `shared-race`, `uncoalesced`.
    pub kind: String,
    /// A sentence.
    pub message: String,
    /// The accesses or instructions that take part: one, or two for a race.
    pub participants: Vec<Participant>,
    /// How often it was seen.
    pub count: u64,
    /// What to do.
    pub fix: String,
}
