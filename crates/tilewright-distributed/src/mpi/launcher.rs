//! Whether the launcher that started this process belongs to the MPI that was found.

use tilewright::{Error, ErrorKind};

const OPEN_MPI: &str = "OMPI_COMM_WORLD_SIZE";

/// What launchers say of the number of ranks: the first that says something decides. Slurm counts within a step, which `srun` begins: an allocation alone starts no ranks.
const SIZES: &[(&str, &str)] = &[
    ("PMI_SIZE", "MPICH's or Intel's mpiexec"),
    (OPEN_MPI, "Open MPI's mpirun"),
    ("SLURM_STEP_NUM_TASKS", "Slurm"),
    ("WORLD_SIZE", "torchrun"),
];

/// Refuses a library that is none of Open MPI's, by its own words, where Open MPI's launcher has started this process.
pub(super) fn check_before(version: &str, library: &str) -> Result<(), Error> {
    before(version, library, |name| std::env::var(name).ok())
}

fn before(version: &str, library: &str, variable: impl Fn(&str) -> Option<String>) -> Result<(), Error> {
    match of_many(|name| variable(name).filter(|_| name == OPEN_MPI)) {
        Some(many) if !version.contains("Open MPI") => Err(refused(many, library, "belongs to another MPI")),
        _ => Ok(()),
    }
}

/// Refuses a world of one where the launcher started more: it belongs to another MPI.
pub(super) fn check(size: usize, library: &str) -> Result<(), Error> {
    found(size, library, |name| std::env::var(name).ok())
}

/// The launcher that says it started more than one rank.
pub(super) fn of_many(
    variable: impl Fn(&str) -> Option<String>,
) -> Option<(&'static str, &'static str, usize)> {
    let said = |&(name, launcher): &(&'static str, &'static str)| {
        let ranks: usize = variable(name)?.trim().parse().ok()?;
        Some((name, launcher, ranks))
    };
    SIZES.iter().find_map(said).filter(|&(_, _, ranks)| ranks > 1)
}

fn found(size: usize, library: &str, variable: impl Fn(&str) -> Option<String>) -> Result<(), Error> {
    let Some((name, launcher, ranks)) = of_many(variable).filter(|_| size == 1) else { return Ok(()) };
    Err(refused((name, launcher, ranks), library, "sees one"))
}

fn refused((name, launcher, ranks): (&str, &str, usize), library: &str, but: &str) -> Error {
    let why = format!("{launcher} started {ranks} ranks ({name}), but {library} {but}");
    let hint = format!(
        "start it with the mpiexec that belongs to {library}, or name the library of {launcher} with {}",
        super::VARIABLE
    );
    ErrorKind::Unavailable { what: "MPI", why, hint: hint.into() }.into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_launcher_of_another_mpi_is_refused_by_name() {
        let set = |name: &'static str| move |asked: &str| (asked == name).then(|| "4".to_owned());
        for &(name, launcher) in SIZES {
            let error = found(1, "libmpi.so.40", set(name)).unwrap_err();
            assert!(error.is_unavailable());
            let text = error.to_string();
            assert!(
                text.contains(launcher) && text.contains("4 ranks") && text.contains("libmpi.so.40"),
                "{text}"
            );
        }
        for (version, is_refused) in [("MPICH Version: 5.0.2", true), ("Open MPI v5.0.11", false)] {
            assert_eq!(before(version, "libmpi.so.12", set(OPEN_MPI)).is_err(), is_refused);
            assert!(before(version, "libmpi.so.12", set("PMI_SIZE")).is_ok());
        }
        assert!(found(4, "libmpi.so.40", set("PMI_SIZE")).is_ok());
        assert!(found(1, "libmpi.so.40", |_| Some("1".into())).is_ok());
        assert!(found(1, "libmpi.so.40", |_| None).is_ok());
    }

    #[test]
    fn the_first_launcher_that_says_something_decides() {
        let said = |known: &'static [(&'static str, &'static str)]| {
            let value = |asked: &str| known.iter().find(|(name, _)| *name == asked);
            of_many(|asked| value(asked).map(|(_, count)| (*count).to_owned())).map(|(_, _, ranks)| ranks)
        };
        assert_eq!(said(&[("PMI_SIZE", "1"), ("SLURM_NTASKS", "4"), ("SLURM_STEP_NUM_TASKS", "4")]), None);
        assert_eq!(said(&[("SLURM_NTASKS", "4")]), None);
        assert_eq!(said(&[("SLURM_NTASKS", "8"), ("SLURM_STEP_NUM_TASKS", "4")]), Some(4));
        assert_eq!(said(&[("WORLD_SIZE", "2"), (OPEN_MPI, "3")]), Some(3));
    }
}
