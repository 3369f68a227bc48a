//! Lines of cells with commas or other characters between them, some of them quoted.

use super::{
    Comments, Delimiter, Dialect,
    dialect::has_decimal_comma,
    fault::{Fault, bad, excerpt},
    text::{self, Lines},
};
use std::io::BufRead;
use tilewright_core::{Hint, Setting};

/// The rows of a csv file: its lines that are neither blank nor comments.
pub(super) struct Records<'a> {
    lines: Lines<'a>,
    text: Dialect,
    delimiter: Option<Delimiter>,
    /// Lines yet to be passed over.
    skip: usize,
    /// What the first row holds where it has numbers: whether each cell is one.
    model: Option<Vec<bool>>,
}

/// A cell, without its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub text: String,
    pub is_quoted: bool,
}

impl Cell {
    /// Whether it is empty and stands for nothing, not even for a name.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// The cells of a row.
#[derive(Debug, PartialEq)]
pub(super) struct Record {
    /// Where it begins, from 1.
    pub line: usize,
    pub cells: Vec<Cell>,
}

impl Record {
    /// The cells, for messages.
    pub fn shown(&self) -> String {
        self.cells.iter().map(|cell| excerpt(&cell.text)).collect::<Vec<_>>().join(", ")
    }
}

impl<'a> Records<'a> {
    pub fn new(input: &'a mut dyn BufRead, text: &Dialect) -> Self {
        let (delimiter, skip) = (text.delimiter, text.skip_rows);
        let lines = Lines::new(input);
        Self { lines, text: text.clone(), delimiter, skip, model: None }
    }

    /// The next row.
    pub fn next(&mut self) -> Result<Option<Record>, Fault> {
        let mark = self.text.comments.mark();
        let mut marked = Vec::new();
        loop {
            let Some((line, text)) = self.line()? else { return Ok(None) };
            let is_marked = !mark.is_empty() && text.trim_start().starts_with(&mark);
            match (&self.model, is_marked) {
                (_, true) if self.text.comments != Comments::Unlike => {}
                (Some(_), true) => self.check_comment(line, text)?,
                // What a row looks like is not known yet.
                (None, true) => marked.push((line, text)),
                (Some(_), false) => return self.record(line, text).map(Some),
                (None, false) => {
                    self.delimiter = Some(self.delimiter.map_or_else(|| found(line, &text, &self.text), Ok)?);
                    let first = self.record(line, text)?;
                    self.model =
                        Some(first.cells.iter().map(|cell| self.text.is_number(&cell.text)).collect());
                    for (line, text) in marked {
                        self.check_comment(line, text)?;
                    }
                    return Ok(Some(first));
                }
            }
        }
    }

    /// What is between cells; known from the first row on.
    pub fn delimiter(&self) -> Delimiter {
        self.delimiter.unwrap_or(Delimiter::Char(','))
    }

    /// The next line that is not blank.
    fn line(&mut self) -> Result<Option<(usize, String)>, Fault> {
        while self.skip > 0 {
            self.skip -= 1;
            self.lines.pass()?;
        }
        while let Some((line, text)) = self.lines.raw()? {
            let holds_cells = |c: char| text.trim_end_matches(['\r', '\n']).contains(c);
            let is_row =
                matches!(self.delimiter, Some(Delimiter::Char(c)) if c.is_whitespace() && holds_cells(c));
            if is_row || !text.trim().is_empty() {
                return Ok(Some((line, text.to_owned())));
            }
        }
        Ok(None)
    }

    /// Refuses a line that begins as a comment and could be a row.
    fn check_comment(&self, line: usize, text: String) -> Result<(), Fault> {
        let model = self.model.as_deref().unwrap_or_default();
        let Ok(cells) = cells(line, text, self.delimiter(), self.text.trim, &mut || Ok(None)) else {
            return Ok(());
        };
        let fits = |(cell, is_number): (&Cell, &bool)| !is_number || self.text.is_number(&cell.text);
        if cells.len() == model.len() && cells.iter().zip(model).skip(1).all(fits) {
            return Err(bad!("line {line} begins with #: it is a comment, or a row whose name does").hint(
                Hint::from("quote the name, as in \"#1\"").also(
                    Hint::from("or say ")
                        .set_to(Setting::Comments, "#")
                        .say(", or ")
                        .set_to(Setting::Comments, "none"),
                ),
            ));
        }
        Ok(())
    }

