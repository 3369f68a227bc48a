//! What the checks report.

use crate::program::SourceLine;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FindingKind {
    /// A load or store outside the object that the pointer was made from.
    OutOfBounds,
    /// A store to constant memory or to a parameter.
    ReadOnly,
    /// An address that is no multiple of the access size.
    Misaligned,
    /// A shared load of bytes that nothing has written.
    UninitialisedShared,
    /// A load of local memory that the thread has not written.
    ///
    /// Local memory is checked by the variables of PTX. Compilers put all arrays of a function into one, `__local_depot`: an index that runs
    /// from one array into another of the same function, or to its elements, is not found.
    UninitialisedLocal,
    /// A value that the thread has not given to a variable decides something: a branch, an address, what global memory holds.
    UninitialisedRegister,
    /// A load of constant memory that has no initial values and that the host has not written. A variable counts as written once the host
    /// has written a part of it.
    UninitialisedConstant,
    /// A texture instruction on a handle or variable to which no texture is bound.
    UnboundTexture,
    /// A texture instruction for textures of another shape than the one that is bound.
    TextureShape,
    /// An access of shared memory that an asynchronous copy (`cp.async`) is on its way to: nobody has waited for it.
    PendingCopy,
    /// Two accesses of shared memory by threads of a block, at least one a store, that no barrier orders.
    SharedRace,
    /// As [`FindingKind::SharedRace`], by lanes of one warp: `__syncwarp()` is missing.
    WarpRace,
    /// Two accesses of global memory by threads of one block that no barrier orders.
    GlobalRace,
    /// Two accesses of global memory by different blocks that nothing orders.
    BlockRace,
    /// Threads read a value, change it and write it back without an atomic.
    LostUpdate,
    /// A barrier that not all lanes of a warp reach together, or that threads have exited before.
    BarrierDivergence,
    /// Threads that wait for ever.
    Deadlock,
    /// Threads that had not come to their end when the launch reached its limit of steps.
    StepLimit,
    /// Threads that had not come to their end when the launch reached its limit of time.
    TimeLimit,
    /// Threads that had not come to their end when the launch was interrupted.
    Interrupted,
    /// A warp instruction whose mask does not name the lane that executes it, or names lanes that execute it with another mask.
    WarpMask,
    /// A failed `assert`.
    Assertion,
    /// `trap`.
    Trap,
    /// A shuffle that reads a lane which does not execute it.
    InactiveLane,
    /// A load that may be served by a cache which sees no stores of the kernel (`__ldg`, `const __restrict__`), of what the kernel has written.
    ReadOnlyCache,
    /// `free` of what `malloc` has not given, or of what is free already.
    InvalidFree,
    /// An `mbarrier` that is not initialised, or at which more threads arrive than it expects.
    InvalidMbarrier,
    /// An access to the shared memory of a block of the cluster that has exited, or may have.
    ExitedBlock,
    /// A bulk copy whose tensor map is none, or has another rank or mode.
    InvalidTensorMap,
    /// Shared memory that a matrix instruction still reads is written: nobody has waited for the instruction.
    PendingProduct,
    /// Registers of a matrix instruction (`wgmma`) that are written, and not fenced before it (`wgmma.fence`), or used before it is
    /// waited for.
    ProductRegisters,
    /// A bulk copy of a tensor's box of which nobody reads a good part.
    UnreadCopy,
    /// A descriptor of a matrix in shared memory that does not fit how the matrix lies there.
    InvalidDescriptor,
    /// Warps that ask for more registers than their block has (`setmaxnreg`), or warps of a warpgroup that ask for different numbers.
    InvalidRegisters,
    /// What a thread has stored in shared memory is read by a matrix instruction or a bulk copy, and the thread has executed no
    /// `fence.proxy.async` behind its store. With [`Races::Strict`](crate::Races::Strict) also: what it has read is overwritten by a bulk copy.
    ProxyFence,
}

