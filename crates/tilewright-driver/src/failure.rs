//! Why a launch failed, typed, and the code that a program gets for it.

use tilewright_arch::{ConfigurationError, LaunchRefusal};
use tilewright_emulator::{Finding, FindingKind, LaunchError, Report};

use crate::code::Code;

/// A launch that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// What the program gets.
    pub code: Code,
    /// The entry that was launched.
    pub kernel: String,
    /// Why it did not start or did not end, if that is so.
    pub error: Option<LaunchError>,
    /// What was found, the worst first.
    pub findings: Vec<Finding>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.findings.first(), &self.error) {
            (Some(finding), _) => finding.fmt(f),
            (None, Some(error)) => write!(f, "{}: {error}", self.kernel),
            (None, None) => write!(f, "{}: {}", self.kernel, self.code),
        }
    }
}

/// The code of a launch that could not start, or that was ended for a reason that is not the kernel's fault. The context goes on.
pub(crate) fn refused(error: &LaunchError) -> Option<Code> {
    Some(match error {
        LaunchError::NoEntry { .. } => Code::NOT_FOUND,
        LaunchError::Refused { .. } => Code::LAUNCH_OUT_OF_RESOURCES,
        LaunchError::Invalid { .. } => Code::INVALID_PTX,
        LaunchError::Extent { what: "cluster", .. } => Code::INVALID_CLUSTER_SIZE,
        LaunchError::Extent { .. } | LaunchError::Argument { .. } | LaunchError::SharedMemory { .. } => {
            Code::INVALID_VALUE
        }
        LaunchError::Unsupported { .. } | LaunchError::UndefinedFunction { .. } => Code::NOT_SUPPORTED,
        LaunchError::MemoryLimit { .. } => Code::LAUNCH_OUT_OF_RESOURCES,
        LaunchError::Interrupted { .. } => Code::LAUNCH_TIMEOUT,
        _ => return None,
    })
}

/// The code of a launch that the device does not take; an H100's driver 580 gives the same.
pub(crate) fn code_of(refusal: &LaunchRefusal) -> Code {
    use ConfigurationError as E;
    match refusal {
        LaunchRefusal::Cooperative { .. } => Code::COOPERATIVE_LAUNCH_TOO_LARGE,
        LaunchRefusal::ClustersOfGrid { .. } | LaunchRefusal::Configuration(E::ClusterSize { .. }) => {
            Code::INVALID_CLUSTER_SIZE
        }
        LaunchRefusal::Configuration(
            E::RegistersPerBlock { .. } | E::RegistersPerThread { .. } | E::PartitionedCaching { .. },
        ) => Code::LAUNCH_OUT_OF_RESOURCES,
        LaunchRefusal::Grid { .. } | LaunchRefusal::Block { .. } | LaunchRefusal::Configuration(_) => {
            Code::INVALID_VALUE
        }
    }
}

/// The code of a kernel that failed; `None` if it did not.
pub(crate) fn broken(report: &Report) -> Option<Code> {
    let of_error = report.error.as_ref().map(|error| match error {
        LaunchError::Assertion { .. } => Code::ASSERT,
        LaunchError::StackOverflow { .. } => Code::HARDWARE_STACK_ERROR,
        LaunchError::StepLimit { .. } | LaunchError::TimeLimit { .. } => Code::LAUNCH_TIMEOUT,
        _ => Code::LAUNCH_FAILED,
    });
    of_error.or_else(|| {
        report.errors().next().map(|finding| match finding.kind {
            FindingKind::OutOfBounds | FindingKind::ReadOnly => Code::ILLEGAL_ADDRESS,
            FindingKind::Misaligned => Code::MISALIGNED_ADDRESS,
            FindingKind::Assertion => Code::ASSERT,
            FindingKind::Deadlock | FindingKind::StepLimit | FindingKind::TimeLimit => Code::LAUNCH_TIMEOUT,
            _ => Code::LAUNCH_FAILED,
        })
    })
}
