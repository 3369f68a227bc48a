//! Where instructions come from.

/// A place in CUDA source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLine {
    /// The path as the compiler wrote it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

impl std::fmt::Display for SourceLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Where one instruction comes from: indices, since there is one for every instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// PTX line, from 1.
    pub ptx_line: u32,
    /// `.file` index and line, or zeros without line information.
    pub file: u32,
    /// CUDA line.
    pub line: u32,
}
