//! Matrix products on NVIDIA GPUs: compiling kernels, and running them.
//!
//! Nothing of CUDA is needed to build this crate. Libraries and tools are looked for at run time, and what is missing is an error
//! of kind `unavailable` that says what to install. What needs no GPU is `tilewright_toolchain`, whose items are here, too: [`Nvrtc`] compiles
//! kernels to machine code, and [`kernel_resources`] says what they take.

#[cfg(feature = "cublas")]
mod cublas;
mod device;
mod engine;
mod ffi;
mod nccl;
mod telemetry;
mod tunings;

#[cfg(feature = "cublas")]
pub use cublas::{Cublas, CublasElement, CublasLt, CublasMath, LtElement, LtProduct};
pub use device::{
    DeviceInfo, DeviceMatrix, DeviceMut, DeviceRef, Driver, DriverKind, DynDeviceMatrix, FunctionAttributes,
    Pinned, device_layout,
};
pub use engine::{
    Chosen, CodeArrays, CodeLaunch, CodeModule, Competitor, DeviceProduct, Engine, InPlace, LoadedKernel,
    Mark, OperandReuse, Origin, Pace, PeerAddress, Planned, Prepared, PreparedKernel, Repetitions, Timing,
    With, sets_beyond_cache,
};
pub use nccl::{Communicator, Nccl, NcclId};
pub use telemetry::Telemetry;
pub use tilewright_arch::{Architecture, Blocks, Gpu, GridLaunch, InstructionSet};
pub use tilewright_toolchain::{
    CacheInfo, CacheKey, Checks, Compiled, CompiledKernel, CompilerOptions, Component, Cubin, CubinCache,
    DEFAULT_OPTIONS, DeviceCode, DriverVersion, Input, InvalidCubin, Location, MathMode, Nvcc, Nvdisasm,
    Nvrtc, NvrtcBuild, NvrtcVersion, Output, ProgramPtx, Programs, Ptxas, Rule, Source, Spills, cached_file,
    kernel_resources, ptx, ptx_resources,
};
pub use tunings::{Tuning, Tunings};
