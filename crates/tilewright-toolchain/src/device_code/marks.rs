//! Which declarations are for a device: by CUDA's marks, and by macros that stand for them.

use super::declarations::Declaration;
use super::shape::{Shape, tokens};
use std::collections::HashSet;

/// Words that make a declaration one for the device.
const DEVICE: [&str; 5] = ["__global__", "__device__", "__constant__", "__shared__", "__managed__"];

/// The words that mark what a device has, in the texts of a program.
#[derive(Debug, Default)]
pub struct Marks {
    macros: HashSet<String>,
    /// `constexpr`, and macros that stand for it.
    constants: HashSet<String>,
    /// Names of functions that are marked somewhere: a definition need not repeat the mark.
    functions: HashSet<String>,
}

impl Marks {
    /// Those of all these texts, whose declarations come with them.
    pub fn of<'a>(texts: impl Iterator<Item = (&'a str, &'a [Declaration])> + Clone) -> Self {
        let definitions: Vec<(&str, Vec<&str>)> = texts
            .clone()
            .flat_map(|(text, _)| macros(text))
            .map(|(name, body)| (name, tokens(body)))
            .collect();
        let mut marks = Self {
            macros: closure(&definitions, HashSet::new(), is_of_cuda),
            constants: closure(&definitions, HashSet::from(["constexpr".to_owned()]), |_| false),
            functions: HashSet::new(),
        };
        let all = texts.flat_map(|(_, declarations)| declarations);
        let marked = all.filter(|one| one.shape == Shape::Function && marks.are_in(one));
        marks.functions = marked.filter_map(|one| name(&one.head)).map(str::to_owned).collect();
        marks
    }

    fn is_mark(&self, word: &str) -> bool {
        is_of_cuda(word) || self.macros.contains(word)
    }

    /// Whether the head of a declaration has one.
    fn are_in(&self, declaration: &Declaration) -> bool {
        tokens(&declaration.head).iter().any(|word| self.is_mark(word))
    }

    /// Whether a device has it, or a part of it.
    pub fn is_for_device(&self, declaration: &Declaration) -> bool {
        self.are_in(declaration) || declaration.members.iter().any(|member| self.is_for_device(member))
    }

    /// Whether no device can have it, as its form says already: an ordinary function without a mark.
    pub fn is_for_host(&self, declaration: &Declaration) -> bool {
        let words = tokens(&declaration.head);
        let has_body = !words.ends_with(&[";"]);
        let is_function = match declaration.shape {
            Shape::Function => true,
            Shape::Call => has_body,
            Shape::Class | Shape::Other => false,
        };
        // The compiler makes those, for both.
        let is_made = words.ends_with(&["default", ";"]) || words.ends_with(&["delete", ";"]);
        let is_known = |name: &str| self.functions.contains(name) || is_of_class(&words, name);
        is_function
            && !is_made
            && !self.is_constant(&words)
            && !words.iter().any(|word| self.is_mark(word))
            && !name(&declaration.head).is_some_and(is_known)
    }

    /// Whether it is a function that compilers compute, and that devices may have though nothing marks it.
    pub fn is_constant_function(&self, declaration: &Declaration) -> bool {
        let words = tokens(&declaration.head);
        declaration.shape == Shape::Function
            && self.is_constant(&words)
            && !words.iter().any(|word| *word == FOR_BOTH || self.is_mark(word))
    }

    fn is_constant(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.constants.contains(*word))
    }

    /// The word that makes a declaration a constant one.
    pub fn constant_word<'a>(&self, declaration: &'a Declaration) -> Option<&'a str> {
        tokens(&declaration.head).into_iter().find(|word| self.constants.contains(*word))
    }
}

fn is_of_cuda(word: &str) -> bool {
    // CCCL has many, for each of its compilers.
    DEVICE.contains(&word) || word.starts_with("_CCCL_") && word.ends_with("DEVICE")
}

/// These words, and the macros that are made of them or of what `is_one` knows, directly or by others.
fn closure(
    definitions: &[(&str, Vec<&str>)],
    mut found: HashSet<String>,
    is_one: impl Fn(&str) -> bool,
) -> HashSet<String> {
    loop {
        let stand_for = definitions.iter().filter(|(name, body)| {
            !found.contains(*name) && body.iter().any(|word| is_one(word) || found.contains(*word))
        });
        let new: Vec<String> = stand_for.map(|(name, _)| (*name).to_owned()).collect();
        if new.is_empty() {
            return found;
        }
        found.extend(new);
    }
}

/// A macro that marks for both what no text has marked, so that the one can be told from the other.
pub const FOR_BOTH: &str = "TILEWRIGHT_FOR_BOTH";

/// Whether the name is that of a member, defined outside of its class.
fn is_of_class(words: &[&str], name: &str) -> bool {
    words.windows(2).any(|part| part == ["::", name])
        || words.windows(3).any(|part| part == ["::", "~", name])
}

/// The name of a function: what stands before the brackets of its parameters.
fn name(head: &str) -> Option<&str> {
    let words = tokens(head);
    let open = words.iter().position(|word| *word == "(")?;
    words.get(open.checked_sub(1)?).copied()
}

/// Name and text of each macro that is defined.
fn macros(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let starts = text.match_indices('#').filter(|(at, _)| begins_line(text, *at));
    starts.filter_map(|(at, _)| {
        let rest = text[at + 1..].trim_start_matches([' ', '\t']).strip_prefix("define")?;
        let rest = &rest[..end_of_directive(rest)];
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        Some(rest.split_at(end))
    })
}

fn begins_line(text: &str, at: usize) -> bool {
    text[..at].rsplit('\n').next().is_none_or(|before| before.trim().is_empty())
}

/// With the lines that continue it.
fn end_of_directive(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end().ends_with('\\') {
            break;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::super::declarations::declarations;
    use super::*;

    #[test]
    fn macros_stand_for_marks() {
        let text = "#define HD __host__ \\\n  __device__\n# define INLINE HD inline\n#define KERNEL(name) extern \"C\" __global__ void name\n#define OTHER int\n\
            INLINE int a() { return 1; }\nOTHER b() { return 2; }\nKERNEL(k)(int* x) { x[0] = a(); }\n\
            struct S { HD int get(); int set(); };\nint S::get() { return 1; }\n__device__ int later();\nint later() { return 3; }\n\
            constexpr int two() { return 2; }\n#define CONSTANT constexpr\nCONSTANT int three() { return 3; }\nstruct Of { int x; };\nS make() = delete;\n__host__ void h();\nPYBIND11_MODULE(a, m) { go(); }\n";
        let all = declarations(text);
        let marks = Marks::of([(text, all.as_slice())].into_iter());
        let of_host: Vec<&str> =
            all.iter().filter(|one| marks.is_for_host(one)).map(|one| one.head.trim()).collect();
        assert_eq!(of_host, ["OTHER b()", "__host__ void h();", "PYBIND11_MODULE(a, m)"]);
        let of_device: Vec<&str> =
            all.iter().filter(|one| marks.is_for_device(one)).map(|one| one.head.trim()).collect();
        assert_eq!(of_device, ["INLINE int a()", "KERNEL(k)(int* x)", "struct S", "__device__ int later();"]);
        let constant: Vec<&str> =
            all.iter().filter(|one| marks.is_constant_function(one)).map(|one| one.head.trim()).collect();
        assert_eq!(constant, ["constexpr int two()", "CONSTANT int three()"]);
    }
}
