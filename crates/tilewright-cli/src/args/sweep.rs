//! `--sweep PARAMETER=VALUES`.

use super::occupancy::bytes;
use std::{ops::RangeInclusive, str::FromStr};
use tilewright_arch::{ComputeCapability, Limits};

/// What a sweep changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    ComputeCapability,
    Threads,
    Registers,
    StaticSharedMemory,
    DynamicSharedMemory,
    Barriers,
    Cluster,
    Carveout,
}

impl Parameter {
    pub const ALL: [Self; 8] = [
        Self::ComputeCapability,
        Self::Threads,
        Self::Registers,
        Self::StaticSharedMemory,
        Self::DynamicSharedMemory,
        Self::Barriers,
        Self::Cluster,
        Self::Carveout,
    ];

    /// As in the option of the same meaning.
    pub fn name(self) -> &'static str {
        match self {
            Self::ComputeCapability => "cc",
            Self::Threads => "threads",
            Self::Registers => "regs",
            Self::StaticSharedMemory => "smem",
            Self::DynamicSharedMemory => "dynamic-smem",
            Self::Barriers => "barriers",
            Self::Cluster => "cluster",
            Self::Carveout => "carveout",
        }
    }

    /// What makes sense at all; what a GPU admits is less.
    fn range(self) -> RangeInclusive<u32> {
        match self {
            Self::Threads | Self::Cluster => 1..=u32::MAX,
            Self::Carveout => 0..=100,
            _ => 0..=u32::MAX,
        }
    }
}

/// A parameter and the values it takes; compute capabilities as in `sm_86`: 86.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    pub parameter: Parameter,
    pub values: Vec<u32>,
}

/// More values than this are a slip of the pen.
pub const MOST_ROWS: usize = 1_000_000;

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, values) =
            text.split_once('=').ok_or("expected PARAMETER=VALUES, as in threads=32..1024:32")?;
        let known = || Parameter::ALL.map(Parameter::name).join(", ");
        let parameter = Parameter::ALL.into_iter().find(|p| p.name() == name);
        let parameter =
            parameter.ok_or_else(|| format!("unknown parameter '{name}'; known are {}", known()))?;
        let values = match parameter {
            Parameter::ComputeCapability => capabilities(values)?,
            Parameter::StaticSharedMemory | Parameter::DynamicSharedMemory => numbers(values, bytes)?,
            _ => numbers(values, |word| word.parse().map_err(|_| format!("'{word}' is no whole number")))?,
        };
        let range = parameter.range();
        match values.iter().find(|value| !range.contains(value)) {
            Some(value) => {
                let (least, most) = (range.start(), range.end());
                Err(format!("{name} cannot be {value}: it is a number from {least} to {most}"))
            }
            None => Ok(Self { parameter, values }),
        }
    }
}

fn capabilities(text: &str) -> Result<Vec<u32>, String> {
    if text == "all" {
        return Ok(Limits::ALL.iter().map(|limits| limits.compute_capability.number()).collect());
    }
    let number = |word: &str| {
        let capability: ComputeCapability = word.parse().map_err(|e| format!("{e}"))?;
        Limits::of(capability).map(|limits| limits.compute_capability.number()).map_err(|e| e.to_string())
    };
    text.split(',').map(number).collect()
}

/// `1,2,8..32:8`.
fn numbers(text: &str, number: impl Fn(&str) -> Result<u32, String>) -> Result<Vec<u32>, String> {
    let mut values = Vec::new();
    for part in text.split(',') {
        let Some((first, rest)) = part.split_once("..") else {
            values.push(number(part)?);
            continue;
        };
        let (last, step) = rest.split_once(':').unwrap_or((rest, "1"));
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if step == 0 || first > last {
            return Err(format!("'{part}' has no values: the range must ascend, with a step of 1 or more"));
        }
        if ((last - first) / step) as usize >= MOST_ROWS {
            return Err(format!("'{part}' has more than {MOST_ROWS} values"));
        }
        values.extend((first..=last).step_by(step as usize));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_lists_and_ranges() {
        let values = |text: &str| text.parse::<Sweep>().unwrap().values;
        assert_eq!(values("threads=32..128:32"), [32, 64, 96, 128]);
        assert_eq!(values("regs=16,20..22,255"), [16, 20, 21, 22, 255]);
        assert_eq!(values("smem=0..2K:1K"), [0, 1024, 2048]);
        assert_eq!(values("cc=8.6,sm_90"), [86, 90]);
        assert_eq!(values("cc=all").len(), Limits::ALL.len());
        // The end is not reached exactly.
        assert_eq!(values("threads=1..10:4"), [1, 5, 9]);
    }

    #[test]
    fn what_is_no_sweep_is_refused_by_name() {
        for (text, part) in [
            ("threads", "expected PARAMETER=VALUES"),
            ("thread=1", "unknown parameter 'thread'; known are cc, threads"),
            ("threads=", "'' is no whole number"),
            ("threads=1..", "'' is no whole number"),
            ("threads=9..1", "'9..1' has no values"),
            ("threads=1..9:0", "has no values"),
            ("regs=-1", "'-1' is no whole number"),
            ("smem=0..4294967295", "more than 1000000 values"),
            ("threads=0..64:32", "threads cannot be 0: it is a number from 1"),
            ("carveout=50,101", "carveout cannot be 101: it is a number from 0 to 100"),
            ("cc=3.5", "compute capability 3.5"),
            ("cc=x", "\"x\" is not a compute capability"),
        ] {
            let error = text.parse::<Sweep>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
