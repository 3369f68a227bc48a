//! Transfers from GPU to GPU by NCCL, which is found at run time.

use crate::device::{DriverKind, DynDeviceMatrix};
use crate::engine::Engine;
use crate::ffi::nccl::{BYTES, Code, Functions, Handle, IN_PROGRESS, Id};
use std::cell::Cell;
use std::ffi::{CStr, c_int};
use std::fmt;
use std::sync::OnceLock;
use tilewright_core::{Error, ErrorKind};
use tilewright_toolchain::locate::{self, Component, Environment, Location};
use tilewright_toolchain::table::MissingFunction;

/// NCCL 2.18, as it tells its version.
const OLDEST: c_int = 21_800;

/// NCCL, loaded.
#[derive(Clone, Copy)]
pub struct Nccl {
    functions: &'static Functions,
    version: c_int,
}

/// What the ranks of a [`Communicator`] know it by: one rank makes it, and tells the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NcclId(pub [u8; 128]);

impl Nccl {
    /// Finds and loads NCCL for a device; once in a process where it succeeds. Emulated devices of this process have one of their own.
    ///
    /// # Errors
    /// `unavailable` where there is none, where it is older than 2.18, and for an emulated driver in a library, which NCCL does not know.
    pub fn find(engine: &Engine) -> Result<Self, Error> {
        static FOUND: OnceLock<Nccl> = OnceLock::new();
        match (engine.driver_kind(), FOUND.get()) {
            (DriverKind::Emulator, _) => Self::emulated(engine),
            (_, Some(found)) => Ok(*found),
            (_, None) => Self::load().map(|found| *FOUND.get_or_init(|| found)),
        }
    }

    fn load() -> Result<Self, Error> {
        let loaded = locate::library(Component::Nccl, &Environment::current())?;
        // SAFETY: a library of this name is NCCL, and loaded libraries are never unloaded.
        let functions = unsafe { Functions::load(loaded.library) }
            .map_err(|MissingFunction(name)| locate::incomplete(Component::Nccl, &loaded.location, name))?;
        Self::of(functions, &loaded.location)
    }

    #[cfg(feature = "emulated")]
    fn emulated(engine: &Engine) -> Result<Self, Error> {
        static FOUND: OnceLock<Nccl> = OnceLock::new();
        if !engine.is_emulated_here() {
            return Err(not_emulated());
        }
        if let Some(found) = FOUND.get() {
            return Ok(*found);
        }
        let rule = locate::Rule::Variable(Component::Driver.variable());
        let location = Location { path: "emulator".into(), rule };
        // SAFETY: the functions are those of this process, and have the signatures of NCCL.
        let functions = unsafe { Functions::find(&tilewright_driver::nccl_function) }
            .map_err(|MissingFunction(name)| locate::incomplete(Component::Nccl, &location, name))?;
        Self::of(functions, &location).map(|found| *FOUND.get_or_init(|| found))
    }

    #[cfg(not(feature = "emulated"))]
    fn emulated(_: &Engine) -> Result<Self, Error> {
        Err(not_emulated())
    }

    fn of(functions: Functions, location: &Location) -> Result<Self, Error> {
        let mut version = 0;
        // SAFETY: the pointer is valid for a write.
        unsafe { (functions.ncclGetVersion)(&mut version) };
        if version < OLDEST {
            let why = format!("{location} is NCCL {}, and 2.18 is needed", text_of(version));
            let hint = format!(
                "pip install -U nvidia-nccl-cu13 (or -cu12), or name another one in {}",
                Component::Nccl.variable()
            );
            return Err(ErrorKind::Unavailable { what: "NCCL", why, hint: hint.into() }.into());
        }
        Ok(Self { functions: Box::leak(Box::new(functions)), version })
    }

    /// Its version, such as `2.18.1`.
    pub fn version(&self) -> String {
        text_of(self.version)
    }

    /// A new name for a communicator.
    ///
    /// # Errors
    /// `device` where NCCL fails.
    pub fn new_id(&self) -> Result<NcclId, Error> {
        let mut id = Id([0; 128]);
        // SAFETY: the pointer is valid for a write.
        let code = unsafe { (self.functions.ncclGetUniqueId)(&mut id) };
        self.check(code, "naming a communicator")?;
        Ok(NcclId(id.0))
    }

    /// Joins `size` ranks, each on a device of its own and, within a process, in a thread of its own. Waits for all of them.
    ///
    /// # Errors
    /// `device` where NCCL fails.
    pub fn join(
        &self,
        engine: &Engine,
        id: &NcclId,
        size: usize,
        rank: usize,
    ) -> Result<Communicator, Error> {
        let mut handle = std::ptr::null_mut();
        let code = {
            let _entered = engine.enter()?;
            // SAFETY: the pointer is valid for a write, and the device's context is current.
            unsafe { (self.functions.ncclCommInitRank)(&mut handle, size as c_int, Id(id.0), rank as c_int) }
        };
        self.check(code, "joining GPUs")?;
        Ok(Communicator { nccl: *self, engine: engine.clone(), handle: Cell::new(handle) })
    }

