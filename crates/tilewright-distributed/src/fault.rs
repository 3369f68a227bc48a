//! The error of one rank, told to all others.

use crate::group::Group;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use tilewright::{Error, ErrorKind, SemiringId, Value};

/// What a rank says of its error.
#[derive(Serialize, Deserialize)]
struct Told {
    rank: usize,
    host: String,
    text: String,
    hint: Option<String>,
    /// A file that is bad, and what is wrong with it.
    file: Option<(PathBuf, String)>,
    cycle: Option<Cycle>,
}

/// A cycle that makes paths better.
#[derive(Serialize, Deserialize)]
struct Cycle {
    semiring: String,
    vertices: Vec<usize>,
    /// The bits of a float, or an integer.
    is_float: bool,
    weight: i64,
}

pub(crate) fn agree<T>(group: &dyn Group, mine: Result<T, Error>, doing: &str) -> Result<T, Error> {
    if group.size() == 1 {
        return mine;
    }
    let told = mine.as_ref().err().map(|error| encode(group.rank(), error));
    let len = told.as_ref().map_or(0, Vec::len) as u64;
    let lens = group.exchange(&len.to_le_bytes())?;
    let failed = lens.chunks(size_of::<u64>()).position(|len| len.iter().any(|&byte| byte != 0));
    let Some(failed) = failed else { return mine };
    let told = group.tell(told.as_deref().unwrap_or_default(), failed)?;
    Err(decode(&told, doing))
}

/// The name of this machine.
pub(crate) fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("HOSTNAME").ok()).or_else(|| std::env::var("COMPUTERNAME").ok());
    name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or("this host".into())
}

/// A rank that failed here, for the error that names it.
pub(crate) fn failed(doing: &str, rank: usize, text: impl Into<String>) -> Error {
    of_rank(doing, rank, &host(), text.into(), String::new())
}

/// As a device's: `DOING on HOST: rank (RANK): TEXT`.
fn of_rank(doing: &str, rank: usize, host: &str, text: String, hint: String) -> Error {
    let (doing, number) = (format!("{doing} on {host}"), i32::try_from(rank).unwrap_or(i32::MAX));
    ErrorKind::Device { doing, name: "rank".to_owned(), number, text, hint: hint.into() }.into()
}

fn encode(rank: usize, error: &Error) -> Vec<u8> {
    let mut told =
        Told { rank, host: host(), text: error.to_string(), hint: error.hint(), file: None, cycle: None };
    match error.kind() {
        ErrorKind::BadFile { path, problem, .. } => told.file = Some((path.clone(), problem.clone())),
        ErrorKind::NegativeCycle { semiring, cycle, weight } => {
            let (is_float, weight) = match *weight {
                Value::Float(x) => (true, x.to_bits() as i64),
                Value::Int(x) => (false, x),
                other => (false, i64::from(other.to_f64() != 0.0)),
            };
            let (semiring, vertices) = ((*semiring).to_owned(), cycle.clone());
            told.cycle = Some(Cycle { semiring, vertices, is_float, weight });
        }
        _ => {}
    }
    // A few texts and numbers have a form in JSON.
    serde_json::to_vec(&told).unwrap_or_else(|error| error.to_string().into_bytes())
}

fn decode(told: &[u8], doing: &str) -> Error {
    let Ok(Told { rank, host, text, hint, file, cycle }) = serde_json::from_slice(told) else {
        return failed(doing, 0, String::from_utf8_lossy(told));
    };
    let hint = hint.unwrap_or_default();
    let cycle = cycle.and_then(|cycle| Some((cycle.semiring.parse::<SemiringId>().ok()?, cycle)));
    if let Some((semiring, Cycle { vertices, is_float, weight, .. })) = cycle {
        let weight = if is_float { Value::Float(f64::from_bits(weight as u64)) } else { Value::Int(weight) };
        return ErrorKind::NegativeCycle { semiring: semiring.name(), cycle: vertices, weight }.into();
    }
    if let Some((path, problem)) = file {
        let hint = (!hint.is_empty()).then(|| hint.into());
        return ErrorKind::BadFile { path, problem: format!("{problem} (rank {rank} on {host})"), hint }
            .into();
    }
    of_rank(doing, rank, &host, text, hint)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::threads;

    #[test]
    fn one_rank_s_error_is_everybody_s() {
        let told = threads::run(3, |group| {
            let mine = if group.rank() == 0 { Ok(()) } else { Err(failed("x", group.rank(), "disk full")) };
            group.agree(mine, "step 3 of 9").unwrap_err().to_string()
        });
        assert!(told[0].starts_with("step 3 of 9 on ") && told[0].contains(": rank (1): "), "{told:?}");
        assert!(told[0].ends_with("disk full") && told.iter().all(|text| *text == told[0]), "{told:?}");
    }

    #[test]
    fn cycles_and_bad_files_stay_what_they_are() {
        let cycle =
            ErrorKind::NegativeCycle { semiring: "min-plus", cycle: vec![4, 7], weight: Value::Float(-0.5) };
        let bad = ErrorKind::BadFile { path: "a.npy".into(), problem: "short".into(), hint: None };
        for (kind, code, text) in [
            (cycle, "negative-cycle", "4 -> 7 -> 4 has weight -0.5"),
            (bad, "bad-file", "a.npy: short (rank 2 on"),
        ] {
            let error = decode(&encode(2, &kind.into()), "step");
            assert_eq!(error.code(), code);
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
