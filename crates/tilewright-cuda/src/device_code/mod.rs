//! Files of CUDA C++ as programs have them, with host functions and headers of the host's libraries: their kernels are compiled.
//!
//! NVRTC compiles device code alone. What it complains about in declarations that are not for the device is left out, line by line in place, until it is
//! content; headers of the host's libraries are replaced by what kernels use of them. Where that is not enough, `nvcc` compiles the file, if it is there.

mod declarations;
mod headers;
mod options;

pub use options::{CompilerOptions, MathMode};

use crate::architecture::Architecture;
use crate::cubin::{CompiledKernel, Cubin};
use crate::locate::{self, Environment};
use crate::nvrtc::{Compiled, Nvrtc, Output, Source};
use crate::tool::{Nvcc, Ptxas};
use declarations::{blank, declarations};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tilewright_core::{Error, ErrorKind};

/// After so many attempts to leave out what is not for the device, it is hopeless.
const ATTEMPTS: usize = 16;

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
    name: String,
    /// Without what is for hosts.
    text: String,
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
        let headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let source = Source { name: &self.name, text: &self.text, headers: &headers };
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
        let refused = match Self::by_nvrtc(path, text, architecture, options, instance) {
            Err(error) if matches!(error.kind(), ErrorKind::Compilation { .. }) || error.is_unavailable() => {
                error
            }
            done => return done,
        };
        match Nvcc::find() {
            Ok(nvcc) => Self::by_nvcc(&nvcc, path, architecture, options, instance, refused),
            Err(_) => Err(refused),
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
        arguments.extend(includes.chain(["-lineinfo".to_owned(), "--ptxas-options=-v".to_owned()]));
        arguments.extend(options.ptxas.iter().map(|option| format!("--ptxas-options={option}")));
        let name = path.display().to_string();
        let headers = headers::headers(&directories);
        let instance = instance.map(str::to_owned);
        let mut prepared = Prepared { name: name.clone(), text, arguments, headers, instance };
        let mut left_out = LeftOut::default();
        let mut attempts = 0..ATTEMPTS;
        let (compiled, entry) = loop {
            let failed = match prepared.compile(&nvrtc, architecture, Output::Ptx) {
                Ok(done) => break done,
                Err(failed) => failed,
            };
            let ErrorKind::Compilation { log, .. } = failed.kind() else { return Err(failed) };
            let goes_on = attempts.next().is_some() && left_out.leave_out(&mut prepared.text, &name, log);
            if !goes_on {
                return Err(failed);
            }
        };
        let ptx = String::from_utf8_lossy(&compiled.image).trim_end_matches('\0').to_owned();
        let notes = left_out.note().into_iter().collect();
        Ok(Self { ptx, entry, notes, name, options: options.clone(), by: By::Nvrtc(prepared) })
    }

    /// `refused` is what NVRTC said.
    fn by_nvcc(
        nvcc: &Nvcc,
        path: &Path,
        architecture: Architecture,
        options: &CompilerOptions,
        instance: Option<&str>,
        refused: Error,
    ) -> Result<Self, Error> {
        let mut arguments = options.arguments();
        let directory = path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        arguments.push(format!("--include-path={}", directory.display()));
        let first_line = |error: &Error| error.to_string().lines().next().unwrap_or_default().to_owned();
        // What NVRTC says is said of the device code alone, and is nearer to the fault; without NVRTC there is nothing of the kind.
        let ptx = match nvcc.ptx(path, architecture, &arguments, instance) {
            Ok(ptx) => ptx,
            Err(error) if refused.is_unavailable() && !error.is_unavailable() => return Err(error),
            Err(_) => return Err(refused),
        };
        let note = match refused.is_unavailable() {
            true => format!("compiled by nvcc: {}", first_line(&refused)),
            false => "compiled by nvcc: NVRTC did not understand all of the file".to_owned(),
        };
        let name = path.display().to_string();
        Ok(Self { ptx, entry: None, notes: vec![note], name, options: options.clone(), by: By::Nvcc })
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
    let beside = path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let toolkit = locate::include_directories(nvrtc.location(), &Environment::current());
    [beside.to_owned()].into_iter().chain(options.include.iter().cloned()).chain(toolkit).collect()
}

