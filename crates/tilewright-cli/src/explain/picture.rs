//! `--picture LINE F.svg`.

use crate::failure::Failure;
use std::path::Path;
use tilewright::files;
use tilewright_explain::{Explained, Line, picture};

/// What is to be drawn, and where to.
pub struct Wanted<'a> {
    /// The end of a file's name, where one is given.
    file: Option<&'a str>,
    line: u32,
    path: &'a Path,
}

impl<'a> Wanted<'a> {
    /// `15 out.svg`, or `semiring.cuh:8 out.svg`.
    pub fn parse(values: &'a [String]) -> Result<Self, Failure> {
        let [place, path] = values else {
            return Err(Failure::usage("--picture takes a line and a file", "as in --picture 15 out.svg"));
        };
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) => (Some(file), line),
            None => (None, place.as_str()),
        };
        let path = Path::new(path);
        if path.extension().is_none_or(|extension| extension != "svg") {
            let what = format!("--picture {place} {}: no kind of picture", path.display());
            return Err(Failure::usage(what, "pictures are .svg"));
        }
        let line = line.parse().map_err(|_| {
            Failure::usage(
                format!("--picture {place}: '{line}' is no line"),
                "as in --picture 15 out.svg, or semiring.cuh:8",
            )
        })?;
        Ok(Self { file, line, path })
    }

    /// Draws it, and gives the path for a note.
    pub fn write(&self, explained: &Explained) -> Result<&Path, Failure> {
        let lines = &explained.explanation.lines;
        let file = self.file.unwrap_or(explained.explanation.own_file());
        let svg = picture(lines, &explained.recording, Some(file), self.line).ok_or_else(|| {
            let what = format!("--picture {}: line {} accesses no memory", self.line, self.line);
            Failure::usage(what, accessing(lines, file))
        })?;
        files::write_bytes(self.path, svg.as_bytes())?;
        Ok(self.path)
    }
}

/// The lines that could be drawn.
fn accessing(lines: &[Line], own: &str) -> String {
    let places = lines.iter().filter(|line| !line.accesses.is_empty()).map(|line| match line.file == own {
        true => line.line.to_string(),
        false => format!("{}:{}", line.file.rsplit('/').next().unwrap_or_default(), line.line),
    });
    format!("these do: {}", places.collect::<Vec<_>>().join(", "))
}
