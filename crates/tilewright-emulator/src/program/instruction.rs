//! The decoded instruction: small, flat, with every name resolved.

use crate::alu::{MAX_SOURCES, Operation};
use crate::isa::{Kind, MatrixOp, Type};

/// Where an operand lies: a byte offset into the frame of the executing function if not negative, else into the program's constants
/// (`-1 - offset`). Registers are rows of 32 lanes, predicates are masks of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(pub i32);

impl Place {
    /// For an operand that is not there.
    pub const NONE: Place = Place(i32::MAX);
}

/// How an operand is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// A mask with a bit per lane.
    Predicate,
    /// `[u32; 32]`; narrower values have zeros above.
    Word,
    /// `[u64; 32]`.
    Double,
}

impl Width {
    /// Bytes of a row.
    pub const fn bytes(self) -> i32 {
        match self {
            Width::Predicate => 4,
            Width::Word => 128,
            Width::Double => 256,
        }
    }

    /// The storage of a register of type `ty`; `None` for 128 bits.
    pub fn of(ty: Type) -> Option<Self> {
        match (ty.kind(), ty.bits()) {
            (Kind::Predicate, _) => Some(Width::Predicate),
            (_, 0..=32) => Some(Width::Word),
            (_, 33..=64) => Some(Width::Double),
            _ => None,
        }
    }
}

/// An operand with its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Where.
    pub place: Place,
    /// How.
    pub width: Width,
}

/// A guard: lanes whose predicate differs from `when` sit the instruction out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate, or [`Place::NONE`].
    pub place: Place,
    /// XORed with the predicate: all ones for `@!p`.
    pub flip: u32,
}

impl Guard {
    /// No guard.
    pub const NONE: Guard = Guard { place: Place::NONE, flip: 0 };
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// An index whose meaning `op` knows: a site, a block, a target.
    pub aux: u32,
    /// Destination.
    pub dst: Place,
    /// First source.
    pub a: Place,
    /// Second source.
    pub b: Place,
    /// Third source.
    pub c: Place,
    /// Who takes part.
    pub guard: Guard,
}

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
    Clock64,
    Globaltimer,
    DynamicSmemSize,
    TotalSmemSize,
    Zero,
    One,
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
    /// A special register.
    Read(Special),
    /// The address of a local variable: `aux` is its offset at level 0.
    LocalAddress,
    /// Everything that the scalar semantics know: site `aux`.
    Scalar,
    /// `add.cc` and its family: site `aux`.
    Carry,
    /// Vectors in and out of one register: site `aux`.
    Pack,
    Unpack,
    /// `ld.param` and `st.param` of functions and calls: site `aux`.
    ReadRows,
    WriteRows,
    /// Memory: site `aux`.
    Load,
    Store,
    Atomic,
    /// `ld.param` of an entry: `aux` is a site too.
    LoadParam,
    CopyAsync,
    CommitGroup,
    /// `aux` groups may stay open.
    WaitGroup,
    LoadMatrix,
    StoreMatrix,
    Mma,
    WmmaLoad,
    WmmaStore,
    Texture,
    Fence,
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
    ActiveMask,
    Elect,
    /// `isspacep`: site `aux`.
    IsSpace,
    Nothing,
    /// Refused when executed: site `aux` holds why.
    Unsupported,
}

/// An instruction of the scalar semantics.
#[derive(Clone, Debug)]
pub struct ScalarSite {
    /// The evaluation.
    pub eval: Operation,
    /// The bit of the result that is the second destination.
    pub second_bit: u32,
    /// Destination; a second one for `p|q`.
    pub dst: [Option<Slot>; 2],
    /// Sources, and whether a predicate source is inverted.
    pub src: [Option<Slot>; MAX_SOURCES],
    /// XORed with predicate sources.
    pub flip: [u64; MAX_SOURCES],
    /// Mask of the bits of the destination type.
    pub mask: u64,
}

/// A state space as the machine tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Any of the others, by address.
    Generic,
    /// Global memory.
    Global,
    /// Constant memory.
    Const,
    /// Shared memory of the block.
    Shared,
    /// Memory of the thread.
    Local,
    /// Parameters of the entry.
    Param,
    /// Textures.
    Texture,
}

/// How an access orders with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A plain access: races if unordered.
    Weak,
    /// `.volatile`: strong for global memory, no substitute for a barrier in shared memory.
    Volatile,
    /// `.relaxed`, `.acquire`, `.release`, and atomics.
    Strong,
}

