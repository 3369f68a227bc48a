//! Compute capabilities: which instruction set and which limits a GPU has.

use std::fmt;
use std::str::FromStr;

/// A compute capability, such as 8.6: the version of a GPU's multiprocessor.
///
/// Parsed from the forms in use: `8.6`, `86`, `sm_86`, `compute_90a`, `sm_100f`, `cc 12.0`. The suffixes `a`
/// (architecture-specific) and `f` (family-specific) name instruction sets of the same hardware and are dropped.
///
/// ```
/// use tilewright_arch::ComputeCapability;
///
/// let capability: ComputeCapability = "sm_86".parse()?;
/// assert_eq!(capability, ComputeCapability::new(8, 6));
/// assert_eq!(capability.to_string(), "8.6");
/// assert_eq!("compute_121a".parse(), Ok(ComputeCapability::new(12, 1)));
/// # Ok::<(), tilewright_arch::ParseComputeCapabilityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    major: u8,
    minor: u8,
}

impl ComputeCapability {
    /// The compute capability `major.minor`, whether or not such a GPU exists.
    pub const fn new(major: u8, minor: u8) -> Self {
        ComputeCapability { major, minor }
    }

    /// The generation, such as 8 for Ampere and Ada.
    pub const fn major(self) -> u8 {
        self.major
    }

    /// The variant within the generation.
    pub const fn minor(self) -> u8 {
        self.minor
    }

    /// The number in target names: 86 in `sm_86`, 120 in `compute_120`.
    pub const fn number(self) -> u32 {
        self.major as u32 * 10 + self.minor as u32
    }
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}", self.major, self.minor))
    }
}

impl FromStr for ComputeCapability {
    type Err = ParseComputeCapabilityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| ParseComputeCapabilityError { text: text.to_owned() })
    }
}

fn parse(text: &str) -> Option<ComputeCapability> {
    let lower = text.trim().to_ascii_lowercase();
    let number = ["sm_", "sm", "compute_", "cc"].iter().find_map(|prefix| lower.strip_prefix(prefix));
    let number = number.unwrap_or(&lower).trim_start();
    let number = number.strip_suffix(['a', 'f']).unwrap_or(number);
    let (major, minor) = match number.split_once('.') {
        Some(parts) => parts,
        // Without a point the last digit is the minor version.
        None => number.split_at_checked(number.len().checked_sub(1)?)?,
    };
    Some(ComputeCapability::new(digits(major)?, digits(minor)?))
}

/// A number of digits alone (`u8::from_str` would accept a sign).
fn digits(text: &str) -> Option<u8> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// A text that is not a compute capability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseComputeCapabilityError {
    text: String,
}

impl fmt::Display for ParseComputeCapabilityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a compute capability; write it as 8.6, 86, sm_86 or compute_86", self.text)
    }
}

impl std::error::Error for ParseComputeCapabilityError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_understood() {
        for (text, major, minor) in [
            ("8.6", 8, 6),
            ("86", 8, 6),
            ("sm_86", 8, 6),
            ("SM86", 8, 6),
            ("compute_90a", 9, 0),
            ("sm_100f", 10, 0),
            ("9.0a", 9, 0),
            ("120", 12, 0),
            ("12.1", 12, 1),
            (" cc 7.5 ", 7, 5),
            ("cc10.3", 10, 3),
            ("50", 5, 0),
        ] {
            assert_eq!(text.parse(), Ok(ComputeCapability::new(major, minor)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for text in [
            "", "8", "8.", ".6", "a", "sm_", "8.6.1", "eight", "8.+6", "+86", "-1", "8.6b", "9999", "8 6",
            "é6",
        ] {
            let error = text.parse::<ComputeCapability>().expect_err(text);
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }

    #[test]
    fn order_is_by_version() {
        assert!(ComputeCapability::new(9, 0) < ComputeCapability::new(10, 0));
        assert_eq!(ComputeCapability::new(10, 3).number(), 103);
        assert_eq!(format!("{:>6}|", ComputeCapability::new(8, 6)), "   8.6|");
    }
}
