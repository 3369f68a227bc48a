//! Names of the source for names of PTX.

/// The name that a variable has in the source: `partial` for `_ZZ9block_sumPKfE7partial`. What is no name of C++ stays as it is.
pub fn readable(name: &str) -> String {
    let Ok(symbol) = cpp_demangle::Symbol::new(name) else { return name.to_owned() };
    let Ok(text) = symbol.demangle() else { return name.to_owned() };
    last_part(&text).to_owned()
}

/// What stands behind the last `::` that is in no brackets.
fn last_part(text: &str) -> &str {
    let (mut depth, mut start) = (0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth -= 1,
            ':' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_the_names_of_the_source() {
        for (mangled, name) in [
            ("_ZZ9block_sumE7partial", "partial"),
            ("_ZZ9block_sumPKfPfiE7partial", "partial"),
            ("_ZZN3foo3barIfLi3EEEvPT_E4tile", "tile"),
            ("_ZN2ns5TABLEE", "TABLE"),
            ("tile", "tile"),
            ("_Znot_a_name", "_Znot_a_name"),
            ("dynamic shared memory", "dynamic shared memory"),
        ] {
            assert_eq!(readable(mangled), name, "{mangled}");
        }
    }
}
