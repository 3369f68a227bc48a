//! One spelling of a kernel's name: compilers, demanglers and people write `sum<3>`, `sum<3u>`, `sum<(unsigned int)3>` and
//! `void sum<3u>(float const*, float*)` for the same.

/// Other names of types.
const TYPES: [(&str, &str); 13] = [
    ("unsigned", "unsignedint"),
    ("uint32_t", "unsignedint"),
    ("int32_t", "int"),
    ("uint8_t", "unsignedchar"),
    ("int8_t", "signedchar"),
    ("uint16_t", "unsignedshort"),
    ("int16_t", "short"),
    ("uint64_t", "unsignedlong"),
    ("size_t", "unsignedlong"),
    ("int64_t", "long"),
    ("half", "__half"),
    ("true", "1"),
    ("false", "0"),
];

/// A name without result, parameters, spaces, casts and suffixes of numbers.
pub fn plain(name: &str) -> String {
    let name: String = expression(name).split_whitespace().collect();
    let Some(open) = name.find('<') else { return name };
    let (before, list) = name.split_at(open);
    before.to_owned() + &arguments(list)
}

/// A name without result and parameters, as an expression of C++ has it.
pub fn expression(name: &str) -> &str {
    let name = name.trim();
    without_parameters(name.strip_prefix("void ").unwrap_or(name)).trim()
}

/// Whether a kernel is one of CUDA's own libraries.
pub fn is_of_library(name: &str) -> bool {
    let name = name.strip_prefix("void ").unwrap_or(name);
    ["cub::", "thrust::", "cuda::", "std::", "cooperative_groups::"]
        .iter()
        .any(|space| name.starts_with(space))
}

/// A name without the list in parentheses at its end.
fn without_parameters(name: &str) -> &str {
    if !name.ends_with(')') {
        return name;
    }
    let mut depth = 0;
    for (at, c) in name.char_indices().rev() {
        depth += i32::from(c == ')') - i32::from(c == '(');
        if depth == 0 {
            return if at == 0 { name } else { name[..at].trim_end() };
        }
    }
    name
}

/// What stands from the first `<` on: words one by one.
fn arguments(list: &str) -> String {
    let mut out = String::new();
    let mut rest = list;
    while let Some(c) = rest.chars().next() {
        let is_first = out.ends_with(['<', ',']);
        if is_first
            && c == '('
            && let Some((_, behind)) = rest.split_once(')')
            && behind.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        {
            rest = behind;
            continue;
        }
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if length == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let word = &rest[..length];
        let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let word = if is_number { digits } else { word };
        out += TYPES.iter().find(|(other, _)| *other == word).map_or(word, |(_, name)| name);
        rest = &rest[length..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_kernel_are_one() {
        for (group, plain_name) in [
            (
                &[
                    "sum<3>",
                    "sum<3u>",
                    "sum< (unsigned int)3 >",
                    "void sum<3u>(float const*, float*)",
                    "sum<3>(const float *, float *)",
                ][..],
                "sum<3>",
            ),
            (&["k<true, -1>", "k<(bool)1, (int)-1>"], "k<1,-1>"),
            (
                &["ns::k<uint8_t, half>", "void ns::k<unsigned char, __half>(unsigned char*)"],
                "ns::k<unsignedchar,__half>",
            ),
            (
                &["twice<View<float, Rows> >", "twice<View<float,Rows>>(View<float, Rows>)"],
                "twice<View<float,Rows>>",
            ),
            (&["scale", "scale(float*, int)", "scale ()"], "scale"),
        ] {
            for name in group {
                assert_eq!(plain(name), plain_name, "{name}");
            }
        }
        for odd in ["", "(", ")", "<", "()", "k<(", "k<(int)", "k)"] {
            plain(odd);
        }
        assert!(is_of_library("cub::CUB_200700_SM::EmptyKernel<void>") && !is_of_library("sum<cub::Less>"));
    }
}
