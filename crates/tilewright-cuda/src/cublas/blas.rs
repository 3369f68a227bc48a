//! cuBLAS as most programs call it.

use super::gemm::Gemm;
use super::{CublasElement, CublasMath, check, of_engine, unsupported};
use crate::device::{DeviceMatrix, DeviceMemory};
use crate::engine::Engine;
use crate::ffi;
use std::ptr;
use tilewright_core::{Error, ErrorKind, Problem};
use tilewright_toolchain::locate::{self, Component, Environment, Location, Memo};
use tilewright_toolchain::table::MissingFunction;

const NAME: &str = "cuBLAS";

/// cuBLAS, opened for an engine: it works in the engine's stream.
#[derive(Debug)]
pub struct Cublas {
    engine: Engine,
    library: &'static Library,
    handle: Handle,
    /// What it works in; none where it takes memory by itself.
    workspace: Option<DeviceMemory>,
}

struct Library {
    functions: ffi::cublas::Functions,
    location: Location,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.location.fmt(f)
    }
}

#[derive(Debug)]
struct Handle(ffi::cublas::Handle);

// SAFETY: a handle may be used from any thread, one at a time; `Cublas` is not `Sync`, since `Handle` is not.
unsafe impl Send for Handle {}

impl Cublas {
    /// Finds the library and opens it for `engine`, with this arithmetic.
    ///
    /// # Errors
    /// `unavailable` where it is not installed, `device` when it fails.
    pub fn open(engine: &Engine, math: CublasMath) -> Result<Self, Error> {
        super::needs_a_gpu(engine, "cuBLAS")?;
        let library = Self::library()?;
        // Its calls take the context that is current.
        let _entered = engine.stream().context.enter()?;
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer is valid for a write.
        check(unsafe { (library.functions.cublasCreate_v2)(&mut handle) }, "opening cuBLAS")?;
        let cublas = Self { engine: engine.clone(), library, handle: Handle(handle), workspace: None };
        // SAFETY: handle and stream are alive, and `self` keeps the engine.
        let code = unsafe { (library.functions.cublasSetStream_v2)(handle, engine.stream().handle()) };
        check(code, "giving cuBLAS a stream")?;
        // SAFETY: the handle is alive.
        let code = unsafe { (library.functions.cublasSetMathMode)(handle, math.mode()) };
        check(code, "setting cuBLAS's math mode")?;
        Ok(cublas)
    }

    /// Gives the library so many bytes to work in, instead of what it takes by itself.
    ///
    /// # Errors
    /// `device-memory` where there is not so much, `device` when the library fails.
    pub fn set_workspace(&mut self, bytes: u64) -> Result<(), Error> {
        let what = "cuBLAS's workspace";
        let size = usize::try_from(bytes).map_err(|_| ErrorKind::OutOfMemory { what, bytes })?;
        let workspace = DeviceMemory::new(self.engine.stream(), what, size)?;
        let _entered = self.engine.stream().context.enter()?;
        // SAFETY: handle and memory are alive, and the memory stays until the handle has other memory or is closed.
        let code = unsafe {
            (self.library.functions.cublasSetWorkspace_v2)(self.handle.0, workspace.address(), size)
        };
        check(code, "giving cuBLAS a workspace")?;
        self.workspace = Some(workspace);
        Ok(())
    }

    /// The bytes that it was given to work in.
    pub fn workspace(&self) -> Option<u64> {
        self.workspace.as_ref().map(|memory| memory.bytes() as u64)
    }

    pub(super) fn functions(&self) -> &ffi::cublas::Functions {
        &self.library.functions
    }

    pub(super) fn handle(&self) -> ffi::cublas::Handle {
        self.handle.0
    }

    /// Where the library is, without opening it for a device.
    ///
    /// # Errors
    /// `unavailable` where it is not installed.
    pub fn locate() -> Result<Location, Error> {
        Self::library().map(|library| library.location.clone())
    }

    fn library() -> Result<&'static Library, Error> {
        static FOUND: Memo<&'static Library> = Memo::new();
        FOUND.get(Environment::current(), Self::library_in)
    }

    fn library_in(environment: &Environment) -> Result<&'static Library, Error> {
        let loaded = locate::library(Component::Cublas, environment)?;
        // SAFETY: a library of this name is cuBLAS, and loaded libraries are never unloaded.
        let functions = unsafe { ffi::cublas::Functions::load(loaded.library) }
            .map_err(|MissingFunction(name)| locate::incomplete(Component::Cublas, &loaded.location, name))?;
        Ok(Box::leak(Box::new(Library { functions, location: loaded.location })))
    }

    /// The version, such as 130000 for 13.0.0.
    ///
    /// # Errors
    /// `device` when the library fails.
    pub fn version(&self) -> Result<u32, Error> {
        let mut version = 0;
        // SAFETY: the pointer is valid for a write.
        let code = unsafe { (self.library.functions.cublasGetVersion_v2)(self.handle.0, &mut version) };
        check(code, "asking cuBLAS for its version")?;
        Ok(version.unsigned_abs())
    }

    /// `C = A B`. Returns before the device has finished.
    ///
    /// # Errors
    /// `inner-mismatch` and `result-mismatch` for shapes; `unsupported` for matrices of another engine, with neither rows nor columns
    /// of neighbouring elements, or with more than 2^31 rows or columns; `device` when the library fails.
    pub fn product<T: CublasElement>(
        &self,
        a: &DeviceMatrix<T>,
        b: &DeviceMatrix<T>,
        c: &mut DeviceMatrix<T>,
    ) -> Result<(), Error> {
        let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
        of_engine(&self.engine, [a, b], c, NAME)?;
        if problem.c().is_empty() {
            return Ok(());
        }
        let call = Gemm::of(&problem).ok_or_else(|| unsupported(NAME, Gemm::TAKES))?;
        let _entered = self.engine.stream().context.enter()?;
        let addresses = call.in_order([a.address(), b.address(), c.address()]);
        check(T::gemm(self, &call, addresses), "multiplying with cuBLAS")
    }
}

impl Drop for Cublas {
    fn drop(&mut self) {
        if let Ok(_entered) = self.engine.stream().context.enter() {
            // SAFETY: opened in `open`. A failure could not be handled.
            unsafe { (self.library.functions.cublasDestroy_v2)(self.handle.0) };
        }
    }
}
