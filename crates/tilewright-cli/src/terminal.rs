//! What is said to people on stderr, in colour where they want it.

pub use crate::styles::{emphasis, faint, label};

use crate::{
    common::{Color, Common},
    wrapping,
};
use anstyle::{AnsiColor, Effects};
use std::io::{self, Write};
use tilewright::visible_lines;

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

/// Standard output for people: text of others is seen, not obeyed.
///
/// Control characters and those that turn text are written as escapes, but for line ends, tabs and the styles of this program. No line begins as a command
/// of a CI platform does. What comes of names is made visible where the text is made, as a style in a name could not be told from the program's own.
pub fn stdout() -> Shown<impl Write> {
    Shown { out: anstream::stdout(), line: Vec::new() }
}

/// The same on stderr.
pub fn stderr() -> Shown<impl Write> {
    Shown { out: anstream::stderr(), line: Vec::new() }
}

/// Passes on whole lines.
pub struct Shown<W: Write> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        if end > 0 {
            self.line.extend_from_slice(&bytes[..end]);
            self.pass_on()?;
        }
        self.line.extend_from_slice(&bytes[end..]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.out.flush()
    }
}

impl<W: Write> Shown<W> {
    fn pass_on(&mut self) -> io::Result<()> {
        let text = shown(&String::from_utf8_lossy(&self.line));
        self.line.clear();
        self.out.write_all(text.as_bytes())
    }
}

impl<W: Write> Drop for Shown<W> {
    fn drop(&mut self) {
        // Whoever wants to know whether the end was written flushes.
        let _ = self.pass_on();
    }
}

/// A text of lines in which nothing but styles is obeyed.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        let end = rest[at + 2..].find(|c: char| !c.is_ascii_digit() && c != ';').map(|end| at + 2 + end);
        let style = end.filter(|&end| rest[end..].starts_with('m')).map(|end| &rest[at..=end]);
        out += &visible_lines(&rest[..at]);
        out += style.unwrap_or(r"\u{1b}[");
        rest = &rest[at + style.map_or(2, str::len)..];
    }
    out += &visible_lines(rest);
    if out.contains("::") || out.contains("##[") { without_commands(&out) } else { out }
}

/// No line begins with `::` or has `##[`, which platforms take for commands.
fn without_commands(text: &str) -> String {
    let line = |line: &str| {
        let line = line.replace("##[", "## [");
        match line.find(|c: char| !c.is_whitespace()) {
            Some(at) if line[at..].starts_with("::") => format!("{}: :{}", &line[..at], &line[at + 2..]),
            _ => line,
        }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Writes `label: text` to stderr.
pub fn say(style: Style, label: &str, text: &str) {
    let style = match style {
        Style::Error => AnsiColor::Red.on_default().effects(Effects::BOLD),
        Style::Hint => AnsiColor::Cyan.on_default().effects(Effects::BOLD),
        Style::Note => faint(),
    };
    let text = visible_lines(text);
    let text = match wrapping::columns_of_messages() {
        Some(columns) => wrapped(label, &text, columns),
        None => text.into_owned(),
    };
    // Where stderr is closed there is nobody to tell.
    let _ = writeln!(stderr(), "{style}{label}{style:#}: {text}");
}

/// The text behind its label, in lines that hang below the beginning of the first.
fn wrapped(label: &str, text: &str, columns: usize) -> String {
    let (first, rest) = text.split_once('\n').map_or((text, None), |(first, rest)| (first, Some(rest)));
    let lines = wrapping::hanging(first, label.chars().count() + ": ".len(), columns);
    // What follows, such as a compiler's log, has lines of its own.
    lines.into_iter().chain(rest.map(str::to_owned)).collect::<Vec<_>>().join("\n")
}

/// A note, unless the user wants none.
pub fn note(common: &Common, label: &str, text: &str) {
    if !common.quiet {
        say(Style::Note, label, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_obeyed_and_nothing_else() {
        let styled = format!("{bold}a{bold:#} b\n", bold = label());
        assert_eq!(shown(&styled), styled);
        assert_eq!(
            shown("a\u{9b}31m\r\u{202e}\u{7}\x1b]0;x\x1b[2Jb\n"),
            "a\\u{9b}31m\\r\\u{202e}\\u{7}\\u{1b}]0;x\\u{1b}[2Jb\n"
        );
        assert_eq!(shown("x\n  ::error::y\n##[group]\na::b"), "x\n  : :error::y\n## [group]\na::b");
    }

    #[test]
    fn lines_are_passed_on_whole() {
        let mut bytes = Vec::new();
        let mut out = Shown { out: &mut bytes, line: Vec::new() };
        for part in [&b"a\xc3"[..], b"\xa4", b"\xc2", b"\x9b\n:", b":x"] {
            out.write_all(part).unwrap();
        }
        drop(out);
        assert_eq!(String::from_utf8(bytes).unwrap(), "a\u{e4}\\u{9b}\n: :x");
    }
}
