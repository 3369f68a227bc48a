//! One configuration: an architecture, a kernel and a launch.

use crate::{args::Parameter, failure::Failure};
use tilewright_arch::{
    BlockSize, Carveout, ConfigurationError, DynamicSharedMemory, KernelResources, LaunchConfig, Limits,
    Occupancy, Vary,
};

#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub limits: &'static Limits,
    pub kernel: KernelResources,
    /// The dynamic shared memory in here is overwritten by `dynamic`, which may depend on the threads.
    base: LaunchConfig,
    dynamic: DynamicSharedMemory,
}

/// What comes of a setting.
pub struct Outcome {
    /// With 0 blocks where there is an error; for 256 registers those of the CUDA toolkit's calculator.
    pub occupancy: Occupancy,
    /// Why it cannot launch.
    pub error: Option<ConfigurationError>,
}

impl Setting {
    pub fn new(
        limits: &'static Limits,
        kernel: KernelResources,
        base: LaunchConfig,
        dynamic: DynamicSharedMemory,
    ) -> Self {
        Self { limits, kernel, base, dynamic }
    }

    pub fn launch(&self) -> LaunchConfig {
        let dynamic_shared_memory = self.dynamic.bytes(self.base.threads_per_block);
        LaunchConfig { dynamic_shared_memory, ..self.base }
    }

    /// The setting with another value of one parameter; the compute capability is not one of these.
    pub fn with(mut self, parameter: Parameter, value: u32) -> Self {
        match parameter {
            Parameter::Threads => self.base.threads_per_block = value,
            Parameter::Registers => self.kernel.registers_per_thread = value,
            Parameter::StaticSharedMemory => self.kernel.static_shared_memory = value,
            Parameter::DynamicSharedMemory => self.dynamic = DynamicSharedMemory::Fixed(value),
            Parameter::Barriers => self.kernel.barriers = value,
            Parameter::Cluster => self.base.cluster_size = value,
            Parameter::Carveout => self.base.carveout = Carveout::Percent(value),
            Parameter::ComputeCapability => {}
        }
        self
    }

    /// The present value of a quantity that curves vary.
    pub fn value(&self, quantity: Vary) -> u32 {
        quantity.value(&self.kernel, &self.launch())
    }

    /// The setting with another value of such a quantity. Dynamic shared memory that depends on the threads follows
    /// these, and is fixed when shared memory itself is varied.
    pub fn vary(mut self, quantity: Vary, value: u32) -> Self {
        (self.kernel, self.base) = quantity.set(value, &self.kernel, &self.launch());
        if quantity == Vary::SharedMemory {
            self.dynamic = DynamicSharedMemory::Fixed(self.base.dynamic_shared_memory);
        }
        self
    }

    pub fn check(&self) -> Result<(), ConfigurationError> {
        self.launch().check(self.limits, &self.kernel)
    }

    pub fn outcome(&self) -> Result<Outcome, Failure> {
        let mut occupancy =
            Occupancy::of(self.limits, &self.kernel, &self.launch()).map_err(|e| impossible(&e))?;
        let error = self.check().err();
        // The calculation leaves out some checks, launch bounds for one. Of registers it knows more than is possible:
        // 256 have the result that the CUDA toolkit's calculator gives, and an error.
        if error.is_some_and(|e| !matches!(e, ConfigurationError::RegistersPerThread { .. })) {
            (occupancy.blocks_per_sm, occupancy.warps_per_sm) = (0, 0);
        }
        Ok(Outcome { occupancy, error })
    }

    /// The block size with the highest occupancy, if any can be launched.
    pub fn best(&self) -> Result<Option<BlockSize>, Failure> {
        let most = self.limits.max_threads_per_block;
        BlockSize::best(self.limits, &self.kernel, &self.base, self.dynamic, most).map_err(|e| impossible(&e))
    }
}

/// Arguments that have no occupancy at all are refused when they are parsed; this is for what slips through.
fn impossible(error: &ConfigurationError) -> Failure {
    Failure::usage(error.to_string(), "")
}
