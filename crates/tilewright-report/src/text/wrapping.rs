//! Sentences in lines of a given width.

use super::BOLD;

/// A text in lines of `width` letters that begin with `indent`, the first as well; lines behind the first hang by two more. ANSI styles
/// take no room. Words longer than a line stay whole.
pub fn hanging(indent: &str, text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut line = indent.to_owned();
    let mut is_empty = true;
    // A number and its sign are one word.
    let text = text.replace(" %", "\u{a0}%");
    for word in text.split(' ') {
        if !is_empty && shown(&line) + 1 + shown(word) > width {
            out += line.trim_end();
            out.push('\n');
            line = format!("{indent}  ");
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    (out + line.trim_end() + "\n").replace('\u{a0}', " ")
}

/// Letters that are seen of a text with ANSI styles.
fn shown(text: &str) -> usize {
    let mut parts = text.split('\x1b');
    let first = parts.next().map_or(0, |part| part.chars().count());
    first + parts.map(|part| part.split_once('m').map_or(0, |(_, rest)| rest.chars().count())).sum::<usize>()
}

/// A sentence of a verdict: what matters most in bold, code as it is.
pub fn styled(sentence: &str) -> String {
    let mut out = String::new();
    for (i, part) in sentence.split("**").enumerate() {
        match i % 2 {
            0 => out += part,
            // Each word by itself, so that a line may end between two.
            _ => {
                let words: Vec<String> =
                    part.split(' ').map(|word| format!("{BOLD}{word}{BOLD:#}")).collect();
                out += &words.join(" ");
            }
        }
    }
    out.replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_words_and_hang() {
        let text = "a request moves 32 sectors of 32 bytes where 4 hold its data";
        let wrapped = hanging("  ", text, 24);
        assert!(wrapped.lines().all(|line| line.len() <= 24), "{wrapped}");
        assert!(wrapped.starts_with("  a request moves 32\n    sectors"), "{wrapped}");
        assert_eq!(wrapped.split_whitespace().collect::<Vec<_>>().join(" "), text);
        assert_eq!(hanging("", "short", 80), "short\n");
    }

    #[test]
    fn styles_take_no_room() {
        assert_eq!(shown(&styled("**12.5 %** of `A`")), "12.5 % of A".len());
        assert_eq!(hanging("", &styled("**one** two"), 7).lines().count(), 1);
    }
}
