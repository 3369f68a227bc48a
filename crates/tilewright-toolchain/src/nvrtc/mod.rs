//! CUDA C++ to machine code or PTX, in this process and without a toolkit.

mod functions;

use crate::locate::{self, Component, Environment, Loaded, Location, Memo};
use crate::table::MissingFunction;
use sha2::{Digest, Sha256};
use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::ptr;
use tilewright_arch::{Architecture, ComputeCapability};
use tilewright_core::{Error, ErrorKind};

/// Options of every compilation: C++17, source lines, and a log of registers and spills.
pub const DEFAULT_OPTIONS: &[&str] = &["--std=c++17", "-lineinfo", "--ptxas-options=-v"];

/// The run-time compiler, loaded. It needs no GPU, and neither a driver nor a toolkit.
#[derive(Clone)]
pub struct Nvrtc {
    functions: &'static functions::Functions,
    location: Location,
    version: NvrtcVersion,
    build: Option<NvrtcBuild>,
}

/// What tells the builds of a version apart: a hash of the library's length and of its beginning, which holds the identification that its linker
/// gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NvrtcBuild(pub(crate) [u8; 32]);

impl NvrtcBuild {
    /// Tables of exported names are in it, too, and code is not.
    const BEGINNING: u64 = 64 << 10;

    fn of(library: &Path, version: NvrtcVersion) -> io::Result<Self> {
        let file = File::open(library)?;
        let length = file.metadata()?.len();
        let mut hash = Sha256::new();
        hash.update(version.to_string());
        hash.update(length.to_le_bytes());
        let mut beginning = Vec::new();
        file.take(Self::BEGINNING).read_to_end(&mut beginning)?;
        hash.update(beginning);
        Ok(Self(hash.finalize().into()))
    }
}

/// A version of NVRTC, which is that of the CUDA toolkit it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NvrtcVersion {
    /// 13 of 13.0.
    pub major: u32,
    /// 0 of 13.0.
    pub minor: u32,
}

impl NvrtcVersion {
    /// All instructions of a device that this version can be asked for: those of one architecture alone came
    /// with 12.0.
    pub const fn architecture_of(self, device: ComputeCapability) -> Architecture {
        if self.major < 12 { Architecture::baseline(device) } else { Architecture::of(device) }
    }
}

impl fmt::Display for NvrtcVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A translation unit in memory.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its name in messages and line numbers.
    pub name: &'a str,
    /// CUDA C++.
    pub text: &'a str,
    /// Name and text of the headers it may include.
    pub headers: &'a [(&'a str, &'a str)],
}

/// What the compiler makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Output {
    /// Machine code for one architecture.
    Cubin,
    /// PTX, which a driver compiles for this architecture or a later one.
    Ptx,
}

/// What the compiler has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// The cubin's bytes, or the PTX text with a terminating zero.
    pub image: Vec<u8>,
    /// Warnings, and with `--ptxas-options=-v` the resources of each kernel.
    pub log: String,
}

impl Nvrtc {
    /// Finds the compiler and loads it. What was found is kept for as long as the environment stays the same.
    ///
    /// # Errors
    /// `unavailable` where it is not installed, `environment` where `TILEWRIGHT_NVRTC_PATH` names no file.
    ///
    /// ```
    /// use tilewright_toolchain::Nvrtc;
    /// match Nvrtc::find() {
    ///     Ok(compiler) => println!("NVRTC {} at {}", compiler.version(), compiler.location()),
    ///     Err(error) => assert!(error.hint().is_some()),
    /// }
    /// ```
    pub fn find() -> Result<Self, Error> {
        static FOUND: Memo<Nvrtc> = Memo::new();
        FOUND.get(Environment::current(), Self::find_in)
    }

    pub(crate) fn find_in(environment: &Environment) -> Result<Self, Error> {
        Self::load(locate::library(Component::Nvrtc, environment)?)
    }

