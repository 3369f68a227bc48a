//! Completions and manual pages, made from the definition of the command line.

mod man;

pub use man::man;

use crate::{args, failure::Failure};
use clap::Command;
use clap_complete::env::{CompleteEnv, Shells};
use std::{env, ffi::OsString, io::Write};
use tilewright::ErrorKind;

/// Set by a shell that asks for completions, to its name.
const VARIABLE: &str = "TILEWRIGHT_COMPLETE";
const NAME: &str = "tilewright";

/// Answers a shell that asks for completions, and ends the process; does nothing in any other run.
pub fn complete() {
    CompleteEnv::with_factory(completed_command).var(VARIABLE).bin(NAME).completer(NAME).complete();
}

/// Prints the lines with which a shell learns to ask.
pub fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let shells = Shells::builtins();
    let name = shell.to_string();
    let completer = shells.completer(&name).ok_or_else(|| {
        let (what, why, hint) = (format!("completion in {name}"), String::new(), "".into());
        Failure::Engine(ErrorKind::Unsupported { what, why, hint }.into())
    })?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, NAME, NAME, NAME, &mut script)?;
    Ok(std::io::stdout().lock().write_all(&script)?)
}

/// The command line as it is completed: an empty word is a file, a name or a subcommand; options show once a dash is there.
fn completed_command() -> Command {
    let command = args::command();
    if current_word().is_some_and(|word| word.is_empty()) { without_options(command) } else { command }
}

fn without_options(command: Command) -> Command {
    let command = command.mut_args(|arg| if arg.is_positional() { arg } else { arg.hide(true) });
    command.disable_help_flag(true).disable_version_flag(true).mut_subcommands(without_options)
}

/// The word that is being completed: shells give all words behind `--`, and which of them it is unless it is the last.
fn current_word() -> Option<OsString> {
    let words: Vec<OsString> = env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let index = env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse().ok());
    let last = words.len().checked_sub(1)?;
    // A shell that has no word yet gives none.
    Some(words.get(index.unwrap_or(last)).cloned().unwrap_or_default())
}
