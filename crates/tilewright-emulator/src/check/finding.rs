//! What the checks report.

use super::kind::FindingKind;
use crate::program::SourceLine;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Harmless as executed, and worth knowing: several threads write the same value to one place.
    Note,
    /// Works on today's hardware, though the programming model does not promise it.
    Warning,
    /// A wrong program.
    Error,
}

impl Severity {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One side of a finding: an instruction and who executed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// PTX line, from 1.
    pub ptx_line: u32,
    /// CUDA line, if the module has line information.
    pub source: Option<SourceLine>,
    /// The PTX opcode.
    pub opcode: String,
    /// Block index.
    pub block: [u32; 3],
    /// Indices of the threads, at most 32.
    pub threads: Vec<[u32; 3]>,
}

/// A fault in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// How bad it is.
    pub severity: Severity,
    /// The entry that was launched.
    pub kernel: String,
    /// The access or barrier.
    pub at: Party,
    /// The earlier access that it conflicts with.
    pub with: Option<Party>,
    /// What happened, in a sentence.
    pub message: String,
    /// What to do about it, in a sentence.
    pub fix: String,
    /// Of a race: whether a barrier between the two accesses would mend it.
    pub wants_barrier: bool,
    /// How often the same pair of instructions was found.
    pub count: u64,
}

impl std::fmt::Display for Party {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(source) = &self.source {
            write!(f, "{source}, ")?;
        }
        let [x, y, z] = self.block;
        write!(f, "PTX line {} ({}), block ({x}, {y}, {z})", self.ptx_line, self.opcode)?;
        if let Some([x, y, z]) = self.threads.first() {
            write!(f, ", thread ({x}, {y}, {z})")?;
        }
        match self.threads.len() {
            0 | 1 => Ok(()),
            more => write!(f, " and {} more", more - 1),
        }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} in {}: {}", self.kind.title(), self.kernel, self.message)?;
        writeln!(f, "  at   {}", self.at)?;
        if let Some(with) = &self.with {
            writeln!(f, "  with {with}")?;
        }
        write!(f, "  fix: {} ({} time{})", self.fix, self.count, if self.count == 1 { "" } else { "s" })
    }
}
