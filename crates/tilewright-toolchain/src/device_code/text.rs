//! Texts that are compiled without what is for hosts: a file, and the headers of its project.

use super::declarations::{Declaration, declarations};
use super::marks::{FOR_BOTH, Marks};
use super::shape::{Shape, tokens};
use std::collections::BTreeSet;

/// A file as it is compiled.
#[derive(Debug, Clone)]
pub struct Text {
    /// As the compiler names it: its path.
    pub name: String,
    /// What is left of it.
    pub text: String,
    /// Lines of the host's declarations that were left out, from 1.
    lines: BTreeSet<u32>,
    /// Headers that were not found.
    missing: Vec<String>,
}

impl Text {
    pub fn new(name: String, text: String, missing: Vec<String>) -> Self {
        Self { name, text, lines: BTreeSet::new(), missing }
    }

    fn leave_out(&mut self, all: &[&Declaration]) {
        for one in all {
            self.lines.extend(one.lines.clone());
            one.blank(&mut self.text);
        }
    }

    /// Marks functions that compilers compute, in order.
    fn mark(&mut self, constant: &[&Declaration], marks: &Marks) {
        // From the end, as positions behind a change move.
        for one in constant.iter().rev() {
            let word = marks.constant_word(one);
            if let Some(at) = word.and_then(|word| self.text[one.bytes.clone()].find(word)) {
                self.text.insert_str(one.bytes.start + at, &format!("{FOR_BOTH} "));
            }
        }
    }

    /// Leaves out ordinary functions that nothing marks, and marks those that compilers compute.
    fn leave_out_functions(&mut self, declarations: &[Declaration], marks: &Marks) {
        let (mut hosts, mut constant) = (Vec::new(), Vec::new());
        sort(declarations, marks, &mut hosts, &mut constant);
        self.leave_out(&hosts);
        self.mark(&constant, marks);
    }

    /// Leaves out what is wrong in these lines, as far as it is not for the device; `false` where there is nothing of the kind.
    fn leave_out_faults(&mut self, faults: &BTreeSet<u32>, marks: &Marks) -> bool {
        let all = declarations(&self.text);
        let mut hosts: Vec<&Declaration> = Vec::new();
        for fault in faults {
            if let Some(one) = all.iter().find_map(|one| of_host(one, *fault, marks))
                && !hosts.contains(&one)
            {
                hosts.push(one);
            }
        }
        let has_changed = !hosts.is_empty();
        let (mut constant, hosts): (Vec<_>, Vec<_>) =
            hosts.into_iter().partition(|one| marks.is_constant_function(one));
        self.leave_out(&hosts);
        constant.sort_by_key(|one| one.bytes.start);
        self.mark(&constant, marks);
        has_changed
    }
}

/// Which functions are for hosts, and which are computed by compilers, those of classes included.
fn sort<'a>(
    all: &'a [Declaration],
    marks: &Marks,
    hosts: &mut Vec<&'a Declaration>,
    constant: &mut Vec<&'a Declaration>,
) {
    for one in all {
        if marks.is_for_host(one) && !is_virtual(one) {
            hosts.push(one);
        } else if marks.is_constant_function(one) {
            constant.push(one);
        } else {
            sort(&one.members, marks, hosts, constant);
        }
    }
}

/// What of a declaration with a fault in this line is for hosts: a member alone where it has no part in what an object holds, all of it otherwise.
fn of_host<'a>(declaration: &'a Declaration, fault: u32, marks: &Marks) -> Option<&'a Declaration> {
    let around = declaration.with_line(fault);
    let (whole, inside) = around.split_first()?;
    let can_go = |one: &Declaration| {
        let first = tokens(&one.head).first().copied().unwrap_or_default();
        let has_no_data = matches!(one.shape, Shape::Function | Shape::Call)
            || ["static", "friend", "using", "typedef"].contains(&first);
        has_no_data && !is_virtual(one) && !marks.is_for_device(one)
    };
    let member = inside.iter().rev().find(|one| can_go(one));
    member.copied().or_else(|| Some(*whole).filter(|one| !marks.is_for_device(one)))
}

/// An object holds a pointer for them.
fn is_virtual(declaration: &Declaration) -> bool {
    tokens(&declaration.head).contains(&"virtual")
}

/// Leaves out ordinary functions that nothing marks, of texts that were not written for this compiler, and says which words mark the others.
pub fn leave_out_functions(texts: &mut [Text]) -> Marks {
    let all: Vec<Vec<Declaration>> = texts.iter().map(|text| declarations(&text.text)).collect();
    let pairs = texts.iter().map(|text| text.text.as_str()).zip(all.iter().map(Vec::as_slice));
    let marks = Marks::of(pairs);
    for (text, declarations) in
        texts.iter_mut().zip(&all).filter(|(text, _)| !text.text.contains(OF_COMPILER))
    {
        text.leave_out_functions(declarations, &marks);
    }
    marks
}

