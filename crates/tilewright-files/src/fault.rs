//! What is wrong with a file's contents, before the path is known.

use std::{io, path::Path};
use tilewright_core::{Error, ErrorKind, Hint, visible};

/// A failure inside a reader or writer, which works on bytes and knows no path; [`Fault::at`] adds it.
#[derive(Debug)]
pub(super) enum Fault {
    /// The contents are not what they should be.
    Bad { problem: String, hint: Option<Hint> },
    /// The bytes could not be read or written.
    Io(io::Error),
    /// Something that is not about the contents.
    Other(Error),
}

/// A [`Fault::Bad`] with this message.
macro_rules! bad {
    ($($message:tt)*) => {
        $crate::fault::Fault::Bad { problem: format!($($message)*), hint: None }
    };
}
pub(super) use bad;

impl Fault {
    /// Adds what the user can do about it.
    pub fn hint(self, hint: impl Into<Hint>) -> Self {
        match self {
            Self::Bad { problem, .. } => Self::Bad { problem, hint: Some(hint.into()) },
            other => other,
        }
    }

    /// Puts `place` before the message: `member 'a.npy': ...`.
    pub fn within(self, place: &str) -> Self {
        match self {
            Self::Bad { problem, hint } => Self::Bad { problem: format!("{place}: {problem}"), hint },
            other => other,
        }
    }

    /// The error for the file at `path`.
    pub fn at(self, path: &Path) -> Error {
        let path = path.to_path_buf();
        match self {
            Self::Bad { problem, hint } => ErrorKind::BadFile { path, problem, hint }.into(),
            Self::Io(source) => ErrorKind::Io { path, source }.into(),
            Self::Other(error) => error,
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error.kind() {
            // An element that cannot be represented is a fault of the file it came from, and says so.
            ErrorKind::Conversion { .. } => {
                Self::Bad { problem: error.to_string(), hint: error.kind().hint() }
            }
            _ => Self::Other(error),
        }
    }
}

/// Text from a file, made fit for a message: short, and without characters that are not seen.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    let end = text.char_indices().nth(LONGEST).map(|(end, _)| end);
    let shown = visible(&text[..end.unwrap_or(text.len())]);
    if end.is_some() { format!("{shown}...") } else { shown.into_owned() }
}
