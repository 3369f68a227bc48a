//! Every kind of finding, of the checks and of those who judge numbers, in one table.

/// What a kind of finding says of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nature {
    /// It is wrong, or may be.
    Fault,
    /// It is right, and could be faster.
    Advice,
    /// It was ended before its end.
    Note,
}

/// A row of the table.
struct Row {
    nature: Nature,
    rank: u8,
    name: &'static str,
    title: &'static str,
}

/// The enum and its table. A row is a variant, its nature, its rank, its name and its title.
macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident: $nature:ident, $rank:literal, $name:literal, $title:literal;)*) => {
        /// What is wrong, slow or worth knowing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FindingKind {
            $($(#[$about])* $kind,)*
        }

        impl FindingKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            const fn row(self) -> Row {
                match self {
                    $(Self::$kind => Row { nature: Nature::$nature, rank: $rank, name: $name, title: $title },)*
                }
            }
        }
    };
}

kinds! {
    /// A load or store outside the object that the pointer was made from.
    OutOfBounds: Fault, 0, "out-of-bounds", "access out of bounds";
    /// A store to constant memory or to a parameter.
    ReadOnly: Fault, 2, "read-only", "store to read-only memory";
    /// An address that is no multiple of the access size.
    Misaligned: Fault, 3, "misaligned", "misaligned access";
    /// A shared load of bytes that nothing has written.
    UninitialisedShared: Fault, 20, "uninitialised-shared", "read of uninitialised shared memory";
    /// A load of local memory that the thread has not written.
    ///
    /// Local memory is checked by the variables of PTX. Compilers put all arrays of a function into one, `__local_depot`: an index that runs
    /// from one array into another of the same function, or to its elements, is not found.
    UninitialisedLocal: Fault, 21, "uninitialised-local", "read of uninitialised local memory";
    /// A value that the thread has not given to a variable decides something: a branch, an address, what global memory holds.
    UninitialisedRegister: Fault, 22, "uninitialised-register", "use of an uninitialised variable";
    /// A load of constant memory that has no initial values and that the host has not written. A variable counts as written once the host
    /// has written a part of it.
    UninitialisedConstant: Fault, 23, "uninitialised-constant", "read of constant memory that nobody has filled";
    /// A texture instruction on a handle or variable to which no texture is bound.
    UnboundTexture: Fault, 23, "unbound-texture", "texture that nothing is bound to";
    /// A texture instruction for textures of another shape than the one that is bound.
    TextureShape: Fault, 23, "texture-shape", "texture of another shape";
    /// An access of shared memory that an asynchronous copy (`cp.async`) is on its way to: nobody has waited for it.
    PendingCopy: Fault, 14, "pending-copy", "asynchronous copy that is not waited for";
    /// Two accesses of shared memory by threads of a block, at least one a store, that no barrier orders.
    SharedRace: Fault, 12, "shared-race", "race on shared memory";
    /// As [`FindingKind::SharedRace`], by lanes of one warp: `__syncwarp()` is missing.
    WarpRace: Fault, 13, "warp-race", "race between lanes of a warp";
    /// Two accesses of global memory by threads of one block that no barrier orders.
    GlobalRace: Fault, 11, "global-race", "race on global memory within a block";
    /// Two accesses of global memory by different blocks that nothing orders.
    BlockRace: Fault, 10, "block-race", "race on global memory between blocks";
    /// Threads read a value, change it and write it back without an atomic.
    LostUpdate: Fault, 9, "lost-update", "lost update";
    /// A barrier that not all lanes of a warp reach together, or that threads have exited before.
    BarrierDivergence: Fault, 7, "barrier-divergence", "divergent barrier";
    /// Threads that wait for ever.
    Deadlock: Fault, 6, "deadlock", "deadlock";
    /// Threads that had not come to their end when the launch reached its limit of steps.
    StepLimit: Note, 23, "step-limit", "endless, or too long";
    /// Threads that had not come to their end when the launch reached its limit of time.
    TimeLimit: Note, 23, "time-limit", "endless, or too long";
    /// Threads that had not come to their end when the launch was interrupted.
    Interrupted: Note, 23, "interrupted", "interrupted";
    /// A warp instruction whose mask does not name the lane that executes it, or names lanes that execute it with another mask.
    WarpMask: Fault, 8, "warp-mask", "wrong warp mask";
    /// A failed `assert`.
    Assertion: Fault, 4, "assertion", "assertion failed";
    /// `trap`.
    Trap: Fault, 5, "trap", "trap";
    /// A shuffle that reads a lane which does not execute it.
    InactiveLane: Fault, 23, "inactive-lane", "shuffle from a lane that takes no part";
    /// A load that may be served by a cache which sees no stores of the kernel (`__ldg`, `const __restrict__`), of what the kernel has written.
    ReadOnlyCache: Fault, 23, "read-only-cache", "cached read of what the kernel writes";
    /// `free` of what `malloc` has not given, or of what is free already.
    InvalidFree: Fault, 23, "invalid-free", "free of what is not allocated";
    /// An `mbarrier` that is not initialised, or at which more threads arrive than it expects.
    InvalidMbarrier: Fault, 23, "invalid-mbarrier", "misused mbarrier";
    /// An access to the shared memory of a block of the cluster that has exited, or may have.
    ExitedBlock: Fault, 1, "exited-block", "access to a block that may have exited";
    /// A bulk copy whose tensor map is none, or has another rank or mode.
    InvalidTensorMap: Fault, 18, "invalid-tensor-map", "wrong tensor map";
    /// Shared memory that a matrix instruction still reads is written: nobody has waited for the instruction.
    PendingProduct: Fault, 15, "pending-product", "matrix instruction that is not waited for";
    /// Registers of a matrix instruction (`wgmma`) that are written, and not fenced before it (`wgmma.fence`), or used before it is
    /// waited for.
    ProductRegisters: Fault, 16, "product-registers", "registers of a matrix instruction in flight";
    /// A bulk copy of a tensor's box of which nobody reads a good part.
    UnreadCopy: Advice, 23, "unread-copy", "copy that nobody reads";
    /// A descriptor of a matrix in shared memory that does not fit how the matrix lies there.
    InvalidDescriptor: Fault, 19, "invalid-descriptor", "descriptor that does not fit its tile";
    /// Warps that ask for more registers than their block has (`setmaxnreg`), or warps of a warpgroup that ask for different numbers.
    InvalidRegisters: Fault, 23, "invalid-registers", "misused setmaxnreg";
    /// What a thread has stored in shared memory is read by a matrix instruction or a bulk copy, and the thread has executed no
    /// `fence.proxy.async` behind its store. With [`Races::Strict`](crate::Races::Strict) also: what it has read is overwritten by a bulk copy.
    ProxyFence: Fault, 17, "proxy-fence", "missing fence between proxies";
    /// A launch that the GPU does not take.
    CannotLaunch: Fault, 23, "cannot-launch", "launch that cannot be";
    /// A kernel that the assembler does not take for the GPU.
    DoesNotCompile: Fault, 23, "does-not-compile", "kernel that does not compile";
    /// A launch that a fault ended.
    FailedLaunch: Fault, 24, "failed-launch", "launch that did not end";
    /// A launch that a limit or a user ended.
    NotFinished: Note, 24, "not-finished", "launch that is not finished";
    /// A global access that moves at least twice the sectors that its data would fill.
    Uncoalesced: Advice, 23, "uncoalesced", "uncoalesced access";
    /// A global access that moves more than those sectors, and less than twice.
    MisalignedSectors: Advice, 23, "misaligned-sectors", "access of shifted sectors";
    /// A shared access that takes more wavefronts than its ideal.
    BankConflict: Advice, 23, "bank-conflict", "bank conflict";
    /// Lanes of a warp that want different addresses of constant memory.
    ConstantDivergence: Advice, 23, "constant-divergence", "divergent read of constant memory";
    /// Lanes of a warp that meet in one address of an atomic.
    AtomicContention: Advice, 23, "atomic-contention", "contended atomic";
    /// Less than three quarters of the lanes are active.
    Divergence: Advice, 23, "divergence", "divergent branch";
    /// An array that is indexed at run time, or spilled registers.
    LocalMemory: Advice, 23, "local-memory", "access to local memory";
    /// Less than half of the warps that an SM can hold, of a kernel without `wgmma`.
    LowOccupancy: Advice, 23, "low-occupancy", "low occupancy";
}

