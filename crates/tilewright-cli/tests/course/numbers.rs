//! Numbers in the text are those of blocks and records.

use super::{Chapter, console::outputs, repository};
use std::collections::{BTreeMap, BTreeSet};
use tilewright_arch::Part;
use tilewright_kernels::{Family, kernels};

/// What is said to be measured stands in the benchmarks, among the profiler's counters, or in a block of the chapter.
#[test]
fn measured_numbers_stand_in_the_records() {
    let records: String = ["BENCHMARKS.md", "scripts/nsight/results/h200.md"]
        .into_iter()
        .map(|file| std::fs::read_to_string(repository().join(file)).unwrap())
        .collect();
    for chapter in Chapter::all() {
        let blocks: String =
            chapter.runs().into_iter().map(|(_, lines)| chapter.text(lines).join("\n") + "\n").collect();
        let text = chapter.lines.join("\n");
        for measured in text.split("\n**Measured**").skip(1).filter_map(|rest| rest.split("\n\n").next()) {
            let words = measured.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '`'));
            let numbers = words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
            for number in numbers.map(|word| word.trim_end_matches([',', '.', ':'])) {
                let is_there = occurs(number, &records) || occurs(number, &blocks);
                assert!(is_there, "{}: {number} was not measured", chapter.name);
            }
        }
    }
}

/// A number in backquotes is one that a block of the chapter shows.
#[test]
fn numbers_in_the_text_are_those_of_the_blocks() {
    for chapter in Chapter::all() {
        let fences = chapter.fences();
        let shown: Vec<String> = chapter
            .runs()
            .into_iter()
            .flat_map(|(_, lines)| chapter.text(lines))
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        let is_inside = |number: usize| {
            fences.iter().any(|fence| (fence.lines.start - 1..=fence.lines.end).contains(&number))
        };
        let text = chapter.lines.iter().enumerate().filter(|(number, _)| !is_inside(*number));
        for (number, line) in text {
            for span in line.split('`').skip(1).step_by(2) {
                let is_number = span.starts_with(|c: char| c.is_ascii_digit());
                let is_shown = shown.iter().any(|line| occurs(span, line));
                assert!(!is_number || is_shown, "{}:{}: no block shows {span}", chapter.name, number + 1);
            }
        }
    }
}

/// Whether the words stand in the line, and not as a part of a longer number.
fn occurs(words: &str, line: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    line.match_indices(words).any(|(at, _)| {
        let (before, after) = (line[..at].chars().next_back(), line[at + words.len()..].chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(|c| c.is_ascii_digit())
    })
}

/// The table of what shared memory has to deliver for each multiplication, with the bound that follows and the measured part of
/// the peak: `| kernel | ... | wavefronts | at most | measured |`.
#[test]
fn the_table_of_the_ladder_is_what_was_counted_and_measured() {
    let chapters = Chapter::all();
    let rows: BTreeMap<&str, [&str; 3]> = chapters
        .iter()
        .flat_map(|chapter| &chapter.lines)
        .filter_map(|line| {
            let cells: Vec<&str> = line.strip_prefix("| `")?.split('|').map(str::trim).collect();
            let [kernel, _, wavefronts, bound, measured, ""] = cells[..] else { return None };
            Some((kernel.trim_end_matches('`'), [wavefronts, bound, measured]))
        })
        .collect();
    assert_eq!(rows.len(), 6);
    let command =
        |kernel: &&str| format!("explain {kernel} --arg M=128 --arg N=128 --arg K=32 --format json");
    let outputs = outputs(rows.keys().map(|kernel| (command(kernel), 0)).collect());
    let benchmarks = std::fs::read_to_string(repository().join("BENCHMARKS.md")).unwrap();
    for (kernel, [wavefronts, bound, measured]) in rows {
        let report: serde_json::Value = serde_json::from_str(&outputs[&command(&kernel)]).unwrap();
        let totals = &report["totals"];
        let found = totals["shared_load"]["wavefronts"].as_f64().unwrap()
            / totals["instruction_mix"]["fma.rn.f32"].as_f64().unwrap();
        assert_eq!(wavefronts.parse(), Ok(found), "{kernel}");
        assert_eq!(bound, format!("{:.1} %", (25.0 / found).min(100.0)), "{kernel}");
        let row = benchmarks.lines().find(|line| line.starts_with(&format!("| {kernel} | ")));
        assert_eq!(row.unwrap().split('|').nth(3).map(str::trim), Some(measured), "{kernel}");
    }
}

/// What a table says of the largest launch of each kernel of ladder and gallery: what `explain` predicts, and what was measured, from the records of
/// `scripts/nsight/bounds`. `| kernel | size | part | ms at least | ms predicted | ms measured |`
fn recorded_predictions() -> BTreeMap<String, String> {
    let path = repository().join("scripts/nsight/results/bounds-h200-predicted.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().unwrap();
    let column = |name: &str| header.iter().position(|cell| *cell == name).unwrap();
    let (kernel, size, part) = (column("kernel"), column("size"), column("bounding_part"));
    let times = ["bound_us", "prediction_us", "measured_us"].map(column);
    let is_told = |name: &str| kernels().iter().any(|k| k.name == name && k.family != Family::Production);
    let line = |row: Vec<&str>| {
        let title = Part::ALL.iter().find(|known| known.name() == row[part]).unwrap().title();
        let [least, predicted, measured] =
            times.map(|column| format!("{:.3}", row[column].parse::<f64>().unwrap() / 1e3));
        let (name, size) = (row[kernel], row[size]);
        (name.to_owned(), format!("| `{name}` | {size} | {title} | {least} | {predicted} | {measured} |"))
    };
    // Of the sizes of a kernel the last one stays.
    rows.filter(|row| is_told(row[kernel])).map(line).collect()
}

#[test]
fn predicted_and_measured_times_are_those_of_the_records() {
    let recorded = recorded_predictions();
    let bless = std::env::var_os("TILEWRIGHT_BLESS").is_some();
    let (mut found, mut wrong) = (BTreeSet::new(), Vec::new());
    for mut chapter in Chapter::all() {
        let before = chapter.lines.clone();
        for line in &mut chapter.lines {
            let Some(name) = line.strip_prefix("| `").and_then(|rest| rest.split('`').next()) else {
                continue;
            };
            let Some(expected) = recorded.get(name).filter(|_| line.matches('|').count() == 7) else {
                continue;
            };
            found.insert(name.to_owned());
            if bless {
                expected.clone_into(line);
            } else if line != expected {
                wrong.push(format!("{}: {line}\n{expected}", chapter.name));
            }
        }
        if chapter.lines != before {
            std::fs::write(&chapter.path, chapter.lines.join("\n") + "\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}\n\nTILEWRIGHT_BLESS=1 renews the numbers", wrong.join("\n"));
    let missing: Vec<_> = recorded.keys().filter(|name| !found.contains(*name)).collect();
    assert!(missing.is_empty() && recorded.len() > 25, "no chapter says what was predicted of {missing:?}");
}

#[test]
fn numbers_are_found_whole() {
    assert!(occurs("4 sectors", "x 4 sectors y") && occurs("16.5", "16.5"));
    assert!(!occurs("4 sectors", "x 14 sectors") && !occurs("16.5", "16.52") && !occurs("384", "16,384"));
}
