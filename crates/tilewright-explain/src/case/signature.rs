//! Parameters of kernels in CUDA C++, which PTX numbers.

use crate::array::split;

/// The parameters of a kernel in a source, as they are declared, in order; `None` where no kernel of this name has so many.
///
/// `entry` is the name in PTX, mangled unless the kernel is `extern "C"`: the name in the source is a part of it.
pub fn parameters(source: &str, entry: &str, count: usize) -> Option<Vec<String>> {
    let source = without_comments(source);
    let declared = kernels(&source).filter(|kernel| is_mangled_or_equal(entry, kernel.name));
    let mut lists = declared.map(|kernel| {
        let parts = split(kernel.parameters).into_iter().map(|part| part.trim().to_owned());
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>()
    });
    lists.find(|parts| parts.len() == count)
}

/// Kernels that are templates: they have code only as instances.
pub fn templates(source: &str) -> Vec<String> {
    let source = without_comments(source);
    let templates = kernels(&source).filter(|kernel| kernel.is_template);
    templates.map(|kernel| kernel.name.to_owned()).collect()
}

/// A kernel as it is declared.
struct Declared<'a> {
    name: &'a str,
    /// What stands in its brackets.
    parameters: &'a str,
    is_template: bool,
}

fn kernels(source: &str) -> impl Iterator<Item = Declared<'_>> {
    source.match_indices("__global__").filter_map(|(at, word)| {
        let rest = &source[at + word.len()..];
        // Launch bounds have parentheses of their own.
        let (open, name) = rest.match_indices('(').find_map(|(open, _)| {
            let name = rest[..open].trim_end().rsplit(|c: char| !is_identifier(c)).next()?;
            let is_name = !name.is_empty() && name != "__launch_bounds__" && name != "__attribute__";
            is_name.then_some((open, name))
        })?;
        // The name of the kernel comes before its body.
        if rest[..open].contains(['{', ';']) {
            return None;
        }
        let before = source[..at].rsplit([';', '}', '{']).next().unwrap_or_default();
        let is_template = before.split(|c: char| !is_identifier(c)).any(|word| word == "template");
        Some(Declared { name, parameters: enclosed(&rest[open..])?, is_template })
    })
}

fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// In mangled names, an identifier stands behind its length.
fn is_mangled_or_equal(entry: &str, name: &str) -> bool {
    entry == name || (entry.starts_with("_Z") && entry.contains(&format!("{}{name}", name.len())))
}

pub fn without_comments(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find('/') {
        out += &rest[..at];
        let end = match rest.as_bytes().get(at + 1) {
            Some(b'/') => rest[at..].find('\n').map(|i| at + i),
            Some(b'*') => rest[at..].find("*/").map(|i| at + i + 2),
            _ => {
                out.push('/');
                Some(at + 1)
            }
        };
        rest = end.map_or("", |end| &rest[end..]);
    }
    out + rest
}

/// What stands between the parenthesis at the start and its partner.
fn enclosed(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 {
            return Some(&text[1..i]);
        }
    }
    None
}

/// The last identifier of a declaration, before any default value or extent.
pub fn name_of(declaration: &str) -> Option<String> {
    let declaration = declaration.split(['=', '[']).next().unwrap_or_default();
    let name = declaration.trim_end().rsplit(|c: char| !is_identifier(c)).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str, entry: &str, count: usize) -> Option<Vec<String>> {
        parameters(source, entry, count)?.iter().map(|declaration| name_of(declaration)).collect()
    }

    #[test]
    fn parameters_by_name() {
        let source = "
            // __global__ void scale(int wrong)
            template <class T> struct Pair { T a, b; };
            __device__ int helper(int x) { return x; }
            extern \"C\" __global__ void __launch_bounds__(256, 2) scale(
                const float* __restrict__ A, /* the (input) */ float *B, Pair<int, float> pair, unsigned n, float alpha)
            { B[0] = helper(n); }
            __global__ void other(int only[]) {}
        ";
        let expected = ["A", "B", "pair", "n", "alpha"].map(String::from);
        assert_eq!(names(source, "scale", 5), Some(expected.to_vec()));
        assert_eq!(names(source, "_Z5otherPi", 1), Some(vec!["only".to_owned()]));
        assert_eq!(names(source, "absent", 1), None);
        assert_eq!(names("__global__ void none() {}", "none", 0), Some(vec![]));
    }

    #[test]
    fn overloads_and_templates() {
        let source = "template <int N> struct S {}; __global__ void f(int* a);
            __global__ void f(int* first, int second) {}
            template <class T, int N>
            __global__ __launch_bounds__(N) void g(T* x) {} // template __global__ void h()
            __global__ void h(S<4> s) {}";
        assert_eq!(names(source, "_Z1fPii", 2), Some(vec!["first".to_owned(), "second".to_owned()]));
        assert_eq!(names(source, "_Z1fPi", 1), Some(vec!["a".to_owned()]));
        assert_eq!(names(source, "_Z1fPi", 3), None);
        assert_eq!(templates(source), ["g"]);
    }

    #[test]
    fn broken_sources_have_no_names() {
        for source in ["", "__global__", "__global__ void k(", "/*", "//", "__global__ k((", "/"] {
            assert_eq!(names(source, "k", 0), None, "{source}");
        }
    }
}
