//! One GPU, as everything that plans, compiles for, imitates or opens it knows it.

use crate::{
    Architecture, ComputeCapability, Device, DeviceLookupError, KernelResources, LaunchConfig, Limits,
    Occupancy, UnknownComputeCapability, device,
};
use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A GPU: of the table of devices, of a compute capability alone, or as a driver describes it.
///
/// ```
/// use tilewright_arch::Gpu;
/// let gpu = Gpu::named("a6000")?;
/// assert_eq!((gpu.name, gpu.multiprocessors, gpu.architecture.real().as_str()), ("RTX A6000", 84, "sm_86"));
/// assert!(!gpu.has_clusters() && Gpu::default().has_clusters());
/// # Ok::<(), tilewright_arch::DeviceLookupError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gpu {
    /// Its name in reports; see [`Gpu::with_name`].
    pub name: &'static str,
    /// Its compute capability with all instructions of it: what code for this GPU alone is compiled for.
    pub architecture: Architecture,
    /// How many multiprocessors it has.
    pub multiprocessors: u32,
    /// The highest clock of these; 0 where it is not known.
    pub clock_hz: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Peak bandwidth of the memory; 0 where it is not known.
    pub memory_bytes_per_second: u64,
    /// Bytes of the second-level cache.
    pub l2_bytes: u64,
    /// What a multiprocessor offers.
    pub limits: Limits,
}

impl Default for Gpu {
    /// An H200, on which the kernels are calibrated.
    fn default() -> Self {
        static H200: LazyLock<Gpu> = LazyLock::new(|| Gpu::from(device::DEFAULT));
        *H200
    }
}

impl From<&'static Device> for Gpu {
    fn from(device: &'static Device) -> Self {
        Self {
            name: device.name,
            architecture: Architecture::of(device.compute_capability),
            multiprocessors: device.sms,
            clock_hz: u64::from(device.boost_clock_mhz) * 1_000_000,
            memory_bytes: u64::from(device.memory_gb) * 1_000_000_000,
            memory_bytes_per_second: device.memory_bandwidth.round() as u64,
            l2_bytes: u64::from(device.l2_kib) << 10,
            limits: Limits::nearest(device.compute_capability),
        }
    }
}

impl Gpu {
    /// A GPU of the table of devices, by whatever people call it.
    ///
    /// # Errors
    /// As [`Device::find`].
    pub fn named(name: &str) -> Result<Self, DeviceLookupError> {
        Device::find(name).map(Self::from)
    }

    /// Any GPU of a compute capability. What that does not tell, such as the number of multiprocessors, is
    /// that of the default.
    ///
    /// # Errors
    /// For a compute capability of which nothing is known.
    pub fn of(capability: ComputeCapability) -> Result<Self, UnknownComputeCapability> {
        let limits = *Limits::of(capability)?;
        let gpu = Self { architecture: Architecture::of(capability), limits, ..Self::default() };
        Ok(gpu.with_name(&format!("compute capability {capability}")))
    }

    /// The same GPU by another name. Names are kept until the process ends: of GPUs there are few.
    pub fn with_name(self, name: &str) -> Self {
        static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = names.get(name).copied();
        let name = kept.unwrap_or_else(|| Box::leak(name.into()));
        names.insert(name);
        Self { name, ..self }
    }

    /// What its data sheet says; `None` where the table of devices has none of this name, capability and
    /// number of multiprocessors.
    pub fn device(&self) -> Option<&'static Device> {
        let known = Device::find(self.name).ok();
        known.filter(|known| {
            (known.compute_capability, known.sms) == (self.capability(), self.multiprocessors)
        })
    }

    /// The version of its multiprocessors.
    pub const fn capability(&self) -> ComputeCapability {
        self.architecture.capability
    }

    /// Whether blocks of a cluster reach each other's shared memory.
    pub const fn has_clusters(&self) -> bool {
        self.limits.max_cluster_size.portable > 1
    }

    /// Whether it has the tensor memory accelerator, which copies tiles between global and shared memory: it
    /// came with clusters.
    pub const fn has_tma(&self) -> bool {
        self.has_clusters()
    }

    /// Its clock as a part of that of the default, 1 where it is not known.
    pub fn relative_clock(&self) -> f64 {
        match self.clock_hz {
            0 => 1.0,
            clock => clock as f64 / Self::default().clock_hz as f64,
        }
    }

    /// Bytes that its memory moves in a cycle of its multiprocessors; where neither is known, as on the
    /// default.
    pub fn bytes_per_cycle(&self) -> f64 {
        let known = self.clock_hz > 0 && self.memory_bytes_per_second > 0;
        let Self { clock_hz, memory_bytes_per_second, .. } = if known { *self } else { Self::default() };
        memory_bytes_per_second as f64 / clock_hz as f64
    }

    /// Blocks of so many threads, registers a thread and bytes of dynamic shared memory that a multiprocessor
    /// holds at a time; `None` for a launch that cannot be.
    pub fn resident_blocks(&self, threads: u32, registers: u32, shared_memory: u32) -> Option<u32> {
        let kernel = KernelResources { registers_per_thread: registers, ..KernelResources::default() };
        let launch = LaunchConfig { dynamic_shared_memory: shared_memory, ..LaunchConfig::threads(threads) };
        Some(Occupancy::of(&self.limits, &kernel, &launch).ok()?.blocks_per_sm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gpu_of_the_table_is_found_by_its_name() {
        for device in Device::all() {
            let gpu = Gpu::from(device);
            assert_eq!(gpu.device(), Some(device));
            assert_eq!(Some(&gpu.limits), Limits::of(device.compute_capability).ok(), "{}", device.name);
            assert_eq!(
                gpu.memory_bytes_per_second as f64,
                device.memory_bandwidth.round(),
                "{}",
                device.name
            );
            assert_eq!(
                gpu.has_clusters(),
                gpu.capability() >= ComputeCapability::new(9, 0),
                "{}",
                device.name
            );
        }
        assert_eq!(Gpu::named("h200"), Ok(Gpu::default()));
    }

    #[test]
    fn of_a_compute_capability_no_data_sheet_is_known() {
        for limits in Limits::ALL {
            let gpu = Gpu::of(limits.compute_capability).expect("known");
            assert_eq!((gpu.limits, gpu.device()), (*limits, None));
            assert_eq!(gpu.name, format!("compute capability {}", limits.compute_capability));
        }
        assert!(Gpu::of(ComputeCapability::new(4, 0)).is_err());
    }

    #[test]
    fn a_driver_may_tell_another_number_of_multiprocessors() {
        let gpu = Gpu::default().with_name("NVIDIA H200");
        assert_eq!(gpu.device(), Gpu::default().device());
        assert_eq!(Gpu { multiprocessors: 66, ..gpu }.device(), None);
    }
}
