//! Files of CUDA C++ as programs have them, with host functions and headers of the host's libraries: their kernels are compiled.
//!
//! NVRTC compiles device code alone. Where it complains, functions that nothing marks are left out in the file and in the headers of its project, in place, so
//! that lines keep their numbers. Then goes what it still complains about in declarations that are not for the device, until it is content. Headers of the
//! host's libraries are replaced by what kernels use of them. Where that is not enough, `nvcc` compiles the file, if it is there.

mod declarations;
mod headers;
mod marks;
mod options;
mod prepared;
mod shape;
mod text;
mod tree;
mod warnings;

pub use options::{CompilerOptions, MathMode};

use crate::cubin::{CompiledKernel, Cubin};
use crate::nvrtc::{Compiled, Nvrtc, Output};
use crate::tool::{Nvcc, Ptxas};
use prepared::Prepared;
use std::path::Path;
use tilewright_arch::Architecture;
use tilewright_core::{Error, ErrorKind};

/// The kernels of a file, compiled.
#[derive(Debug, Clone)]
pub struct DeviceCode {
    /// The PTX.
    pub ptx: String,
    /// The entry that the instance of a template has, where one was asked for.
    pub entry: Option<String>,
    /// What was left out, and who compiled it where that was not NVRTC.
    pub notes: Vec<String>,
    /// What the compiler warned of, each with the lines that show its place.
    pub warnings: Vec<String>,
    name: String,
    options: CompilerOptions,
    by: By,
}

#[derive(Debug, Clone)]
enum By {
    Nvrtc(Prepared),
    Nvcc,
}

impl DeviceCode {
    /// Compiles the kernels of a `.cu` file, or of any file with such contents; of templates those that the file itself has instances of, and `instance`,
    /// an expression such as `scale<float>`.
    ///
    /// # Errors
    /// `io` and `bad-file` for the file, `unavailable` without a compiler, `compilation` with the compiler's log.
    pub fn compile(
        path: &Path,
        architecture: Architecture,
        options: &CompilerOptions,
        instance: Option<&str>,
    ) -> Result<Self, Error> {
        let read =
            std::fs::read(path).map_err(|source| Error::from(ErrorKind::Io { path: path.into(), source }))?;
        let text = String::from_utf8(read).map_err(|_| {
            let problem = "it is not UTF-8 text".into();
            Error::from(ErrorKind::BadFile { path: path.into(), problem, hint: None })
        })?;
        match Self::by_nvrtc(path, text, architecture, options, instance) {
            Err(refused) if matches!(refused.kind(), ErrorKind::Compilation { .. }) => {
                // What NVRTC says is said of the device code alone, and is nearer to the fault than what nvcc says.
                Self::by_nvcc(path, architecture, options, instance).map_err(|_| refused)
            }
            done => done,
        }
    }

    fn by_nvrtc(
        path: &Path,
        text: String,
        architecture: Architecture,
        options: &CompilerOptions,
        instance: Option<&str>,
    ) -> Result<Self, Error> {
        let nvrtc = Nvrtc::find()?;
        let mut prepared = Prepared::new(&nvrtc, path, text, options, instance);
        let done = prepared.settle(&nvrtc, architecture, Output::Ptx)?;
        let ptx = String::from_utf8_lossy(&done.image).trim_end_matches('\0').to_owned();
        let (name, notes) = (path.display().to_string(), done.note.into_iter().collect());
        Ok(Self {
            ptx,
            entry: done.entry,
            notes,
            warnings: warnings::warnings(&done.log),
            name,
            options: options.clone(),
            by: By::Nvrtc(prepared),
        })
    }

    fn by_nvcc(
        path: &Path,
        architecture: Architecture,
        options: &CompilerOptions,
        instance: Option<&str>,
    ) -> Result<Self, Error> {
        let mut arguments = options.arguments();
        let directory = path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        arguments.push(format!("--include-path={}", directory.display()));
        let ptx = Nvcc::find()?.ptx(path, architecture, &arguments, instance)?;
        let notes = vec!["compiled by nvcc: NVRTC did not understand all of the file".to_owned()];
        let name = path.display().to_string();
        let options = options.clone();
        Ok(Self { ptx, entry: None, notes, warnings: Vec::new(), name, options, by: By::Nvcc })
    }

    /// What each kernel takes of a multiprocessor of this architecture.
    ///
    /// # Errors
    /// As for [`DeviceCode::compile`].
    pub fn resources(&self, architecture: Architecture) -> Result<Vec<CompiledKernel>, Error> {
        let compiled = match &self.by {
            By::Nvrtc(prepared) => {
                let done = prepared.clone().settle(&Nvrtc::find()?, architecture, Output::Cubin)?;
                Compiled { image: done.image, log: done.log }
            }
            By::Nvcc => {
                Ptxas::find()?.assemble_with(&self.name, &self.ptx, architecture, &self.options.ptxas)?
            }
        };
        let cubin = Cubin::parse(&compiled.image).map_err(|error| -> Error {
            let (what, why) = (format!("the machine code of {}", self.name), error.to_string());
            ErrorKind::Unsupported { what, why, hint: "".into() }.into()
        })?;
        Ok(cubin.with_log(&compiled.log).kernels)
    }
}
