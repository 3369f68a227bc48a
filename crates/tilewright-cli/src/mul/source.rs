//! Where a matrix comes from: a file, or a pipe, which gives its bytes once.

use crate::failure::Failure;
use std::fs;
use tilewright::{
    Error, ErrorKind,
    files::{self, Format, Input, ReadOptions, Spec},
};

/// What can be read again in another element type.
pub struct Source {
    spec: Spec,
    /// Those of a text that comes through a pipe.
    bytes: Option<Vec<u8>>,
}

impl Source {
    pub fn open(spec: Spec) -> Result<Self, Error> {
        let read = || -> Result<_, Error> {
            let failed = |source| ErrorKind::Io { path: spec.path().to_path_buf(), source };
            Ok(fs::read(spec.path()).map_err(failed)?)
        };
        // Only text is read twice; see `Inputs::read`.
        let bytes = (is_text(&spec) && is_pipe(&spec)).then(read).transpose()?;
        Ok(Self { spec, bytes })
    }

    pub fn read(&self, options: &ReadOptions) -> Result<Input, Error> {
        match &self.bytes {
            Some(bytes) => Ok(files::read_bytes(&self.spec, bytes, options)?.into()),
            None => files::read(&self.spec, options),
        }
    }

    pub fn is_text(&self) -> bool {
        is_text(&self.spec)
    }
}

/// Whether the format remembers no element type.
pub fn is_text(spec: &Spec) -> bool {
    matches!(spec.format(), Format::Csv | Format::Mtx)
}

/// A pipe or another device.
fn is_pipe(spec: &Spec) -> bool {
    fs::metadata(spec.path()).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Refuses one pipe for two matrices: the second would wait for ever.
pub fn check_pipes(matrices: &[(&str, Option<&Spec>)]) -> Result<(), Failure> {
    let pipes = matrices.iter().filter_map(|&(name, spec)| Some((name, spec.filter(|spec| is_pipe(spec))?)));
    let pipes: Vec<_> = pipes.collect();
    for (i, (first, spec)) in pipes.iter().enumerate() {
        let again = pipes[i + 1..].iter().find(|(_, other)| files::is_same_file(spec.path(), other.path()));
        if let Some((second, _)) = again {
            let what =
                format!("{first} and {second} would both be read from the pipe {}", spec.path().display());
            return Err(Failure::usage(what, "a pipe can be read once: save the matrix to a file first"));
        }
    }
    Ok(())
}
