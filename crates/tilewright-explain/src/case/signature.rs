//! Names of parameters in CUDA C++, which PTX numbers.

/// The names of the parameters of a kernel in a source, in order; `None` where they cannot be found.
///
/// `entry` is the name in PTX, mangled unless the kernel is `extern "C"`: the name in the source is a part of it.
pub fn parameter_names(source: &str, entry: &str) -> Option<Vec<String>> {
    let source = without_comments(source);
    source.match_indices("__global__").find_map(|(at, word)| {
        let rest = &source[at + word.len()..];
        // Launch bounds have parentheses of their own.
        let open = rest.match_indices('(').map(|(i, _)| i).find(|&i| {
            let before = rest[..i].trim_end();
            let name = before.rsplit(|c: char| !is_identifier(c)).next().unwrap_or_default();
            !name.is_empty() && is_mangled_or_equal(entry, name)
        })?;
        // The name of the kernel comes before its body.
        if rest[..open].contains(['{', ';']) {
            return None;
        }
        let list = enclosed(&rest[open..])?;
        Some(split(list).into_iter().filter_map(name_of).collect())
    })
}

fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// In mangled names, an identifier stands behind its length.
fn is_mangled_or_equal(entry: &str, name: &str) -> bool {
    entry == name || (entry.starts_with("_Z") && entry.contains(&format!("{}{name}", name.len())))
}

fn without_comments(source: &str) -> String {
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

/// The parts between commas outside of brackets.
fn split(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (i, c) in list.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

/// The last identifier of a declaration, before any default value or extent.
fn name_of(declaration: &str) -> Option<String> {
    let declaration = declaration.split(['=', '[']).next().unwrap_or_default();
    let name = declaration.trim_end().rsplit(|c: char| !is_identifier(c)).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str, entry: &str) -> Option<Vec<String>> {
        parameter_names(source, entry)
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
        assert_eq!(names(source, "scale"), Some(expected.to_vec()));
        assert_eq!(names(source, "_Z5otherPi"), Some(vec!["only".to_owned()]));
        assert_eq!(names(source, "absent"), None);
        assert_eq!(names("__global__ void none() {}", "none"), Some(vec![]));
    }

    #[test]
    fn broken_sources_have_no_names() {
        for source in ["", "__global__", "__global__ void k(", "/*", "//", "__global__ k((", "/"] {
            assert_eq!(names(source, "k"), None, "{source}");
        }
    }
}
