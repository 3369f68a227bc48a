//! The course in `docs/course`: its console blocks are what the command prints, its pictures what it draws, its quotations are the
//! kernels' text, and the numbers in its sentences are those of the blocks or were measured.
//!
//! A console block is one command and lines of its output; `…` stands for any number of lines. The command of a block `console 1` ends
//! with code 1: it finds a fault. Commands find the files of `docs/course/files`. A picture's title is the command that draws it. `TILEWRIGHT_BLESS=1` renews pictures, and the numbers of blocks whose lines still have their form; the sentences around
//! them are for a person to mend.

use crate::support::Desk;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::PathBuf,
    sync::Mutex,
};
use tilewright_arch::Part;
use tilewright_kernels::{Family, kernels};

const GAP: &str = "…";

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the course.
struct Chapter {
    path: PathBuf,
    name: String,
    lines: Vec<String>,
}

/// A fenced block: what stands behind the fence, and the numbers of its lines.
struct Fence {
    info: String,
    lines: Range<usize>,
}

impl Chapter {
    fn all() -> Vec<Self> {
        let folder = repository().join("docs/course");
        let mut paths: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
        paths.sort();
        let chapter = |path: PathBuf| {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            Self { name, lines: text.lines().map(|line| line.trim_end().to_owned()).collect(), path }
        };
        paths.into_iter().map(chapter).collect()
    }

    fn fences(&self) -> Vec<Fence> {
        let (mut fences, mut open) = (Vec::new(), None);
        for (number, line) in self.lines.iter().enumerate() {
            let Some(info) = line.strip_prefix("```") else { continue };
            match open.take() {
                None => open = Some((info.to_owned(), number + 1)),
                Some((info, start)) => fences.push(Fence { info, lines: start..number }),
            }
        }
        assert!(open.is_none(), "{}: a block is not closed", self.name);
        fences
    }

    fn text(&self, lines: Range<usize>) -> Vec<&str> {
        self.lines[lines].iter().map(String::as_str).collect()
    }

    /// Blocks with a command: the command's arguments, and the lines that show its output.
    fn runs(&self) -> Vec<(String, Range<usize>)> {
        let consoles = self.fences().into_iter().filter(|fence| fence.info.starts_with("console"));
        consoles
            .map(|fence| {
                let first = &self.lines[fence.lines.start];
                let command = first.strip_prefix("$ tilewright ").unwrap_or_else(|| {
                    panic!("{}: a console block begins with `$ tilewright`, not with {first}", self.name)
                });
                (command.to_owned(), fence.lines.start + 1..fence.lines.end)
            })
            .collect()
    }
}

impl Chapter {
    /// The commands of its blocks, with the codes that they end with.
    fn commands(&self) -> BTreeMap<String, i32> {
        let mut commands = BTreeMap::new();
        for (command, lines) in self.runs() {
            let code = match self.lines[lines.start - 2].as_str() {
                "```console" => 0,
                "```console 1" => 1,
                other => panic!("{}: {other} is no block of a console", self.name),
            };
            let before = commands.insert(command, code);
            assert!(before.is_none_or(|before| before == code), "{}: two codes of one command", self.name);
        }
        commands
    }
}

/// A directory with the files that the chapters use.
fn desk_of_the_course() -> Desk {
    let desk = Desk::new();
    for entry in std::fs::read_dir(repository().join("docs/course/files")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, desk.path().join(path.file_name().unwrap())).unwrap();
    }
    desk
}

/// Whether the real lines are the shown ones with something in place of each gap.
fn compare(shown: &[&str], real: &[&str]) -> Result<(), String> {
    let pieces: Vec<&[&str]> = shown.split(|line| *line == GAP).collect();
    let mut rest = real;
    for (index, piece) in pieces.iter().enumerate() {
        // The first piece begins the output, the last one ends it; those between stand anywhere.
        let (is_first, is_last) = (index == 0, index + 1 == pieces.len());
        let places = match rest.len().checked_sub(piece.len()) {
            Some(0) => 0..1,
            Some(_) if is_first && is_last => 0..0,
            Some(_) if is_first => 0..1,
            Some(last) if is_last => last..last + 1,
            Some(last) => 0..last + 1,
            None => 0..0,
        };
        let Some(place) = places.into_iter().find(|&at| rest[at..].starts_with(piece)) else {
            return Err(format!("not printed there:\n{}", piece.join("\n")));
        };
        rest = &rest[place + piece.len()..];
    }
    Ok(())
}