/// What this compiler defines: a text that asks for it has been compiled by it.
const OF_COMPILER: &str = "__CUDACC_RTC__";

/// Leaves out what the compiler complained about; `false` where there is nothing to leave out.
pub fn leave_out_faults(texts: &mut [Text], log: &str, marks: &Marks) -> bool {
    let faults: Vec<(&str, u32)> = log.lines().filter_map(fault).collect();
    let mut has_changed = false;
    for text in texts {
        let lines: BTreeSet<u32> =
            faults.iter().filter(|(file, _)| *file == text.name).map(|(_, line)| *line).collect();
        if !lines.is_empty() {
            has_changed |= text.leave_out_faults(&lines, marks);
        }
    }
    has_changed
}

/// The headers that were not found, in words; `None` for none.
pub fn missing(texts: &[Text]) -> Option<String> {
    let missing: BTreeSet<&str> = texts.iter().flat_map(|text| &text.missing).map(String::as_str).collect();
    (!missing.is_empty()).then(|| format!("headers that were not found: {}", some(missing.into_iter())))
}

/// What was left out, in words; `None` for nothing.
pub fn note(texts: &[Text]) -> Option<String> {
    let mut parts: Vec<String> = missing(texts).into_iter().collect();
    let (main, headers) = texts.split_first()?;
    let with_lines: Vec<&Text> = headers.iter().filter(|text| !text.lines.is_empty()).collect();
    if !main.lines.is_empty() {
        parts.push(format!("code for the host, lines {}", in_ranges(&main.lines)));
    }
    if let [only] = with_lines[..] {
        parts.push(format!("code for the host, lines {} of {}", in_ranges(&only.lines), only.name));
    } else if !with_lines.is_empty() {
        let names = with_lines.iter().map(|text| text.name.as_str());
        parts.push(format!("code for the host in {}", some(names)));
    }
    (!parts.is_empty()).then(|| format!("left out: {}", parts.join("; ")))
}

/// More names than this are counted.
const MOST_NAMES: usize = 8;

fn some<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(MOST_NAMES);
    let names: Vec<&str> = names.take(MOST_NAMES).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &more
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

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str, log: &str) -> (String, Option<String>) {
        let mut texts = vec![Text::new("k.cu".into(), text.into(), Vec::new())];
        let marks = leave_out_functions(&mut texts);
        while leave_out_faults(&mut texts, log, &marks) {}
        let words: Vec<&str> = texts[0].text.split_whitespace().collect();
        (words.join(" "), note(&texts))
    }

    #[test]
    fn what_is_for_hosts_is_left_out() {
        let text = "handle all;\nint main()\n{\n  go();\n}\n__device__ int f() { return go(); }\n\nstruct S { int a; S(int); virtual void go(); };\n\
            struct D { handle h; __device__ int b(); int c(); };\nconstexpr int two() { return 2; }\n";
        let log =
            |lines: &[u32]| lines.iter().map(|line| format!("k.cu({line}): error: x\n")).collect::<String>();
        let device = "__device__ int f() { return go(); }";
        let (whole, note) = left(text, &log(&[]));
        let expected = format!(
            "handle all; {device} struct S {{ int a; S(int); virtual void go(); }}; struct D {{ handle h; __device__ int b(); }}; {FOR_BOTH} constexpr int two() {{ return 2; }}"
        );
        assert_eq!(whole, expected);
        assert_eq!(note.as_deref(), Some("left out: code for the host, lines 2-5, 9"));
        // A class with a function that is virtual goes as a whole, as an object holds a pointer for it; one for devices stays wrong.
        let (rest, note) = left(text, &log(&[1, 6, 8, 9, 10]));
        assert_eq!(rest, format!("{device} struct D {{ handle h; __device__ int b(); }};"));
        assert_eq!(note.as_deref(), Some("left out: code for the host, lines 1-5, 8-10"));
        assert_eq!(left(text, "other.h(1): error: x\nk.cu(1): warning: y\n): error").0, whole);
        // Texts that know of the compiler are left as they are.
        let known = format!("#ifndef {OF_COMPILER}\nint main() {{}}\n#endif");
        assert_eq!(left(&known, "").0, known.replace('\n', " "));
    }

    #[test]
    fn many_ranges_are_told_by_their_ends() {
        assert_eq!(in_ranges(&BTreeSet::from([3, 7, 8, 9])), "3, 7-9");
        assert_eq!(in_ranges(&(0..9).map(|i| 2 * i + 1).collect()), "1-17 in 9 parts");
        let names: Vec<String> = (0..10).map(|i| format!("{i}.h")).collect();
        assert_eq!(some(names[..8].iter().map(String::as_str)), names[..8].join(", "));
        assert!(some(names.iter().map(String::as_str)).ends_with("7.h and 2 more"));
    }
}
