//! The driver of this process that executes kernels on the emulator.

use super::driver::{CHOSEN, Driver, DriverKind};
use crate::ffi::driver::Functions;
use std::sync::OnceLock;
use tilewright_core::{Error, ErrorKind};
use tilewright_driver::{Messages, NewerPtx, Settings, configure, function};
use tilewright_toolchain::locate::{self, Component, Location, Rule};
use tilewright_toolchain::table::MissingFunction;

/// Whether a driver is the one of this process.
pub(super) fn is_own(driver: &Driver) -> bool {
    driver.kind() == DriverKind::Emulator && driver.location().path.as_os_str() == CHOSEN
}

impl Driver {
    /// The driver that executes kernels on the emulator, in this process. Its devices are those of `TILEWRIGHT_EMULATED_GPUS`, unless some were added before.
    ///
    /// # Errors
    /// `environment` for GPUs that are not known.
    pub fn emulated() -> Result<Self, Error> {
        static MADE: OnceLock<Driver> = OnceLock::new();
        if let Some(driver) = MADE.get() {
            return Ok(*driver);
        }
        let mut settings = Settings::from_environment().map_err(|error| {
            let (name, value, expected) = (error.name, error.value, error.expected);
            ErrorKind::Environment { name, value, expected }
        })?;
        (settings.messages, settings.newer_ptx) = (Messages::Nowhere, NewerPtx::Executed);
        configure(settings);
        let location = Location { path: CHOSEN.into(), rule: Rule::Variable(Component::Driver.variable()) };
        // SAFETY: the functions are those of this process, and have the signatures of CUDA.
        let functions = unsafe { Functions::find(&function) }
            .map_err(|MissingFunction(name)| locate::incomplete(Component::Driver, &location, name))?;
        let driver = Self::initialise(functions, location, DriverKind::Emulator)?;
        Ok(*MADE.get_or_init(|| driver))
    }
}
