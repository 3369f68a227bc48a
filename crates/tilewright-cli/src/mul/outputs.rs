//! Where the result goes.

use super::{
    compute::Computed,
    names::Named,
    source::{self, Input, STREAM},
};
use crate::{
    args::{Common, Format, Mul},
    failure::Failure,
    terminal,
};
use std::{
    ffi::OsString,
    io::{self, BufWriter, IsTerminal},
    path::Path,
    time::Instant,
};
use tilewright::{
    DType, DynMatrix, Error, Extremes, Matrix, NO_ARG,
    files::{self, Names, Spec, WriteOptions},
};

/// The files to write.
#[derive(Default)]
pub struct Outputs {
    c: Option<Target>,
    arg: Option<Spec>,
}

enum Target {
    File(Spec),
    /// On stdout, asked for by `-`: CSV, or what `--format-out` says.
    Stdout(Spec),
}

impl Outputs {
    pub fn parse(args: &Mul, common: &Common) -> Result<Self, Failure> {
        let c = match args.output.as_ref() {
            None => None,
            Some(name) if name == STREAM => Some(stdout(args)?),
            Some(name) => Some(Target::File(file(name, args)?)),
        };
        let arg = args.arg_out.as_ref().map(|name| file(name, args)).transpose()?;
        if matches!(c, Some(Target::Stdout(_))) && common.format == Format::Json {
            let what = "`-o -` and `--format json` both write to stdout";
            return Err(Failure::usage(what, "write the matrix to a file"));
        }
        if matches!(c, Some(Target::Stdout(_))) && args.from.is_some() {
            let what = "`-o -` and --from both write to stdout";
            return Err(Failure::usage(what, "write the matrix to a file"));
        }
        if let (Some(Target::File(c)), Some(arg)) = (&c, &arg)
            && files::is_same_file(c.path(), arg.path())
            && !are_two_members(c, arg)
        {
            let what = format!("-o and --arg-out both write to {}", c.path().display());
            let hint = "choose two files, or two names in a file: x.safetensors:c and x.safetensors:k";
            return Err(Failure::usage(what, hint));
        }
        Ok(Self { c, arg })
    }

    /// True when C goes nowhere unless it is shown.
    pub fn leave_c(&self) -> bool {
        self.c.is_none()
    }

    /// True when nothing is written.
    pub fn is_empty(&self) -> bool {
        self.c.is_none() && self.arg.is_none()
    }

    /// The file that C goes to.
    pub fn c(&self) -> Option<String> {
        match self.c.as_ref()? {
            Target::File(spec) => Some(spec.to_string()),
            Target::Stdout(_) => None,
        }
    }

    /// The file that the arg result goes to.
    pub fn arg(&self) -> Option<String> {
        self.arg.as_ref().map(Spec::to_string)
    }

    /// Refuses, before any work is done, what could not be written afterwards.
    pub fn check_writable(&self, dtype: DType, dimensions: usize) -> Result<(), Error> {
        if let Some(Target::File(spec)) = &self.c {
            files::check_stack_writable(spec, dtype, dimensions)?;
        }
        if let Some(spec) = &self.arg {
            files::check_stack_writable(spec, DType::I64, dimensions)?;
        }
        Ok(())
    }

    /// Says so where an input is replaced.
    pub fn say_replaced<'a>(&self, common: &Common, inputs: impl Iterator<Item = &'a Input>) {
        let inputs: Vec<&Path> = inputs.map(|input| input.spec.path()).collect();
        let c = match &self.c {
            Some(Target::File(spec)) => Some(spec),
            _ => None,
        };
        for spec in c.into_iter().chain(&self.arg) {
            say_replaced(common, spec, &inputs);
        }
    }

    /// Writes everything; gives the seconds it took.
    pub fn write(
        &self,
        computed: &Computed,
        shape: &[usize],
        extremes: Extremes,
        named: &Named,
    ) -> Result<f64, Error> {
        let start = Instant::now();
        // Text shows "absent" as the infinity it stands for.
        let options = WriteOptions { extremes };
        let c = computed.c.as_ref();
        match &self.c {
            Some(Target::File(spec)) => match names(spec, named) {
                Some(names) => files::write_named(spec.path(), names, c, &options)?,
                None => files::write_stack(spec, c, shape, &options)?,
            },
            Some(Target::Stdout(spec)) => {
                let out = BufWriter::new(io::stdout().lock());
                match names(spec, named) {
                    Some(names) => files::write_named_to(out, names, c, &options)?,
                    None => files::write_stack_to(spec, out, c, shape, &options)?,
                }
            }
            None => {}
        }
        if let (Some(spec), Some(arg)) = (&self.arg, &computed.arg) {
            match (names(spec, named), &named.terms) {
                (Some(names), Some(terms)) => files::write_winners(spec.path(), names, terms, arg.as_ref())?,
                _ => files::write_stack(spec, winners(arg)?.as_ref(), shape, &WriteOptions::default())?,
            }
        }
        Ok(start.elapsed().as_secs_f64())
    }
}

/// Says so where a file is an input, too, and no member beside others.
pub fn say_replaced(common: &Common, spec: &Spec, inputs: &[&Path]) {
    let is_input = inputs.iter().any(|input| files::is_same_file(input, spec.path()));
    if is_input && spec.member().is_none() && spec.path().is_file() {
        let text = format!("{} is an input, and is replaced", spec.path().display());
        terminal::note(common, "output", &text);
    }
}

/// Names of C, where the file has a place for them.
fn names<'a>(spec: &Spec, named: &'a Named) -> Option<&'a Names> {
    named.c.as_ref().filter(|_| spec.format() == files::Format::Csv)
}

/// Where `-` writes to.
fn stdout(args: &Mul) -> Result<Target, Failure> {
    let format = args.format_out.unwrap_or(files::Format::Csv);
    if !matches!(format, files::Format::Csv | files::Format::Mtx) && io::stdout().is_terminal() {
        let what = format!("a {format} file is not for terminals");
        return Err(Failure::usage(what, "write it to a file or a pipe, or leave out --format-out"));
    }
    Ok(Target::Stdout(Spec::new("standard output", format, None)))
}

/// A file that is written. What has no extension, such as /dev/null, is what `--format-out` says.
fn file(name: &OsString, args: &Mul) -> Result<Spec, Failure> {
    // Whatever its elements are, nobody reads them.
    let nowhere = (name == "/dev/null").then_some(files::Format::Safetensors);
    source::spec(name, args.format_out.or(nowhere), "--format-out")
}

/// Whether both have names, in a file that keeps one when the other is written.
fn are_two_members(c: &Spec, arg: &Spec) -> bool {
    matches!((c.member(), arg.member()), (Some(c), Some(arg)) if c != arg)
}

/// The arg result as signed numbers, -1 for none: files have no 32-bit unsigned type of ours.
fn winners(arg: &Matrix<u32>) -> Result<DynMatrix, Error> {
    let view = arg.as_ref();
    let signed = |k| if k == NO_ARG { -1 } else { i64::from(k) };
    let m = Matrix::from_fn(arg.rows(), arg.cols(), |i, j| view.get(i, j).map_or(-1, signed))?;
    Ok(m.into())
}
