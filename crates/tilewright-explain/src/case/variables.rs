//! Variables of a module, as arrays that have a name: `__device__ float C[60][64]`.

use super::signature::without_comments;
use super::types::CppType;
use super::value::Parameter;
use crate::array::{Array, ElementType, Number, expression::evaluate};

/// Macros that are made of others go no deeper.
const DEEPEST: usize = 16;

/// The type and the extents of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    pub element: ElementType,
    /// None for a single value.
    pub shape: Vec<usize>,
}

impl Declared {
    /// As the source declares it, where its extents fit its bytes. `defines` are macros that a person gives, as `NAME=VALUE`.
    pub fn of(sources: &[&str], name: &str, bytes: usize, defines: &[String]) -> Option<Self> {
        let name = name.rsplit("::").next()?;
        let plain: Vec<String> = sources.iter().map(|source| without_comments(source)).collect();
        let known = |name: &str| value(&plain, defines, name, 0);
        let declared = plain.iter().find_map(|source| declared(source, name))?;
        let (element, extents) = declared;
        let shape: Option<Vec<usize>> =
            extents.iter().map(|extent| usize::try_from(evaluate(extent, &known).ok()?).ok()).collect();
        let is_whole = |shape: &Vec<usize>| {
            shape.iter().try_fold(element.size(), |all, &extent| all.checked_mul(extent)) == Some(bytes)
        };
        // Extents that are not known are left out.
        let flat = || {
            (!extents.is_empty() && bytes.is_multiple_of(element.size()))
                .then(|| vec![bytes / element.size()])
        };
        Some(Self { element, shape: shape.filter(is_whole).or_else(flat)? })
    }

    /// The array that holds it.
    pub fn array(&self, name: &str) -> Array {
        let shape = if self.shape.is_empty() { &[1][..] } else { &self.shape };
        Array::zeros(name, self.element, shape)
    }
}

impl std::fmt::Display for Declared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.element)?;
        self.shape.iter().try_for_each(|extent| write!(f, "[{extent}]"))
    }
}

/// Larger ones stay on the device.
const MOST_BYTES: usize = 1 << 30;

/// Whether a variable is one of the arrays of a launch.
pub fn is_array(variable: &Parameter) -> bool {
    // Those that stand for textures and surfaces hold no numbers.
    (1..=MOST_BYTES).contains(&variable.bytes) && !variable.ty.name().ends_with("ref")
}

/// The array of a variable: as declared, or numbers of PTX's type, which are bytes where it tells no more.
pub fn array(variable: &Parameter) -> Array {
    if let Some(declared) = &variable.declared {
        return declared.array(&variable.name);
    }
    let number = variable.ty.name().parse().unwrap_or(ElementType::Number(Number::U8));
    let (element, count) = match variable.bytes.is_multiple_of(number.size()) {
        true => (number, variable.bytes / number.size()),
        false => (ElementType::Number(Number::U8), variable.bytes),
    };
    Array::zeros(&variable.name, element, &[count])
}

/// Words before a variable that are no part of its type.
const WORDS: [&str; 8] =
    ["static", "extern", "inline", "volatile", "const", "__device__", "__constant__", "__managed__"];

/// The type of a variable on the device, and what stands in its brackets.
fn declared<'a>(source: &'a str, name: &str) -> Option<(ElementType, Vec<&'a str>)> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(name).find_map(|(at, _)| {
        let (before, behind) = (&source[..at], &source[at + name.len()..]);
        if before.ends_with(is_letter) || behind.starts_with(is_letter) {
            return None;
        }
        let statement = before.rsplit([';', '{', '}', '\n']).next().filter(|text| text.contains("__"))?;
        let words: Vec<&str> = statement.split_whitespace().collect();
        let is_marked = words.iter().any(|word| ["__device__", "__constant__", "__managed__"].contains(word));
        // A function, or a second name behind a comma.
        if !is_marked || statement.contains(['(', ',', '=']) && !statement.contains("__align__") {
            return None;
        }
        let ty: Vec<&str> = words
            .into_iter()
            .filter(|word| !WORDS.contains(word) && !word.starts_with("__align__"))
            .collect();
        let Ok(CppType::Element(element)) = ty.join(" ").parse() else { return None };
        let mut extents = Vec::new();
        let mut rest = behind.trim_start();
        while let Some(inside) = rest.strip_prefix('[') {
            let (extent, behind) = inside.split_once(']')?;
            extents.push(extent.trim());
            rest = behind.trim_start();
        }
        rest.starts_with([';', '=', '{', ',']).then_some((element, extents))
    })
}

/// The value of a macro or of a constant of a source.
fn value(sources: &[String], defines: &[String], name: &str, depth: usize) -> Option<i128> {
    if depth >= DEEPEST {
        return None;
    }
    let known = |name: &str| value(sources, defines, name, depth + 1);
    let given = defines.iter().find_map(|one| one.strip_prefix(name)?.strip_prefix('='));
    let text = given.or_else(|| {
        sources.iter().flat_map(|source| source.lines()).find_map(|line| {
            let line = line.trim();
            let of_macro = line.strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("define"));
            if let Some(rest) = of_macro {
                let rest = rest.trim_start().strip_prefix(name)?;
                return rest.starts_with([' ', '\t']).then(|| rest.trim());
            }
            let (before, text) = line.split_once('=')?;
            let is_constant =
                ["constexpr", "const"].iter().any(|word| before.split_whitespace().any(|one| one == *word));
            let is_it = is_constant && before.split_whitespace().next_back() == Some(name);
            is_it.then(|| text.split(';').next().unwrap_or_default().trim())
        })
    })?;
    evaluate(text.trim_end_matches(['u', 'U', 'l', 'L']), &known).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "#define H 60 // rows\n# define W (H + 4)\nconstexpr int N = 3;\n\
        __device__ float d_C[H][W];\nstatic __device__ double one;\n__constant__ int FACTOR[N] = { 1, 2, 3 };\n\
        __device__ unsigned long long count = 0, more;\n__device__ __align__(16) float4 v[DEPTH];\n__device__ int f(int d_D) { return d_D; }\n";

    #[test]
    fn variables_are_as_the_source_declares_them() {
        let of = |name: &str, bytes, defines: &[String]| {
            Declared::of(&["", SOURCE], name, bytes, defines).map(|declared| declared.to_string())
        };
        for (name, bytes, expected) in [
            ("d_C", 15_360, Some("f32[60][64]")),
            ("space::d_C", 15_360, Some("f32[60][64]")),
            ("one", 8, Some("f64")),
            ("FACTOR", 12, Some("i32[3]")),
            ("count", 8, Some("u64")),
            // Extents that are not known.
            ("v", 64, Some("float4[4]")),
            ("d_C", 1024, Some("f32[256]")),
            ("d_C", 1023, None),
            ("d_D", 4, None),
            ("C", 4, None),
        ] {
            assert_eq!(of(name, bytes, &[]).as_deref(), expected, "{name} {bytes}");
        }
        assert_eq!(of("v", 96, &["DEPTH=6".into()]).as_deref(), Some("float4[6]"));
    }
}
