//! Where a matrix comes from: a file, or a pipe, which gives its bytes once.

use crate::pipe::is_pipe;
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
        let bytes = (is_text(&spec) && is_pipe(spec.path())).then(read).transpose()?;
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
