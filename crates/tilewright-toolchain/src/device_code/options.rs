//! What a person asks of the compiler.

use std::path::PathBuf;

/// How functions such as `sinf` and division are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MathMode {
    /// As CUDA documents them.
    #[default]
    Precise,
    /// `--use_fast_math`: by approximations of the hardware, and without denormals.
    Fast,
}

/// Options for files of one's own, with the meaning that they have for `nvcc`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CompilerOptions {
    /// `-I`: where headers are looked for, after the directory of the file and before those of the toolkit.
    pub include: Vec<PathBuf>,
    /// `-D`: `NAME` or `NAME=VALUE`.
    pub define: Vec<String>,
    /// `-std`: `c++17` unless given.
    pub standard: Option<String>,
    /// `--use_fast_math`.
    pub math: MathMode,
    /// `--ptxas-options`: options of the assembler, which registers depend on.
    pub ptxas: Vec<String>,
}

impl CompilerOptions {
    /// As NVRTC and `nvcc` spell them, without the assembler's.
    pub(super) fn arguments(&self) -> Vec<String> {
        let include = self.include.iter().map(|path| format!("--include-path={}", path.display()));
        let define = self.define.iter().map(|name| format!("--define-macro={name}"));
        let standard = format!("--std={}", self.standard.as_deref().unwrap_or("c++17"));
        let fast = (self.math == MathMode::Fast).then(|| "--use_fast_math".to_owned());
        [standard].into_iter().chain(include).chain(define).chain(fast).collect()
    }
}
