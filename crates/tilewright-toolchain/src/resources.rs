//! What the kernels of a file or a source take of a multiprocessor, without a GPU.

use crate::cubin::{CompiledKernel, Cubin};
use crate::device_code::{CompilerOptions, DeviceCode};
use crate::nvrtc::{Compiled, DEFAULT_OPTIONS, Nvrtc, Output, Source};
use crate::tool::Ptxas;
use std::path::Path;
use tilewright_arch::Architecture;
use tilewright_core::{Error, ErrorKind};

/// A kernel in one of its forms.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Input<'a> {
    /// A file: `.cu`, `.ptx` or `.cubin`.
    File(&'a Path),
    /// CUDA C++ in memory.
    Source(Source<'a>),
    /// PTX in memory.
    Ptx {
        /// Its name in messages.
        name: &'a str,
        /// The text.
        text: &'a str,
    },
}

/// What each kernel of `input` takes when it is compiled for `architecture`: CUDA C++ is compiled by NVRTC, PTX is assembled by
/// `ptxas`, a cubin is read as it is.
///
/// # Errors
/// `unavailable` where the compiler or assembler is missing, `compilation` with its log, `io` and `bad-file` for files,
/// `unsupported` for a cubin of another architecture and for a file of another kind.
///
/// ```
/// use tilewright_toolchain::{Input, Source, kernel_resources};
/// let text = "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2.0f; }";
/// let source = Source { name: "twice.cu", text, headers: &[] };
/// match kernel_resources(Input::Source(source), "sm_86".parse()?) {
///     Ok(kernels) => assert_eq!(kernels[0].name, "twice"),
///     Err(error) => assert!(error.is_unavailable()),
/// }
/// # Ok::<(), tilewright_arch::ParseComputeCapabilityError>(())
/// ```
pub fn kernel_resources(input: Input<'_>, architecture: Architecture) -> Result<Vec<CompiledKernel>, Error> {
    let compiled = match input {
        Input::Source(source) => {
            Nvrtc::find()?.compile(&source, architecture, Output::Cubin, DEFAULT_OPTIONS)?
        }
        Input::Ptx { name, text } => return ptx_resources(name, text, architecture, &[]),
        Input::File(path) => return resources_of_file(path, architecture),
    };
    read(&compiled, architecture).map_err(|problem| unsupported("the compiled kernel", problem))
}

/// What each kernel of a PTX text takes when it is assembled with these options.
///
/// # Errors
/// As for [`kernel_resources`].
pub fn ptx_resources(
    name: &str,
    text: &str,
    architecture: Architecture,
    options: &[String],
) -> Result<Vec<CompiledKernel>, Error> {
    let compiled = Ptxas::find()?.assemble_with(name, text, architecture, options)?;
    read(&compiled, architecture).map_err(|problem| unsupported("the compiled kernel", problem))
}

/// The PTX of `input`: CUDA C++ as it is compiled for `architecture`, PTX as it is.
///
/// # Errors
/// `unavailable` without NVRTC, `compilation` with its log, `io` and `bad-file` for files, `unsupported` for a file of another
/// kind.
pub fn ptx(input: Input<'_>, architecture: Architecture) -> Result<String, Error> {
    match input {
        Input::Source(source) => {
            let compiled = Nvrtc::find()?.compile(&source, architecture, Output::Ptx, DEFAULT_OPTIONS)?;
            let text = String::from_utf8_lossy(&compiled.image);
            Ok(text.trim_end_matches('\0').to_owned())
        }
        Input::Ptx { text, .. } => Ok(text.to_owned()),
        Input::File(path) => match path.extension().and_then(|extension| extension.to_str()) {
            Some("cu") => Ok(DeviceCode::compile(path, architecture, &CompilerOptions::default(), None)?.ptx),
            Some("ptx") => {
                let text = std::fs::read(path)
                    .map_err(|source| Error::from(ErrorKind::Io { path: path.to_owned(), source }))?;
                String::from_utf8(text).map_err(|_| bad(path, "it is not UTF-8 text".into()))
            }
            _ => Err(unsupported(&path.display().to_string(), "PTX comes from .cu and .ptx files".into())),
        },
    }
}

fn resources_of_file(path: &Path, architecture: Architecture) -> Result<Vec<CompiledKernel>, Error> {
    let io = |source| Error::from(ErrorKind::Io { path: path.to_owned(), source });
    let bytes = std::fs::read(path).map_err(io)?;
    let name = path.display().to_string();
    let text = || String::from_utf8(bytes.clone()).map_err(|_| bad(path, "it is not UTF-8 text".into()));
    let compiled = match path.extension().and_then(|extension| extension.to_str()) {
        Some("cu") => {
            let code = DeviceCode::compile(path, architecture, &CompilerOptions::default(), None)?;
            return code.resources(architecture);
        }
        Some("ptx") => Ptxas::find()?.assemble(&name, &text()?, architecture)?,
        Some("cubin") => Compiled { image: bytes, log: String::new() },
        _ => return Err(unsupported(&name, "kernels are read from .cu, .ptx and .cubin files".into())),
    };
    read(&compiled, architecture).map_err(|problem| bad(path, problem))
}

fn read(compiled: &Compiled, architecture: Architecture) -> Result<Vec<CompiledKernel>, String> {
    let cubin = Cubin::parse(&compiled.image).map_err(|error| error.to_string())?.with_log(&compiled.log);
    if cubin.architecture != architecture.capability.number() {
        return Err(format!("it is machine code for sm_{}, not for {architecture}", cubin.architecture));
    }
    Ok(cubin.kernels)
}

fn bad(path: &Path, problem: String) -> Error {
    ErrorKind::BadFile { path: path.to_owned(), problem, hint: None }.into()
}

fn unsupported(what: &str, why: String) -> Error {
    ErrorKind::Unsupported { what: what.into(), why, hint: "".into() }.into()
}
