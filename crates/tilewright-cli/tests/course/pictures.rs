//! Pictures are what the command draws.

use super::{Chapter, desk_of_the_course, repository};
use std::collections::BTreeMap;

/// A picture: its file, and the command that draws it.
pub(super) struct Drawing {
    file: String,
    command: String,
}

impl Chapter {
    /// `![words](../images/FILE "tilewright COMMAND FILE")`.
    pub(super) fn drawings(&self) -> Vec<Drawing> {
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
