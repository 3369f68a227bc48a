//! The GPU that a recipe is for.

use tilewright_arch::{ComputeCapability, Device, KernelResources, LaunchConfig, Limits, Occupancy};

/// What a recipe needs to know of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// Shared memory that one block may have by opting in, in bytes.
    pub shared_memory_per_block: u32,
    /// Shared memory of one multiprocessor, in bytes.
    pub shared_memory_per_multiprocessor: u32,
    /// The clock of the multiprocessors, in hertz.
    pub clock_hz: u64,
    /// Peak bandwidth of its memory.
    pub memory_bytes_per_second: u64,
    /// The second-level cache, in bytes.
    pub l2_bytes: u64,
}

impl Default for Target {
    /// An H200: compute capability 9.0, 132 multiprocessors.
    fn default() -> Self {
        Self {
            compute_capability: (9, 0),
            multiprocessors: 132,
            shared_memory_per_block: 232_448,
            shared_memory_per_multiprocessor: 233_472,
            clock_hz: 1_980_000_000,
            memory_bytes_per_second: 4_800_000_000_000,
            l2_bytes: 50 << 20,
        }
    }
}

impl Target {
    /// A GPU of the table of devices.
    ///
    /// ```
    /// use tilewright_kernels::Target;
    /// let device = |name| tilewright_arch::Device::find(name).unwrap();
    /// assert_eq!(Target::of(device("h200")), Target::default());
    /// assert_eq!(Target::of(device("rtx 4090")).multiprocessors, 128);
    /// ```
    pub fn of(device: &Device) -> Self {
        let shared = device.limits().map_or([48 << 10; 2], |limits| {
            [limits.shared_memory_per_block_optin, limits.shared_memory_per_sm]
        });
        let capability = device.compute_capability;
        Self {
            compute_capability: (capability.major().into(), capability.minor().into()),
            multiprocessors: device.sms,
            shared_memory_per_block: shared[0],
            shared_memory_per_multiprocessor: shared[1],
            clock_hz: u64::from(device.boost_clock_mhz) * 1_000_000,
            memory_bytes_per_second: device.memory_bandwidth as u64,
            l2_bytes: u64::from(device.l2_kib) << 10,
        }
    }

    /// The version of its multiprocessors.
    pub(crate) fn capability(&self) -> ComputeCapability {
        let (major, minor) = self.compute_capability;
        ComputeCapability::new(major as u8, minor as u8)
    }

    /// Bytes that its memory moves in a cycle of its multiprocessors; where neither is known, as on an H200.
    pub(crate) fn bytes_per_cycle(&self) -> f64 {
        let known =
            |target: &Self| (target.clock_hz > 0 && target.memory_bytes_per_second > 0).then_some(*target);
        let Self { clock_hz, memory_bytes_per_second, .. } = known(self).unwrap_or_default();
        memory_bytes_per_second as f64 / clock_hz as f64
    }

    /// Its clock as a part of that of an H200, 1 where it is not known.
    pub(crate) fn relative_clock(&self) -> f64 {
        match self.clock_hz {
            0 => 1.0,
            clock => clock as f64 / Self::default().clock_hz as f64,
        }
    }

    /// Blocks of so many threads, registers a thread and bytes of shared memory that a multiprocessor holds at a time; `None` for compute
    /// capabilities that nothing is known of.
    pub(crate) fn resident_blocks(&self, threads: u32, registers: u32, shared_memory: u32) -> Option<u32> {
        let limits = Limits::of(self.capability()).ok()?;
        let limits = Limits {
            shared_memory_per_sm: self.shared_memory_per_multiprocessor,
            shared_memory_per_block_optin: self.shared_memory_per_block,
            ..limits.clone()
        };
        let kernel = KernelResources { registers_per_thread: registers, ..KernelResources::default() };
        let launch = LaunchConfig { dynamic_shared_memory: shared_memory, ..LaunchConfig::threads(threads) };
        Some(Occupancy::of(&limits, &kernel, &launch).ok()?.blocks_per_sm)
    }
}
