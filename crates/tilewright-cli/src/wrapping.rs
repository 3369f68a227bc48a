//! Text that fits: how many columns there are, and where lines break.

use crate::styles;
use anstream::adapter::strip_str;
use std::io::{IsTerminal, stderr, stdout};

/// Columns where neither a terminal nor `COLUMNS` says.
const USUAL: usize = 80;
/// Lines that are longer than this are hard to read.
const MOST: usize = 120;
/// What a name in front leaves to the text at least.
const LEAST: usize = 24;

/// The columns of what is printed on stdout: `COLUMNS`; or those of the terminal, but never more than 120; or 80.
pub fn columns() -> usize {
    asked().unwrap_or_else(|| of_terminal(&stdout()).unwrap_or(USUAL).min(MOST))
}

/// The columns of messages on stderr; none where it is no terminal, as lines of a log are not broken.
pub fn columns_of_messages() -> Option<usize> {
    of_terminal(&stderr()).map(|columns| asked().unwrap_or(columns.min(MOST)))
}

/// `COLUMNS`, where it is a number.
fn asked() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|&columns| columns > 0)
}

#[cfg(unix)]
fn of_terminal(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(stream).filter(|_| stream.is_terminal())?;
    Some(width.0.into()).filter(|&columns| columns > 0)
}

#[cfg(windows)]
fn of_terminal(stream: &(impl IsTerminal + std::os::windows::io::AsHandle)) -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(stream).filter(|_| stream.is_terminal())?;
    Some(width.0.into()).filter(|&columns| columns > 0)
}

/// Breaks `text` between words into lines of at most `width` columns. A longer word, such as a path, stays whole on a line of its own;
/// blanks at the beginning of the text stay, and the lines after it begin with as many.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    text.lines().flat_map(|line| wrap_line(line, width)).collect()
}

/// The letters of a text that are seen: colours are not.
fn letters(text: &str) -> usize {
    strip_str(text).map(|part| part.chars().count()).sum()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    if letters(line) <= width {
        return vec![line.trim_end().to_owned()];
    }
    let indent = line.chars().count() - line.trim_start().chars().count();
    broken(line.split_whitespace(), width, indent, indent)
}

/// Lines of these words, the first indented by `indent` and the others by `hang`.
fn broken<'a>(words: impl Iterator<Item = &'a str>, width: usize, indent: usize, hang: usize) -> Vec<String> {
    let (mut lines, mut current, mut is_empty) = (Vec::new(), " ".repeat(indent), true);
    for word in words {
        if !is_empty && letters(&current) + 1 + letters(word) > width {
            lines.push(std::mem::replace(&mut current, " ".repeat(hang)));
            is_empty = true;
        }
        if !is_empty {
            current.push(' ');
        }
        current.push_str(word);
        is_empty = false;
    }
    lines.push(current);
    lines
}

/// A sentence that begins behind so many letters, in lines of which the later ones are indented.
pub fn hanging(text: &str, before: usize, width: usize) -> Vec<String> {
    let mut lines = broken(text.split_whitespace(), width, before, HANG);
    if let Some(first) = lines.first_mut() {
        *first = first.trim_start().to_owned();
    }
    lines
}

/// What later lines are indented by.
const HANG: usize = 2;

/// A name in a column of its own, and its text beside it; names that are empty continue the row above.
pub fn row(name: &str, text: &str, column: usize) -> String {
    row_within(name, text, column, columns())
}

fn row_within(name: &str, text: &str, column: usize, columns: usize) -> String {
    let bold = styles::label();
    let width = columns.saturating_sub(column + 1).max(LEAST);
    let mut lines = wrap(text, width).into_iter();
    let padding = column.saturating_sub(name.chars().count());
    let first = format!("{bold}{name}{bold:#}{:padding$} {}", "", lines.next().unwrap_or_default());
    let others = lines.map(|line| format!("{:column$} {line}", ""));
    std::iter::once(first).chain(others).map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// As [`row`], for every name and text of a table.
pub fn rows<'a>(rows: impl IntoIterator<Item = (&'a str, String)>, column: usize) -> String {
    rows.into_iter().map(|(name, text)| row(name, &text, column)).collect()
}

/// A paragraph.
pub fn paragraph(text: &str) -> String {
    wrap(text, columns()).join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one two three", 80), ["one two three"]);
        assert_eq!(wrap("  - one two three", 9), ["  - one", "  two", "  three"]);
        // A word that is too long stays whole.
        assert_eq!(wrap("see /a/long/path now", 8), ["see", "/a/long/path", "now"]);
        assert_eq!(wrap("one\ntwo", 80), ["one", "two"]);
        // Letters count, not bytes.
        assert_eq!(wrap("äöü äöü", 7), ["äöü äöü"]);
    }

    #[test]
    fn sentences_hang_behind_a_label() {
        assert_eq!(hanging("one two three four", 6, 14), ["one two", "  three four"]);
        // However long the label is, no word is lost.
        assert_eq!(hanging("one two three", 60, 14), ["one", "  two three"]);
    }

    #[test]
    fn text_hangs_behind_its_name() {
        let plain = |text: String| anstream::adapter::strip_str(&text).to_string();
        let text = plain(row_within("name", "one two three four five six seven", 6, 32));
        assert_eq!(text, "name   one two three four five\n       six seven\n");
        assert_eq!(plain(row_within("name", "", 6, 32)), "name\n");
        // However narrow it is, something is printed.
        assert!(plain(row_within("name", "one two three four five six", 6, 3)).lines().count() == 2);
    }
}