/// The form of a line: its words, whatever the numbers and the width of the columns.
fn form(line: &str) -> String {
    let word = |word: &str| -> String {
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        word.chars().filter(|&c| !is_number(c)).collect()
    };
    line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// The shown lines as they are printed now; an error names a line that there is no more.
fn renew(shown: &[&str], real: &[&str]) -> Result<Vec<String>, String> {
    let (mut out, mut next) = (Vec::new(), 0);
    for line in shown.iter().filter(|line| **line != GAP) {
        let found = real[next..].iter().position(|candidate| form(candidate) == form(line));
        let at = next + found.ok_or_else(|| format!("no line of this form any more: {line}"))?;
        if at > next {
            out.push(GAP.to_owned());
        }
        out.push(real[at].to_owned());
        next = at + 1;
    }
    if next < real.len() {
        out.push(GAP.to_owned());
    }
    Ok(out)
}

/// What the commands print, each run once, two at a time. They find no compiler, and so use the PTX of the catalogue.
fn outputs(commands: BTreeMap<String, i32>) -> BTreeMap<String, String> {
    let (desk, waiting, done) = (desk_of_the_course(), Mutex::new(commands), Mutex::new(BTreeMap::new()));
    let work = || {
        loop {
            let Some((line, code)) = waiting.lock().unwrap().pop_first() else { return };
            let output = desk
                .command(&line)
                .envs([("TILEWRIGHT_NVRTC_PATH", "none"), ("COLUMNS", "80")])
                .output()
                .unwrap();
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(code), "tilewright {line}: {error}");
            done.lock().unwrap().insert(line, String::from_utf8(output.stdout).unwrap());
        }
    };
    std::thread::scope(|scope| {
        for thread in [scope.spawn(work), scope.spawn(work)] {
            thread.join().unwrap();
        }
    });
    done.into_inner().unwrap()
}

