//! The driver: whether it is there, whether it is recent enough, and what its codes mean.

use super::health::same_process;
use crate::ffi::driver::{Code, Functions, NO_DEVICE};
use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::ptr;
use std::sync::OnceLock;
use tilewright_core::{Error, ErrorKind};
use tilewright_toolchain::DriverVersion;
use tilewright_toolchain::locate::{self, Component, Environment, Location};
use tilewright_toolchain::table::{MissingFunction, symbol};

/// A function that Tilewright's library has besides those of CUDA.
const EMULATOR_MARK: &str = "tilewright_emulated_driver";

/// What the driver's variable says for the emulated driver of this process.
#[cfg(feature = "emulated")]
pub(super) const CHOSEN: &str = "emulator";

/// Whether the environment asks for the emulated driver in place of a GPU's.
#[cfg(feature = "emulated")]
fn is_chosen() -> bool {
    Environment::current().path(Component::Driver.variable()).is_some_and(|path| path.as_os_str() == CHOSEN)
}

/// CUDA 12.0: the oldest driver for which NVRTC 12 makes machine code.
const OLDEST: DriverVersion = DriverVersion::new(12, 0);

/// The CUDA driver, loaded and initialised.
#[derive(Clone, Copy)]
pub struct Driver {
    pub(crate) functions: &'static Functions,
    location: &'static Location,
    version: DriverVersion,
    /// The process that initialised it.
    process: u32,
    kind: DriverKind,
}

/// Who executes what a driver is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DriverKind {
    /// GPUs.
    Gpu,
    /// Tilewright's emulator, in a library or in this process. It takes PTX and no machine code.
    Emulator,
}

impl Driver {
    /// Finds the driver, loads and initialises it; once in a process where it succeeds. Where `TILEWRIGHT_CUDA_PATH` is `emulator`, it is the emulated driver of
    /// this process.
    ///
    /// # Errors
    /// `unavailable` where there is no driver, no device, where the driver is older than CUDA 12.0, and in a process that was forked
    /// from one that had found it.
    ///
    /// ```
    /// use tilewright_cuda::Driver;
    /// match Driver::find() {
    ///     Ok(driver) => println!("the driver supports CUDA {}", driver.version()),
    ///     Err(error) => assert!(error.is_unavailable()),
    /// }
    /// ```
    pub fn find() -> Result<Self, Error> {
        static FOUND: OnceLock<Driver> = OnceLock::new();
        match FOUND.get() {
            Some(driver) => same_process(driver.process, std::process::id()).map(|()| *driver),
            None => Self::load().map(|driver| *FOUND.get_or_init(|| driver)),
        }
    }

    fn load() -> Result<Self, Error> {
        #[cfg(feature = "emulated")]
        if is_chosen() {
            return Self::emulated();
        }
        let loaded = locate::library(Component::Driver, &Environment::current())?;
        // SAFETY: a library of this name is the driver, and loaded libraries are never unloaded.
        let functions = unsafe { Functions::load(loaded.library) }
            .map_err(|MissingFunction(name)| locate::incomplete(Component::Driver, &loaded.location, name))?;
        let kind = match symbol(loaded.library, EMULATOR_MARK) {
            Some(_) => DriverKind::Emulator,
            None => DriverKind::Gpu,
        };
        Self::initialise(functions, loaded.location, kind)
    }

    /// Initialises a driver that was found.
    pub(super) fn initialise(
        functions: Functions,
        location: Location,
        kind: DriverKind,
    ) -> Result<Self, Error> {
        let mut number: c_int = 0;
        // SAFETY: the pointer is valid for a write; this function may be called before `cuInit`.
        unsafe { (functions.cuDriverGetVersion)(&mut number) };
        let version = DriverVersion::of_number(number.unsigned_abs());
        let unavailable = |why: String, hint: &str| -> Error {
            ErrorKind::Unavailable { what: "the CUDA driver", why, hint: hint.into() }.into()
        };
        if version < OLDEST {
            let why = format!("{location} supports CUDA {version}, and {OLDEST} is needed");
            return Err(unavailable(why, "update NVIDIA's driver to version 525 or later"));
        }
        // SAFETY: 0 is the only flag value.
        match unsafe { (functions.cuInit)(0) } {
            0 => {}
            NO_DEVICE => {
                return Err(unavailable("it finds no GPU".into(), "see whether nvidia-smi lists one"));
            }
            code => {
                let (name, text) = names(&functions, code);
                let hint = "see whether nvidia-smi works; after an update of the driver restart the machine";
                return Err(unavailable(format!("{name}: {text}"), hint));
            }
        }
        let (functions, location) = (Box::leak(Box::new(functions)), Box::leak(Box::new(location)));
        Ok(Self { functions, location, version, process: std::process::id(), kind })
    }

    /// A driver of a test.
    #[cfg(test)]
    pub(super) fn fake(
        functions: &'static Functions,
        location: &'static Location,
        version: DriverVersion,
    ) -> Self {
        Self { functions, location, version, process: std::process::id(), kind: DriverKind::Gpu }
    }

    /// The newest CUDA that this driver supports.
    pub fn version(&self) -> DriverVersion {
        self.version
    }

    /// Who executes what it is given.
    pub fn kind(&self) -> DriverKind {
        self.kind
    }

    /// Where the library is, and by which rule it was found.
    pub fn location(&self) -> &Location {
        self.location
    }

    /// Turns a code into an error; `doing` is what was tried.
    pub(crate) fn check(&self, code: Code, doing: impl FnOnce() -> String) -> Result<(), Error> {
        if code == 0 { Ok(()) } else { Err(self.error(code, doing())) }
    }

    pub(crate) fn error(&self, code: Code, doing: String) -> Error {
        let (name, text) = names(self.functions, code);
        let hint = HINTS.iter().find(|(known, _)| *known == name).map_or("", |(_, hint)| hint);
        ErrorKind::Device { doing, name, number: code, text, hint: hint.into() }.into()
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("version", &self.version).field("location", &self.location).finish()
    }
}

/// The name and the description of a code.
fn names(functions: &Functions, code: Code) -> (String, String) {
    let text = |function: unsafe extern "C" fn(Code, *mut *const c_char) -> Code| {
        let mut text = ptr::null();
        // SAFETY: the pointer is valid for a write; unknown codes leave it null.
        unsafe { function(code, &mut text) };
        // SAFETY: unless null, a zero-terminated static string.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    };
    let name = text(functions.cuGetErrorName).unwrap_or_else(|| "an unknown error".into());
    (name, text(functions.cuGetErrorString).unwrap_or_default())
}

/// What can be done about the usual failures.
const HINTS: [(&str, &str); 8] = [
    (
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "a kernel read or wrote out of bounds: run it under compute-sanitizer or on the emulator",
    ),
    (
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "a kernel used a misaligned address: run it under compute-sanitizer or on the emulator",
    ),
    (
        "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        "the block needs more registers or shared memory than a multiprocessor has",
    ),
    ("CUDA_ERROR_LAUNCH_TIMEOUT", "a display's watchdog ended the kernel: use a GPU without a display"),
    ("CUDA_ERROR_NO_BINARY_FOR_GPU", "the machine code is for another architecture"),
    ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the compiler is newer than the driver: update the driver"),
    ("CUDA_ERROR_DEVICE_UNAVAILABLE", "another process uses the device exclusively"),
    ("CUDA_ERROR_ECC_UNCORRECTABLE", "the device's memory is faulty: reset it"),
];
