//! The instruction set that a kernel is compiled for.

use crate::{ComputeCapability, ParseComputeCapabilityError};
use std::fmt;
use std::str::FromStr;

/// A target of compilation: a compute capability, and which of its instructions may be used.
///
/// Parsed from `sm_90a`, `compute_90a`, `90a` and `9.0a`.
///
/// ```
/// use tilewright_arch::{Architecture, ComputeCapability, InstructionSet};
/// let hopper: Architecture = "sm_90a".parse()?;
/// assert_eq!(hopper.instructions, InstructionSet::ArchitectureSpecific);
/// assert_eq!((hopper.real().as_str(), hopper.virtual_name().as_str()), ("sm_90a", "compute_90a"));
/// assert_eq!(hopper, Architecture::of(ComputeCapability::new(9, 0)));
/// # Ok::<(), tilewright_arch::ParseComputeCapabilityError>(())
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
    /// Every instruction of a device: what is compiled for one device alone is compiled for this. The
    /// architecture-specific ones began with compute capability 9.0.
    pub const fn of(device: ComputeCapability) -> Self {
        let instructions = match device.major() {
            0..9 => InstructionSet::Common,
            _ => InstructionSet::ArchitectureSpecific,
        };
        Self { capability: device, instructions }
    }

    /// The common instructions of a compute capability: for code that later devices run, too.
    pub const fn baseline(capability: ComputeCapability) -> Self {
        Self { capability, instructions: InstructionSet::Common }
    }

    /// Whether a device runs PTX for this architecture.
    pub fn runs_on(self, device: ComputeCapability) -> bool {
        match self.instructions {
            InstructionSet::Common => self.capability <= device,
            InstructionSet::FamilySpecific => {
                self.capability.major() == device.major() && self.capability <= device
            }
            InstructionSet::ArchitectureSpecific => self.capability == device,
        }
    }

    /// The name for machine code: `sm_86`.
    pub fn real(&self) -> String {
        format!("sm_{}{}", self.capability.number(), self.suffix())
    }

    /// The name for PTX: `compute_86`.
    pub fn virtual_name(&self) -> String {
        format!("compute_{}{}", self.capability.number(), self.suffix())
    }

    const fn suffix(&self) -> &'static str {
        match self.instructions {
            InstructionSet::Common => "",
            InstructionSet::FamilySpecific => "f",
            InstructionSet::ArchitectureSpecific => "a",
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.real())
    }
}

impl FromStr for Architecture {
    type Err = ParseComputeCapabilityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let capability = text.parse()?;
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

    fn parsed(name: &str) -> Architecture {
        name.parse().expect(name)
    }

    #[test]
    fn names_round_trip() {
        for name in ["sm_75", "sm_86", "sm_90a", "sm_100f", "sm_120", "sm_121a"] {
            assert_eq!(parsed(name).to_string(), name);
            assert_eq!(parsed(&parsed(name).virtual_name()), parsed(name));
        }
        assert_eq!(parsed("8.6").real(), "sm_86");
    }

    #[test]
    fn anything_else_is_refused_with_the_forms_in_use() {
        for name in ["", "a", "hopper", "sm_", "sm_9b"] {
            let error = name.parse::<Architecture>().expect_err(name);
            assert!(error.to_string().contains("write it as"), "{error}");
        }
    }

    #[test]
    fn a_device_has_all_of_its_own_instructions() {
        for (capability, name) in [
            ((7, 5), "sm_75"),
            ((8, 9), "sm_89"),
            ((9, 0), "sm_90a"),
            ((10, 0), "sm_100a"),
            ((10, 3), "sm_103a"),
            ((12, 0), "sm_120a"),
        ] {
            let capability = ComputeCapability::new(capability.0, capability.1);
            assert_eq!(Architecture::of(capability).real(), name);
            assert!(Architecture::of(capability).runs_on(capability));
        }
    }

    #[test]
    fn common_instructions_run_later_those_of_a_family_in_it_and_specific_ones_nowhere_else() {
        let runs = |name, device: &str| parsed(name).runs_on(device.parse().expect(device));
        assert!(runs("sm_80", "8.6") && runs("sm_90", "12.0") && !runs("sm_90", "8.9"));
        assert!(runs("sm_100f", "10.3") && !runs("sm_103f", "10.0") && !runs("sm_100f", "12.0"));
        assert!(runs("sm_90a", "9.0") && !runs("sm_90a", "10.0") && !runs("sm_100a", "10.3"));
    }
}
