//! The styles of parts of a text.

use anstyle::{AnsiColor, Effects};

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
