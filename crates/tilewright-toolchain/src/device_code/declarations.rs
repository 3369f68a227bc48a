//! Where the declarations of a file begin and end, so that those of the host can be left out.
//!
//! This is no parser of C++: it knows comments, strings, preprocessor lines and brackets, which is enough to find what stands at the outermost level, in
//! a namespace or in a class.

use super::shape::{Shape, shape};
use std::ops::Range;

/// A declaration at the outermost level, in a namespace or in a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// Its bytes.
    pub bytes: Range<usize>,
    /// Its lines, from 1.
    pub lines: Range<u32>,
    /// What stands before its body, without comments and preprocessor lines.
    pub head: String,
    pub shape: Shape,
    /// Preprocessor lines inside, which belong to the file.
    pub directives: Vec<Range<usize>>,
    /// Those of a class.
    pub members: Vec<Declaration>,
}

impl Declaration {
    /// Replaces it by spaces, so that every line keeps its number. Preprocessor lines stay.
    pub fn blank(&self, text: &mut String) {
        let stays = |at: usize| self.directives.iter().any(|one| one.contains(&at));
        let old = text[self.bytes.clone()].char_indices();
        let new: String = old
            .map(|(i, c)| match c {
                '\n' => "\n".to_owned(),
                c if stays(self.bytes.start + i) => c.to_string(),
                // Positions of bytes must not move.
                c => " ".repeat(c.len_utf8()),
            })
            .collect();
        text.replace_range(self.bytes.clone(), &new);
    }

    /// It, and all that it has as members, the innermost last.
    pub fn with_line(&self, line: u32) -> Vec<&Declaration> {
        if !self.lines.contains(&line) {
            return Vec::new();
        }
        let inner = self.members.iter().map(|member| member.with_line(line)).find(|found| !found.is_empty());
        [self].into_iter().chain(inner.unwrap_or_default()).collect()
    }
}

/// All declarations of a file, in order.
pub fn declarations(text: &str) -> Vec<Declaration> {
    Scan::new(text, 0..text.len(), 1).run()
}

/// `protected` and some spaces.
const MOST_OF_ACCESS: usize = 32;

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    /// Comments and preprocessor lines since the declaration at hand began.
    comments: Vec<Range<usize>>,
    directives: Vec<Range<usize>>,
    /// The depth of brackets at each `#if` that is open.
    conditions: Vec<u32>,
    depth: u32,
}

