//! How C++ declares structs: parameters of templates, statements, members, as text.

use crate::array::split;

/// `typename T`, `int N = 4` of the list that stands before a template, with their defaults.
pub fn template_parameters(before: &str) -> Vec<(String, Option<String>)> {
    let Some(list) = before.trim_end().strip_suffix('>') else { return Vec::new() };
    let Some(at) = list.rfind("template") else { return Vec::new() };
    let Some(list) = list[at + "template".len()..].trim_start().strip_prefix('<') else { return Vec::new() };
    let parameter = |part: &str| {
        let (declared, default) = match part.split_once('=') {
            Some((declared, default)) => (declared, Some(default.trim().to_owned())),
            None => (part, None),
        };
        let name = declared.trim_end().rsplit(|c: char| !is_identifier(c)).next().unwrap_or_default();
        (name.to_owned(), default)
    };
    split(list).into_iter().map(parameter).collect()
}

/// What each parameter stands for.
pub fn bound(parameters: Vec<(String, Option<String>)>, arguments: &[String]) -> Vec<(String, String)> {
    let one = |(index, (name, default)): (usize, (String, Option<String>))| {
        Some((name, arguments.get(index).cloned().or(default)?))
    };
    parameters.into_iter().enumerate().filter_map(one).collect()
}

/// An argument of a template as the source would write it: `(int)4` is 4.
pub fn argument(text: &str) -> String {
    let text = text.trim();
    let cast = text.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    cast.map_or(text, |(_, value)| value).trim().to_owned()
}

/// A text with what stands for the parameters of a template.
pub fn substituted(text: &str, arguments: &[(String, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if is_identifier(c) {
            word.push(c);
            continue;
        }
        let known = arguments.iter().find(|(name, _)| *name == word);
        out += known.map_or(word.as_str(), |(_, value)| value.as_str());
        word.clear();
        out.push(c);
    }
    out
}

/// The statements of a body, without the bodies of functions and without `public:` and its like.
pub fn statements(body: &str) -> Vec<String> {
    let (mut statements, mut depth, mut text) = (Vec::new(), 0_usize, String::new());
    for c in body.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let ends = depth == 0 && (c == ';' || c == '}' && is_function(&text));
        let is_label = depth == 0 && c == ':' && matches!(text.trim(), "public" | "private" | "protected");
        if ends || is_label {
            statements.push(std::mem::take(&mut text));
        } else {
            text.push(c);
        }
    }
    let is_label = |text: &str| matches!(text.trim(), "public" | "private" | "protected");
    statements.retain(|text| !is_label(text));
    statements
}

/// Whether what ends with a brace is the body of a function, behind which no semicolon stands.
fn is_function(text: &str) -> bool {
    text.split('{').next().is_some_and(|head| head.contains('(') && !head.trim_start().starts_with("struct"))
}

/// `n` of `n = 3` and of `n{3}`.
pub fn without_initialiser(statement: &str) -> &str {
    let is_type = statement.starts_with("struct") || statement.starts_with("class");
    let end = if is_type { None } else { statement.find(['=', '{']) };
    statement[..end.unwrap_or(statement.len())].trim_end()
}

/// Whether a character stands outside of `<` and `>`.
pub fn outside_of_brackets(text: &str, wanted: char) -> bool {
    let mut depth = 0_i32;
    text.chars().any(|c| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        c == wanted && depth == 0
    })
}

/// A text without `alignas(16)` or `__align__(16)`, and the number; 1 without. `None` for a number that is not plain.
pub fn without_alignment(text: &str) -> Option<(String, usize)> {
    for word in ["alignas", "__align__"] {
        if let Some((before, rest)) = text.split_once(word) {
            let (number, behind) = rest.trim_start().strip_prefix('(')?.split_once(')')?;
            let number: usize = number.trim().parse().ok().filter(|n: &usize| n.is_power_of_two())?;
            return Some((format!("{before} {behind}"), number));
        }
    }
    Some((text.to_owned(), 1))
}

/// What stands before and behind the colon of a list of bases.
pub fn split_at_colon(head: &str) -> (&str, &str) {
    let bytes = head.as_bytes();
    let is_single = |&at: &usize| {
        bytes[at] == b':'
            && bytes.get(at + 1) != Some(&b':')
            && at.checked_sub(1).is_none_or(|before| bytes[before] != b':')
    };
    match (0..bytes.len()).find(is_single) {
        Some(at) => (&head[..at], &head[at + 1..]),
        None => (head, ""),
    }
}

/// The name in `float x[4]` or `y`, and the number of elements; `None` for what is no plain member, a field of bits for one.
pub fn declared(part: &str) -> Option<(&str, usize)> {
    if part.contains(['(', '{', '=']) || outside_of_brackets(&part.replace("::", ""), ':') {
        return None;
    }
    let (before, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
    let mut count = 1_usize;
    while let Some((extent, behind)) =
        rest.trim_start().strip_prefix('[').and_then(|inner| inner.split_once(']'))
    {
        count = count.checked_mul(extent.trim().parse().ok()?)?;
        rest = behind;
    }
    let name = before.trim_end().rsplit(|c: char| !is_identifier(c)).next()?;
    (rest.trim().is_empty() && !name.is_empty()).then_some((name, count))
}

/// What stands between the brace at the start and its partner.
pub fn enclosed(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 {
            return Some(&text[1..i]);
        }
    }
    None
}

pub fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