    fn check(&self, code: Code, doing: &str) -> Result<(), Error> {
        if matches!(code, 0 | IN_PROGRESS) {
            return Ok(());
        }
        // SAFETY: unless null, a zero-terminated static text.
        let text = unsafe {
            let text = (self.functions.ncclGetErrorString)(code);
            if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
        };
        let hint = "NCCL_DEBUG=WARN lets NCCL say more";
        Err(ErrorKind::Device {
            doing: doing.into(),
            name: "NCCL".into(),
            number: code,
            text,
            hint: hint.into(),
        }
        .into())
    }
}

impl fmt::Debug for Nccl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nccl").field("version", &self.version()).finish_non_exhaustive()
    }
}

fn text_of(version: c_int) -> String {
    format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
}

fn not_emulated() -> Error {
    let why = "the driver is an emulated one, which it does not know".into();
    ErrorKind::Unavailable { what: "NCCL", why, hint: "leave out TILEWRIGHT_CUDA_PATH".into() }.into()
}

/// A rank among GPUs that send to each other.
pub struct Communicator {
    nccl: Nccl,
    engine: Engine,
    /// Null after it was aborted.
    handle: Cell<Handle>,
}

impl Communicator {
    /// Sends the first `bytes` bytes of the root's matrix to all others, behind the work that the engine was asked for. Every rank calls it, in the same order.
    ///
    /// # Errors
    /// `out-of-bounds` for more bytes than there are; `device` where NCCL fails, or was aborted.
    pub fn broadcast(&self, panel: &mut DynDeviceMatrix, bytes: usize, root: usize) -> Result<(), Error> {
        let (layout, len) = (panel.layout(), panel.bytes());
        if bytes > len {
            return Err(ErrorKind::OutOfBounds { layout, origin: bytes, len }.into());
        }
        let (stream, address) = (self.engine.stream().handle(), panel.memory().address());
        let handle = self.handle()?;
        // NCCL is asked where the device has failed, too: the others may learn of it then.
        let entered = self.engine.enter();
        // SAFETY: so many bytes are there; the memory is freed behind the work in its stream, which this becomes a part of.
        let code = unsafe {
            (self.nccl.functions.ncclBroadcast)(address, address, bytes, BYTES, root as c_int, handle, stream)
        };
        entered?;
        let sent = self.nccl.check(code, "sending a panel");
        if sent.is_err() {
            // What the device has failed with says more.
            self.engine.is_done()?;
        }
        sent
    }

    /// Whether something has gone wrong since it was joined, as far as NCCL has found out.
    ///
    /// # Errors
    /// `device`.
    pub fn check(&self) -> Result<(), Error> {
        let (handle, mut found) = (self.handle()?, 0);
        // SAFETY: the pointer is valid for a write.
        let code = unsafe { (self.nccl.functions.ncclCommGetAsyncError)(handle, &mut found) };
        self.nccl.check(code, "asking NCCL how it is")?;
        self.nccl.check(found, "sending panels")
    }

    /// Ends what is under way, which may wait for others in vain. Nothing can be sent any more.
    pub fn abort(&self) {
        let handle = self.handle.replace(std::ptr::null_mut());
        if !handle.is_null()
            && let Ok(_entered) = self.engine.enter()
        {
            // SAFETY: the handle is valid, and is not used again.
            unsafe { (self.nccl.functions.ncclCommAbort)(handle) };
        }
    }

    fn handle(&self) -> Result<Handle, Error> {
        let handle = self.handle.get();
        if handle.is_null() {
            let text = "it was ended after a failure".into();
            let (doing, name, hint) = ("sending a panel".into(), "NCCL".into(), "".into());
            return Err(ErrorKind::Device { doing, name, number: 0, text, hint }.into());
        }
        Ok(handle)
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return self.abort();
        }
        let handle = self.handle.get();
        if !handle.is_null() {
            let _entered = self.engine.enter();
            // SAFETY: the handle is valid, and is not used again; NCCL waits for what is under way.
            unsafe { (self.nccl.functions.ncclCommDestroy)(handle) };
        }
    }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Communicator")
            .field("nccl", &self.nccl)
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_toolchain::locate::Rule;

    #[test]
    fn an_old_library_is_refused_by_its_version() {
        unsafe extern "C" fn old(out: *mut c_int) -> Code {
            // SAFETY: the caller gives a place.
            unsafe { out.write(21_705) };
            0
        }
        let functions = Functions { ncclGetVersion: old, ..Functions::stub() };
        let location = Location { path: "/opt/libnccl.so.2".into(), rule: Rule::System };
        let error = Nccl::of(functions, &location).expect_err("too old");
        assert!(error.is_unavailable());
        let text = error.to_string();
        assert!(
            text.contains("/opt/libnccl.so.2") && text.contains("NCCL 2.17.5, and 2.18 is needed"),
            "{text}"
        );
        assert!(error.hint().is_some_and(|hint| hint.contains("TILEWRIGHT_NCCL_PATH")));
    }
}