/// A load or store.
#[derive(Clone, Debug)]
pub struct MemorySite {
    /// The space of the instruction.
    pub space: Space,
    /// Bytes of one element.
    pub bytes: u32,
    /// Elements per lane.
    pub elements: u32,
    /// Order.
    pub order: Order,
    /// Whether the access also releases what came before (`st.release`, `atom.acq_rel`).
    pub releases: Releases,
    /// Base address, if in a register.
    pub base: Option<Slot>,
    /// Added to the base.
    pub offset: i64,
    /// Registers.
    pub values: Vec<Option<Slot>>,
    /// Row of the access counters.
    pub counter: u32,
}

/// Whether an instruction publishes the earlier writes of its thread by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Releases {
    /// No: a fence is needed before it.
    No,
    /// Yes.
    Yes,
}

/// The operation of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX operation of the same spelling")]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    Exch,
    Cas,
    And,
    Or,
    Xor,
}

/// `atom` and `red`.
#[derive(Clone, Debug)]
pub struct AtomicSite {
    /// The address, as for a load; `values[0]` is the destination of `atom`.
    pub memory: MemorySite,
    /// What is done.
    pub op: AtomicOp,
    /// Type of the value.
    pub ty: Type,
    /// Operands: the value, or compare and swap.
    pub operands: [Option<Slot>; 2],
    /// Semantics of floating-point additions, minima and maxima, from the scalar semantics.
    pub eval: Option<Operation>,
}

/// A barrier of the block.
#[derive(Clone, Copy, Debug)]
pub struct BarrierSite {
    /// The barrier's number.
    pub id: Option<Slot>,
    /// The number if it is not in a register.
    pub number: u32,
    /// How many threads take part, if not all.
    pub threads: Option<Slot>,
    /// Whether the caller waits.
    pub kind: BarrierKind,
    /// `.aligned`: all lanes of a warp must be here.
    pub aligned: Aligned,
    /// Where the reduced predicate goes.
    pub dst: Option<Slot>,
    /// The predicate to reduce and what inverts it.
    pub predicate: Option<(Slot, u32)>,
}

/// The forms of `bar`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// Arrive and wait.
    Sync,
    /// Arrive only.
    Arrive,
    /// Arrive, wait, and get the number of true predicates.
    Popc,
    /// ... whether all are true.
    And,
    /// ... whether any is true.
    Or,
}

/// Whether all lanes of the warp must execute an instruction together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aligned {
    /// `.aligned`.
    Yes,
    /// Not said.
    No,
}

/// The forms of `shfl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX mode of the same spelling")]
pub enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// The forms of `vote`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX mode of the same spelling")]
pub enum VoteMode {
    All,
    Any,
    Uniform,
    Ballot,
}

/// `shfl`, `vote`, `match`, `redux`: lanes exchange values.
#[derive(Clone, Debug)]
pub struct WarpSite {
    /// The result.
    pub dst: Option<Slot>,
    /// The predicate result of `shfl` and `match.all`.
    pub valid: Option<Slot>,
    /// The value.
    pub value: Slot,
    /// XORed with a predicate value.
    pub flip: u32,
    /// Lane or offset, and clamp of `shfl`.
    pub lane: Option<Slot>,
    /// Clamp and segment mask of `shfl`.
    pub clamp: Option<Slot>,
    /// The members; `None`: the active lanes (before sm_70).
    pub members: Option<Slot>,
    /// What exactly.
    pub mode: WarpMode,
}

/// What the lanes compute together.
#[derive(Clone, Debug)]
pub enum WarpMode {
    /// `shfl`.
    Shuffle(ShuffleMode),
    /// `vote`.
    Vote(VoteMode),
    /// `match.any`.
    MatchAny,
    /// `match.all`.
    MatchAll,
    /// `redux` of integers.
    Reduce(AtomicOp, Type),
    /// `redux` of f32, with the two-operand semantics.
    ReduceFloat(Operation),
}

/// A call.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// Whom.
    pub target: CallTarget,
    /// Rows copied from the caller's frame to the callee's, and back.
    pub arguments: Vec<(Place, u32)>,
    /// Rows for the results in the caller's frame.
    pub results: Vec<(Place, u32)>,
}

/// The target of a call.
#[derive(Clone, Copy, Debug)]
pub enum CallTarget {
    /// A function of the program.
    Function(u32),
    /// A function whose number is in a register.
    Indirect(Slot),
    /// A function that the machine implements.
    System(System),
}

