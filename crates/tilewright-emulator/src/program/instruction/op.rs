//! What instructions do.

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the PTX comparison of the same spelling")]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// A special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the PTX register of the same spelling; 0, 1, 2 are x, y, z")]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Laneid,
    Warpid,
    Nwarpid,
    Smid,
    Nsmid,
    Gridid,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    Clock,
    ClockHigh,
    DynamicSmemSize,
    TotalSmemSize,
    /// The address of what a cooperative launch gives its blocks to meet at, its low and its high half.
    GridWorkspace,
    GridWorkspaceHigh,
    /// Of the cluster in the grid, and of the block in the cluster.
    ClusterId(u8),
    ClusterCount(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterCtarank,
    ClusterNctarank,
    IsExplicitCluster,
}

/// What a decoded instruction does. Types are part of the variant where the loop over the lanes depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the PTX instruction and type")]
pub enum Op {
    /// Start of basic block `aux`.
    Enter,
    Mov32,
    Mov64,
    MovPred,
    Add32,
    Sub32,
    MulLo32,
    MulHiS32,
    MulHiU32,
    MadLo32,
    MulWideS32,
    MulWideU32,
    MadWideS32,
    MadWideU32,
    And32,
    Or32,
    Xor32,
    Not32,
    Neg32,
    Shl32,
    ShrU32,
    ShrS32,
    MinS32,
    MinU32,
    MaxS32,
    MaxU32,
    Add64,
    Sub64,
    MulLo64,
    MadLo64,
    And64,
    Or64,
    Xor64,
    Not64,
    Neg64,
    Shl64,
    ShrU64,
    ShrS64,
    MinS64,
    MinU64,
    MaxS64,
    MaxU64,
    AddF32,
    SubF32,
    MulF32,
    FmaF32,
    MinF32,
    MaxF32,
    NegF32,
    AbsF32,
    AddF64,
    SubF64,
    MulF64,
    FmaF64,
    MinF64,
    MaxF64,
    NegF64,
    AbsF64,
    SetpS32(Compare),
    SetpU32(Compare),
    SetpS64(Compare),
    SetpU64(Compare),
    SetpF32(Compare),
    SetpF64(Compare),
    Selp32,
    Selp64,
    PredAnd,
    PredOr,
    PredXor,
    PredNot,
    /// 32 to 64 bits, with and without sign.
    ExtendS32,
    ExtendU32,
    /// The low 32 bits of 64.
    Truncate,
    /// The low 8 or 16 bits within 32, with and without sign.
    Low8,
    Low16,
    LowS8,
    LowS16,
    F32FromS32,
    F32FromU32,
    /// A special register; `aux` is 1 if it has 64 bits.
    Read(Special),
    /// The address of a local variable: `aux` is its number.
    LocalAddress,
    /// Everything that the scalar semantics know: site `aux`.
    Scalar,
    /// Memory: site `aux`.
    Load,
    Store,
    /// `ld.param` of an entry: `aux` is a site too.
    LoadParam,
    /// Jump to `aux`, if the guard holds.
    Branch,
    /// Indexed jump: site `aux`.
    BranchIndexed,
    Call,
    Return,
    Exit,
    Trap,
    /// `bar`, `barrier`: site `aux`.
    Barrier,
    /// `bar.warp.sync`: the mask is `a`.
    WarpSync,
    Shuffle,
    Vote,
    Match,
    Redux,
    Elect,
    Nothing,
    /// What is too rare to be in the loop over instructions.
    Rare(Rare),
    /// Refused when executed: site `aux` holds why.
    Unsupported,
}

/// What a rare instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the PTX instruction")]
pub enum Rare {
    /// `add.cc` and its family: site `aux`.
    Carry,
    /// Vectors in and out of one register: site `aux`.
    Pack,
    Unpack,
    /// `ld.param` and `st.param` of functions and calls: site `aux`.
    ReadRows,
    WriteRows,
    /// Memory: site `aux`.
    Atomic,
    CopyAsync,
    /// `cp.async.bulk`: site `aux`.
    BulkLoad,
    BulkStore,
    BulkCommit,
    /// `tensormap` and its fences: site `aux`.
    Map,
    /// `cp.async.bulk.wait_group`: `aux` groups may stay open.
    BulkWait,
    CommitGroup,
    /// `aux` groups may stay open.
    WaitGroup,
    LoadMatrix,
    StoreMatrix,
    Mma,
    /// `wgmma.mma_async`: site `aux`.
    Wgmma,
    /// `wgmma.fence`.
    WgmmaFence,
    /// `wgmma.commit_group`.
    WgmmaCommit,
    /// `wgmma.wait_group`: `aux` groups may stay open.
    WgmmaWait,
    WmmaLoad,
    WmmaStore,
    Texture,
    /// `suld` and `suq`.
    SurfaceLoad,
    SurfaceStore,
    /// `fence.proxy.async`.
    ProxyFence,
    /// `fence.mbarrier_init`.
    InitFence,
    /// `aux` is 1 if it reaches other blocks.
    Fence,
    ActiveMask,
    /// `isspacep`: site `aux`.
    IsSpace,
    /// `mbarrier`: site `aux`.
    Mbarrier,
    /// A load that may see what others have stored meanwhile (`ld.volatile`, `ld.relaxed`, `ld.acquire`): memory site `aux`.
    Poll,
    /// `setmaxnreg`: `aux` registers.
    SetRegisters,
    /// `nanosleep`.
    Sleep,
    /// `barrier.cluster`.
    ClusterArrive,
    ClusterWait,
}

impl From<Rare> for Op {
    fn from(rare: Rare) -> Self {
        Op::Rare(rare)
    }
}
