//! Programs of the CUDA toolkit that are run: the PTX assembler and the disassembler.

use crate::locate::{self, Component, Environment, Location};
use crate::nvrtc::Compiled;
use std::path::Path;
use std::process::{Command, Stdio};
use tilewright_arch::Architecture;
use tilewright_core::{Error, ErrorKind};

/// The PTX assembler.
#[derive(Debug, Clone)]
pub struct Ptxas(Location);

impl Ptxas {
    /// Finds the program.
    ///
    /// # Errors
    /// `unavailable` where it is not installed, `environment` where `TILEWRIGHT_PTXAS_PATH` names no file.
    pub fn find() -> Result<Self, Error> {
        locate::tool(Component::Ptxas, &Environment::current()).map(Self)
    }

    /// Where the program is, and by which rule it was found.
    pub fn location(&self) -> &Location {
        &self.0
    }

    /// Assembles PTX for a real architecture; the log has the resources of each kernel. `name` is for messages.
    ///
    /// # Errors
    /// `compilation` with the assembler's log, `io` when temporary files or the program fail.
    pub fn assemble(&self, name: &str, ptx: &str, architecture: Architecture) -> Result<Compiled, Error> {
        self.assemble_with(name, ptx, architecture, &[])
    }

    /// As [`Ptxas::assemble`], with further options.
    ///
    /// # Errors
    /// As [`Ptxas::assemble`].
    pub fn assemble_with(
        &self,
        name: &str,
        ptx: &str,
        architecture: Architecture,
        options: &[String],
    ) -> Result<Compiled, Error> {
        let directory = tempfile::tempdir().map_err(|source| io(&std::env::temp_dir(), source))?;
        let (input, output) = (directory.path().join("kernel.ptx"), directory.path().join("kernel.cubin"));
        std::fs::write(&input, ptx.trim_end_matches('\0')).map_err(|source| io(&input, source))?;
        let target = architecture.real();
        let mut command = Command::new(&self.0.path);
        command.arg("-v").arg(format!("-arch={target}")).args(options).arg("-o").arg(&output).arg(&input);
        let finished = run(&mut command, &self.0.path)?;
        let log = format!("{}{}", lossy(&finished.stdout), lossy(&finished.stderr))
            .replace(&*input.to_string_lossy(), name);
        if !finished.status.success() {
            let hint = match log.contains("Unsupported .version") {
                true => "this ptxas is older than the compiler that wrote the PTX",
                false => "",
            };
            return Err(ErrorKind::Compilation { what: name.into(), target, log, hint: hint.into() }.into());
        }
        let image = std::fs::read(&output).map_err(|source| io(&output, source))?;
        Ok(Compiled { image, log })
    }
}

/// The compiler of CUDA C++ for programs with host code; it needs a compiler of the host.
#[derive(Debug, Clone)]
pub struct Nvcc(Location);

impl Nvcc {
    /// Finds the program.
    ///
    /// # Errors
    /// `unavailable` where it is not installed, `environment` where `TILEWRIGHT_NVCC_PATH` names no file.
    pub fn find() -> Result<Self, Error> {
        locate::tool(Component::Nvcc, &Environment::current()).map(Self)
    }

    /// Where the program is, and by which rule it was found.
    pub fn location(&self) -> &Location {
        &self.0
    }

    /// The PTX of a file, with the `instance` of a template if one is named.
    ///
    /// # Errors
    /// `compilation` with the compiler's log, also where the host has no compiler; `io` when temporary files or the program fail.
    pub(crate) fn ptx(
        &self,
        path: &Path,
        architecture: Architecture,
        options: &[String],
        instance: Option<&str>,
    ) -> Result<String, Error> {
        let directory = tempfile::tempdir().map_err(|source| io(&std::env::temp_dir(), source))?;
        let (input, output) = (directory.path().join("kernel.cu"), directory.path().join("kernel.ptx"));
        let absolute = std::path::absolute(path).map_err(|source| io(path, source))?;
        let used = instance.map_or(String::new(), |name| format!("auto tilewright_instance = {name};\n"));
        let text = format!("#include \"{}\"\n{used}", absolute.display());
        std::fs::write(&input, text).map_err(|source| io(&input, source))?;
        let target = architecture.virtual_name();
        let mut command = Command::new(&self.0.path);
        command.arg("--ptx").arg("-lineinfo").arg(format!("--gpu-architecture={target}")).args(options);
        let finished = run(command.arg("-o").arg(&output).arg(&input), &self.0.path)?;
        let log = format!("{}{}", lossy(&finished.stdout), lossy(&finished.stderr));
        if !finished.status.success() {
            let what = path.display().to_string();
            return Err(ErrorKind::Compilation { what, target, log, hint: "".into() }.into());
        }
        std::fs::read_to_string(&output).map_err(|source| io(&output, source))
    }
}

/// The disassembler of machine code.
#[derive(Debug, Clone)]
pub struct Nvdisasm(Location);

impl Nvdisasm {
    /// Finds the program.
    ///
    /// # Errors
    /// `unavailable` where it is not installed, `environment` where `TILEWRIGHT_NVDISASM_PATH` names no file.
    pub fn find() -> Result<Self, Error> {
        locate::tool(Component::Nvdisasm, &Environment::current()).map(Self)
    }

    /// Where the program is, and by which rule it was found.
    pub fn location(&self) -> &Location {
        &self.0
    }
}

fn run(command: &mut Command, program: &Path) -> Result<std::process::Output, Error> {
    command.stdin(Stdio::null()).output().map_err(|source| io(program, source))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn io(path: &Path, source: std::io::Error) -> Error {
    ErrorKind::Io { path: path.to_owned(), source }.into()
}