    fn record(&mut self, line: usize, text: String) -> Result<Record, Fault> {
        let (delimiter, trim, lines) = (self.delimiter(), self.text.trim, &mut self.lines);
        let mut more = || Ok(lines.raw()?.map(|(_, text)| text.to_owned()));
        Ok(Record { line, cells: cells(line, text, delimiter, trim, &mut more)? })
    }
}

/// What is between the cells of a file with such a first row.
fn found(line: usize, text: &str, dialect: &Dialect) -> Result<Delimiter, Fault> {
    let outside: String = text.split('"').step_by(2).collect();
    // Commas of numbers are between no cells where another delimiter is.
    let all_decimal = |c: char| outside.split(c).filter(|part| part.contains(',')).all(has_decimal_comma);
    let is_there = |c: &char| match c {
        ',' => {
            outside.contains(',')
                && ![';', '\t'].into_iter().any(|c| outside.contains(c) && all_decimal(c))
                && (!dialect.decimal_comma || !begins_fractions(&outside))
        }
        c => outside.trim_end_matches(['\r', '\n']).contains(*c),
    };
    match [';', ',', '\t'].into_iter().filter(is_there).collect::<Vec<_>>()[..] {
        [] if outside.trim().contains(' ') => Ok(Delimiter::Blanks),
        [] => Ok(Delimiter::Char(if dialect.decimal_comma { ';' } else { ',' })),
        [one] => Ok(Delimiter::Char(one)),
        [one, other, ..] => {
            let (one, other) = (Delimiter::Char(one), Delimiter::Char(other));
            Err(bad!("line {line} has {one} and {other}, and either could be between cells")
                .hint(Hint::from("say which with ").set_to(Setting::Delimiter, format!("{one} or {other}"))))
        }
    }
}

/// Whether every comma stands between digits.
fn begins_fractions(text: &str) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = text.as_bytes();
    text.match_indices(',').all(|(at, _)| is_digit(bytes[..at].last()) && is_digit(bytes.get(at + 1)))
}

/// Splits at delimiters outside quotes. Within quotes two of them stand for one, and a line end is one; `more` gives the next line.
pub(super) fn cells(
    line: usize,
    mut text: String,
    delimiter: Delimiter,
    trim: bool,
    more: &mut dyn FnMut() -> Result<Option<String>, Fault>,
) -> Result<Vec<Cell>, Fault> {
    let is_end = |c: char| match delimiter {
        Delimiter::Char(delimiter) => c == delimiter,
        Delimiter::Blanks => c.is_whitespace(),
    };
    let blanks =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_whitespace() && !is_end(c)).len();
    let (mut cells, mut at) = (Vec::new(), 0);
    loop {
        if delimiter == Delimiter::Blanks {
            at += text[at..].len() - text[at..].trim_start().len();
            if at == text.len() && !cells.is_empty() {
                return Ok(cells);
            }
        }
        let start = at + blanks(&text[at..]);
        if text[start..].starts_with('"') {
            let (mut cell, mut from) = (String::new(), start + 1);
            loop {
                let Some(quote) = text[from..].find('"').map(|quote| from + quote) else {
                    cell.push_str(&text[from..]);
                    from = text.len();
                    match more()? {
                        Some(next) => text.push_str(&next),
                        None => {
                            return Err(bad!(
                                "line {line}, column {}: a quote is not closed",
                                cells.len() + 1
                            ));
                        }
                    }
                    continue;
                };
                cell.push_str(&text[from..quote]);
                from = quote + 1;
                if !text[from..].starts_with('"') {
                    break;
                }
                cell.push('"');
                from += 1;
            }
            cells.push(Cell { text: cell, is_quoted: true });
            at = from + blanks(&text[from..]);
            if !text[at..].is_empty() && !text[at..].starts_with(is_end) {
                return Err(bad!("line {line}, column {}: text follows the closing quote", cells.len()));
            }
        } else {
            let end = text[at..].find(is_end).map_or(text.len(), |end| at + end);
            cells.push(Cell { text: plain(&text[at..end], trim).to_owned(), is_quoted: false });
            at = end;
        }
        match text[at..].chars().next() {
            Some(c) => at += c.len_utf8(),
            None => return Ok(cells),
        }
    }
}

/// A cell without quotes: a number has no blanks around it, and blanks alone are no name.
fn plain(cell: &str, trim: bool) -> &str {
    let cell = cell.strip_suffix('\n').unwrap_or(cell);
    let cell = cell.strip_suffix('\r').unwrap_or(cell);
    let inner = cell.trim();
    if trim || inner.is_empty() || text::value(inner).is_some() || has_decimal_comma(inner) {
        inner
    } else {
        cell
    }
}

