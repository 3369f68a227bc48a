//! What is said to people on stderr, in colour where they want it.

use crate::args::{Color, Common};
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
    // Where stderr is closed there is nobody to tell.
    let _ = writeln!(anstream::stderr().lock(), "{style}{label}{style:#}: {text}");
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
