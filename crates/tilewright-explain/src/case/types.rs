//! Types of parameters in C++: from the mangled name of an entry, or from its declaration.

use crate::array::{ElementType, split};
use std::{fmt, str::FromStr};
use tilewright_emulator::demangled;

/// What a kernel's source says of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CppType {
    /// A number, a vector or a complex number.
    Element(ElementType),
    Pointer(Box<CppType>),
    /// A struct, or something else with a name.
    Named(String),
}

impl FromStr for CppType {
    type Err = std::convert::Infallible;

    /// `const float* __restrict__`, `float4 const*`, `Params`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim().trim_end_matches('&').trim_end();
        for word in ["__restrict__", "__restrict", "const", "volatile", "__grid_constant__"] {
            // At the end it may be glued to a star: float*__restrict__.
            if let Some(rest) = text.strip_suffix(word)
                && rest.ends_with(|c: char| !c.is_alphanumeric() && c != '_')
            {
                return rest.parse();
            }
            if let Some(rest) = text.strip_prefix(word)
                && rest.starts_with(char::is_whitespace)
            {
                return rest.parse();
            }
        }
        if let Some(rest) = text.strip_suffix('*') {
            return rest.parse().map(|inner| Self::Pointer(Box::new(inner)));
        }
        let name = text.trim_start_matches("struct ").trim();
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain =
            name.trim_start_matches("std::").trim_start_matches("cuda::std::").trim_start_matches("thrust::");
        Ok(plain.parse().map_or(Self::Named(name.clone()), Self::Element))
    }
}

impl CppType {
    /// Whether it can be the handle of a texture.
    pub fn is_handle(&self) -> bool {
        matches!(self, Self::Element(element) if element.size() == 8 && element.lanes() == 1)
    }
}

impl fmt::Display for CppType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(element) => element.fmt(f),
            Self::Pointer(inner) => write!(f, "{inner}*"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// The types of the parameters that a mangled name tells; `None` for a name that is not mangled.
pub fn of_mangled(entry: &str) -> Option<Vec<CppType>> {
    let text = demangled(entry)?;
    let open = text.char_indices().rev().scan(0_i32, |depth, (at, c)| {
        *depth += i32::from(c == ')') - i32::from(c == '(');
        Some((*depth, at))
    });
    let open = open.skip_while(|(depth, _)| *depth <= 0).find(|(depth, _)| *depth == 0)?.1;
    let list = text[open + 1..].strip_suffix(')')?;
    let types = split(list).into_iter().map(str::trim).filter(|part| !part.is_empty());
    // A function without parameters has none of type void.
    Some(types.filter(|part| *part != "void").filter_map(|part| part.parse().ok()).collect())
}

/// Whether a name is one of CUDA's own libraries.
pub fn is_of_library(mangled: &str) -> bool {
    let name = demangled(mangled);
    let mut parts = name.iter().flat_map(|name| name.split("::"));
    parts.any(|part| matches!(part, "cuda" | "thrust" | "cub" | "std" | "cooperative_groups"))
}

/// The type of a declaration such as `const float* x` or `int only[]`.
pub fn of_declaration(declaration: &str) -> Option<CppType> {
    let declaration = declaration.split('=').next().unwrap_or_default().trim();
    let (declared, is_array) = match declaration.split_once('[') {
        Some((before, _)) => (before.trim_end(), true),
        None => (declaration, false),
    };
    let name = declared.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    let ty: CppType = declared[..declared.len() - name.len()].parse().ok()?;
    Some(if is_array { CppType::Pointer(Box::new(ty)) } else { ty })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn ty(text: &str) -> String {
        text.parse::<CppType>().unwrap().to_string()
    }

    #[test]
    fn types_of_names_and_declarations() {
        for (text, shown) in [
            ("float", "f32"),
            ("const float* __restrict__", "f32*"),
            ("float const*", "f32*"),
            ("unsigned char const* const", "u8*"),
            ("float**", "f32**"),
            ("const Params", "Params"),
            ("cuda::std::complex<float>*", "complex64*"),
            ("__half*", "f16*"),
            ("void*", "void*"),
            ("constant", "constant"),
        ] {
            assert_eq!(ty(text), shown, "{text}");
        }
        let types = |entry: &str| {
            of_mangled(entry).map(|all| all.iter().map(CppType::to_string).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(types("_Z5scaleIfEvPT_S0_").as_deref(), Some("f32* f32"));
        assert_eq!(types("_Z1kPK6float4PPh6Paramsmb").as_deref(), Some("float4* u8** Params u64 bool"));
        assert_eq!(types("_Z4nonev").as_deref(), Some(""));
        assert_eq!(types("scale"), None);
        let declared = |text: &str| of_declaration(text).unwrap().to_string();
        assert_eq!(declared("const float *__restrict__ x"), "f32*");
        assert_eq!((declared("int only[]"), declared("unsigned int n = 4")), ("i32*".into(), "u32".into()));
    }

    #[test]
    fn names_of_libraries() {
        assert!(is_of_library("_ZN6thrust8cuda_cub3parE") && is_of_library("_ZN4cuda3std3__46ranges4swapE"));
        // Variables that are in no namespace are not mangled, and `St` is the code for `std`.
        assert!(!is_of_library("St"));
        assert!(!is_of_library("table") && !is_of_library("_ZN2ns5TABLEE"));
    }
}
