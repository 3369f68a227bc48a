//! `--picture LINE F.svg`.

use crate::failure::Failure;
use std::path::Path;
use tilewright::files;
use tilewright_explain::{Access, Explained, Line};
use tilewright_report::picture;

/// What is to be drawn, and where to.
pub struct Wanted<'a> {
    /// The end of a file's name, where one is given.
    file: Option<&'a str>,
    line: u32,
    /// The only array that is drawn, where one is given.
    array: Option<&'a str>,
    path: &'a Path,
}

impl<'a> Wanted<'a> {
    /// `15 out.svg`, `semiring.cuh:8 out.svg`, or `15:A out.svg`.
    pub fn parse(values: &'a [String]) -> Result<Self, Failure> {
        let [place, path] = values else {
            return Err(Failure::usage("--picture takes a line and a file", "as in --picture 15 out.svg"));
        };
        let is_line = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (place, array) = match place.rsplit_once(':') {
            Some((before, array)) if !is_line(array) && before.ends_with(|c: char| c.is_ascii_digit()) => {
                (before, Some(array))
            }
            _ => (place.as_str(), None),
        };
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) => (Some(file), line),
            None => (None, place),
        };
        let path = Path::new(path);
        check_svg(path)?;
        let line = line.parse().map_err(|_| {
            Failure::usage(
                format!("--picture {place}: '{line}' is no line"),
                "as in --picture 15 out.svg, 15:A or semiring.cuh:8",
            )
        })?;
        Ok(Self { file, line, array, path })
    }

    /// Draws it, and gives the path for a note.
    pub fn write(&self, explained: &Explained) -> Result<&Path, Failure> {
        let lines = &explained.explanation.lines;
        let file = self.file.unwrap_or(explained.explanation.own_file());
        let svg =
            picture(lines, &explained.recording, Some(file), self.line, self.array).ok_or_else(|| {
                let what = self.array.unwrap_or("memory");
                let what = format!("--picture {}: line {} does not access {what}", self.line, self.line);
                Failure::usage(what, accessing(lines, file))
            })?;
        files::write_bytes(self.path, svg.as_bytes())?;
        Ok(self.path)
    }
}

/// Refuses a path that is of no kind of picture.
pub fn check_svg(path: &Path) -> Result<(), Failure> {
    if path.extension().is_none_or(|extension| extension != "svg") {
        let what = format!("{}: no kind of picture", path.display());
        return Err(Failure::usage(what, "pictures are .svg"));
    }
    Ok(())
}

/// What could be drawn.
fn accessing(lines: &[Line], own: &str) -> String {
    let places = lines.iter().filter(|line| !line.accesses.is_empty()).map(|line| {
        let place = match line.file == own {
            true => line.line.to_string(),
            false => format!("{}:{}", line.file.rsplit('/').next().unwrap_or_default(), line.line),
        };
        let mut targets: Vec<String> = line.accesses.iter().map(Access::target).collect();
        targets.sort();
        targets.dedup();
        format!("{place} ({})", targets.join(", "))
    });
    format!("these do: {}", places.collect::<Vec<_>>().join(", "))
}
