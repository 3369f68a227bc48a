//! Texts that are compiled without what is for hosts: a file, and its own headers.

use super::declarations::{blank, declarations};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A file as it is compiled.
#[derive(Debug, Clone)]
pub struct Text {
    /// As the compiler names it: the path of the file, or what `#include` says.
    pub name: String,
    /// What is left of it.
    pub text: String,
    /// Lines of the host's declarations that were left out, from 1.
    lines: BTreeSet<u32>,
    /// Headers that were not found.
    missing: Vec<String>,
}

impl Text {
    pub fn new(name: String, text: String) -> Self {
        Self { name, text, lines: BTreeSet::new(), missing: Vec::new() }
    }

    /// Leaves out what is wrong in these lines, as far as it is not for the device; `false` where there is nothing of the kind.
    fn leave_out(&mut self, faults: &BTreeSet<u32>) -> bool {
        let all = declarations(&self.text);
        let mut ranges = Vec::new();
        for fault in faults {
            let hosts = all.iter().find(|one| one.lines.contains(fault) && !one.is_for_device(&self.text));
            if let Some(one) = hosts {
                self.lines.extend(one.lines.clone());
                ranges.push(one.bytes.clone());
            } else if let Some((header, range)) = include(&self.text, *fault) {
                self.missing.push(header);
                ranges.push(range);
            }
        }
        for range in &ranges {
            blank(&mut self.text, range.clone());
        }
        !ranges.is_empty()
    }
}

/// Leaves out what the compiler complained about, in the file and in the headers that lie in `directories`; `false` where there is nothing to leave out.
pub fn leave_out(texts: &mut Vec<Text>, log: &str, directories: &[PathBuf]) -> bool {
    let faults: Vec<(&str, u32)> = log.lines().filter_map(fault).collect();
    for (file, _) in &faults {
        if !texts.iter().any(|text| text.name == *file)
            && let Some(header) = own_header(texts, Path::new(file), directories)
            && !texts.iter().any(|text| text.name == header.name)
        {
            texts.push(header);
        }
    }
    let mut has_changed = false;
    for text in texts {
        let is_here = |file: &str| file == text.name || is_same(Path::new(file), &text.name, directories);
        let lines = faults.iter().filter(|(file, _)| is_here(file)).map(|(_, line)| *line).collect();
        has_changed |= text.leave_out(&lines);
    }
    has_changed
}

/// What was left out, in words; `None` for nothing.
pub fn note(texts: &[Text]) -> Option<String> {
    let missing: BTreeSet<&str> = texts.iter().flat_map(|text| &text.missing).map(String::as_str).collect();
    let mut parts = Vec::new();
    if !missing.is_empty() {
        let missing: Vec<&str> = missing.into_iter().collect();
        parts.push(format!("headers that were not found: {}", missing.join(", ")));
    }
    for (index, text) in texts.iter().enumerate().filter(|(_, text)| !text.lines.is_empty()) {
        let place = if index == 0 { String::new() } else { format!(" of {}", text.name) };
        parts.push(format!("code for the host, lines {}{place}", in_ranges(&text.lines)));
    }
    (!parts.is_empty()).then(|| format!("left out: {}", parts.join("; ")))
}

/// More ranges than this are told by their ends.
const MOST_RANGES: usize = 8;

/// `3, 7-9`.
fn in_ranges(lines: &BTreeSet<u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &line in lines {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == line => *end = line,
            _ => ranges.push((line, line)),
        }
    }
    if let [(start, _), .., (_, end)] = ranges[..]
        && ranges.len() > MOST_RANGES
    {
        return format!("{start}-{end} in {} parts", ranges.len());
    }
    let word =
        |(start, end): (u32, u32)| if start == end { start.to_string() } else { format!("{start}-{end}") };
    ranges.into_iter().map(word).collect::<Vec<_>>().join(", ")
}

/// File and line of a message such as `scale.cu(12): error: ...`.
fn fault(message: &str) -> Option<(&str, u32)> {
    let (place, rest) = message.split_once("):")?;
    let (file, line) = place.rsplit_once('(')?;
    let is_error = [" error", " catastrophic error"].iter().any(|word| rest.starts_with(word));
    Some((file, line.parse().ok().filter(|_| is_error)?))
}

