//! The command `tilewright`: matrix products over any semiring, from files to files.

mod args;
mod doctor;
mod failure;
mod interrupt;
mod mul;
mod pages;
mod progress;
mod terminal;

use args::{Cli, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(message) => {
            // Help and version come this way too, with code 0.
            let code = message.exit_code();
            return match message.print() {
                Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Failure::from(e).report(),
                _ => ExitCode::from(u8::try_from(code).unwrap_or(failure::USAGE)),
            };
        }
    };
    terminal::choose_color(cli.common.color);
    let result = run(cli);
    interrupt::settle();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Mul(args) => mul::run(&args, &cli.common),
        Command::Doctor => doctor::run(&cli.common),
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { dir } => pages::man(dir.as_deref()),
    }
}
