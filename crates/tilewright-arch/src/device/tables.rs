//! The devices, by generation.
//!
//! Each constant in capitals holds what its rows have in common: class, compute capability, tensor cores, source.

mod ada;
mod ampere;
mod blackwell;
mod hopper;
mod jetson;
mod maxwell_pascal;
mod volta_turing;

use super::{Device, DeviceClass, Gpcs, TensorCores};
use crate::{ComputeCapability, Rate};

pub(super) const ALL: &[&[Device]] = &[
    maxwell_pascal::DEVICES,
    volta_turing::DEVICES,
    ampere::DEVICES,
    ada::DEVICES,
    hopper::DEVICES,
    blackwell::DEVICES,
    jetson::DEVICES,
];

/// The GPU that is meant where none is named.
pub(crate) const DEFAULT: &Device = &hopper::H200_SXM;

/// What every row replaces.
const BLANK: Device = Device {
    name: "",
    aliases: &[],
    class: DeviceClass::DataCenter,
    chip: "",
    compute_capability: ComputeCapability::new(0, 0),
    sms: 0,
    base_clock_mhz: None,
    boost_clock_mhz: 0,
    tensor_clock_mhz: None,
    tensor_cores: TensorCores::None,
    memory_gb: 0,
    memory_bandwidth: 0.0,
    l2_kib: 0,
    gpcs: None,
    published: &[],
    source: "",
};

const fn cc(major: u8, minor: u8) -> ComputeCapability {
    ComputeCapability::new(major, minor)
}

impl Device {
    /// A row: the base clock is 0 if it is not published, the bandwidth in GB/s.
    const fn row(
        self,
        name: &'static str,
        chip: &'static str,
        sms: u32,
        (base_mhz, boost_mhz): (u32, u32),
        (memory_gb, gb_per_second, l2_kib): (u32, f64, u32),
        published: &'static [(Rate, f64)],
    ) -> Device {
        Device {
            name,
            chip,
            sms,
            base_clock_mhz: if base_mhz == 0 { None } else { Some(base_mhz) },
            boost_clock_mhz: boost_mhz,
            memory_gb,
            memory_bandwidth: gb_per_second * 1e9,
            l2_kib,
            published,
            ..self
        }
    }

    const fn aliases(self, aliases: &'static [&'static str]) -> Device {
        Device { aliases, ..self }
    }

    const fn tensor_clock(self, mhz: u32) -> Device {
        Device { tensor_clock_mhz: Some(mhz), ..self }
    }

    const fn gpcs(self, count: u32, max_sms: u32) -> Device {
        Device { gpcs: Some(Gpcs { count, max_sms }), ..self }
    }
}
