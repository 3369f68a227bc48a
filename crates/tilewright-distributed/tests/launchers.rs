//! Launchers of MPI that tests start ranks with; the command's tests have this file, too.
//!
//! `TILEWRIGHT_TEST_MPI` names folders with a `mpiexec`, as PATH does; without it there is nothing to test. `TILEWRIGHT_REQUIRE_MPI=1` makes a missing one a failure.

use std::{env, path::PathBuf, process::Command};

/// Each `mpiexec` that is here.
pub fn launchers() -> Vec<PathBuf> {
    let folders = env::var_os("TILEWRIGHT_TEST_MPI").unwrap_or_default();
    let found: Vec<_> = env::split_paths(&folders)
        .map(|folder| folder.join("mpiexec"))
        .filter(|path| path.exists())
        .collect();
    let is_required = env::var("TILEWRIGHT_REQUIRE_MPI").is_ok_and(|value| value == "1");
    assert!(
        !(is_required && found.is_empty()),
        "TILEWRIGHT_REQUIRE_MPI=1, and TILEWRIGHT_TEST_MPI names no mpiexec"
    );
    if found.is_empty() {
        eprintln!("skipped: TILEWRIGHT_TEST_MPI names no mpiexec");
    }
    found
}

/// Takes away what a launcher around these tests has said.
pub fn without_launcher(command: &mut Command) {
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let is_size = matches!(&*text, "PMI_SIZE" | "OMPI_COMM_WORLD_SIZE" | "WORLD_SIZE");
        if is_size || text.starts_with("SLURM_") {
            command.env_remove(&name);
        }
    }
}
