//! Command lines that make no sense: what is said about them.

use crate::{
    common::Format,
    failure::{self, Failure},
    terminal,
};
use clap::error::{ContextKind, ContextValue, ErrorKind as Kind};
use std::{env, ffi::OsString, io::Write, process::ExitCode};
use tilewright::{Backend, ErrorKind, visible_lines};

/// Options that variables stand for.
const VARIABLES: [(&str, &str); 2] =
    [("--backend", "TILEWRIGHT_BACKEND"), ("--threads", "TILEWRIGHT_THREADS")];

/// Says what the parser found, or prints help and version, which come this way, too.
pub fn report(message: &clap::Error) -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let format = if asks_for_json(&arguments) { Format::Json } else { Format::Table };
    if let Some(failure) = of_variable(message, &arguments) {
        return failure.report(format);
    }
    let is_wrong = !matches!(message.kind(), Kind::DisplayHelp | Kind::DisplayVersion);
    if is_wrong && format == Format::Json {
        let text = message.render().to_string();
        let paragraph = text.split("\n\n").next().unwrap_or_default();
        let what = paragraph.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ");
        return Failure::usage(what, "--help lists what there is").report(format);
    }
    let code = message.exit_code();
    // What the line holds is seen, not obeyed; such a message has no styles.
    if arguments.iter().any(|argument| argument.to_string_lossy().chars().any(char::is_control)) && is_wrong {
        // Where stderr is closed there is nobody to tell.
        let _ = terminal::stderr().write_all(visible_lines(&message.render().to_string()).as_bytes());
        return ExitCode::from(u8::try_from(code).unwrap_or(failure::USAGE));
    }
    match message.print() {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Failure::from(e).report(format),
        _ => ExitCode::from(u8::try_from(code).unwrap_or(failure::USAGE)),
    }
}

/// Whether errors should be JSON, in a line that could not be parsed.
fn asks_for_json(arguments: &[OsString]) -> bool {
    let pairs = arguments.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json");
    pairs || arguments.iter().any(|argument| argument == "--format=json")
}

/// A wrong value that came from a variable, not from the option.
fn of_variable(message: &clap::Error, arguments: &[OsString]) -> Option<Failure> {
    let text = |kind| match message.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let option = text(ContextKind::InvalidArg)?;
    let (option, name) = VARIABLES.into_iter().find(|(known, _)| option.starts_with(known))?;
    let value = env::var(name).ok()?;
    let is_given = arguments.iter().filter_map(|argument| argument.to_str()).any(|argument| {
        argument == option || argument.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
    });
    if is_given || text(ContextKind::InvalidValue) != Some(value.as_str()) {
        return None;
    }
    let backends = || Backend::ALL.iter().map(|backend| backend.name()).collect::<Vec<_>>().join(", ");
    let expected = match option {
        "--backend" => format!("one of {}", backends()),
        _ => "a whole number".into(),
    };
    Some(Failure::Engine(ErrorKind::Environment { name, value, expected }.into()))
}
