//! Files of CUDA C++ as programs have them, with host functions and headers of the host's libraries: their kernels are compiled.
//!
//! NVRTC compiles device code alone. What it complains about in declarations that are not for the device is left out, line by line in place, until it is
//! content; headers of the host's libraries are replaced by what kernels use of them. Where that is not enough, `nvcc` compiles the file, if it is there.

mod declarations;
mod headers;
mod options;
mod text;

pub use options::{CompilerOptions, MathMode};

use crate::architecture::Architecture;
use crate::cubin::{CompiledKernel, Cubin};
use crate::locate::{self, Environment};
use crate::nvrtc::{Compiled, Nvrtc, Output, Source};
use crate::tool::{Nvcc, Ptxas};
use std::path::{Path, PathBuf};
use text::{Text, leave_out, note};
use tilewright_core::{Error, ErrorKind};

/// After so many attempts to leave out what is not for the device, it is hopeless. A header that is missing takes one.
const ATTEMPTS: usize = 32;

/// The kernels of a file, compiled.
#[derive(Debug, Clone)]
pub struct DeviceCode {
    /// The PTX.
    pub ptx: String,
    /// The entry that the instance of a template has, where one was asked for.
    pub entry: Option<String>,
    /// What was left out, and who compiled it where that was not NVRTC.
    pub notes: Vec<String>,
    name: String,
    options: CompilerOptions,
    by: By,
}

#[derive(Debug, Clone)]
enum By {
    Nvrtc(Prepared),
    Nvcc,
}

/// What NVRTC is given.
#[derive(Debug, Clone)]
struct Prepared {
    /// The file, and those of its own headers of which something was left out.
    texts: Vec<Text>,
    arguments: Vec<String>,
    headers: Vec<(&'static str, String)>,
    instance: Option<String>,
}

impl Prepared {
    fn compile(
        &self,
        nvrtc: &Nvrtc,
        architecture: Architecture,
        output: Output,
    ) -> Result<(Compiled, Option<String>), Error> {
        let (main, own) = self.texts.split_first().map_or((None, &[][..]), |(main, own)| (Some(main), own));
        let (name, text) = main.map_or(("", ""), |main| (main.name.as_str(), main.text.as_str()));
        let own = own.iter().map(|header| (header.name.as_str(), header.text.as_str()));
        let of_hosts = self.headers.iter().map(|(name, text)| (*name, text.as_str()));
        let headers: Vec<(&str, &str)> = own.chain(of_hosts).collect();
        let source = Source { name, text, headers: &headers };
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        nvrtc.compile_instance(&source, architecture, output, &arguments, self.instance.as_deref())
    }
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
        let directories = directories(&nvrtc, path, options);
        let includes = directories.iter().map(|path| format!("--include-path={}", path.display()));
        let mut arguments = CompilerOptions { include: Vec::new(), ..options.clone() }.arguments();
        // nvcc includes these unasked, and files rely on that.
        let unasked = ["cmath", "sys/types.h"].map(|header| format!("--pre-include={header}"));
        let usual = unasked.into_iter().chain(["-lineinfo".to_owned(), "--ptxas-options=-v".to_owned()]);
        arguments.extend(includes.chain(usual));
        arguments.extend(options.ptxas.iter().map(|option| format!("--ptxas-options={option}")));
        let name = path.display().to_string();
        let headers = headers::headers(&directories);
        let instance = instance.map(str::to_owned);
        let texts = vec![Text::new(name.clone(), text)];
        let mut prepared = Prepared { texts, arguments, headers, instance };
        // Headers of the toolkit are as they should be.
        let own = own_directories(path, options);
        let mut attempts = 0..ATTEMPTS;
        let (compiled, entry) = loop {
            let failed = match prepared.compile(&nvrtc, architecture, Output::Ptx) {
                Ok(done) => break done,
                Err(failed) => failed,
            };
            let ErrorKind::Compilation { log, .. } = failed.kind() else { return Err(failed) };
            let goes_on = attempts.next().is_some() && leave_out(&mut prepared.texts, log, &own);
            if !goes_on {
                return Err(failed);
            }
        };
        let ptx = String::from_utf8_lossy(&compiled.image).trim_end_matches('\0').to_owned();
        let notes = note(&prepared.texts).into_iter().collect();
        Ok(Self { ptx, entry, notes, name, options: options.clone(), by: By::Nvrtc(prepared) })
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
        Ok(Self { ptx, entry: None, notes, name, options: options.clone(), by: By::Nvcc })
    }

    /// What each kernel takes of a multiprocessor of this architecture.
    ///
    /// # Errors
    /// As for [`DeviceCode::compile`].
    pub fn resources(&self, architecture: Architecture) -> Result<Vec<CompiledKernel>, Error> {
        let compiled = match &self.by {
            By::Nvrtc(prepared) => prepared.compile(&Nvrtc::find()?, architecture, Output::Cubin)?.0,
            By::Nvcc => {
                Ptxas::find()?.assemble_with(&self.name, &self.ptx, architecture, &self.options.ptxas)?
            }
        };
        let cubin = Cubin::parse(&compiled.image).map_err(|error| -> Error {
            let (what, why) = (format!("the machine code of {}", self.name), error.to_string());
            ErrorKind::Unsupported { what, why, hint: String::new() }.into()
        })?;
        Ok(cubin.with_log(&compiled.log).kernels)
    }
}

/// Where headers are looked for: beside the file, where a person says, in the toolkit that the compiler belongs to.
fn directories(nvrtc: &Nvrtc, path: &Path, options: &CompilerOptions) -> Vec<PathBuf> {
    let toolkit = locate::include_directories(nvrtc.location(), &Environment::current());
    own_directories(path, options).into_iter().chain(toolkit).collect()
}

fn own_directories(path: &Path, options: &CompilerOptions) -> Vec<PathBuf> {
    let beside = path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    [beside.to_owned()].into_iter().chain(options.include.iter().cloned()).collect()
}
