//! Barriers in shared memory that count arrivals and bytes (`mbarrier`).

use serde::Serialize;

/// An mbarrier, over all blocks of the launch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mbarrier {
    /// The shared variable that it lies in, and its place in there: `full[1]`.
    pub name: String,
    /// Phases that came to their end.
    pub phases: u64,
    /// What is done at it, by instruction.
    pub uses: Vec<MbarrierUse>,
}

/// Bytes of an mbarrier.
const BYTES: u64 = 8;

/// The name of the mbarrier so many bytes behind the start of a variable: `full[1]`, or `full` where nothing else of the variable is one.
pub(crate) fn mbarrier_name(variable: &str, offset: u64, is_alone: bool) -> String {
    // Names with spaces are those of memory without a variable.
    match offset % BYTES {
        0 if is_alone && offset == 0 => variable.to_owned(),
        0 if !variable.contains(' ') => format!("{variable}[{}]", offset / BYTES),
        _ => format!("{variable} + {offset}"),
    }
}

/// What an instruction does at an mbarrier, by the threads of all blocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MbarrierUse {
    /// The line of the PTX text, from 1.
    pub ptx_line: u32,
    /// The line of the source, where the PTX tells it.
    pub line: Option<u32>,
    /// The opcode with its modifiers.
    pub instruction: String,
    /// Arrivals, and announcements of bytes.
    pub arrivals: u64,
    /// Waits that found the phase over.
    pub waits: u64,
    /// Looks that found that it was not. How often depends on the order in which the emulator gives warps their turns.
    pub looks_in_vain: u64,
    /// Bulk copies that complete at it.
    pub copies: u64,
    /// Their bytes.
    pub bytes: u64,
}
