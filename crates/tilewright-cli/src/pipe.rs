//! Pipes and other devices, which give their bytes once.

use crate::failure::Failure;
use std::{fs, path::Path};
use tilewright::files;

/// Whether it is one.
pub fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Refuses one pipe for two inputs: the second would wait for ever.
pub fn check(inputs: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    let pipes = inputs.iter().filter_map(|&(name, path)| Some((name, path.filter(|path| is_pipe(path))?)));
    let pipes: Vec<_> = pipes.collect();
    for (i, (first, path)) in pipes.iter().enumerate() {
        let again = pipes[i + 1..].iter().find(|(_, other)| files::is_same_file(path, other));
        if let Some((second, _)) = again {
            let what = format!("{first} and {second} would both be read from the pipe {}", path.display());
            return Err(Failure::usage(what, "a pipe can be read once: save it to a file first"));
        }
    }
    Ok(())
}
