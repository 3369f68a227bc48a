//! Which GPU is meant.

use crate::{args::Common, failure::Failure, terminal};
use tilewright_arch::{ComputeCapability, Device, Gpu, Limits};

/// The GPU that is meant where none is named.
pub const DEFAULT: &str = "h200";

/// A GPU by name, or any of a compute capability.
#[derive(Clone, Copy)]
pub enum Target {
    Device(&'static Device, &'static Limits),
    Capability(&'static Limits),
}

impl Target {
    /// The target that the options name, if they do.
    pub fn find(gpu: Option<&str>, cc: Option<ComputeCapability>) -> Result<Option<Self>, Failure> {
        match (gpu, cc) {
            (Some(name), _) => {
                let device = device(name)?;
                Ok(Some(Self::Device(device, limits(device.compute_capability)?)))
            }
            (None, Some(cc)) => Ok(Some(Self::Capability(limits(cc)?))),
            (None, None) => Ok(None),
        }
    }

    pub fn limits(&self) -> &'static Limits {
        match self {
            Self::Device(_, limits) | Self::Capability(limits) => limits,
        }
    }

    pub fn device(&self) -> Option<&'static Device> {
        match self {
            Self::Device(device, _) => Some(device),
            Self::Capability(_) => None,
        }
    }

    /// With all that kernels and plans ask of it.
    pub fn gpu(&self) -> Result<Gpu, Failure> {
        match self {
            Self::Device(device, _) => Ok(Gpu::from(*device)),
            Self::Capability(limits) => {
                Gpu::of(limits.compute_capability).map_err(|e| Failure::usage(e.to_string(), ""))
            }
        }
    }

    pub fn describe(&self) -> String {
        let cc = self.limits().compute_capability;
        match self {
            Self::Device(device, _) => {
                format!("{}, compute capability {cc}, {} SMs", device.name, device.sms)
            }
            Self::Capability(_) => format!("compute capability {cc}"),
        }
    }
}

/// Says which GPU was taken for a name that fits several.
pub fn say_which(common: &Common, name: &str) {
    let Ok(device) = Device::find(name) else { return };
    let others: Vec<&str> = device.others_called(name).iter().map(|other| other.name).collect();
    if !others.is_empty() {
        let text = format!("{name} is taken for {}; it fits {}, too", device.name, others.join(", "));
        terminal::note(common, "gpu", &text);
    }
}

/// The GPU of this name.
pub fn device(name: &str) -> Result<&'static Device, Failure> {
    Device::find(name)
        .map_err(|e| Failure::usage(e.to_string(), "`tilewright gpus` lists all; --cc takes any"))
}

pub fn limits(cc: ComputeCapability) -> Result<&'static Limits, Failure> {
    Limits::of(cc).map_err(|e| Failure::usage(e.to_string(), ""))
}
