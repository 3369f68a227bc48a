//! Names of the source for names of PTX.

/// The name that a variable has in the source: `partial` for `_ZZ9block_sumPKfE7partial`. What is no name of C++ stays as it is.
pub fn readable(name: &str) -> String {
    match demangled(name) {
        Some(text) => last_part(&text).to_owned(),
        None => name.to_owned(),
    }
}

/// The name that a kernel has in the source, for the name that it has in PTX: without namespaces, parameters and what Numba adds to tell versions apart.
/// What is no name of C++ stays as it is.
///
/// ```
/// use tilewright_emulator::kernel_name;
/// assert_eq!(kernel_name("_ZN5tiles3mulIfLi8EEEvPT_i"), "mul<float, 8>");
/// assert_eq!(kernel_name("saxpy"), "saxpy");
/// ```
pub fn kernel_name(name: &str) -> String {
    let Some(mut text) = demangled(name) else { return name.to_owned() };
    while let Some(start) = text.find("[abi:") {
        let end = text[start..].find(']').map_or(text.len(), |length| start + length + 1);
        text.replace_range(start..end, "");
    }
    let (mut depth, mut start, mut end) = (0, 0, text.len());
    for (at, c) in text.char_indices() {
        match c {
            '(' if depth == 0 && at > start => {
                end = at;
                break;
            }
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth -= 1,
            // Behind a type, or a namespace.
            ' ' | ':' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    text[start..end].to_owned()
}

/// The declaration that a mangled name of C++ stands for; `None` for any other name.
///
/// ```
/// use tilewright_emulator::demangled;
/// assert_eq!(demangled("_Z5scalePfi").as_deref(), Some("scale(float*, int)"));
/// assert_eq!(demangled("w"), None);
/// ```
pub fn demangled(name: &str) -> Option<String> {
    // Without the prefix, names such as `w` would be read as those of types.
    let symbol = name.starts_with("_Z").then(|| cpp_demangle::Symbol::new(name).ok())??;
    symbol.demangle().ok()
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
    fn kernels_have_the_names_of_the_source() {
        for (mangled, name) in [
            ("_Z5scalePfi", "scale"),
            ("_Z4copyIfEvPKT_PS0_", "copy<float>"),
            ("_ZN2ns4copyILi4EEEvPf", "copy<4>"),
            ("_ZN12_GLOBAL__N_16hiddenEPf", "hidden"),
            ("_ZN8__main__5scaleB2v1B20cw51cXTLSUwv1sDUaKthE5ArrayIfLi1E1C7mutable7alignedExf", "scale"),
            ("squares", "squares"),
            ("w", "w"),
            ("_Znot_a_name", "_Znot_a_name"),
        ] {
            assert_eq!(kernel_name(mangled), name, "{mangled}");
        }
    }

    #[test]
    fn variables_have_the_names_of_the_source() {
        for (mangled, name) in [
            ("_ZZ9block_sumE7partial", "partial"),
            ("_ZZ9block_sumPKfPfiE7partial", "partial"),
            ("_ZZN3foo3barIfLi3EEEvPT_E4tile", "tile"),
            ("_ZN2ns5TABLEE", "TABLE"),
            ("tile", "tile"),
            ("w", "w"),
            ("_Znot_a_name", "_Znot_a_name"),
            ("dynamic shared memory", "dynamic shared memory"),
        ] {
            assert_eq!(readable(mangled), name, "{mangled}");
        }
    }
}
