//! Text of others, made fit for a line that people read.

use std::{borrow::Cow, fmt::Write};

/// A name or another text of one line, in which characters that are not seen as themselves are written as escapes: `\n`, `\u{202e}`.
///
/// These are all control characters (C0, DEL and C1, so that no terminal obeys one), line and paragraph separators, characters that turn the direction of
/// text, and others without a shape. All outputs for people use this one function.
///
/// ```
/// use tilewright_core::visible;
/// assert_eq!(visible("B\u{9b}31m\rSPOOF\u{202e}x\n"), r"B\u{9b}31m\rSPOOF\u{202e}x\n");
/// assert_eq!(visible("Tromsø → Bodø"), "Tromsø → Bodø");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unseen) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = match c {
            c if !is_unseen(c) => shown.write_char(c),
            '\n' | '\r' | '\t' => write!(shown, "{}", c.escape_default()),
            c => write!(shown, "\\u{{{:x}}}", u32::from(c)),
        };
    }
    shown.into()
}

/// As [`visible`], of a text that has lines of its own, such as a compiler's: line ends and tabs stay.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_unseen(c) && !matches!(c, '\n' | '\t')) {
        return text.into();
    }
    let line = |line: &str| line.split('\t').map(visible).collect::<Vec<_>>().join("\t");
    text.split('\n')
        .map(|text| line(text.strip_suffix('\r').unwrap_or(text)))
        .collect::<Vec<_>>()
        .join("\n")
        .into()
}

/// Whether a character is obeyed, or changes how others are seen, rather than seen.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_obeyed() {
        let unseen = (0..0x20)
            .chain(0x7f..0xa0)
            .chain([0x61c, 0x200e, 0x200f])
            .chain(0x2028..0x202f)
            .chain(0x2066..0x206a);
        for c in unseen.filter_map(char::from_u32) {
            let text = format!("a{c}b");
            assert!(visible(&text).starts_with("a\\") && !visible(&text).contains(c), "{c:?}");
            assert_eq!(visible_lines(&text).contains(c), matches!(c, '\n' | '\t'), "{c:?}");
        }
        for text in ["", "plain", "é ß 漢字 👩‍🔬", "a\\n", "a b"] {
            assert_eq!((visible(text), visible_lines(text)), (text.into(), text.into()));
        }
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(
            visible_lines("a.cu(1): error\r\n\tx\u{1b}[31m\rz\n"),
            "a.cu(1): error\n\tx\\u{1b}[31m\\rz\n"
        );
    }
}
