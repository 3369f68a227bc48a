//! `tilewright mul`: read, multiply, verify, write, report.

mod compute;
mod distributed;
mod entry;
pub mod inputs;
mod names;
pub mod outputs;
mod plan;
mod planned;
pub mod preview;
mod report;
mod resolved;
pub mod source;
mod types;

use crate::{
    args::{Common, Format, Mul},
    failure::Failure,
    interrupt, json,
    product::check_math,
    terminal::{self, Style},
};
use compute::Computed;
use entry::Entry;
use inputs::Inputs;
use outputs::Outputs;
use report::Summary;
use resolved::Resolved;
use std::io::Write;
use tilewright::Verification;

/// Terms of the largest product that is emulated: 4096 x 4096 x 4096 takes a quarter of an hour or more.
const MOST_EMULATED: f64 = 68_719_476_736.0;

pub fn run(args: &Mul, common: &Common) -> Result<(), Failure> {
    if let Some(shape) = args.ranks.shape()? {
        return distributed::run(args, shape, common);
    }
    let asked = Resolved::new(args, common)?;
    if args.plan {
        return plan::run(&asked, common);
    }
    interrupt::watch();

    let inputs = Inputs::read(&asked, common)?;
    check_math(asked.math, &asked.semiring, Some(inputs.dtype))?;
    // From here on the product ends by itself, and an emulated kernel says where it was.
    let deferred = interrupt::Deferred::new();
    if common.verbose {
        inputs.describe();
    }
    // What makes no sense is said before anything is computed.
    inputs.first(&asked)?;
    let place = entry::place(&asked, &inputs)?;
    let result_type = asked.semiring.output_or(inputs.dtype, asked.result_type)?;
    asked.outputs.check_writable(result_type, inputs.shapes.result.len())?;
    asked.outputs.say_replaced(common, asked.inputs());

    let computed = compute::run(&inputs, &asked, common, deferred)?;
    if let Some(report) = computed.report.as_ref().filter(|report| common.verbose && !report.why.is_empty()) {
        terminal::say(Style::Note, report.backend.name(), &report.why.to_string());
    }
    conclude(&asked, common, &inputs, &computed, place)
}

/// Verifies, writes and reports what was computed.
fn conclude(
    asked: &Resolved,
    common: &Common,
    inputs: &Inputs,
    computed: &Computed,
    place: Option<(usize, usize)>,
) -> Result<(), Failure> {
    let (outputs, extremes) = (&asked.outputs, asked.semiring.extremes());
    let verified = if asked.is_verified { compute::verify(inputs, asked, computed)? } else { None };
    let failed = verified.as_ref().filter(|v| !v.passed);
    // A result that failed its check replaces nothing.
    let write_seconds = match failed {
        None => outputs.write(computed, &inputs.shapes.result, extremes, &inputs.named)?,
        Some(_) => 0.0,
    };

    let mut summary = Summary::new(asked, inputs, computed, verified.as_ref(), write_seconds);
    summary.entry = place.map(|place| Entry::new(asked, inputs, computed, place)).transpose()?.flatten();
    match (common.format, &summary.entry) {
        (Format::Json, _) => json::print(&summary)?,
        (_, Some(entry)) => {
            writeln!(terminal::stdout(), "{}", entry.line())?;
            terminal::note(common, "done", &summary.line());
        }
        _ if outputs.is_empty() || (outputs.leave_c() && !common.quiet) => {
            summary.print_table()?;
            preview::print(computed.c.as_ref(), extremes, inputs.named.c.as_ref())?;
        }
        _ if common.quiet => {}
        _ => terminal::say(Style::Note, "done", &summary.line()),
    }
    failed.map_or(Ok(()), |v| Err(disagreement(v, outputs)))
}

fn disagreement(v: &Verification, outputs: &Outputs) -> Failure {
    let what = match &v.mismatch {
        Some(m) => {
            let (matrix, row, col) = (m.matrix, m.row, m.col);
            format!("{matrix}[{row}, {col}] is {} but the definition gives {}", m.found, m.expected)
        }
        None => "the result differs from the definition".into(),
    };
    let fate = if outputs.is_empty() { "" } else { "; nothing was written" };
    let hint = format!("this is a fault of Tilewright or of the machine: see `tilewright doctor`{fate}");
    Failure::Check { what, hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use tilewright::Matrix;

    #[test]
    fn a_wrong_result_is_reported_and_not_written() {
        let desk = tempfile::tempdir().unwrap();
        let file = |name: &str| desk.path().join(name).to_string_lossy().into_owned();
        std::fs::write(file("a.csv"), "1,2\n3,4\n").unwrap();
        std::fs::write(file("c.csv"), "old\n").unwrap();
        let words = ["tilewright", "mul", &file("a.csv"), &file("a.csv"), "-o", &file("c.csv"), "--verify"];
        let cli = Cli::try_parse_from(words).unwrap();
        let Command::Mul(args) = cli.command else { panic!("{:?}", cli.command) };

        let asked = Resolved::new(&args, &cli.common).unwrap();
        let inputs = Inputs::read(&asked, &cli.common).unwrap();
        let mut computed = compute::run(&inputs, &asked, &cli.common, interrupt::Deferred::new()).unwrap();
        computed.c = Matrix::filled(2, 2, 7i64).unwrap().into();
        match conclude(&asked, &cli.common, &inputs, &computed, None) {
            Err(Failure::Check { what, hint }) => {
                assert_eq!(what, "C[0, 1] is 7 but the definition gives 10");
                assert!(hint.contains("nothing was written"));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(std::fs::read_to_string(file("c.csv")).unwrap(), "old\n");
    }
}
