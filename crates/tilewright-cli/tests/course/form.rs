//! Every chapter has the form of a chapter, and short sentences.

use super::{Chapter, GAP};

/// Question, prediction, picture, few lines of console, what was measured, exercise with a folded answer.
#[test]
fn every_chapter_has_the_form_of_a_chapter() {
    for chapter in Chapter::all().iter().filter(|chapter| chapter.name != "README.md") {
        let name = &chapter.name;
        let text = chapter.lines.join("\n");
        let (opening, _) = text.split_once("**Predict**").unwrap_or_else(|| panic!("{name}: no prediction"));
        assert!(opening.contains('?'), "{name}: no question before the prediction");
        let prediction = text.split_once("**Predict**").unwrap().1.split("\n\n").next().unwrap();
        assert!(prediction.contains('?'), "{name}: the prediction asks nothing");
        assert!(!chapter.drawings().is_empty(), "{name}: no picture");
        assert!(text.contains("\n**Measured**"), "{name}: nothing measured");
        let (_, exercise) =
            text.split_once("\n## Exercise\n").unwrap_or_else(|| panic!("{name}: no exercise"));
        assert!(exercise.contains("<details><summary>Answer</summary>"), "{name}: no folded answer");
        assert!(exercise.trim_end().ends_with("</details>"), "{name}: the answer is not closed");
        for (command, lines) in chapter.runs() {
            let shown: Vec<&str> = chapter.text(lines).into_iter().filter(|line| *line != GAP).collect();
            assert!((1..=8).contains(&shown.len()), "{name}: {command} shows {} lines", shown.len());
            for line in shown {
                let width = line.chars().count();
                assert!(width <= 80, "{name}: {width} columns: {line}");
            }
        }
    }
}

#[test]
fn sentences_are_short() {
    for chapter in Chapter::all() {
        let lengths: Vec<(usize, String)> = chapter
            .sentences()
            .into_iter()
            .map(|sentence| (sentence.split_whitespace().count(), sentence))
            .collect();
        let longest = lengths.iter().max().unwrap();
        assert!(longest.0 <= 32, "{}: {} words: {}", chapter.name, longest.0, longest.1);
        let mean = lengths.iter().map(|(length, _)| length).sum::<usize>() as f64 / lengths.len() as f64;
        assert!(mean <= 15.0, "{}: {mean:.1} words a sentence", chapter.name);
    }
}

impl Chapter {
    /// Sentences of text and lists; code, tables, headings and pictures are none.
    fn sentences(&self) -> Vec<String> {
        let fences = self.fences();
        let is_code =
            |number: usize| fences.iter().any(|f| (f.lines.start - 1..=f.lines.end).contains(&number));
        let is_text = |line: &str| !line.starts_with(['#', '|', '!', '<']);
        let mut paragraphs = vec![String::new()];
        for (number, line) in self.lines.iter().enumerate() {
            let begins =
                line.is_empty() || line.starts_with("* ") || line.starts_with(|c: char| c.is_ascii_digit());
            if begins || is_code(number) {
                paragraphs.push(String::new());
            }
            if !is_code(number) && is_text(line) {
                let paragraph = paragraphs.last_mut().unwrap();
                paragraph.push_str(line.trim_start_matches("* ").trim());
                paragraph.push(' ');
            }
        }
        let split = |paragraph: &String| -> Vec<String> {
            let ends = paragraph.replace("? ", "?\n").replace(". ", ".\n").replace(": ", ":\n");
            ends.lines().map(str::trim).filter(|s| !s.is_empty()).map(str::to_owned).collect()
        };
        paragraphs.iter().flat_map(split).collect()
    }
}
