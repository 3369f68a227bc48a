//! A kernel's source together with the constants that a recipe chose.

use crate::{
    kernel::{Kernel, Variant},
    shipped::SHIPPED,
};
use core::fmt::Write;

/// Options for the compiler, besides the architecture: C++17, and the source line of every instruction.
pub const COMPILER_OPTIONS: &[&str] = &["--std=c++17", "-lineinfo"];

/// Headers that kernels include, by name; they depend on nothing but the compiler.
const HEADERS: &[(&str, &str)] = &[
    ("order.cuh", include_str!("../kernels/order.cuh")),
    ("semiring.cuh", include_str!("../kernels/semiring.cuh")),
    ("ptx.cuh", include_str!("../kernels/ptx.cuh")),
    ("vector.cuh", include_str!("../kernels/vector.cuh")),
];

/// A translation unit: a kernel file, the shared headers, and the generated header `config.cuh`.
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
    pub(crate) fn of(source: Source, variant: Variant, constants: &[(&str, u32)]) -> Self {
        let stem = source.file.trim_end_matches(".cu").replace('_', "-");
        let (file, text) = (source.file, source.text);
        Self { name: format!("{stem}.{variant}"), file, source: text, config: config(variant, constants) }
    }

    /// The program of a kernel with named integer constants.
    pub(crate) fn new(kernel: &Kernel, variant: Variant, constants: &[(&str, u32)]) -> Self {
        Self::of(Source { file: kernel.file, text: kernel.source }, variant, constants)
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

    /// The PTX of this program that is part of the crate, for GPUs and machines without a compiler at hand: for compute
    /// capability 8.0 and later where the program needs it, else for 7.5 and later.
    ///
    /// `None` for a program that is not among [`crate::shipped_programs`]: with other constants, say.
    pub fn shipped_ptx(&self) -> Option<&'static str> {
        let (_, ptx) = SHIPPED.iter().find(|(name, _)| *name == self.name)?;
        ptx.strip_prefix(&self.heading())
    }

    /// The architecture that the shipped PTX is compiled for.
    pub fn shipped_architecture(&self) -> &'static str {
        // Asynchronous copies came with 8.0; without them the copies of `simt` are not ahead of anything.
        if self.source.contains("ptx.cuh") { "compute_80" } else { "compute_75" }
    }

    /// The first line of the shipped PTX: it changes with every byte of the source.
    pub fn heading(&self) -> String {
        format!("// tilewright {:016x}\n", self.fingerprint())
    }

    /// FNV-1a over the names and texts of all files.
    fn fingerprint(&self) -> u64 {
        let headers = self.headers();
        let files = headers.iter().flat_map(|(name, text)| [*name, *text]).chain([self.file, self.source]);
        let bytes = files.flat_map(|text| text.bytes().chain([0]));
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    /// The headers to give to the compiler: name and text.
    pub fn headers(&self) -> Vec<(&'static str, &str)> {
        let mut headers = HEADERS.to_vec();
        headers.push(("config.cuh", &self.config));
        headers
    }
}

/// The text of `config.cuh`.
fn config(variant: Variant, constants: &[(&str, u32)]) -> String {
    let (semiring, element) = (class(variant), element(variant));
    let mut text =
        format!("#pragma once\n#include \"semiring.cuh\"\nusing T = {element};\nusing S = {semiring}<T>;\n");
    // An enumeration, because the compiler gives a constexpr of namespace scope an address in device memory.
    for (name, value) in constants {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "enum : int {{ {name} = {value} }};");
    }
    text
}

/// The C++ class of a semiring: `min-plus` is `MinPlus`.
fn class(variant: Variant) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    variant.semiring.name().split('-').map(capital).collect()
}

/// The C++ name of an element type.
fn element(variant: Variant) -> &'static str {
    use tilewright_core::DType as D;
    match variant.dtype {
        D::F64 => "double",
        D::I8 => "signed char",
        D::I16 => "short",
        D::I32 => "int",
        D::I64 => "long long",
        D::Bool => "unsigned char",
        D::F16 => "half",
        D::Bf16 => "bfloat16",
        _ => "float",
    }
}
