//! Types of parameters in C++: from the mangled name of an entry, or from its declaration.

use super::signature::without_comments;
use crate::array::{ElementType, split};
use std::{fmt, str::FromStr};

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
    let text = cpp_demangle::Symbol::new(entry).ok()?.demangle().ok()?;
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
    let name = cpp_demangle::Symbol::new(mangled).ok().and_then(|symbol| symbol.demangle().ok());
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

/// A member of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub ty: CppType,
    /// Bytes from the start.
    pub offset: usize,
    /// Elements of an array; 1 for others.
    pub count: usize,
}

/// The members of a struct that is defined in a source, and its size; `None` where it is not found or is not a plain list of numbers, vectors and pointers.
pub fn fields(source: &str, name: &str) -> Option<(Vec<Field>, usize)> {
    let source = without_comments(source);
    let body = body_of(&source, name.rsplit("::").next()?)?;
    let (mut fields, mut end, mut alignment) = (Vec::new(), 0_usize, 1);
    for declaration in body.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        // Several of one type stand behind each other: float a, b.
        let parts = split(declaration);
        let (first, _) = declared(parts.first()?)?;
        let ty: CppType = parts.first()?.split('[').next()?.trim_end().strip_suffix(first)?.parse().ok()?;
        let (size, align) = match &ty {
            CppType::Element(element) => (element.size(), element.alignment()),
            CppType::Pointer(_) => (8, 8),
            CppType::Named(_) => return None,
        };
        alignment = alignment.max(align);
        for part in parts {
            let (name, count) = declared(part)?;
            let offset = end.next_multiple_of(align);
            end = offset.checked_add(size.checked_mul(count)?)?;
            fields.push(Field { name: name.into(), ty: ty.clone(), offset, count });
        }
    }
    Some((fields, end.next_multiple_of(alignment)))
}

/// The name in `float x[4]` or `y`, and the number of elements; `None` for what is no plain member.
fn declared(part: &str) -> Option<(&str, usize)> {
    if part.contains(['(', '{', '=', ':']) {
        return None;
    }
    let (before, count) = match part.split_once('[') {
        Some((before, rest)) => (before, rest.trim().strip_suffix(']')?.trim().parse().ok()?),
        None => (part, 1),
    };
    let name = before.trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (!name.is_empty()).then_some((name, count))
}

/// What stands in the brackets of `struct NAME { ... }` or `struct { ... } NAME;`.
fn body_of<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    source.match_indices("struct").find_map(|(at, word)| {
        let rest = &source[at + word.len()..];
        let open = rest.find('{')?;
        let close = open + rest[open..].find('}')?;
        let is_named =
            |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
        let behind = rest[close + 1..].split(';').next()?;
        let is_it = !rest[..open].contains(';') && (is_named(&rest[..open]) || is_named(behind));
        is_it.then(|| &rest[open + 1..close])
    })
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
        assert!(!is_of_library("table") && !is_of_library("_ZN2ns5TABLEE"));
    }

    #[test]
    fn members_lie_where_the_compiler_puts_them() {
        let source = "struct Other { int z; }; // struct Params { };
            struct __align__(16) Params { float a, b; /* and */ const double *data; unsigned char flags[3]; float4 v; };
            typedef struct { half h; } Small; struct Hard { int f() { return 1; } };";
        let (all, size) = fields(source, "Params").unwrap();
        let found: Vec<_> = all.iter().map(|f| (f.name.as_str(), f.offset, f.count)).collect();
        assert_eq!(found, [("a", 0, 1), ("b", 4, 1), ("data", 8, 1), ("flags", 16, 3), ("v", 32, 1)]);
        assert_eq!((size, all[2].ty.to_string()), (48, "f64*".into()));
        assert_eq!(fields(source, "ns::Small").unwrap().1, 2);
        assert!(fields(source, "Hard").is_none() && fields(source, "Absent").is_none());
        for broken in [
            "struct",
            "struct S",
            "struct S {",
            "struct S { int",
            "struct S { ; } S",
            "struct S { int a[-1]; }",
        ] {
            fields(broken, "S");
        }
    }
}