#[test]
fn console_blocks_are_what_the_command_prints() {
    let chapters = Chapter::all();
    let outputs = outputs(chapters.iter().flat_map(Chapter::commands).collect());
    let bless = std::env::var_os("TILEWRIGHT_BLESS").is_some();
    let mut wrong = Vec::new();
    for chapter in &chapters {
        let mut lines = chapter.lines.clone();
        // From the last to the first, so that the numbers of the lines stay.
        for (command, shown) in chapter.runs().into_iter().rev() {
            let real: Vec<&str> = outputs[&command].lines().map(str::trim_end).collect();
            let text = chapter.text(shown.clone());
            let Err(difference) = compare(&text, &real) else { continue };
            match renew(&text, &real) {
                Ok(new) if bless => drop(lines.splice(shown, new)),
                Err(why) if bless => wrong.push(format!("{}: tilewright {command}: {why}", chapter.name)),
                _ => wrong.push(format!("{}: tilewright {command}: {difference}", chapter.name)),
            }
        }
        if bless && lines != chapter.lines {
            std::fs::write(&chapter.path, lines.join("\n") + "\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}\n\nTILEWRIGHT_BLESS=1 renews the numbers", wrong.join("\n\n"));
}

#[test]
fn every_kernel_of_ladder_and_gallery_is_run_and_quoted() {
    let chapters = Chapter::all();
    let commands: Vec<String> =
        chapters.iter().flat_map(|chapter| chapter.runs().into_iter().map(|(command, _)| command)).collect();
    let quoted: BTreeSet<String> =
        chapters.iter().flat_map(|chapter| chapter.fences().into_iter().map(|fence| fence.info)).collect();
    for kernel in kernels().iter().filter(|kernel| kernel.family != Family::Production) {
        let is_run = commands.iter().any(|command| {
            let words: Vec<&str> = command.split(' ').collect();
            words[0] == "explain" && words.contains(&kernel.name)
        });
        assert!(is_run, "no chapter explains {}", kernel.name);
        let is_quoted = quoted.iter().any(|info| quotation(info).is_some_and(|(f, _)| f == kernel.file));
        assert!(is_quoted, "no chapter quotes {}", kernel.file);
    }
}

/// The file that a block quotes, `cuda naive.cu`, and whether as plain code: `cuda naive.cu float`.
fn quotation(info: &str) -> Option<(&str, bool)> {
    match info.strip_prefix("cuda ")?.split_once(' ') {
        None => Some((info.strip_prefix("cuda ")?, false)),
        Some((file, form)) => (form == "float").then_some((file, true)),
    }
}

#[test]
fn quotations_are_the_text_of_the_kernels() {
    let folder = repository().join("crates/tilewright-kernels/kernels");
    for chapter in Chapter::all() {
        for fence in chapter.fences() {
            let Some((name, is_plain)) = quotation(&fence.info) else {
                assert!(!fence.info.starts_with("cuda"), "{}: {} names no form", chapter.name, fence.info);
                continue;
            };
            let places = [folder.clone(), folder.join("gallery"), repository().join("docs/course/files")];
            let file = places.into_iter().map(|place| place.join(name)).find(|path| path.exists());
            let text = std::fs::read_to_string(file.unwrap_or_else(|| panic!("{}: no {name}", chapter.name)));
            let text = text.unwrap();
            let form = |line: &str| if is_plain { plain(line.trim()) } else { line.trim().to_owned() };
            let real: Vec<String> = text.lines().map(form).collect();
            let real: Vec<&str> = real.iter().map(String::as_str).collect();
            let quotation = chapter.text(fence.lines).into_iter().map(str::trim);
            let shown: Vec<&str> = [GAP].into_iter().chain(quotation).chain([GAP]).collect();
            assert_eq!(compare(&shown, &real), Ok(()), "{}: {name}", chapter.name);
        }
    }
}

/// A line of a kernel with `float` for its type, and with the numbers' own operations for those of the semiring.
fn plain(line: &str) -> String {
    let mut out = String::new();
    for word in line.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_') {
        match word.strip_prefix('T') {
            Some(rest) if !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                out += "float";
                out += rest;
            }
            _ => out += word,
        }
    }
    let mut out = out.replace("S::zero()", "0");
    const CALL: &str = " = S::multiply_add(";
    // A call that goes on in the next line stays as it is.
    while let Some((at, arguments, rest)) = out.find(CALL).and_then(|at| {
        let (arguments, rest) = call(&out[at + CALL.len()..])?;
        Some((at, arguments, rest))
    }) {
        let [a, b, sum] = arguments[..] else { panic!("{line}: three arguments") };
        assert!(out[..at].ends_with(sum), "{line}: {sum} is added to");
        out = format!("{} += {a} * {b}{rest}", &out[..at]);
    }
    out
}

/// The arguments up to the parenthesis that ends the call, and what follows it.
fn call(text: &str) -> Option<(Vec<&str>, &str)> {
    let (mut depth, mut arguments, mut start) = (1, Vec::new(), 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && c == ',' {
            arguments.push(text[start..i].trim());
            start = i + 1;
        }
        if depth == 0 {
            return Some((arguments, &text[i + 1..]));
        }
    }
    None
}

#[test]
fn plain_code_has_one_type_and_ordinary_operations() {
    for (line, expected) in [
        ("const T b = Bs[k][my_col];", "const float b = Bs[k][my_col];"),
        ("sum = S::multiply_add(A[row * lda + k], f(x, y), sum);", "sum += A[row * lda + k] * f(x, y);"),
        ("for (;;) s[i][j] = S::multiply_add(a[i], b[j], s[i][j]);", "for (;;) s[i][j] += a[i] * b[j];"),
        ("T sum = S::zero(); // TILE_K", "float sum = 0; // TILE_K"),
        ("atomicAdd(&output[b], T(1))", "atomicAdd(&output[b], float(1))"),
    ] {
        assert_eq!(plain(line), expected);
    }
}

/// A picture: its file, and the command that draws it.
struct Drawing {
    file: String,
    command: String,
}

