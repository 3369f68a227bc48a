//! Where the declarations of a file begin and end, so that those of the host can be left out.
//!
//! This is no parser of C++: it knows comments, strings, preprocessor lines and brackets, which is enough to find what stands at the outermost level or
//! in a namespace.

use std::ops::Range;

/// A declaration at the outermost level or in a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// Its bytes.
    pub bytes: Range<usize>,
    /// Its lines, from 1.
    pub lines: Range<u32>,
}

/// Words that make a declaration one for the device.
const DEVICE: [&str; 5] = ["__global__", "__device__", "__constant__", "__shared__", "__managed__"];

impl Declaration {
    /// Whether a device has it, too.
    pub fn is_for_device(&self, text: &str) -> bool {
        let text = &text[self.bytes.clone()];
        DEVICE.iter().any(|word| text.contains(word))
    }
}

/// `text` without `range`: spaces take its place, so that every line keeps its number.
pub fn blank(text: &mut String, range: Range<usize>) {
    let blanked: String =
        text[range.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
    text.replace_range(range, &blanked);
}

/// All declarations of a file, in order.
pub fn declarations(text: &str) -> Vec<Declaration> {
    let mut found = Scan { bytes: text.as_bytes(), at: 0, line: 1, found: Vec::new() };
    found.run();
    found.found
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
    found: Vec<Declaration>,
}

impl Scan<'_> {
    fn run(&mut self) {
        let mut depth = 0_u32;
        // Where the declaration at hand starts: its byte and its line.
        let mut start: Option<(usize, u32)> = None;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' | b' ' | b'\t' | b'\r' => self.step(1),
                b'/' if self.starts_with(b"//") => self.skip_line(),
                b'/' if self.starts_with(b"/*") => self.skip_to(b"*/"),
                b'#' if self.begins_line() => self.skip_directive(),
                // The end of a namespace.
                b'}' if start.is_none() => self.step(1),
                _ => {
                    let began = *start.get_or_insert((self.at, self.line));
                    let opens_namespace = byte == b'{' && depth == 0 && self.is_namespace(began.0);
                    match byte {
                        b'"' => self.skip_string(),
                        b'\'' => self.skip_quoted(b'\''),
                        _ => self.step(1),
                    }
                    match byte {
                        // What is inside are declarations as well.
                        b'{' if opens_namespace => start = None,
                        b'{' | b'(' | b'[' => depth += 1,
                        b'}' | b')' | b']' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    let ends = depth == 0 && (byte == b';' || (byte == b'}' && self.ends_here(began.0)));
                    if ends {
                        self.found
                            .push(Declaration { bytes: began.0..self.at, lines: began.1..self.line + 1 });
                        start = None;
                    }
                }
            }
        }
    }

    fn starts_with(&self, word: &[u8]) -> bool {
        self.bytes[self.at..].starts_with(word)
    }

    fn step(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.bytes.len());
        self.line += self.bytes[self.at..end].iter().filter(|&&byte| byte == b'\n').count() as u32;
        self.at = end;
    }

    fn skip_to(&mut self, end: &[u8]) {
        let rest = &self.bytes[self.at..];
        let length =
            rest.windows(end.len()).position(|part| part == end).map_or(rest.len(), |i| i + end.len());
        self.step(length);
    }

    fn skip_line(&mut self) {
        self.skip_to(b"\n");
    }

    /// With the lines that continue it.
    fn skip_directive(&mut self) {
        loop {
            let start = self.at;
            self.skip_line();
            let line = self.bytes[start..self.at].trim_ascii_end();
            if !line.ends_with(b"\\") || self.at >= self.bytes.len() {
                return;
            }
        }
    }

    fn begins_line(&self) -> bool {
        let before = self.bytes[..self.at].iter().rev().take_while(|&&byte| byte != b'\n');
        before.into_iter().all(|byte| byte.is_ascii_whitespace())
    }

    fn skip_quoted(&mut self, quote: u8) {
        // In a number, 1'000 for one, it separates digits.
        if quote == b'\'' && self.at > 0 && self.bytes[self.at - 1].is_ascii_alphanumeric() {
            return self.step(1);
        }
        self.step(1);
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.step(2),
                b'\n' => return,
                _ => self.step(1),
            }
            if byte == quote {
                return;
            }
        }
    }

    /// An ordinary string, or a raw one.
    fn skip_string(&mut self) {
        let is_raw = self.at > 0 && self.bytes[self.at - 1] == b'R';
        let delimiter = self.bytes[self.at + 1..].split(|&byte| byte == b'(').next().filter(|_| is_raw);
        match delimiter.filter(|delimiter| delimiter.len() <= 16) {
            Some(delimiter) => self.skip_to(&[b")", delimiter, b"\""].concat()),
            None => self.skip_quoted(b'"'),
        }
    }

    /// What stands before the bracket at hand.
    fn head(&self, start: usize) -> String {
        String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned()
    }

    fn is_namespace(&self, start: usize) -> bool {
        let head = self.head(start);
        let head = head.trim();
        let is_linkage = head.starts_with("extern") && head.ends_with('"');
        let words: Vec<&str> = head.split_whitespace().collect();
        is_linkage || words.contains(&"namespace") && !head.contains(['=', '('])
    }

    /// Whether the bracket that was just closed ends the declaration: those of types and values end at their semicolon.
    fn ends_here(&self, start: usize) -> bool {
        let rest = self.bytes[self.at..].trim_ascii_start();
        if rest.starts_with(b";") || rest.starts_with(b",") {
            return false;
        }
        let head = self.head(start);
        let head = head.split('{').next().unwrap_or_default();
        let is_function = head.contains('(');
        let is_type = ["struct", "class", "union", "enum", "typedef"]
            .iter()
            .any(|word| head.split(|c: char| !c.is_alphanumeric()).any(|other| other == *word));
        is_function || !(is_type || head.contains('='))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        declarations(text).into_iter().map(|one| &text[one.bytes]).collect()
    }

    #[test]
    fn declarations_are_found() {
        let text = r##"
#include <vector> // }
#define CALL(x) do { \
    x; } while (0)
