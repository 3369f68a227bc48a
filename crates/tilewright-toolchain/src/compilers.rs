//! Which of the compilers that are here is asked for code of a device: a pure function of versions.

use crate::nvrtc::{Nvrtc, NvrtcVersion};
use std::fmt;
use tilewright_arch::ComputeCapability;
use tilewright_core::Error;

/// The newest CUDA that a driver supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverVersion(u32);

impl DriverVersion {
    /// CUDA `major`.`minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self(1000 * major + 10 * minor)
    }

    /// That of a number as `cuDriverGetVersion` gives it: 13000 for 13.0.
    pub const fn of_number(number: u32) -> Self {
        Self(number)
    }

    /// 13 of 13.0.
    pub fn major(self) -> u32 {
        self.0 / 1000
    }

    /// 0 of 13.0.
    pub fn minor(self) -> u32 {
        self.0 % 1000 / 10
    }
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major(), self.minor())
    }
}

/// What a compiler is.
#[derive(Debug, Clone)]
pub struct Compiler {
    /// Its version.
    pub version: NvrtcVersion,
    /// The compute capabilities that it knows, as numbers such as 86.
    pub architectures: Vec<u32>,
}

/// Why a compiler that is here is not asked; nothing where it is.
pub fn why_not(compiler: &Compiler, driver: DriverVersion, device: ComputeCapability) -> Option<String> {
    let Compiler { version, architectures } = compiler;
    if version.major > driver.major() {
        return Some(format!("NVRTC {version} makes code that a driver for CUDA {driver} does not take"));
    }
    let number = device.number();
    let knows = architectures.iter().any(|&known| known <= number);
    (!knows).then(|| format!("NVRTC {version} makes no code for compute capability {device}"))
}

/// Of several compilers, in the order in which they are found, the number of the first that is asked.
pub(crate) fn first_that_will_do(
    compilers: &[&Compiler],
    driver: DriverVersion,
    device: ComputeCapability,
) -> Option<usize> {
    compilers.iter().position(|compiler| why_not(compiler, driver, device).is_none())
}

/// A compiler that was found, and what it can do.
#[derive(Debug)]
pub struct Found {
    /// It.
    pub nvrtc: Nvrtc,
    /// What it can do.
    pub compiler: Compiler,
}

impl Found {
    fn of(nvrtc: Nvrtc) -> Result<Self, Error> {
        let compiler = Compiler { version: nvrtc.version(), architectures: nvrtc.architectures()? };
        Ok(Self { nvrtc, compiler })
    }

    /// The first that makes code for this driver and device; where none does, the first of all.
    ///
    /// # Errors
    /// As [`Nvrtc::find`].
    pub fn for_device(driver: DriverVersion, device: ComputeCapability) -> Result<Self, Error> {
        let first = Self::of(Nvrtc::find()?)?;
        if why_not(&first.compiler, driver, device).is_none() {
            return Ok(first);
        }
        let all: Vec<Self> = Nvrtc::all()?.into_iter().filter_map(|one| Self::of(one).ok()).collect();
        let compilers: Vec<&Compiler> = all.iter().map(|one| &one.compiler).collect();
        let fits = first_that_will_do(&compilers, driver, device);
        Ok(fits.and_then(|index| all.into_iter().nth(index)).unwrap_or(first))
    }
}

impl Nvrtc {
    /// The compiler that is asked for code of a device: the first that makes code for it and for this driver; where none
    /// does, the first of all.
    ///
    /// # Errors
    /// As [`Nvrtc::find`].
    pub fn for_device(driver: DriverVersion, device: ComputeCapability) -> Result<Self, Error> {
        Ok(Found::for_device(driver, device)?.nvrtc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cc(text: &str) -> ComputeCapability {
        text.parse().expect(text)
    }

    fn compiler(major: u32, architectures: &[u32]) -> Compiler {
        Compiler { version: NvrtcVersion { major, minor: 0 }, architectures: architectures.to_vec() }
    }

    const THIRTEEN: &[u32] = &[75, 80, 86, 89, 90, 100, 120];
    const TWELVE: &[u32] = &[50, 60, 70, 75, 80, 86, 89, 90];

    #[test]
    fn an_older_compiler_is_asked_where_the_newer_one_will_not_do() {
        let (thirteen, twelve) = (compiler(13, THIRTEEN), compiler(12, TWELVE));
        let first = |compilers: &[&Compiler], driver, device| {
            first_that_will_do(compilers, DriverVersion::new(driver, 0), cc(device))
        };
        assert_eq!(first(&[&thirteen, &twelve], 13, "9.0"), Some(0));
        assert_eq!(first(&[&twelve, &thirteen], 13, "9.0"), Some(0));
        // A driver that takes no code of CUDA 13, and a GPU that CUDA 13 has dropped.
        assert_eq!(first(&[&thirteen, &twelve], 12, "9.0"), Some(1));
        assert_eq!(first(&[&thirteen, &twelve], 13, "6.1"), Some(1));
        assert_eq!(first(&[&thirteen], 12, "9.0"), None);
        assert_eq!(first(&[&thirteen, &twelve], 11, "9.0"), None);
        assert_eq!(first(&[], 13, "9.0"), None);
    }
}
