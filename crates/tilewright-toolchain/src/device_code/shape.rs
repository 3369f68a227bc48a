//! What a declaration is, by the words of its head.

/// What a declaration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A function or a member of that kind, with a body or without.
    Function,
    /// A class, structure or union with its members.
    Class,
    /// Brackets behind a single name, and a body: a macro that makes a function, in most cases.
    Call,
    /// All else: variables, names of types, enumerations.
    Other,
}

/// Words with brackets that say something of a declaration, and are not its name.
const ATTRIBUTES: [&str; 10] = [
    "__attribute__",
    "__align__",
    "alignas",
    "__declspec",
    "decltype",
    "explicit",
    "noexcept",
    "requires",
    "__launch_bounds__",
    "__cluster_dims__",
];

/// What may follow the brackets of a function's parameters.
const BEHIND_PARAMETERS: [&str; 8] =
    ["const", "volatile", "noexcept", "override", "final", "throw", "requires", "try"];

/// Declarations that begin with these are neither functions nor classes.
const OTHERS: [&str; 6] = ["typedef", "using", "static_assert", "namespace", "concept", "enum"];

/// What a declaration with this head is.
pub fn shape(head: &str, has_body: bool) -> Shape {
    let all = tokens(head);
    let mut rest = all.as_slice();
    while rest.first() == Some(&"template") {
        let Some(behind) = behind_angles(&rest[1..]) else { return Shape::Other };
        rest = behind;
    }
    if rest.first().is_some_and(|first| OTHERS.contains(first)) {
        return Shape::Other;
    }
    let (mut names, mut is_class, mut angles, mut at) = (0_u32, false, 0_u32, 0);
    while let Some(&token) = rest.get(at) {
        match token {
            "operator" => return Shape::Function,
            "class" | "struct" | "union" => is_class = true,
            "<" => angles += 1,
            ">" => angles = angles.saturating_sub(1),
            "[" if rest.get(at + 1) == Some(&"[") => at = behind_brackets(rest, at) - 1,
            _ if angles > 0 => {}
            "=" => return Shape::Other,
            ":" => break,
            "(" => {
                let end = behind_brackets(rest, at);
                let name = rest.get(at.wrapping_sub(1)).copied().unwrap_or_default();
                let next = rest.get(end).copied().unwrap_or_default();
                let goes_on = is_word(next) && !BEHIND_PARAMETERS.contains(&next);
                let is_pointer = ["*", "&", "^"].contains(&rest.get(at + 1).copied().unwrap_or_default())
                    || rest.get(at + 2..at + 4) == Some(&["::", "*"]);
                if ATTRIBUTES.contains(&name) || (names == 1 && goes_on) {
                    names = names.saturating_sub(1);
                    at = end - 1;
                } else if is_pointer || !is_word(name) {
                    return Shape::Other;
                } else if names == 1 && !has_body && next == ";" && rest.len() == end + 1 {
                    // A macro, or a constructor that is not defined here.
                    return Shape::Call;
                } else if names == 1 && has_body && rest.len() == end && !name.is_empty() {
                    return if at == 1 { Shape::Call } else { Shape::Function };
                } else {
                    return Shape::Function;
                }
            }
            token if is_word(token) => names += 1,
            _ => {}
        }
        at += 1;
    }
    if is_class && has_body { Shape::Class } else { Shape::Other }
}

/// The words of a text and its signs, one by one; strings are one sign.
pub fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            c if is_letter(c) => rest.find(|c| !is_letter(c)).unwrap_or(rest.len()),
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            ':' if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    found
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_word(token: &str) -> bool {
    token.chars().next().is_some_and(is_letter)
}

/// What follows the brackets that open here, as an index.
fn behind_brackets(tokens: &[&str], open: usize) -> usize {
    let mut depth = 0_u32;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match *token {
            "(" | "[" => depth += 1,
            ")" | "]" if depth <= 1 => return at + 1,
            ")" | "]" => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

/// What follows the parameters of a template; `None` for an instance, which has none.
fn behind_angles<'a, 'b>(tokens: &'a [&'b str]) -> Option<&'a [&'b str]> {
    let (mut angles, mut brackets) = (0_u32, 0_u32);
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" => brackets += 1,
            ")" => brackets = brackets.saturating_sub(1),
            "<" if brackets == 0 => angles += 1,
            ">" if brackets == 0 && angles <= 1 => return tokens.get(at + 1..),
            ">" if brackets == 0 => angles -= 1,
            _ if angles == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_say_what_is_declared() {
        for (head, has_body, expected) in [
            ("int main()", true, Shape::Function),
            ("static inline const char* name(int x = (3));", false, Shape::Function),
            ("template <int N, class = std::enable_if_t<(N > 1)>> void f(T* x)", true, Shape::Function),
            ("S::S(int a) : a", true, Shape::Function),
            ("virtual ~S() = default;", false, Shape::Function),
            ("bool operator()(int a) const", true, Shape::Function),
            ("S& operator=(const S&);", false, Shape::Function),
            ("__attribute__((noinline)) void f();", false, Shape::Function),
            ("std::vector<std::function<void(int)>> all(torch::Tensor x)", true, Shape::Function),
            ("friend std::ostream& operator<<(std::ostream&, const S&);", false, Shape::Function),
            ("struct Later make()", true, Shape::Function),
            ("auto f(int x) -> int", true, Shape::Function),
            ("CUresult CUDAAPI cuInit(unsigned int flags);", false, Shape::Function),
            ("EXPORT(1) void f(int x);", false, Shape::Function),
            ("S(int n) : a", true, Shape::Function),
            ("S(int n) noexcept;", false, Shape::Function),
            ("PYBIND11_MODULE(name, m)", true, Shape::Call),
            ("REGISTER(name);", false, Shape::Call),
            ("struct __align__(16) S : Base<(1 > 0)>", true, Shape::Class),
            ("template <class T> class S<T, (sizeof(T) > 2)>", true, Shape::Class),
            ("template struct S<float>;", false, Shape::Other),
            ("template __global__ void k<float>(float*);", false, Shape::Other),
            ("typedef int (*handler)(int);", false, Shape::Other),
            ("void (*handler)(int);", false, Shape::Other),
            ("int (S::*member)(int);", false, Shape::Other),
            ("using F = int(int);", false, Shape::Other),
            ("int x = f(3);", false, Shape::Other),
            ("enum class A : int", true, Shape::Other),
            ("int bits : 3;", false, Shape::Other),
            ("alignas(16) float x[4];", false, Shape::Other),
            ("std::function<void(int)> f;", false, Shape::Other),
            ("std::array<int, 2> table", true, Shape::Other),
        ] {
            assert_eq!(shape(head, has_body), expected, "{head}");
        }
    }
}
