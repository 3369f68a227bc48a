//! The course in `docs/course`: its console blocks are what the command prints, its pictures what it draws, its quotations are the
//! kernels' text, and the numbers in its sentences are those of the blocks or were measured.
//!
//! A console block is one command and lines of its output; `…` stands for any number of lines. The command of a block `console 1` ends
//! with code 1: it finds a fault. Commands find the files of `docs/course/files`. A picture's title is the command that draws it. `TILEWRIGHT_BLESS=1` renews pictures, and the numbers of blocks whose lines still have their form; the sentences around
//! them are for a person to mend.

mod console;
mod form;
mod numbers;
mod pictures;
mod quotations;

use crate::support::Desk;
use std::{collections::BTreeMap, ops::Range, path::PathBuf};

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
