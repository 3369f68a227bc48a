//! Which matrix of which file: `a.npy`, `runs.npz:weights`, `model.safetensors:layer.0`.

use std::{
    ffi::OsStr,
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};
use tilewright_core::{Error, ErrorKind};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// One NumPy array, versions 1 to 3.
    Npy,
    /// A zip archive of NumPy arrays.
    Npz,
    /// Numbers with commas or another delimiter between them, one row per line.
    Csv,
    /// Matrix Market, `array` or `coordinate`.
    Mtx,
    /// Named tensors behind a JSON header.
    Safetensors,
}

impl Format {
    /// Every format.
    pub const ALL: &[Self] = &[Self::Npy, Self::Npz, Self::Csv, Self::Mtx, Self::Safetensors];

    /// The file name extension, without a dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Csv => "csv",
            Self::Mtx => "mtx",
            Self::Safetensors => "safetensors",
        }
    }

    /// True when one file holds several named matrices.
    pub const fn has_members(self) -> bool {
        matches!(self, Self::Npz | Self::Safetensors)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.extension())
    }
}

/// One matrix in one file.
///
/// ```
/// use tilewright_files::{Format, Spec};
/// let spec: Spec = "runs/day:1.npz:weights".parse()?;
/// assert_eq!(spec.path(), std::path::Path::new("runs/day:1.npz"));
/// assert_eq!((spec.member(), spec.format()), (Some("weights"), Format::Npz));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    path: PathBuf,
    member: Option<String>,
    format: Format,
}

impl Spec {
    /// Reads a path, or `path.npz:name`, or `path.safetensors:name`; the extension decides the format.
    ///
    /// Only a colon right after `.npz` or `.safetensors` separates a name, so drive letters and colons
    /// elsewhere in a path mean nothing special.
    ///
    /// # Errors
    /// `bad-file` when the extension is not that of a known format or the name is empty.
    pub fn parse(text: impl AsRef<OsStr>) -> Result<Self, Error> {
        let text = text.as_ref();
        let (path, member) = match text.to_str().and_then(split_member) {
            Some((path, member)) => (Path::new(path), Some(member)),
            None => (Path::new(text), None),
        };
        let bad = |problem: String, hint: String| {
            Error::from(ErrorKind::BadFile { path: path.to_path_buf(), problem, hint: Some(hint.into()) })
        };
        if member == Some("") {
            return Err(bad("no name follows the colon".into(), "write FILE:NAME, or FILE alone".into()));
        }
        let extension = path.extension().map(OsStr::to_string_lossy).unwrap_or_default();
        match Format::ALL.iter().copied().find(|f| extension.eq_ignore_ascii_case(f.extension())) {
            Some(format) => Ok(Self { path: path.to_path_buf(), member: member.map(str::to_string), format }),
            None => {
                let known = Format::ALL.iter().map(Format::to_string).collect::<Vec<_>>().join(", ");
                let base = extension.split(':').next().unwrap_or_default();
                Err(match Format::ALL.iter().find(|f| base.eq_ignore_ascii_case(f.extension())) {
                    Some(format) if base.len() < extension.len() => {
                        bad(format!("a {format} file has no named members"), "leave out the colon".into())
                    }
                    _ if extension.is_empty() => bad(
                        "the name has no extension to tell the file type".into(),
                        format!("known are {known}"),
                    ),
                    _ => bad(format!("unknown file type '.{extension}'"), format!("known are {known}")),
                })
            }
        }
    }

    /// A file whose name does not tell its format, such as `/dev/stdout`.
    pub fn new(path: impl Into<PathBuf>, format: Format, member: Option<String>) -> Self {
        Self { path: path.into(), member, format }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// The array or tensor inside the file, when one was named.
    pub fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }
    /// The file's format.
    pub fn format(&self) -> Format {
        self.format
    }
}

/// Splits `dir/file.npz:name`. The last such colon counts, since directories may have any name.
fn split_member(text: &str) -> Option<(&str, &str)> {
    let colon = text.rmatch_indices(':').map(|(at, _)| at).find(|&at| {
        let extension = Path::new(&text[..at]).extension().unwrap_or_default();
        Format::ALL.iter().any(|f| f.has_members() && extension.eq_ignore_ascii_case(f.extension()))
    })?;
    Some((&text[..colon], &text[colon + 1..]))
}

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)?;
        self.member.as_ref().map_or(Ok(()), |member| write!(f, ":{member}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_colon_after_an_archive_separates_a_name() {
        let cases = [
            ("a.npy", "a.npy", None),
            ("A.NPY", "A.NPY", None),
            (r"C:\data\a.csv", r"C:\data\a.csv", None),
            ("run:3/a.mtx", "run:3/a.mtx", None),
            ("run:3/a.npz", "run:3/a.npz", None),
            ("run:3/a.npz:w:0", "run:3/a.npz", Some("w:0")),
            ("x.npz:y/a.npz:w", "x.npz:y/a.npz", Some("w")),
            ("m.safetensors:model.layers.0.w", "m.safetensors", Some("model.layers.0.w")),
            ("M.SafeTensors:w", "M.SafeTensors", Some("w")),
        ];
        for (text, path, member) in cases {
            let spec = Spec::parse(text).unwrap();
            assert_eq!((spec.path(), spec.member()), (Path::new(path), member), "{text}");
            assert_eq!(spec.to_string(), text);
        }
    }

    #[test]
    fn unknown_types_are_refused_with_the_known_ones() {
        for (text, problem, hint) in [
            ("a.txt", "unknown file type '.txt'", ".npy, .npz, .csv, .mtx, .safetensors"),
            ("a", "no extension", ".npy"),
            ("", "no extension", ".npy"),
            ("a.npy:x", "a .npy file has no named members", "leave out the colon"),
            ("a.npz:", "no name follows the colon", "FILE:NAME"),
        ] {
            let error = Spec::parse(text).unwrap_err();
            assert_eq!(error.code(), "bad-file");
            assert!(error.to_string().contains(problem), "{error}");
            assert!(error.hint().unwrap().contains(hint), "{text}");
        }
    }
}