/// What is not compiled of a file.
#[derive(Debug, Default)]
struct LeftOut {
    /// Lines of the host's declarations, from 1.
    lines: BTreeSet<u32>,
    /// Headers that were not found.
    headers: Vec<String>,
}

impl LeftOut {
    /// Leaves out what the compiler complained about, as far as it is not for the device; `false` where there is nothing of the kind.
    fn leave_out(&mut self, text: &mut String, name: &str, log: &str) -> bool {
        let faults: BTreeSet<u32> = log.lines().filter_map(|line| fault_line(line, name)).collect();
        let all = declarations(text);
        let mut ranges = Vec::new();
        for fault in faults {
            let hosts = all.iter().find(|one| one.lines.contains(&fault) && !one.is_for_device(text));
            if let Some(one) = hosts {
                self.lines.extend(one.lines.clone());
                ranges.push(one.bytes.clone());
            } else if let Some((header, range)) = include(text, fault) {
                self.headers.push(header);
                ranges.push(range);
            }
        }
        for range in &ranges {
            blank(text, range.clone());
        }
        !ranges.is_empty()
    }

    fn note(&self) -> Option<String> {
        let mut parts = Vec::new();
        if !self.headers.is_empty() {
            parts.push(format!("headers that were not found: {}", self.headers.join(", ")));
        }
        if let Some(first) = self.lines.first() {
            let mut ranges = vec![*first..=*first];
            for &line in self.lines.iter().skip(1) {
                match ranges.last_mut() {
                    Some(range) if *range.end() + 1 == line => *range = *range.start()..=line,
                    _ => ranges.push(line..=line),
                }
            }
            let ranges: Vec<String> = ranges
                .iter()
                .map(|range| match range.start() == range.end() {
                    true => range.start().to_string(),
                    false => format!("{}-{}", range.start(), range.end()),
                })
                .collect();
            parts.push(format!("code for the host, lines {}", ranges.join(", ")));
        }
        (!parts.is_empty()).then(|| format!("left out: {}", parts.join("; ")))
    }
}

/// The line of an error message such as `scale.cu(12): error: ...` that is about this file.
fn fault_line(message: &str, name: &str) -> Option<u32> {
    let (line, rest) = message.strip_prefix(name)?.strip_prefix('(')?.split_once(')')?;
    let is_error = rest.starts_with(": error") || rest.starts_with(": catastrophic error");
    line.parse().ok().filter(|_| is_error)
}

/// The header that a line includes, and the bytes of the line.
fn include(text: &str, line: u32) -> Option<(String, std::ops::Range<usize>)> {
    let (mut start, mut number) = (0, 1);
    for part in text.split_inclusive('\n') {
        if number == line {
            let rest = part.trim().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim();
            return Some((
                rest.trim_matches(['<', '>', '"']).to_owned(),
                start..start + part.trim_end().len(),
            ));
        }
        start += part.len();
        number += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_for_hosts_is_left_out() {
        let mut text =
            "#include \"helper.h\"\nint main()\n{\n  go();\n}\n__device__ int f() { return go(); }\n"
                .to_owned();
        let mut left_out = LeftOut::default();
        let log = "k.cu(1): catastrophic error: cannot open source file \"helper.h\"";
        assert!(left_out.leave_out(&mut text, "k.cu", log));
        let log = "k.cu(4): error: identifier \"go\" is undefined\n    go();\n    ^\n\nk.cu(6): error: identifier \"go\" is undefined";
        assert!(left_out.leave_out(&mut text, "k.cu", log));
        assert_eq!(text.lines().nth(5), Some("__device__ int f() { return go(); }"));
        assert!(!text.contains("main") && !text.contains("helper"));
        assert_eq!(
            left_out.note().as_deref(),
            Some("left out: headers that were not found: helper.h; code for the host, lines 2-5")
        );
        // What is left is for the device, and stays wrong.
        assert!(!left_out.leave_out(&mut text, "k.cu", log));
        assert!(!left_out.leave_out(
            &mut text,
            "k.cu",
            "k.cu(9): error: beyond\nother.h(2): error: x\nk.cu(2): warning: y"
        ));
    }
}
