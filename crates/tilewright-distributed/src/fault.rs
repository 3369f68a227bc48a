//! The error of one rank, told to all others.

use crate::group::Group;
use serde::{Deserialize, Serialize};
use std::{io, path::PathBuf};
use tilewright::{DType, Error, ErrorKind, SemiringId, Value};

/// What a rank says of its error.
#[derive(Serialize, Deserialize)]
struct Told {
    rank: usize,
    host: String,
    text: String,
    hint: Option<String>,
    kept: Option<Kept>,
}

/// Errors that stay what they are, so that the exit code of a command does not depend on the number of ranks.
#[derive(Serialize, Deserialize)]
enum Kept {
    /// A file that is bad, and what is wrong with it.
    File {
        path: PathBuf,
        problem: String,
    },
    /// With the number that the system gave it.
    Io {
        path: PathBuf,
        number: Option<i32>,
        text: String,
    },
    /// A cycle that makes paths better: its weight is an integer, or the bits of a float.
    Cycle {
        semiring: String,
        vertices: Vec<usize>,
        is_float: bool,
        weight: i64,
    },
    Outside {
        operand: String,
        row: usize,
        col: usize,
        value: String,
        semiring: String,
        accepts: String,
    },
    Conversion {
        row: usize,
        col: usize,
        value: String,
        to: String,
    },
    Unsupported {
        what: String,
        why: String,
    },
}

pub(crate) fn agree<T>(group: &dyn Group, mine: Result<T, Error>, doing: &str) -> Result<T, Error> {
    if group.size() == 1 {
        return mine;
    }
    group.note(doing, mine.as_ref().err());
    let told = mine.as_ref().err().map(|error| encode(group.rank(), error));
    let len = told.as_ref().map_or(0, Vec::len) as u64;
    let lens = group.exchange(&len.to_le_bytes())?;
    let failed = lens.chunks(size_of::<u64>()).position(|len| len.iter().any(|&byte| byte != 0));
    let Some(failed) = failed else { return mine };
    let told = group.tell(told.as_deref().unwrap_or_default(), failed)?;
    group.note(doing, None);
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

/// The error of a rank as all others would hear it.
pub(crate) fn copy(rank: usize, error: &Error, doing: &str) -> Error {
    decode(&encode(rank, error), doing)
}

fn encode(rank: usize, error: &Error) -> Vec<u8> {
    let kept = kept(error.kind());
    let told = Told { rank, host: host(), text: error.to_string(), hint: error.hint(), kept };
    // A few texts and numbers have a form in JSON.
    serde_json::to_vec(&told).unwrap_or_else(|error| error.to_string().into_bytes())
}

fn kept(kind: &ErrorKind) -> Option<Kept> {
    Some(match kind {
        ErrorKind::BadFile { path, problem, .. } => {
            Kept::File { path: path.clone(), problem: problem.clone() }
        }
        ErrorKind::Io { path, source } => {
            Kept::Io { path: path.clone(), number: source.raw_os_error(), text: source.to_string() }
        }
        ErrorKind::NegativeCycle { semiring, cycle, weight } => {
            let (is_float, weight) = match *weight {
                Value::Float(x) => (true, x.to_bits() as i64),
                Value::Int(x) => (false, x),
                other => (false, i64::from(other.to_f64() != 0.0)),
            };
            Kept::Cycle { semiring: (*semiring).to_owned(), vertices: cycle.clone(), is_float, weight }
        }
        ErrorKind::OutsideDomain { operand, row, col, value, semiring, accepts } => Kept::Outside {
            operand: (*operand).to_owned(),
            row: *row,
            col: *col,
            value: value.clone(),
            semiring: (*semiring).to_owned(),
            accepts: (*accepts).to_owned(),
        },
        ErrorKind::Conversion { row, col, value, to } => {
            Kept::Conversion { row: *row, col: *col, value: value.clone(), to: to.name().to_owned() }
        }
        ErrorKind::Unsupported { what, why, .. } => {
            Kept::Unsupported { what: what.clone(), why: why.clone() }
        }
        _ => return None,
    })
}

fn decode(told: &[u8], doing: &str) -> Error {
    let Ok(Told { rank, host, text, hint, kept }) = serde_json::from_slice(told) else {
        return failed(doing, 0, String::from_utf8_lossy(told));
    };
    let hint = hint.unwrap_or_default();
    let place = format!(" (rank {rank} on {host})");
    match kept.and_then(|kept| again(kept, &place, &hint)) {
        Some(kind) => kind.into(),
        None => of_rank(doing, rank, &host, text, hint),
    }
}

/// The error that was kept, with the rank that has it where its text has room for that.
fn again(kept: Kept, place: &str, hint: &str) -> Option<ErrorKind> {
    Some(match kept {
        Kept::File { path, problem } => {
            let hint = (!hint.is_empty()).then(|| hint.to_owned().into());
            ErrorKind::BadFile { path, problem: problem + place, hint }
        }
        Kept::Io { path, number, text } => {
            let kind =
                number.map_or(io::ErrorKind::Other, |number| io::Error::from_raw_os_error(number).kind());
            ErrorKind::Io { path, source: io::Error::new(kind, text + place) }
        }
        Kept::Cycle { semiring, vertices, is_float, weight } => {
            let semiring = semiring.parse::<SemiringId>().ok()?.name();
            let weight =
                if is_float { Value::Float(f64::from_bits(weight as u64)) } else { Value::Int(weight) };
            ErrorKind::NegativeCycle { semiring, cycle: vertices, weight }
        }
        // Such an error ends what it is about: a few bytes may stay.
        Kept::Outside { operand, row, col, value, semiring, accepts } => ErrorKind::OutsideDomain {
            operand: operand.leak(),
            row,
            col,
            value,
            semiring: semiring.leak(),
            accepts: accepts.leak(),
        },
        Kept::Conversion { row, col, value, to } => {
            ErrorKind::Conversion { row, col, value, to: to.parse::<DType>().ok()? }
        }
        Kept::Unsupported { what, why } => ErrorKind::Unsupported { what, why, hint: hint.to_owned().into() },
    })
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
    fn errors_stay_what_they_are() {
        let cycle =
            ErrorKind::NegativeCycle { semiring: "min-plus", cycle: vec![4, 7], weight: Value::Float(-0.5) };
        let bad = ErrorKind::BadFile { path: "a.npy".into(), problem: "short".into(), hint: None };
        let missing =
            ErrorKind::Io { path: "b.npy".into(), source: io::Error::from(io::ErrorKind::NotFound) };
        let outside = ErrorKind::OutsideDomain {
            operand: "W",
            row: 8,
            col: 2,
            value: "-1".into(),
            semiring: "max-times",
            accepts: "numbers",
        };
        let conversion = ErrorKind::Conversion { row: 1, col: 2, value: "0.5".into(), to: DType::I32 };
        let unsupported =
            ErrorKind::Unsupported { what: "this".into(), why: "that".into(), hint: "other".into() };
        for (kind, code, text) in [
            (missing, "io", "(rank 2 on"),
            (outside, "outside-domain", "W[8, 2] = -1 is outside what max-times accepts (numbers)"),
            (conversion, "conversion", "element [1, 2] = 0.5 cannot be represented as i32"),
            (unsupported, "unsupported", "this is not supported: that"),
            (cycle, "negative-cycle", "4 -> 7 -> 4 has weight -0.5"),
            (bad, "bad-file", "a.npy: short (rank 2 on"),
        ] {
            let error = decode(&encode(2, &kind.into()), "step");
            assert_eq!(error.code(), code);
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