impl Chapter {
    /// `![words](../images/FILE "tilewright COMMAND FILE")`.
    fn drawings(&self) -> Vec<Drawing> {
        let images = self.lines.iter().flat_map(|line| line.split("![").skip(1));
        let drawing = |image: &str| {
            let inside = image.split_once("](").and_then(|(_, rest)| rest.split_once(')')).unwrap().0;
            let (path, title) = inside.split_once(' ').unwrap_or_else(|| {
                panic!("{}: the title of {inside} is the command that draws it", self.name)
            });
            let file = path.strip_prefix("../images/").unwrap_or_else(|| panic!("{}: {path}", self.name));
            let command =
                title.strip_prefix("\"tilewright ").and_then(|rest| rest.strip_suffix('"')).unwrap();
            assert!(command.ends_with(file), "{}: {command} draws {file}", self.name);
            Drawing { file: file.to_owned(), command: command.to_owned() }
        };
        images.map(drawing).collect()
    }
}

#[test]
fn pictures_are_what_the_command_draws() {
    let folder = repository().join("docs/images");
    let drawings: BTreeMap<String, String> = Chapter::all()
        .iter()
        .flat_map(Chapter::drawings)
        .map(|drawing| (drawing.file, drawing.command))
        .collect();
    let desk = desk_of_the_course();
    for (file, command) in &drawings {
        let output = desk.command(command).envs([("TILEWRIGHT_NVRTC_PATH", "none")]).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        let drawn = desk.get(file);
        if std::env::var_os("TILEWRIGHT_BLESS").is_some() {
            std::fs::write(folder.join(file), &drawn).unwrap();
        }
        let recorded = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
        assert!(recorded == drawn, "TILEWRIGHT_BLESS=1 renews docs/images/{file}");
        assert!(drawn.contains("prefers-color-scheme: dark"), "{file}: one theme");
    }
    let unused: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|file| !drawings.contains_key(file))
        .collect();
    assert!(unused.is_empty(), "no chapter shows {unused:?}");
}

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

#[test]
fn the_table_of_contents_has_every_chapter_in_order() {
    let chapters = Chapter::all();
    let (contents, others): (Vec<_>, Vec<_>) =
        chapters.iter().partition(|chapter| chapter.name == "README.md");
    let linked: Vec<&str> = contents[0]
        .lines
        .iter()
        .flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split(')').next()))
        .filter(|target| target.ends_with(".md") && !target.contains('/'))
        .collect();
    let names: Vec<&str> = others.iter().map(|chapter| chapter.name.as_str()).collect();
    assert_eq!(linked, names);
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
fn a_wrong_block_is_noticed() {
    let real = ["one 1", "two 2", "three 3", "four 4"];
    for right in [
        &["one 1", "two 2", "three 3", "four 4"][..],
        &["one 1", GAP, "four 4"],
        &[GAP, "two 2", GAP],
        &[GAP, "two 2", "three 3", GAP, "four 4"],
        &["one 1", GAP],
        &[GAP],
        &["one 1", "two 2", "three 3", "four 4", GAP],
    ] {
        assert_eq!(compare(right, &real), Ok(()), "{right:?}");
    }
    for wrong in [
        &["one 1", "two 2", "three 3"][..],
        &["two 2", GAP],
        &[GAP, "three 3"],
        &["one 1", "three 3", GAP],
        &[GAP, "three 3", GAP, "two 2", GAP],
        &[GAP, "two 3", GAP],
        &[GAP, "two 2", GAP, "two 2", GAP],
        &["one 1", "two 2", "three 3", "four 4", "five 5"],
        &[],
    ] {
        assert!(compare(wrong, &real).is_err(), "{wrong:?}");
    }
}

#[test]
fn blocks_are_renewed_by_the_form_of_their_lines() {
    let real = ["one 1", "two   22 x", "three 3"];
    assert_eq!(renew(&[GAP, "two 2 x", GAP], &real), Ok(vec![GAP.into(), real[1].into(), GAP.into()]));
    assert_eq!(renew(&["one 7", "three 3,000.5"], &real).unwrap(), ["one 1", GAP, "three 3"]);
    assert!(renew(&["two 2 y"], &real).is_err());
}

#[test]
fn numbers_are_found_whole() {
    assert!(occurs("4 sectors", "x 4 sectors y") && occurs("16.5", "16.5"));
    assert!(!occurs("4 sectors", "x 14 sectors") && !occurs("16.5", "16.52") && !occurs("384", "16,384"));
}