    /// Every compiler that can be found, the one of [`Nvrtc::find`] first: that one may be too new for a driver, and know an old GPU no longer. What was found
    /// is kept for as long as the environment stays the same.
    ///
    /// # Errors
    /// As [`Nvrtc::find`].
    pub(crate) fn all() -> Result<Vec<Self>, Error> {
        static FOUND: Memo<Vec<Nvrtc>> = Memo::new();
        FOUND.get(Environment::current(), Self::all_in)
    }

    fn all_in(environment: &Environment) -> Result<Vec<Self>, Error> {
        let loaded = locate::libraries(Component::Nvrtc, environment)?;
        // One that lacks a function is no compiler for anybody.
        Ok(loaded.into_iter().filter_map(|one| Self::load(one).ok()).collect())
    }

    fn load(loaded: Loaded) -> Result<Self, Error> {
        // SAFETY: a library of this name is NVRTC, and loaded libraries are never unloaded.
        let functions = unsafe { functions::Functions::load(loaded.library) }
            .map_err(|MissingFunction(name)| locate::incomplete(Component::Nvrtc, &loaded.location, name))?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are valid for a write.
        let code = unsafe { (functions.nvrtcVersion)(&mut major, &mut minor) };
        check(&functions, code, "asking NVRTC for its version")?;
        let version = NvrtcVersion { major: major.unsigned_abs(), minor: minor.unsigned_abs() };
        locate::load_companion(&loaded.location, &format!("libnvrtc-builtins.so.{version}"));
        let build = NvrtcBuild::of(&loaded.location.path, version).ok();
        Ok(Self { functions: Box::leak(Box::new(functions)), location: loaded.location, version, build })
    }

    /// Where the library is, and by which rule it was found.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Its version.
    pub fn version(&self) -> NvrtcVersion {
        self.version
    }

    /// Its build; none where the library's file is not known.
    pub fn build(&self) -> Option<NvrtcBuild> {
        self.build
    }

    /// The compute capabilities it compiles for, as numbers such as 86.
    ///
    /// # Errors
    /// `device` when the library fails.
    pub fn architectures(&self) -> Result<Vec<u32>, Error> {
        let doing = "asking NVRTC for its architectures";
        let mut count: c_int = 0;
        // SAFETY: the pointer is valid for a write.
        check(self.functions, unsafe { (self.functions.nvrtcGetNumSupportedArchs)(&mut count) }, doing)?;
        let mut numbers: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: there is room for the number of architectures that the library said.
        let code = unsafe { (self.functions.nvrtcGetSupportedArchs)(numbers.as_mut_ptr()) };
        check(self.functions, code, doing)?;
        Ok(numbers.into_iter().map(c_int::unsigned_abs).collect())
    }

    /// What it compiles for to suit a device: all instructions of it, or where the compiler does not know the
    /// device, the common ones of the compute capability next to it.
    ///
    /// # Errors
    /// `device` when the library fails.
    pub fn nearest(&self, device: ComputeCapability) -> Result<Architecture, Error> {
        let own = self.version.architecture_of(device);
        let known = self.architectures()?;
        if known.contains(&device.number()) {
            return Ok(own);
        }
        let nearest = known.iter().min_by_key(|n| n.abs_diff(device.number()));
        Ok(nearest.and_then(|n| n.to_string().parse().ok()).map_or(own, Architecture::baseline))
    }

    /// Compiles `source` for `architecture`; `options` come after the architecture, see [`DEFAULT_OPTIONS`].
    ///
    /// # Errors
    /// `compilation` with the compiler's log.
    pub fn compile(
        &self,
        source: &Source<'_>,
        architecture: Architecture,
        output: Output,
        options: &[&str],
    ) -> Result<Compiled, Error> {
        Ok(self.compile_instance(source, architecture, output, options, None)?.0)
    }