impl FindingKind {
    /// The word for it in reports, manifests and suppressions. It stays.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// A few words for it.
    pub const fn title(self) -> &'static str {
        self.row().title
    }

    /// What it says of a kernel.
    pub const fn nature(self) -> Nature {
        self.row().nature
    }

    /// How grave a fault is, 0 the gravest: what ends a launch, what makes results a matter of chance, what was never written, and then the
    /// others alike. That a launch ended comes last: it follows from what was found before.
    pub const fn rank(self) -> u8 {
        self.row().rank
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Its name with blanks, for sentences.
    pub fn words(self) -> String {
        self.name().replace('-', " ")
    }

    /// Whether two accesses meet that order alone would keep apart.
    pub fn is_race(self) -> bool {
        self.reach().is_some()
    }

    /// How far apart the threads are that such a race is between; what orders threads that far apart orders nearer ones too. `None`: it is
    /// no race that order alone would mend.
    pub(crate) fn reach(self) -> Option<u32> {
        match self {
            Self::WarpRace => Some(0),
            Self::SharedRace | Self::GlobalRace => Some(1),
            Self::BlockRace => Some(2),
            _ => None,
        }
    }
}

impl std::fmt::Display for FindingKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_name_is_that_of_the_variant_and_a_title_belongs_to_one_kind() {
        for &kind in FindingKind::ALL {
            let mut kebab = String::new();
            for letter in format!("{kind:?}").chars() {
                let hyphen = if letter.is_uppercase() && !kebab.is_empty() { "-" } else { "" };
                kebab += &format!("{hyphen}{}", letter.to_lowercase());
            }
            assert_eq!(kebab, kind.name());
            assert_eq!(FindingKind::named(kind.name()), Some(kind));
        }
        let titles: HashSet<_> = FindingKind::ALL.iter().map(|kind| kind.title()).collect();
        // The limits of steps and of time have one.
        assert_eq!(titles.len() + 1, FindingKind::ALL.len());
        assert_eq!(FindingKind::named("none"), None);
    }
}