/// The declaration at hand.
struct Begun {
    byte: usize,
    line: u32,
    /// Where its body begins, and in which line.
    body: Option<(usize, u32)>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str, range: Range<usize>, line: u32) -> Self {
        Scan {
            text,
            bytes: &text.as_bytes()[..range.end],
            at: range.start,
            line,
            comments: Vec::new(),
            directives: Vec::new(),
            conditions: Vec::new(),
            depth: 0,
        }
    }

    fn run(mut self) -> Vec<Declaration> {
        let mut found = Vec::new();
        let mut begun: Option<Begun> = None;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' | b' ' | b'\t' | b'\r' => self.step(1),
                b'/' if self.starts_with(b"//") => self.comment(Self::skip_line),
                b'/' if self.starts_with(b"/*") => self.comment(|scan| scan.skip_to(b"*/")),
                b'#' if self.begins_line() => self.directive(),
                // The end of a namespace, or an empty declaration.
                b'}' | b';' if begun.is_none() => self.step(1),
                _ => {
                    if begun.is_none() {
                        self.comments.clear();
                        self.directives.clear();
                    }
                    let here = (self.at, self.line);
                    let declaration = begun.get_or_insert(Begun { byte: here.0, line: here.1, body: None });
                    let start = declaration.byte;
                    let opens = byte == b'{' && self.depth == 0;
                    let opens_namespace = opens && self.is_namespace(start);
                    let ends_access = byte == b':' && self.is_access(start);
                    if opens && declaration.body.is_none() {
                        declaration.body = Some(here);
                    }
                    match byte {
                        b'"' => self.skip_string(),
                        b'\'' => self.skip_quoted(b'\''),
                        _ => self.step(1),
                    }
                    match byte {
                        // What is inside are declarations as well.
                        b'{' if opens_namespace => begun = None,
                        b':' if ends_access => begun = None,
                        b'{' | b'(' | b'[' => self.depth += 1,
                        b'}' | b')' | b']' => self.depth = self.depth.saturating_sub(1),
                        _ => {}
                    }
                    let ends = self.depth == 0 && (byte == b';' || (byte == b'}' && self.ends_here(start)));
                    if ends && let Some(done) = begun.take() {
                        found.push(self.declaration(&done));
                    }
                }
            }
        }
        found
    }

    fn declaration(&self, begun: &Begun) -> Declaration {
        let end = begun.body.map_or(self.at, |(body, _)| body);
        let head = self.plain(begun.byte..end);
        let shape = shape(&head, begun.body.is_some());
        let members = match (begun.body, shape) {
            (Some((body, line)), Shape::Class) => {
                let end = self.text[..self.at].rfind('}').unwrap_or(self.at).max(body + 1);
                Scan::new(self.text, body + 1..end, line).run()
            }
            _ => Vec::new(),
        };
        let directives = self.directives.clone();
        Declaration {
            bytes: begun.byte..self.at,
            lines: begun.line..self.line + 1,
            head,
            shape,
            directives,
            members,
        }
    }

    /// The text without comments and preprocessor lines.
    fn plain(&self, range: Range<usize>) -> String {
        let mut left_out: Vec<&Range<usize>> =
            self.comments.iter().chain(&self.directives).filter(|one| range.contains(&one.start)).collect();
        left_out.sort_by_key(|one| one.start);
        let mut plain = String::new();
        let mut at = range.start;
        for one in left_out {
            plain.push_str(self.text.get(at..one.start).unwrap_or_default());
            plain.push(' ');
            at = one.end.min(range.end);
        }
        plain + self.text.get(at..range.end).unwrap_or_default()
    }

    fn comment(&mut self, skip: impl FnOnce(&mut Self)) {
        let start = self.at;
        skip(self);
        self.comments.push(start..self.at);
    }

    /// A preprocessor line. Branches of a condition begin at the same depth: `#else` may repeat the head of a function.
    fn directive(&mut self) {
        let start = self.at;
        self.skip_directive();
        self.directives.push(start..self.at);
        let line = self.text.get(start + 1..self.at).unwrap_or_default().trim_start();
        let word: String = line.chars().take_while(char::is_ascii_alphabetic).collect();
        match word.as_str() {
            "if" | "ifdef" | "ifndef" => self.conditions.push(self.depth),
            "else" | "elif" => self.depth = self.conditions.last().copied().unwrap_or(self.depth),
            "endif" => drop(self.conditions.pop()),
            _ => {}
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
        self.plain(start..self.at)
    }

    fn is_namespace(&self, start: usize) -> bool {
        let head = self.head(start);
        let head = head.trim();
        let is_linkage = head.starts_with("extern") && head.ends_with('"');
        let words: Vec<&str> = head.split_whitespace().collect();
        is_linkage || words.contains(&"namespace") && !head.contains(['=', '('])
    }

    /// Whether the colon at hand ends `public` or its like.
    fn is_access(&self, start: usize) -> bool {
        let is_short = self.depth == 0 && self.at - start <= MOST_OF_ACCESS;
        is_short
            && self.bytes.get(self.at + 1) != Some(&b':')
            && ["public", "private", "protected"].contains(&self.head(start).trim())
    }

    /// Whether the bracket that was just closed ends the declaration: those of types and values end at their semicolon, and a constructor may set
    /// members before its body.
    fn ends_here(&self, start: usize) -> bool {
        let rest = self.bytes[self.at..].trim_ascii_start();
        if [b";", b",", b"{"].iter().any(|next| rest.starts_with(*next)) {
            return false;
        }
        let head = self.head(start);
        let head = head.split('{').next().unwrap_or_default();
        match shape(head, true) {
            Shape::Function | Shape::Call => true,
            Shape::Class => false,
            Shape::Other => {
                !head.contains('=')
                    && !["typedef", "enum"].iter().any(|word| head.trim_start().starts_with(word))
            }
        }
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
    fn members_of_a_class_are_declarations() {
        let text = "struct S : B {\n public:\n  S(int n) : a{n}, b(1) { go(); }\n  __device__ int f() { return a; }\n private:\n  int a = 1, b;\n  struct In { void g(); };\n};\nint after;";
        let all = declarations(text);
        let members: Vec<&str> = all[0].members.iter().map(|one| &text[one.bytes.clone()]).collect();
        assert_eq!(
            members,
            [
                "S(int n) : a{n}, b(1) { go(); }",
                "__device__ int f() { return a; }",
                "int a = 1, b;",
                "struct In { void g(); };",
            ]
        );
        let shapes: Vec<Shape> = all[0].members.iter().map(|one| one.shape).collect();
        assert_eq!(shapes, [Shape::Function, Shape::Function, Shape::Other, Shape::Class]);
        assert_eq!(all[0].with_line(7).len(), 3);
        assert_eq!((&text[all[1].bytes.clone()], all[1].lines.clone()), ("int after;", 9..10));
    }

    /// Each branch may have the head of a function, whose body they share.
    #[test]
    fn branches_of_a_condition_begin_alike() {
        let text = "#ifdef A\nvoid f(int a) {\n#else\nvoid f(float a) {\n#endif\n  go();\n}\n__global__ void k() {}\n";
        let all = declarations(text);
        assert_eq!(all.len(), 2, "{all:?}");
        let mut left = text.to_owned();
        all[0].blank(&mut left);
        assert_eq!(
            left.split_whitespace().collect::<Vec<_>>().join(" "),
            "#ifdef A #else #endif __global__ void k() {}"
        );
        assert_eq!(left.len(), text.len());
    }

    #[test]
    fn lines_stay_where_they_are() {
        let mut text = "int a;\nint main()\n{\n  return 0; // é\n}\n__global__ void k() {}\n".to_owned();
        let all = declarations(&text);
        assert_eq!(all[1].lines, 2..6);
        all[1].blank(&mut text);
        assert_eq!(text.lines().count(), 6);
        assert_eq!(text.lines().nth(5), Some("__global__ void k() {}"));
        assert!(!text.contains("main") && text.starts_with("int a;\n "));
    }

    #[test]
    fn broken_files_end() {
        for text in [
            "",
            "{",
            "}",
            "\"",
            "'",
            "/*",
            "#",
            "R\"(",
            "int f() {",
            "\\",
            "#\\",
            "a'",
            "struct é {",
            "#else\n}",
        ] {
            declarations(text);
        }
    }
}
