//! Tables: two columns of words, then numbers.

use super::FAINT;

/// Letters that the second column keeps, however narrow the terminal is.
const NARROWEST: usize = 16;

/// The rows below their head, each column as wide as its widest cell. Where a line would be wider than `width`, cells of the second column
/// are broken between words.
pub fn table<const N: usize>(head: &[String; N], rows: &[[String; N]], width: usize) -> String {
    let mut widths = head.each_ref().map(|cell| cell.len());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.trim_end().chars().count());
        }
    }
    let whole: usize = widths.iter().map(|width| width + 2).sum();
    widths[1] = widths[1].saturating_sub(whole.saturating_sub(width)).max(NARROWEST.min(widths[1]));
    let line = |cells: &[String; N]| {
        let mut words = broken(&cells[1], widths[1]).into_iter();
        let first = words.next().unwrap_or_default();
        let cells = cells.iter().zip(widths).enumerate().map(|(i, (cell, width))| match i {
            0 => format!("{:<width$}", cell.trim_end()),
            1 => format!("{first:<width$}"),
            _ => format!("{:>width$}", cell.trim_end()),
        });
        let mut out = format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end());
        words.for_each(|words| out += &format!("{:indent$}{words}\n", "", indent = widths[0] + 6));
        out
    };
    let body: String = rows.iter().map(line).collect();
    format!("{FAINT}{}{FAINT:#}{body}", line(head))
}

/// The words in lines of at most `width` letters, if no word is longer. Lines behind the first are indented by two less.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let room = if lines.len() == 1 { width } else { width.saturating_sub(2) };
        let last = lines
            .last_mut()
            .filter(|line| line.is_empty() || line.chars().count() + 1 + word.chars().count() <= room);
        match last {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_broken_where_a_table_is_too_wide() {
        let head = ["line", "access", "requests"].map(String::from);
        let rows = [["27", "8 x load of dynamic shared memory", "256"].map(String::from)];
        let lines = |width| {
            let text = table(&head, &rows, width).replace(&format!("{FAINT:#}"), "");
            text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(lines(80)[0], "  27    8 x load of dynamic shared memory       256");
        assert_eq!(lines(42), ["  27    8 x load of dynamic            256", "          shared memory"]);
        assert!(lines(42).iter().all(|line| line.len() <= 42));
        assert!(lines(10)[0].starts_with("  27    8 x load of "), "{:?}", lines(10));
    }
}
