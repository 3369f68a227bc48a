//! The instruction set that a kernel is compiled for.

use std::fmt;
use std::str::FromStr;
use tilewright_arch::ComputeCapability;
use tilewright_core::{Error, ErrorKind};

/// A target of compilation: a compute capability, and which of its instructions may be used.
///
/// Parsed from `sm_90a`, `compute_90a`, `90a` and `9.0a`.
///
/// ```
/// use tilewright_cuda::{Architecture, InstructionSet};
/// let hopper: Architecture = "sm_90a".parse()?;
/// assert_eq!(hopper.instructions, InstructionSet::ArchitectureSpecific);
/// assert_eq!(hopper.real(), "sm_90a");
/// assert_eq!(hopper.virtual_name(), "compute_90a");
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Architecture {
    /// The multiprocessor's version.
    pub capability: ComputeCapability,
    /// The instructions beyond those that every later GPU has too.
    pub instructions: InstructionSet,
}

/// Which instructions may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InstructionSet {
    /// Those that later GPUs have too.
    Common,
    /// Also those of this family alone, `sm_100f`.
    FamilySpecific,
    /// Also those of this architecture alone, `sm_90a`: wgmma, for instance.
    ArchitectureSpecific,
}

impl Architecture {
    /// The common instructions of a compute capability.
    pub const fn new(capability: ComputeCapability) -> Self {
        Self { capability, instructions: InstructionSet::Common }
    }

    /// The name for machine code: `sm_86`.
    pub fn real(&self) -> String {
        format!("sm_{}{}", self.capability.number(), self.suffix())
    }

    /// The name for PTX: `compute_86`.
    pub fn virtual_name(&self) -> String {
        format!("compute_{}{}", self.capability.number(), self.suffix())
    }

    fn suffix(&self) -> &'static str {
        match self.instructions {
            InstructionSet::Common => "",
            InstructionSet::FamilySpecific => "f",
            InstructionSet::ArchitectureSpecific => "a",
        }
    }
}

impl From<ComputeCapability> for Architecture {
    fn from(capability: ComputeCapability) -> Self {
        Self::new(capability)
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.real())
    }
}

impl FromStr for Architecture {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let capability = text.parse().map_err(|_| ErrorKind::Unsupported {
            what: format!("architecture '{text}'"),
            why: String::new(),
            hint: "write it as sm_86, sm_90a, 8.6 or 86".into(),
        })?;
        let instructions = match text.trim().bytes().last().map(|byte| byte.to_ascii_lowercase()) {
            Some(b'a') => InstructionSet::ArchitectureSpecific,
            Some(b'f') => InstructionSet::FamilySpecific,
            _ => InstructionSet::Common,
        };
        Ok(Self { capability, instructions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in ["sm_75", "sm_86", "sm_90a", "sm_100f", "sm_120", "sm_121a"] {
            let architecture: Architecture = name.parse().expect(name);
            assert_eq!(architecture.to_string(), name);
            assert_eq!(architecture.virtual_name().parse::<Architecture>().expect(name), architecture);
        }
        assert_eq!("8.6".parse::<Architecture>().expect("8.6").real(), "sm_86");
    }

    #[test]
    fn anything_else_is_refused_with_a_hint() {
        for name in ["", "a", "hopper", "sm_", "sm_9b"] {
            let error = name.parse::<Architecture>().expect_err(name);
            assert_eq!(error.code(), "unsupported");
            assert!(error.hint().is_some());
        }
    }
}
