//! How a run can fail, and what is said about it.

use crate::terminal::{self, Style};
use std::{fmt, io, process::ExitCode};
use tilewright::{Error, ErrorKind};

/// The command ran, and a check failed.
pub const CHECK: u8 = 1;
/// The command line, or what it asks for, makes no sense.
pub const USAGE: u8 = 2;
/// A file cannot be read or written, or holds what the product does not admit.
pub const FILE: u8 = 3;
/// A backend or device is missing.
pub const UNAVAILABLE: u8 = 4;
/// A device, or this machine, failed.
pub const DEVICE: u8 = 5;
/// The user stopped it: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

/// Why a run ended early.
#[derive(Debug)]
pub enum Failure {
    /// The request makes no sense.
    Usage { what: String, hint: String },
    /// A check failed; the details have been printed.
    Check { what: String, hint: String },
    /// The user stopped it; what there is has been printed.
    Interrupted { what: String },
    /// The engine or a file refused.
    Engine(Error),
    /// The output stream failed.
    Stream(io::Error),
}

impl Failure {
    pub fn usage(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), hint: hint.into() }
    }

    fn code(&self) -> u8 {
        match self {
            Self::Usage { .. } => USAGE,
            Self::Check { .. } => CHECK,
            Self::Interrupted { .. } => INTERRUPTED,
            // A reader such as `head` that has seen enough is no failure.
            Self::Stream(e) if e.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Stream(_) => FILE,
            Self::Engine(e) => code(e),
        }
    }

    /// Says on stderr what happened, and gives the exit code.
    pub fn report(self) -> ExitCode {
        let code = self.code();
        if code != 0 {
            terminal::say(Style::Error, "error", &self.to_string());
            let hint = match self {
                Self::Usage { hint, .. } | Self::Check { hint, .. } => Some(hint),
                Self::Stream(_) | Self::Interrupted { .. } => None,
                Self::Engine(e) => e.hint(),
            };
            if let Some(hint) = hint.filter(|h| !h.is_empty()) {
                terminal::say(Style::Hint, "hint", &hint);
            }
        }
        ExitCode::from(code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage { what, .. } | Self::Check { what, .. } | Self::Interrupted { what } => {
                f.write_str(what)
            }
            Self::Engine(e) => e.fmt(f),
            Self::Stream(e) => write!(f, "stdout: {e}"),
        }
    }
}

/// The exit code that an error stands for.
fn code(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::Unavailable { .. } => UNAVAILABLE,
        ErrorKind::InnerMismatch { .. }
        | ErrorKind::ResultMismatch { .. }
        | ErrorKind::BatchMismatch { .. }
        | ErrorKind::DTypeMismatch { .. }
        | ErrorKind::Unsupported { .. }
        | ErrorKind::Environment { .. } => USAGE,
        ErrorKind::OutOfMemory { .. } | ErrorKind::Device { .. } | ErrorKind::DeviceMemory { .. } => DEVICE,
        // As for `Failure::Stream`, when the output file is a pipe.
        ErrorKind::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => 0,
        _ => FILE,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

/// Errors of writing to stdout; files report their own, with their path.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Stream(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_has_seen_enough_is_no_failure() {
        assert_eq!(Failure::from(io::Error::from(io::ErrorKind::BrokenPipe)).code(), 0);
        assert_eq!(Failure::from(io::Error::from(io::ErrorKind::StorageFull)).code(), FILE);
    }
}
