//! NVIDIA's compiler and tools, found and asked: from CUDA C++ to PTX, machine code, and what a kernel takes.
//!
//! Nothing of CUDA is needed to build this crate, and no GPU to use it. Libraries and tools are looked for at run time ([`locate`]), and what is
//! missing is an error of kind `unavailable` that says what to install. [`Nvrtc`] compiles kernels, [`CubinCache`] keeps what it made,
//! [`Cubin`] reads machine code, [`DeviceCode`] takes kernels out of programs, and [`kernel_resources`] says what they take.

mod cache;
pub mod compilers;
mod cubin;
mod device_code;
pub mod locate;
mod nvrtc;
mod program_ptx;
mod resources;
// Its tables of functions are made in `tilewright-cuda` as well, which alone needs them.
#[doc(hidden)]
pub mod table;
mod tool;

pub use cache::{CacheInfo, CacheKey, Checks, CubinCache, Programs, cached_file, directory_of_user};
pub use compilers::{Compiler, DriverVersion};
pub use cubin::{CompiledKernel, Cubin, InvalidCubin, Spills};
// `tilewright-cuda` alone needs them.
#[doc(hidden)]
pub use cubin::{REUSE_COMPILERS, reuse_operands};
pub use device_code::{CompilerOptions, DeviceCode, MathMode};
pub use locate::{Component, Location, Rule};
pub use nvrtc::{Compiled, DEFAULT_OPTIONS, Nvrtc, NvrtcBuild, NvrtcVersion, Output, Source};
pub use program_ptx::ProgramPtx;
pub use resources::{Input, kernel_resources, ptx, ptx_resources};
pub use tilewright_arch::Architecture;
pub use tool::{Nvcc, Nvdisasm, Ptxas};
