//! The GPU that a plan is for, present or not.

use tilewright_arch::{ComputeCapability, Device, Limits};
use tilewright_core::{Error, ErrorKind};
use tilewright_cuda::DeviceInfo;
use tilewright_kernels::Target;

/// A GPU, as far as a plan needs to know it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Gpu {
    /// Its name.
    pub name: String,
    /// The version of its multiprocessors.
    pub capability: ComputeCapability,
    /// How many it has.
    pub multiprocessors: u32,
    /// The clock that its peaks refer to, in Hz.
    pub clock_hz: f64,
    /// Peak memory bandwidth.
    pub bytes_per_second: f64,
    /// Second-level cache.
    pub l2_bytes: u64,
    /// What its data sheet says, where the table of devices has it.
    pub device: Option<&'static Device>,
    /// What its multiprocessors offer.
    pub limits: &'static Limits,
}

impl Gpu {
    /// The name of the GPU that the emulator imitates unless another is chosen.
    pub const EMULATED: &str = "h200";

    /// A GPU of the table of devices, by whatever people call it.
    ///
    /// # Errors
    /// `unsupported`, with the names that come closest.
    pub fn named(name: &str) -> Result<Self, Error> {
        let unknown = |why: String| ErrorKind::Unsupported {
            what: format!("the GPU '{name}'"),
            why,
            hint: "take the name of a GPU in the table of devices".into(),
        };
        let device = Device::find(name).map_err(|e| unknown(e.to_string()))?;
        let limits = device.limits().map_err(|e| unknown(e.to_string()))?;
        Ok(Self::of(device, limits))
    }

    fn of(device: &'static Device, limits: &'static Limits) -> Self {
        Self {
            name: device.name.into(),
            capability: device.compute_capability,
            multiprocessors: device.sms,
            clock_hz: f64::from(device.boost_clock_mhz) * 1e6,
            bytes_per_second: device.memory_bandwidth,
            l2_bytes: u64::from(device.l2_kib) << 10,
            device: Some(device),
            limits,
        }
    }

    /// A GPU of this machine, as its driver describes it. Rates come from the table of devices, where it has them.
    ///
    /// # Errors
    /// `unsupported` for a compute capability that nothing is known of.
    pub fn present(info: &DeviceInfo) -> Result<Self, Error> {
        let limits = Limits::of(info.capability).map_err(|e| ErrorKind::Unsupported {
            what: info.name.clone(),
            why: e.to_string(),
            hint: String::new(),
        })?;
        let device = info.listed();
        let driver = Self {
            name: info.name.clone(),
            capability: info.capability,
            multiprocessors: info.multiprocessors,
            clock_hz: info.clock_hz as f64,
            bytes_per_second: info.memory_bytes_per_second as f64,
            l2_bytes: info.l2_cache,
            device,
            limits,
        };
        Ok(device.map_or(driver.clone(), |d| Self { name: driver.name, ..Self::of(d, limits) }))
    }

    /// What recipes need to know of it.
    pub fn target(&self) -> Target {
        Target {
            compute_capability: (self.capability.major().into(), self.capability.minor().into()),
            multiprocessors: self.multiprocessors,
            shared_memory_per_block: self.limits.shared_memory_per_block_optin,
            shared_memory_per_multiprocessor: self.limits.shared_memory_per_sm,
            clock_hz: self.clock_hz as u64,
            memory_bytes_per_second: self.bytes_per_second as u64,
            l2_bytes: self.l2_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_target_is_an_h200() {
        assert_eq!(Gpu::named(Gpu::EMULATED).unwrap().target(), Target::default());
        let error = Gpu::named("a600").unwrap_err();
        assert!(error.to_string().contains("RTX A6000"), "{error}");
    }
}