/// A name as a `.csv` file spells it: with quotes where it would be read as something else, such as a number or a comment.
pub fn quoted_name(name: &str) -> String {
    let is_plain = !name.contains(['"', ',', ';', '\t', '\n', '\r', '#'])
        && name.trim() == name
        && !name.is_empty()
        && !name.starts_with('\u{feff}')
        && text::value(name).is_none();
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, dialect: &Dialect) -> Result<Vec<Vec<String>>, String> {
        let mut bytes = text.as_bytes();
        let mut records = Records::new(&mut bytes, dialect);
        let (mut rows, said) = (Vec::new(), |fault: Fault| format!("{fault:?}"));
        while let Some(record) = records.next().map_err(said)? {
            rows.push(record.cells.into_iter().map(|cell| cell.text).collect());
        }
        Ok(rows)
    }

    fn of(text: &str) -> Result<Vec<Vec<String>>, String> {
        rows(text, &Dialect::default())
    }

    #[test]
    fn quotes_protect_delimiters_quotes_and_line_ends() {
        for (text, expected) in [
            ("a, b ,c\n", vec!["a", " b ", "c"]),
            ("\"a, b\",\"say \"\"no\"\"\"", vec!["a, b", "say \"no\""]),
            ("x,,\n", vec!["x", "", ""]),
            (" \"x\" , y\r\n", vec!["x", " y"]),
            ("\"a\r\n\nb\",1\n", vec!["a\r\n\nb", "1"]),
            ("a, 1 ,  \r\n", vec!["a", "1", ""]),
            ("a\t b\t1\n", vec!["a", " b", "1"]),
            ("\"a b\"  c 5\n", vec!["a b", "c", "5"]),
            ("A;B;12,5", vec!["A", "B", "12,5"]),
        ] {
            assert_eq!(of(text).unwrap(), [expected], "{text:?}");
        }
        let trimmed = rows("a, b ,c\n", &Dialect { trim: true, ..Dialect::default() });
        assert_eq!(trimmed.unwrap(), [["a", "b", "c"]]);
        for (text, problem) in [
            ("a,\"b\nc\nd", "line 1, column 2: a quote is not closed"),
            ("\"a\"b,c", "line 1, column 1: text follows the closing quote"),
            ("Oslo, Norway\tVoss\t5\n", "either could be between cells"),
            ("a;b,c,5\n", "either could be between cells"),
        ] {
            assert!(of(text).unwrap_err().contains(problem), "{text:?}: {:?}", of(text));
        }
    }

    #[test]
    fn names_come_back_as_they_were_written() {
        let long = "x".repeat(3000);
        let names = [
            "a",
            " a",
            "a ",
            "\u{a0}a",
            "#a",
            "# a",
            "a#",
            "a,b",
            "a;b",
            "a\tb",
            "a\nb",
            "a\r",
            "\n",
            "\"",
            "\"\"",
            "a\"b",
            "nan",
            "inf",
            "-0",
            "1e5",
            "007",
            "true",
            "\u{feff}a",
            "\u{2028}",
            " ",
            "'",
            "\\",
            "0",
            long.as_str(),
        ];
        let line = names.map(quoted_name).join(",") + "\n";
        assert_eq!(of(&line).unwrap(), [names]);
        for name in names {
            for text in [format!("{},x\n", quoted_name(name)), format!("x,{}\r\n", quoted_name(name))] {
                assert!(of(&text).unwrap()[0].contains(&name.to_owned()), "{name:?} {text:?}");
            }
        }
    }

    #[test]
    fn a_line_that_could_be_a_row_is_no_comment() {
        for text in
            ["# made by hand\na,b,1\n\n# nothing, really\nc,d,2\n", "# from\tto\n0\t1\n2\t3\n", "#\na,b\n#\n"]
        {
            assert!(of(text).unwrap().iter().all(|row| !row[0].starts_with('#')), "{text:?}");
        }
        for (text, line) in
            [("a,b,1\n#c,b,1\n", 2), ("#c,b,1\na,b,1\n", 1), ("from,to,km\n# c,b,1\n", 2), ("#c,b\na,b\n", 1)]
        {
            let said = of(text).unwrap_err();
            assert!(said.contains(&format!("line {line} begins with #")), "{text:?}: {said}");
            let with = |comments| rows(text, &Dialect { comments, ..Dialect::default() }).unwrap().len();
            assert_eq!((with(Comments::Marked('#')), with(Comments::None)), (1, 2), "{text:?}");
        }
        let quoted = of("a,b,1\n\"#c\",b,1\n").unwrap();
        assert_eq!(quoted[1], ["#c", "b", "1"]);
        let percent = Dialect { comments: Comments::Marked('%'), ..Dialect::default() };
        assert_eq!(rows("% x,y\n#c,b\n", &percent).unwrap(), [["#c", "b"]]);
    }
}
