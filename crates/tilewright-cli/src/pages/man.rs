//! Manual pages. The synopsis is ours: it shows the values of options.

use crate::{args, failure::Failure};
use clap::{Arg, ArgAction, Command};
use clap_mangen::{
    Man,
    roff::{Inline, Roff, bold, italic, roman},
};
use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};
use tilewright::{Error, ErrorKind};

/// Prints the page of the whole command, or writes those of all commands to a directory.
pub fn man(dir: Option<&Path>) -> Result<(), Failure> {
    let mut command = args::command();
    command.build();
    let Some(dir) = dir else {
        return Ok(io::stdout().lock().write_all(&page(&command)?)?);
    };
    let failed = |path: &Path| {
        let path: PathBuf = path.into();
        move |source| Failure::from(Error::from(ErrorKind::Io { path, source }))
    };
    fs::create_dir_all(dir).map_err(failed(dir))?;
    for command in family(command) {
        let path = dir.join(format!("{}.1", file_name(&command)));
        let text = page(&command)?;
        fs::write(&path, text).map_err(failed(&path))?;
    }
    Ok(())
}

/// A command and those below it.
fn family(command: Command) -> Vec<Command> {
    let below: Vec<Command> = command.get_subcommands().filter(|c| c.get_name() != "help").cloned().collect();
    std::iter::once(command).chain(below.into_iter().flat_map(family)).collect()
}

/// `tilewright-mul`.
fn file_name(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    ragged().to_writer(&mut page)?;
    man.render_name_section(&mut page)?;
    synopsis(command).to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(text) = command.get_after_long_help().or(command.get_after_help()) {
        extra(&text.to_string()).to_writer(&mut page)?;
    }
    if command.get_version().is_some() {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

/// Lines end where words do, and no word is hyphenated: an option or a file name stays whole.
fn ragged() -> Roff {
    let mut roff = Roff::new();
    roff.control("ad", ["l"]);
    roff.control("nh", []);
    roff
}

/// What stands behind the options in `--help`. Lines that are indented there are examples or tables, and stay as they are.
fn extra(text: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXTRA"]);
    let mut is_kept = false;
    for line in text.lines() {
        let keeps = line.starts_with("  ") || is_kept && line.is_empty();
        if keeps != is_kept {
            roff.control(if keeps { "nf" } else { "fi" }, []);
            is_kept = keeps;
        }
        match line.trim_end() {
            "" => roff.control("PP", []),
            line => roff.text([roman(line)]),
        };
    }
    if is_kept {
        roff.control("fi", []);
    }
    roff
}

/// `tilewright mul [-o|--output C] ... A B`.
fn synopsis(command: &Command) -> Roff {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut line = vec![bold(name), roman(" ")];
    for option in command.get_opts().chain(flags(command)).filter(|arg| !arg.is_hide_set()) {
        line.extend(one_option(option));
    }
    for positional in command.get_positionals() {
        let (open, close) = if positional.is_required_set() { ("", " ") } else { ("[", "] ") };
        line.extend([roman(open), italic(value_names(positional)), roman(close)]);
    }
    if command.has_subcommands() {
        line.push(italic("COMMAND"));
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    roff.text(line);
    roff
}

/// Options without a value.
fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    let takes_none = |arg: &&Arg| !arg.is_positional() && !arg.get_action().takes_values();
    command.get_arguments().filter(takes_none)
}

fn one_option(option: &Arg) -> Vec<Inline> {
    let short = option.get_short().map(|short| format!("-{short}"));
    let long = option.get_long().map(|long| format!("--{long}"));
    let (open, close) = if option.is_required_set() { ("", "") } else { ("[", "]") };
    let repeated = if matches!(option.get_action(), ArgAction::Append) { "..." } else { "" };
    let mut line = vec![roman(open)];
    for (number, name) in short.into_iter().chain(long).enumerate() {
        line.extend([roman(if number > 0 { "|" } else { "" }), bold(name)]);
    }
    if option.get_action().takes_values() {
        line.extend([roman(" "), italic(value_names(option))]);
    }
    line.push(roman(format!("{close}{repeated} ")));
    line
}

fn value_names(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    if names.is_empty() { arg.get_id().as_str().to_uppercase() } else { names.join(" ") }
}
