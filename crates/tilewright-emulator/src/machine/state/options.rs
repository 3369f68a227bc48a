//! How a kernel is launched, and why a launch fails.

use std::time::Duration;

use tilewright_arch::ComputeCapability;

/// Whether races are looked for: each finds what those before it find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Races {
    /// No: the fastest.
    Ignore,
    /// In shared memory.
    Shared,
    /// In shared and in global memory, between blocks too. What is remembered of global memory takes between 0.3 and 16 bytes for each byte
    /// that is touched: the less, the more neighbours are accessed together.
    #[default]
    All,
    /// And what the hardware of today forgives, so that much published code does it: bulk copies that overwrite what a thread has read without
    /// `fence.proxy.async` behind that.
    Strict,
}

/// In which order blocks are executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockOrderPolicy {
    /// Several at a time, on the threads of the rayon pool.
    ///
    /// A launch that finds a fault, while it looks for races everywhere, begins again on one thread, with memory as it was: so it finds the same every
    /// time.
    #[default]
    Parallel,
    /// One after the other, by number: atomics of floats give the same sums every time.
    Deterministic,
    /// All at the same time, taking turns on one thread, as a cooperative launch promises: blocks may wait for each other.
    Cooperative,
}

/// When asynchronous copies of bulk data are done. A right program gives the same results in every case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// When somebody waits for them: what is read too early is old.
    #[default]
    Late,
    /// At once: what is written too late is lost.
    Early,
    /// Some so and some so.
    Random {
        /// Which.
        seed: u64,
    },
}

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Late => f.write_str("late"),
            Self::Early => f.write_str("early"),
            Self::Random { seed } => write!(f, "random:{seed}"),
        }
    }
}

impl std::str::FromStr for Schedule {
    type Err = UnknownSchedule;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.strip_prefix("random:").map(str::parse)) {
            ("late", _) => Ok(Self::Late),
            ("early", _) => Ok(Self::Early),
            (_, Some(Ok(seed))) => Ok(Self::Random { seed }),
            _ => Err(UnknownSchedule),
        }
    }
}

/// A text that is no [`Schedule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("late, early, or random:SEED is expected")]
pub struct UnknownSchedule;

/// How a kernel is launched.
///
/// Out-of-bounds, alignment, initialisation and barrier checks are always on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchOptions {
    /// Race checks.
    pub races: Races,
    /// Order of the blocks.
    pub order: BlockOrderPolicy,
    /// Most steps of the launch, if they are limited: instructions, once for each warp that executes them. What a warp skips by a guard counts,
    /// and so do the few more that one instruction of PTX may take inside. The launch ends at the first turn of a block after the limit.
    pub step_limit: Option<u64>,
    /// Most time of the launch, by the clock, if it is limited. What the launch counts and finds until then depends on the machine.
    pub time_limit: Option<Duration>,
    /// Most bytes that the machine may take for this launch: allocations, blocks, what is remembered to find races, and what the kernel prints.
    pub memory_limit: u64,
    /// What `%nsmid` says, and how many values `%smid` has.
    pub multiprocessors: u32,
    /// The compute capability of the GPU whose tensor cores are imitated: they add differently, see [`sums_of`](crate::alu::tensor::sums_of).
    pub capability: ComputeCapability,
    /// When bulk copies are done.
    pub schedule: Schedule,
    /// Most threads of this process that take blocks; 0 takes all of the rayon pool.
    pub workers: usize,
}

impl LaunchOptions {
    /// The limit of time unless one is given.
    pub const TIME: Duration = Duration::from_secs(60);

    /// Threads of this process that take part in a launch of `blocks` blocks.
    pub fn workers(&self, blocks: u64) -> usize {
        let pool = rayon::current_num_threads();
        let most = if self.workers == 0 { pool } else { pool.min(self.workers) };
        match self.order {
            BlockOrderPolicy::Parallel => most.min(usize::try_from(blocks).unwrap_or(usize::MAX)).max(1),
            BlockOrderPolicy::Deterministic | BlockOrderPolicy::Cooperative => 1,
        }
    }
}

