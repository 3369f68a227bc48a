//! Matrix products on NVIDIA GPUs: finding the libraries, compiling kernels, and running them.
//!
//! Nothing of CUDA is needed to build this crate. Libraries and tools are looked for at run time, and what is missing is an error
//! of kind `unavailable` that says what to install. Without a GPU, [`Nvrtc`] still compiles kernels to machine code, and
//! [`kernel_resources`] says what they take.

mod cache;
mod cubin;
#[cfg(feature = "cublas")]
mod cublas;
mod device;
mod device_code;
mod engine;
mod ffi;
mod locate;
mod nvrtc;
mod program_ptx;
mod resources;
mod telemetry;
mod tool;

pub use cache::{CacheInfo, CacheKey, Checks, CubinCache, Programs, Tuning, Tunings, cached_file};
pub use cubin::{CompiledKernel, Cubin, InvalidCubin, Spills};
#[cfg(feature = "cublas")]
pub use cublas::{Cublas, CublasElement, CublasLt, CublasMath, LtElement, LtProduct};
pub use device::{
    DeviceInfo, DeviceMatrix, DeviceMut, DeviceRef, Driver, DriverKind, DriverVersion, DynDeviceMatrix,
    FunctionAttributes, Pinned, device_layout,
};
pub use device_code::{CompilerOptions, DeviceCode, MathMode};
pub use engine::{
    Chosen, CodeArrays, CodeLaunch, CodeModule, Competitor, DeviceProduct, Engine, InPlace, LoadedKernel,
    OperandReuse, Origin, Pace, Planned, Prepared, PreparedKernel, Repetitions, Timing, With,
    sets_beyond_cache,
};
pub use locate::{Component, Location, Rule};
pub use nvrtc::{Compiled, DEFAULT_OPTIONS, Nvrtc, NvrtcBuild, NvrtcVersion, Output, Source};
pub use program_ptx::ProgramPtx;
pub use resources::{Input, kernel_resources, ptx, ptx_resources};
pub use telemetry::Telemetry;
pub use tilewright_arch::{Architecture, Blocks, Gpu, GridLaunch, InstructionSet};
pub use tool::{Nvcc, Nvdisasm, Ptxas};