/* struct { */ using namespace std;
struct Pair { float a, b; float sum() const { return a + b; } } pair;
__device__ float twice(float x) { return 2 * x; } // f() {
const char* text = "} \" {", brace = '}'; int big = 1'000;
auto raw = R"x( } )" )x";
static float table[] = { 1, 2 };
namespace a { namespace {
template <class T> __global__ void k(T* x) { x[0] = twice(x[1]); }
} }
extern "C" { __global__ void c() {} int host(); }
struct Later make() { return {}; }
int main() { for (;;) { } }"##;
        assert_eq!(
            texts(text),
            [
                "using namespace std;",
                "struct Pair { float a, b; float sum() const { return a + b; } } pair;",
                "__device__ float twice(float x) { return 2 * x; }",
                r##"const char* text = "} \" {", brace = '}';"##,
                "int big = 1'000;",
                r##"auto raw = R"x( } )" )x";"##,
                "static float table[] = { 1, 2 };",
                "template <class T> __global__ void k(T* x) { x[0] = twice(x[1]); }",
                "__global__ void c() {}",
                "int host();",
                "struct Later make() { return {}; }",
                "int main() { for (;;) { } }",
            ]
        );
    }

    #[test]
    fn lines_stay_where_they_are() {
        let mut text = "int a;\nint main()\n{\n  return 0; // é\n}\n__global__ void k() {}\n".to_owned();
        let all = declarations(&text);
        assert_eq!((all[1].lines.clone(), all[1].is_for_device(&text)), (2..6, false));
        assert!(all[2].is_for_device(&text));
        blank(&mut text, all[1].bytes.clone());
        assert_eq!(text.lines().count(), 6);
        assert_eq!(text.lines().nth(5), Some("__global__ void k() {}"));
        assert!(!text.contains("main") && text.starts_with("int a;\n "));
    }

    #[test]
    fn broken_files_end() {
        for text in ["", "{", "}", "\"", "'", "/*", "#", "R\"(", "int f() {", "\\", "#\\", "a'"] {
            declarations(text);
        }
    }
}
