//! The command `tilewright`: matrix products over any semiring, from files to files.

mod args;
mod bench;
mod bounds;
mod bytes;
mod cache;
mod charts;
mod check;
mod common;
mod doctor;
mod explain;
mod failure;
mod gpus;
mod hints;
mod interrupt;
mod json;
mod kernels;
mod labels;
mod mul;
mod occupancy;
mod pages;
mod paths;
mod pipe;
mod product;
mod progress;
mod ranks;
mod refusal;
mod run;
mod styles;
mod terminal;
mod tune;
mod wrapping;

use args::{Cli, Command};
use clap::FromArgMatches;
use common::Format;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    pages::complete();
    let matches = args::command().try_get_matches();
    if let Ok(matches) = &matches {
        hints::choose_command(matches.subcommand_name());
    }
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(message) => return refusal::report(&message),
    };
    terminal::choose_color(cli.common.color);
    interrupt::fail_at_the_size_limit();
    let format = cli.common.format;
    let result = run(cli);
    interrupt::settle();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(format),
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    if cli.common.format == Format::Csv && !cli.command.prints_rows() {
        let what =
            "--format csv is for sweeps of `occupancy`, for `gpus` and `bench`, and for routes of `paths`";
        return Err(Failure::usage(
            what,
            "choose table or json; `mul` and `paths` write a matrix as csv with -o -",
        ));
    }
    match cli.command {
        Command::Explain(args) => explain::run(&args, &cli.common),
        Command::Run(args) => run::run(&args, &cli.common),
        Command::Check(args) => check::run(&args, &cli.common),
        Command::Occupancy(args) => occupancy::run(&args, &cli.common),
        Command::Gpus(args) => gpus::run(&args, &cli.common),
        Command::Kernels(args) => kernels::run(&args, &cli.common),
        Command::Bench(args) => bench::run(&args, &cli.common),
        Command::Tune(args) => tune::run(&args, &cli.common),
        Command::Mul(args) => mul::run(&args, &cli.common),
        Command::Paths(args) => paths::run(&args, &cli.common),
        Command::Doctor => doctor::run(&cli.common),
        Command::Cache { action } => cache::run(action, &cli.common),
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { dir } => pages::man(dir.as_deref()),
    }
}
