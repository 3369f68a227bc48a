//! A kernel's source together with the constants that a recipe chose.

use crate::{encoding::Encoding, headers::reached, key::key, shipped::SHIPPED, variant::Variant};
use core::fmt::Write;
use tilewright_arch::{Architecture, ComputeCapability};
use tilewright_core::{DType, Error, ErrorKind, SemiringId};

/// Options for the compiler, besides the architecture: C++17, and the source line of every instruction.
pub const COMPILER_OPTIONS: &[&str] = &["--std=c++17", "-lineinfo"];

/// A translation unit: a kernel file, the headers that it reaches, and among them the generated `config.cuh`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    pub(crate) name: String,
    pub(crate) file: &'static str,
    pub(crate) source: &'static str,
    /// A few lines of constants: the semiring, the element type, the tile.
    pub(crate) config: String,
}

/// A file with an entry.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub file: &'static str,
    pub text: &'static str,
}

impl Program {
    /// The program of any file.
    pub(crate) fn of(
        source: Source,
        variant: Variant,
        encoding: Encoding,
        constants: &[(&str, u32)],
    ) -> Self {
        let program = Self::with_config(source, variant, config(&semiring(variant, encoding), constants));
        Self { name: program.name + encoding.suffix(), ..program }
    }

    /// The program of a file that computes with numbers as they are.
    pub(crate) fn of_numbers(source: Source, variant: Variant, constants: &[(&str, u32)]) -> Self {
        Self::of(source, variant, Encoding::Numbers, constants)
    }

    /// The program of a file that knows of no semiring.
    pub(crate) fn of_elements(source: Source, variant: Variant, constants: &[(&str, u32)]) -> Self {
        let types = format!("using T = {};\n", element(variant.dtype));
        Self::with_config(source, variant, config(&types, constants))
    }

    fn with_config(source: Source, variant: Variant, config: String) -> Self {
        let stem = source.file.trim_end_matches(".cu").replace('_', "-");
        let name = format!("{stem}.{variant}");
        Self { name, file: source.file, source: source.text, config }
    }

    /// A name for tables and messages, unique among the programs of the catalogue: `shared-tile.min-plus.f32`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the kernel file, for messages and line numbers.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The kernel file.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// The PTX version that the shipped PTX states: the lowest that has all it uses (line numbers of inlined functions are the
    /// newest), so that every driver from CUDA 11.2 on takes it.
    pub const SHIPPED_PTX_VERSION: &str = "7.2";

    /// The PTX of this program that comes with the catalogue, for GPUs and machines without a compiler at hand: for compute
    /// capability 7.5 and later.
    ///
    /// `None` for a program that is not among [`crate::shipped_programs`]: with other constants, say. Without the feature `ptx` there
    /// are [`crate::readable_programs`] alone.
    pub fn shipped_ptx(&self) -> Option<&'static str> {
        match SHIPPED.iter().find(|(name, _)| *name == self.name) {
            Some((_, ptx)) => ptx.strip_prefix(&self.heading()),
            None => self.archived_ptx(),
        }
    }

    #[cfg(feature = "ptx")]
    fn archived_ptx(&self) -> Option<&'static str> {
        tilewright_ptx::find(&self.name, self.key())
    }

    #[cfg(not(feature = "ptx"))]
    fn archived_ptx(&self) -> Option<&'static str> {
        None
    }

    /// The architecture that shipped PTX is compiled for: the oldest that CUDA 13 knows. It does without asynchronous copies, which came
    /// with compute capability 8.0.
    pub const SHIPPED_ARCHITECTURE: Architecture = Architecture::baseline(ComputeCapability::new(7, 5));

    /// The oldest architecture that has all that the program uses where it can: asynchronous copies came with 8.0, products of 8-bit floats by warps with 8.9.
    /// Products of warpgroups are those of 9.0 alone.
    pub fn architecture(&self) -> Architecture {
        const COPIES_ASYNCHRONOUSLY: Architecture = Architecture::baseline(ComputeCapability::new(8, 0));
        const MULTIPLIES_FLOAT8: Architecture = Architecture::baseline(ComputeCapability::new(8, 9));
        let includes = |header| self.source.contains(header);
        let otherwise =
            || match (includes("ptx.cuh"), includes("\"mma.cuh\"") && self.config.contains("float8.cuh")) {
                (_, true) => MULTIPLIES_FLOAT8,
                (true, _) => COPIES_ASYNCHRONOUSLY,
                _ => Self::SHIPPED_ARCHITECTURE,
            };
        self.only_architecture().unwrap_or_else(otherwise)
    }

    /// The one architecture whose instructions it needs; `None` for a program that compiles for all.
    pub fn only_architecture(&self) -> Option<Architecture> {
        const MULTIPLIES_IN_WARPGROUPS: Architecture = Architecture::of(ComputeCapability::new(9, 0));
        self.source.contains("\"wgmma.cuh\"").then_some(MULTIPLIES_IN_WARPGROUPS)
    }

    /// Whether it compiles for an architecture.
    ///
    /// # Errors
    /// `unavailable` where that has not the instructions that the program needs.
    pub fn check_architecture(&self, architecture: Architecture) -> Result<(), Error> {
        let Some(only) = self.only_architecture().filter(|&only| only != architecture) else { return Ok(()) };
        let why = format!("{} has instructions of {only} alone, and not of {architecture}", self.name);
        let hint = if only.capability == architecture.capability {
            "install NVRTC 12 or later".into()
        } else {
            format!("choose a GPU of compute capability {}, or another kernel", only.capability)
        };
        Err(ErrorKind::Unavailable { what: "code of this kernel", why, hint: hint.into() }.into())
    }

    /// The first line of PTX that is there to be read.
    pub fn heading(&self) -> String {
        format!("// tilewright {:016x}\n", self.key())
    }

    /// What tells whether PTX and resources that were recorded are those of this program: a hash of its code, its constants and the
    /// compiler's options.
    pub fn key(&self) -> u64 {
        key(COMPILER_OPTIONS, [(self.file, self.source)].into_iter().chain(self.headers()))
    }

    /// The headers to give to the compiler: name and text.
    pub fn headers(&self) -> Vec<(&'static str, &str)> {
        reached(self.source, &self.config)
    }
}

