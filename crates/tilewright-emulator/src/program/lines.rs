//! Where instructions come from.

use crate::parse::ast::Location;

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

/// File and line that a user knows. Code inlined from a C header, as CUDA's atomics and shuffles are, belongs to the line that calls it;
/// inlined functions of a user's own sources keep theirs.
pub fn of_user(at: &Location<'_>, files: &[(u32, &str)]) -> (u32, u32) {
    let path = files.iter().find(|file| file.0 == at.file).map_or("", |file| file.1);
    let header = [".h", ".hpp", ".inl"].iter().any(|extension| path.ends_with(extension));
    match at.inlined_at {
        Some((file, line, _)) if header && file != at.file => (file, line),
        _ => (at.file, at.line),
    }
}
