//! A line of a text for a message, however long the text is.

use core::{fmt, ops::Range};

/// Characters that are shown on each side of a place, and of the place itself.
const SHOWN: usize = 30;
/// What stands for the rest.
const MORE: char = '…';

/// A place in a text and what is around it, on one line.
pub(super) struct Excerpt {
    line: String,
    /// Characters before the place.
    pub before: usize,
    /// Characters of the place.
    pub marked: usize,
}

impl Excerpt {
    /// The text around some of its bytes.
    pub fn of(text: &str, at: Range<usize>) -> Self {
        let part = |range: Range<usize>| text.get(range).unwrap_or_default();
        let (before, rest) = (part(0..at.start), part(at.end..text.len()));
        let skipped = before.chars().count().saturating_sub(SHOWN);
        let start = (skipped > 0).then_some(MORE).into_iter().chain(before.chars().skip(skipped));
        let mut line: String = start.collect();
        let before = line.chars().count();
        line.push_str(&short(part(at)));
        let marked = line.chars().count() - before;
        // Of a short text all is shown, wherever the place is.
        let left = if skipped > 0 || marked > SHOWN {
            SHOWN
        } else {
            (2 * SHOWN).saturating_sub(before + marked).max(SHOWN)
        };
        line.push_str(&cut(rest, left));
        // A line stays a line.
        let line = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Self { line, before, marked }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

/// A word as messages have it.
pub(super) fn short(word: &str) -> String {
    cut(word, SHOWN)
}

fn cut(text: &str, most: usize) -> String {
    let end = text.char_indices().nth(most).map(|(at, _)| at);
    end.map_or_else(|| text.to_owned(), |end| format!("{}{MORE}", &text[..end]))
}
