//! Where an array comes from: a file, or a pipe or standard input, which give their bytes once.

use crate::{failure::Failure, pipe};
use std::{
    ffi::OsStr,
    fs,
    io::{self, Read},
    path::Path,
};
use tilewright::{
    DType, Error, ErrorKind, Extremes,
    files::{self, Format, NamedTable, Names, ReadOptions, Spec, Stack},
};

/// What stands for standard input and output.
pub const STREAM: &str = "-";

/// A file that is read, or standard input.
pub struct Input {
    pub spec: Spec,
    pub is_stream: bool,
}

impl Input {
    /// What a word names; `format` is that of names that do not tell.
    pub fn new(word: &OsStr, format: Option<Format>) -> Result<Self, Failure> {
        Ok(Self { spec: spec(word, format, "--format-in")?, is_stream: word == STREAM })
    }
}

/// What can be read again in another element type.
pub struct Source {
    spec: Spec,
    /// Those that come once.
    bytes: Option<Vec<u8>>,
    /// Where rows and columns have names.
    table: Option<NamedTable>,
}

/// The file that a word of the command line names; `format` is that of names that do not tell.
pub fn spec(word: &OsStr, format: Option<Format>, option: &str) -> Result<Spec, Failure> {
    match format {
        None if word == STREAM => {
            let what = format!("`-` is a stream, and nothing says what is in it: {option} is missing");
            Err(Failure::usage(what, format!("say it, as in {option} csv")))
        }
        Some(format) if word == STREAM => Ok(Spec::new("standard input", format, None)),
        Some(format) if !tells_format(word) => Ok(Spec::new(Path::new(word), format, None)),
        None if !tells_format(word) => Err(without_format(word, option).into()),
        _ => Ok(Spec::parse(word)?),
    }
}

/// A name that tells nothing: which option does.
fn without_format(word: &OsStr, option: &str) -> Error {
    let known = Format::ALL.iter().map(Format::to_string).collect::<Vec<_>>().join(", ");
    let problem = match Path::new(word).extension() {
        None => "the name has no extension to tell the file type".into(),
        Some(extension) => format!("unknown file type '.{}'", extension.to_string_lossy()),
    };
    let hint = format!("known are {known}; {option} says it where the name does not, as in {option} csv");
    ErrorKind::BadFile { path: word.into(), problem, hint: Some(hint.into()) }.into()
}

/// Whether a name has an extension that is known, with a colon behind it or without.
fn tells_format(word: &OsStr) -> bool {
    let extension = Path::new(word).extension().unwrap_or_default().to_string_lossy();
    let extension = extension.split(':').next().unwrap_or_default();
    Spec::parse(word).is_ok()
        || Format::ALL.iter().any(|format| extension.eq_ignore_ascii_case(format.extension()))
}

impl Source {
    pub fn open(input: &Input, options: &ReadOptions) -> Result<Self, Error> {
        let spec = &input.spec;
        let failed = |source| Error::from(ErrorKind::Io { path: spec.path().to_path_buf(), source });
        let bytes = if input.is_stream {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
            Some(bytes)
        } else if pipe::is_pipe(spec.path()) {
            Some(fs::read(spec.path()).map_err(failed)?)
        } else {
            None
        };
        let table = match (spec.format(), &bytes) {
            (Format::Csv, Some(bytes)) => NamedTable::parse(spec, bytes, options)?,
            (Format::Csv, None) => NamedTable::open(spec, options)?,
            _ => None,
        };
        Ok(Self { spec: spec.clone(), bytes, table })
    }

    /// What rows and columns are called.
    pub fn names(&self) -> Option<&Names> {
        self.table.as_ref().map(NamedTable::names)
    }

    pub fn read(&self, options: &ReadOptions) -> Result<Stack, Error> {
        match (&self.table, &self.bytes) {
            (Some(table), _) => table.read(options),
            (None, Some(bytes)) => files::read_stack_bytes(&self.spec, bytes, options),
            (None, None) => files::read_stack(&self.spec, options),
        }
    }

    /// What was read, in another element type. Text is read again rather than converted: what it leaves out depends on the type.
    pub fn read_as(&self, stack: Stack, dtype: DType, options: &ReadOptions) -> Result<Stack, Error> {
        if stack.dtype() == dtype {
            return Ok(stack);
        }
        if stack.stored().is_none() {
            return self.read(&ReadOptions { dtype: Some(dtype), ..options.clone() });
        }
        let extremes: Extremes = options.extremes;
        stack.convert(dtype, extremes).map_err(|error| match error.kind() {
            // As when the file is read in this type.
            ErrorKind::Conversion { .. } => ErrorKind::BadFile {
                path: self.spec.path().to_path_buf(),
                problem: error.to_string(),
                hint: error.kind().hint(),
            }
            .into(),
            _ => error,
        })
    }
}
