//! `--out`, `--expect` and `--values`: what becomes of the arrays after the launch.

use super::arrays::{self, Arrays};
use crate::{
    args::{Common, Explain},
    failure::Failure,
    terminal,
};
use tilewright::files::{Spec, is_same_file};
use tilewright_explain::{Array, Case, Expected, Explained, Explanation, Results};

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

    /// What came out of a kernel.
    pub fn results(&self, explained: &Explained) -> Result<Results, Failure> {
        Ok(self.expected.results(explained)?)
    }

    /// Writes the files, unless the launch failed.
    pub fn write(&self, explained: &Explained, common: &Common) -> Result<(), Failure> {
        if !explained.is_clean {
            let kept: Vec<String> = self.outputs.iter().map(|(_, spec)| spec.to_string()).collect();
            if !kept.is_empty() {
                let why = match explained.explanation.is_only_unfinished() {
                    true => "the launch is not finished",
                    false => "the launch had errors",
                };
                let what = format!("{} not written: {why}", kept.join(", "));
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
}

/// An error where a kernel is wrong, is not finished, or gives what is not expected; the details have been printed.
pub fn check(all: &[&Explained]) -> Result<(), Failure> {
    let names = |wanted: fn(&Explanation) -> bool| {
        let found = all.iter().map(|explained| &explained.explanation).filter(|e| wanted(e));
        found.map(|e| e.kernel.as_str()).collect::<Vec<_>>().join(" and in ")
    };
    let failed = names(|e| e.has_errors() && !e.is_only_unfinished());
    if !failed.is_empty() {
        let what = format!("errors were found in {failed}");
        return Err(Failure::Check { what, hint: "see the findings above".into() });
    }
    let unfinished =
        all.iter().find_map(|one| Some((&one.explanation.kernel, one.explanation.unfinished.as_ref()?)));
    if let Some((kernel, unfinished)) = unfinished {
        let what = format!("{kernel} is not finished: {}", unfinished.describe());
        return Err(Failure::Check { what, hint: unfinished.hint.clone() });
    }
    let wrong = all.iter().flat_map(|explained| explained.explanation.results.wrong());
    let wrong: Vec<&str> = wrong.map(|comparison| comparison.name.as_str()).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let what = format!("not as expected: {}", wrong.join(", "));
    let hint = "--tolerance allows rounding; --out writes what the kernel made".into();
    Err(Failure::Check { what, hint })
}
