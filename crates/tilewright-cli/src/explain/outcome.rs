//! `--out`, `--expect` and `--values`: what becomes of the arrays after the launch.

use super::arrays::{self, Arrays};
use crate::{
    args::{Common, Explain},
    failure::Failure,
    terminal,
};
use tilewright::files::{Spec, is_same_file};
use tilewright_explain::{Array, Case, Expected, Explained, Results};

/// What the command line asks for.
pub struct Wanted {
    expected: Expected,
    /// Arrays by their names, and where they go.
    outputs: Vec<(String, Spec)>,
}

impl Wanted {
    pub fn of(args: &Explain, arrays: &Arrays) -> Result<Self, Failure> {
        let load = |name: &str| arrays.load(name);
        let expected = args.expected.iter().map(|(name, text)| Array::given(name, text, &load));
        let expected = Expected {
            arrays: expected.collect::<Result<_, _>>()?,
            tolerance: args.tolerance.unwrap_or_default(),
            values: args.values.clone(),
        };
        let outputs = args.outputs.iter().map(|(name, file)| Ok((name.clone(), Spec::parse(file)?)));
        let outputs: Vec<(String, Spec)> = outputs.collect::<Result<_, Failure>>()?;
        for (i, (name, spec)) in outputs.iter().enumerate() {
            let again = |(_, other): &&(String, Spec)| {
                is_same_file(spec.path(), other.path())
                    && (spec.member().is_none() || spec.member() == other.member())
            };
            if let Some((other, _)) = outputs[i + 1..].iter().find(again) {
                let what = format!("--out {name} and --out {other} both write to {spec}");
                return Err(Failure::usage(
                    what,
                    "choose two files, or two names in a file: x.npz:a and x.npz:b",
                ));
            }
        }
        Ok(Self { expected, outputs })
    }

    /// Refuses, before anything runs, what the kernel has no arrays for.
    pub fn check_before(&self, case: &Case) -> Result<(), Failure> {
        self.expected.check(&case.arrays)?;
        for (name, spec) in &self.outputs {
            arrays::check_writable(spec, Array::find(&case.arrays, name)?)?;
        }
        Ok(())
    }

    /// What came out of each kernel; nothing for one that failed, whose findings say why.
    pub fn results(&self, all: &[&Explained]) -> Vec<Results> {
        let clean = all.iter().map(|explained| self.expected.results(explained).unwrap_or_default());
        clean.collect()
    }

    /// Writes the files, unless the launch failed.
    pub fn write(&self, explained: &Explained, common: &Common) -> Result<(), Failure> {
        if !explained.is_clean {
            let kept: Vec<String> = self.outputs.iter().map(|(_, spec)| spec.to_string()).collect();
            if !kept.is_empty() {
                let what = format!("{} not written: the launch had errors", kept.join(", "));
                terminal::note(common, "out", &what);
            }
            return Ok(());
        }
        for (name, spec) in &self.outputs {
            arrays::write(spec, Array::find(&explained.arrays, name)?)?;
            terminal::note(common, "out", &format!("wrote {spec}"));
        }
        Ok(())
    }

    /// An error where an array is not what it should be; the details have been printed.
    pub fn check(results: &[Results]) -> Result<(), Failure> {
        let all = results.iter().flat_map(|results| &results.comparisons);
        let wrong: Vec<&str> = all.filter(|one| !one.is_same()).map(|one| one.name.as_str()).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        let what = format!("not as expected: {}", wrong.join(", "));
        let hint = "--tolerance allows rounding; --out writes what the kernel made".into();
        Err(Failure::Check { what, hint })
    }
}
