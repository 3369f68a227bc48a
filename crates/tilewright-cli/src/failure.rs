//! How a run can fail, and what is said about it.

use crate::{
    common::Format,
    hints, interrupt,
    terminal::{self, Style},
};
use std::{
    fmt,
    io::{self, Write},
    process::ExitCode,
};
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

/// Why a run ended early.
#[derive(Debug)]
pub enum Failure {
    /// The request makes no sense.
    Usage { what: String, hint: String },
    /// A check failed; the details have been printed.
    Check { what: String, hint: String },
    /// The user stopped it; what there is has been printed.
    Interrupted { what: String },
    /// A program that was run ended with this code, and has said why.
    Program { code: u8 },
    /// The engine or a file refused.
    Engine(Error),
    /// The output stream failed.
    Stream(io::Error),
}

impl Failure {
    pub fn usage(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), hint: hint.into() }
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Usage { .. } => USAGE,
            Self::Check { .. } => CHECK,
            Self::Program { code } => *code,
            Self::Interrupted { .. } => interrupt::code(),
            // A reader such as `head` that has seen enough is no failure.
            Self::Stream(e) if e.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Stream(_) => FILE,
            Self::Engine(e) => code(e),
        }
    }

    /// A stable identifier.
    fn name(&self) -> &'static str {
        match self {
            Self::Usage { .. } => "usage",
            Self::Check { .. } => "check-failed",
            Self::Interrupted { .. } => "interrupted",
            Self::Stream(_) => "io",
            Self::Engine(e) => e.code(),
            Self::Program { .. } => "program",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Usage { hint, .. } | Self::Check { hint, .. } => {
                Some(hint.clone()).filter(|hint| !hint.is_empty())
            }
            Self::Stream(_) | Self::Interrupted { .. } | Self::Program { .. } => None,
            Self::Engine(e) => hints::of(e),
        }
    }

    /// Says on stderr what happened, as one line of JSON where results are JSON, and gives the exit code.
    pub fn report(self, format: Format) -> ExitCode {
        let code = self.code();
        match format {
            _ if code == 0 || matches!(self, Self::Program { .. }) => {}
            Format::Json => {
                let (name, message, hint) = (self.name(), self.to_string(), self.hint());
                let error =
                    serde_json::json!({ "code": name, "message": message, "hint": hint, "exit_code": code });
                // Where stderr is closed there is nobody to tell.
                let _ =
                    writeln!(io::stderr().lock(), "{}", serde_json::json!({ "schema": 1, "error": error }));
            }
            Format::Table | Format::Csv => {
                terminal::say(Style::Error, "error", &self.to_string());
                if let Some(hint) = self.hint() {
                    terminal::say(Style::Hint, "hint", &hint);
                }
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
            Self::Program { code } => write!(f, "the program ended with code {code}"),
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
        | ErrorKind::ScaleMismatch { .. }
        | ErrorKind::BatchMismatch { .. }
        | ErrorKind::StackMismatch { .. }
        | ErrorKind::ShapeMismatch { .. }
        | ErrorKind::NoDimension { .. }
        | ErrorKind::DTypeMismatch { .. }
        | ErrorKind::Unsupported { .. }
        | ErrorKind::Environment { .. } => USAGE,
        ErrorKind::OutOfMemory { .. }
        | ErrorKind::Device { .. }
        | ErrorKind::DeviceMemory { .. }
        | ErrorKind::KernelFault { .. } => DEVICE,
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
