//! GPUs by name: what the data sheets say.
//!
//! [`Device::source`] names the NVIDIA document in which a row's clocks, multiprocessors, memory and published peaks are to be
//! looked up. Peaks are derived by [`Device::peak`], so that every type has one; [`Device::published`] keeps the peaks that
//! NVIDIA prints, and a test holds the derived ones to within 3 % of them, which ties multiprocessors, clocks and peaks to
//! each other. Nothing ties base clocks, memory and L2 in the same way. Least certain: the multiprocessors, clock and
//! L2 of B300 (148 multiprocessors as the driver reports; the full chip has 160), the L2 of Jetson Orin NX, and the clock and
//! L2 of GB10.

mod lookup;
mod tables;

pub use lookup::DeviceLookupError;
pub(crate) use tables::DEFAULT;

use crate::{ComputeCapability, Limits, Rate, Roofline};

/// A GPU on the market.
///
/// ```
/// use tilewright_arch::{Device, Rate};
///
/// let gpu = Device::find("a6000")?;
/// assert_eq!(gpu.name, "RTX A6000");
/// assert_eq!((gpu.compute_capability.to_string().as_str(), gpu.sms), ("8.6", 84));
/// // 84 SMs x 128 fused multiply-adds x 2 operations x 1.8 GHz: 38.7 TFLOP/s.
/// assert_eq!((gpu.peak(Rate::F32).unwrap() / 1e11).round(), 387.0);
/// # Ok::<(), tilewright_arch::DeviceLookupError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// The name, without "NVIDIA".
    pub name: &'static str,
    /// Other names that the driver or people use.
    pub aliases: &'static [&'static str],
    /// What it is sold for.
    pub class: DeviceClass,
    /// The chip, such as GA102.
    pub chip: &'static str,
    /// The version of its multiprocessors.
    pub compute_capability: ComputeCapability,
    /// Multiprocessors.
    pub sms: u32,
    /// Base clock in MHz, where it is published.
    pub base_clock_mhz: Option<u32>,
    /// Boost clock in MHz, to which the peaks refer.
    pub boost_clock_mhz: u32,
    /// The lower clock in MHz to which the published tensor-core peaks refer, except those of f64, where there is one.
    pub tensor_clock_mhz: Option<u32>,
    /// What its tensor cores can do.
    pub tensor_cores: TensorCores,
    /// Memory in GB as sold.
    pub memory_gb: u32,
    /// Peak memory bandwidth in bytes per second.
    pub memory_bandwidth: f64,
    /// L2 cache in KiB.
    pub l2_kib: u32,
    /// GPU processing clusters of the chip, where they bound thread block clusters and are published.
    pub gpcs: Option<Gpcs>,
    /// Peaks as published, dense, in 10^12 operations per second.
    pub published: &'static [(Rate, f64)],
    /// The NVIDIA document to look these figures up in.
    pub source: &'static str,
}

/// What a GPU is sold for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceClass {
    /// Servers: Tesla, A100, H200, L40S ...
    DataCenter,
    /// Quadro, RTX A, RTX Ada Generation, RTX PRO, Titan.
    Workstation,
    /// Consumer cards.
    GeForce,
    /// Systems on a chip, desktop ones included.
    Jetson,
}

impl DeviceClass {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceClass::DataCenter => "data centre",
            DeviceClass::Workstation => "workstation",
            DeviceClass::GeForce => "GeForce",
            DeviceClass::Jetson => "Jetson",
        }
    }
}

/// What the tensor cores of a product can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorCores {
    /// The chip has none.
    None,
    /// Products that accumulate in f32 run at half the rate (GeForce; see [`Rate::accumulates_in_f32`]).
    HalfRateF32Accumulation,
    /// Every product runs at half the rate (L40).
    HalfRate,
    /// The rate of the architecture.
    FullRate,
}

/// The GPU processing clusters of a chip with all of its parts enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gpcs {
    /// How many.
    pub count: u32,
    /// Multiprocessors of each at most.
    pub max_sms: u32,
}

impl Device {
    /// Every known device, older ones first within each class.
    pub fn all() -> impl Iterator<Item = &'static Device> {
        tables::ALL.iter().copied().flatten()
    }

    /// The limits of its multiprocessors.
    ///
    /// # Errors
    /// Never for a device of the table.
    pub fn limits(&self) -> Result<&'static Limits, crate::UnknownComputeCapability> {
        Limits::of(self.compute_capability)
    }

    /// The peak in operations per second: `2 * multiply-adds per SM and clock * SMs * clock`, dense, at the boost clock
    /// ([`Device::tensor_clock_mhz`] for tensor cores other than f64 ones, where there is one). `None`: it cannot do that.
    ///
    /// A peak is what the units could do in every cycle; kernels reach 80 to 95 % of it at best.
    pub fn peak(&self, rate: Rate) -> Option<f64> {
        let full = f64::from(rate.per_sm_per_clock(self.compute_capability)?);
        let multiply_adds = match self.tensor_cores {
            _ if !rate.on_tensor_cores() => full,
            TensorCores::None => return None,
            TensorCores::HalfRate => full / 2.0,
            TensorCores::HalfRateF32Accumulation if rate.accumulates_in_f32() => full / 2.0,
            TensorCores::HalfRateF32Accumulation | TensorCores::FullRate => full,
        };
        let clock_mhz = match self.tensor_clock_mhz {
            Some(clock) if rate.on_tensor_cores() && rate != Rate::TensorF64 => clock,
            _ => self.boost_clock_mhz,
        };
        Some(2.0 * multiply_adds * f64::from(self.sms) * f64::from(clock_mhz) * 1e6)
    }

    /// The roofline for one kind of arithmetic and the device's memory.
    pub fn roofline(&self, rate: Rate) -> Option<Roofline> {
        Some(Roofline { peak: self.peak(rate)?, bandwidth: self.memory_bandwidth })
    }

    /// An upper bound of the clusters of `cluster_size` blocks that are resident at once (see [`crate::clusters`]).
    pub fn max_active_clusters(&self, blocks_per_sm: u32, cluster_size: u32) -> u32 {
        let gpcs = self.gpcs.unwrap_or(Gpcs { count: 1, max_sms: self.sms });
        crate::clusters::max_active_clusters(blocks_per_sm, cluster_size, self.sms, gpcs.count, gpcs.max_sms)
    }
}