/// Functions that a kernel may call and no PTX defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the function of the same spelling")]
pub enum System {
    Vprintf,
    AssertFail,
    Malloc,
    Free,
}

/// A vector in or out of one register.
#[derive(Clone, Debug)]
pub struct PackSite {
    /// The wide register.
    pub whole: Slot,
    /// The elements, low first.
    pub parts: Vec<Option<Slot>>,
    /// Bits of an element.
    pub bits: u32,
}

/// A value in the rows of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct RowsSite {
    /// First row of the parameter.
    pub first: Place,
    /// Byte offset into the parameter.
    pub offset: u32,
    /// Bytes of the value.
    pub bytes: u32,
    /// The register.
    pub value: Slot,
}

/// Carry chains.
#[derive(Clone, Copy, Debug)]
pub struct CarrySite {
    /// Which sum.
    pub sum: CarrySum,
    /// Whether the carry flag goes in.
    pub carry_in: CarryUse,
    /// Whether it comes out.
    pub carry_out: CarryUse,
    /// 32 or 64.
    pub bits: u32,
    /// Signed product (`mad.hi.cc.s32`).
    pub signed: Signed,
    /// Destination and sources.
    pub dst: Option<Slot>,
    /// Sources.
    pub src: [Option<Slot>; 3],
}

/// Signedness of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// `.s32`, `.s64`.
    Yes,
    /// `.u32`, `.u64`.
    No,
}

/// The sums of carry chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX instruction of the same spelling")]
pub enum CarrySum {
    Add,
    Sub,
    MadLo,
    MadHi,
}

/// Whether the carry flag takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarryUse {
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// `mma.sync` and `wmma.mma`.
#[derive(Clone, Debug)]
pub struct MmaSite {
    /// The description for the semantics.
    pub op: MatrixOp,
    /// The evaluation.
    pub eval: crate::alu::Matrix,
    /// Fragments.
    pub d: Vec<Slot>,
    /// A.
    pub a: Vec<Slot>,
    /// B.
    pub b: Vec<Slot>,
    /// C.
    pub c: Vec<Slot>,
}

/// `wmma.load` and `wmma.store`.
#[derive(Clone, Debug)]
pub struct WmmaSite {
    /// The description for the layout.
    pub op: MatrixOp,
    /// Which fragment.
    pub fragment: crate::isa::Fragment,
    /// How it lies in memory.
    pub major: crate::isa::Major,
    /// Elements between rows (or columns).
    pub stride: Option<Slot>,
    /// Type of an element.
    pub ty: Type,
    /// The access.
    pub memory: MemorySite,
}

/// `ldmatrix` and `stmatrix`.
#[derive(Clone, Debug)]
pub struct MatrixRowsSite {
    /// The access; `values` has one register per 8 x 8 matrix.
    pub memory: MemorySite,
    /// `.trans`.
    pub transpose: Transpose,
}

/// Whether a matrix is transposed on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transpose {
    /// `.trans`.
    Yes,
    /// As it lies.
    No,
}

/// `cp.async`.
#[derive(Clone, Debug)]
pub struct CopySite {
    /// Where to: the shared address.
    pub to: MemorySite,
    /// Where from: the global address.
    pub from: MemorySite,
    /// Bytes that are really read, the rest is zeros.
    pub source_bytes: Option<Slot>,
    /// If true, nothing is read.
    pub ignore: Option<(Slot, u32)>,
}

/// `tex`.
#[derive(Clone, Debug)]
pub struct TextureSite {
    /// The handle in a register, or the variable's number.
    pub texture: TextureRef,
    /// Dimensions, 1 to 3.
    pub dims: u32,
    /// Whether the first coordinate is a layer.
    pub layered: Layered,
    /// Coordinates.
    pub coords: Vec<Slot>,
    /// Type of the coordinates: f32 or s32.
    pub coord: Type,
    /// The four results.
    pub values: Vec<Option<Slot>>,
    /// Row of the access counters.
    pub counter: u32,
}

/// Whether a texture has layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layered {
    /// `a1d`, `a2d`.
    Yes,
    /// Not.
    No,
}

/// Which texture.
#[derive(Clone, Copy, Debug)]
pub enum TextureRef {
    /// A handle in a register.
    Handle(Slot),
    /// A `.texref` variable, by its address.
    Variable(u64),
}

/// `isspacep`.
#[derive(Clone, Copy, Debug)]
pub struct SpaceSite {
    /// The asked space.
    pub space: Space,
    /// The address.
    pub address: Slot,
    /// The answer.
    pub dst: Slot,
}