/// Whether what `#include` names is this file.
fn is_same(file: &Path, included: &str, directories: &[PathBuf]) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let wanted = real(file);
    wanted.is_some() && directories.iter().any(|directory| real(&directory.join(included)) == wanted)
}

/// The header that the compiler calls `file`, under the name by which one of the texts includes it.
fn own_header(texts: &[Text], file: &Path, directories: &[PathBuf]) -> Option<Text> {
    let lines = texts.iter().flat_map(|text| text.text.lines());
    let name = lines.filter_map(included).find(|name| is_same(file, name, directories))?;
    Some(Text::new(name.to_owned(), std::fs::read_to_string(file).ok()?))
}

/// What a line includes.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim();
    let end = if rest.starts_with('<') { '>' } else { '"' };
    rest.get(1..)?.split(end).next()
}

/// The header that a line includes, and the bytes of the line.
fn include(text: &str, line: u32) -> Option<(String, Range<usize>)> {
    let mut start = 0;
    for (number, part) in (1..).zip(text.split_inclusive('\n')) {
        if number == line {
            return Some((included(part)?.to_owned(), start..start + part.trim_end().len()));
        }
        start += part.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_for_hosts_is_left_out() {
        let text = "#include \"helper.h\" // of another\nint main()\n{\n  go();\n}\n__device__ int f() { return go(); }\n";
        let mut texts = vec![Text::new("k.cu".into(), text.into())];
        let mut leave_out =
            |log: &str| leave_out(&mut texts, log, &[]).then(|| (texts[0].text.clone(), note(&texts)));
        assert!(leave_out("k.cu(1): catastrophic error: cannot open source file \"helper.h\"").is_some());
        let log = "k.cu(4): error: identifier \"go\" is undefined\n    go();\n    ^\n\nk.cu(6): error: identifier \"go\" is undefined";
        let (text, note) = leave_out(log).expect("something was left out");
        assert_eq!(text.lines().nth(5), Some("__device__ int f() { return go(); }"));
        assert!(!text.contains("main") && !text.contains("helper"));
        let expected = "left out: headers that were not found: helper.h; code for the host, lines 2-5";
        assert_eq!(note.as_deref(), Some(expected));
        // What is left is for the device, and stays wrong.
        assert!(leave_out(log).is_none());
        assert!(
            leave_out("k.cu(9): error: beyond\nother.h(2): error: x\nk.cu(2): warning: y\n): error")
                .is_none()
        );
    }

    #[test]
    fn many_ranges_are_told_by_their_ends() {
        assert_eq!(in_ranges(&BTreeSet::from([3, 7, 8, 9])), "3, 7-9");
        assert_eq!(in_ranges(&(0..9).map(|i| 2 * i + 1).collect()), "1-17 in 9 parts");
    }

    #[test]
    fn own_headers_have_hosts_parts_as_well() {
        let directory = tempfile::tempdir().expect("a directory");
        let header = directory.path().join("sub/common.h");
        std::fs::create_dir(directory.path().join("sub")).expect("a directory");
        std::fs::write(&header, "#include <cublas_v2.h>\nvoid check(status s);\n").expect("written");
        let mut texts = vec![Text::new("k.cu".into(), "# include \"sub/common.h\"\n".into())];
        let directories = [directory.path().to_owned()];
        let log = format!(
            "{0}(1): catastrophic error: could not open source file\n{0}(2): error: status",
            header.display()
        );
        assert!(leave_out(&mut texts, &log, &directories));
        assert_eq!((texts[1].name.as_str(), texts[1].text.trim()), ("sub/common.h", ""));
        let expected =
            "left out: headers that were not found: cublas_v2.h; code for the host, lines 2 of sub/common.h";
        assert_eq!(note(&texts).as_deref(), Some(expected));
        assert_eq!(std::fs::read_to_string(&header).expect("whole").lines().count(), 2);
    }
}
