//! What is said to people on stderr, in colour where they want it.

use crate::{
    args::{Color, Common},
    fit,
};
use anstyle::{AnsiColor, Effects};
use std::io::Write;

/// Decides for both streams. `auto` obeys `NO_COLOR` and `CLICOLOR_FORCE` and looks for a terminal.
pub fn choose_color(color: Color) {
    match color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::AlwaysAnsi,
        Color::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

/// What a message is.
#[derive(Clone, Copy)]
pub enum Style {
    Error,
    Hint,
    Note,
}

/// Writes `label: text` to stderr.
pub fn say(style: Style, label: &str, text: &str) {
    let style = match style {
        Style::Error => AnsiColor::Red.on_default().effects(Effects::BOLD),
        Style::Hint => AnsiColor::Cyan.on_default().effects(Effects::BOLD),
        Style::Note => faint(),
    };
    let text = match fit::columns_of_messages() {
        Some(columns) => wrapped(label, text, columns),
        None => text.to_owned(),
    };
    // Where stderr is closed there is nobody to tell.
    let _ = writeln!(anstream::stderr().lock(), "{style}{label}{style:#}: {text}");
}

/// The text behind its label, in lines that hang below the beginning of the first.
fn wrapped(label: &str, text: &str, columns: usize) -> String {
    let (first, rest) = text.split_once('\n').map_or((text, None), |(first, rest)| (first, Some(rest)));
    let lines = fit::hanging(first, label.chars().count() + ": ".len(), columns);
    // What follows, such as a compiler's log, has lines of its own.
    lines.into_iter().chain(rest.map(str::to_owned)).collect::<Vec<_>>().join("\n")
}

/// A note, unless the user wants none.
pub fn note(common: &Common, label: &str, text: &str) {
    if !common.quiet {
        say(Style::Note, label, text);
    }
}

/// The style of a row's name in a table.
pub fn label() -> anstyle::Style {
    anstyle::Style::new().effects(Effects::BOLD)
}

/// The style of what explains the rest.
pub fn faint() -> anstyle::Style {
    anstyle::Style::new().effects(Effects::DIMMED)
}

/// The style of what to look at first.
pub fn emphasis() -> anstyle::Style {
    AnsiColor::Yellow.on_default().effects(Effects::BOLD)
}