    /// As [`Nvrtc::compile`]; of a template also the instance that an expression such as `scale<float>` names, whose entry is given.
    ///
    /// # Errors
    /// As [`Nvrtc::compile`].
    pub fn compile_instance(
        &self,
        source: &Source<'_>,
        architecture: Architecture,
        output: Output,
        options: &[&str],
        instance: Option<&str>,
    ) -> Result<(Compiled, Option<String>), Error> {
        // Machine code is made for real architectures alone: for a virtual one the result would be empty.
        let target = match output {
            Output::Cubin => architecture.real(),
            Output::Ptx => architecture.virtual_name(),
        };
        let refused = |log: String| -> Error {
            let hint = hint(&log).into();
            ErrorKind::Compilation { what: source.name.into(), target: target.clone(), log, hint }.into()
        };
        let zero_byte = |_| refused("the source, a header or an option contains a zero byte".into());
        let mut arguments = vec![format!("--gpu-architecture={target}")];
        arguments.extend(options.iter().map(|&option| option.to_owned()));
        let arguments = c_strings(arguments.iter().map(String::as_str)).map_err(zero_byte)?;
        let program = Program::create(self.functions, source).map_err(|failure| match failure {
            CreateError::ZeroByte => refused("the source or a header contains a zero byte".into()),
            CreateError::Refused(why) => refused(why),
        })?;
        let instance = instance.map(CString::new).transpose().map_err(zero_byte)?;
        if let Some(instance) = &instance {
            // SAFETY: the program is alive, was not compiled yet, and the name ends with a zero.
            let code = unsafe { (self.functions.nvrtcAddNameExpression)(program.handle, instance.as_ptr()) };
            check(self.functions, code, "naming the instance of a template")?;
        }
        let pointers: Vec<*const c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).map_err(|_| refused("too many options".into()))?;
        // SAFETY: the program is alive, and so are `count` zero-terminated options.
        let code = unsafe { (self.functions.nvrtcCompileProgram)(program.handle, count, pointers.as_ptr()) };
        let log = program.log();
        if code != 0 {
            return Err(refused(if log.trim().is_empty() { text(self.functions, code) } else { log }));
        }
        let image = program.image(output)?;
        if image.is_empty() {
            return Err(refused(format!("no code came out of it\n{log}")));
        }
        let entry = instance.map(|instance| program.lowered_name(&instance)).transpose()?;
        Ok((Compiled { image, log }, entry))
    }
}

impl fmt::Debug for Nvrtc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nvrtc").field("version", &self.version).field("location", &self.location).finish()
    }
}

/// A program of the library, destroyed when dropped.
struct Program {
    functions: &'static functions::Functions,
    handle: functions::Program,
}

enum CreateError {
    ZeroByte,
    Refused(String),
}