/// The text of `config.cuh`.
fn config(types: &str, constants: &[(&str, u32)]) -> String {
    let mut text = format!("#pragma once\n{types}");
    // An enumeration, because the compiler gives a constexpr of namespace scope an address in device memory.
    for (name, value) in constants {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "enum : int {{ {name} = {value} }};");
    }
    text
}

/// What a configuration says of a semiring, which has a header of its own, and of its types: elements, words, results, numbers; `R` computes
/// with numbers, `S` with words.
fn semiring(variant: Variant, encoding: Encoding) -> String {
    if let Some(own) = variant.own {
        return format!(
            "#include \"semiring.cuh\"\nusing T = {};\nusing Acc = T;\nusing Out = T;\nusing Scalar = T;\n{}\
             using R = Own;\nusing S = Own;\nenum : int {{ COLUMNS = 1, TERMS = 1 }};\n",
            element(variant.dtype),
            own.header()
        );
    }
    let header = variant.semiring.name().replace('-', "_");
    let [t, number, out] = [variant.dtype, variant.accumulator(), variant.output()].map(element);
    let (bytes, numbers) = match (variant.semiring, variant.dtype) {
        (SemiringId::MaxMin | SemiringId::MinMax, DType::U8) => {
            ("#include \"bytes.cuh\"\n", format!("Bytes<{}<Scalar>>", class(variant)))
        }
        (_, dtype) if dtype.is_float8() => {
            ("#include \"float8.cuh\"\n", format!("{}<Scalar>", class(variant)))
        }
        _ => ("", format!("{}<Scalar>", class(variant))),
    };
    let (include, word, computes) = match encoding.source() {
        Some((header, word, class)) => (format!("#include \"{header}\"\n"), word, class),
        None => (String::new(), number, "R"),
    };
    format!(
        "#include \"semiring.cuh\"\n#include \"{header}.cuh\"\n{bytes}{include}\
         using T = {t};\nusing Acc = {word};\nusing Out = {out};\nusing Scalar = {number};\n\
         using R = {numbers};\nusing S = {computes};\n\
         enum : int {{ COLUMNS = {}, TERMS = {} }};\n",
        encoding.columns(),
        encoding.terms()
    )
}

/// The C++ class of a semiring: `min-plus` is `MinPlus`.
fn class(variant: Variant) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    variant.semiring.name().split('-').map(capital).collect()
}

/// The C++ name of an element type.
fn element(dtype: DType) -> &'static str {
    use DType as D;
    match dtype {
        D::F64 => "double",
        D::I8 => "signed char",
        D::I16 => "short",
        D::I32 => "int",
        D::I64 => "long long",
        D::U8 | D::Bool => "unsigned char",
        D::F16 => "Half",
        D::Bf16 => "Bfloat16",
        D::E4m3 => "Float8E4m3",
        D::E5m2 => "Float8E5m2",
        _ => "float",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(source: &'static str) -> Program {
        Program { name: "a kernel".into(), file: "a.cu", source, config: String::new() }
    }

    #[test]
    fn the_oldest_architecture_is_that_of_what_is_included() {
        for (source, architecture) in [
            ("", "sm_75"),
            ("#include \"ptx.cuh\"\n", "sm_80"),
            ("#include \"ptx.cuh\"\n#include \"wgmma.cuh\"\n", "sm_90a"),
        ] {
            assert_eq!(program(source).architecture().real(), architecture);
        }
    }

    #[test]
    fn products_of_warpgroups_compile_for_one_architecture() {
        let (plain, warpgroups) = (program("#include \"ptx.cuh\"\n"), program("#include \"wgmma.cuh\"\n"));
        let check = |program: &Program, name: &str| program.check_architecture(name.parse().expect(name));
        check(&warpgroups, "sm_90a").expect("has them");
        for (name, hint) in [("sm_90", "NVRTC 12"), ("sm_86", "9.0"), ("sm_100a", "9.0"), ("sm_120a", "9.0")]
        {
            check(&plain, name).expect("compiles for all");
            let error = check(&warpgroups, name).expect_err(name);
            assert!(error.is_unavailable(), "{error}");
            assert!(error.to_string().contains(&format!("of sm_90a alone, and not of {name}")), "{error}");
            assert!(error.hint().is_some_and(|text| text.contains(hint)), "{error:?}");
        }
    }
}
