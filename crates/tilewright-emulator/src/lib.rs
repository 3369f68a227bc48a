//! Executes PTX on the CPU, counts what the hardware counts, and finds what it hides.
//!
//! [`Program`] reads a PTX module, [`Machine`] holds it with device memory, [`Machine::launch`] runs a kernel, and the [`Report`] has
//! [`Counters`] and [`Finding`]s. Counts are those of PTX instructions; see [`Counters`] for what that means.

pub mod alu;
mod check;
mod count;
mod host;
mod machine;
mod memory;
pub mod parse;
mod program;
pub mod ptx_isa;
pub mod tensor_map;

pub use check::{Finding, FindingKind, Nature, Party, Severity};
pub use count::{
    AccessCounters, AccessKind, Counters, InstructionCounters, LineCounters, MbarrierCounters, MbarrierLine,
    MbarrierUse, OptimisedAccesses,
};
pub use host::{Argument, Context, DevicePointer, Launch, Machine, MemoryError};
pub use machine::{
    AddressMode, BlockOrderPolicy, Coordinates, EventKind, Filter, LaunchError, LaunchOptions,
    ObservedAccess, ObservedEvent, Observer, Races, Report, Sampler, Schedule, Surface, TexelFormat,
    TexelRead, Texels, Texture, TextureShape, UnknownSchedule, Watch,
};
pub use program::{EntryNeeds, Parameter, Program, ProgramError, SourceLine, Symbol, demangled, kernel_name};