impl Default for LaunchOptions {
    fn default() -> Self {
        Self {
            races: Races::default(),
            order: BlockOrderPolicy::default(),
            step_limit: None,
            time_limit: Some(Self::TIME),
            memory_limit: 8 << 30,
            multiprocessors: 132,
            schedule: Schedule::default(),
            capability: ComputeCapability::new(9, 0),
            workers: 0,
        }
    }
}

/// Why a launch did not happen or did not end well.
///
/// Faults of the kernel that the machine can go on after are [`Finding`](crate::Finding)s in the [`Report`](crate::Report) instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// No such entry.
    #[error("the module has no entry `{name}`; it has: {known}")]
    NoEntry {
        /// The name asked for.
        name: String,
        /// The entries that there are.
        known: String,
    },
    /// An entry that is wrong in itself, or calls a function that is.
    #[error("`{function}` cannot be executed: {problem}")]
    Invalid {
        /// The entry or function.
        function: String,
        /// What is wrong with it.
        problem: crate::program::ProgramError,
    },
    /// A grid or block that no device takes.
    #[error("{what} {extent:?} is not possible: {why}")]
    Extent {
        /// Grid or block.
        what: &'static str,
        /// As asked for.
        extent: [u32; 3],
        /// The rule.
        why: String,
    },
    /// A launch that the device does not take.
    #[error("cannot launch: {why}")]
    Refused {
        /// What it asks for too much of, and what to do.
        why: String,
    },
    /// Arguments that do not fit the parameters.
    #[error("argument {index} of `{entry}`: {message}")]
    Argument {
        /// The entry.
        entry: String,
        /// Which one, from 0.
        index: usize,
        /// What is wrong.
        message: String,
    },
    /// More shared memory than a block can have.
    #[error("the block needs {bytes} bytes of shared memory, {largest}; the most is {limit}")]
    SharedMemory {
        /// Needed.
        bytes: u64,
        /// What takes most of it.
        largest: String,
        /// Possible.
        limit: u64,
    },
    /// An instruction that the emulator does not know.
    #[error("PTX line {line}: `{opcode}` is not supported: {reason}")]
    Unsupported {
        /// The instruction.
        opcode: String,
        /// PTX line.
        line: u32,
        /// Why not.
        reason: String,
    },
    /// A call of a function that is only declared.
    #[error("PTX line {line}: `{name}` is called and not defined in this module")]
    UndefinedFunction {
        /// The function.
        name: String,
        /// PTX line.
        line: u32,
    },
    /// Recursion without end.
    #[error("the calls of a thread are more than {levels} levels deep")]
    StackOverflow {
        /// The limit.
        levels: u32,
    },
    /// `trap`.
    #[error("PTX line {line}: the kernel executed `trap`")]
    Trap {
        /// PTX line.
        line: u32,
    },
    /// A failed `assert`.
    #[error("{file}:{line}: assertion `{message}` failed")]
    Assertion {
        /// The expression.
        message: String,
        /// CUDA file.
        file: String,
        /// CUDA line.
        line: u32,
    },
    /// Too many instructions.
    #[error(
        "the launch executed more than {limit} warp instructions, the limit of steps; is there an endless loop?"
    )]
    StepLimit {
        /// The limit.
        limit: u64,
    },
    /// Too much time.
    #[error("the launch has not ended after {limit:?}, the limit of time; is there an endless loop?")]
    TimeLimit {
        /// The limit.
        limit: Duration,
    },
    /// The host has stopped it.
    #[error("the launch was interrupted after {steps} warp instructions")]
    Interrupted {
        /// Executed until then.
        steps: u64,
    },
    /// Too much memory.
    #[error(
        "the launch needs {bytes} bytes of memory, {largest}; the limit is {limit} (`memory_limit` sets it)"
    )]
    MemoryLimit {
        /// Needed.
        bytes: u64,
        /// What takes most of it.
        largest: String,
        /// The limit.
        limit: u64,
    },
}