impl FindingKind {
    /// A few words for it.
    pub fn title(self) -> &'static str {
        match self {
            Self::OutOfBounds => "access out of bounds",
            Self::ReadOnly => "store to read-only memory",
            Self::Misaligned => "misaligned access",
            Self::UninitialisedShared => "read of uninitialised shared memory",
            Self::UninitialisedLocal => "read of uninitialised local memory",
            Self::UninitialisedRegister => "use of an uninitialised variable",
            Self::UninitialisedConstant => "read of constant memory that nobody has filled",
            Self::UnboundTexture => "texture that nothing is bound to",
            Self::TextureShape => "texture of another shape",
            Self::PendingCopy => "asynchronous copy that is not waited for",
            Self::SharedRace => "race on shared memory",
            Self::WarpRace => "race between lanes of a warp",
            Self::GlobalRace => "race on global memory within a block",
            Self::BlockRace => "race on global memory between blocks",
            Self::LostUpdate => "lost update",
            Self::BarrierDivergence => "divergent barrier",
            Self::Deadlock => "deadlock",
            Self::StepLimit | Self::TimeLimit => "endless, or too long",
            Self::Interrupted => "interrupted",
            Self::WarpMask => "wrong warp mask",
            Self::Assertion => "assertion failed",
            Self::Trap => "trap",
            Self::InactiveLane => "shuffle from a lane that takes no part",
            Self::ReadOnlyCache => "cached read of what the kernel writes",
            Self::InvalidFree => "free of what is not allocated",
            Self::InvalidMbarrier => "misused mbarrier",
            Self::ExitedBlock => "access to a block that may have exited",
            Self::InvalidTensorMap => "wrong tensor map",
            Self::PendingProduct => "matrix instruction that is not waited for",
            Self::ProductRegisters => "registers of a matrix instruction in flight",
            Self::UnreadCopy => "copy that nobody reads",
            Self::InvalidDescriptor => "descriptor that does not fit its tile",
            Self::InvalidRegisters => "misused setmaxnreg",
            Self::ProxyFence => "missing fence between proxies",
        }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Harmless as executed, and worth knowing: several threads write the same value to one place.
    Note,
    /// Works on today's hardware, though the programming model does not promise it.
    Warning,
    /// A wrong program.
    Error,
}

/// One side of a finding: an instruction and who executed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// PTX line, from 1.
    pub ptx_line: u32,
    /// CUDA line, if the module has line information.
    pub source: Option<SourceLine>,
    /// The PTX opcode.
    pub opcode: String,
    /// Block index.
    pub block: [u32; 3],
    /// Indices of the threads, at most 32.
    pub threads: Vec<[u32; 3]>,
}

/// A fault in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// How bad it is.
    pub severity: Severity,
    /// The entry that was launched.
    pub kernel: String,
    /// The access or barrier.
    pub at: Party,
    /// The earlier access that it conflicts with.
    pub with: Option<Party>,
    /// What happened, in a sentence.
    pub message: String,
    /// What to do about it, in a sentence.
    pub fix: String,
    /// Of a race: whether a barrier between the two accesses would mend it.
    pub wants_barrier: bool,
    /// How often the same pair of instructions was found.
    pub count: u64,
}

impl std::fmt::Display for Party {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(source) = &self.source {
            write!(f, "{source}, ")?;
        }
        let [x, y, z] = self.block;
        write!(f, "PTX line {} ({}), block ({x}, {y}, {z})", self.ptx_line, self.opcode)?;
        if let Some([x, y, z]) = self.threads.first() {
            write!(f, ", thread ({x}, {y}, {z})")?;
        }
        match self.threads.len() {
            0 | 1 => Ok(()),
            more => write!(f, " and {} more", more - 1),
        }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} in {}: {}", self.kind.title(), self.kernel, self.message)?;
        writeln!(f, "  at   {}", self.at)?;
        if let Some(with) = &self.with {
            writeln!(f, "  with {with}")?;
        }
        write!(f, "  fix: {} ({} time{})", self.fix, self.count, if self.count == 1 { "" } else { "s" })
    }
}