impl Program {
    fn create(functions: &'static functions::Functions, source: &Source<'_>) -> Result<Self, CreateError> {
        let zero_byte = |_| CreateError::ZeroByte;
        let text = CString::new(source.text).map_err(zero_byte)?;
        let name = CString::new(source.name).map_err(zero_byte)?;
        let header_names = c_strings(source.headers.iter().map(|header| header.0)).map_err(zero_byte)?;
        let header_texts = c_strings(source.headers.iter().map(|header| header.1)).map_err(zero_byte)?;
        let names: Vec<*const c_char> = header_names.iter().map(|name| name.as_ptr()).collect();
        let texts: Vec<*const c_char> = header_texts.iter().map(|text| text.as_ptr()).collect();
        let count =
            c_int::try_from(names.len()).map_err(|_| CreateError::Refused("too many headers".into()))?;
        let mut handle = ptr::null_mut();
        // SAFETY: all strings end with a zero and live until the call returns; the library copies them.
        let code = unsafe {
            (functions.nvrtcCreateProgram)(
                &mut handle,
                text.as_ptr(),
                name.as_ptr(),
                count,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        if code == 0 {
            Ok(Self { functions, handle })
        } else {
            Err(CreateError::Refused(self::text(functions, code)))
        }
    }

    /// What the compiler said; empty where it cannot be had.
    fn log(&self) -> String {
        let (size, get) = (self.functions.nvrtcGetProgramLogSize, self.functions.nvrtcGetProgramLog);
        let bytes = self.bytes(size, get, "reading NVRTC's log").unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()
    }

    fn image(&self, output: Output) -> Result<Vec<u8>, Error> {
        let (size, get) = match output {
            Output::Cubin => (self.functions.nvrtcGetCUBINSize, self.functions.nvrtcGetCUBIN),
            Output::Ptx => (self.functions.nvrtcGetPTXSize, self.functions.nvrtcGetPTX),
        };
        self.bytes(size, get, "reading what NVRTC has compiled")
    }

    /// The name that a name expression has in the code.
    fn lowered_name(&self, expression: &CStr) -> Result<String, Error> {
        let mut name = ptr::null();
        // SAFETY: the program was compiled with this expression, and the pointer is valid for a write.
        let code =
            unsafe { (self.functions.nvrtcGetLoweredName)(self.handle, expression.as_ptr(), &mut name) };
        check(self.functions, code, "asking for the name of an instance")?;
        // SAFETY: a zero-terminated string that lives as long as the program.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }

    /// The protocol of all results: ask for the size, then for the bytes.
    fn bytes(&self, size: SizeFunction, get: BytesFunction, doing: &str) -> Result<Vec<u8>, Error> {
        let mut count = 0;
        // SAFETY: the program is alive, and the pointer is valid for a write.
        check(self.functions, unsafe { size(self.handle, &mut count) }, doing)?;
        let mut bytes = vec![0_u8; count];
        // SAFETY: there is room for as many bytes as the library said.
        check(self.functions, unsafe { get(self.handle, bytes.as_mut_ptr().cast()) }, doing)?;
        Ok(bytes)
    }
}

type SizeFunction = unsafe extern "C" fn(functions::Program, *mut usize) -> functions::Code;
type BytesFunction = unsafe extern "C" fn(functions::Program, *mut c_char) -> functions::Code;

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the handle came from `nvrtcCreateProgram` and is used nowhere else. A failure could not be handled.
        unsafe { (self.functions.nvrtcDestroyProgram)(&mut self.handle) };
    }
}

fn c_strings<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Vec<CString>, std::ffi::NulError> {
    texts.map(CString::new).collect()
}

fn check(functions: &functions::Functions, code: functions::Code, doing: &str) -> Result<(), Error> {
    if code == 0 {
        return Ok(());
    }
    let name = text(functions, code);
    Err(ErrorKind::Device { doing: doing.into(), text: String::new(), hint: "".into(), name, number: code }
        .into())
}

/// The name of a code, such as `NVRTC_ERROR_INVALID_OPTION`.
fn text(functions: &functions::Functions, code: functions::Code) -> String {
    // SAFETY: the function takes every code and returns a static string, or null.
    let text = unsafe { (functions.nvrtcGetErrorString)(code) };
    if text.is_null() {
        return format!("NVRTC error {code}");
    }
    // SAFETY: a zero-terminated string that lives as long as the library.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Where CUDA's headers come from.
pub(crate) const CUDA_HEADERS: &str = "CUDA's headers come with the toolkit, or with pip install nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl";

/// What a person can do about the usual complaints.
fn hint(log: &str) -> String {
    let known = [
        (
            "cannot open source file",
            "headers are looked for beside the file, where -I says, and in the toolkit or the Python wheels that the compiler belongs to",
        ),
        ("could not open source file", CUDA_HEADERS),
        (
            "invalid value for --gpu-architecture",
            "this NVRTC does not know the architecture. A newer one knows newer GPUs; an older one knows GPUs that were left out since: NVRTC 12.9 the last below 7.5",
        ),
    ];
    known
        .iter()
        .find(|(words, _)| log.contains(words))
        .map(|(_, hint)| (*hint).to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
