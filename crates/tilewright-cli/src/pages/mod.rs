//! Completions and manual pages, made from the definition of the command line.

use crate::{args::Cli, failure::Failure};
use clap::CommandFactory;
use std::{io::Write, path::Path};
use tilewright::ErrorKind;

pub fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    // Into memory first: the generator panics when a pipe closes early.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tilewright", &mut script);
    Ok(std::io::stdout().lock().write_all(&script)?)
}

pub fn man(dir: Option<&Path>) -> Result<(), Failure> {
    let Some(dir) = dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        return Ok(std::io::stdout().lock().write_all(&page)?);
    };
    let write = || {
        std::fs::create_dir_all(dir)?;
        clap_mangen::generate_to(Cli::command(), dir)
    };
    write()
        .map_err(|source| tilewright::Error::from(ErrorKind::Io { path: dir.to_path_buf(), source }).into())
}
