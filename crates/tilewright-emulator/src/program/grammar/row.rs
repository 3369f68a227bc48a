//! What a row says.

use crate::ptx_isa::{Fragment, MatrixFamily, Modifier, Opcode};

/// One instruction.
#[derive(Debug)]
pub struct Instruction {
    /// The opcode, and the words behind it that make it an instruction of its own: `cp.async.bulk`.
    pub name: &'static str,
    /// What follows, as the manual writes it: modifiers in order, in braces those that may be missing, and the operands.
    pub form: &'static str,
    /// Which modifiers it takes.
    pub takes: Takes,
    /// What it becomes.
    pub lowering: Lowering,
}

/// The modifiers that an instruction takes.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// Those that are known; what is lowered looks for more.
    Known,
    /// These alone, since the others would change what it does.
    Only(&'static [Modifier]),
    /// All: it changes nothing but what stays in caches, or is a fence, which is as strong as any here.
    Anything,
}

/// What instructions become: a variant for each way to lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lowering {
    /// No row has this opcode.
    Unknown,
    /// Known by name alone: what is not there yet, with its verb.
    Planned(&'static str),
    /// Changes nothing that the emulator has.
    Nothing,

    Mov,
    /// The scalar semantics, and their least number of sources.
    Scalar(Opcode, u8),
    /// A link of a carry chain that takes the carry in.
    Carry(Opcode),

    Load,
    Store,
    StoreAsync,
    Atomic,
    Reduction,
    ReductionAsync,
    ConvertAddress,
    MapAddress,
    RankOfAddress,
    IsSpace,
    CachePolicy,
    CopyAsync,
    CommitCopies,
    WaitForCopies,
    ArriveAfterCopies,
    /// Whether it combines what it brings with what is there.
    Bulk {
        reduces: bool,
    },
    BulkTensor {
        reduces: bool,
    },
    ReplaceMap,
    CopyMap,
    AcquireMap,
    BulkCommit,
    BulkWait,

    Branch,
    BranchIndexed,
    Call,
    Return,
    Exit,
    Trap,
    Sleep,
    SetRegisters,

    /// Whether it is `.aligned` without saying so.
    Barrier {
        aligned: bool,
    },
    WarpBarrier,
    ClusterArrive,
    ClusterWait,
    Fence,
    ProxyFence,
    InitFence,
    Shuffle,
    Vote,
    Match,
    ReduceInWarp,
    ActiveMask,
    Elect,

    Mbarrier(Mbarrier),

    Mma(MatrixFamily),
    LoadFragment(Fragment),
    StoreFragment,
    LoadMatrix,
    StoreMatrix,
    Wgmma,
    WgmmaFence,
    WgmmaCommit,
    WgmmaWait,
    TransposeMatrix,

    Texture,
    Gather,
    TextureQuery,
    SurfaceLoad,
    SurfaceStore,
    SurfaceQuery,

    Alloca,
    StackSave,
    StackRestore,
}

/// The operations on an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mbarrier {
    Init,
    Invalidate,
    Arrive,
    ArriveDrop,
    ExpectTx,
    CompleteTx,
    Wait,
    PendingCount,
}
